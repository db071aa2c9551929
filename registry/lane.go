package registry

// This file defines the lane: many calls, one order. One goroutine does everything that has an order (hooks, gates, commits);
// only the around stage of a call, its wrappers and its body, runs in a goroutine of its own and reports back.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// DefaultMaxParallel is how many bodies a lane runs at once unless it is told otherwise (SCHED-3, SUB-16).
const DefaultMaxParallel = 10

// LaneOptions configures a lane.
type LaneOptions struct {
	// MaxParallel caps the bodies that run at once; 0 is DefaultMaxParallel, 1 is strictly serial.
	MaxParallel int
}

// LaneHooks are told what happens to one call. All hooks of a lane are called by its one goroutine, so they never overlap
// each other, a gate or a commit; they must not wait for another call of the lane. Any of them may be nil.
type LaneHooks struct {
	// Started is called right before the call's gate.
	Started func(x Execution)
	// Committed is called right after the call's notification.
	Committed func(x Execution, r Result)
	// Dropped is called instead of both, in submission order, if the call is never started: the lane's context ended (cause
	// is its cause), the lane was drained, or it failed. After a failure it is also called for calls that had started and
	// whose commit was not handed over.
	Dropped func(cause error)
}

// Lane runs calls strictly in the order of their submission, and commits them in that order. A call whose tool says that it
// is safe may overlap others of that kind; an exclusive call waits until everything before it has committed, and holds back
// everything behind it until it has committed itself (SUB-15, SCHED-2). The class of a call is determined right before it
// starts.
//
// A lane must be drained, else its goroutine stays. Submit and Drain may be called from any goroutine.
type Lane struct {
	registry *Registry
	ctx      context.Context // of all of its calls; a lane is one operation
	max      *atomic.Int64   // the cap for the next group
	wake     chan struct{}   // holds one token: something below has changed
	done     chan struct{}   // closed when the lane's goroutine has ended

	mu      sync.Mutex
	queue   []*laneCall // submitted and not started
	running int         // bodies
	closed  bool        // Drain was called
	ended   bool        // the goroutine takes nothing any more
	failure error       // the first internal error

	late sync.Mutex // held while Dropped is called for a submission after the end

	// Only the lane's goroutine:
	started   []*laneCall // not committed, in order
	limit     int         // the cap of this group
	exclusive bool        // the one started call is a barrier
}

// laneCall is one submission.
type laneCall struct {
	input   Call
	hooks   LaneHooks
	call    *call
	late    bool // submitted after Drain
	settled bool // guarded by Lane.mu
}

var errDrained = errors.New("the lane takes no more calls")

// NewLane returns a lane whose calls run under ctx. When ctx ends no further call starts; those that have are waited for.
func (r *Registry) NewLane(ctx context.Context, o LaneOptions) (*Lane, error) {
	if o.MaxParallel == 0 {
		o.MaxParallel = DefaultMaxParallel
	}
	if err := checkParallel(o.MaxParallel); err != nil {
		return nil, err
	}
	limit := new(atomic.Int64)
	limit.Store(int64(o.MaxParallel))
	return r.newLane(ctx, limit), nil
}

func (r *Registry) newLane(ctx context.Context, limit *atomic.Int64) *Lane {
	if ctx == nil {
		panic("registry: a lane needs a context")
	}
	l := &Lane{registry: r, ctx: ctx, max: limit, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go l.drive()
	return l
}

func checkParallel(n int) error {
	if n < 1 {
		return fmt.Errorf("registry: the number of parallel calls must be a positive integer, not %d", n)
	}
	return nil
}

// SetMaxParallel changes the cap. It takes effect when the pool is next empty (SCHED-3).
func (l *Lane) SetMaxParallel(n int) error {
	if err := checkParallel(n); err != nil {
		return err
	}
	l.max.Store(int64(n))
	return nil
}

// Submit puts a call at the end of the queue, which has no limit, and returns at once. The arguments are read before it
// returns.
func (l *Lane) Submit(input Call, h LaneHooks) {
	c := &laneCall{input: input.take(), hooks: h}
	l.mu.Lock()
	if c.late = l.closed; !l.ended {
		l.queue = append(l.queue, c)
		l.mu.Unlock()
		l.poke()
		return
	}
	l.mu.Unlock()
	l.late.Lock()
	defer l.late.Unlock()
	l.drop(c, l.cause())
}

// Drain makes the lane take no more calls and returns when every call has been committed or dropped. A hook must not call it.
func (l *Lane) Drain() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.poke()
	<-l.done
}

