package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/sdkgen"
)

// checkerFunc is a checker that is a function.
type checkerFunc func(ctx context.Context, req runtime.Request, tools []sdkgen.Tool) *runtime.Failure

func (f checkerFunc) Check(ctx context.Context, req runtime.Request, tools []sdkgen.Tool) *runtime.Failure {
	return f(ctx, req, tools)
}

func checkedBy(f checkerFunc) worldOption {
	return func(o *bridge.Options, _ *registry.Options) { o.Check = f }
}

func TestCheck(t *testing.T) {
	runs := func(_ context.Context, p *program) (runtime.Result, error) {
		p.call("act", n(1))
		return done("ran")
	}
	t.Run("GATE-7 a program that is refused does not run, and nothing is called", func(t *testing.T) {
		w := newWorld(t, runs, checkedBy(func(context.Context, runtime.Request, []sdkgen.Tool) *runtime.Failure {
			return &runtime.Failure{Kind: runtime.Exception, Message: "type error: program.ts:2:3: no", Line: 2, Column: 3}
		}))
		w.echo("act")
		r := w.run()
		if got := textOf(t, r); got != "Error: program failed (exception): type error: program.ts:2:3: no" {
			t.Errorf("the model is told %q", got)
		}
		if info := r.Failure().Info; info == nil || info.Code != "CODE_RUN_FAILED" {
			t.Errorf("the failure is %+v", r.Failure())
		}
		if w.engine.runs != 0 || len(w.eventLines()) != 0 {
			t.Errorf("the engine ran %d times, events %q", w.engine.runs, w.eventLines())
		}
		o := w.outcome()
		if f := o.Result.Error; f == nil || f.Line != 2 || f.Column != 3 || o.Err != nil || len(o.Calls) != 0 || o.Result.Logs == nil || o.Result.Seed == 0 {
			t.Errorf("the outcome is %+v", o)
		}
	})
	t.Run("GATE-7 one that is not refused runs", func(t *testing.T) {
		w := newWorld(t, runs, checkedBy(func(context.Context, runtime.Request, []sdkgen.Tool) *runtime.Failure { return nil }))
		w.echo("act")
		if got := textOf(t, w.run()); got != "ran" || w.engine.runs != 1 {
			t.Errorf("%q after %d runs", got, w.engine.runs)
		}
	})
	t.Run("GATE-7 the checker sees what the program will find, and can do nothing with it", func(t *testing.T) {
		type key struct{}
		w := newWorld(t, runs, checkedBy(func(ctx context.Context, req runtime.Request, tools []sdkgen.Tool) *runtime.Failure {
			if req.Program != "scripted" || !req.Unwrap || len(req.Globals) != 1 || req.Globals[0].Name != "args" || ctx.Value(key{}) != "value" {
				t.Errorf("it got %+v", req)
			}
			var spaces []string
			for _, s := range req.Namespaces {
				for _, f := range s.Functions {
					spaces = append(spaces, s.Global+"."+f.Name)
					if f.Call != nil {
						t.Errorf("%s can be called", f.Name)
					}
				}
			}
			equal(t, "namespaces", spaces, []string{"tools.act", "tools.big", "sdk.search", "sdk.describe"})
			if req.Namespaces[0].ErrorClass == nil || req.OnLog != nil || req.OnTurn != nil {
				t.Errorf("it got %+v", req)
			}
			if len(tools) != 2 || tools[0].Name != "act" || !jsonval.Equal(tools[0].Parameters, anyObject) || tools[1].Description == "" {
				t.Errorf("tools %+v", tools)
			}
			return nil
		}), func(o *bridge.Options, _ *registry.Options) {
			o.SDK.MaxTokens = 1000
			o.PerRun = func(context.Context, registry.Execution) bridge.RunOptions {
				return bridge.RunOptions{Globals: []runtime.Global{{Name: "args", Value: jsonval.Array()}}, OnLog: func(string) {}, OnTurn: func(runtime.Turn) {}}
			}
		})
		w.echo("act")
		w.echo("big", func(d *registry.Definition) { d.Description = strings.Repeat("Big. ", 2000) })
		w.runContext(context.WithValue(context.Background(), key{}, "value"))
		if w.engine.runs != 1 {
			t.Error("the program did not run")
		}
	})
	t.Run("GATE-7 a checker that panics changes nothing", func(t *testing.T) {
		w := newWorld(t, runs, checkedBy(func(context.Context, runtime.Request, []sdkgen.Tool) *runtime.Failure { panic("ouch") }))
		w.echo("act")
		if got := textOf(t, w.run()); got != "ran" || !strings.Contains(w.warnings.String(), "ouch") {
			t.Errorf("%q, warnings %q", got, w.warnings.String())
		}
	})
	t.Run("GATE-7 a program in another language is not asked about", func(t *testing.T) {
		w := newWorld(t, runs, checkedBy(func(context.Context, runtime.Request, []sdkgen.Tool) *runtime.Failure {
			t.Error("it was")
			return nil
		}))
		w.engine.language = "python"
		w.echo("act")
		w.run()
	})
	t.Run("GATE-7 nor is one whose call is refused", func(t *testing.T) {
		w := newWorld(t, runs, checkedBy(func(context.Context, runtime.Request, []sdkgen.Tool) *runtime.Failure {
			t.Error("it was")
			return nil
		}))
		call := runCall(agent)
		call.Arguments = map[string]any{"code": "x", "description": " "}
		w.reg.Execute(context.Background(), call)
	})
	t.Run("CODE-24 a call that is cancelled while its program is checked ends as an abort", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		w := newWorld(t, func(ctx context.Context, _ *program) (runtime.Result, error) { return aborted(ctx) },
			checkedBy(func(ctx context.Context, _ runtime.Request, _ []sdkgen.Tool) *runtime.Failure {
				cancel()
				<-ctx.Done()
				return nil
			}))
		if got := textOf(t, w.runContext(ctx)); !strings.Contains(got, "program failed (abort)") {
			t.Errorf("%q", got)
		}
	})
}

// BenchmarkDiscovery is a run of an empty program where 200 tools are left to a search.
func BenchmarkDiscovery(b *testing.B) {
	engine := &scripted{program: func(context.Context, *program) (runtime.Result, error) { return done(nil) }}
	br, err := bridge.New(bridge.Options{Engine: engine, SDK: sdkgen.Options{MaxTokens: 2000}})
	if err != nil {
		b.Fatal(err)
	}
	reg, err := registry.New(registry.Options{Mode: registry.Code, Transport: br})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 200 {
		_, err := reg.Register(registry.Definition{
			Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat("Does something. ", 20), Parameters: anyObject,
			Output:  registry.Output{Schema: anything, Render: func(_, v jsonval.Value) ([]registry.Block, error) { return nil, nil }},
			Execute: func(context.Context, jsonval.Value, *registry.Run) (any, error) { return nil, nil },
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	call := runCall(nil)
	for b.Loop() {
		if r := reg.Execute(context.Background(), call); r.IsError() {
			b.Fatal(r.Content())
		}
	}
}
