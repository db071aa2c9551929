package registry_test

// Wrappers, the body, post-execute, the finalizer, observers and contexts.

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"strings"
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

// TestCancellation is the precedence table of section 12: when the caller's cancellation arrives, and what comes of it.
func TestCancellation(t *testing.T) {
	boom := errors.New("boom")
	type stage struct {
		pre    func(cancel func()) (registry.PreDecision, error)
		answer func(cancel func()) (registry.Outcome, error)
		guard  func(cancel func()) (string, bool)
		around func(cancel func(), next func() (result, error)) (result, error)
		body   func(cancel func()) (any, error)
		post   func(cancel func()) (registry.PostDecision, error)
		final  func(cancel func())
	}
	ask := func(func()) (registry.PreDecision, error) { return registry.Ask(""), nil }
	answer := func(o registry.Outcome) func(func()) (registry.Outcome, error) {
		return func(cancel func()) (registry.Outcome, error) { cancel(); return o, nil }
	}
	const before, during = "ABORTED_BEFORE_DISPATCH", "ABORTED"
	rows := []struct {
		name string
		stage
		message, code, notes string
		value                string
		post                 int
	}{
		{"during pre-execute, which allows", stage{pre: func(c func()) (registry.PreDecision, error) { c(); return registry.Allow(), nil }}, beforeText, before, "", "", 1},
		{"during pre-execute, which allows, and a guard denies", stage{
			pre:   func(c func()) (registry.PreDecision, error) { c(); return registry.Allow(), nil },
			guard: func(func()) (string, bool) { return "guarded", true }}, "guarded", "", "", "", 1},
		{"during pre-execute, which denies", stage{pre: func(c func()) (registry.PreDecision, error) { c(); return registry.Deny("no"), nil }}, "no", "", "", "", 1},
		{"during pre-execute, which raises", stage{pre: func(c func()) (registry.PreDecision, error) { c(); return registry.Allow(), boom }}, "boom", "", "", "", 0},
		{"during approval, which is cancelled (ASK-4)", stage{pre: ask, answer: answer(registry.Cancelled),
			guard: func(func()) (string, bool) { return "not skipped", true }}, beforeText, before, "", "", 1},
		{"during approval, which is rejected", stage{pre: ask, answer: answer(registry.Rejected)}, `the user refused to run tool "t"`, "", "", "", 1},
		{"during approval, which is unavailable", stage{pre: ask, answer: answer(registry.Unavailable)}, `tool "t" needs approval and nobody can answer the request`, "", "", "", 1},
		{"during approval, which is granted", stage{pre: ask, answer: answer(registry.AllowedOnce)}, beforeText, before, "", "", 1},
		{"during approval, which is granted, and a guard denies", stage{pre: ask, answer: answer(registry.AllowedOnce),
			guard: func(func()) (string, bool) { return "guarded", true }}, "guarded", "", "", "", 1},
		{"during guards, one of which denies (GUARD-6)", stage{guard: func(c func()) (string, bool) { c(); return "guarded", true }}, "guarded", "", "", "", 1},
		{"during guards, which abstain", stage{guard: func(c func()) (string, bool) { c(); return "", false }}, beforeText, before, "", "", 1},
		{"in a wrapper before next", stage{around: func(c func(), next func() (result, error)) (result, error) { c(); return next() }}, beforeText, before, "", "", 1},
		{"in a wrapper that authors a success", stage{around: func(c func(), _ func() (result, error)) (result, error) {
			c()
			return registry.Success(1, note("wrapper")), nil
		}}, beforeText, before, "wrapper", "", 1},
		{"in a wrapper that raises", stage{around: func(c func(), _ func() (result, error)) (result, error) { c(); return result{}, boom }}, "boom", "", "", "", 0},
		{"in a wrapper that authors a failure", stage{around: func(c func(), _ func() (result, error)) (result, error) {
			c()
			return registry.Fail(boom), nil
		}}, "boom", "", "", "", 1},
		{"while the body runs, which succeeds (CTX-4)", stage{body: func(c func()) (any, error) { c(); return 1, nil }}, cancelledText, during, "body", "", 1},
		{"while the body runs, which fails", stage{body: func(c func()) (any, error) { c(); return nil, boom }}, "boom", "", "body", "", 1},
		{"while the body runs, whose output is invalid", stage{body: func(c func()) (any, error) { c(); return math.NaN(), nil }},
			`tool "t" produced an invalid result: "value": not a lossless JSON value`, "INVALID_TOOL_OUTPUT", "body", "", 1},
		{"CANCEL-8 while the body runs, which returns the context's error", stage{body: func(c func()) (any, error) { c(); return nil, context.Canceled }},
			"context canceled", during, "body", "", 1},
		{"CANCEL-8 while the body runs, which wraps that error", stage{body: func(c func()) (any, error) {
			c()
			return nil, errors.Join(errors.New("reading"), context.DeadlineExceeded)
		}}, "reading\ncontext deadline exceeded", during, "body", "", 1},
		{"CANCEL-8 while the body runs, whose error has a code of its own", stage{body: func(c func()) (any, error) {
			c()
			return nil, errors.Join(registry.Coded("N", "OWN", "own"), context.Canceled)
		}}, "own\ncontext canceled", "OWN", "body", "", 1},
		{"after the body, in a wrapper (CANCEL-4)", stage{around: func(c func(), next func() (result, error)) (result, error) {
			r, err := next()
			c()
			return r, err
		}}, cancelledText, during, "body", "", 1},
		{"during post-execute, which accepts (POST-10)", stage{post: func(c func()) (registry.PostDecision, error) {
			c()
			return registry.Accept().AppendContexts(note("post")), nil
		}}, cancelledText, during, "body post", "", 1},
		{"during post-execute, which accepts a success whose body never ran", stage{
			around: func(func(), func() (result, error)) (result, error) { return registry.Success(1), nil },
			post:   func(c func()) (registry.PostDecision, error) { c(); return registry.Accept(), nil }}, beforeText, before, "", "", 1},
		{"during post-execute, which blocks", stage{post: func(c func()) (registry.PostDecision, error) {
			c()
			return registry.Blocked(registry.Text("blocked")), nil
		}}, "blocked", "", "", "", 1},
		{"during post-execute, which raises", stage{post: func(c func()) (registry.PostDecision, error) { c(); return registry.Accept(), boom }}, "boom", "", "", "", 1},
		{"CANCEL-5 after post-execute", stage{final: func(c func()) { c() }}, "", "", "body", "1", 1},
		{"CANCEL-8 no cancellation, but such an error", stage{body: func(func()) (any, error) { return nil, context.Canceled }}, "context canceled", "", "body", "", 1},
	}
	for _, row := range rows {
		t.Run("CANCEL-2 CANCEL-3 "+row.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var approver registry.Approver
			if row.answer != nil {
				approver = approverFunc(func(context.Context, registry.ApprovalRequest) (registry.Outcome, error) { return row.answer(cancel) })
			}
			r := newRegistry(t, registry.Options{Approver: approver})
			d := tool("t", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
				run.DeferContext(note("body"))
				run.ConcludeTurn()
				if row.body != nil {
					return row.body(cancel)
				}
				return 1, nil
			})
			finalized, posted, observed := 0, 0, 0
			d.Finalize = func(exec, result) ([]registry.Block, bool) {
				if finalized++; row.final != nil {
					row.final(cancel)
				}
				return nil, false
			}
			register(t, r, d)
			if row.pre != nil {
				r.OnPreExecute(func(context.Context, exec, func() (registry.PreDecision, error)) (registry.PreDecision, error) {
					return row.pre(cancel)
				})
			}
			if row.guard != nil {
				r.Guard(func(exec) (string, bool) { return row.guard(cancel) })
			}
			if row.around != nil {
				r.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
					return row.around(cancel, func() (result, error) { return next(ctx) })
				})
			}
			r.OnPostExecute(func(_ context.Context, _ exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
				if posted++; row.stage.post != nil {
					return row.stage.post(cancel)
				}
				return next()
			})
			r.OnResult(func(exec, result) { observed++ })
			out := r.Execute(ctx, call{ID: "1", Name: "t", Agent: "a"})
			if row.message == "" {
				wantValue(t, out, row.value)
			} else {
				wantFailure(t, out, row.message, row.code)
				if row.code == during && out.Failure().Info.Name != "AbortError" {
					t.Errorf("name %s", out.Failure().Info.Name)
				}
			}
			if notes(out) != row.notes || posted != row.post || finalized != 1 || observed != 1 {
				t.Errorf("contexts %q (want %q), post %d (want %d), finalized %d, observed %d", notes(out), row.notes, posted, row.post, finalized, observed)
			}
		})
	}
	t.Run("CANCEL-1 before entry with lossy arguments the argument error comes first, without arguments on the execution", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wantFailure(t, s.Execute(ctx, call{ID: "1", Name: "t", Arguments: func() {}}), "arguments are not lossless JSON: a Go value of type func() at $", "")
		if s.execs[0].Arguments().Exists() {
			t.Error("EXEC-5: there are arguments")
		}
		s.stages, s.execs = nil, nil
		wantFailure(t, s.Execute(ctx, call{ID: "1", Name: "t", Arguments: 5}), beforeText, "ABORTED_BEFORE_DISPATCH")
		if got := s.execs[0].Arguments().String(); got != "5" {
			t.Errorf("arguments %q", got)
		}
	})
	t.Run("CANCEL-1 PRESENT-6 a collapsed call that was cancelled at entry is ABORTED_BEFORE_DISPATCH and finalized", func(t *testing.T) {
		s := traced(t, registry.Options{Mode: registry.Code, Transport: fakeTransport{}}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wantFailure(t, s.Execute(ctx, call{ID: "1", Name: "t"}), beforeText, "ABORTED_BEFORE_DISPATCH")
		if got := strings.Join(s.stages, " "); got != "finalize result" {
			t.Errorf("FINAL-2: stages %q", got)
		}
	})
	t.Run("CANCEL-2 a cancellation after the body is seen by post-execute as such", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			r, err := next(ctx)
			cancel()
			return r, err
		})
		var seen result
		s.OnPostExecute(func(_ context.Context, _ exec, r result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			seen = r
			return next()
		})
		s.Execute(ctx, call{ID: "1", Name: "t"})
		wantFailure(t, seen, cancelledText, "ABORTED")
	})
	t.Run("CANCEL-7 no goroutine is left after Execute", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnExecute(func(_ context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			return next(ctx)
		})
		ctx, cancel := context.WithCancel(t.Context())
		s.Execute(ctx, call{ID: "0", Name: "t"})
		count := runtime.NumGoroutine()
		for range 50 {
			s.Execute(ctx, call{ID: "1", Name: "t"})
		}
		cancel() // a hook that was left behind would start a goroutine here
		if got := runtime.NumGoroutine(); got > count {
			t.Errorf("%d goroutines, %d before", got, count)
		}
	})
}

