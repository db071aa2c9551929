package bridge

// This file defines the effect ledger: what became of every call that a program made (CLI-9).

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// CallState says what became of a sub-call, and with it what is known of its effect.
type CallState string

const (
	// Done: the call ended in success.
	Done CallState = "done"
	// Failed: the call ended in failure; Call.Error has the message.
	Failed CallState = "failed"
	// Cancelled: the call was started and then aborted. Its effect is unknown.
	Cancelled CallState = "cancelled"
	// Dropped: the tool was never started, so nothing happened.
	Dropped CallState = "dropped"
)

// Call is one line of the ledger: one sub-call that got a number.
type Call struct {
	ID    string // "<outer call id>:code:<n>"
	Tool  string
	State CallState
	Error string // the failure's message; empty unless State is Failed

	// Start is when the call left the queue, End when it was committed. Both are zero for a dropped call.
	Start, End time.Time
}

// ledger keeps the calls of one run in the order of their submission. Its methods are safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	calls []Call
}

// add gives the next call its number, opens its line, and returns the line's index and the call's id (SUB-2). Until it is
// settled a call counts as dropped: that is what it is if nothing starts it.
func (l *ledger) add(outerID, tool string) (line int, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line = len(l.calls)
	id = fmt.Sprintf("%s:code:%d", outerID, line+1)
	l.calls = append(l.calls, Call{ID: id, Tool: tool, State: Dropped})
	return line, id
}

// settle closes a line. The times of a call that turns out to have had no effect are left out: nothing started.
func (l *ledger) settle(i int, state CallState, message string, start, end time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.calls[i]
	c.State = state
	if state == Failed {
		c.Error = message
	}
	if state != Dropped {
		c.Start, c.End = start, end
	}
}

func (l *ledger) list() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Call{}, l.calls...)
}

// stateOf classifies a committed result. over says that the run had ended before the commit: a failure that comes then, and
// does not say for itself that the body was not reached, may be the abort's doing, and its effect is unknown.
func stateOf(r registry.Result, over bool) CallState {
	if !r.IsError() {
		return Done
	}
	code := ""
	if info := r.Failure().Info; info != nil {
		code = info.Code
	}
	switch code {
	case registry.CodeAborted:
		return Cancelled
	case registry.CodeAbortedBeforeDispatch:
		return Dropped
	case "":
		if over {
			return Cancelled
		}
	}
	return Failed
}

// EffectSummary returns one line for each tool that calls name, in the order of their first calls, with the number of calls in
// each state: "write_file: 2 done, 1 unknown". A cancelled call counts as unknown. It is empty without calls.
func EffectSummary(calls []Call) []string {
	type counts struct{ done, failed, unknown, dropped int }
	var order []string
	by := make(map[string]*counts)
	for _, c := range calls {
		n := by[c.Tool]
		if n == nil {
			n = new(counts)
			by[c.Tool] = n
			order = append(order, c.Tool)
		}
		switch c.State {
		case Done:
			n.done++
		case Failed:
			n.failed++
		case Cancelled:
			n.unknown++
		case Dropped:
			n.dropped++
		}
	}
	lines := make([]string, 0, len(order))
	for _, tool := range order {
		n := by[tool]
		var parts []string
		for _, p := range []struct {
			n    int
			word string
		}{{n.done, "done"}, {n.failed, "failed"}, {n.unknown, "unknown"}, {n.dropped, "dropped"}} {
			if p.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
			}
		}
		lines = append(lines, tool+": "+strings.Join(parts, ", "))
	}
	return lines
}
