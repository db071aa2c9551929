package registry

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Scope is the unit of registration for one agent. What is registered in it is seen by that agent and by the agents of
// scopes nested in it; its listeners get the calls of all these (SCOPE-2). It is visibility, not security.
type Scope struct {
	layer
	key    AgentKey
	parent *Scope // guarded by the registry's lock

	restrictions list[*restriction]
	mode         Mode // declared with PresentAs, "" if none
}

var errDisposed = errors.New("the scope has been disposed")

// Scope returns the scope of an agent, which it makes if the agent has none yet. A parent is fixed when it is first given:
// another one, or one that is nested in the scope itself, is an error (SCOPE-1). With a nil parent an existing scope is
// returned as it is.
func (r *Registry) Scope(key AgentKey, parent *Scope) (*Scope, error) {
	switch {
	case key == nil:
		return nil, errors.New("registry: a scope needs an agent; the global scope is the registry itself")
	case !comparableKey(key):
		return nil, fmt.Errorf("registry: the agent key %T is not comparable", key)
	case parent != nil && parent.registry != r:
		return nil, errors.New("registry: the parent scope belongs to another registry")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if parent != nil && parent.disposed {
		return nil, fmt.Errorf("registry: parent: %w", errDisposed)
	}
	s := r.scopes[key]
	if s == nil {
		s = &Scope{key: key, parent: parent}
		s.layer.registry, s.layer.scope = r, s
		r.scopes[key] = s
		return s, nil
	}
	switch {
	case parent == nil || parent == s.parent:
		return s, nil
	case s.parent != nil:
		return nil, fmt.Errorf("registry: the scope of agent %v has another parent already", key)
	}
	for p := parent; p != nil; p = p.parent {
		if p == s {
			return nil, fmt.Errorf("registry: the scope of agent %v would be nested in itself", key)
		}
	}
	s.parent = parent
	return s, nil
}

// Agent returns the key of the agent whose scope it is.
func (s *Scope) Agent() AgentKey { return s.key }

// Covers reports whether the agent's scope is s or is nested in it: whether listeners of s get the agent's calls (FALL-5).
func (s *Scope) Covers(agent AgentKey) bool {
	return slices.Contains(s.registry.ancestry(s.registry.scopeOf(agent)), s)
}

// Register adds a tool for this scope. It shadows an inherited one of the same name (SCOPE-3).
func (s *Scope) Register(d Definition) (dispose func(), err error) { return s.layer.register(d) }

// Guard adds a guard for the calls of this scope and of scopes nested in it.
func (s *Scope) Guard(g Guard) (dispose func()) { return listen(&s.layer, guardsOf, g, nil) }

// OnPreExecute adds a listener to the gate of this scope's calls.
func (s *Scope) OnPreExecute(m PreMiddleware, o ...ListenerOption) (dispose func()) {
	return listen(&s.layer, preOf, m, o)
}

// OnExecute adds a wrapper around the body of this scope's calls.
func (s *Scope) OnExecute(m AroundMiddleware, o ...ListenerOption) (dispose func()) {
	return listen(&s.layer, aroundOf, m, o)
}

// OnPostExecute adds a listener to the results of this scope's calls.
func (s *Scope) OnPostExecute(m PostMiddleware, o ...ListenerOption) (dispose func()) {
	return listen(&s.layer, postOf, m, o)
}

// OnResult adds an observer of the final results of this scope's calls.
func (s *Scope) OnResult(f func(Execution, Result)) (dispose func()) {
	return listen(&s.layer, resultsOf, f, nil)
}

// PresentAs replaces the default presentation for the agents that the scope covers (PRESENTAS-1). A scope has at most one
// declaration; the function returned takes it back.
func (s *Scope) PresentAs(mode Mode) (dispose func(), err error) {
	if s == nil {
		return nil, errors.New("registry: PresentAs needs a scope; the presentation of all agents is Options.Mode")
	}
	if !mode.valid() {
		return nil, fmt.Errorf("registry: unknown mode %q: it must be %q, %q or %q", mode, Native, Code, Both)
	}
	r := s.registry
	if mode != Native && r.options.Transport == nil {
		return nil, fmt.Errorf("registry: mode %q needs Options.Transport", mode)
	}
	r.mu.Lock()
	switch {
	case s.disposed:
		err = errDisposed
	case s.mode != "":
		err = fmt.Errorf("the scope presents as %q already; dispose that declaration first", s.mode)
	default:
		s.mode = mode
	}
	r.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	r.changed()
	return sync.OnceFunc(func() {
		r.mu.Lock()
		disposed := s.disposed // then it has no mode any more, and subscribers know
		s.mode = ""
		r.mu.Unlock()
		if !disposed {
			r.changed()
		}
	}), nil
}

// Dispose removes everything that is registered in the scope, of every kind, and frees its agent's key. Calls in flight
// keep what they have captured. It may be called more than once; it returns when the work is done (SCOPE-6).
func (s *Scope) Dispose() {
	r := s.registry
	r.mu.Lock()
	if s.disposed {
		r.mu.Unlock()
		return
	}
	visible := len(s.tools) > 0 || len(s.restrictions.entries) > 0 || s.mode != ""
	s.layer.clear()
	s.restrictions = list[*restriction]{}
	s.mode = ""
	if r.scopes[s.key] == s {
		delete(r.scopes, s.key)
	}
	subscribers := slices.Clone(r.disposals.entries)
	r.mu.Unlock()
	for _, f := range subscribers {
		if err := guarded(func() { f.f(s.key) }); err != nil {
			r.log.Warn("a subscriber of scope disposals failed", "error", err)
		}
	}
	if visible {
		r.changed()
	}
}

// modeOf returns the presentation in force for s.
func (r *Registry) modeOf(s *Scope) Mode {
	if s == nil {
		return r.options.Mode
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for ; s != nil; s = s.parent {
		if s.mode != "" {
			return s.mode
		}
	}
	return r.options.Mode
}

// ancestry returns s and the scopes that it is nested in, nearest first.
func (r *Registry) ancestry(s *Scope) []*Scope {
	if s == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	var chain []*Scope
	for ; s != nil; s = s.parent {
		chain = append(chain, s)
	}
	return chain
}