func TestPostExecute(t *testing.T) {
	run := func(t *testing.T, d registry.PostDecision, b body) result {
		t.Helper()
		s := traced(t, registry.Options{}, b)
		s.OnPostExecute(reviews(d, nil))
		return s.Execute(t.Context(), call{ID: "1", Name: "t"})
	}
	image := registry.Image(registry.ImageRef{Attachment: "a1", MediaType: "image/png", Bytes: 3})
	t.Run("POST-1 it sees the dispatch result, denials included", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		var seen result
		s.OnPostExecute(func(_ context.Context, _ exec, r result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			seen = r
			return next()
		})
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, seen, `"ok"`)
		if notes(seen) != "body" {
			t.Errorf("contexts %q", notes(seen))
		}
		s.Guard(func(exec) (string, bool) { return "no", true })
		s.Execute(t.Context(), call{ID: "2", Name: "t"})
		wantFailure(t, seen, "no", "")
	})
	t.Run("POST-2 POST-3 OUT-7 content replacement keeps value and metadata", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", returns(1))
		d.Output.PresentationMeta = func(_, v jsonval.Value) (any, error) { return v, nil }
		register(t, r, d)
		r.OnPostExecute(reviews(registry.Accept().WithContent(registry.Text("hidden")), nil))
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, out, "1")
		if out.Text() != "hidden" || out.Meta().String() != "1" {
			t.Errorf("content %q meta %s", out.Text(), out.Meta())
		}
		failed := run(t, registry.Accept().WithContent(registry.Text("calm")), fails(registry.Coded("E", "C", "loud")))
		wantFailure(t, failed, "loud", "C")
		if failed.Text() != "calm" {
			t.Errorf("content %q", failed.Text())
		}
	})
	t.Run("POST-4 a value and content together fail the call", func(t *testing.T) {
		wantFailure(t, run(t, registry.Accept().WithValue(1).WithContent(), nil), "post-execute decision sets both value and content", "")
	})
	t.Run("POST-5 a value replaces, null included; content and metadata follow", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", returns("old"))
		d.Output.PresentationMeta = func(_, v jsonval.Value) (any, error) { return []any{v}, nil }
		register(t, r, d)
		r.OnPostExecute(reviews(registry.Accept().WithValue(nil).AppendContexts(note("post")), nil))
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, out, "null")
		if out.Text() != "null" || out.Meta().String() != "[null]" || notes(out) != "post" {
			t.Errorf("got %s", out.JSON())
		}
	})
	t.Run("POST-5 a value on a failed call fails it; a vanished tool is unknown", func(t *testing.T) {
		wantFailure(t, run(t, registry.Accept().WithValue(1), fails(errors.New("x"))), "post-execute cannot set a value on a failed call", "")
		r := newRegistry(t)
		remove, err := r.Register(tool("t", nil))
		if err != nil {
			t.Fatal(err)
		}
		r.OnPostExecute(func(context.Context, exec, result, func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			remove()
			return registry.Accept().WithValue(1), nil
		})
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), `no tool named "t"`, "UNKNOWN_TOOL")
	})
	t.Run("POST-6 a block's message is the text of its feedback", func(t *testing.T) {
		for _, row := range []struct {
			feedback []registry.Block
			want     string
		}{
			{[]registry.Block{registry.Text("a"), registry.Text("b")}, "a\nb"},
			{[]registry.Block{registry.Text("see"), image, registry.Reasoning("secret")}, "see\n[image block]\n[reasoning block]"},
			{nil, "result blocked by policy"},
			{[]registry.Block{registry.Text("")}, "result blocked by policy"},
		} {
			r := run(t, registry.Blocked(row.feedback...), nil)
			wantFailure(t, r, row.want, "")
			if len(r.Content()) != len(row.feedback) || r.Meta().Exists() {
				t.Errorf("content %v", r.Content())
			}
		}
	})
	t.Run("POST-7 CTX-2 contexts: the body's, the wrapper's, the decision's; a block drops the first two", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			r, err := next(ctx)
			return r.WithContexts(note("wrapper")), err
		})
		block := false
		s.OnPostExecute(func(context.Context, exec, result, func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			d := registry.Accept()
			if block {
				d = registry.Blocked()
			}
			return d.AppendContexts(note("post")).PrependContexts(note("front")), nil
		})
		if got := notes(s.Execute(t.Context(), call{ID: "1", Name: "t"})); got != "body wrapper front post" {
			t.Errorf("contexts %q", got)
		}
		block = true
		if got := notes(s.Execute(t.Context(), call{ID: "2", Name: "t"})); got != "front post" {
			t.Errorf("contexts %q after a block", got)
		}
	})
	t.Run("POST-9 it runs once, also when it fails", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnPostExecute(reviews(registry.Accept(), errors.New("x")))
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		if s.count("post") != 1 {
			t.Errorf("ran %d times", s.count("post"))
		}
	})
}

