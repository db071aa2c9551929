package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/policy"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestTwoCalls(t *testing.T) {
	w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
		a, err := p.call("echo", map[string]any{"x": 1}).wait(t)
		if err != nil {
			return runtime.Result{}, err
		}
		b, err := p.call("echo", []any{a}).wait(t)
		if err != nil {
			return runtime.Result{}, err
		}
		return done(b, "between")
	})
	w.echo("echo")
	var executions []registry.Execution
	w.reg.OnResult(func(x registry.Execution, _ registry.Result) { executions = append(executions, x) })
	call := runCall(agent)
	call.RootID = "root"
	r := w.reg.Execute(context.Background(), call)

	t.Run("SUB-5 values reach the program, CODE-5 the outer value", func(t *testing.T) {
		if got := r.Value().String(); got != `{"logs":["between"],"result":[{"x":1}]}` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("SUB-10 SUB-11 full events in order", func(t *testing.T) {
		want := []string{
			`{"rootCallId":"root","parentCallId":"c","subCallId":"c:code:1","name":"echo","arguments":{"x":1}}`,
			`{"rootCallId":"root","parentCallId":"c","subCallId":"c:code:1","name":"echo","arguments":{"x":1},"isError":false,"content":[{"type":"text","text":"{\"x\":1}"}]}`,
			`{"rootCallId":"root","parentCallId":"c","subCallId":"c:code:2","name":"echo","arguments":[{"x":1}]}`,
			`{"rootCallId":"root","parentCallId":"c","subCallId":"c:code:2","name":"echo","arguments":[{"x":1}],"isError":false,"content":[{"type":"text","text":"[{\"x\":1}]"}]}`,
		}
		var got []string
		for _, e := range w.events {
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(text))
		}
		equal(t, "events", got, want)
		if w.events[0].Type() != "tool/code-dispatch-start" || w.events[1].Type() != "tool/code-dispatch" {
			t.Errorf("types %s, %s", w.events[0].Type(), w.events[1].Type())
		}
	})
	t.Run("SUB-2 identity", func(t *testing.T) {
		outer := executions[len(executions)-1]
		if outer.Name() != registry.RunCode || len(executions) != 3 {
			t.Fatalf("%d executions, the last of %s", len(executions), outer.Name())
		}
		for _, x := range executions[:2] {
			if x.RootID() != "root" || x.Agent() != agent || x.Parent() != outer.Token() || x.Parent() == nil {
				t.Errorf("sub-call %s: root %q, agent %v", x.CallID(), x.RootID(), x.Agent())
			}
		}
	})
	t.Run("SUB-12 times", func(t *testing.T) {
		start, end := w.events[0].(*bridge.DispatchStart).Time, w.events[1].(*bridge.Dispatch).Time
		if start.IsZero() || end.Before(start) {
			t.Errorf("%v to %v", start, end)
		}
		o := w.outcome()
		if c := o.Calls[0]; !c.Start.Equal(start) || !c.End.Equal(end) || c.Start.Before(o.Start) || c.End.After(o.End) {
			t.Errorf("the ledger disagrees: %+v", c)
		}
	})
	t.Run("CLI-9 the ledger", func(t *testing.T) {
		equal(t, "states", w.states(), []bridge.CallState{bridge.Done, bridge.Done})
	})
}

