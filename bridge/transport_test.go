package bridge_test

import (
	"context"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// nothing is a program that must not run.
func nothing(t *testing.T) func(context.Context, *program) (runtime.Result, error) {
	return func(context.Context, *program) (runtime.Result, error) {
		t.Error("the program ran")
		return done(nil)
	}
}

func TestDefinition(t *testing.T) {
	w := newWorld(t, nothing(t))
	d, ok := w.reg.Get(registry.RunCode, agent)
	if !ok {
		t.Fatal("run_code is not in the view of a code agent")
	}
	t.Run("CODE-2 two required strings in an open object", func(t *testing.T) {
		if got := requiredOf(d.Parameters); got != `["code","description"]` {
			t.Errorf("required is %s", got)
		}
		properties, _ := d.Parameters.Get("properties")
		if names := strings.Join(properties.Names(), " "); names != "code description" {
			t.Errorf("members are %q", names)
		}
		for _, p := range properties.Members() {
			if kind, _ := p.Get("type"); kind.Str() != "string" {
				t.Errorf("a member has type %s", kind)
			}
		}
		if closed, ok := d.Parameters.Get("additionalProperties"); ok && !closed.Bool() {
			t.Error("the root is closed")
		}
	})
	t.Run("CODE-4 the texts are those of the language", func(t *testing.T) {
		if !strings.Contains(d.Description, "TypeScript") {
			t.Errorf("the description does not name the language: %s", d.Description)
		}
		w.bridge.SetEngine(&scripted{language: "python"})
		defer w.bridge.SetEngine(w.engine)
		py, _ := w.reg.Get(registry.RunCode, agent)
		if strings.Contains(py.Description, "TypeScript") || !strings.Contains(py.Description, "Python") {
			t.Errorf("after the engine was replaced the description is %s", py.Description)
		}
		properties, _ := py.Parameters.Get("properties")
		code, _ := properties.Get("code")
		if text, _ := code.Get("description"); strings.Contains(text.Str(), "TypeScript") {
			t.Errorf("the code parameter says %s", text)
		}
	})
	t.Run("CODE-4 no engine reads as TypeScript", func(t *testing.T) {
		w.bridge.SetEngine(nil)
		defer w.bridge.SetEngine(w.engine)
		none, err := w.bridge.Definition(w.reg)
		if err != nil || none.Description != d.Description {
			t.Errorf("got %q, %v", none.Description, err)
		}
	})
	t.Run("CODE-4 an unknown language fails with the known ones", func(t *testing.T) {
		for _, language := range []string{"ruby", "toString", "constructor", ""} {
			w.bridge.SetEngine(&unknown{language})
			_, err := w.bridge.Definition(w.reg)
			w.bridge.SetEngine(w.engine)
			want := `the runtime language "` + language + `" has no SDK text (known: "python", "typescript")`
			if err == nil || err.Error() != want {
				t.Errorf("%q: got %v, want %s", language, err, want)
			}
		}
	})
	t.Run("CODE-5 the contract is {logs, result?} and nothing else", func(t *testing.T) {
		if got := requiredOf(d.Output.Schema); got != `["logs"]` {
			t.Errorf("required is %s", got)
		}
		if open, _ := d.Output.Schema.Get("additionalProperties"); !open.IsBool() || open.Bool() {
			t.Error("the output is open")
		}
	})
	t.Run("CODE-6 no budget, no classifier, no metadata, no presenter, no finalizer", func(t *testing.T) {
		if d.TimeoutMs != 0 || d.ConcurrencySafe != nil || d.Output.PresentationMeta != nil || d.PresentResult != nil || d.Finalize != nil {
			t.Errorf("%+v", d)
		}
		if got := w.reg.ExecutionMode(runCall(agent)); got != registry.Exclusive {
			t.Errorf("execution mode is %v", got)
		}
	})
	t.Run("CODE-7 the card", func(t *testing.T) {
		view := d.PresentCall(jsonval.MustOf(map[string]any{"code": "return 1", "description": "Counts"}))
		want := card.GenericCall{Title: "Counts", Kind: card.Execute, RawInput: jsonval.MustOf("return 1")}
		got, err := jsonval.Of(view)
		if err != nil {
			t.Fatal(err)
		}
		if !jsonval.Equal(got, jsonval.MustOf(want)) {
			t.Errorf("got %s", got)
		}
		if view := d.PresentCall(jsonval.MustOf(map[string]any{"code": 1})); view != nil {
			t.Errorf("arguments that do not validate give the card %v", view)
		}
	})
}

// unknown is an engine whose language is exactly what it says.
type unknown struct{ language string }

func (unknown) Run(context.Context, runtime.Request) (runtime.Result, error) { return done(nil) }
func (e unknown) Language() string                                           { return e.language }
func (unknown) Isolation() string                                            { return "none" }
func (unknown) Close(context.Context) error                                  { return nil }

func requiredOf(schema jsonval.Value) string {
	required, _ := schema.Get("required")
	return required.String()
}

func TestReservedName(t *testing.T) {
	for _, m := range []registry.Mode{registry.Native, registry.Code, registry.Both} {
		t.Run("CODE-1 run_code is reserved in mode "+string(m), func(t *testing.T) {
			w := newWorld(t, nothing(t), mode(m))
			d := registry.Definition{Name: registry.RunCode, Parameters: anyObject, Output: registry.Output{Schema: anything, Render: func(_, _ jsonval.Value) ([]registry.Block, error) { return nil, nil }},
				Execute: func(context.Context, jsonval.Value, *registry.Run) (any, error) { return nil, nil }}
			scope, _ := w.reg.Scope(agent, nil)
			if _, err := w.reg.Register(d); err == nil {
				t.Error("registered globally")
			}
			if _, err := scope.Register(d); err == nil {
				t.Error("registered in a scope")
			}
			for _, r := range []registry.Restriction{{Allow: []string{registry.RunCode}}, {Deny: []string{registry.RunCode}}} {
				if _, err := scope.Restrict(r); err == nil {
					t.Errorf("restricted by %+v", r)
				}
			}
			if _, ok := w.reg.Get(registry.RunCode, agent); ok != (m != registry.Native) {
				t.Errorf("in the view: %v", ok)
			}
		})
	}
}

func TestSections(t *testing.T) {
	present := func(t *testing.T, w *world) registry.Presentation {
		t.Helper()
		p, err := w.reg.Present(agent)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("CODE-27 code: run_code alone, the rule at 99 and the SDK at 150", func(t *testing.T) {
		w := newWorld(t, nothing(t))
		w.echo("zeta")
		w.echo("my-tool")
		p := present(t, w)
		if len(p.Tools) != 1 || p.Tools[0].Name != registry.RunCode {
			t.Errorf("on the wire: %v", p.Tools)
		}
		if len(p.Sections) != 2 || p.Sections[0].Name != "tools:code-only" || p.Sections[0].Order != 99 || p.Sections[1].Name != "tools:sdk" || p.Sections[1].Order != 150 {
			t.Fatalf("sections: %+v", p.Sections)
		}
		sdk := p.Sections[1].Text
		if !strings.Contains(sdk, `"my-tool"`) || strings.Index(sdk, `"my-tool"`) > strings.Index(sdk, "zeta") {
			t.Error("the SDK does not declare the tools by name")
		}
		if strings.Contains(sdk, "run_code: ") || strings.Contains(sdk, "run_code(") {
			t.Error("the SDK declares run_code")
		}
		again := present(t, w)
		if again.Sections[1].Text != sdk {
			t.Error("CODE-12 the same tools give another text")
		}
	})
	t.Run("CODE-27 both: the tools, run_code and the SDK without the rule", func(t *testing.T) {
		w := newWorld(t, nothing(t), mode(registry.Both))
		w.echo("echo")
		p := present(t, w)
		if len(p.Tools) != 2 || len(p.Sections) != 1 || p.Sections[0].Name != "tools:sdk" {
			t.Errorf("%v %v", p.Tools, p.Sections)
		}
	})
	t.Run("CODE-27 native: nothing of it", func(t *testing.T) {
		w := newWorld(t, nothing(t), mode(registry.Native))
		w.echo("echo")
		p := present(t, w)
		if len(p.Tools) != 1 || len(p.Sections) != 0 {
			t.Errorf("%v %v", p.Tools, p.Sections)
		}
		if r := w.run(); r.Failure() == nil || r.Failure().Message != `no tool named "run_code"` {
			t.Errorf("run_code answers %v", r)
		}
	})
	t.Run("CODE-30 a tool order may name run_code, and in mode code nothing else", func(t *testing.T) {
		order := func(names ...string) worldOption {
			return func(_ *bridge.Options, o *registry.Options) { o.ToolOrder = names }
		}
		w := newWorld(t, nothing(t), mode(registry.Both), order(registry.RunCode, "zeta"))
		w.echo("alpha")
		w.echo("zeta")
		var names []string
		for _, tool := range present(t, w).Tools {
			names = append(names, tool.Name)
		}
		equal(t, "wire order", names, []string{registry.RunCode, "zeta", "alpha"})
		w = newWorld(t, nothing(t), order(registry.RunCode))
		present(t, w)
		w = newWorld(t, nothing(t), order(registry.RunCode, "alpha"))
		w.echo("alpha")
		if _, err := w.reg.Present(agent); err == nil || !strings.Contains(err.Error(), "alpha") {
			t.Errorf("a native name in mode code: %v", err)
		}
	})
	t.Run("CODE-31 what a harness takes out of a presentation is not put back, and stays in the next one", func(t *testing.T) {
		w := newWorld(t, nothing(t))
		p := present(t, w)
		p.Sections[1] = registry.Section{Name: "tools:sdk", Order: 150, Text: "shadowed"}
		p.Tools = p.Tools[:0]
		if p.Sections[1].Text != "shadowed" || len(p.Tools) != 0 {
			t.Error("put back")
		}
		if again := present(t, w); again.Sections[1].Text == "shadowed" || len(again.Tools) != 1 {
			t.Error("the harness's copy is not its own")
		}
	})
	t.Run("CODE-32 disposing the scope that declared the mode removes run_code and its sections", func(t *testing.T) {
		w := newWorld(t, func(context.Context, *program) (runtime.Result, error) { return done("ran") }, mode(registry.Native))
		coder, err := w.reg.Scope("coder", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := coder.PresentAs(registry.Code); err != nil {
			t.Fatal(err)
		}
		if r := w.reg.Execute(context.Background(), runCall("coder")); r.IsError() {
			t.Errorf("CODE-28 a code agent in a native deployment: %s", r.Text())
		}
		coder.Dispose()
		p, err := w.reg.Present("coder")
		if err != nil || len(p.Sections) != 0 || len(p.Tools) != 0 {
			t.Errorf("%+v, %v", p, err)
		}
		if r := w.reg.Execute(context.Background(), runCall("coder")); codeOf(r.Failure()) != registry.CodeUnknownTool {
			t.Errorf("run_code is still there: %s", r.Text())
		}
	})
	t.Run("CODE-28 a native agent in a code deployment, and an inherited mode", func(t *testing.T) {
		w := newWorld(t, func(context.Context, *program) (runtime.Result, error) { return done("ran") })
		w.echo("echo")
		native, _ := w.reg.Scope("native", nil)
		if _, err := native.PresentAs(registry.Native); err != nil {
			t.Fatal(err)
		}
		if _, err := w.reg.Scope("below", native); err != nil {
			t.Fatal(err)
		}
		for _, who := range []string{"native", "below"} {
			if r := w.reg.Execute(context.Background(), runCall(who)); codeOf(r.Failure()) != registry.CodeUnknownTool {
				t.Errorf("%s: run_code answers %s", who, r.Text())
			}
			if r := w.reg.Execute(context.Background(), registry.Call{ID: "d", Name: "echo", Agent: who, Arguments: n(1)}); r.IsError() {
				t.Errorf("%s: a direct call: %s", who, r.Text())
			}
			if p, err := w.reg.Present(who); err != nil || len(p.Tools) != 1 || p.Tools[0].Name != "echo" {
				t.Errorf("%s: on the wire: %+v, %v", who, p, err)
			}
		}
	})
	t.Run("CODE-29 the SDK follows the agent's view", func(t *testing.T) {
		w := newWorld(t, nothing(t))
		w.echo("hidden")
		w.echo("seen")
		scope, _ := w.reg.Scope(agent, nil)
		if _, err := scope.Restrict(registry.Restriction{Deny: []string{"hidden"}}); err != nil {
			t.Fatal(err)
		}
		sdk := present(t, w).Sections[1].Text
		if strings.Contains(sdk, "hidden") || !strings.Contains(sdk, "seen") {
			t.Error("the SDK does not follow the restriction")
		}
	})
}

func TestNoRuntime(t *testing.T) {
	withEngine := func(e runtime.Engine) worldOption {
		return func(o *bridge.Options, _ *registry.Options) { o.Engine = e }
	}
	t.Run("CODE-10 no engine fails assembly and execution, and nothing else", func(t *testing.T) {
		for _, m := range []registry.Mode{registry.Code, registry.Both} {
			w := newWorld(t, nil, withEngine(nil), mode(m))
			w.echo("echo")
			want := `mode "` + string(m) + `" needs a code runtime`
			if _, err := w.reg.Present(agent); err == nil || err.Error() != want {
				t.Errorf("assembly: %v, want %s", err, want)
			}
			r := w.run()
			if f := r.Failure(); f == nil || f.Message != want || f.Info != nil {
				t.Errorf("execution: %+v", f)
			}
			native, _ := w.reg.Scope("native", nil)
			if _, err := native.PresentAs(registry.Native); err != nil {
				t.Fatal(err)
			}
			if _, err := w.reg.Present("native"); err != nil {
				t.Errorf("a native agent: %v", err)
			}
			if r := w.reg.Execute(context.Background(), registry.Call{ID: "n", Name: "echo", Agent: "native", Arguments: map[string]any{}}); r.IsError() {
				t.Errorf("a native call: %s", r.Text())
			}
		}
	})
	t.Run("CODE-10 an unknown language fails assembly and execution", func(t *testing.T) {
		w := newWorld(t, nil, withEngine(&unknown{"ruby"}))
		want := `the runtime language "ruby" has no SDK text (known: "python", "typescript")`
		if _, err := w.reg.Present(agent); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("assembly: %v", err)
		}
		if r := w.run(); !r.IsError() {
			t.Error("the program ran")
		}
	})
	t.Run("CODE-11 the engine is looked up when it is needed", func(t *testing.T) {
		w := newWorld(t, nil, withEngine(nil))
		if r := w.run(); !r.IsError() {
			t.Fatal("ran without an engine")
		}
		w.bridge.SetEngine(&scripted{program: func(context.Context, *program) (runtime.Result, error) { return done("here now") }})
		if r := w.run(); r.IsError() || textOf(t, r) != "here now" {
			t.Errorf("after SetEngine: %s", r.Text())
		}
	})
	t.Run("CODE-11 a program for another language than the prompt's is not run", func(t *testing.T) {
		w := newWorld(t, func(context.Context, *program) (runtime.Result, error) { return done("ran") })
		if _, err := w.reg.Present(agent); err != nil {
			t.Fatal(err)
		}
		w.bridge.SetEngine(&scripted{language: "python", program: nothing(t)})
		r := w.run()
		if m := r.Text(); !r.IsError() || !strings.Contains(m, `"typescript"`) || !strings.Contains(m, `"python"`) {
			t.Errorf("got %s", m)
		}
		w.bridge.SetEngine(&scripted{language: "python", program: func(context.Context, *program) (runtime.Result, error) { return done("ran") }})
		if r := w.reg.Execute(context.Background(), runCall("another")); r.IsError() {
			t.Errorf("an agent without a prompt: %s", r.Text())
		}
		if _, err := w.reg.Present(agent); err != nil {
			t.Fatal(err)
		}
		if r := w.run(); r.IsError() {
			t.Errorf("after a new prompt: %s", r.Text())
		}
	})
}

func TestStrangeAgent(t *testing.T) {
	t.Run("CODE-11 an agent key that cannot be compared is no reason to panic", func(t *testing.T) {
		w := newWorld(t, func(context.Context, *program) (runtime.Result, error) { return done("ran") })
		strange := []string{"not", "comparable"}
		_, _ = w.bridge.Sections(w.reg, registry.View{Mode: registry.Code, Agent: strange})
		_ = w.reg.Execute(context.Background(), runCall(strange))
	})
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		name      string
		arguments any
		message   string
		code      string
	}{
		{"CODE-3 a missing description", map[string]any{"code": "1"}, `arguments do not match the schema: "description": required property is missing (the call has code)`, "INVALID_ARGS"},
		{"CODE-3 a description that is no string", map[string]any{"code": "1", "description": 2}, `arguments do not match the schema: "description": expected string (description is the number 2)`, "INVALID_ARGS"},
		{"CODE-3 no code", map[string]any{"description": "x"}, `arguments do not match the schema: "code": required property is missing (the call has description)`, "INVALID_ARGS"},
		{"CODE-3 a blank description", map[string]any{"code": "1", "description": ""}, "description must not be blank", ""},
		{"CODE-3 a description of white space", map[string]any{"code": "1", "description": " \t\n\u00a0\ufeff"}, "description must not be blank", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nothing(t))
			call := runCall(agent)
			call.Arguments = c.arguments
			f := w.reg.Execute(context.Background(), call).Failure()
			if f == nil || f.Message != c.message {
				t.Fatalf("got %+v, want %s", f, c.message)
			}
			if code := codeOf(f); code != c.code {
				t.Errorf("code %q, want %q", code, c.code)
			}
		})
	}
	t.Run("CODE-2 extra members are ignored, CODE-3 empty code is legal", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) { return done("[" + p.req.Program + "]") })
		call := runCall(agent)
		call.Arguments = map[string]any{"code": "", "description": "x", "more": []int{1}}
		if r := w.reg.Execute(context.Background(), call); r.IsError() || textOf(t, r) != "[]" {
			t.Errorf("got %s", r.Text())
		}
	})
	t.Run("CODE-9 a blank description is found before a missing runtime", func(t *testing.T) {
		w := newWorld(t, nil)
		w.bridge.SetEngine(nil)
		call := runCall(agent)
		call.Arguments = map[string]any{"code": "1", "description": " "}
		if f := w.reg.Execute(context.Background(), call).Failure(); f == nil || f.Message != "description must not be blank" {
			t.Errorf("got %+v", f)
		}
	})
}

func codeOf(f *registry.Failure) string {
	if f == nil || f.Info == nil {
		return ""
	}
	return f.Info.Code
}

func TestOptions(t *testing.T) {
	t.Run("SUB-16 a cap that is not positive is refused, none is ten", func(t *testing.T) {
		_, err := bridge.New(bridge.Options{MaxParallelSubCalls: -1})
		if err == nil || err.Error() != "maxParallelSubCalls must be a positive integer" {
			t.Errorf("got %v", err)
		}
		if _, err := bridge.New(bridge.Options{}); err != nil {
			t.Error(err)
		}
		if bridge.DefaultMaxParallelSubCalls != 10 {
			t.Error("the default is not 10")
		}
	})
}
