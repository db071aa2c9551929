package registry

// This file defines the errors that carry a code, and the catalogue of the registry's own failures.

import (
	"errors"
	"strconv"
	"strings"
)

// CodedError is an error that policy, logs and retries can tell apart: its name and code become the failure's info. It is
// found with errors.As, so that wrapping an error keeps its code (RESULT-5).
type CodedError interface {
	error
	// Name is the class of the error, as "ToolArgsError". "" counts as "HarnessError".
	Name() string
	// Code is stable and in capitals, as "INVALID_ARGS". "" counts as no code.
	Code() string
}

// Coded returns a coded error. An empty name becomes "HarnessError".
func Coded(name, code, message string) error { return &codedError{name, code, message} }

type codedError struct{ name, code, message string }

func (e *codedError) Error() string { return e.message }
func (e *codedError) Name() string  { return e.name }
func (e *codedError) Code() string  { return e.code }

// Codes of the registry's own failures.
const (
	CodeUnknownTool           = "UNKNOWN_TOOL"
	CodeInvalidArgs           = "INVALID_ARGS"
	CodeInvalidOutput         = "INVALID_TOOL_OUTPUT"
	CodeAborted               = "ABORTED"
	CodeAbortedBeforeDispatch = "ABORTED_BEFORE_DISPATCH"
	CodeTimeout               = "TOOL_TIMEOUT"
)

// ArgsError says which arguments of a typed tool do not fit its parameters (DEFINE-3).
type ArgsError struct {
	Violations []string

	// Came says what came in place of what was expected (CODE-34); it may be empty.
	Came string
}

// Error lists the violations, and behind them says what came.
func (e *ArgsError) Error() string {
	text := "arguments do not match the schema: " + strings.Join(e.Violations, "; ")
	if e.Came != "" {
		text += " (" + e.Came + ")"
	}
	return text
}

// Name is "ToolArgsError".
func (e *ArgsError) Name() string { return "ToolArgsError" }

// Code is INVALID_ARGS.
func (e *ArgsError) Code() string { return CodeInvalidArgs }

// OutputError says how a tool broke the contract of its output (OUT-5).
type OutputError struct {
	Tool       string
	Violations []string
}

// Error names the tool and lists the violations.
func (e *OutputError) Error() string {
	return "tool " + quote(e.Tool) + " produced an invalid result: " + strings.Join(e.Violations, "; ")
}

// Name is "ToolOutputError".
func (e *OutputError) Name() string { return "ToolOutputError" }

// Code is INVALID_TOOL_OUTPUT.
func (e *OutputError) Code() string { return CodeInvalidOutput }

var (
	errAborted       = Coded("AbortError", CodeAborted, "the call was cancelled")
	errAbortedBefore = Coded("AbortError", CodeAbortedBeforeDispatch, "the call was cancelled before it started")

	errLossyArguments  = errors.New("arguments are not lossless JSON")
	errLossyResult     = errors.New("tool result is not lossless JSON")
	errPreDecision     = errors.New("invalid pre-execute decision")
	errPostDecision    = errors.New("invalid post-execute decision")
	errValueAndContent = errors.New("post-execute decision sets both value and content")
	errValueOnFailure  = errors.New("post-execute cannot set a value on a failed call")
	errUnknownOutcome  = errors.New("the approver returned an unknown outcome")
	errNoResult        = errors.New("an execute wrapper returned no result")
	errLateNext        = errors.New("an execute wrapper called next after the stage had ended")
	errNilContext      = errors.New("an execute wrapper called next with a nil context")
	errGoexit          = errors.New("the goroutine of the call was ended by runtime.Goexit")
)

func errUnknownTool(name string) error {
	return Coded("ToolNotFoundError", CodeUnknownTool, "no tool named "+quote(name))
}

func errCollapsed(name string) error {
	return Coded("ToolNotFoundError", CodeUnknownTool,
		"no tool named "+quote(name)+" can be called directly: call it from inside a run_code program")
}

// quote puts a name into messages: between plain quotes, as it is. A name that would break the line or the quotes is
// escaped, so that a hostile name cannot write a message of its own.
func quote(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < 0x20 || c == '"' || c == '\\' || c == 0x7f {
			return strconv.Quote(name)
		}
	}
	return `"` + name + `"`
}
