package runtime

// This file defines the fixed texts of failures that are not the program's own, one constructor each, so that both
// engines say the same.

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Texts of failures that carry no figure.
const (
	// MessageClosed is the abort of a run whose engine is closed (RUN-40).
	MessageClosed = "runtime is shut down"
	// MessageStuck ends a program that nothing can wake (BUDGET-6).
	MessageStuck = "the program waits for a promise that nothing can settle"
	// MessageArguments rejects a call whose argument is not lossless (RUN-22).
	MessageArguments = "arguments are not lossless JSON"
	// MessageBinding rejects a call whose host result is not lossless (RUN-23).
	MessageBinding = "binding result is not lossless JSON"
	// MessageResult is the failure of a completion that is not lossless (VALUE-1).
	MessageResult = "result is not lossless JSON"
	// MessageUnshowable stands for a thrown value whose conversion to a string throws (RUN-38).
	MessageUnshowable = "thrown value cannot be shown"
	// MessageNested refuses source text that a recursive parser could not survive (HOSTILE-9).
	MessageNested = "program is nested too deeply"
	// MessageLong refuses source text above MaxProgramBytes (HOSTILE-9).
	MessageLong = "program is too long"
)

// MessageOutput returns the fixed diagnostic of an output overflow (LOG-12). It is ASCII.
func MessageOutput(maxOutputBytes int64) string {
	return fmt.Sprintf("output larger than %d bytes", maxOutputBytes)
}

// MessageNoBinding returns the rejection of a call to a function that was not declared (HOSTILE-3).
func MessageNoBinding(global, name string) string {
	return fmt.Sprintf("no binding %q", global+"."+name)
}

// ComputeFailure is the timeout of the compute budget (BUDGET-4).
func ComputeFailure(limit time.Duration) *Failure {
	return &Failure{Kind: Timeout, Budget: BudgetCompute, Message: "compute time used up: limit " + milliseconds(limit) + " ms"}
}

// WallFailure is the timeout of the wall-clock budget (BUDGET-5).
func WallFailure(limit time.Duration) *Failure {
	return &Failure{Kind: Timeout, Budget: BudgetWall, Message: "wall-clock limit reached: " + milliseconds(limit) + " ms"}
}

// AbortFailure is the end of a run whose caller's context ended. cause is context.Cause(ctx); its text is the message
// (BUDGET-7).
func AbortFailure(cause error) *Failure {
	if cause == nil {
		cause = context.Canceled
	}
	return &Failure{Kind: Abort, Message: ErrorText(cause), cause: cause}
}

// ClosedFailure is the end of a run whose engine was closed (RUN-40).
func ClosedFailure() *Failure { return &Failure{Kind: Abort, Message: MessageClosed} }

// HeapFailure is the end of a run that went past its heap limit in bytes (BUDGET-8).
func HeapFailure(limit int64) *Failure {
	mib := strconv.FormatFloat(float64(limit)/(1<<20), 'f', -1, 64)
	return &Failure{Kind: WorkerExit, Message: "heap limit reached: " + mib + " MiB"}
}

// StoppedFailure is any other death of the engine (BUDGET-10).
func StoppedFailure(detail string) *Failure {
	return &Failure{Kind: WorkerExit, Message: "engine stopped: " + detail}
}

// ExitFailure is the end of a program that called process.exit (RUN-45). code is the text of the exit code.
func ExitFailure(code string) *Failure {
	return &Failure{Kind: WorkerExit, Message: "program ended itself with code " + code}
}

// UncaughtFailure is the end of a run by an exception or rejection that nothing handled (RUN-46).
func UncaughtFailure(text string) *Failure {
	return &Failure{Kind: WorkerExit, Message: "uncaught error: " + text}
}

// StuckFailure is the end of a program that waits for nothing that can happen (BUDGET-6).
func StuckFailure() *Failure { return &Failure{Kind: WorkerExit, Message: MessageStuck} }

// ErrorText returns err.Error(), also for an error whose method panics: host errors are foreign code (RUN-24).
func ErrorText(err error) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("%T cannot be shown: %v", err, p)
		}
	}()
	return err.Error()
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}
