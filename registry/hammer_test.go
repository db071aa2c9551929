package registry_test

// Everything at once, for the race detector.

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// TestHammer registers, disposes, restricts, presents and executes from many goroutines. Whatever is visible at the time,
// each call settles once and its observers see its own result.
func TestHammer(t *testing.T) {
	const rounds = 150
	r := newRegistry(t, registry.Options{Transport: fakeTransport{}})
	register(t, r, tool("fixed", func(_ context.Context, args jsonval.Value, run *registry.Run) (any, error) {
		run.DeferContext(note("x"))
		return args, nil
	}))
	var observed, executed, changes atomic.Int64
	r.OnResult(func(exec, result) { observed.Add(1) })
	r.OnChange(func() { changes.Add(1) })
	var wg sync.WaitGroup
	for worker := range 4 {
		agent := fmt.Sprint("agent", worker%2)
		wg.Go(func() { // one scope, made and disposed of by two workers
			for i := range rounds {
				s, err := r.Scope(agent, nil)
				if err != nil {
					t.Error(err)
				}
				if dispose, err := s.Register(tool(fmt.Sprint("own", i%3), nil)); err == nil && i%2 == 0 {
					dispose()
				}
				if lift, err := s.Restrict(registry.Restriction{Match: func(n string) bool { return n == "fixed" }}); err == nil {
					defer lift()
				}
				s.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
					return next()
				}, registry.Prepend)
				s.Guard(func(exec) (string, bool) { return "", false })
				if undo, err := s.PresentAs(registry.Both); err == nil {
					undo()
				}
				if i%20 == 19 {
					s.Dispose()
				}
			}
		})
		wg.Go(func() {
			for i := range rounds {
				remove := r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					return next(ctx)
				})
				dispose, err := r.Register(tool(fmt.Sprint("global", worker), nil))
				if err != nil {
					t.Error(err)
				}
				if _, err := r.Present(agent); err != nil {
					t.Error(err)
				}
				r.Schemas(agent)
				wantValue(t, r.Execute(t.Context(), call{ID: fmt.Sprint(i), Name: "fixed", Agent: agent, Arguments: i}), fmt.Sprint(i))
				r.Execute(t.Context(), call{ID: "u", Name: "own1", Agent: agent})
				executed.Add(2)
				dispose()
				remove()
			}
		})
		wg.Go(func() {
			lane := must(r.NewLane(t.Context(), registry.LaneOptions{MaxParallel: 3}))
			for i := range rounds {
				lane.Submit(call{ID: fmt.Sprint(i), Name: "fixed", Agent: agent}, registry.LaneHooks{
					Committed: func(exec, result) { executed.Add(1) },
				})
			}
			lane.Drain()
		})
	}
	wg.Wait()
	if observed.Load() != executed.Load() || changes.Load() == 0 {
		t.Errorf("%d results observed of %d calls, %d changes", observed.Load(), executed.Load(), changes.Load())
	}
}
