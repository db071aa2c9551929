package policy

import (
	"context"
	"sync"

	"github.com/runcode-go/runcode/registry"
)

// Answerer answers a question, as a dialog with a person does. It should return when ctx ends; a later answer is discarded.
type Answerer func(ctx context.Context, q registry.ApprovalRequest) (registry.Outcome, error)

// Approver is a registry.Approver that asks the answerers that are registered with it, in their order, until one of them
// settles the question (ASK-7). A question that none can settle is unavailable, one whose caller has gone is cancelled at
// once. The zero value is ready to use.
type Approver struct {
	// Never rejects every request without asking anyone.
	Never bool

	mu        sync.Mutex
	next      int
	answerers []registered
}

type registered struct {
	id int
	f  Answerer
}

// OnAsk registers an answerer. One that returns an error, panics, or answers something unknown counts as unavailable.
func (a *Approver) OnAsk(f Answerer) (dispose func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next++
	id := a.next
	a.answerers = append(a.answerers, registered{id, f})
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		kept := make([]registered, 0, len(a.answerers))
		for _, r := range a.answerers {
			if r.id != id {
				kept = append(kept, r)
			}
		}
		a.answerers = kept
	}
}

// Approve settles a request. It never returns an error.
func (a *Approver) Approve(ctx context.Context, q registry.ApprovalRequest) (registry.Outcome, error) {
	if a.Never {
		return registry.Rejected, nil
	}
	a.mu.Lock()
	answerers := a.answerers
	a.mu.Unlock()
	for _, r := range answerers {
		if outcome := ask(ctx, r.f, q); outcome != registry.Unavailable {
			return outcome, nil
		}
	}
	if ctx.Err() != nil {
		return registry.Cancelled, nil
	}
	return registry.Unavailable, nil
}

// ask puts the question to one answerer and waits for it no longer than the caller does. The answerer's goroutine ends when
// the answerer returns.
func ask(ctx context.Context, f Answerer, q registry.ApprovalRequest) registry.Outcome {
	if ctx.Err() != nil {
		return registry.Cancelled
	}
	answer := make(chan registry.Outcome, 1)
	go func() {
		outcome := registry.Unavailable
		defer func() {
			if recover() != nil {
				outcome = registry.Unavailable
			}
			answer <- outcome
		}()
		if o, err := f(ctx, q); err == nil {
			outcome = o
		}
	}()
	select {
	case <-ctx.Done():
		return registry.Cancelled
	case outcome := <-answer:
		if ctx.Err() != nil {
			return registry.Cancelled
		}
		switch outcome {
		case registry.AllowedOnce, registry.Rejected, registry.Cancelled, registry.Suspended:
			return outcome
		}
		return registry.Unavailable
	}
}
