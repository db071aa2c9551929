package registry

// This file defines what goes to an agent's model: the wire list and the prompt sections of its mode.

import (
	"cmp"
	"fmt"
	"slices"
)

// Presentation is what an agent's model receives (PRESENT-2).
type Presentation struct {
	Mode     Mode
	Tools    []Schema // as they go on the wire
	Sections []Section
}

// Present assembles what the agent's model gets under its mode: function definitions in a fixed order, and for the modes
// Code and Both the prompt sections of the transport. For an unchanged set of tools the result is the same each time
// (PRESENT-3). The error says why the prompt cannot be assembled: no runtime, or a tool order that names what is not there.
func (r *Registry) Present(agent AgentKey) (Presentation, error) {
	s := r.scopeOf(agent)
	p := Presentation{Mode: r.modeOf(s)}
	tools := r.view(s)
	slices.SortFunc(tools, func(a, b *tool) int { return cmp.Compare(a.Name, b.Name) })
	var wire []*tool
	if p.Mode != Code {
		wire = slices.Clone(tools)
	}
	if p.Mode != Native {
		runCode, err := r.runCode()
		if err != nil {
			return Presentation{}, err
		}
		at, _ := slices.BinarySearchFunc(wire, RunCode, func(t *tool, name string) int { return cmp.Compare(t.Name, name) })
		wire = slices.Insert(wire, at, runCode)
		if p.Sections, err = r.sections(View{Mode: p.Mode, Agent: agent, Tools: definitions(tools)}); err != nil {
			return Presentation{}, err
		}
	}
	wire, err := r.ordered(s, p.Mode, wire)
	if err != nil {
		return Presentation{}, err
	}
	p.Tools = schemas(wire)
	return p, nil
}

func (r *Registry) sections(v View) (sections []Section, err error) {
	if p := guarded(func() { sections, err = r.options.Transport.Sections(r, v) }); p != nil {
		err = p
	}
	if err != nil {
		return nil, err
	}
	sections = slices.Clone(sections)
	slices.SortStableFunc(sections, func(a, b Section) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name))
	})
	return sections, nil
}

// ordered puts the tools that Options.ToolOrder names in front. A name that could not be on the wire under the mode is an
// error; one that is only restricted away for this agent is not (PRESENT-10).
func (r *Registry) ordered(s *Scope, mode Mode, wire []*tool) ([]*tool, error) {
	order := r.options.ToolOrder
	if len(order) == 0 {
		return wire, nil
	}
	legal := make(map[string]bool, len(wire))
	for _, t := range wire {
		legal[t.Name] = true
	}
	if mode != Code {
		for _, t := range r.inherited(s) {
			legal[t.Name] = true
		}
	}
	rank := make(map[string]int, len(order))
	for i, name := range order {
		if !legal[name] {
			return nil, fmt.Errorf("the tool order names %s, which is not on the wire in mode %q", quote(name), mode)
		}
		rank[name] = i - len(order) // before all others, which have 0
	}
	slices.SortStableFunc(wire, func(a, b *tool) int { return cmp.Compare(rank[a.Name], rank[b.Name]) })
	return wire, nil
}
