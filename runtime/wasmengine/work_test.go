package wasmengine

// This file ends runs by the work that they have done instead of the time that they have taken: the same run ends at the same
// place on any machine, however busy.

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
)

// errWorked is why the caller of runWithin gives up.
var errWorked = errors.New("the work is used up")

// countLooks has e's runs count how often the guest looks at its budgets, once for each interval units of fuel, for runWithin.
func countLooks(e *Engine) {
	e.service.NewGuest = func(ctx context.Context, run *loop.Run) (loop.Guest, error) {
		var h host = run
		if give, ok := ctx.Value(givenKey{}).(*given); ok {
			h = &quittingHost{Run: run, given: give}
		}
		return e.module.instance(ctx, e.image, e.image.source, e.memory, h)
	}
}

type givenKey struct{}

// given is what the caller of a run allows it: it gives up at look k, for k > 0.
type given struct {
	k, looks int
	quit     func()
	late     bool // the run had ended before look k, and the guest was on its way out
}

// quittingHost is a run whose caller gives up at the k-th look at the budgets.
type quittingHost struct {
	*loop.Run
	*given
}

func (h *quittingHost) Tick() bool {
	if h.looks++; h.looks == h.k {
		h.late = h.Ended()
		h.quit()
		for !h.Ended() { // the end comes from another goroutine
			time.Sleep(10 * time.Microsecond)
		}
	}
	return h.Run.Tick()
}

// runWithin runs req on an engine that counts looks, until it ends or has looked most times. looks is how often it did.
func runWithin(t testing.TB, e *Engine, req runtime.Request, most int) (r runtime.Result, looks int) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	g := &given{k: most, quit: func() { cancel(errWorked) }}
	r, err := e.Run(context.WithValue(ctx, givenKey{}, g), req)
	if err != nil {
		t.Fatal(err)
	}
	return r, g.looks
}
