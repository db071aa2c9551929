package runtimetest

// Sections 1 and 2, as far as they concern the caller: the contract of Run, and which namespaces are usable.

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func testContract(t *testing.T, s *suite) {
	ctx := context.Background()
	s.test(t, "RUN-1..3 language and isolation", func(t *testing.T) {
		e := s.engine(t, runtime.Limits{})
		if e.Language() != "typescript" {
			t.Errorf("language %q", e.Language())
		}
		if e.Isolation() != s.options.Isolation {
			t.Errorf("isolation %q, want %q", e.Isolation(), s.options.Isolation)
		}
	})
	s.test(t, "RUN-8 a fired signal goes before the transform", func(t *testing.T) {
		done, cancel := context.WithCancelCause(ctx)
		cancel(errors.New("changed my mind"))
		r, err := s.engine(t, runtime.Limits{}).Run(done, runtime.Request{Program: "this is not a program"})
		if err != nil {
			t.Fatal(err)
		}
		(&check{kind: runtime.Abort, message: "changed my mind", logs: []string{}}).verify(t, r)
	})
	s.test(t, "RUN-8 invalid bindings go before a fired signal", func(t *testing.T) {
		done, cancel := context.WithCancel(ctx)
		cancel()
		_, err := s.engine(t, runtime.Limits{}).Run(done, runtime.Request{Namespaces: []runtime.Namespace{{Global: "await"}}})
		misuse(t, err, "await")
	})
	s.test(t, "RUN-7 a deadline of the caller's is an abort", func(t *testing.T) {
		late, cancel := context.WithTimeout(ctx, 0)
		defer cancel()
		r, err := s.engine(t, runtime.Limits{}).Run(late, runtime.Request{})
		if err != nil {
			t.Fatal(err)
		}
		(&check{kind: runtime.Abort, message: context.DeadlineExceeded.Error()}).verify(t, r)
		if !errors.Is(r.Error, runtime.Abort) || errors.Is(r.Error, runtime.Timeout) {
			t.Error("errors.Is takes the failure for a timeout")
		}
	})

	one := func(global string) []runtime.Namespace { return []runtime.Namespace{{Global: global}} }
	class := func(name, property string) []runtime.Namespace {
		return []runtime.Namespace{{Global: "tools", ErrorClass: &runtime.ErrorClass{Name: name, MemberProperty: property}}}
	}
	refused := []struct {
		name, quoted string
		namespaces   []runtime.Namespace
	}{
		{"RUN-13 not an identifier", "not valid!", one("not valid!")},
		{"RUN-13 a reserved word", "await", one("await")},
		{"RUN-13 a dollar", "$tools", one("$tools")},
		{"RUN-13 a dollar inside", "a$b", one("a$b")},
		{"RUN-13 a word of Python", "lambda", one("lambda")},
		{"RUN-13 empty", `""`, one("")},
		{"RUN-13 a digit first", "9x", one("9x")},
		{"RUN-13 an error class that is a reserved word", "class", class("class", "member")},
		{"RUN-14 console", "console", one("console")},
		{"RUN-14 a module name of Python", "__builtins__", class("__builtins__", "member")},
		{"RUN-15 the same global twice", "tools", append(one("tools"), one("tools")...)},
		{"RUN-15 an error class named as a global", "tools", class("tools", "member")},
		{"RUN-15 the same error class twice", "E", append(class("E", "a"), runtime.Namespace{Global: "b", ErrorClass: &runtime.ErrorClass{Name: "E", MemberProperty: "a"}})},
		{"RUN-16 no member property", `""`, class("E", "")},
		{"RUN-16 a member property that errors have", "message", class("E", "message")},
		{"RUN-16 a member property of Python's errors", "add_note", class("E", "add_note")},
		{"RUN-16 a dunder member property", "__x__", class("E", "__x__")},
	}
	for _, c := range refused {
		s.test(t, c.name, func(t *testing.T) {
			logged := false
			_, err := s.engine(t, runtime.Limits{}).Run(ctx, runtime.Request{
				Program: "console.log('ran')", Namespaces: c.namespaces, OnLog: func(string) { logged = true },
			})
			misuse(t, err, c.quoted)
			if logged {
				t.Error("the program ran (RUN-17)")
			}
		})
	}
	s.test(t, "RUN-13 a global that is no name", func(t *testing.T) {
		_, err := s.engine(t, runtime.Limits{}).Run(ctx, runtime.Request{Globals: []runtime.Global{{Name: "a-b", Value: jsonval.Null()}}})
		misuse(t, err, "a-b")
	})
	for _, property := range []string{"_private", "__mid", "__", "____", "code", "not an identifier"} {
		s.test(t, "RUN-16 accepts the member property "+property, func(t *testing.T) {
			n := class("E", property)
			n[0].Functions = []runtime.Function{{Name: "f", Call: runtime.Go(func(context.Context, jsonval.Value) (any, error) { return nil, errRow })}}
			r, err := s.engine(t, runtime.Limits{}).Run(ctx, runtime.Request{
				Program: "try { await tools.f({}) } catch (e) { return (e as any)[" + string(jsonval.AppendString(nil, property)) + "] }", Namespaces: n,
			})
			if err != nil {
				t.Fatal(err)
			}
			(&check{want: `"f"`}).verify(t, r)
		})
	}
	s.test(t, "RUN-15 a namespace may be named ToolCallError", func(t *testing.T) {
		r, err := s.engine(t, runtime.Limits{}).Run(ctx, runtime.Request{Program: "return typeof ToolCallError", Namespaces: one("ToolCallError")})
		if err != nil {
			t.Fatal(err)
		}
		(&check{want: `"object"`}).verify(t, r)
	})
	s.checks(t, []check{
		{name: "RUN-6 a failing program does not fail the call", program: "throw 1", kind: runtime.Exception, message: "1"},
		{name: "RUN-5 an absent value is not null", program: "return undefined", none: true},
		{name: "RUN-5 null is a value", program: "return null", want: "null"},
		{name: "RUN-12 and RUN-18 several namespaces, with and without an error class", program: "return [await tools.echo(1), await plain.echo(2), typeof ToolCallError]" + decl, want: `[1,2,"function"]`},
		{name: "LOG-7 neither channel nor level is part of the result", program: "console.error('x'); process.stderr.write('x'); declare const process: any", none: true, logs: []string{"x", "x"}},
		{name: "RUN-5 usage is reported", program: "let n = 0; for (let i = 0; i < 1e5; i++) n += i; return 'x'", want: `"x"`, also: func(t *testing.T, r runtime.Result, _ *host) {
			if r.Usage.Compute <= 0 || r.Usage.Wall < r.Usage.Compute {
				t.Errorf("compute %v, wall %v", r.Usage.Compute, r.Usage.Wall)
			}
			if r.Usage.OutputBytes != 5 {
				t.Errorf("output %d bytes, want 5", r.Usage.OutputBytes)
			}
		}},
	})
	s.test(t, "RUN-10 nothing of a program is left for the next", func(t *testing.T) {
		e := s.engine(t, runtime.Limits{})
		for range 2 {
			r, err := e.Run(ctx, runtime.Request{Program: `
				const g = globalThis as any;
				const seen = [typeof g.leak, typeof (Array.prototype as any).leak, [].map === g.Object, typeof (console as any).leak];
				g.leak = 1; (Array.prototype as any).leak = 1; (console as any).leak = 1;
				return seen`})
			if err != nil {
				t.Fatal(err)
			}
			(&check{want: `["undefined","undefined",false,"undefined"]`}).verify(t, r)
		}
	})
	s.test(t, "RUN-4 globals are frozen values", func(t *testing.T) {
		r, err := s.engine(t, runtime.Limits{}).Run(ctx, runtime.Request{
			Globals: []runtime.Global{{Name: "input", Value: jsonval.MustOf(map[string]any{"list": []any{1, map[string]any{"a": 2}}})}},
			Program: `
				const tried = [];
				for (const f of [() => { input.x = 1 }, () => { input.list.push(1) }, () => { input.list[1].a = 3 }]) {
					try { f(); tried.push('changed') } catch (e) { tried.push(e.name) }
				}
				return [input, tried]; declare const input: any`,
		})
		if err != nil {
			t.Fatal(err)
		}
		(&check{want: `[{"list":[1,{"a":2}]},["TypeError","TypeError","TypeError"]]`}).verify(t, r)
	})
}

// misuse checks that err is a misuse that quotes what is wrong.
func misuse(t *testing.T, err error, quoted string) {
	t.Helper()
	var m *runtime.MisuseError
	if !errors.As(err, &m) {
		t.Fatalf("error %v (%T), want a *MisuseError", err, err)
	}
	if !strings.Contains(m.Error(), quoted) {
		t.Errorf("message %q does not quote %q (RUN-17)", m.Error(), quoted)
	}
}
