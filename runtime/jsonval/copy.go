package jsonval

// This file defines the copies that are made of a whole value.

import (
	"slices"
	"strings"
)

// SortKeys returns v with the members of every object, at every depth, in the bytewise order of their names (REPEAT-8).
func SortKeys(v Value) Value {
	return rebuild(v, func(leaf Value) Value { return leaf }, func(members []Member) {
		slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	})
}

// Clone returns a copy of v that shares no memory with it. It is for keeping a small part of a large document, which would
// else be kept whole.
func (v Value) Clone() Value {
	return rebuild(v, func(leaf Value) Value {
		if leaf.kind == KindString {
			plain := leaf.plain
			leaf = text(strings.Clone(leaf.str()))
			leaf.plain = plain
		}
		return leaf
	}, func(members []Member) {
		for i := range members {
			members[i].Name = strings.Clone(members[i].Name)
		}
	})
}

// rebuild copies v: every value without children by leaf, the members of every object by members, which may change the
// slice that it gets.
func rebuild(v Value, leaf func(Value) Value, members func([]Member)) Value {
	type copied struct {
		items   []Value
		members []Member
	}
	var stack []cursor
	var made []copied
	for {
		if v.branch() {
			c := copied{}
			if v.kind == KindArray {
				c.items = make([]Value, 0, v.Len())
			} else {
				c.members = slices.Clone(v.members())
			}
			stack, made = append(stack, cursor{in: v}), append(made, c)
			_, v = stack[len(stack)-1].child()
			continue
		}
		v = leaf(v)
		for {
			if len(stack) == 0 {
				return v
			}
			top, c := &stack[len(stack)-1], &made[len(made)-1]
			if top.in.kind == KindArray {
				c.items = append(c.items, v)
			} else {
				c.members[top.next-1].Value = v
			}
			if !top.done() {
				_, v = top.child()
				break
			}
			if top.in.kind == KindArray {
				v = sealArray(c.items)
			} else {
				members(c.members)
				v = sealDistinct(c.members)
			}
			stack, made = stack[:len(stack)-1], made[:len(made)-1]
		}
	}
}
