package gateway

import (
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// unanswered are the requests of a connection that have had no answer yet. The zero value is ready.
type unanswered struct {
	mu      sync.Mutex
	ids     map[jsonrpc.ID]struct{}
	leaving int           // answers that are being written
	none    chan struct{} // closed when there are neither; nil while nobody waits for that
}

// add notes a message that comes in. It reports false for a request whose id is that of another: the library would drop it and
// say nothing.
func (u *unanswered) add(msg jsonrpc.Message) bool {
	r, ok := msg.(*jsonrpc.Request)
	if !ok || !r.IsCall() || r.Method == "subscriptions/listen" { // which is answered when its session ends
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, taken := u.ids[r.ID]; taken {
		return false
	}
	if u.ids == nil {
		u.ids = make(map[jsonrpc.ID]struct{})
	}
	u.ids[r.ID] = struct{}{}
	return true
}

// sending notes a message that is about to go out: as soon as it is out, its id may come again. sent must be called afterwards.
func (u *unanswered) sending(msg jsonrpc.Message) (sent func()) {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		return func() {}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.ids, r.ID)
	u.leaving++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.leaving--
		if u.empty() && u.none != nil {
			close(u.none)
			u.none = nil
		}
	}
}

func (u *unanswered) empty() bool { return len(u.ids) == 0 && u.leaving == 0 }

// wait returns when every request has been answered, or when that takes too long.
func (u *unanswered) wait(limit time.Duration) {
	u.mu.Lock()
	if u.empty() {
		u.mu.Unlock()
		return
	}
	if u.none == nil {
		u.none = make(chan struct{})
	}
	none := u.none
	u.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	}
}
