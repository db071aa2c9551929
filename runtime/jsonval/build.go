package jsonval

// This file defines how containers are built: where their memory comes from, and what is known of their text's length.

import "math"

// slab hands out slices cut from larger pieces: most containers are small, and an allocation for each would cost more than
// the rest of reading it. A piece is at most half as large as all that was handed out before, so that a small value does not
// hold much more than it needs.
type slab[T any] struct {
	free  []T
	taken int
}

// From slabMax elements on a slice is allocated by itself; a piece has at most slabSize elements.
const (
	slabMax  = 48
	slabSize = 256
)

// take returns a slice of n elements that nobody else has.
func (s *slab[T]) take(n int) []T {
	if n > len(s.free) {
		if n >= slabMax {
			return make([]T, n)
		}
		s.free = make([]T, max(n, min(s.taken/2, slabSize)))
	}
	t := s.free[:n:n]
	s.free = s.free[n:]
	s.taken += n
	return t
}

// room returns about how many bytes v takes as text: the capacity to start printing with.
func (v *Value) room() uint64 {
	switch v.kind {
	case KindString:
		return v.bits + 2
	case KindNumber:
		if f := v.Float(); f == math.Trunc(f) {
			return 6
		}
		return 18
	case KindArray, KindObject:
		return uint64(v.hint) + 2
	}
	return 5
}

// sealArray makes the array of items, which it takes over.
func sealArray(items []Value) Value {
	v := array(items)
	room := uint64(len(items))
	for i := range items {
		room += items[i].room()
	}
	v.hint = uint32(min(room, math.MaxUint32))
	return v
}

// sealObject makes the object of members, which it takes over, and resolves repeated names among them.
func sealObject(members []Member) Value { return withHint(object(members)) }

// sealDistinct is sealObject for members whose names are known to differ.
func sealDistinct(members []Member) Value { return withHint(distinctObject(members)) }

func withHint(v Value) Value {
	members := v.members()
	room := 4 * uint64(len(members))
	for i := range members {
		room += uint64(len(members[i].Name)) + members[i].Value.room()
	}
	v.hint = uint32(min(room, math.MaxUint32))
	return v
}
