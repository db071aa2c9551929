package wasmengine

// rejection is a promise that was rejected while it had no handler. The boxes keep promise and reason alive in the guest.
type rejection struct {
	promise               value
	promiseBox, reasonBox uint32
}

// rejections are the promises that are rejected and have no handler, in the order of their rejection. A program decides
// how many there are and in which order it handles them, so each operation takes constant time.
type rejections struct {
	list  []rejection // promise 0: handled since
	first int
	index map[value]int
	gone  int // handled entries in list[first:]
}

func (q *rejections) add(r rejection) {
	if q.index == nil {
		q.index = map[value]int{}
	}
	q.index[r.promise] = len(q.list)
	q.list = append(q.list, r)
}

// remove takes out the entry of a promise that has got a handler.
func (q *rejections) remove(promise value) (rejection, bool) {
	i, ok := q.index[promise]
	if !ok {
		return rejection{}, false
	}
	r := q.list[i]
	delete(q.index, promise)
	q.list[i] = rejection{}
	q.gone++
	if q.gone > 64 && q.gone > len(q.list)/2 {
		q.compact()
	}
	return r, true
}

func (q *rejections) compact() {
	kept := q.list[:0]
	for _, r := range q.list[q.first:] {
		if r.promise != 0 {
			q.index[r.promise] = len(kept)
			kept = append(kept, r)
		}
	}
	q.list, q.first, q.gone = kept, 0, 0
}

// next takes out the oldest entry.
func (q *rejections) next() (rejection, bool) {
	for ; q.first < len(q.list); q.first++ {
		if r := q.list[q.first]; r.promise != 0 {
			q.first++
			delete(q.index, r.promise)
			return r, true
		}
	}
	q.list, q.first, q.gone = q.list[:0], 0, 0
	return rejection{}, false
}
