package bridge

// This file defines the body of run_code: one program, its bindings, and the settling of everything it started (CODE-8 to
// CODE-19).

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// The names under which a program reaches its tools and their failures.
const (
	namespaceTools     = "tools"
	errorClass         = "ToolCallError"
	errorClassProperty = "toolName"
)

// programFile is the name of the model's text in positions (RUN-39).
const programFile = "program.ts"

// maxSeed is the largest seed that a log or a command line can repeat: what a JSON number holds exactly.
const maxSeed = 1<<53 - 1

// errSettled ends a run's context when the engine has returned (CODE-15).
var errSettled = errors.New("run_code settled")

// run is one program on its way. It is one operation, so it holds its context.
type run struct {
	ctx   context.Context // ends with the outer call's, or with errSettled
	outer registry.Execution
	call  *registry.Run
	lane  *registry.Lane

	watch     *watcher
	ledger    ledger
	record    *recorder
	listeners *logListeners
	outerCtx  context.Context // log listeners work under it: they go on when the program has ended
}

// execute runs a program and returns the canonical value {logs, result?}.
func (b *Bridge) execute(ctx context.Context, reg *registry.Registry, args runArgs, call *registry.Run) (jsonval.Value, error) {
	outer := call.Execution()
	engine, err := b.admit(reg.Mode(outer.Agent()), outer.Agent(), args)
	if err != nil {
		return jsonval.Value{}, err
	}
	view := reg.Visible(outer.Agent())
	more, err := b.discovery(engine.Language(), view)
	if err != nil {
		return jsonval.Value{}, err
	}

	var o RunOptions
	if b.o.PerRun != nil {
		o = b.o.PerRun(ctx, outer)
	}
	if o.Seed == 0 {
		o.Seed = 1 + rand.Uint64N(maxSeed)
	}
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(errSettled)
	lane, err := reg.NewLane(runCtx, registry.LaneOptions{MaxParallel: b.o.MaxParallelSubCalls})
	if err != nil {
		return jsonval.Value{}, err
	}
	r := &run{
		ctx: runCtx, outerCtx: ctx, outer: outer, call: call, lane: lane,
		watch:     &watcher{o: o, logger: b.o.Logger},
		record:    newRecorder(b.o.MaxParallelSubCalls),
		listeners: &b.logs,
	}
	outcome := Outcome{Language: engine.Language(), Isolation: engine.Isolation(), Start: time.Now()}
	req := r.request(args.Code, o, view, more)
	if refused := b.refusal(runCtx, engine, req, view); refused != nil {
		outcome.Result = runtime.Result{Logs: []string{}, Error: refused, Seed: o.Seed}
	} else {
		outcome.Result, outcome.Err = runEngine(runCtx, engine, req)
	}
	cancel(errSettled)
	lane.Drain()
	r.record.wait()
	if err := lane.Err(); err != nil && outcome.Err == nil { // SCHED-14: no outcome is made up for a broken lane
		outcome.Result, outcome.Err = runtime.Result{}, err
	}
	outcome.End = time.Now()
	outcome.Calls = r.ledger.list()
	r.watch.outcome(outcome)
	return conclude(outcome)
}

// admit returns the engine for a call, or why no program runs (CODE-9).
func (b *Bridge) admit(mode registry.Mode, agent registry.AgentKey, args runArgs) (runtime.Engine, error) {
	if strings.TrimFunc(args.Description, isSpace) == "" {
		return nil, errors.New("description must not be blank") // CODE-3
	}
	engine, err := b.engineFor(mode)
	if err != nil {
		return nil, err
	}
	if told := b.promptLanguage(agent); told != "" && told != engine.Language() { // CODE-11
		return nil, fmt.Errorf("the prompt was assembled for programs in %q, but the code runtime now takes %q: assemble the prompt again", told, engine.Language())
	}
	return engine, nil
}

// request builds what the engine gets. view is frozen here: a tool registered later is not bound in this run (CODE-12).
func (r *run) request(program string, o RunOptions, view []registry.Definition, more []runtime.Namespace) runtime.Request {
	functions := make([]runtime.Function, len(view))
	for i, d := range view {
		functions[i] = runtime.Function{Name: d.Name, Call: r.handler(d.Name)}
	}
	return runtime.Request{
		Program: program,
		Namespaces: append([]runtime.Namespace{{
			Global:     namespaceTools,
			Functions:  functions,
			ErrorClass: &runtime.ErrorClass{Name: errorClass, MemberProperty: errorClassProperty},
		}}, more...),
		Globals: o.Globals,
		Seed:    o.Seed,
		Start:   o.Start,
		Wall:    max(o.Wall, 0),
		OnLog:   r.watch.onLog(),
		OnTurn:  r.watch.onTurn(),
		Unwrap:  true, // CODE-33
	}
}

// runEngine calls an engine that may be anybody's: a panic of it must not leave sub-calls unsettled.
func runEngine(ctx context.Context, engine runtime.Engine, req runtime.Request) (result runtime.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = runtime.Result{}, fmt.Errorf("the code runtime panicked: %v", p)
		}
	}()
	result, err = engine.Run(ctx, req)
	if err != nil {
		result = runtime.Result{}
	}
	return result, err
}

// conclude turns an outcome into run_code's value or failure.
func conclude(o Outcome) (jsonval.Value, error) {
	if o.Err != nil {
		return jsonval.Value{}, o.Err // CODE-16
	}
	if o.Result.Error != nil {
		return jsonval.Value{}, registry.Coded("CodeRunFailedError", "CODE_RUN_FAILED", FailureText(o))
	}
	logs := make([]jsonval.Value, len(o.Result.Logs))
	for i, entry := range o.Result.Logs {
		logs[i] = jsonval.Text(entry)
	}
	members := []jsonval.Member{{Name: "logs", Value: jsonval.Array(logs...)}}
	if o.Result.Value.Exists() {
		members = append(members, jsonval.Member{Name: "result", Value: o.Result.Value})
	}
	return jsonval.Object(members...), nil
}

// FailureText returns what a model is told of a run that failed: kind and message, everything the program had printed, and, if
// it had called tools, what became of the calls (CODE-22, CLI-9). It is empty for a run that completed.
func FailureText(o Outcome) string {
	failure := o.Result.Error
	if failure == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "program failed (%s): %s", failure.Kind, failure.Message)
	if failure.Kind == runtime.WorkerExit && failure.Line > 0 { // an uncaught error, whose message has no position (RUN-46)
		fmt.Fprintf(&b, "\n    at %s:%d:%d", programFile, failure.Line, failure.Column)
	}
	if len(o.Result.Logs) > 0 {
		b.WriteString("\nOutput before the failure:\n")
		b.WriteString(strings.Join(o.Result.Logs, "\n"))
	}
	if effects := EffectSummary(o.Calls); len(effects) > 0 {
		b.WriteString("\nCalls before the failure, which are not undone:\n")
		b.WriteString(strings.Join(effects, "\n"))
	}
	return b.String()
}

// isSpace is the white space of JavaScript's trim, for which a no-break space at the start of a file is blank too.
func isSpace(r rune) bool { return unicode.IsSpace(r) && r != 0x85 || r == 0xfeff }
