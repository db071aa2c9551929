package runtime

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// TestPositions proves RUN-39: the mark ¦ in each program is where it throws, and where the first frame must point.
func TestPositions(t *testing.T) {
	for _, c := range []struct{ name, src string }{
		{"the first statement", "throw ¦new Error('x')"},
		{"a later line", "const a = 1\n\n  throw ¦new Error('x')"},
		{"behind types", "interface A { a: string }\ntype B = A & { b: number }\nfunction boom(x: B): never {\n  throw ¦new Error('x' + x.a)\n}\nboom({ a: 'v', b: 1 })"},
		{"columns count UTF-16 units", "const 名 = '日本語 😀'; throw ¦new Error('x')"},
		{"behind a template with lines", "const a = `é\n😀\n`; if (a) throw ¦new Error('x')"},
		{"behind line breaks of all kinds", "const a = 1\r\nconst b = 2\r// c\u2028throw ¦new Error('x')"},
		{"with helpers", "class A { accessor a = 1 }\nasync function* g() {\n  yield new A()\n}\nfor await (const x of g()) {\n  throw ¦new Error('x')\n}"},
		{"beside a namespace", "namespace N { export const a = 1 }\nfunction f() { return 1 }; if (f()) throw ¦new Error('x')\nreturn await 2"},
		{"behind a return beside a namespace", "namespace N { export const a = 1 }\nconst f = (x) => { if (x) { return 'é' } else { throw ¦new Error('x') } }\nreturn f(0)"},
		{"in a namespace", "await 1\nnamespace N {\n  throw ¦new Error('x')\n}"},
		{"behind renamed names", "const x = 1\nfunction f(x) { const data = x; { const x = data; throw ¦new Error('x' + x) } }\nf(1)"},
	} {
		t.Run("RUN-39 "+c.name, func(t *testing.T) {
			before, after, _ := strings.Cut(c.src, "¦")
			src := before + after
			line, column := positionAt(src, len(before))
			if l, col, ok := thrownAt(t, src, false); !ok || l != line || col != column {
				t.Errorf("got %d:%d %v, want %d:%d", l, col, ok, line, column)
			}
		})
	}
	for name, wrap := range map[string][2]string{
		"a fence":             {"\n```ts\n", "\n```"},
		"a function":          {"async () => {\n", "\n}"},
		"an arrow":            {"(", ")"},
		"a fence, a function": {"```\nasync function () {\n", "\n};\n```\n"},
	} {
		t.Run("CODE-33 positions behind "+name, func(t *testing.T) {
			body := "if (1) throw new Error('é')"
			if name == "an arrow" {
				body = "() => { throw new Error('é') }"
			}
			src := wrap[0] + body + wrap[1]
			line, column := positionAt(src, strings.Index(src, "new Error"))
			if l, col, ok := thrownAt(t, src, true); !ok || l != line || col != column {
				t.Errorf("got %d:%d %v, want %d:%d", l, col, ok, line, column)
			}
		})
	}
	t.Run("RUN-39 no frame of the wrapper has a position", func(t *testing.T) {
		code, _ := transform("class A { accessor a = 1 }\nreturn 1", false, Target{})
		for _, at := range []int{0, 5, strings.Index(code.JS, "WeakMap"), strings.Index(code.JS, "await 0"), len(code.JS) - 1, len(code.JS) + 5} {
			if l, c, ok := code.Position(1, at+1); ok {
				t.Errorf("offset %d of %s is %d:%d", at, code.JS, l, c)
			}
		}
		for _, bad := range [][2]int{{0, 1}, {1, 0}, {-1, -1}, {99, 1}} {
			if _, _, ok := code.Position(bad[0], bad[1]); ok {
				t.Errorf("%v has a position", bad)
			}
		}
	})
}

var firstFrame = regexp.MustCompile(`program\.ts:(\d+):(\d+)`)

// thrownAt runs src on goja and maps the first frame of what it throws.
func thrownAt(t *testing.T, src string, unwrap bool) (line, column int, ok bool) {
	t.Helper()
	code, failure := transform(src, unwrap, Target{AsyncGenerators: true})
	if failure != nil {
		t.Fatal(failure)
	}
	vm := goja.New()
	if _, err := vm.RunString(`Symbol.asyncIterator = Symbol("Symbol.asyncIterator")`); err != nil {
		t.Fatal(err)
	}
	call, _ := goja.AssertFunction(must(vm.RunScript(programFile, code.JS)))
	v, err := call(goja.Undefined())
	if err != nil {
		t.Fatal(err)
	}
	stack := v.Export().(*goja.Promise).Result().ToObject(vm).Get("stack").String()
	m := firstFrame.FindStringSubmatch(stack)
	if m == nil {
		t.Fatalf("no frame in %s", stack)
	}
	l, _ := strconv.Atoi(m[1])
	c, _ := strconv.Atoi(m[2])
	return code.Position(l, c)
}

// TestParseErrorPositions proves RUN-37: the mark ¦ is where the message points.
func TestParseErrorPositions(t *testing.T) {
	for _, c := range []struct{ name, src, reason string }{
		{"a stray token", "const a = 1\nconst b = ¦) + 2", `Unexpected ")"`},
		{"columns count UTF-16 units", "const é = '😀' ¦é", `Expected ";"`},
		{"an open bracket", "if (a) {\n  b()¦", "the program ends"},
		{"an open call", "f(1,¦", "program ends"},
		{"an import", "let a\n ¦import x from 'y'", "import declarations"},
		{"a comment of HTML", "let a ¦<!-- b", "HTML-like"},
		{"arguments", "return ¦arguments", "arguments"},
		{"an escape", "let a = 1 ¦}\nasync function x() {", `Unexpected "}"`},
		{"behind a return beside a namespace", "namespace N {}\nconst f = () => { return 'é' }; ¦)", `Unexpected ")"`},
	} {
		t.Run("RUN-37 "+c.name, func(t *testing.T) {
			before, after, _ := strings.Cut(c.src, "¦")
			src := before + after
			line, column := positionAt(src, len(before))
			_, f := transform(src, false, Target{})
			if f == nil {
				t.Fatal("accepted")
			}
			want := "(program.ts:" + strconv.Itoa(line) + ":" + strconv.Itoa(column) + ")"
			if !errors.Is(f, Exception) || f.Line != line || f.Column != column || !strings.Contains(f.Message, want) || !strings.Contains(f.Message, c.reason) {
				t.Errorf("got %+v, want %s at %s", f, c.reason, want)
			}
		})
	}
}
