package bridge

// This file defines one sub-call: a call of a bound tool that the program made (SUB-1 to SUB-25).

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

type subCall struct {
	run   *run
	id    string
	name  string
	args  jsonval.Value
	line  int // in the ledger
	reply func(result any, err error)

	start time.Time // set when it leaves the queue; used in the lane only
}

// handler binds one tool. It only queues the call: the lane decides when it starts, and nothing here waits (SUB-22).
func (r *run) handler(name string) runtime.Handler {
	return func(_ context.Context, arg jsonval.Value, reply func(result any, err error)) {
		if r.ctx.Err() != nil {
			reply(nil, r.over("%s was not called", name))
			return
		}
		if !arg.Exists() { // an engine checks this too; here it would end up in the record
			reply(nil, errors.New(runtime.MessageArguments+": an object such as {} is expected"))
			return
		}
		r.submit(&subCall{run: r, name: name, args: arg, reply: reply})
	}
}

// submit numbers a call and queues it. Engines call handlers one at a time (RUN-27), which makes numbers and queue agree.
func (r *run) submit(s *subCall) {
	s.line, s.id = r.ledger.add(r.outer.CallID(), s.name)
	r.lane.Submit(registry.Call{
		ID:        s.id,
		Name:      s.name,
		Arguments: s.args,
		RootID:    r.outer.RootID(),
		Agent:     r.outer.Agent(),
		Parent:    r.outer.Token(),
	}, registry.LaneHooks{Started: s.started, Committed: s.committed, Dropped: s.dropped})
}

// over is the rejection of a call whose run has ended (SUB-14).
func (r *run) over(format string, name string) error {
	return fmt.Errorf("the run is over (%s): "+format, runtime.ErrorText(context.Cause(r.ctx)), name)
}

func (s *subCall) started(registry.Execution) {
	s.start = time.Now()
	r := s.run
	if r.outer.Agent() == nil {
		return
	}
	r.watch.event(&DispatchStart{
		RootCallID: r.outer.RootID(), ParentCallID: r.outer.CallID(), SubCallID: s.id,
		Name: s.name, Arguments: s.args, Time: s.start,
	})
}

// committed ends the lane's part: first the outer call gets what is its, then the program its value, then the log its record.
func (s *subCall) committed(x registry.Execution, result registry.Result) {
	r, end := s.run, time.Now()
	forward(r.call, result)

	over := r.ctx.Err() != nil
	state := stateOf(result, over)
	message := ""
	if f := result.Failure(); f != nil {
		message = f.Message
	}
	r.ledger.settle(s.line, state, message, s.start, end)

	switch {
	case over: // SUB-25
		s.reply(nil, r.over("the result of %s was discarded", s.name))
	case result.IsError():
		s.reply(nil, errors.New(message))
	default:
		s.reply(result.Value(), nil)
	}

	agent := r.outer.Agent()
	if agent == nil {
		return
	}
	settled := &Dispatch{
		RootCallID: r.outer.RootID(), ParentCallID: r.outer.CallID(), SubCallID: s.id,
		Name: s.name, Arguments: s.args, IsError: result.IsError(),
		Time: end, State: state, Result: result,
	}
	entry := LogEntry{Outer: r.outer, Agent: agent, SubCallID: s.id, Name: s.name, IsError: result.IsError(), Content: result.Content()}
	r.record.append(r.outerCtx, r.listeners.forAgent(agent), entry,
		func(err error) { r.watch.warn("a dispatch log listener failed", s.name, s.id, err) },
		func(content []registry.Block) {
			settled.Content = content
			r.watch.event(settled)
		})
}

func (s *subCall) dropped(cause error) {
	r := s.run
	if !s.start.IsZero() { // the lane itself failed after the start
		r.ledger.settle(s.line, Cancelled, "", s.start, time.Now())
	}
	if r.ctx.Err() == nil { // the lane was closed under a live run: say what it says
		s.reply(nil, cause)
		return
	}
	s.reply(nil, r.over("the call of %s was dropped", s.name))
}
