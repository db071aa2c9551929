package loop

// This file defines the table of a run's calls: which functions there are, which numbers are used, what waits (RUN-27,
// HOSTILE-2, HOSTILE-3, HOSTILE-10).

import (
	"strconv"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// callCharge is what an outstanding call costs of the heap limit beside its argument (HOSTILE-10).
const callCharge = 4 << 10

// maxStrays bounds how many numbers are remembered that do not follow on one another; the prelude's always do.
const maxStrays = 1 << 16

// calls is the table. Only the goroutine that drives the guest uses it.
type calls struct {
	spaces  []space
	waiting map[uint32]int64 // the charge of each call that is not answered
	charged int64

	low    uint32 // every number up to it is used
	strays map[uint32]struct{}
}

// space is one namespace: its functions by name, own entries only (RUN-19).
type space struct {
	global    string
	functions map[string]runtime.Handler
}

func (c *calls) bind(namespaces []runtime.Namespace) {
	c.waiting = map[uint32]int64{}
	for _, n := range namespaces {
		s := space{global: n.Global, functions: make(map[string]runtime.Handler, len(n.Functions))}
		for _, f := range n.Functions {
			s.functions[jsonval.Text(f.Name).Str()] = f.Call
		}
		c.spaces = append(c.spaces, s)
	}
}

// lookup returns a declared function, or the text of the refusal.
func (c *calls) lookup(index uint32, member string) (runtime.Handler, string) {
	if int64(index) >= int64(len(c.spaces)) {
		return nil, runtime.MessageNoBinding("#"+strconv.FormatUint(uint64(index), 10), member)
	}
	s := c.spaces[index]
	if f, ok := s.functions[member]; ok {
		return f, ""
	}
	return nil, runtime.MessageNoBinding(s.global, member)
}

// begin uses the number id for a call with an argument of that size; false if the number was used before.
func (c *calls) begin(id uint32, size int) bool {
	if !c.use(id) {
		return false
	}
	charge := int64(size) + callCharge
	c.waiting[id] = charge
	c.charged += charge
	return true
}

func (c *calls) use(id uint32) bool {
	if id <= c.low {
		return false
	}
	if _, used := c.strays[id]; used {
		return false
	}
	if id != c.low+1 {
		if len(c.strays) == maxStrays {
			return false
		}
		if c.strays == nil {
			c.strays = map[uint32]struct{}{}
		}
		c.strays[id] = struct{}{}
		return true
	}
	c.low = id
	for len(c.strays) > 0 {
		if _, used := c.strays[c.low+1]; !used {
			break
		}
		c.low++
		delete(c.strays, c.low)
	}
	return true
}

// settle notes that a call is answered; false if it does not wait.
func (c *calls) settle(id uint32) bool {
	charge, ok := c.waiting[id]
	if ok {
		delete(c.waiting, id)
		c.charged -= charge
	}
	return ok
}

// open is how many calls are not answered.
func (c *calls) open() int { return len(c.waiting) }