func TestBindings(t *testing.T) {
	t.Run("CODE-12 exactly the visible tools, under tools and ToolCallError", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			if len(p.req.Namespaces) != 1 {
				t.Fatalf("%d namespaces", len(p.req.Namespaces))
			}
			ns := p.req.Namespaces[0]
			if ns.Global != "tools" || ns.ErrorClass == nil || *ns.ErrorClass != (runtime.ErrorClass{Name: "ToolCallError", MemberProperty: "toolName"}) {
				t.Errorf("namespace %+v", ns)
			}
			if !p.req.Unwrap {
				t.Error("CODE-33 the engine is not asked to undo wrappings")
			}
			if err := runtime.CheckNamespaces(p.req.Namespaces, p.req.Globals); err != nil {
				t.Error(err)
			}
			return done(p.names())
		})
		w.echo("global")
		w.echo("masked")
		scope, _ := w.reg.Scope(agent, nil)
		if _, err := scope.Restrict(registry.Restriction{Deny: []string{"masked"}}); err != nil {
			t.Fatal(err)
		}
		own := registry.Definition{Name: "own", Parameters: anyObject, Output: registry.Output{Schema: anything, Render: func(_, _ jsonval.Value) ([]registry.Block, error) { return nil, nil }},
			Execute: func(context.Context, jsonval.Value, *registry.Run) (any, error) { return nil, nil }}
		if _, err := scope.Register(own); err != nil {
			t.Fatal(err)
		}
		result := func(r registry.Result) string { v, _ := r.Value().Get("result"); return v.String() }
		if got := result(w.run()); got != `["global","own"]` {
			t.Errorf("the agent is bound %s", got)
		}
		if got := result(w.reg.Execute(context.Background(), runCall(nil))); got != `["global","masked"]` {
			t.Errorf("without an agent: %s", got)
		}
	})
	for _, m := range []registry.Mode{registry.Code, registry.Both} {
		t.Run("CODE-13 run_code is not bound in mode "+string(m), func(t *testing.T) {
			w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
				_, err := p.call(registry.RunCode, map[string]any{"code": "", "description": "again"}).wait(t)
				return done([]any{p.names(), err.Error()})
			}, mode(m))
			w.echo("echo")
			v, _ := w.run().Value().Get("result")
			if got := v.String(); got != `[["echo"],"no binding \"tools.run_code\""]` {
				t.Errorf("got %s", got)
			}
		})
	}
	t.Run("CODE-14 names of any shape", func(t *testing.T) {
		names := []string{"my-tool", "mcp__srv__x", "__proto__", "constructor", "then", "a b", "é"}
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			for _, name := range names {
				if _, err := p.call(name, n(1)).wait(t); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			return done(nil)
		})
		for _, name := range names {
			w.echo(name)
		}
		w.run()
		if len(w.outcome().Calls) != len(names) {
			t.Errorf("calls: %v", w.outcome().Calls)
		}
	})
	t.Run("CODE-12 the view is frozen: a tool registered later is not bound", func(t *testing.T) {
		var w *world
		w = newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			w.echo("late")
			_, err := p.call("late", n(1)).wait(t)
			return done(err.Error())
		})
		if got := textOf(t, w.run()); got != `no binding "tools.late"` {
			t.Errorf("got %s", got)
		}
	})
}

