package registry_test

// The precedence table of cancellation.

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

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
