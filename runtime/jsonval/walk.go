package jsonval

// This file defines the walk over a value's descendants, parents first and in order.

// cursor is one container that a walk is inside of.
type cursor struct {
	in   Value
	next int // the position of the child that comes next
}

// child returns the name, "" in an array, and the value of the child at next, and moves on.
func (c *cursor) child() (name string, v Value) {
	i := c.next
	c.next++
	if c.in.kind == KindArray {
		return "", c.in.items()[i]
	}
	m := &c.in.members()[i]
	return m.Name, m.Value
}

func (c *cursor) done() bool { return c.next == int(c.in.bits) }

// branch reports whether v has children.
func (v *Value) branch() bool { return v.kind >= KindArray && v.bits > 0 }

// ascend drops the containers at the end of stack that have no further child.
func ascend(stack []cursor) []cursor {
	for len(stack) > 0 && stack[len(stack)-1].done() {
		stack = stack[:len(stack)-1]
	}
	return stack
}