func TestFailuresAsTheProgramSeesThem(t *testing.T) {
	// The program sees the message and nothing else; each failure has its own way through the pipeline.
	for _, c := range []struct {
		name  string
		setup func(w *world)
		want  string
	}{
		{"SUB-6 tool error", func(w *world) {
			w.tool("t", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
				return nil, registry.Coded("RowError", "NO_ROW", "no such row")
			})
		}, "no such row"},
		{"SUB-6 denial", func(w *world) {
			w.echo("t")
			w.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
				if x.Name() == "t" {
					return registry.Deny("not today"), nil
				}
				return next()
			})
		}, "not today"},
		{"SUB-6 guard", func(w *world) {
			w.echo("t")
			w.reg.Guard(func(x registry.Execution) (string, bool) { return "guarded", x.Name() == "t" })
		}, "guarded"},
		{"SUB-6 pre-execute error", func(w *world) {
			w.echo("t")
			w.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
				if x.Name() == "t" {
					return registry.PreDecision{}, errors.New("listener broke")
				}
				return next()
			})
		}, "listener broke"},
		{"SUB-6 invalid output", func(w *world) {
			w.echo("t", func(d *registry.Definition) { d.Output.Schema = jsonval.MustOf(map[string]any{"type": "string"}) })
		}, `tool "t" produced an invalid result: "value": expected string`},
		{"SUB-6 block", func(w *world) {
			w.echo("t")
			w.reg.OnPostExecute(func(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
				if x.Name() == "t" {
					return registry.Blocked(registry.Text("secret inside")), nil
				}
				return next()
			})
		}, "secret inside"},
		{"SUB-6 timeout", func(w *world) {
			policy.Timeout(w.reg)
			w.tool("t", func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}, func(d *registry.Definition) { d.TimeoutMs = 5 })
		}, "tool call timed out after 5ms"},
		{"SUB-6 panic", func(w *world) {
			w.tool("t", func(context.Context, jsonval.Value, *registry.Run) (any, error) { panic("boom") })
		}, "boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
				_, err := p.call("t", n(1)).wait(t)
				if err == nil {
					return done("no error")
				}
				return done("caught: " + err.Error())
			})
			c.setup(w)
			if got := textOf(t, w.run()); got != "caught: "+c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			equal(t, "SUB-12 events", w.eventLines(), []string{"start c:code:1", "error c:code:1"})
			if call := w.outcome().Calls[0]; call.State != bridge.Failed || call.Error != c.want {
				t.Errorf("ledger: %+v", call)
			}
		})
	}
	t.Run("SUB-6 invalid arguments of a typed tool", func(t *testing.T) {
		type args struct {
			Path string `json:"path"`
		}
		d, err := registry.Define(registry.Spec[args, string]{Name: "typed", Description: "x", Run: func(context.Context, args, *registry.Run) (string, error) { return "", nil }})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			_, err := p.call("typed", map[string]any{"path": 1}).wait(t)
			return done(err.Error())
		})
		if _, err := w.reg.Register(d); err != nil {
			t.Fatal(err)
		}
		if got := textOf(t, w.run()); got != `arguments do not match the schema: "path": expected string (path is the number 1)` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("SUB-4 a tool that is gone since the binding", func(t *testing.T) {
		var dispose func()
		var seen []string
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			dispose()
			_, err := p.call("gone", n(1)).wait(t)
			return done(err.Error())
		})
		dispose = w.tool("gone", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
			t.Error("the body ran")
			return nil, nil
		})
		w.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			seen = append(seen, x.Name())
			return next()
		})
		if got := textOf(t, w.run()); got != `no tool named "gone"` {
			t.Errorf("got %s", got)
		}
		equal(t, "the stages of an unknown tool", seen, []string{registry.RunCode, "gone"})
	})
	t.Run("SUB-4 a tool that is restricted since the binding", func(t *testing.T) {
		var w *world
		w = newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			scope, _ := w.reg.Scope(agent, nil)
			if _, err := scope.Restrict(registry.Restriction{Deny: []string{"echo"}}); err != nil {
				t.Error(err)
			}
			_, err := p.call("echo", n(1)).wait(t)
			return done(err.Error())
		})
		w.echo("echo")
		if got := textOf(t, w.run()); got != `no tool named "echo"` {
			t.Errorf("got %s", got)
		}
	})
}

