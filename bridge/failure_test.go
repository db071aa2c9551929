package bridge_test

import (
	"context"
	"testing"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestFailureText(t *testing.T) {
	for _, kind := range runtime.Kinds() {
		for _, logs := range [][]string{nil, {"got here", "", "and here"}} {
			name := "CODE-22 CODE-23 " + string(kind)
			if logs != nil {
				name += " with logs"
			}
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, func(context.Context, *program) (runtime.Result, error) { return failed(kind, "the reason", logs...) })
				r := w.run()
				want := "program failed (" + string(kind) + "): the reason"
				if logs != nil {
					want += "\nOutput before the failure:\ngot here\n\nand here"
				}
				f := r.Failure()
				if f == nil || f.Message != want || f.Info == nil || *f.Info != (registry.Info{Name: "CodeRunFailedError", Code: "CODE_RUN_FAILED"}) {
					t.Errorf("got %+v", f)
				}
				if got := textOf(t, r); got != "Error: "+want {
					t.Errorf("content %q", got)
				}
				if r.Value().Exists() {
					t.Error("a failure has a value")
				}
			})
		}
	}
	t.Run("CODE-22 the example of the rule", func(t *testing.T) {
		w := newWorld(t, func(context.Context, *program) (runtime.Result, error) {
			return failed(runtime.Timeout, "wall-clock limit reached: 400 ms", "got here")
		})
		if got := textOf(t, w.run()); got != "Error: program failed (timeout): wall-clock limit reached: 400 ms\nOutput before the failure:\ngot here" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("CLI-9 one line for each tool when calls had been made", func(t *testing.T) {
		var g *gated
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			_, _ = p.call("write_file", n(1)).wait(t)
			_, _ = p.call("write_file", n(2)).wait(t)
			_, _ = p.call("broken", n(3)).wait(t)
			p.call("write_slow", n(4))
			p.call("write_file", n(5))
			g.entered(4)
			return failed(runtime.Exception, "Error: x", "log")
		})
		w.echo("write_file")
		w.tool("broken", func(context.Context, jsonval.Value, *registry.Run) (any, error) { panic("no") })
		g = w.gated("write_slow", true)
		want := "program failed (exception): Error: x\nOutput before the failure:\nlog\n" +
			"Calls before the failure, which are not undone:\nwrite_file: 2 done, 1 dropped\nbroken: 1 failed\nwrite_slow: 1 unknown"
		if got := w.run().Failure().Message; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("CODE-25 the outer result follows policy", func(t *testing.T) {
		w := newWorld(t, func(context.Context, *program) (runtime.Result, error) { return done("long output") })
		w.reg.OnPostExecute(func(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			d, err := next()
			return d.WithContent(registry.Text("spilled")), err
		})
		r := w.run()
		if textOf(t, r) != "spilled" || r.Value().String() != `{"logs":[],"result":"long output"}` {
			t.Errorf("got %s", r.JSON())
		}
	})
	t.Run("CODE-8 CODE-26 the outer call passes every stage, with the program in its arguments and its value held to the contract", func(t *testing.T) {
		w := newWorld(t, func(context.Context, *program) (runtime.Result, error) { return done(1) })
		var seen []string
		note := func(stage string, x registry.Execution) {
			code, _ := x.Arguments().Get("code")
			seen = append(seen, stage+" "+code.Str())
		}
		w.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			note("pre", x)
			return next()
		})
		w.reg.Guard(func(x registry.Execution) (string, bool) { note("guard", x); return "", false })
		w.reg.OnExecute(func(ctx context.Context, x registry.Execution, next func(context.Context) (registry.Result, error)) (registry.Result, error) {
			note("around", x)
			if _, err := next(ctx); err != nil {
				return registry.Result{}, err
			}
			return registry.Success(map[string]any{"logs": "not a list"}), nil
		})
		w.reg.OnResult(func(x registry.Execution, _ registry.Result) { note("result", x) })
		r := w.run()
		equal(t, "stages", seen, []string{"pre scripted", "guard scripted", "around scripted", "result scripted"})
		if codeOf(r.Failure()) != registry.CodeInvalidOutput {
			t.Errorf("got %s", r.JSON())
		}
	})
}

func TestEffectSummary(t *testing.T) {
	t.Run("CLI-9 states by tool in the order of first calls", func(t *testing.T) {
		got := bridge.EffectSummary([]bridge.Call{
			{Tool: "b", State: bridge.Done}, {Tool: "a", State: bridge.Dropped}, {Tool: "b", State: bridge.Cancelled},
			{Tool: "b", State: bridge.Done}, {Tool: "b", State: bridge.Failed},
		})
		equal(t, "lines", got, []string{"b: 2 done, 1 failed, 1 unknown", "a: 1 dropped"})
		if got := bridge.EffectSummary(nil); len(got) != 0 {
			t.Errorf("nothing gives %v", got)
		}
	})
}