func TestFinalizer(t *testing.T) {
	finalizing := func(t *testing.T, b body, f func(exec, result) ([]registry.Block, bool)) (*registry.Registry, *int) {
		t.Helper()
		n := 0
		r := newRegistry(t)
		d := tool("t", b)
		d.Finalize = func(x exec, r result) ([]registry.Block, bool) { n++; return f(x, r) }
		register(t, r, d)
		return r, &n
	}
	t.Run("FINAL-1 the finalizer of the definition that was visible at the start is used", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", nil)
		d.Finalize = func(exec, result) ([]registry.Block, bool) { return []registry.Block{registry.Text("old")}, true }
		remove, err := r.Register(d)
		if err != nil {
			t.Fatal(err)
		}
		r.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			remove()
			d.Finalize = func(exec, result) ([]registry.Block, bool) { return []registry.Block{registry.Text("new")}, true }
			register(t, r, d)
			return next()
		})
		if got := r.Execute(t.Context(), call{ID: "1", Name: "t"}).Text(); got != "old" {
			t.Errorf("content %q", got)
		}
	})
	t.Run("EXEC-6 it is captured before the arguments are read", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", nil)
		d.Finalize = func(exec, result) ([]registry.Block, bool) { return []registry.Block{registry.Text("seen")}, true }
		remove, err := r.Register(d)
		if err != nil {
			t.Fatal(err)
		}
		out := r.Execute(t.Context(), call{ID: "1", Name: "t", Arguments: reader(remove)})
		wantFailure(t, out, `no tool named "t"`, "UNKNOWN_TOOL")
		if out.Text() != "seen" {
			t.Errorf("content %q", out.Text())
		}
	})
	t.Run("FINAL-4 it replaces the content of successes and failures and nothing else", func(t *testing.T) {
		replace := func(x exec, r result) ([]registry.Block, bool) {
			return []registry.Block{registry.Text("final " + r.Text())}, true
		}
		r, _ := finalizing(t, returns(1), replace)
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, out, "1")
		if out.Text() != "final 1" {
			t.Errorf("content %q", out.Text())
		}
		r, _ = finalizing(t, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(note("kept"))
			return nil, registry.Coded("E", "C", "x")
		}, replace)
		out = r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantFailure(t, out, "x", "C")
		if out.Text() != "final Error: x" || notes(out) != "kept" {
			t.Errorf("content %q contexts %q", out.Text(), notes(out))
		}
	})
	t.Run("FINAL-5 CTX-4 one that raises fails the call, once, and drops everything else", func(t *testing.T) {
		r, n := finalizing(t, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(note("lost"))
			return nil, errors.New("earlier")
		}, func(exec, result) ([]registry.Block, bool) { panic(registry.Coded("E", "FIN", "finalizer")) })
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantFailure(t, out, "finalizer", "FIN")
		if *n != 1 || notes(out) != "" || out.Text() != "Error: finalizer" {
			t.Errorf("called %d times, contexts %q, content %q", *n, notes(out), out.Text())
		}
	})
	t.Run("FINAL-5 lossy content fails the call", func(t *testing.T) {
		r, n := finalizing(t, nil, func(exec, result) ([]registry.Block, bool) { return []registry.Block{{}}, true })
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "tool result is not lossless JSON", "")
		if *n != 1 {
			t.Errorf("called %d times", *n)
		}
	})
	t.Run("FINAL-3 lossy content or contexts become an ordinary failure, which the finalizer sees", func(t *testing.T) {
		for _, d := range []registry.PostDecision{
			registry.Accept().WithContent(registry.Block{}),
			registry.Accept().AppendContexts(registry.Context{Content: []registry.Block{{}}}),
			registry.Blocked(registry.Block{}),
		} {
			var seen result
			r, _ := finalizing(t, nil, func(_ exec, r result) ([]registry.Block, bool) { seen = r; return nil, false })
			r.OnPostExecute(reviews(d, nil))
			out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
			wantFailure(t, out, "tool result is not lossless JSON", "")
			wantFailure(t, seen, "tool result is not lossless JSON", "")
		}
	})
	t.Run("FINAL-6 what is published is what is returned", func(t *testing.T) {
		r, _ := finalizing(t, nil, func(exec, result) ([]registry.Block, bool) { return []registry.Block{}, true })
		var seen result
		r.OnResult(func(_ exec, r result) { seen = r })
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		if len(out.Content()) != 0 || !same(out, seen) {
			t.Errorf("OUT-9: content %v, observed %s", out.Content(), seen.JSON())
		}
	})
}