func TestSubCallValues(t *testing.T) {
	t.Run("SUB-5 a substituted value reaches the program, not the body's", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			v, err := p.call("echo", n(1)).wait(t)
			if err != nil {
				return runtime.Result{}, err
			}
			return done(v)
		})
		w.echo("echo")
		w.reg.OnPostExecute(func(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			d, err := next()
			if x.Name() == "echo" {
				d = d.WithValue("substituted")
			}
			return d, err
		})
		if got := textOf(t, w.run()); got != "substituted" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("CODE-19 nothing of a sub-call reaches the outer result", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			_, err := p.call("echo", map[string]any{"secret": "hidden"}).wait(t)
			if err != nil {
				return runtime.Result{}, err
			}
			return done("ok")
		})
		w.echo("echo")
		r := w.run()
		if text := r.JSON().String(); strings.Contains(text, "hidden") {
			t.Errorf("the outer result is %s", text)
		}
	})
	t.Run("SUB-3 no metadata, no collapse, and policy sees the parent", func(t *testing.T) {
		metas := 0
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			_, err := p.call("echo", n(1)).wait(t)
			if err != nil {
				return runtime.Result{}, err
			}
			return done(nil)
		})
		w.echo("echo", func(d *registry.Definition) {
			d.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { metas++; return 1, nil }
		})
		var parents []bool
		w.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			parents = append(parents, x.Parent() != nil)
			return next()
		})
		if r := w.run(); r.IsError() {
			t.Fatal(r.Text())
		}
		if metas != 0 {
			t.Error("metadata was made for a nested call")
		}
		equal(t, "parents", parents, []bool{false, true})
		direct := w.reg.Execute(context.Background(), registry.Call{ID: "d", Name: "echo", Agent: agent, Arguments: n(1)})
		if f := direct.Failure(); f == nil || f.Message != `no tool named "echo" can be called directly: call it from inside a run_code program` {
			t.Errorf("CODE-28 a direct call: %+v", f)
		}
		if len(parents) != 2 {
			t.Error("CODE-28 policy saw the collapsed call")
		}
	})
	t.Run("SUB-8 SUB-11 5,000 levels are dispatched and recorded intact", func(t *testing.T) {
		deep, err := jsonval.ParseString(strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000))
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			v, err := p.call("echo", deep).wait(t)
			if err != nil {
				return runtime.Result{}, err
			}
			return done(jsonval.Identical(v, deep))
		})
		w.echo("echo")
		if got := textOf(t, w.run()); got != "true" {
			t.Errorf("the program got something else: %s", got)
		}
		for _, e := range w.events {
			if args, _ := e.Value().Get("arguments"); !jsonval.Identical(args, deep) {
				t.Errorf("%s does not record the arguments", e.Type())
			}
		}
	})
	t.Run("SUB-11 content of any length and type", func(t *testing.T) {
		long := strings.Repeat("x", 1<<20)
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			_, err := p.call("t", n(1)).wait(t)
			if err != nil {
				return runtime.Result{}, err
			}
			return done(nil)
		})
		w.echo("t", func(d *registry.Definition) {
			d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) {
				custom, err := registry.NewBlock(map[string]any{"type": "custom", "data": 7})
				return []registry.Block{registry.Text(long), registry.Reasoning("why"), custom}, err
			}
		})
		if r := w.run(); r.IsError() {
			t.Fatal(r.Text())
		}
		content, _ := w.events[1].Value().Get("content")
		if content.Len() != 3 {
			t.Fatalf("%d blocks", content.Len())
		}
		text, _ := content.Index(0).Get("text")
		if data, _ := content.Index(2).Get("data"); len(text.Str()) != len(long) || data.Float() != 7 {
			t.Error("a block is not complete")
		}
	})
	t.Run("SUB-1 an argument that an engine lets through as absent gets no number", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			_, err := p.call("echo", nil).wait(t)
			_, second := p.call("echo", n(1)).wait(t)
			if second != nil {
				return runtime.Result{}, second
			}
			return done(err.Error())
		})
		w.echo("echo")
		if got := textOf(t, w.run()); !strings.HasPrefix(got, "arguments are not lossless JSON") || !strings.Contains(got, "{}") {
			t.Errorf("got %s", got)
		}
		equal(t, "events", w.eventLines(), []string{"start c:code:1", "end c:code:1"})
	})
	t.Run("SUB-12 without an agent there are no events and everything else is the same", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			v, err := p.call("echo", n(1)).wait(t)
			if err != nil {
				return runtime.Result{}, err
			}
			return done(v)
		})
		w.echo("echo")
		r := w.reg.Execute(context.Background(), runCall(nil))
		if r.IsError() || r.Value().String() != `{"logs":[],"result":{"n":1}}` {
			t.Errorf("got %s", r.JSON())
		}
		equal(t, "events", w.eventLines(), nil)
		equal(t, "states", w.states(), []bridge.CallState{bridge.Done})
	})
}
