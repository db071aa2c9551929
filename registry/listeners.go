package registry

import (
	"slices"
	"sync"
)

// ListenerOption says where a listener stands.
type ListenerOption uint8

// Prepend puts a listener in front of all that exist, as the outermost (FALL-1). Without it, it becomes the innermost.
const Prepend ListenerOption = 1

// entry is one registered listener, guard or observer. Order is shared by all layers, so that scoped and unscoped
// listeners stand in one order (FALL-5).
type entry[F any] struct {
	order int64
	f     F
}

// list holds the entries of one layer in ascending order. A slice that was handed out never changes: adding writes behind
// its end, removing makes a new one.
type list[F any] struct{ entries []entry[F] }

func (l *list[F]) append(order int64, f F) { l.entries = append(l.entries, entry[F]{order, f}) }

func (l *list[F]) prepend(order int64, f F) {
	l.entries = slices.Insert(slices.Clone(l.entries), 0, entry[F]{order, f})
}

// remove takes out the entry with this order, if it is still there.
func (l *list[F]) remove(order int64) {
	if i, found := l.find(order); found {
		l.entries = slices.Delete(slices.Clone(l.entries), i, i+1)
	}
}

// after returns the first entry behind order.
func (l *list[F]) after(order int64) (entry[F], bool) {
	if i, _ := l.find(order + 1); i < len(l.entries) {
		return l.entries[i], true
	}
	return entry[F]{}, false
}

func (l *list[F]) find(order int64) (int, bool) {
	return slices.BinarySearchFunc(l.entries, order, func(e entry[F], order int64) int {
		switch {
		case e.order < order:
			return -1
		case e.order > order:
			return 1
		}
		return 0
	})
}

// chain returns the listeners that a call of scope s reaches, outermost first: those of the global layer, of s and of the
// scopes that s is nested in. The set is fixed from then on (FALL-4).
func chain[F any](r *Registry, s *Scope, of func(*layer) *list[F]) []entry[F] {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := of(&r.global).entries
	for ; s != nil; s = s.parent {
		out = merge(out, of(&s.layer).entries)
	}
	return out
}

// merge merges two ascending lists. It copies nothing if one of them is empty.
func merge[F any](a, b []entry[F]) []entry[F] {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	out := make([]entry[F], 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].order < b[0].order {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// listen adds f to a list of the layer and returns the way to take it out again. On a disposed scope it does nothing.
func listen[F any](l *layer, of func(*layer) *list[F], f F, options []ListenerOption) (dispose func()) {
	r := l.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.disposed {
		return func() {}
	}
	var order int64
	if slices.Contains(options, Prepend) {
		r.first--
		order = r.first
		of(l).prepend(order, f)
	} else {
		r.last++
		order = r.last
		of(l).append(order, f)
	}
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		of(l).remove(order)
	})
}
