package runtime

// This file defines the closed list of failure kinds (RUN-7), the failure of a run, and the misuse of the contract.

import (
	"context"
	"fmt"
)

// Kind is one of the six kinds in which a run can fail. A Kind is an error only so that errors.Is(f, runtime.Timeout)
// works; it is never returned as one.
type Kind string

const (
	// Exception: the program did not parse, or threw.
	Exception Kind = "exception"
	// Timeout: a budget of the engine's ran out; Failure.Budget says which.
	Timeout Kind = "timeout"
	// Abort: the caller's context ended, or the engine was closed.
	Abort Kind = "abort"
	// WorkerExit: the engine ended without the program settling: heap used up, exit by itself, uncaught error.
	WorkerExit Kind = "worker-exit"
	// InvalidOutput: what the program completed with is not lossless JSON.
	InvalidOutput Kind = "invalid-output"
	// OutputLimit: logs and value, or logs and failure message, are larger than the output cap.
	OutputLimit Kind = "output-limit"
)

// Error returns the kind's name.
func (k Kind) Error() string { return string(k) }

// Kinds returns all kinds, in the order of RUN-7.
func Kinds() []Kind {
	return []Kind{Exception, Timeout, Abort, WorkerExit, InvalidOutput, OutputLimit}
}

// The budgets that Failure.Budget names.
const (
	BudgetCompute = "compute"
	BudgetWall    = "wall"
)

// Failure says why a program did not complete. It is classified once, where it happens, and passed on untouched.
//
// As an error it matches its kind (errors.Is(f, runtime.Timeout)); a timeout also matches context.DeadlineExceeded,
// an abort context.Canceled and whatever the caller's own cause matches. So that Result.Error may be asked as it is, a nil
// *Failure matches nothing.
type Failure struct {
	Kind    Kind
	Message string

	// Line and Column are the position in the model's text: 1-based, the column in UTF-16 units; 0 = unknown.
	Line, Column int

	// Budget is BudgetCompute or BudgetWall for a Timeout, else empty.
	Budget string

	cause error
}

// Error returns the message behind the kind.
func (f *Failure) Error() string {
	return fmt.Sprintf("program failed (%s): %s", f.Kind, f.Message)
}

// Is reports whether target is f's kind, or the context error that f's kind stands for.
func (f *Failure) Is(target error) bool {
	if f == nil {
		return false
	}
	switch target {
	case error(f.Kind):
		return true
	case context.DeadlineExceeded:
		return f.Kind == Timeout
	case context.Canceled:
		return f.Kind == Abort
	}
	return false
}

// Unwrap returns the caller's reason behind an Abort, or nil.
func (f *Failure) Unwrap() error {
	if f == nil {
		return nil
	}
	return f.cause
}

// MisuseError reports that the caller of an engine broke its contract: a run after Close, unusable namespaces. Nothing
// was run (RUN-6).
type MisuseError struct {
	message string
}

// Error says what is wrong and quotes the offending name.
func (e *MisuseError) Error() string { return e.message }

// Misuse returns a *MisuseError with a message formatted as by fmt.Sprintf.
func Misuse(format string, args ...any) error {
	return &MisuseError{message: fmt.Sprintf(format, args...)}
}

// ErrorClosed returns the *MisuseError of a run that was asked for after Close (RUN-40).
func ErrorClosed() error { return Misuse("runtime is shut down: it takes no new runs") }
