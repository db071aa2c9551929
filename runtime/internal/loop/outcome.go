package loop

// This file defines how a run's outcome is decided: the first terminal condition wins (RUN-9).

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// outcome is what ended a run. Exactly one of its conditions holds: overflow, failure, or a completion with value, which
// may be absent.
type outcome struct {
	value    jsonval.Value
	failure  *runtime.Failure
	overflow bool
	last     string // the log entry that did not fit, if it was one that overflowed
}

// latch keeps the first outcome. Its methods are safe for concurrent use.
type latch struct {
	closed atomic.Bool
	ended  chan struct{} // closed with it

	mu     sync.Mutex
	result outcome
	at     time.Time
	notify []func() // called once, after the latch has closed, without the lock
}

func newLatch() *latch { return &latch{ended: make(chan struct{})} }

// set ends the run with o, unless it has ended.
func (l *latch) set(o outcome) {
	l.mu.Lock()
	if l.closed.Load() {
		l.mu.Unlock()
		return
	}
	l.result, l.at = o, time.Now()
	l.closed.Store(true)
	notify := l.notify
	close(l.ended)
	l.mu.Unlock()
	for _, f := range notify {
		f()
	}
}

// onEnd has f called when the run ends, at once if it has.
func (l *latch) onEnd(f func()) {
	l.mu.Lock()
	closed := l.closed.Load()
	if !closed {
		l.notify = append(l.notify, f)
	}
	l.mu.Unlock()
	if closed {
		f()
	}
}

// get returns the outcome and the moment of it. The run must have ended.
func (l *latch) get() (outcome, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.result, l.at
}
