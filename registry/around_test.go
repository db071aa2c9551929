package registry_test

// Wrappers and the body.

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestAround(t *testing.T) {
	t.Run("AROUND-1 dispatch comes back as results, and an inner wrapper's error may be handled", func(t *testing.T) {
		s := traced(t, registry.Options{}, fails(registry.Coded("E", "BODY", "body failed")))
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			_, err := next(ctx)
			if err == nil || err.Error() != "inner" {
				t.Errorf("got %v", err)
			}
			return registry.Success("rescued"), nil
		})
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			r, err := next(ctx)
			if err != nil {
				t.Errorf("dispatch raised %v", err)
			}
			wantFailure(t, r, "body failed", "BODY")
			return result{}, errors.New("inner")
		})
		wantValue(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), `"rescued"`)
	})
	t.Run("AROUND-2 the tool is resolved at dispatch: gone, or shadowed since the gate", func(t *testing.T) {
		r := newRegistry(t)
		s := scope(t, r, "a", nil)
		remove, err := r.Register(tool("t", returns("old")))
		if err != nil {
			t.Fatal(err)
		}
		step := func() { register(t, s, tool("t", returns("shadow"))) }
		r.Guard(func(exec) (string, bool) { step(); step = remove; return "", false })
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t", Agent: "a"}), `"shadow"`)
		wantFailure(t, r.Execute(t.Context(), call{ID: "2", Name: "t"}), `no tool named "t"`, "UNKNOWN_TOOL")
	})
	t.Run("AROUND-3 later stages get the caller's context", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		ctx := t.Context()
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			inner, cancel := context.WithCancel(ctx)
			r, err := next(inner)
			cancel()
			return r, err
		})
		s.OnPostExecute(func(got context.Context, _ exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			if got != ctx {
				t.Error("post-execute got another context")
			}
			return next()
		})
		wantValue(t, s.Execute(ctx, call{ID: "1", Name: "t"}), `"ok"`)
	})
	t.Run("AROUND-4 the body's context ends with the wrapper's or the caller's, with the first cause", func(t *testing.T) {
		wrapper, caller := errors.New("wrapper"), errors.New("caller")
		for _, row := range []struct {
			name       string
			unrelated  bool
			end        func(endWrapper, endCaller func())
			want       error
			beforeBody bool
		}{
			{"caller, with an unrelated context passed on", true, func(_, c func()) { c() }, caller, false},
			{"wrapper", false, func(w, _ func()) { w() }, wrapper, false},
			{"wrapper first", true, func(w, c func()) { w(); time.Sleep(time.Millisecond); c() }, wrapper, false},
			{"caller first", true, func(w, c func()) { c(); time.Sleep(time.Millisecond); w() }, caller, false},
		} {
			t.Run(row.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, endCaller := context.WithCancelCause(t.Context())
					var endWrapper context.CancelCauseFunc
					s := traced(t, registry.Options{}, func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) {
						row.end(func() { endWrapper(wrapper) }, func() { endCaller(caller) })
						<-ctx.Done()
						if got := context.Cause(ctx); got != row.want {
							t.Errorf("cause %v, want %v", got, row.want)
						}
						return 1, nil
					})
					s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
						outer := ctx
						if row.unrelated {
							outer = context.Background()
						}
						outer, endWrapper = context.WithCancelCause(outer)
						defer endWrapper(nil)
						return next(outer)
					})
					wantFailure(t, s.Execute(ctx, call{ID: "1", Name: "t"}), cancelledText, "ABORTED")
				})
			})
		}
		t.Run("both ended before the body: it is not invoked and the wrapper's cause counts", func(t *testing.T) {
			ctx, endCaller := context.WithCancelCause(t.Context())
			s := traced(t, registry.Options{}, nil)
			s.OnExecute(func(_ context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
				outer, end := context.WithCancelCause(context.Background())
				end(wrapper)
				endCaller(caller)
				return next(outer)
			})
			wantFailure(t, s.Execute(ctx, call{ID: "1", Name: "t"}), beforeText, "ABORTED_BEFORE_DISPATCH")
		})
		t.Run("values of the wrapper's context reach the body", func(t *testing.T) {
			type key struct{}
			s := traced(t, registry.Options{}, func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) {
				return ctx.Value(key{}), nil
			})
			s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
				return next(context.WithValue(ctx, key{}, "v"))
			})
			wantValue(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), `"v"`)
		})
	})
	t.Run("AROUND-5 CANCEL-6 a context that has ended keeps the body from running, and the wrapper may replace that", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		replace := false
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			inner, cancel := context.WithCancel(ctx)
			cancel()
			r, err := next(inner)
			wantFailure(t, r, beforeText, "ABORTED_BEFORE_DISPATCH")
			if replace {
				return registry.Success("instead"), nil
			}
			return r, err
		})
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), beforeText, "ABORTED_BEFORE_DISPATCH")
		replace = true
		wantValue(t, s.Execute(t.Context(), call{ID: "2", Name: "t"}), `"instead"`)
		if s.count("body") != 0 {
			t.Error("the body ran")
		}
	})
	t.Run("AROUND-6 a success is ABORTED, a failure stays, if only the wrapper's context ended", func(t *testing.T) {
		var end context.CancelFunc
		fail := false
		s := traced(t, registry.Options{}, func(context.Context, jsonval.Value, *registry.Run) (any, error) {
			end()
			if fail {
				return nil, errors.New("own failure")
			}
			return 1, nil
		})
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			ctx, end = context.WithCancel(ctx)
			defer end()
			return next(ctx)
		})
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), cancelledText, "ABORTED")
		fail = true
		wantFailure(t, s.Execute(t.Context(), call{ID: "2", Name: "t"}), "own failure", "")
	})
	t.Run("AROUND-8 OUT-6 an authored success is rendered anew by the tool that is visible now", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", nil)
		d.Output.Schema = raw(t, schema.Integer())
		d.Output.PresentationMeta = func(_, v jsonval.Value) (any, error) { return map[string]any{"seen": v}, nil }
		remove, err := r.Register(d)
		if err != nil {
			t.Fatal(err)
		}
		value := any(5)
		vanish := false
		r.OnExecute(func(context.Context, exec, func(context.Context) (result, error)) (result, error) {
			if vanish {
				remove()
			}
			return registry.Success(value), nil
		})
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, out, "5")
		if out.Text() != "5" || out.Meta().String() != `{"seen":5}` {
			t.Errorf("content %q, meta %s", out.Text(), out.Meta())
		}
		value = "five"
		wantFailure(t, r.Execute(t.Context(), call{ID: "2", Name: "t"}),
			`tool "t" produced an invalid result: "value": expected integer`, "INVALID_TOOL_OUTPUT")
		value, vanish = 5, true
		wantFailure(t, r.Execute(t.Context(), call{ID: "3", Name: "t"}), `no tool named "t"`, "UNKNOWN_TOOL")
	})
	t.Run("AROUND-9 an authored failure keeps its error, content, metadata and contexts", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnExecute(authors(registry.Fail(registry.Coded("", "MINE", "mine"), registry.Text("shown")).
			WithMeta(jsonval.MustOf(1)).WithContexts(note("n")), nil))
		r := s.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantFailure(t, r, "mine", "MINE")
		if r.Failure().Info.Name != "HarnessError" || r.Text() != "shown" || r.Meta().String() != "1" || notes(r) != "n" {
			t.Errorf("got %s", r.JSON())
		}
	})
	t.Run("AROUND-10 TURN-3 a result of another call counts as authored", func(t *testing.T) {
		r := newRegistry(t)
		loose := tool("loose", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.ConcludeTurn()
			return "text", nil
		})
		strict := tool("strict", returns(1))
		strict.Output.Schema = raw(t, schema.Integer())
		same := tool("same", returns(1))
		same.Output.Render = func(_, v jsonval.Value) ([]registry.Block, error) {
			return []registry.Block{registry.Text("same says " + v.String())}, nil
		}
		register(t, r, loose, strict, same)
		var cached result
		r.OnExecute(func(ctx context.Context, x exec, next func(context.Context) (result, error)) (result, error) {
			if x.Name() != "loose" {
				return cached, nil
			}
			var err error
			cached, err = next(ctx)
			return cached, err
		})
		if !r.Execute(t.Context(), call{ID: "1", Name: "loose"}).ConcludesTurn() {
			t.Error("the marker is missing")
		}
		wantFailure(t, r.Execute(t.Context(), call{ID: "2", Name: "strict"}),
			`tool "strict" produced an invalid result: "value": expected integer`, "INVALID_TOOL_OUTPUT")
		out := r.Execute(t.Context(), call{ID: "3", Name: "same"})
		wantValue(t, out, `"text"`)
		if out.Text() != `same says "text"` || out.ConcludesTurn() {
			t.Errorf("content %q, concludes %v", out.Text(), out.ConcludesTurn())
		}
	})
	t.Run("AROUND-12 a retry runs the body again under the same execution and the contexts add up", func(t *testing.T) {
		attempt := 0
		var runs []*registry.Run
		s := traced(t, registry.Options{}, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			runs = append(runs, run)
			if attempt++; attempt == 2 {
				runs[0].DeferContext(note("stale")) // CTX-6: the first attempt is over
				runs[0].ConcludeTurn()
			}
			run.DeferContext(note([]string{"one", "two"}[attempt-1]))
			if attempt == 1 {
				return nil, errors.New("again")
			}
			return attempt, nil
		})
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			r, err := next(ctx)
			if r.IsError() {
				return next(ctx)
			}
			return r, err
		})
		r := s.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, r, "2")
		if notes(r) != "body one body two" || r.ConcludesTurn() {
			t.Errorf("contexts %q, concludes %v", notes(r), r.ConcludesTurn())
		}
	})
	t.Run("AROUND-12 CANCEL-3 a retry under an ended context says that side effects were possible", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			if _, err := next(ctx); err != nil {
				return result{}, err
			}
			inner, cancel := context.WithCancel(ctx)
			cancel()
			return next(inner)
		})
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), cancelledText, "ABORTED")
	})
	t.Run("AROUND-13 BODY-2 a body that a wrapper left running in a goroutine is waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ended := false
			s := traced(t, registry.Options{}, func(context.Context, jsonval.Value, *registry.Run) (any, error) {
				time.Sleep(time.Hour)
				ended = true
				return 1, nil
			})
			var late func(context.Context) (result, error)
			s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
				late = next
				go func() { _, _ = next(ctx) }()
				synctest.Wait()
				return registry.Fail(errors.New("too slow")), nil
			})
			wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), "too slow", "")
			if !ended {
				t.Error("Execute returned before the body")
			}
			if _, err := late(t.Context()); err == nil {
				t.Error("next works after the stage has ended")
			}
		})
	})
	t.Run("a nil context passed to next is the wrapper's error", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnExecute(func(_ context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			var none context.Context
			return next(none)
		})
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), "an execute wrapper called next with a nil context", "")
	})
}

