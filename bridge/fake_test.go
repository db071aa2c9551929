package bridge_test

// This file is the scripted engine that most tests here use, and the tools and recorders around it. A Go function stands in for
// the program, so that a test decides exactly when the program calls, waits and returns.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// patience bounds every wait of a test: what has not happened by then never will.
const patience = 20 * time.Second

// scripted is an engine whose programs are Go functions.
type scripted struct {
	language string
	program  func(ctx context.Context, p *program) (runtime.Result, error)
	runs     int
}

func (e *scripted) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	e.runs++
	return e.program(ctx, &program{req: req})
}

func (e *scripted) Language() string {
	if e.language == "" {
		return "typescript"
	}
	return e.language
}
func (e *scripted) Isolation() string           { return "scripted" }
func (e *scripted) Close(context.Context) error { return nil }

// program is what a scripted program sees.
type program struct{ req runtime.Request }

// names returns the members of tools.
func (p *program) names() []string {
	var names []string
	for _, f := range p.req.Namespaces[0].Functions {
		names = append(names, f.Name)
	}
	return names
}

// call is tools[name](args): it returns at once.
func (p *program) call(name string, args any) *promise {
	q := &promise{settled: make(chan struct{})}
	arg := jsonval.Value{}
	if args != nil {
		arg = jsonval.MustOf(args)
	}
	for _, f := range p.req.Namespaces[0].Functions {
		if f.Name == name {
			f.Call(context.Background(), arg, q.settle)
			return q
		}
	}
	q.settle(nil, errors.New(runtime.MessageNoBinding("tools", name)))
	return q
}

// promise is one call on its way.
type promise struct {
	once    sync.Once
	settled chan struct{}
	value   jsonval.Value
	err     error
}

func (q *promise) settle(result any, err error) {
	q.once.Do(func() {
		if err == nil {
			q.value, err = jsonval.Of(result)
		}
		q.err = err
		close(q.settled)
	})
}

// wait is await.
func (q *promise) wait(t *testing.T) (jsonval.Value, error) {
	t.Helper()
	select {
	case <-q.settled:
	case <-time.After(patience):
		t.Fatal("the promise never settled")
	}
	return q.value, q.err
}

func (q *promise) isSettled() bool {
	select {
	case <-q.settled:
		return true
	default:
		return false
	}
}

// done is the result of a program that returned a value; nil is no value.
func done(value any, logs ...string) (runtime.Result, error) {
	r := runtime.Result{Logs: append([]string{}, logs...)}
	if value != nil {
		r.Value = jsonval.MustOf(value)
	}
	return r, nil
}

// failed is the result of a program that failed.
func failed(kind runtime.Kind, message string, logs ...string) (runtime.Result, error) {
	return runtime.Result{Logs: append([]string{}, logs...), Error: &runtime.Failure{Kind: kind, Message: message}}, nil
}

// aborted is what an engine returns when its context ends.
func aborted(ctx context.Context) (runtime.Result, error) {
	<-ctx.Done()
	return runtime.Result{Logs: []string{}, Error: runtime.AbortFailure(context.Cause(ctx))}, nil
}

// world is a registry with a bridge over a scripted engine, and what was seen of its runs.
type world struct {
	t      *testing.T
	engine *scripted
	bridge *bridge.Bridge
	reg    *registry.Registry
	trail  *trail

	mu       sync.Mutex
	events   []bridge.Event
	logs     []string
	outcomes []bridge.Outcome
	warnings strings.Builder
}

type worldOption func(*bridge.Options, *registry.Options)

func parallel(n int) worldOption {
	return func(b *bridge.Options, _ *registry.Options) { b.MaxParallelSubCalls = n }
}

func mode(m registry.Mode) worldOption {
	return func(_ *bridge.Options, r *registry.Options) { r.Mode = m }
}

const agent = "agent"

func newWorld(t *testing.T, program func(ctx context.Context, p *program) (runtime.Result, error), options ...worldOption) *world {
	t.Helper()
	w := &world{t: t, engine: &scripted{program: program}, trail: &trail{}}
	logger := slog.New(slog.NewTextHandler(lockedWriter{w}, nil))
	bo := bridge.Options{Engine: w.engine, Logger: logger, PerRun: func(context.Context, registry.Execution) bridge.RunOptions {
		return bridge.RunOptions{
			OnEvent: func(e bridge.Event) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.events = append(w.events, e)
			},
			OnLog:     func(text string) { w.mu.Lock(); defer w.mu.Unlock(); w.logs = append(w.logs, text) },
			OnOutcome: func(o bridge.Outcome) { w.mu.Lock(); defer w.mu.Unlock(); w.outcomes = append(w.outcomes, o) },
		}
	}}
	ro := registry.Options{Mode: registry.Code, Logger: logger}
	for _, o := range options {
		o(&bo, &ro)
	}
	var err error
	if w.bridge, err = bridge.New(bo); err != nil {
		t.Fatal(err)
	}
	ro.Transport = w.bridge
	if w.reg, err = registry.New(ro); err != nil {
		t.Fatal(err)
	}
	if _, err := w.reg.Scope(agent, nil); err != nil {
		t.Fatal(err)
	}
	return w
}

// lockedWriter collects what is logged.
type lockedWriter struct{ w *world }

func (l lockedWriter) Write(p []byte) (int, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.w.warnings.Write(p)
}

// run executes run_code for the agent as a direct call with id "c".
func (w *world) run() registry.Result { return w.runContext(context.Background()) }

func (w *world) runContext(ctx context.Context) registry.Result {
	return w.reg.Execute(ctx, runCall(agent))
}

