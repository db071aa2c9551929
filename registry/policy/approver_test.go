package policy_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/policy"
)

func TestApprover(t *testing.T) {
	answers := func(o registry.Outcome, err error) policy.Answerer {
		return func(context.Context, registry.ApprovalRequest) (registry.Outcome, error) { return o, err }
	}
	for _, row := range []struct {
		name      string
		answerers []policy.Answerer
		want      registry.Outcome
	}{
		{"no answerer", nil, registry.Unavailable},
		{"one that raises", []policy.Answerer{answers(registry.AllowedOnce, errors.New("x"))}, registry.Unavailable},
		{"one that panics", []policy.Answerer{func(context.Context, registry.ApprovalRequest) (registry.Outcome, error) { panic("x") }}, registry.Unavailable},
		{"one that answers nonsense", []policy.Answerer{answers("yes", nil)}, registry.Unavailable},
		{"allowed", []policy.Answerer{answers(registry.AllowedOnce, nil)}, registry.AllowedOnce},
		{"rejected", []policy.Answerer{answers(registry.Rejected, nil), answers(registry.AllowedOnce, nil)}, registry.Rejected},
		{"withdrawn", []policy.Answerer{answers(registry.Cancelled, nil)}, registry.Cancelled},
		{"suspended", []policy.Answerer{answers(registry.Suspended, nil)}, registry.Suspended},
		{"the next one where one is not available", []policy.Answerer{answers("", nil), answers(registry.AllowedOnce, nil)}, registry.AllowedOnce},
	} {
		t.Run("ASK-7 "+row.name, func(t *testing.T) {
			var a policy.Approver
			for _, f := range row.answerers {
				a.OnAsk(f)
			}
			if got, err := a.Approve(t.Context(), registry.ApprovalRequest{}); got != row.want || err != nil {
				t.Errorf("%s %v, want %s", got, err, row.want)
			}
		})
	}
	t.Run("ASK-7 never rejects without asking anyone", func(t *testing.T) {
		a := policy.Approver{Never: true}
		a.OnAsk(func(context.Context, registry.ApprovalRequest) (registry.Outcome, error) {
			t.Error("somebody was asked")
			return registry.AllowedOnce, nil
		})
		if got, _ := a.Approve(t.Context(), registry.ApprovalRequest{}); got != registry.Rejected {
			t.Error(got)
		}
	})
	bubble(t, "ASK-7 a context that ends before or during the question settles cancelled at once, a late answer is discarded", func(t *testing.T) {
		var a policy.Approver
		var asked atomic.Int32
		a.OnAsk(func(context.Context, registry.ApprovalRequest) (registry.Outcome, error) {
			asked.Add(1)
			time.Sleep(time.Hour)
			return registry.AllowedOnce, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if got, _ := a.Approve(ctx, registry.ApprovalRequest{}); got != registry.Cancelled || time.Since(start) != time.Minute {
			t.Errorf("%s after %v", got, time.Since(start))
		}
		if got, _ := a.Approve(ctx, registry.ApprovalRequest{}); got != registry.Cancelled || asked.Load() != 1 {
			t.Errorf("%s, asked %d times", got, asked.Load())
		}
		var none policy.Approver
		if got, _ := none.Approve(ctx, registry.ApprovalRequest{}); got != registry.Cancelled {
			t.Error(got)
		}
		time.Sleep(2 * time.Hour) // the late answer goes nowhere
		synctest.Wait()
	})
	t.Run("ASK-7 an answer that comes together with the end of the context counts as cancelled", func(t *testing.T) {
		ctx := &quiet{Context: t.Context()} // its channel does not tell, so that the answer is always met first
		var a policy.Approver
		a.OnAsk(func(context.Context, registry.ApprovalRequest) (registry.Outcome, error) {
			ctx.ended.Store(true)
			return registry.AllowedOnce, nil
		})
		if got, _ := a.Approve(ctx, registry.ApprovalRequest{}); got != registry.Cancelled {
			t.Error(got)
		}
	})
	t.Run("an answerer is removed by its disposer", func(t *testing.T) {
		var a policy.Approver
		remove := a.OnAsk(answers(registry.AllowedOnce, nil))
		a.OnAsk(answers(registry.Rejected, nil))
		remove()
		remove()
		if got, _ := a.Approve(t.Context(), registry.ApprovalRequest{}); got != registry.Rejected {
			t.Error(got)
		}
	})
	t.Run("ASK-2 in the pipeline", func(t *testing.T) {
		var a policy.Approver
		r := newRegistry(t, registry.Options{Approver: &a})
		register(t, r, tool("t", 0, nil))
		r.OnPreExecute(func(context.Context, exec, func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			return registry.Ask(""), nil
		})
		want(t, r.Execute(t.Context(), call{ID: "1", Name: "t", Agent: "a"}), `tool "t" needs approval and nobody can answer the request`)
		a.OnAsk(answers(registry.AllowedOnce, nil))
		want(t, r.Execute(t.Context(), call{ID: "2", Name: "t", Agent: "a"}), `ok "done"`)
	})
}

// quiet is a context that ends without closing its channel.
type quiet struct {
	context.Context
	ended atomic.Bool
}

func (q *quiet) Done() <-chan struct{} { return nil }

func (q *quiet) Err() error {
	if q.ended.Load() {
		return context.Canceled
	}
	return nil
}