// Err returns the internal error that stopped the lane, nil if there was none. The outcome of a tool is never one.
func (l *Lane) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// drive is the lane's goroutine.
func (l *Lane) drive() {
	finished := false
	defer func() {
		if !finished { // foreign code ended this goroutine with runtime.Goexit
			l.fail(errGoexit)
			l.collapse()
		}
		close(l.done)
	}()
	cancelled := l.ctx.Done()
	for {
		l.commitSettled()
		if l.startNext() {
			continue
		}
		if l.end() {
			finished = true
			return
		}
		select {
		case <-l.wake:
		case <-cancelled:
			cancelled = nil
		}
	}
}

// commitSettled commits the calls in front that have settled.
func (l *Lane) commitSettled() {
	for len(l.started) > 0 && l.hasSettled(l.started[0]) {
		c := l.started[0]
		result := c.call.commit()
		l.started[0] = nil
		l.started = l.started[1:]
		l.exclusive = false
		if err := l.Err(); err != nil {
			l.drop(c, err)
		} else if c.hooks.Committed != nil {
			l.hook(func() { c.hooks.Committed(c.call.Execution, result) })
		}
	}
}

// startNext starts or drops the call at the head of the queue, if its time has come, and reports whether it did.
func (l *Lane) startNext() bool {
	l.mu.Lock()
	if len(l.queue) == 0 {
		l.mu.Unlock()
		return false
	}
	c, running := l.queue[0], l.running
	stopping := c.late || l.failure != nil || l.ctx.Err() != nil
	l.mu.Unlock()

	alone := len(l.started) == 0
	if stopping {
		if alone { // dropped calls come after the commits of those before them
			l.pop()
			l.drop(c, l.cause())
		}
		return alone
	}
	if alone {
		l.limit = int(l.max.Load())
	}
	mode := l.registry.ExecutionMode(c.input) // SCHED-5: right before the start
	if !alone && (mode == Exclusive || l.exclusive || running >= l.limit) {
		return false
	}
	l.pop()
	l.start(c, mode)
	return true
}

func (l *Lane) start(c *laneCall, mode ExecMode) {
	c.call = l.registry.create(l.ctx, c.input)
	l.started = append(l.started, c)
	if c.hooks.Started != nil {
		l.hook(func() { c.hooks.Started(c.call.Execution) })
		if err := l.Err(); err != nil {
			l.started = l.started[:len(l.started)-1]
			l.drop(c, err)
			return
		}
	}
	l.exclusive = mode == Exclusive
	if c.call.outcome == nil {
		c.call.gate()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.settled = c.call.outcome != nil; c.settled { // SCHED-7: no slot
		return
	}
	l.running++
	go l.run(c)
}

// run is the goroutine of one body.
func (l *Lane) run(c *laneCall) {
	defer func() {
		if c.call.outcome == nil { // the body ended this goroutine with runtime.Goexit
			c.call.quiesce()
			c.call.settle(errGoexit)
		}
		l.mu.Lock()
		c.settled = true
		l.running--
		l.mu.Unlock()
		l.poke()
	}()
	c.call.around()
}

// end reports whether the lane is done for good, and if so makes it take nothing any more.
func (l *Lane) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = l.closed && len(l.queue) == 0 && len(l.started) == 0
	return l.ended
}

// collapse ends the lane after its goroutine has been ended: it waits for the bodies and drops everything.
func (l *Lane) collapse() {
	for l.bodies() > 0 {
		<-l.wake
	}
	for _, c := range l.started {
		l.drop(c, l.Err())
	}
	l.started = nil
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.ended = true
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.drop(l.pop(), l.Err())
	}
}

func (l *Lane) drop(c *laneCall, cause error) {
	if c.hooks.Dropped != nil {
		l.hook(func() { c.hooks.Dropped(cause) })
	}
}

// hook calls the owner's code. A panic in it is an internal error, which stops the lane (SCHED-14).
func (l *Lane) hook(f func()) {
	if err := guarded(f); err != nil {
		l.fail(fmt.Errorf("a hook of the lane failed: %w", err))
	}
}

// fail stops the lane: no call starts any more. The first error wins.
func (l *Lane) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure == nil {
		l.failure = err
	}
}

// cause says why a call is dropped.
func (l *Lane) cause() error {
	if err := l.Err(); err != nil {
		return err
	}
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return errDrained
}

func (l *Lane) pop() *laneCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	return c
}

func (l *Lane) hasSettled(c *laneCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.settled
}

func (l *Lane) bodies() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running
}

func (l *Lane) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
