package loop

// This file defines Run, the host's side of one run, and its event loop.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// Spec is one run: what is asked for, what it may use, and how to make the instance that runs it.
type Spec struct {
	Request runtime.Request // Start is set and Seed is not zero
	Limits  runtime.Limits  // no field is zero
	Code    *runtime.Code
	Began   time.Time // when the run started, from which the wall ceiling counts; zero = now

	// NewGuest makes the instance. It may wait for a free place, and gives up when ctx ends, which is when the run does.
	NewGuest func(ctx context.Context, host *Run) (Guest, error)

	// Detach, if set, starts the goroutine that drives the guest, so that Do can leave it behind when a native operation
	// keeps the guest from noticing its end (RUN-51). Without it the guest is driven by the goroutine that called Do.
	Detach func(drive func())
}

// abandonAfter is how long Do waits for a detached guest to notice the end of its run (RUN-51: the result comes within 250 ms).
const abandonAfter = 120 * time.Millisecond

// Run is the host's side of one run. Receive, Tick and Clock are for the guest, while one of its methods runs, on the
// goroutine that drives it; Ended is for everyone.
type Run struct {
	*latch
	spec  Spec
	guest Guest

	meter  meter
	inbox  *inbox
	timers timers
	calls  calls

	sampled   int64 // how many heapSamples were charged when guestHeap was read
	guestHeap int64

	began time.Time // of the run, by the monotonic clock
	clock time.Time // what Date.now answers

	handlerCtx context.Context // ends when the run does; the run is one operation
	aborted    func() bool     // whether the caller has given up, which then has ended the run

	out    sync.Mutex // guards the ledger and the calls of OnLog
	ledger ledger
	heap   int64 // of the guest when it was closed
	steps  int64
}

// errSettled is the cause of the end of every handler's context.
var errSettled = errors.New("the run has settled")

func newRun(ctx context.Context, s Spec) *Run {
	r := &Run{latch: newLatch(), spec: s, inbox: newInbox(), began: s.Began, ledger: newLedger(s.Limits.MaxOutput)}
	if r.began.IsZero() {
		r.began = time.Now()
	}
	r.clock = s.Request.Start.Truncate(time.Millisecond)
	r.calls.bind(s.Request.Namespaces)
	r.meter.limit = s.Limits.Compute
	r.meter.expired = func() { r.fail(runtime.ComputeFailure(s.Limits.Compute)) }
	// A handler's context ends after the run has, never before: what a handler answers because it was cancelled must not
	// reach a program that the same cause is about to end.
	r.aborted = func() bool {
		if ctx.Err() == nil {
			return false
		}
		r.fail(abortFailure(ctx))
		return true
	}
	handlers, settled := context.WithCancelCause(context.WithoutCancel(ctx))
	r.handlerCtx = handlers
	r.onEnd(func() {
		if cause := context.Cause(ctx); cause != nil {
			settled(cause)
		}
		settled(errSettled)
	})
	return r
}

// Do performs one run, from making the instance to the result. When it returns, the instance is closed and nothing of the
// run is emitted any more; a detached guest that does not notice its end is left to the goroutine that drives it.
func Do(ctx context.Context, s Spec) runtime.Result {
	r := newRun(ctx, s)
	stopWatching := context.AfterFunc(ctx, func() { r.fail(abortFailure(ctx)) })
	wall := time.AfterFunc(max(s.Limits.Wall-time.Since(r.began), 0), func() { r.fail(runtime.WallFailure(s.Limits.Wall)) })
	if s.Detach == nil {
		r.drive()
	} else {
		driven := make(chan struct{})
		s.Detach(func() {
			defer close(driven)
			r.drive()
		})
		select {
		case <-driven:
		case <-r.ended:
			grace := time.NewTimer(abandonAfter)
			select {
			case <-driven:
			case <-grace.C:
			}
			grace.Stop()
		}
	}
	stopWatching()
	wall.Stop()
	r.meter.release()
	r.inbox.close()
	return r.report()
}

// fail ends the run with a failure, unless it has ended.
func (r *Run) fail(f *runtime.Failure) { r.set(outcome{failure: f}) }

// Ended reports whether the run is over: the guest must not begin anything more.
func (r *Run) Ended() bool { return r.closed.Load() }

// Tick is for the guest to call every now and then while it runs; true means that it must stop at once.
func (r *Run) Tick() (stop bool) {
	if r.Ended() {
		return true
	}
	if r.meter.check() {
		r.fail(runtime.ComputeFailure(r.spec.Limits.Compute))
		return true
	}
	return false
}

// Clock is what Date.now answers. It moves only when the loop turns, so that a run is reproducible and nothing in it can
// time itself.
func (r *Run) Clock() time.Time { return r.clock }

// drive makes the guest and turns the loop until the run has ended.
func (r *Run) drive() {
	guest, err := r.make()
	if err != nil {
		r.guestFailed(err)
		return
	}
	r.guest = guest
	if stopper, ok := guest.(Interrupter); ok {
		r.onEnd(stopper.Interrupt)
	}
	defer r.dispose()

	if err := protect(func() error { return guest.Configure(configText(&r.spec.Request, r.spec.Limits)) }); err != nil {
		r.guestFailed(err)
		return
	}
	r.enter(func() error { return guest.Start(lead + r.spec.Code.JS) })
	for !r.Ended() {
		r.turn()
	}
}

