package registry_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// BenchmarkExecute measures one call of a trivial native tool without listeners.
func BenchmarkExecute(b *testing.B) {
	r := newRegistry(b)
	register(b, r, tool("echo", func(_ context.Context, args jsonval.Value, _ *registry.Run) (any, error) { return args, nil }))
	ctx, args := b.Context(), parse(b, `{"text":"hi"}`)
	b.ReportAllocs()
	for b.Loop() {
		if r.Execute(ctx, call{ID: "1", Name: "echo", Arguments: args}).IsError() {
			b.Fatal("failed")
		}
	}
}

// BenchmarkListeners shows that the cost of a call is linear in its listeners.
func BenchmarkListeners(b *testing.B) {
	for _, n := range []int{0, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := newRegistry(b)
			register(b, r, tool("echo", nil))
			for range n {
				r.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
					return next()
				})
				r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
					return next(ctx)
				})
				r.OnPostExecute(func(_ context.Context, _ exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
					return next()
				})
				r.Guard(func(exec) (string, bool) { return "", false })
				r.OnResult(func(exec, result) {})
			}
			ctx, args := b.Context(), jsonval.Object()
			b.ReportAllocs()
			for b.Loop() {
				if r.Execute(ctx, call{ID: "1", Name: "echo", Arguments: args}).IsError() {
					b.Fatal("failed")
				}
			}
		})
	}
}

// BenchmarkRegistry measures registering, looking up and presenting many tools.
func BenchmarkRegistry(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("tool_%05d", i*7919%n)
		}
		fill := func(b *testing.B) *registry.Registry {
			r := newRegistry(b)
			d := tool("", nil)
			for _, name := range names {
				d.Name = name
				register(b, r, d)
			}
			return r
		}
		b.Run(fmt.Sprintf("register/%d", n), func(b *testing.B) {
			for b.Loop() {
				fill(b)
			}
		})
		r := fill(b)
		s, err := r.Scope("agent", nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Restrict(registry.Restriction{Deny: names[:n/2]}); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("get/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, ok := r.Get(names[n-1], "agent"); !ok {
					b.Fatal("not found")
				}
			}
		})
		b.Run(fmt.Sprintf("present/%d", n), func(b *testing.B) {
			for b.Loop() {
				p, err := r.Present("agent")
				if err != nil || len(p.Tools) != n-n/2 {
					b.Fatal(err, len(p.Tools))
				}
			}
		})
	}
}

// BenchmarkLane measures a hundred calls through a lane, of a tool that may overlap and of one that may not.
func BenchmarkLane(b *testing.B) {
	for _, safe := range []bool{false, true} {
		b.Run(fmt.Sprintf("parallel=%v", safe), func(b *testing.B) {
			r := newRegistry(b)
			d := tool("echo", nil)
			d.ConcurrencySafe = func(jsonval.Value) bool { return safe }
			register(b, r, d)
			b.ReportAllocs()
			for b.Loop() {
				l := must(r.NewLane(b.Context(), registry.LaneOptions{}))
				for range 100 {
					l.Submit(call{ID: "1", Name: "echo", Arguments: jsonval.Object()}, registry.LaneHooks{})
				}
				l.Drain()
			}
		})
	}
}
