package loop

import (
	"container/heap"
	"time"
)

// timer is one running timer of the guest.
type timer struct {
	id    uint32
	due   time.Time // by the run's clock
	order uint64    // of two that are due together, the one that was set first fires first
	index int       // in the queue
}

// timers are the running timers, by number and by the time at which they are due.
type timers struct {
	byID  map[uint32]*timer
	queue timerQueue
	count uint64
}

// set starts the timer id, anew if it runs.
func (t *timers) set(id uint32, due time.Time) {
	t.clear(id)
	if t.byID == nil {
		t.byID = map[uint32]*timer{}
	}
	t.count++
	one := &timer{id: id, due: due, order: t.count}
	t.byID[id] = one
	heap.Push(&t.queue, one)
}

// clear stops the timer id if it runs.
func (t *timers) clear(id uint32) {
	if one, ok := t.byID[id]; ok {
		heap.Remove(&t.queue, one.index)
		delete(t.byID, id)
	}
}

// next returns the timer that is due first, nil if none runs.
func (t *timers) next() *timer {
	if len(t.queue) == 0 {
		return nil
	}
	return t.queue[0]
}

// timerQueue is a heap.Interface.
type timerQueue []*timer

func (q timerQueue) Len() int { return len(q) }

func (q timerQueue) Less(i, j int) bool {
	if c := q[i].due.Compare(q[j].due); c != 0 {
		return c < 0
	}
	return q[i].order < q[j].order
}

func (q timerQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *timerQueue) Push(x any) {
	one := x.(*timer)
	one.index = len(*q)
	*q = append(*q, one)
}

func (q *timerQueue) Pop() any {
	old := *q
	one := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return one
}
