package registry

// This file defines the driver: the tool calls of one assistant message, run on a lane and recorded.

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// ToolUse is one tool call as a model sent it.
type ToolUse struct {
	ID, Name string
	// Arguments is the model's text, parsed once when the call is submitted: "" is an empty object; text that is not JSON
	// reaches the tool as a string (SCHED-1).
	Arguments string
}

// CallRecord is the log's "tool/call": it is recorded right before the gate of the call (SCHED-8).
type CallRecord struct {
	Type      string `json:"type"` // "tool/call"
	Seq       int64  `json:"seq"`  // counts the records of one driver from 1
	CallID    string `json:"callId"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // the model's text, untouched
}

// ResultRecord is the log's "tool/result": it is recorded when the call commits (SCHED-8). The canonical value is not part
// of it (OUT-8).
type ResultRecord struct {
	Type    string        `json:"type"` // "tool/result"
	Seq     int64         `json:"seq"`
	Call    int64         `json:"call"` // the Seq of the call's CallRecord
	CallID  string        `json:"callId"`
	IsError bool          `json:"isError"`
	Content []Block       `json:"content"`
	Error   *Info         `json:"error,omitempty"`
	Meta    jsonval.Value `json:"meta,omitzero"`
}

// DriverOptions configures a driver. Its hooks are called in order and never at the same time within one batch; an error or
// a panic of one of them is an internal error that ends the batch (SCHED-14). They may be nil.
type DriverOptions struct {
	MaxParallel int // as LaneOptions.MaxParallel
	OnCall      func(CallRecord) error
	OnResult    func(ResultRecord) error
	// Deliver gets each context of a batch that was not aborted, after all of its results and in their order (SCHED-10).
	Deliver func(Context) error
}

// Driver runs the tool calls of assistant messages.
type Driver struct {
	registry *Registry
	options  DriverOptions
	max      atomic.Int64
	seq      atomic.Int64
}

// Batch is what came of the calls of one message.
type Batch struct {
	// Results are those of the calls that were started, in model order.
	Results []Result
	// Contexts are the messages for the model, in model order. Those of an aborted batch have not been delivered: they are
	// for the next step, which they do not start by themselves (SCHED-11).
	Contexts []Context
	Aborted  bool
	// ConcludesTurn says that a result ended the agent's turn (SCHED-15): see EndsTurn.
	ConcludesTurn bool
}

// EndsTurn reports whether the agent's turn is over. Messages that are queued for the next step, those of this batch or the
// user's own, get that step first (SCHED-15).
func (b Batch) EndsTurn(queuedInput bool) bool {
	return b.ConcludesTurn && !queuedInput && (len(b.Contexts) == 0 || b.Aborted)
}

// NewDriver returns a driver for this registry.
func (r *Registry) NewDriver(o DriverOptions) (*Driver, error) {
	if o.MaxParallel == 0 {
		o.MaxParallel = DefaultMaxParallel
	}
	if err := checkParallel(o.MaxParallel); err != nil {
		return nil, err
	}
	d := &Driver{registry: r, options: o}
	d.max.Store(int64(o.MaxParallel))
	return d, nil
}

// SetMaxParallel changes the cap of running bodies. It takes effect at the next group of parallel calls, also within a
// batch that is running (SCHED-3).
func (d *Driver) SetMaxParallel(n int) error {
	if err := checkParallel(n); err != nil {
		return err
	}
	d.max.Store(int64(n))
	return nil
}

// Run runs the calls of one message and returns when all of them have ended. When ctx ends no further call starts; each
// that was not started is recorded as ABORTED_BEFORE_DISPATCH (SCHED-12). The error is an internal one, of a hook: the
// batch then holds what had been recorded before it.
func (d *Driver) Run(ctx context.Context, agent AgentKey, calls []ToolUse) (Batch, error) {
	var b Batch
	lane := d.registry.newLane(ctx, &d.max)
	for _, use := range calls {
		var seq int64 // of the call's record
		lane.Submit(Call{ID: use.ID, Name: use.Name, Arguments: modelArguments(use.Arguments), Agent: agent}, LaneHooks{
			Started: func(Execution) { seq = d.recordCall(lane, use) },
			Committed: func(_ Execution, r Result) {
				d.recordResult(lane, use, seq, r)
				if lane.Err() != nil {
					return
				}
				b.Results = append(b.Results, r)
				b.Contexts = append(b.Contexts, r.Contexts()...)
				b.ConcludesTurn = b.ConcludesTurn || r.ConcludesTurn()
			},
			Dropped: func(error) {
				if lane.Err() != nil { // nothing is made up for an internal error
					return
				}
				if seq = d.recordCall(lane, use); lane.Err() == nil {
					d.recordResult(lane, use, seq, Fail(errAbortedBefore))
				}
			},
		})
	}
	lane.Drain()
	b.Aborted = ctx.Err() != nil
	if err := lane.Err(); err != nil {
		return b, err
	}
	if b.Aborted || d.options.Deliver == nil {
		return b, nil
	}
	for _, c := range b.Contexts {
		var err error
		if p := guarded(func() { err = d.options.Deliver(c) }); p != nil {
			err = p
		}
		if err != nil {
			return b, fmt.Errorf("a context could not be delivered: %w", err)
		}
	}
	return b, nil
}

func (d *Driver) recordCall(lane *Lane, use ToolUse) (seq int64) {
	seq = d.seq.Add(1)
	if d.options.OnCall == nil {
		return seq
	}
	err := d.options.OnCall(CallRecord{Type: "tool/call", Seq: seq, CallID: use.ID, Name: use.Name, Arguments: use.Arguments})
	if err != nil {
		lane.fail(fmt.Errorf("a call could not be recorded: %w", err))
	}
	return seq
}

func (d *Driver) recordResult(lane *Lane, use ToolUse, call int64, r Result) {
	record := ResultRecord{
		Type: "tool/result", Seq: d.seq.Add(1), Call: call, CallID: use.ID,
		IsError: r.IsError(), Content: r.Content(), Meta: r.Meta(),
	}
	if record.Content == nil {
		record.Content = []Block{}
	}
	if f := r.Failure(); f != nil {
		record.Error = f.Info
	}
	if d.options.OnResult == nil {
		return
	}
	if err := d.options.OnResult(record); err != nil {
		lane.fail(fmt.Errorf("a result could not be recorded: %w", err))
	}
}

// modelArguments parses a model's text once (SCHED-1). Text that is JSON and loses something as such is refused when the
// call is made, as any lossy arguments.
func modelArguments(text string) any {
	if text == "" {
		return jsonval.Object()
	}
	value, err := jsonval.ParseString(text)
	switch {
	case err == nil:
		return value
	case json.Valid([]byte(text)):
		return taken{err: err}
	}
	return jsonval.Text(text)
}
