package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestRunOptions(t *testing.T) {
	perRun := func(f func(context.Context, registry.Execution) bridge.RunOptions) worldOption {
		return func(o *bridge.Options, _ *registry.Options) { o.PerRun = f }
	}
	type key struct{}
	t.Run("CODE-9 what a harness sets reaches the engine, and the hook sees the call and its context", func(t *testing.T) {
		start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		var got runtime.Request
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			got = p.req
			return done(nil)
		}, perRun(func(ctx context.Context, x registry.Execution) bridge.RunOptions {
			code, _ := x.Arguments().Get("code")
			return bridge.RunOptions{Seed: 42, Start: start, Globals: []runtime.Global{
				{Name: "args", Value: jsonval.MustOf([]any{code, ctx.Value(key{})})},
			}}
		}))
		w.runContext(context.WithValue(context.Background(), key{}, "from the caller"))
		if got.Seed != 42 || !got.Start.Equal(start) || len(got.Globals) != 1 || got.Globals[0].Value.String() != `["scripted","from the caller"]` {
			t.Errorf("the engine got %+v", got)
		}
		if got.OnLog != nil || got.OnTurn != nil {
			t.Error("the engine has observers although nobody listens")
		}
	})
	t.Run("CLI-8 without a seed one is chosen that a JSON number can repeat", func(t *testing.T) {
		seeds := make(map[uint64]bool)
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			seeds[p.req.Seed] = true
			if p.req.Seed == 0 || p.req.Seed >= 1<<53 {
				t.Errorf("seed %d", p.req.Seed)
			}
			return done(nil)
		}, perRun(nil))
		for range 20 {
			w.run()
		}
		if len(seeds) < 20 {
			t.Errorf("only %d seeds in 20 runs", len(seeds))
		}
	})
	t.Run("hooks never overlap, and the outcome is the last", func(t *testing.T) {
		var inside atomic.Int32
		var order []string
		enter := func(what string) {
			if inside.Add(1) != 1 {
				t.Error("two hooks at once")
			}
			time.Sleep(time.Millisecond)
			order = append(order, what)
			inside.Add(-1)
		}
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			promises := all(t, p, "safe", 5)
			for i := range 5 {
				p.req.OnLog(fmt.Sprint(i))
				p.req.OnTurn(runtime.Turn{Kind: runtime.TurnReply, ID: uint32(i)})
			}
			waitAll(t, promises)
			return done(nil)
		}, perRun(func(context.Context, registry.Execution) bridge.RunOptions {
			return bridge.RunOptions{
				OnLog:     func(text string) { enter("log " + text) },
				OnTurn:    func(t runtime.Turn) { enter(fmt.Sprint("turn ", t.ID)) },
				OnEvent:   func(e bridge.Event) { enter(e.Type()) },
				OnOutcome: func(bridge.Outcome) { enter("outcome") },
			}
		}))
		w.echo("safe", safe)
		w.run()
		if len(order) != 21 || order[20] != "outcome" {
			t.Errorf("%d hooks, the last %s", len(order), order[len(order)-1])
		}
	})
	t.Run("a hook that panics is contained and logged", func(t *testing.T) {
		boom := func() { panic("hook broke") }
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			p.req.OnLog("x")
			p.req.OnTurn(runtime.Turn{})
			v, err := p.call("echo", n(1)).wait(t)
			if err != nil {
				return runtime.Result{}, err
			}
			return done(v)
		}, perRun(func(context.Context, registry.Execution) bridge.RunOptions {
			return bridge.RunOptions{
				OnLog: func(string) { boom() }, OnTurn: func(runtime.Turn) { boom() },
				OnEvent: func(bridge.Event) { boom() }, OnOutcome: func(bridge.Outcome) { boom() },
			}
		}))
		w.echo("echo")
		if r := w.run(); r.IsError() {
			t.Error(r.Text())
		}
		for _, hook := range []string{"OnLog", "OnTurn", "OnEvent", "OnOutcome"} {
			if !strings.Contains(w.warnings.String(), "hook="+hook) {
				t.Errorf("no warning about %s in %s", hook, w.warnings.String())
			}
		}
	})
	t.Run("the outcome has the engine's labels, result and times, also of a failure", func(t *testing.T) {
		w := newWorld(t, func(context.Context, *program) (runtime.Result, error) {
			return runtime.Result{Logs: []string{"a"}, Seed: 3, Usage: runtime.Usage{Steps: 5},
				Error: &runtime.Failure{Kind: runtime.Exception, Message: "m", Line: 2, Column: 7}}, nil
		})
		w.run()
		o := w.outcome()
		if o.Language != "typescript" || o.Isolation != "scripted" || o.Result.Error.Line != 2 || o.Result.Usage.Steps != 5 || o.Result.Seed != 3 || o.Calls == nil || o.End.Before(o.Start) {
			t.Errorf("%+v", o)
		}
		if bridge.FailureText(o) != "program failed (exception): m\nOutput before the failure:\na" || bridge.FailureText(bridge.Outcome{}) != "" {
			t.Errorf("text %q", bridge.FailureText(o))
		}
	})
}

// BenchmarkSubCalls is what the bridge, the lane and the pipeline add to a call: one run with a hundred calls of a tool that
// does nothing, on an engine that is a Go function.
func BenchmarkSubCalls(b *testing.B) {
	engine := &scripted{program: func(_ context.Context, p *program) (runtime.Result, error) {
		promises := make([]*promise, 100)
		for i := range promises {
			promises[i] = p.call("noop", map[string]any{"n": 1})
		}
		for _, q := range promises {
			<-q.settled
		}
		return done(nil)
	}}
	br, err := bridge.New(bridge.Options{Engine: engine})
	if err != nil {
		b.Fatal(err)
	}
	reg, err := registry.New(registry.Options{Mode: registry.Code, Transport: br})
	if err != nil {
		b.Fatal(err)
	}
	_, err = reg.Register(registry.Definition{
		Name: "noop", Parameters: anyObject, ConcurrencySafe: func(jsonval.Value) bool { return true },
		Output:  registry.Output{Schema: anything, Render: func(_, _ jsonval.Value) ([]registry.Block, error) { return nil, nil }},
		Execute: func(context.Context, jsonval.Value, *registry.Run) (any, error) { return nil, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := reg.Execute(context.Background(), runCall(agent)); r.IsError() {
			b.Fatal(r.Text())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/call")
}
