package bridge

// This file defines the waterfall tools/code-dispatch-log: what may be put in the place of the recorded copy of a sub-call's
// content, and the bookkeeping that keeps records in commit order while listeners work (SUB-13).

import (
	"context"
	"fmt"
	"sync"

	"github.com/runcode-go/runcode/registry"
)

// LogEntry is what a [LogMiddleware] is asked about.
type LogEntry struct {
	Outer     registry.Execution // of run_code
	Agent     registry.AgentKey
	SubCallID string
	Name      string
	IsError   bool
	Content   []registry.Block
}

// LogMiddleware may replace the content of the record of a settled sub-call, for example by a preview and the place where the
// whole is kept. It returns what next returns, or something of its own. It changes the record only: not the program's value,
// which has been delivered before, and nothing that a model reads. An error or a panic is logged, and the original content is
// recorded.
type LogMiddleware func(ctx context.Context, e LogEntry, next func() ([]registry.Block, error)) ([]registry.Block, error)

// OnDispatchLog adds m for the sub-calls of all agents, or, with a scope, for those of the scope's agent and of scopes nested in
// it (a bridge that serves several registries needs agents of different names for that). The first one added is the outermost. m may be called concurrently. The returned function removes it.
func (b *Bridge) OnDispatchLog(scope *registry.Scope, m LogMiddleware) (dispose func()) {
	if m == nil {
		panic("bridge: OnDispatchLog of a nil middleware")
	}
	return b.logs.add(&logListener{scope: scope, call: m})
}

type logListener struct {
	scope *registry.Scope
	call  LogMiddleware
}

// logListeners is the list of listeners, in the order of their registration.
type logListeners struct {
	mu   sync.Mutex
	list []*logListener
}

func (l *logListeners) add(entry *logListener) (dispose func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list[:len(l.list):len(l.list)], entry) // a run may be walking over the old list
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		kept := make([]*logListener, 0, len(l.list))
		for _, e := range l.list {
			if e != entry {
				kept = append(kept, e)
			}
		}
		l.list = kept
	})
}

// forAgent returns the listeners that an agent's sub-calls reach.
func (l *logListeners) forAgent(agent registry.AgentKey) []*logListener {
	l.mu.Lock()
	defer l.mu.Unlock()
	var reached []*logListener
	for _, e := range l.list {
		if e.scope == nil || e.scope.Covers(agent) {
			reached = append(reached, e)
		}
	}
	return reached
}

// recorder appends the settle events of one run. Its methods are called in the lane, wait excepted, so it needs no lock.
type recorder struct {
	slots chan struct{} // one token for each piece of log work that is outstanding
	last  chan struct{} // closed when the youngest piece has appended its event
	work  sync.WaitGroup
}

func newRecorder(limit int) *recorder {
	last := make(chan struct{})
	close(last)
	return &recorder{slots: make(chan struct{}, limit), last: last}
}

// append hands the event to emit, at once if no listener has a say and nothing older is still being worked on. Otherwise the
// work goes on beside the lane, which waits only when too much of it is outstanding already.
func (r *recorder) append(ctx context.Context, listeners []*logListener, e LogEntry, warn func(error), emit func(content []registry.Block)) {
	if len(listeners) == 0 {
		select {
		case <-r.last:
			emit(e.Content)
			return
		default:
		}
	}
	r.slots <- struct{}{}
	before, done := r.last, make(chan struct{})
	r.last = done
	r.work.Go(func() {
		defer func() { close(done); <-r.slots }()
		content, err := runLogChain(ctx, listeners, e)
		if err != nil {
			warn(err)
			content = e.Content
		}
		<-before // records stand in commit order, however long each took (SUB-12)
		emit(content)
	})
}

// wait returns when every event has been appended.
func (r *recorder) wait() { r.work.Wait() }

func runLogChain(ctx context.Context, listeners []*logListener, e LogEntry) (content []registry.Block, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if len(listeners) == 0 {
		return e.Content, nil
	}
	return listeners[0].call(ctx, e, func() ([]registry.Block, error) { return runLogChain(ctx, listeners[1:], e) })
}
