package registry

// This file defines the options of a registry and what a harness plugs into it.

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// RunCode is the reserved name of the tool through which a model reaches all others from a program (PRESENT-8).
const RunCode = "run_code"

// Mode says in which form tools are shown to a model (PRESENT-2).
type Mode string

// The modes. The zero Mode of Options means Native.
const (
	Native Mode = "native" // function definitions
	Code   Mode = "code"   // run_code alone, and the SDK section
	Both   Mode = "both"   // function definitions, run_code, and the SDK section
)

func (m Mode) valid() bool { return m == Native || m == Code || m == Both }

// Options configures a registry. The zero value is a native registry in which nobody can approve anything.
type Options struct {
	// Mode is the presentation of every agent that has none of its own. "" is Native.
	Mode Mode
	// Transport supplies run_code; without it only Native exists.
	Transport Transport
	// Approver answers calls that a pre-execute listener wants to ask about; without it they are denied.
	Approver Approver
	// ToolOrder puts these names first on the wire, in this order; all others follow by name (PRESENT-10).
	ToolOrder []string
	// Logger gets what is contained: panics of listeners, observers and presenters. nil is slog.Default().
	Logger *slog.Logger
}

func (o *Options) check() error {
	if o.Mode == "" {
		o.Mode = Native
	}
	if !o.Mode.valid() {
		return fmt.Errorf("registry: unknown mode %q: it must be %q, %q or %q", o.Mode, Native, Code, Both)
	}
	if o.Mode != Native && o.Transport == nil {
		return fmt.Errorf("registry: mode %q needs Options.Transport", o.Mode)
	}
	o.ToolOrder = slices.Clone(o.ToolOrder)
	seen := make(map[string]bool, len(o.ToolOrder))
	for _, name := range o.ToolOrder {
		if seen[name] {
			return fmt.Errorf("registry: the tool order names %s twice", quote(name))
		}
		seen[name] = true
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return nil
}

// Transport supplies run_code for a registry that knows no programming language.
type Transport interface {
	// Definition returns run_code, the same for everybody. It is asked each time the definition is read, so that its texts
	// may follow the runtime that is loaded (CODE-4).
	Definition(r *Registry) (Definition, error)
	// Sections returns the prompt sections that belong to a view. It is called for the modes Code and Both.
	Sections(r *Registry, v View) ([]Section, error)
}

// View is what one agent can call, as the transport gets it.
type View struct {
	Mode  Mode
	Agent AgentKey
	Tools []Definition // sorted bytewise by name, without run_code
}

// Section is one part of a system prompt. Sections stand in ascending Order.
type Section struct {
	Name  string `json:"name"`
	Order int    `json:"order"`
	Text  string `json:"text"`
}

// Approver answers whether a call may run. Approve may take as long as a person takes, and should return Cancelled when ctx
// ends; an error fails the call (ASK-6).
type Approver interface {
	Approve(ctx context.Context, q ApprovalRequest) (Outcome, error)
}

// ApprovalRequest is what an approver decides about (ASK-1).
type ApprovalRequest struct {
	Agent     AgentKey
	Tool      string
	CallID    string
	Arguments jsonval.Value
	Reason    string // the listener's reason, "" if it gave none
}

// Outcome is an approver's answer.
type Outcome string

// The outcomes. Only AllowedOnce lets the call proceed, and only this call (ASK-2).
const (
	AllowedOnce Outcome = "allowed-once"
	Rejected    Outcome = "rejected"
	Cancelled   Outcome = "cancelled"
	Unavailable Outcome = "unavailable"
	Suspended   Outcome = "suspended" // for calls of a program; counts as Unavailable where suspension is not available
)