// reader runs when it is read as JSON.
type reader func()

func (r reader) MarshalJSON() ([]byte, error) { r(); return []byte("1"), nil }

func TestObservers(t *testing.T) {
	t.Run("NOTIFY-1 in registration order, filtered by scope, once a call", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("t", nil))
		s := scope(t, r, "a", nil)
		var log []string
		s.OnResult(func(exec, result) { log = append(log, "scoped") })
		r.OnResult(func(exec, result) { log = append(log, "global") })
		r.Execute(t.Context(), call{ID: "1", Name: "t", Agent: "a"})
		r.Execute(t.Context(), call{ID: "2", Name: "t"})
		if got := strings.Join(log, " "); got != "scoped global global" {
			t.Errorf("observed %q", got)
		}
	})
	t.Run("NOTIFY-2 one that panics is logged, and neither the others nor the caller notice", func(t *testing.T) {
		var log bytes.Buffer
		r := newRegistry(t, registry.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		register(t, r, tool("t", nil))
		seen := 0
		r.OnResult(func(exec, result) { panic("observer broke") })
		r.OnResult(func(exec, result) { seen++ })
		wantValue(t, r.Execute(t.Context(), call{ID: "c7", Name: "t"}), `"done"`)
		if seen != 1 {
			t.Error("the other observer did not run")
		}
		for _, part := range []string{"level=WARN", "tool=t", "call=c7", "observer broke"} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the log lacks %q: %s", part, log.String())
			}
		}
	})
	t.Run("JSON-9 EXEC-7 nothing that is handed out leads back into the result", func(t *testing.T) {
		r := newRegistry(t)
		content := []registry.Block{registry.Text("fine")}
		d := tool("t", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			c := note("n")
			run.DeferContext(c)
			c.Content[0] = registry.Text("changed")
			return nil, nil
		})
		d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) { return content, nil }
		d.Finalize = func(_ exec, r result) ([]registry.Block, bool) {
			r.Content()[0] = registry.Text("changed")
			return nil, false
		}
		register(t, r, d)
		r.OnResult(func(_ exec, r result) {
			content[0] = registry.Text("changed")
			r.Content()[0] = registry.Text("changed")
			c := r.Contexts()
			c[0].Content[0] = registry.Text("changed")
			c[0].ID = "changed"
		})
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		if out.Text() != "fine" || notes(out) != "n" || out.Contexts()[0].Content[0].Text() != "n" {
			t.Errorf("somebody changed the result: %s", out.JSON())
		}
		failed := registry.Fail(registry.Coded("N", "C", "m"))
		failed.Failure().Info.Code = "changed"
		if failed.Failure().Info.Code != "C" {
			t.Error("the failure was changed")
		}
	})
}