func TestBody(t *testing.T) {
	t.Run("BODY-1 the body gets the frozen arguments, its identity and the caller's context", func(t *testing.T) {
		ctx := t.Context()
		s := traced(t, registry.Options{}, func(got context.Context, args jsonval.Value, run *registry.Run) (any, error) {
			if got != ctx || run.Execution().CallID() != "7" || run.Execution().Arguments().String() != args.String() {
				t.Error("the body sees something else")
			}
			return args, nil
		})
		wantValue(t, s.Execute(ctx, call{ID: "7", Name: "t", Arguments: []any{1, "x"}}), `[1,"x"]`)
	})
	t.Run("BODY-2 CANCEL-2 a body that ignores its context keeps the call pending, and is then ABORTED with its contexts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			s := traced(t, registry.Options{}, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
				<-release
				run.DeferContext(note("late"))
				return 1, nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan result, 1)
			go func() { done <- s.Execute(ctx, call{ID: "1", Name: "t"}) }()
			synctest.Wait()
			cancel()
			time.Sleep(time.Hour)
			select {
			case <-done:
				t.Fatal("the call was abandoned")
			default:
			}
			close(release)
			r := <-done
			wantFailure(t, r, cancelledText, "ABORTED")
			if notes(r) != "body late" {
				t.Errorf("contexts %q", notes(r))
			}
		})
	})
	t.Run("BODY-3 the validation of a typed tool counts as inside of the body", func(t *testing.T) {
		r := newRegistry(t)
		d, err := registry.Define(registry.Spec[struct{ N int }, int]{Name: "t", Run: func(context.Context, struct{ N int }, *registry.Run) (int, error) { return 1, nil }})
		if err != nil {
			t.Fatal(err)
		}
		register(t, r, d)
		ctx, cancel := context.WithCancel(t.Context())
		r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			if _, err := next(ctx); err != nil {
				t.Error(err)
			}
			cancel()
			return registry.Success(1), nil
		})
		wantFailure(t, r.Execute(ctx, call{ID: "1", Name: "t"}), cancelledText, "ABORTED")
	})
	t.Run("BODY-4 CTX-6 deferring after the body has returned has no effect; during it, any goroutine may", func(t *testing.T) {
		var kept *registry.Run
		s := traced(t, registry.Options{}, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			kept = run
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { run.DeferContext(note("x")); run.ConcludeTurn() })
			}
			wg.Wait()
			return 1, nil
		})
		s.OnPostExecute(func(_ context.Context, _ exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			kept.DeferContext(note("late"))
			return next()
		})
		r := s.Execute(t.Context(), call{ID: "1", Name: "t"})
		if len(r.Contexts()) != 9 || !r.ConcludesTurn() {
			t.Errorf("%d contexts, concludes %v", len(r.Contexts()), r.ConcludesTurn())
		}
	})
}
