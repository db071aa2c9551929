package bridge

// This file defines the two events of a sub-call (SUB-10, SUB-11).

import (
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Event is a *[DispatchStart] or a *[Dispatch].
//
// An event is immutable. Its JSON is exactly the fields that the log of a conversation holds; what is kept out of that log, such
// as the canonical value, is in the Go fields beside them.
type Event interface {
	// Type is the name under which the event is logged.
	Type() string
	// Value is the event's JSON. MarshalJSON gives the same, within encoding/json's limit on nesting.
	Value() jsonval.Value

	event()
}

// The names of the events.
const (
	TypeDispatchStart = "tool/code-dispatch-start"
	TypeDispatch      = "tool/code-dispatch"
)

// DispatchStart says that a sub-call has left the queue and enters its gate.
type DispatchStart struct {
	RootCallID   string
	ParentCallID string // the call id of run_code
	SubCallID    string
	Name         string
	Arguments    jsonval.Value

	Time time.Time // not in the JSON
}

// Dispatch says that a sub-call has been committed. There is exactly one for each DispatchStart.
type Dispatch struct {
	RootCallID   string
	ParentCallID string
	SubCallID    string
	Name         string
	Arguments    jsonval.Value
	IsError      bool
	Content      []registry.Block // what a model would have read, or what a [LogMiddleware] put in its place

	// These are not in the JSON.
	Time   time.Time       // of the commit
	State  CallState       // as in the ledger
	Result registry.Result // the final result, with the value or message that the program got
}

func (*DispatchStart) Type() string { return TypeDispatchStart }
func (*Dispatch) Type() string      { return TypeDispatch }
func (*DispatchStart) event()       {}
func (*Dispatch) event()            {}

// Value returns the fields rootCallId, parentCallId, subCallId, name, arguments.
func (e *DispatchStart) Value() jsonval.Value {
	return jsonval.Object(dispatchFields(e.RootCallID, e.ParentCallID, e.SubCallID, e.Name, e.Arguments)...)
}

// Value returns the fields of a DispatchStart and isError, content.
func (e *Dispatch) Value() jsonval.Value {
	blocks := make([]jsonval.Value, len(e.Content))
	for i, b := range e.Content {
		blocks[i] = b.Value()
	}
	fields := dispatchFields(e.RootCallID, e.ParentCallID, e.SubCallID, e.Name, e.Arguments)
	return jsonval.Object(append(fields,
		jsonval.Member{Name: "isError", Value: jsonval.Bool(e.IsError)},
		jsonval.Member{Name: "content", Value: jsonval.Array(blocks...)},
	)...)
}

func (e *DispatchStart) MarshalJSON() ([]byte, error) { return e.Value().JSON(), nil }
func (e *Dispatch) MarshalJSON() ([]byte, error)      { return e.Value().JSON(), nil }

func dispatchFields(root, parent, sub, name string, arguments jsonval.Value) []jsonval.Member {
	return []jsonval.Member{
		{Name: "rootCallId", Value: jsonval.Text(root)},
		{Name: "parentCallId", Value: jsonval.Text(parent)},
		{Name: "subCallId", Value: jsonval.Text(sub)},
		{Name: "name", Value: jsonval.Text(name)},
		{Name: "arguments", Value: arguments},
	}
}
