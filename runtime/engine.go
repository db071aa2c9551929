package runtime

import (
	"context"
	"time"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Engine runs programs. All methods are safe for concurrent use; runs are independent of each other and may overlap.
type Engine interface {
	// Run runs one program to its end. Every outcome of the program is a Result, failures included; the error is
	// non-nil only when the caller broke the contract, and is then a [*MisuseError] (RUN-6). When ctx ends, its
	// deadline included, the run fails as [Abort] with the text of context.Cause(ctx).
	//
	// When Run returns, the program's instance has been stopped and can emit nothing more (RUN-11). Host functions
	// that it started may still be working: see [Handler].
	Run(ctx context.Context, req Request) (Result, error)

	// Language is the source language programs must be written in: "typescript" (RUN-2).
	Language() string

	// Isolation is a label for deployments and logs, "wasm" or "in-process". It is no security promise (RUN-3).
	Isolation() string

	// Close ends all running programs as [Abort], refuses new ones, and returns when every instance has been released
	// or ctx ends, with ctx's error then. It may be called more than once (RUN-40).
	Close(ctx context.Context) error
}

// The values of [Engine.Language] and [Engine.Isolation].
const (
	LanguageTypeScript = "typescript"

	IsolationWasm      = "wasm"
	IsolationInProcess = "in-process"
)

// Request is everything one run needs. It carries no tuning but Wall: budgets come from the engine's configuration
// (RUN-4). The engine does not change it, and reads it only while Run runs.
type Request struct {
	// Program is TypeScript: the body of an async function in strict mode (RUN-30).
	Program string

	// Namespaces are the objects of host functions that the program sees, in this order.
	Namespaces []Namespace

	// Globals are frozen values that the program sees by name.
	Globals []Global

	// Seed seeds the program's randomness; 0 has the engine choose one. Result.Seed is the one that was used.
	Seed uint64

	// Start is where the program's clock starts; zero is now.
	Start time.Time

	// Wall shortens the wall-clock budget for a caller that will not wait as long as the engine would: the smaller of
	// the two holds (GATE-1). 0 is the engine's limit; a negative one is a misuse.
	Wall time.Duration

	// OnLog receives each log entry as it is admitted, in order, never concurrently. Nil: entries are only in the Result.
	OnLog func(text string)

	// OnTurn receives what woke the event loop, before the program sees it, never concurrently. May be nil.
	OnTurn func(Turn)

	// Unwrap undoes the wrappings that models put round a program (CODE-33).
	Unwrap bool
}

// Global is one frozen JSON value in the program's global scope. Its name obeys the rules of a namespace's (RUN-13).
type Global struct {
	Name  string
	Value jsonval.Value
}

// Turn is one turn of a run's event loop. The sequence of turns is what a replay needs to decide as the run did.
type Turn struct {
	Kind TurnKind

	// ID is the call's number or the timer's.
	ID uint32

	// Clock is what Date.now() answers during this turn.
	Clock time.Time
}

// TurnKind is what woke the event loop.
type TurnKind uint8

const (
	TurnReply TurnKind = iota + 1 // a call was answered
	TurnTimer                     // a timer fired
)

// String returns "reply" or "timer".
func (k TurnKind) String() string {
	switch k {
	case TurnReply:
		return "reply"
	case TurnTimer:
		return "timer"
	}
	return "unknown"
}

// Result is the outcome of one run. Value and Error are never both present.
type Result struct {
	// Value is what the program completed with; absent ([jsonval.Value.Exists] is false) when it returned undefined,
	// which is not the same as null (RUN-5).
	Value jsonval.Value

	// Logs are the admitted entries in the order of their emission. Never nil; present with every kind of failure.
	Logs []string

	// Error is nil when the program completed.
	Error *Failure

	Usage Usage

	// Seed is the seed that the run used.
	Seed uint64
}

// Usage is what a run consumed.
type Usage struct {
	Compute time.Duration // time in which the engine executed the program (BUDGET-3)
	Wall    time.Duration // from the start of the run to its settlement

	HeapBytes   int64 // live heap at the end; 0 = unknown
	OutputBytes int64 // charged by the output ledger (LOG-8)
	Steps       int64 // deterministic count of work; 0 = unknown
}
