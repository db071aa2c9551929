package loop

import (
	"sync"
	"time"
)

// answer is the reply to one call: the JSON text of the result, or the message of a failure.
type answer struct {
	id      uint32
	ok      bool
	payload string
	at      time.Time // when it arrived
}

// inbox holds answers in the order in which they arrived, without bound: whoever answers is never made to wait. Its
// methods are safe for concurrent use.
type inbox struct {
	mu     sync.Mutex
	list   []answer
	head   int
	closed bool
	wake   chan struct{} // holds a token when something arrived since it was last taken
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// put adds an answer; after close it is dropped (RUN-28).
func (b *inbox) put(a answer) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	a.at = time.Now()
	b.list = append(b.list, a)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// peek returns when the first answer arrived; ok is false if there is none.
func (b *inbox) peek() (at time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.head == len(b.list) {
		return time.Time{}, false
	}
	return b.list[b.head].at, true
}

// take removes the first answer. There must be one.
func (b *inbox) take() answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.list[b.head]
	b.list[b.head] = answer{}
	b.head++
	if b.head == len(b.list) {
		b.list, b.head = b.list[:0], 0
	}
	return a
}

// close drops what is there and all that comes.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.list, b.head = nil, 0
}

func (b *inbox) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
