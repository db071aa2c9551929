package jsonval

// scratch is a stack for the time of one walk. The first elements are kept in the struct itself, so that a walk over a small
// value, whose scratch is a variable of the walk, needs no memory for it; more of them move to the heap for good.
type scratch[T any] struct {
	heap []T
	n    int // elements in room, while heap is nil
	room [12]T
}

func (s *scratch[T]) len() int {
	if s.heap != nil {
		return len(s.heap)
	}
	return s.n
}

// last returns the top of the stack, which stays where it is until the next push.
func (s *scratch[T]) last() *T {
	if s.heap != nil {
		return &s.heap[len(s.heap)-1]
	}
	return &s.room[s.n-1]
}

func (s *scratch[T]) push(v T) {
	if s.heap == nil {
		if s.n < len(s.room) {
			s.room[s.n] = v
			s.n++
			return
		}
		s.spill()
	}
	s.heap = append(s.heap, v)
}

func (s *scratch[T]) spill() { s.heap = append(make([]T, 0, 4*len(s.room)), s.room[:]...) }

// from returns the elements from start on.
func (s *scratch[T]) from(start int) []T {
	if s.heap != nil {
		return s.heap[start:]
	}
	return s.room[start:s.n]
}

// cut drops the elements from start on.
func (s *scratch[T]) cut(start int) {
	if s.heap != nil {
		s.heap = s.heap[:start]
	} else {
		s.n = start
	}
}

// manyTaken is the number of elements from which take gives the stack's own memory away.
const manyTaken = 1024

// take removes the elements from start on and returns them in a slice that nobody else has. Many elements are not copied
// but leave with the memory that they are in: a large container takes no more than half as much again as it needs.
func (s *scratch[T]) take(start int, from *slab[T]) []T {
	if n := len(s.heap) - start; n >= manyTaken && n >= 2*(cap(s.heap)-n) {
		own := s.heap[start:len(s.heap):len(s.heap)]
		s.heap = append(make([]T, 0, start+len(s.room)), s.heap[:start]...)
		return own
	}
	own := s.from(start)
	t := from.take(len(own))
	copy(t, own)
	s.cut(start)
	return t
}
