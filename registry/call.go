package registry

// This file defines what goes into a call and what its stages see of it.

import (
	"sync"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// AgentKey names an agent: any comparable value, nil for none. It selects the scope whose tools the call sees and whose
// listeners it reaches (EXEC-8).
type AgentKey any

// Call is one request to run a tool. Execute reads each field once.
type Call struct {
	// ID is the caller's name for the call; it must not be empty.
	ID   string
	Name string
	// Arguments is any Go value with a lossless JSON form; it is copied before anything else sees it (EXEC-5). A
	// jsonval.Value is taken as it is.
	Arguments any
	// RootID is the ID of the outermost call that this one serves; "" means that it serves none.
	RootID string
	Agent  AgentKey
	// Parent is the token of the composite execution that makes this call, nil for a direct call (EXEC-3).
	Parent *Token
}

// Token identifies one execution. It is good for comparing and for nothing else, and has no printed form that means
// anything (EXEC-2).
type Token struct {
	_ byte // so that no two tokens have the same address
}

// Execution is the read-only identity of one call, the same in all of its stages (EXEC-7). It may be kept and compared.
type Execution struct{ x *execution }

type execution struct {
	id, name, root string
	agent          AgentKey
	parent         *Token
	arguments      jsonval.Value
	token          Token
}

// CallID returns the ID that the caller chose.
func (x Execution) CallID() string { return x.x.id }

// Name returns the name of the tool that was called, whether or not there is such a tool.
func (x Execution) Name() string { return x.x.name }

// Arguments returns the frozen arguments; they are absent if they could not be read.
func (x Execution) Arguments() jsonval.Value { return x.x.arguments }

// RootID returns the ID of the outermost call: the call's own for a direct call.
func (x Execution) RootID() string { return x.x.root }

// Agent returns the agent that calls, nil for none.
func (x Execution) Agent() AgentKey { return x.x.agent }

// Token returns the token of this execution. A composite tool gives it to its nested calls as their Parent.
func (x Execution) Token() *Token { return &x.x.token }

// Parent returns the token of the enclosing composite execution, nil for a direct call.
func (x Execution) Parent() *Token { return x.x.parent }

// Run is what a body gets beside its arguments: the identity of the call and two ways to add to its result. It is safe for
// concurrent use; after the body has returned it has no effect any more (CTX-6).
type Run struct {
	call *call

	mu   sync.Mutex
	over bool
}

// Execution returns the identity of the call.
func (r *Run) Execution() Execution { return r.call.Execution }

// DeferContext attaches a message to this call's own result, to be given to the model after the call is recorded (CTX-3).
// It stays even if the body fails afterwards or is cancelled (CTX-4).
func (r *Run) DeferContext(c Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.call.deferContexts(c)
	}
}

// ConcludeTurn marks the call, if it succeeds, as the end of the agent's turn (TURN-1).
func (r *Run) ConcludeTurn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.call.conclude()
	}
}

// close ends the effect of r. It returns after every DeferContext that was in progress.
func (r *Run) close() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
}
