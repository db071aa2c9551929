package jsonval

import "unsafe"

// chase finds out whether following pointers leads round in a circle, with the memory of one pointer: it is compared with
// each that follows, and replaced after 1, 2, 4, 8 … of them.
type chase struct {
	mark  unsafe.Pointer
	steps uint
}

// returns reports whether p was passed before. It does so at the latest on the third way round.
func (c *chase) returns(p unsafe.Pointer) bool {
	if p == c.mark {
		return true
	}
	if c.steps++; c.steps&(c.steps-1) == 0 {
		c.mark = p
	}
	return false
}
