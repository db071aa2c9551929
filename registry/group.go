package registry

import (
	"errors"
	"fmt"
)

// Group is a set of tools of one layer that changes as a whole, such as what one server offers. Its tools are ordinary
// registrations that only the group can take back.
type Group struct {
	layer    *layer
	tools    []*tool // guarded by the registry's lock
	disposed bool
}

// Group returns an empty group of tools for everybody.
func (r *Registry) Group() *Group { return &Group{layer: &r.global} }

// Group returns an empty group of tools of this scope.
func (s *Scope) Group() *Group { return &Group{layer: &s.layer} }

// Replace swaps the group's tools for next: all of them or, if one cannot be registered, none, and then the group is as it
// was. No reader sees a mixture of the two. Subscribers of changes are told once.
func (g *Group) Replace(next []Definition) error {
	tools := make([]*tool, len(next))
	for i, d := range next {
		t, err := compile(d, false)
		if err != nil {
			return fmt.Errorf("registry: %w", err)
		}
		tools[i] = t
	}
	r := g.layer.registry
	r.mu.Lock()
	old, err := g.swap(tools)
	r.mu.Unlock()
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	if len(old)+len(tools) > 0 {
		r.changed()
	}
	return nil
}

// Dispose removes the group's tools for good. It may be called more than once.
func (g *Group) Dispose() {
	r := g.layer.registry
	r.mu.Lock()
	removed := false
	for _, t := range g.tools {
		removed = g.layer.remove(t) || removed
	}
	g.tools, g.disposed = nil, true
	r.mu.Unlock()
	if removed {
		r.changed()
	}
}

func (g *Group) swap(next []*tool) (old []*tool, err error) {
	switch {
	case g.disposed:
		return nil, errors.New("the group has been disposed")
	case g.layer.disposed:
		return nil, errDisposed
	}
	mine := make(map[string]bool, len(g.tools))
	for _, t := range g.tools {
		mine[t.Name] = g.layer.tools[t.Name] == t
	}
	fresh := make(map[string]bool, len(next))
	for _, t := range next {
		if fresh[t.Name] {
			return nil, fmt.Errorf("a tool named %s is in the group twice", quote(t.Name))
		}
		fresh[t.Name] = true
		if err := g.layer.checkFree(t.Name); err != nil && !mine[t.Name] {
			return nil, err
		}
	}
	old = g.tools
	for _, t := range old {
		g.layer.remove(t)
	}
	for _, t := range next {
		g.layer.add(t)
	}
	g.tools = next
	return old, nil
}
