package bridge

// This file defines the Bridge, its options, and how it follows the engine it is given.

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/sdkgen"
)

// DefaultMaxParallelSubCalls is how many sub-calls of one run may have their bodies running at once by default.
const DefaultMaxParallelSubCalls = 10

// Options configures a [Bridge]. The zero value is useful for a deployment that presents natively; code modes need an Engine.
type Options struct {
	// Engine runs the programs. It stays the caller's: the bridge never closes it. Nil is allowed, also for good: native agents
	// need none, and [Bridge.SetEngine] can supply one later.
	Engine runtime.Engine

	// MaxParallelSubCalls bounds the sub-calls of one run whose bodies run at once; 1 is strictly serial. 0 means
	// DefaultMaxParallelSubCalls.
	MaxParallelSubCalls int

	// SDK tunes the generated declarations.
	SDK sdkgen.Options

	// SDKs remembers the declarations of the views that prompts and runs have seen lately. Who makes declarations of the same
	// tools elsewhere can share one. Nil: the bridge has one of its own.
	SDKs *sdkgen.Cache

	// Check, if set, is asked about each TypeScript program before anything of it runs. It stays the caller's.
	Check Checker

	// PerRun, if set, is asked at the start of each run for what the harness sets for it and wants to see of it. ctx is the
	// call's, with the values that whoever called the registry put into it; x is the execution of run_code, whose arguments
	// hold the program.
	PerRun func(ctx context.Context, x registry.Execution) RunOptions

	// Logger gets warnings about contained faults of hooks. Nil is slog.Default().
	Logger *slog.Logger
}

// RunOptions is what a harness sets for one run, and what it wants to see of it. All fields may be left zero.
//
// The functions are called one at a time, never concurrently with each other. The run waits for them, so they must be quick
// and must not call the registry's Execute. A panic in one is contained and logged.
type RunOptions struct {
	Seed    uint64           // of the program's randomness; 0 has one chosen, of those that a JSON number holds exactly
	Start   time.Time        // of the program's clock; zero is now
	Globals []runtime.Global // frozen values beside tools
	Wall    time.Duration    // shortens the engine's wall-clock budget; 0 leaves it as it is

	// OnLog receives each log entry as the program emits it.
	OnLog func(text string)
	// OnTurn receives what woke the event loop.
	OnTurn func(runtime.Turn)
	// OnEvent receives the two events of each sub-call. A run of a call without an agent has none (SUB-12).
	OnEvent func(Event)
	// OnOutcome receives the whole outcome, once, after everything else of the run and before run_code returns. It is not
	// called when it came to no run: blank description, no engine.
	OnOutcome func(Outcome)
}

// Outcome is everything that is known of one run when it is over.
type Outcome struct {
	// Result is the engine's: value or failure with its position, logs, usage, seed.
	Result runtime.Result

	// Err is set, and Result empty, when the engine returned an error instead of a result (CODE-16), or when the scheduling
	// of sub-calls itself broke.
	Err error

	// Calls is the effect ledger: all numbered sub-calls in the order of their submission. Never nil.
	Calls []Call

	// Language and Isolation are the engine's labels.
	Language, Isolation string

	// Start is when the engine was asked, the origin for the times of Calls. End is when the last sub-call had settled.
	Start, End time.Time
}

// Bridge implements [registry.Transport]. It is safe for concurrent use and may serve several registries.
type Bridge struct {
	o    Options
	logs logListeners

	mu     sync.Mutex
	engine runtime.Engine

	// prompted remembers for which language an agent's prompt was last assembled, by a hash of the agent's key, so that the
	// memory keeps no agent alive. At promptedLimit it starts afresh: forgetting costs a courtesy check and nothing else.
	prompted map[uint64]string
	seed     maphash.Seed

	// definition is the last one made, for whom it was made.
	definition         registry.Definition
	definitionRegistry *registry.Registry
	definitionLanguage string
}

const promptedLimit = 1 << 16

var _ registry.Transport = (*Bridge)(nil)

// New returns a Bridge. It fails on a negative MaxParallelSubCalls.
func New(o Options) (*Bridge, error) {
	switch {
	case o.MaxParallelSubCalls < 0:
		return nil, errors.New("maxParallelSubCalls must be a positive integer") // SUB-16
	case o.MaxParallelSubCalls == 0:
		o.MaxParallelSubCalls = DefaultMaxParallelSubCalls
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.SDKs == nil {
		o.SDKs = new(sdkgen.Cache)
	}
	return &Bridge{o: o, engine: o.Engine, prompted: make(map[uint64]string), seed: maphash.MakeSeed()}, nil
}

// SetEngine replaces the engine, for schemas read, prompts assembled and programs run from now on; runs that have begun keep
// theirs. Nil takes it away.
func (b *Bridge) SetEngine(e runtime.Engine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.engine = e
}

// currentEngine returns the engine to use now, or nil. It is looked up when it is needed, never kept (CODE-11).
func (b *Bridge) currentEngine() runtime.Engine {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.engine
}

func (b *Bridge) rememberPrompt(agent registry.AgentKey, language string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.prompted) >= promptedLimit {
		clear(b.prompted)
	}
	b.prompted[b.agentHash(agent)] = language
}

// promptLanguage returns the language of the agent's last prompt, or "" when none is remembered.
func (b *Bridge) promptLanguage(agent registry.AgentKey) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.prompted[b.agentHash(agent)]
}

func (b *Bridge) agentHash(agent registry.AgentKey) uint64 {
	if agent == nil || !reflect.ValueOf(agent).Comparable() {
		return 0 // the registry takes such a key for no agent
	}
	return maphash.Comparable(b.seed, agent)
}

// SDKTools returns the input of the SDK generator for a view of tools.
func SDKTools(view []registry.Definition) []sdkgen.Tool {
	tools := make([]sdkgen.Tool, len(view))
	for i, d := range view {
		tools[i] = sdkgen.Tool{Name: d.Name, Description: d.Description, Parameters: d.Parameters, Output: d.Output.Schema, SDKOutput: d.SDKOutput}
	}
	return tools
}
