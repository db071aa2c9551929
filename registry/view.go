package registry

// This file defines what an agent sees: lookup by name, and the view as a list.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Restriction narrows what a scope inherits (RESTRICT-1): a name passes if it is in Allow, when there is one, and not in
// Deny, and if Match, when there is one, returns true. A nil slice is an absent list; an empty one that is not nil is given,
// so that an empty Allow hides everything inherited (RESTRICT-10).
type Restriction struct {
	Allow, Deny []string
	// Match is a pure predicate on names, asked anew each time. One that panics lets nothing through.
	Match func(name string) bool
}

// restriction is a Restriction with its lists copied (RESTRICT-8).
type restriction struct {
	allowed     bool // there is an allow list
	allow, deny map[string]struct{}
	match       func(string) bool
}

func (r *restriction) passes(name string) bool {
	if _, ok := r.allow[name]; r.allowed && !ok {
		return false
	}
	if _, ok := r.deny[name]; ok {
		return false
	}
	if r.match == nil {
		return true
	}
	ok := false
	return guarded(func() { ok = r.match(name) }) == nil && ok
}

// Restrict narrows what the scope, and every scope nested in it, inherits. The scope's own tools are exempt in its own view
// (RESTRICT-2, RESTRICT-5). Restrictions intersect; the function returned lifts this one.
func (s *Scope) Restrict(o Restriction) (dispose func(), err error) {
	if s == nil {
		return nil, errors.New("registry: a restriction needs a scope: it narrows what one agent inherits")
	}
	if o.Allow == nil && o.Deny == nil && o.Match == nil {
		return nil, errors.New("registry: a restriction needs an allow list, a deny list or a predicate")
	}
	if slices.Contains(o.Allow, RunCode) || slices.Contains(o.Deny, RunCode) {
		return nil, fmt.Errorf("registry: %w", errReserved())
	}
	added := &restriction{allowed: o.Allow != nil, allow: setOf(o.Allow), deny: setOf(o.Deny), match: o.Match}
	r := s.registry
	if err := r.checkInherited(s, o); err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	r.mu.Lock()
	if s.disposed {
		r.mu.Unlock()
		return nil, fmt.Errorf("registry: %w", errDisposed)
	}
	r.last++
	order := r.last
	s.restrictions.append(order, added)
	r.mu.Unlock()
	r.changed()
	return sync.OnceFunc(func() {
		r.mu.Lock()
		before := len(s.restrictions.entries)
		s.restrictions.remove(order)
		lifted := len(s.restrictions.entries) < before
		r.mu.Unlock()
		if lifted {
			r.changed()
		}
	}), nil
}

func setOf(names []string) map[string]struct{} {
	set := make(map[string]struct{}, len(names))
	for _, n := range names {
		set[n] = struct{}{}
	}
	return set
}

