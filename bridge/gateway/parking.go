package gateway

// This file defines how a run waits for a person in the newest revision of the protocol: a server may not ask there while a
// request is open, so the question is the answer to the request, and the client comes back with another one that has the
// person's answer. In between the run waits in memory.

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// maxParked is how many calls of one client wait for it at once. Further questions count as unanswered.
const maxParked = 32

// questionID is the name of the one question in a result.
const questionID = "approval"

var errUnanswered = errors.New("the client did not come back with an answer")

// parking has the calls that wait for their client, by the states that the client has to show. The zero value is ready.
type parking struct {
	mu    sync.Mutex
	calls map[string]*parked
}

type parked struct {
	call     *call
	question *question
	timer    *time.Timer
}

// park keeps a call until its client comes back, or for as long as such calls are kept. It reports false when there are too
// many. The state that it returns is good for one request; nobody can guess it.
func (p *parking) park(c *call, q *question) (state string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) >= maxParked {
		return "", false
	}
	if p.calls == nil {
		p.calls = make(map[string]*parked)
	}
	state = rand.Text()
	p.calls[state] = &parked{c, q, time.AfterFunc(c.gateway.times.parked, func() { p.expire(state) })}
	return state, true
}

// resume takes a call out and gives it the client's answer. The request must repeat the call to the letter: a state that came
// with one question is no approval of anything else.
func (p *parking) resume(params *mcp.CallToolParamsRaw, tool string, args jsonval.Value) (*call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, ok := p.calls[params.RequestState]
	switch {
	case !ok:
		return nil, invalidParams("no call waits under this requestState: it has been answered, or has waited too long; make the call anew")
	case w.call.tool != tool || !jsonval.Equal(w.call.arguments, args):
		return nil, invalidParams("the requestState belongs to another call: repeat its name and arguments as they were")
	}
	delete(p.calls, params.RequestState)
	w.timer.Stop()
	answer, _ := params.InputResponses[questionID].(*mcp.ElicitResult)
	w.question.answer <- verdict(answer)
	return w.call, nil
}

// expire gives up a call whose client did not come back.
func (p *parking) expire(state string) {
	p.mu.Lock()
	w, ok := p.calls[state]
	delete(p.calls, state)
	p.mu.Unlock()
	if ok {
		w.call.cancel(errUnanswered)
	}
}

// clear forgets all calls. They must be ended by other means.
func (p *parking) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.calls {
		w.timer.Stop()
	}
	p.calls = nil
}

// question is what one approval needs to know of the person at the client.
type question struct {
	params *mcp.ElicitParams
	answer chan registry.Outcome // holds one
}
