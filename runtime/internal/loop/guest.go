package loop

// This file defines the contract between the loop and an engine's instance.

import "errors"

// Guest is one fresh engine instance that has evaluated the prelude. One goroutine drives it. Every method runs guest
// code until it returns; an error means that the instance is finished: ErrHeap, ErrStopped (both may be wrapped), or
// anything else for a death of the engine (BUDGET-10).
//
// While a method runs, the guest calls back into the Run that NewGuest was given: Receive, Tick, Clock.
type Guest interface {
	// Configure calls the prelude's configure with a JSON text: namespaces, globals, seed. It comes first, once.
	Configure(config string) error

	// Start evaluates js, an expression whose value is an async function, under the file name FileName, and hands that
	// function to the prelude's start. It comes second, once. When js does not parse, the error is a *ProgramError.
	Start(js string) error

	// Settle calls the prelude's settle: the call id is answered. payload is the JSON text of the result if ok, and the
	// failure's message if not.
	Settle(id uint32, ok bool, payload string) error

	// Fire calls the prelude's fire: the timer is due.
	Fire(timer uint32) error

	// Jobs runs pending jobs until the queue is empty or Run.Ended says that the run is over. When the queue is empty, each
	// promise that is rejected and has no handler at that moment is handed once to the prelude's unhandled (RUN-46). The
	// loop calls Jobs after each of the methods above but Configure.
	Jobs() error

	// HeapBytes is the live heap in bytes, 0 = unknown. It may be called while the guest waits in Run.Receive.
	HeapBytes() int64

	// Steps is a deterministic count of the work done so far, 0 = unknown.
	Steps() int64

	// Close releases everything; nothing of the guest runs afterwards. It comes last, once, also after an error.
	Close()
}

// Interrupter is a Guest that does not ask Run.Tick while it runs and must be told to stop. Interrupt is called at most
// once, from any goroutine, while the guest runs or not; the method that is running or runs next returns ErrStopped.
type Interrupter interface {
	Interrupt()
}

var (
	// ErrHeap is what a Guest returns when the allocation that would have passed the heap limit ended it (BUDGET-8).
	ErrHeap = errors.New("heap limit reached")

	// ErrStopped is what a Guest returns when it ended because Run.Tick or Interrupt told it to.
	ErrStopped = errors.New("stopped by the host")

	// ErrStack is what a Guest returns when its native stack ran out in a way that the program could not catch (RUN-47).
	ErrStack = errors.New("call stack exhausted")

	// ErrString is what a Guest returns when the program asked for a string longer than the engine can hold, in an engine
	// where that cannot be caught (BUDGET-8).
	ErrString = errors.New("string too long")
)

// ProgramError is what a Guest returns for a failure of the program that the program could not catch: its code does not
// parse because the engine lacks the syntax (RUN-52), or its calls nest too deeply (RUN-47). It becomes an exception.
type ProgramError struct {
	Message      string // "SyntaxError: ..."
	Line, Column int    // the engine's, 0 = unknown
	Stack        string // in the engine's form, instead of Line and Column; may be empty
}

// Error returns the message.
func (e *ProgramError) Error() string { return e.Message }

// StackMessage is what a program reads that runs out of stack.
const StackMessage = "RangeError: Maximum call stack size exceeded"

// FileName is the name under which an engine evaluates the program's code. Frames of any other name never reach a model.
const FileName = "program.ts"

// PreludeName is the name under which an engine evaluates Prelude.
const PreludeName = "prelude.js"

// Frame is one message of the guest. NOTHING in it is trusted: whatever the prelude intended, a program that reached the
// channel could have made it.
type Frame struct {
	Op   Op
	N, M float64
	A, B string
}

// Op says what a Frame means. The prelude has the same numbers.
type Op uint32

const (
	// OpCall starts a call of a binding: N is its number, M the index of the namespace, A the member, B the argument as JSON.
	// The prelude first offers the argument itself, when it is an object: an engine that can write it, as the prelude would
	// and without running code of the program, makes the frame and answers the prelude with a string; others drop it.
	OpCall Op = 1
	// OpLog adds the log entry A.
	OpLog Op = 2
	// OpTimer starts the timer N, due in M milliseconds.
	OpTimer Op = 3
	// OpClear stops the timer N.
	OpClear Op = 4
	// OpDone completes the program with the JSON value A.
	OpDone Op = 5
	// OpDoneVoid completes the program without a value.
	OpDoneVoid Op = 6
	// OpFail ends the program with the failure of kind A and message B, which happened at line N, column M (0 = unknown).
	OpFail Op = 7
	// OpExit is process.exit with code A.
	OpExit Op = 8
	// OpUncaught is an exception or rejection that nothing handled: its text is A, its position line N, column M.
	OpUncaught Op = 9
	// OpLimit says that the guest has stopped measuring output that is certain not to fit.
	OpLimit Op = 10
	// OpMapStack asks for the stack A, in the engine's form, in the model's terms. B is the error's class and, on the next
	// line, its message, as far as they are known. The reply is "<line>:<column>" of the first frame that is the program's, or
	// "0:0", and a line for each frame.
	OpMapStack Op = 11
	// OpCheck asks what is lossy in the JSON text A. The reply is empty when nothing is.
	OpCheck Op = 12

	// OpBrand asks the engine what the argument a is, whatever its prototype says: undefined for an ordinary object,
	// otherwise the name of the built-in whose internal slots it has ("Array", "Function", "Error", "Map", "Promise",
	// "Arguments", "Proxy", ...). It never runs guest code and never reaches Run.Receive.
	OpBrand Op = 64
	// OpTarget asks the engine for the target of the proxy a (undefined when it was revoked or is none). As OpBrand, it is
	// the engine's to answer and runs no guest code; the answer is the object itself, not a string.
	OpTarget Op = 65
)
