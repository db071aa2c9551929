package jsonval

// This file defines when two values are the same, and the order of members that makes equal values print alike.

import (
	"cmp"
	"slices"
)

// Equal reports whether a and b are the same value. The order of members does not count; two absent values are equal.
func Equal(a, b Value) bool { return same(a, b, false) }

// Identical reports whether a and b are the same value with the same order of members: whether their texts are the same.
func Identical(a, b Value) bool { return same(a, b, true) }

func same(a, b Value, ordered bool) bool {
	type pair struct {
		a, b Value
		next int
	}
	var room [12]pair
	stack := room[:0]
	for {
		if a.kind != b.kind || a.kind != KindNumber && a.bits != b.bits {
			return false
		}
		switch a.kind {
		case KindNumber:
			if a.bits != b.bits { // zero has one form in the domain
				return false
			}
		case KindString:
			if a.str() != b.str() {
				return false
			}
		case KindArray, KindObject:
			if a.data != b.data { // values that share their members are the same
				stack = append(stack, pair{a: a, b: b})
			}
		}
		for len(stack) > 0 && stack[len(stack)-1].next == stack[len(stack)-1].a.Len() {
			stack = stack[:len(stack)-1]
		}
		if len(stack) == 0 {
			return true
		}
		top := &stack[len(stack)-1]
		i := top.next
		top.next++
		if top.a.kind == KindArray {
			a, b = top.a.items()[i], top.b.items()[i]
			continue
		}
		m, others := &top.a.members()[i], top.b.members()
		if others[i].Name != m.Name {
			if ordered {
				return false
			}
			if i = top.b.find(m.Name); i < 0 {
				return false
			}
		}
		a, b = m.Value, others[i].Value
	}
}

// SortKeys returns v with the members of every object, at every depth, in the bytewise order of their names (REPEAT-8).
func SortKeys(v Value) Value {
	if v.kind < KindArray || v.bits == 0 {
		return v
	}
	var room [12]rebuild
	stack := append(room[:0], newRebuild(v))
	for {
		top := &stack[len(stack)-1]
		if top.next < top.in.Len() {
			child := top.child(top.next)
			if child.kind >= KindArray && child.bits > 0 {
				stack = append(stack, newRebuild(child))
			} else {
				top.set(child)
			}
			continue
		}
		done := top.value()
		stack = stack[:len(stack)-1]
		if len(stack) == 0 {
			return done
		}
		stack[len(stack)-1].set(done)
	}
}

// rebuild is a container whose children are being replaced one by one.
type rebuild struct {
	cursor
	items   []Value
	members []Member
}

func newRebuild(v Value) rebuild {
	r := rebuild{cursor: cursor{in: v}}
	if v.kind == KindArray {
		r.items = make([]Value, v.Len())
	} else {
		r.members = make([]Member, v.Len())
	}
	return r
}

func (r *rebuild) set(v Value) {
	if r.in.kind == KindArray {
		r.items[r.next] = v
	} else {
		r.members[r.next] = Member{Name: r.in.members()[r.next].Name, Value: v}
	}
	r.next++
}

func (r *rebuild) value() Value {
	if r.in.kind == KindArray {
		return sealArray(r.items)
	}
	slices.SortFunc(r.members, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return sealObject(r.members)
}