func (r *Run) make() (g Guest, err error) {
	err = protect(func() error {
		g, err = r.spec.NewGuest(r.handlerCtx, r)
		return err
	})
	return g, err
}

// dispose keeps the guest's figures and closes it.
func (r *Run) dispose() {
	err := protect(func() error {
		heap, steps := r.guest.HeapBytes(), r.guest.Steps()
		r.out.Lock()
		r.heap, r.steps = heap, steps
		r.out.Unlock()
		return nil
	})
	if closing := protect(func() error { r.guest.Close(); return nil }); err == nil {
		err = closing
	}
	if err != nil {
		r.guestFailed(err)
	}
}

// enter lets the guest do one thing and then all that follows from it, and bills the time.
func (r *Run) enter(step func() error) {
	r.meter.start()
	err := protect(step)
	if err == nil && !r.Ended() {
		err = protect(r.guest.Jobs)
	}
	r.meter.stop()
	if err != nil {
		r.guestFailed(err)
	}
}

// protect turns a panic into an error: whatever dies in an engine, the host lives (BUDGET-10).
func protect(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal fault: %v", p)
		}
	}()
	return f()
}

// turn waits for one event and hands it to the guest. Of an answer and a timer, whichever came first is first.
func (r *Run) turn() {
	next := r.timers.next()
	if at, ok := r.inbox.peek(); ok {
		if next == nil || !r.moment(next.due).Before(at) {
			r.deliver(r.inbox.take())
			return
		}
	}
	if next == nil {
		if r.calls.open() == 0 {
			r.fail(runtime.StuckFailure())
			return
		}
		select {
		case <-r.inbox.wake:
		case <-r.ended:
		}
		return
	}
	wait := time.Until(r.moment(next.due))
	if wait <= 0 {
		r.fire(next)
		return
	}
	alarm := time.NewTimer(wait)
	defer alarm.Stop()
	select {
	case <-alarm.C:
	case <-r.inbox.wake:
	case <-r.ended:
	}
}

// moment converts a time of the run's clock to one of the host's.
func (r *Run) moment(clock time.Time) time.Time { return r.began.Add(clock.Sub(r.spec.Request.Start)) }

// advance moves the run's clock to at, unless it is there already, and tells the observer what the loop turns for.
func (r *Run) advance(kind runtime.TurnKind, id uint32, at time.Time) {
	if at.After(r.clock) {
		r.clock = at
	}
	if r.spec.Request.OnTurn != nil {
		r.spec.Request.OnTurn(runtime.Turn{Kind: kind, ID: id, Clock: r.clock})
	}
}

func (r *Run) deliver(a answer) {
	// A caller's own functions may answer because of the abort, and faster than it is noticed here (SUB-25).
	if r.aborted() || !r.calls.settle(a.id) {
		return
	}
	r.advance(runtime.TurnReply, a.id, r.spec.Request.Start.Add(time.Since(r.began)).Truncate(time.Millisecond))
	r.enter(func() error { return r.guest.Settle(a.id, a.ok, a.payload) })
}

// fire lets a timer go off. The clock stands at the moment when it was due, though the machine be late: so the timers that it
// sets in its turn come in the order of their delays, whatever the load (RUN-44).
func (r *Run) fire(t *timer) {
	r.timers.clear(t.id)
	r.advance(runtime.TurnTimer, t.id, t.due)
	r.enter(func() error { return r.guest.Fire(t.id) })
}

// guestFailed classifies the error of a guest.
func (r *Run) guestFailed(err error) {
	var syntax *ProgramError
	switch {
	case errors.Is(err, ErrHeap):
		r.fail(runtime.HeapFailure(r.spec.Limits.Heap))
	case errors.Is(err, ErrStack):
		r.fail(&runtime.Failure{Kind: runtime.Exception, Message: StackMessage})
	case errors.Is(err, ErrString):
		r.fail(&runtime.Failure{Kind: runtime.Exception, Message: "InternalError: " + ErrString.Error()})
	case errors.As(err, &syntax):
		r.fail(r.programFailure(syntax))
	default:
		r.fail(runtime.StoppedFailure(err.Error()))
	}
}

// programFailure is the failure of a program that could not catch it.
func (r *Run) programFailure(e *ProgramError) *runtime.Failure {
	f := &runtime.Failure{Kind: runtime.Exception, Message: e.Message}
	if e.Stack != "" {
		if frames, line, column, ok := mapStack(r.spec.Code, e.Stack, ""); ok {
			f.Message, f.Line, f.Column = e.Message+frames, line, column
		}
		return f
	}
	if line, column, ok := locate(r.spec.Code, e.Line, e.Column); ok {
		f.Line, f.Column = line, column
		f.Message += fmt.Sprintf("\n    at %s:%d:%d", FileName, line, column)
	}
	return f
}

// report makes the result of a run that has ended.
func (r *Run) report() runtime.Result {
	end, at := r.get()
	r.out.Lock()
	defer r.out.Unlock()
	result := conclude(&r.ledger, end)
	result.Seed = r.spec.Request.Seed
	result.Usage.Compute = r.meter.total()
	result.Usage.Wall = at.Sub(r.began)
	result.Usage.HeapBytes, result.Usage.Steps = r.heap, r.steps
	return result
}
