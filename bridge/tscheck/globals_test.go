package tscheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojaengine"
	"github.com/runcode-go/runcode/runtime/wasmengine"
)

// TestGlobals holds the declarations to what programs really find.
func TestGlobals(t *testing.T) {
	wasm, err := wasmengine.New(t.Context(), wasmengine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	goja, err := gojaengine.New(gojaengine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engines := map[string]runtime.Engine{"wasm": wasm, "goja": goja}
	ask := func(t *testing.T, engine, program string) []string {
		t.Helper()
		r, err := engines[engine].Run(t.Context(), runtime.Request{Program: program})
		if err != nil || r.Error != nil {
			t.Fatal(err, r.Error)
		}
		var names []string
		for _, v := range r.Value.Items() {
			names = append(names, v.Str())
		}
		return names
	}
	for name := range engines {
		t.Cleanup(func() { engines[name].Close(t.Context()) })
		t.Run("GATE-7 RUN-42 what is declared is there: "+name, func(t *testing.T) {
			var names []string
			for _, m := range regexp.MustCompile(`(?m)^declare (?:const|function|class) (\w+)`).FindAllStringSubmatch(globals, -1) {
				names = append(names, m[1])
			}
			if len(names) < 7 {
				t.Fatalf("only %q", names)
			}
			if missing := ask(t, name, fmt.Sprintf("return [%s].filter(n => typeof globalThis[n] === 'undefined')", quotedList(names))); len(missing) > 0 {
				t.Errorf("declared, and not there: %q", missing)
			}
			for _, object := range []string{"console", "process", "process.stdout", "performance"} {
				members := ask(t, name, "return Object.keys("+object+")")
				if len(members) == 0 {
					t.Errorf("%s is empty", object)
				}
				checkMembers(t, object, members)
			}
		})
		t.Run("GATE-7 RUN-42 what is there is declared: "+name, func(t *testing.T) {
			compiler := realCompiler(t)
			names := ask(t, name, "return Object.getOwnPropertyNames(globalThis).filter(n => /^[A-Za-z_$][\\w$]*$/.test(n))")
			if !slices.Contains(names, "setTimeout") {
				t.Fatalf("globals %q", names)
			}
			// What an engine has beside RUN-42 is no promise.
			names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains([]string{"InternalError", "DOMException", "GoError"}, n) })
			program := "return [" + strings.Join(names, ",\n") + "]"
			if f := try(t, t.Context(), newChecker(t, Options{Compiler: compiler}), request(program, nil), nil); f != nil {
				t.Errorf("there, and not declared: %s", f.Message)
			}
		})
	}
}

func quotedList(names []string) string {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, fmt.Sprintf("%q", n))
	}
	return strings.Join(quoted, ", ")
}

// checkMembers compares the members of an object with those that its declaration has.
func checkMembers(t *testing.T, object string, members []string) {
	t.Helper()
	compiler := realCompiler(t)
	var program strings.Builder
	for _, m := range members {
		fmt.Fprintf(&program, "await tools.anything({ x: %s.%s });\n", object, m)
	}
	tools := someTools(t)
	if f := try(t, t.Context(), newChecker(t, Options{Compiler: compiler}), request(program.String(), tools), tools); f != nil {
		t.Errorf("%s has more than its declaration: %s", object, f.Message)
	}
}
