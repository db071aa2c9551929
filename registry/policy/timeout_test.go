package policy_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/policy"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

const budget = 100 // milliseconds of a bubble's clock

func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// TestTimeoutRaces is the race table: which of the budget T and the caller's cancellation C comes first, and what the body
// does then.
func TestTimeoutRaces(t *testing.T) {
	own := errors.New("own error")
	cooperative := func(ctx context.Context) (any, error) { <-ctx.Done(); return "late", nil }
	aborts := func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	raises := func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, own }
	stubborn := func(d time.Duration) func(context.Context) (any, error) {
		return func(context.Context) (any, error) { time.Sleep(d * time.Millisecond); return "stubborn", nil }
	}
	for _, row := range []struct {
		name   string
		cancel time.Duration // when C comes, in milliseconds; 0 never, -1 before entry
		body   func(context.Context) (any, error)
		inner  time.Duration // how long an inner wrapper waits before dispatch
		want   string
	}{
		{"neither before the body returns", 0, stubborn(50), 0, `ok "stubborn"`},
		{"T, then a cooperative success", 0, cooperative, 0, "TOOL_TIMEOUT"},
		{"TIMEOUT-15 T, then a late success", 0, stubborn(500), 0, "TOOL_TIMEOUT"},
		{"TIMEOUT-9 T, then its own abort error", 0, aborts, 0, "TOOL_TIMEOUT"},
		{"TIMEOUT-9 T, then another error", 0, raises, 0, "TOOL_TIMEOUT"},
		{"TIMEOUT-17 T, then C, then anything", 150, stubborn(500), 0, "TOOL_TIMEOUT"},
		{"C, then a success", 50, cooperative, 0, "ABORTED"},
		{"TIMEOUT-7 C, then T, then a success", 50, stubborn(500), 0, "ABORTED"},
		{"C, then its own error", 50, raises, 0, "own error"},
		{"TIMEOUT-9 T while an inner wrapper waits before dispatch", 0, cooperative, 200, "TOOL_TIMEOUT"},
		{"C before entry", -1, cooperative, 0, "ABORTED_BEFORE_DISPATCH"},
	} {
		bubble(t, "TIMEOUT-7 TIMEOUT-8 TIMEOUT-10 "+row.name, func(t *testing.T) {
			r := newRegistry(t, registry.Options{})
			entered := 0
			register(t, r, tool("t", budget, func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) {
				entered++
				return row.body(ctx)
			}))
			policy.Timeout(r)
			r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
				time.Sleep(row.inner * time.Millisecond)
				return next(ctx)
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			switch {
			case row.cancel < 0:
				cancel()
			case row.cancel > 0:
				time.AfterFunc(row.cancel*time.Millisecond, cancel)
			}
			out := r.Execute(ctx, call{ID: "1", Name: "t"})
			want(t, out, row.want)
			if row.want == "TOOL_TIMEOUT" {
				if got := out.JSON().String(); got != `{"isError":true,"error":{"message":"tool call timed out after 100ms","info":{"name":"ToolTimeoutError","code":"TOOL_TIMEOUT"}},`+
					`"content":[{"type":"text","text":"Error: tool call timed out after 100ms"}]}` {
					t.Errorf("TIMEOUT-11: %s", got)
				}
			}
			if row.inner > 0 && entered != 0 {
				t.Error("the body was invoked")
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	wait := func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) { <-ctx.Done(); return 1, nil }
	bubble(t, "TIMEOUT-1 TIMEOUT-3 a tool without a budget is delegated untouched", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		ctx := t.Context()
		register(t, r, tool("t", 0, func(got context.Context, _ jsonval.Value, _ *registry.Run) (any, error) {
			if got != ctx {
				t.Error("the body gets another context")
			}
			return 1, nil
		}))
		policy.Timeout(r)
		want(t, r.Execute(ctx, call{ID: "1", Name: "t"}), "ok 1")
		want(t, r.Execute(ctx, call{ID: "2", Name: "nope"}), "UNKNOWN_TOOL")
	})
	t.Run("TIMEOUT-2 GUARDS-4 a budget never reaches the model and a bad one is the author's error", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		register(t, r, tool("t", budget, nil))
		policy.Timeout(r)
		if p, err := r.Present(nil); err != nil || len(p.Tools) != 1 || jsonval.MustOf(p.Tools[0]).String() != `{"name":"t","description":"","parameters":{}}` {
			t.Errorf("presented %v %v", p, err)
		}
		if _, err := r.Register(tool("bad", -1, nil)); err == nil {
			t.Error("a negative budget is accepted")
		}
	})
	bubble(t, "TIMEOUT-4 the budget is that of the definition that the agent's view resolves", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		short, none, only := scope(t, r, "short"), scope(t, r, "none"), scope(t, r, "only")
		sleep := func(context.Context, jsonval.Value, *registry.Run) (any, error) {
			time.Sleep(50 * time.Millisecond)
			return 1, nil
		}
		register(t, r, tool("t", budget, sleep))
		register(t, short, tool("t", 10, sleep))
		register(t, none, tool("t", 0, sleep))
		register(t, only, tool("own", 10, sleep))
		policy.Timeout(r)
		for _, row := range []struct {
			agent any
			name  string
			want  string
		}{{nil, "t", "ok 1"}, {"short", "t", "TOOL_TIMEOUT"}, {"none", "t", "ok 1"}, {"only", "own", "TOOL_TIMEOUT"}} {
			want(t, r.Execute(t.Context(), call{ID: "1", Name: row.name, Agent: row.agent}), row.want)
		}
	})
	bubble(t, "TIMEOUT-5 the clock covers inner wrappers and the body, not the gate and post-execute", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		register(t, r, tool("t", budget, nil))
		policy.Timeout(r)
		slow := 150 * time.Millisecond
		r.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			time.Sleep(slow)
			return next()
		})
		r.Guard(func(exec) (string, bool) { time.Sleep(slow); return "", false })
		r.OnPostExecute(func(_ context.Context, _ exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			time.Sleep(slow)
			return next()
		})
		want(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), `ok "done"`)
		r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			r, err := next(ctx)
			time.Sleep(slow)
			return r, err
		})
		want(t, r.Execute(t.Context(), call{ID: "2", Name: "t"}), "TOOL_TIMEOUT")
	})
	bubble(t, "TIMEOUT-6 outside of a retry the budget covers all attempts, inside each one", func(t *testing.T) {
		attempt := func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			r, err := next(ctx)
			for i := 0; i < 2 && r.IsError(); i++ {
				r, err = next(ctx)
			}
			return r, err
		}
		setup := func() (*registry.Registry, *int) {
			r, n := newRegistry(t, registry.Options{}), 0
			register(t, r, tool("t", budget, func(context.Context, jsonval.Value, *registry.Run) (any, error) {
				time.Sleep(60 * time.Millisecond)
				if n++; n < 3 {
					return nil, errors.New("again")
				}
				return n, nil
			}))
			return r, &n
		}
		r, n := setup()
		policy.Timeout(r)
		r.OnExecute(attempt)
		want(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "TOOL_TIMEOUT")
		if *n != 2 { // the third attempt finds its context ended
			t.Errorf("%d attempts", *n)
		}
		r, _ = setup()
		r.OnExecute(attempt)
		policy.Timeout(r)
		want(t, r.Execute(t.Context(), call{ID: "2", Name: "t"}), "ok 3")
	})
	bubble(t, "TIMEOUT-8 a deadline of another wrapper, even of another policy, is an ordinary cancellation", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		register(t, r, tool("t", budget, wait))
		r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			defer cancel()
			return next(ctx)
		})
		policy.Timeout(r)
		want(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "ABORTED")

		r = newRegistry(t, registry.Options{})
		register(t, r, tool("t", budget, wait))
		var inner []string
		policy.Timeout(r)
		r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			time.Sleep(50 * time.Millisecond) // the outer policy's timer fires first
			r, err := next(ctx)
			inner = append(inner, outcome(r))
			return r, err
		})
		policy.Timeout(r)
		want(t, r.Execute(t.Context(), call{ID: "2", Name: "t"}), "TOOL_TIMEOUT")
		if len(inner) != 1 || inner[0] != "ABORTED" {
			t.Errorf("the inner policy said %v", inner)
		}
	})
	bubble(t, "TIMEOUT-12 an inner wrapper that raises is not replaced", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		register(t, r, tool("t", budget, wait))
		policy.Timeout(r)
		r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			_, _ = next(ctx)
			return result{}, errors.New("raised")
		})
		want(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "raised")
	})
	bubble(t, "TIMEOUT-13 the timer is released on every path", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		var derived []context.Context
		register(t, r, tool("fine", budget, nil),
			tool("panics", budget, func(context.Context, jsonval.Value, *registry.Run) (any, error) { panic("x") }))
		policy.Timeout(r)
		r.OnExecute(func(ctx context.Context, x exec, next func(context.Context) (result, error)) (result, error) {
			derived = append(derived, ctx)
			if x.CallID() == "3" {
				panic("wrapper")
			}
			return next(ctx)
		})
		r.Execute(t.Context(), call{ID: "1", Name: "fine"})
		r.Execute(t.Context(), call{ID: "2", Name: "panics"})
		r.Execute(t.Context(), call{ID: "3", Name: "fine"})
		if len(derived) != 3 {
			t.Fatalf("%d contexts", len(derived))
		}
		for _, ctx := range derived {
			if ctx.Err() == nil {
				t.Error("a context is still waiting for its timer")
			}
		}
	})
	bubble(t, "TIMEOUT-14 TIMEOUT-16 TIMEOUT-17 TIMEOUT-18 later stages see a live caller, one result, and the body's contexts only", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		d := tool("t", budget, func(ctx context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(registry.Context{ID: "body"})
			run.ConcludeTurn()
			<-ctx.Done()
			return 1, nil
		})
		finalized, results := 0, 0
		d.Finalize = func(exec, result) ([]registry.Block, bool) { finalized++; return nil, false }
		register(t, r, d)
		policy.Timeout(r)
		r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			r, err := next(ctx)
			return r.WithContexts(registry.Context{ID: "wrapper"}), err
		})
		r.OnResult(func(exec, result) { results++ })
		block := false
		r.OnPostExecute(func(ctx context.Context, _ exec, r result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			if ctx.Err() != nil || outcome(r) != "TOOL_TIMEOUT" {
				t.Errorf("post-execute sees %v and %s", ctx.Err(), outcome(r))
			}
			if block {
				return registry.Blocked(registry.Text("blocked")), nil
			}
			return next()
		})
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		want(t, out, "TOOL_TIMEOUT")
		if contexts(out) != "body" || out.ConcludesTurn() || finalized != 1 || results != 1 {
			t.Errorf("contexts %q, concludes %v, finalized %d, results %d", contexts(out), out.ConcludesTurn(), finalized, results)
		}
		block = true
		want(t, r.Execute(t.Context(), call{ID: "2", Name: "t"}), "blocked")
	})
	bubble(t, "TIMEOUT-15 a body that ignores its context keeps the call pending past the budget", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		release := make(chan struct{})
		register(t, r, tool("t", budget, func(context.Context, jsonval.Value, *registry.Run) (any, error) { <-release; return 1, nil }))
		policy.Timeout(r)
		done := make(chan result, 1)
		go func() { done <- r.Execute(t.Context(), call{ID: "1", Name: "t"}) }()
		time.Sleep(time.Hour)
		select {
		case <-done:
			t.Fatal("the call was abandoned")
		default:
		}
		close(release)
		want(t, <-done, "TOOL_TIMEOUT")
	})
	bubble(t, "TIMEOUT-19 a thousand concurrent calls are a thousand timers", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		for i := range 10 {
			register(t, r, tool(fmt.Sprint("t", i), int64(10*i+5), func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) {
				select {
				case <-ctx.Done():
				case <-time.After(50 * time.Millisecond):
				}
				return 1, nil
			}))
		}
		policy.Timeout(r)
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				expected := "ok 1"
				if i%10 < 5 {
					expected = "TOOL_TIMEOUT"
				}
				want(t, r.Execute(t.Context(), call{ID: "1", Name: fmt.Sprint("t", i%10)}), expected)
			})
		}
		wg.Wait()
	})
	bubble(t, "GUARDS-1 GUARDS-2 GUARDS-3 GUARDS-5 a bare registry enforces nothing; disposal is complete, calls in flight finish under it", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		register(t, r, tool("t", budget, func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) {
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			return 1, nil
		}))
		want(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "ok 1")
		dispose := policy.Timeout(r)
		done := make(chan result, 1)
		go func() { done <- r.Execute(t.Context(), call{ID: "2", Name: "t"}) }()
		synctest.Wait()
		dispose()
		want(t, r.Execute(t.Context(), call{ID: "3", Name: "t"}), "ok 1")
		want(t, <-done, "TOOL_TIMEOUT")
	})
	bubble(t, "TIMEOUT-7 the cause tells a body why its context ended", func(t *testing.T) {
		r := newRegistry(t, registry.Options{})
		register(t, r, tool("t", budget, func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) {
			<-ctx.Done()
			var coded registry.CodedError
			if err := context.Cause(ctx); !errors.As(err, &coded) || coded.Code() != "TOOL_TIMEOUT" || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("cause %v", err)
			}
			return 1, nil
		}))
		policy.Timeout(r)
		want(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "TOOL_TIMEOUT")
	})
}