func runCall(agent registry.AgentKey) registry.Call {
	return registry.Call{ID: "c", Name: registry.RunCode, Agent: agent, Arguments: map[string]any{"code": "scripted", "description": "Runs a test"}}
}

// eventLine is one event in a form that tests compare: start or end, the call's number, and for an end whether it failed.
func eventLine(e bridge.Event) string {
	switch e := e.(type) {
	case *bridge.DispatchStart:
		return "start " + e.SubCallID
	case *bridge.Dispatch:
		if e.IsError {
			return "error " + e.SubCallID
		}
		return "end " + e.SubCallID
	}
	return fmt.Sprintf("%T", e)
}

func (w *world) eventLines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, e := range w.events {
		lines = append(lines, eventLine(e))
	}
	return lines
}

// outcome returns the outcome of the one run so far.
func (w *world) outcome() bridge.Outcome {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.outcomes) != 1 {
		w.t.Fatalf("%d outcomes were reported, want 1", len(w.outcomes))
	}
	return w.outcomes[0]
}

// states are the ledger's states in order.
func (w *world) states() []bridge.CallState {
	w.t.Helper()
	var states []bridge.CallState
	for _, c := range w.outcome().Calls {
		states = append(states, c.State)
	}
	return states
}

// trail is a list of things that happened, in order, that a test can wait on.
type trail struct {
	mu     sync.Mutex
	steps  []string
	waiter chan struct{}
}

func (tr *trail) add(step string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.steps = append(tr.steps, step)
	if tr.waiter != nil {
		close(tr.waiter)
		tr.waiter = nil
	}
}

func (tr *trail) list() []string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.steps)
}

// await returns when step has happened.
func (tr *trail) await(t *testing.T, step string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		tr.mu.Lock()
		if slices.Contains(tr.steps, step) {
			tr.mu.Unlock()
			return
		}
		if tr.waiter == nil {
			tr.waiter = make(chan struct{})
		}
		waiter := tr.waiter
		tr.mu.Unlock()
		select {
		case <-waiter:
		case <-deadline:
			t.Fatalf("%q never happened; what did: %q", step, tr.list())
		}
	}
}

// open is a schema that everything satisfies; anyObject is one for arguments.
var (
	anything  = jsonval.MustOf(map[string]any{})
	anyObject = jsonval.MustOf(map[string]any{"type": "object"})
)

// tool registers a tool whose body is f; it renders its value as compact JSON.
func (w *world) tool(name string, f func(ctx context.Context, args jsonval.Value, run *registry.Run) (any, error), change ...func(*registry.Definition)) (dispose func()) {
	w.t.Helper()
	d := registry.Definition{
		Name: name, Description: "A tool of the tests.", Parameters: anyObject,
		Output: registry.Output{Schema: anything, Render: func(_, value jsonval.Value) ([]registry.Block, error) {
			return []registry.Block{registry.Text(value.String())}, nil
		}},
		Execute: f,
	}
	for _, c := range change {
		c(&d)
	}
	dispose, err := w.reg.Register(d)
	if err != nil {
		w.t.Fatal(err)
	}
	return dispose
}

// safe makes a tool safe to run beside others.
func safe(d *registry.Definition) { d.ConcurrencySafe = func(jsonval.Value) bool { return true } }

// echo returns its arguments.
func (w *world) echo(name string, change ...func(*registry.Definition)) {
	w.tool(name, func(_ context.Context, args jsonval.Value, _ *registry.Run) (any, error) { return args, nil }, change...)
}

// gated registers a tool each call of which waits at a gate of its own, chosen by the member "n" of its arguments. It leaves
// "body <name> <n>" in the trail when it is entered and "left <name> <n>" when it returns. It returns n.
type gated struct {
	w    *world
	name string
	mu   sync.Mutex
	open map[float64]chan struct{}
	// obeys makes a body return ctx.Err() when its context ends.
	obeys bool
}

func (w *world) gated(name string, obeys bool, change ...func(*registry.Definition)) *gated {
	g := &gated{w: w, name: name, open: make(map[float64]chan struct{}), obeys: obeys}
	w.tool(name, func(ctx context.Context, args jsonval.Value, _ *registry.Run) (any, error) {
		n, _ := args.Get("n")
		w.trail.add(fmt.Sprintf("body %s %v", name, n.Float()))
		defer w.trail.add(fmt.Sprintf("left %s %v", name, n.Float()))
		var ended <-chan struct{}
		if g.obeys {
			ended = ctx.Done()
		}
		select {
		case <-g.gate(n.Float()):
			return n, nil
		case <-ended:
			return nil, ctx.Err()
		case <-time.After(patience):
			return nil, errors.New("nobody opened the gate")
		}
	}, change...)
	return g
}

func (g *gated) gate(n float64) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[n] == nil {
		g.open[n] = make(chan struct{})
	}
	return g.open[n]
}

func (g *gated) release(n float64) { close(g.gate(n)) }

func (g *gated) entered(n float64) { g.w.trail.await(g.w.t, fmt.Sprintf("body %s %v", g.name, n)) }

func (g *gated) left(n float64) { g.w.trail.await(g.w.t, fmt.Sprintf("left %s %v", g.name, n)) }

func n(i int) map[string]any { return map[string]any{"n": i} }

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func textOf(t *testing.T, r registry.Result) string {
	t.Helper()
	content := r.Content()
	if len(content) != 1 || content[0].Type() != "text" {
		t.Fatalf("content is %v, want one text block", content)
	}
	return content[0].Text()
}