// checkInherited finds the names of a restriction that the scope does not inherit at this moment (RESTRICT-9).
func (r *Registry) checkInherited(s *Scope, o Restriction) error {
	if len(o.Allow)+len(o.Deny) == 0 {
		return nil
	}
	known := make(map[string]bool)
	for _, t := range r.inherited(s) {
		known[t.Name] = true
	}
	var unknown []string
	seen := make(map[string]bool)
	for _, name := range slices.Concat(o.Allow, o.Deny) {
		if !known[name] && !seen[name] {
			unknown, seen[name] = append(unknown, name), true
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	have := "it inherits no tools"
	if len(names) > 0 {
		have = "it inherits: " + strings.Join(names, ", ")
	}
	return fmt.Errorf("the scope does not inherit: %s (%s)", strings.Join(unknown, ", "), have)
}

// lookup resolves a name in the view of s, shadowing and restrictions applied; nil is the global view (TOOL-10). The error
// is the transport's, if it cannot say what run_code is.
func (r *Registry) lookup(s *Scope, name string) (*tool, error) {
	if name == RunCode {
		if r.modeOf(s) == Native {
			return nil, nil
		}
		return r.runCode()
	}
	r.mu.RLock()
	t := r.global.tools[name]
	if s == nil {
		r.mu.RUnlock()
		return t, nil
	}
	if own := s.tools[name]; own != nil {
		r.mu.RUnlock()
		return own, nil
	}
	var masks [4][]entry[*restriction] // a chain is hardly ever deeper
	applied := masks[:0]
	for p, found := s, false; p != nil; p = p.parent {
		if inherited := p.tools[name]; inherited != nil && !found {
			t, found = inherited, true // the nearest one
		}
		applied = append(applied, p.restrictions.entries)
	}
	r.mu.RUnlock()
	if t == nil {
		return nil, nil
	}
	for _, layer := range applied { // foreign predicates: without the lock
		for _, e := range layer {
			if !e.f.passes(name) {
				return nil, nil
			}
		}
	}
	return t, nil
}

// inherited returns what s inherits, before any restriction: each name once, nearest definition, in the order in which the
// names first appear from the global layer down.
func (r *Registry) inherited(s *Scope) []*tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.inheritedLocked(s)
}

func (r *Registry) inheritedLocked(s *Scope) []*tool {
	var layers []*layer
	for p := s; p != nil; p = p.parent {
		if p != s {
			layers = append(layers, &p.layer)
		}
	}
	out := make([]*tool, 0, len(r.global.tools))
	for _, t := range r.global.order {
		if t != nil {
			out = append(out, t)
		}
	}
	if len(layers) == 0 {
		return out
	}
	place := make(map[string]int, len(out))
	for i, t := range out {
		place[t.Name] = i
	}
	for _, l := range slices.Backward(layers) { // from the farthest ancestor
		for _, t := range l.order {
			if t == nil {
				continue
			}
			if i, ok := place[t.Name]; ok {
				out[i] = t
				continue
			}
			place[t.Name] = len(out)
			out = append(out, t)
		}
	}
	return out
}

// view returns everything that s sees, in the order of TOOL-12, without run_code.
func (r *Registry) view(s *Scope) []*tool {
	r.mu.RLock()
	out := r.inheritedLocked(s)
	if s == nil {
		r.mu.RUnlock()
		return out
	}
	var masks []*restriction
	for p := s; p != nil; p = p.parent {
		for _, e := range p.restrictions.entries {
			masks = append(masks, e.f)
		}
	}
	own := make([]*tool, 0, len(s.tools))
	for _, t := range s.order {
		if t != nil {
			own = append(own, t)
		}
	}
	r.mu.RUnlock()
	if len(masks) > 0 {
		out = slices.DeleteFunc(out, func(t *tool) bool {
			return slices.ContainsFunc(masks, func(m *restriction) bool { return !m.passes(t.Name) })
		})
	}
	if len(own) == 0 {
		return out
	}
	place := make(map[string]int, len(out))
	for i, t := range out {
		place[t.Name] = i
	}
	for _, t := range own {
		if i, ok := place[t.Name]; ok {
			out[i] = t
		} else {
			out = append(out, t)
		}
	}
	return out
}

// transportCache keeps the compiled output schema of run_code.
type transportCache struct {
	mu     sync.Mutex
	output *schema.Compiled
}

// runCode asks the transport for its tool.
func (r *Registry) runCode() (*tool, error) {
	var d Definition
	err := errors.New("the transport failed")
	if p := guarded(func() { d, err = r.options.Transport.Definition(r) }); p != nil {
		err = p
	}
	if err != nil {
		return nil, err
	}
	d.Name = RunCode
	r.transport.mu.Lock()
	output := r.transport.output
	r.transport.mu.Unlock()
	if output != nil && jsonval.Identical(output.Schema(), d.Output.Schema) {
		return &tool{Definition: d, output: output}, nil
	}
	t, err := compile(d, true)
	if err != nil {
		return nil, err
	}
	r.transport.mu.Lock()
	r.transport.output = t.output
	r.transport.mu.Unlock()
	return t, nil
}

// Get returns the definition that the agent's view resolves under a name, shadowing and restrictions applied. It ignores
// that a code mode takes native calls away (TOOL-10).
func (r *Registry) Get(name string, agent AgentKey) (Definition, bool) {
	t, err := r.lookup(r.scopeOf(agent), name)
	if err != nil || t == nil {
		return Definition{}, false
	}
	return t.Definition, true
}

// Visible returns the definitions that the agent sees, in the order of its view, without run_code.
func (r *Registry) Visible(agent AgentKey) []Definition {
	return definitions(r.view(r.scopeOf(agent)))
}

// Schemas returns what a model would see of each tool in the agent's view, in its order; where a code mode applies, run_code
// comes last. It reports capabilities, not what goes on the wire (TOOL-11): see Present.
func (r *Registry) Schemas(agent AgentKey) []Schema {
	s := r.scopeOf(agent)
	tools := r.view(s)
	if t, err := r.lookup(s, RunCode); err != nil {
		r.log.Warn("run_code has no definition", "error", err)
	} else if t != nil {
		tools = append(tools, t)
	}
	return schemas(tools)
}

func definitions(tools []*tool) []Definition {
	out := make([]Definition, len(tools))
	for i, t := range tools {
		out[i] = t.Definition
	}
	return out
}

func schemas(tools []*tool) []Schema {
	out := make([]Schema, len(tools))
	for i, t := range tools {
		out[i] = t.schema()
	}
	return out
}
