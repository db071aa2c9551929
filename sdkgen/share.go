// This file defines what a text says once although several tools have it: equal objects, and members that many tools take alike. Some
// servers give every tool the same dozen options, or the same large filter; written out each time they would be most of the text.

package sdkgen

import (
	"encoding/binary"
	"slices"
)

const (
	minSharers = 4    // tools that have to take the same member
	minSaving  = 1000 // bytes that a type has to save to be worth its name; small sets read as they were written
	nameCost   = 15   // bytes of a reference to one
)

// repeated is an object that occurs more than once.
type repeated struct {
	shape *shape
	base  string // what the type should be called: after the first member that has it
	uses  int
}

// repetitions finds the objects inside of arguments and outputs that are worth a type of their own, in the order in which they occur.
func repetitions(tools []*tool) []*repeated {
	at := map[*shape]*repeated{}
	var order, todo []*repeated
	meet := func(s *shape, base string) {
		r := at[s]
		if r == nil {
			r = &repeated{shape: s, base: base}
			at[s] = r
			todo = append(todo, r)
		}
		r.uses++
	}
	for _, t := range tools {
		for _, f := range t.args.fields {
			meet(f.shape, f.name)
		}
		if t.args.kind != objectKind {
			meet(t.args, t.Name+" args")
		}
		meet(t.output, t.Name+" output")
		for len(todo) > 0 {
			r := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			order = append(order, r)
			first := len(todo)
			for _, f := range r.shape.fields {
				meet(f.shape, f.name)
			}
			for _, a := range r.shape.alts {
				meet(a, r.base)
			}
			if r.shape.item != nil {
				meet(r.shape.item, r.base)
			}
			if n := r.shape.named; n != nil {
				meet(n.body, n.base)
			}
			slices.Reverse(todo[first:])
		}
	}
	return slices.DeleteFunc(order, func(r *repeated) bool {
		return r.shape.kind != objectKind || len(r.shape.fields) == 0 || (r.uses-1)*r.shape.bytes-r.uses*nameCost < minSaving
	})
}

// sharedMembers are members that the same tools take.
type sharedMembers struct {
	name   string
	fields []field
	tools  []int // positions of the tools, ascending
}

// share finds the members that argument roots have in common, in the order of their first tool. Members that occur in exactly the same
// tools make one type. size is what a field takes when it is written out.
func share(tools []*tool, size func(field) int) []*sharedMembers {
	users := map[field][]int{}
	var order []field
	for i, t := range tools {
		if t.args.kind != objectKind {
			continue
		}
		for _, f := range t.args.fields {
			if users[f] == nil {
				order = append(order, f)
			}
			users[f] = append(users[f], i)
		}
	}
	bySet := map[string]*sharedMembers{}
	var groups []*sharedMembers
	var key []byte
	for _, f := range order {
		set := users[f]
		if len(set) < minSharers {
			continue
		}
		key = key[:0]
		for _, i := range set {
			key = binary.AppendUvarint(key, uint64(i))
		}
		g := bySet[string(key)]
		if g == nil {
			g = &sharedMembers{tools: set}
			bySet[string(key)] = g
			groups = append(groups, g)
		}
		g.fields = append(g.fields, f)
	}
	return slices.DeleteFunc(groups, func(g *sharedMembers) bool {
		bytes := 0
		for _, f := range g.fields {
			bytes += size(f)
		}
		return (len(g.tools)-1)*bytes-len(g.tools)*nameCost < minSaving
	})
}

// base returns the name that a shared type should have: after its only member, or a common one.
func (g *sharedMembers) base() string {
	switch {
	case len(g.fields) > 1:
		return "Shared args"
	case g.fields[0].optional:
		return g.fields[0].name + " option"
	}
	return g.fields[0].name + " arg"
}