func TestContexts(t *testing.T) {
	t.Run("CTX-1 contexts keep identity, source and metadata and are never merged", func(t *testing.T) {
		c := registry.Context{ID: "x", Content: []registry.Block{registry.Text("same")}, Source: registry.PluginSource("p"), Meta: jsonval.MustOf(1)}
		s := traced(t, registry.Options{}, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(c)
			run.DeferContext(c)
			return nil, nil
		})
		got := s.Execute(t.Context(), call{ID: "1", Name: "t"}).Contexts()
		if len(got) != 3 || got[1].JSON().String() != `{"id":"x","content":[{"type":"text","text":"same"}],"source":{"kind":"plugin","plugin":"p"},"meta":1}` {
			t.Errorf("got %v", got)
		}
	})
	t.Run("CTX-3 CTX-5 a nested call injects nothing; its composite forwards what it wants", func(t *testing.T) {
		r := newRegistry(t)
		inner := tool("inner", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(note("inner"))
			run.ConcludeTurn()
			return nil, nil
		})
		outer := tool("outer", func(ctx context.Context, args jsonval.Value, run *registry.Run) (any, error) {
			x := run.Execution()
			sub := r.Execute(ctx, call{ID: "s", Name: "inner", RootID: x.RootID(), Parent: x.Token()})
			if args.Bool() {
				for _, c := range sub.Contexts() {
					run.DeferContext(c)
				}
				if sub.ConcludesTurn() {
					run.ConcludeTurn()
				}
			}
			return nil, nil
		})
		register(t, r, inner, outer)
		plain := r.Execute(t.Context(), call{ID: "1", Name: "outer", Arguments: false})
		forwarded := r.Execute(t.Context(), call{ID: "2", Name: "outer", Arguments: true})
		if notes(plain) != "" || plain.ConcludesTurn() || notes(forwarded) != "inner" || !forwarded.ConcludesTurn() {
			t.Errorf("TURN-2: plain %q %v, forwarded %q %v", notes(plain), plain.ConcludesTurn(), notes(forwarded), forwarded.ConcludesTurn())
		}
	})
	t.Run("TURN-1 TURN-2 the marker is on successes only, and idempotent", func(t *testing.T) {
		concluding := func(v any, err error) body {
			return func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
				run.ConcludeTurn()
				run.ConcludeTurn()
				return v, err
			}
		}
		for _, row := range []struct {
			name string
			body body
			post registry.PostDecision
			want bool
		}{
			{"success", concluding(1, nil), registry.Accept(), true},
			{"replaced value", concluding(1, nil), registry.Accept().WithValue(2), true},
			{"failure", concluding(nil, errors.New("x")), registry.Accept(), false},
			{"invalid output", concluding(math.NaN(), nil), registry.Accept(), false},
			{"block", concluding(1, nil), registry.Blocked(), false},
			{"none", returns(1), registry.Accept(), false},
		} {
			s := traced(t, registry.Options{}, row.body)
			s.OnPostExecute(reviews(row.post, nil))
			if got := s.Execute(t.Context(), call{ID: "1", Name: "t"}); got.ConcludesTurn() != row.want {
				t.Errorf("%s: concludes %v", row.name, got.ConcludesTurn())
			}
		}
	})
	t.Run("TURN-3 a wrapper can neither invent nor remove the marker", func(t *testing.T) {
		s := traced(t, registry.Options{}, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.ConcludeTurn()
			return 1, nil
		})
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			_, err := next(ctx)
			return registry.Success(2), err
		})
		if r := s.Execute(t.Context(), call{ID: "1", Name: "t"}); !r.ConcludesTurn() || r.Value().Float() != 2 {
			t.Errorf("got %s", r.JSON())
		}
	})
	t.Run("TURN-3 a mark of any attempt counts, whichever attempt's result comes back", func(t *testing.T) {
		attempt := 0
		s := traced(t, registry.Options{}, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			if attempt++; attempt == 2 {
				run.ConcludeTurn()
			}
			return attempt, nil
		})
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			first, err := next(ctx)
			if err == nil {
				_, err = next(ctx)
			}
			return first, err
		})
		if r := s.Execute(t.Context(), call{ID: "1", Name: "t"}); !r.ConcludesTurn() || r.Value().Float() != 1 {
			t.Errorf("got %s", r.JSON())
		}
	})
	t.Run("PIPE-4 the notification is no record: the registry appends nothing to a log", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		if slices.Contains(s.stages, "tool/result") || s.count("result") != 1 {
			t.Errorf("stages %v", s.stages)
		}
	})
}
