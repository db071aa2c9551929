package registry

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// Registry holds tools, listeners and scopes, and executes calls.
type Registry struct {
	options Options
	log     *slog.Logger

	mu     sync.RWMutex
	global layer
	scopes map[AgentKey]*Scope
	// Listeners of all layers are numbered in one order: from first-1 down in front, from last+1 up at the end.
	first, last int64
	changes     list[func()]
	disposals   list[func(AgentKey)]

	transport transportCache
}

// PreMiddleware is a listener of the pre-execute waterfall: it returns a decision of its own, or calls next for the one of
// the listeners inside of it (FALL-2). It must observe ctx when it waits.
type PreMiddleware func(ctx context.Context, x Execution, next func() (PreDecision, error)) (PreDecision, error)

// AroundMiddleware wraps the body of a call. next runs the wrappers inside of it and the body under the context given, once
// for each time that it is called; it returns an error only if a wrapper inside does (AROUND-1). Wrappers of concurrent
// calls run concurrently.
type AroundMiddleware func(ctx context.Context, x Execution, next func(context.Context) (Result, error)) (Result, error)

// PostMiddleware is a listener of the post-execute waterfall, which sees every result of the POST lane, failures and
// denials included (POST-1).
type PostMiddleware func(ctx context.Context, x Execution, r Result, next func() (PostDecision, error)) (PostDecision, error)

// Guard is a check that no listener can overrule: it denies with a reason, or abstains (GUARD-1).
type Guard func(x Execution) (reason string, deny bool)

// Registrar is what can be registered with: a *Registry, for every call, or a *Scope, for the calls of its agent and of the
// agents below. The functions that it returns take the registration back; they may be called from any goroutine and any
// number of times.
type Registrar interface {
	Register(Definition) (dispose func(), err error)
	Guard(Guard) (dispose func())
	OnPreExecute(PreMiddleware, ...ListenerOption) (dispose func())
	OnExecute(AroundMiddleware, ...ListenerOption) (dispose func())
	OnPostExecute(PostMiddleware, ...ListenerOption) (dispose func())
	OnResult(func(Execution, Result)) (dispose func())
}

var (
	_ Registrar = (*Registry)(nil)
	_ Registrar = (*Scope)(nil)
)

// New returns an empty registry. The error names the option that is wrong.
func New(o Options) (*Registry, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &Registry{options: o, log: o.Logger, scopes: make(map[AgentKey]*Scope)}
	r.global.registry = r
	return r, nil
}

// Register adds a tool for everybody. The error is the author's: see TOOL-3 for its order of precedence.
func (r *Registry) Register(d Definition) (dispose func(), err error) { return r.global.register(d) }

// Guard adds a guard for all calls.
func (r *Registry) Guard(g Guard) (dispose func()) { return listen(&r.global, guardsOf, g, nil) }

// OnPreExecute adds a listener to the gate of all calls.
func (r *Registry) OnPreExecute(m PreMiddleware, o ...ListenerOption) (dispose func()) {
	return listen(&r.global, preOf, m, o)
}

// OnExecute adds a wrapper around the body of all calls.
func (r *Registry) OnExecute(m AroundMiddleware, o ...ListenerOption) (dispose func()) {
	return listen(&r.global, aroundOf, m, o)
}

// OnPostExecute adds a listener to the results of all calls.
func (r *Registry) OnPostExecute(m PostMiddleware, o ...ListenerOption) (dispose func()) {
	return listen(&r.global, postOf, m, o)
}

// OnResult adds an observer of the final results of all calls. It is called once a call, synchronously, and cannot change
// anything; a panic in it is logged and contained (NOTIFY-2).
func (r *Registry) OnResult(f func(Execution, Result)) (dispose func()) {
	return listen(&r.global, resultsOf, f, nil)
}

// OnChange adds a subscriber that is called after each change of what any agent can see (TOOL-8). Changes that are made at
// the same time call it at the same time.
func (r *Registry) OnChange(f func()) (dispose func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	order := r.last
	r.changes.append(order, f)
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.changes.remove(order)
	})
}

// OnScopeDisposed adds a subscriber that is called with the agent of each scope that is disposed, so that a plugin can
// forget what it keeps about that agent.
func (r *Registry) OnScopeDisposed(f func(AgentKey)) (dispose func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	order := r.last
	r.disposals.append(order, f)
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.disposals.remove(order)
	})
}

// Mode returns the presentation in force for the agent: the nearest declaration on its chain of scopes, else the default.
func (r *Registry) Mode(agent AgentKey) Mode { return r.modeOf(r.scopeOf(agent)) }

func (l *layer) register(d Definition) (dispose func(), err error) {
	t, err := compile(d, false)
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	r := l.registry
	r.mu.Lock()
	if l.disposed {
		err = errDisposed
	} else {
		err = l.checkFree(d.Name)
	}
	if err == nil {
		l.add(t)
	}
	r.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	r.changed()
	return func() {
		r.mu.Lock()
		removed := l.remove(t)
		r.mu.Unlock()
		if removed {
			r.changed()
		}
	}, nil
}

// changed tells the subscribers that a view may have changed. It must be called without the lock.
func (r *Registry) changed() {
	r.mu.RLock()
	subscribers := r.changes.entries
	r.mu.RUnlock()
	for _, s := range subscribers {
		if err := guarded(func() { s.f() }); err != nil {
			r.log.Warn("a subscriber of tool changes failed", "error", err)
		}
	}
}

// scopeOf returns the agent's scope, nil if it has none: it then sees the global view.
func (r *Registry) scopeOf(agent AgentKey) *Scope {
	if agent == nil || !comparableKey(agent) {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.scopes[agent]
}
