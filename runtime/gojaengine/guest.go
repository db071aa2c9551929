package gojaengine

// This file defines one instance of goja as the loop's guest.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/runcode-go/runcode/runtime/internal/loop"
)

// maxCallDepth bounds calls within calls, to about what the other engine's stack holds. Calls between functions of the
// program take no stack of Go's, but those that go through a built-in or a getter do, some kilobytes each, and to leave them
// by an exception takes time that grows with the square of their number: 3 s for 10,000.
const maxCallDepth = 4000

// guest is one goja runtime. Apart from Interrupt, its methods are called by one goroutine.
type guest struct {
	host *loop.Run
	vm   *goja.Runtime

	configure, start, settle, fire, unhandled goja.Callable

	// rejected holds the promises that were rejected without a handler since the queue was last empty, in order.
	rejected []*goja.Promise
}

func (e *Engine) newGuest(_ context.Context, host *loop.Run) (loop.Guest, error) {
	g := &guest{host: host, vm: goja.New()}
	g.vm.SetMaxCallStackSize(maxCallDepth)
	g.vm.SetTimeSource(func() time.Time { return host.Clock() })
	g.vm.SetParserOptions(parser.WithDisableSourceMaps)
	g.vm.SetPromiseRejectionTracker(g.track)
	if err := g.boot(e.shim, e.prelude); err != nil {
		return nil, err
	}
	return g, nil
}

// boot evaluates what stands before every program.
func (g *guest) boot(shim, prelude *goja.Program) error {
	first, err := g.vm.RunProgram(shim)
	if err != nil {
		return err
	}
	install, _ := goja.AssertFunction(first)
	if _, err := install(goja.Undefined(), g.vm.ToValue(nestsDeeply), g.vm.ToValue(localIsUTC())); err != nil {
		return err
	}
	made, err := g.vm.RunProgram(prelude)
	if err != nil {
		return err
	}
	connect, _ := goja.AssertFunction(made)
	api, err := connect(goja.Undefined(), g.vm.ToValue(g.receive))
	if err != nil {
		return err
	}
	for name, to := range map[string]*goja.Callable{
		"configure": &g.configure, "start": &g.start, "settle": &g.settle, "fire": &g.fire, "unhandled": &g.unhandled,
	} {
		f, ok := goja.AssertFunction(api.ToObject(g.vm).Get(name))
		if !ok {
			return fmt.Errorf("the prelude has no function %s", name)
		}
		*to = f
	}
	return nil
}

// receive is the one native function of the prelude.
func (g *guest) receive(call goja.FunctionCall) goja.Value {
	op, ok := numberOf(call.Argument(0))
	if !ok {
		return goja.Undefined()
	}
	switch loop.Op(op) {
	case loop.OpBrand:
		if name := brandOf(call.Argument(3)); name != "" {
			return g.vm.ToValue(name)
		}
		return goja.Undefined()
	case loop.OpTarget:
		if target := targetOf(call.Argument(3)); target != nil {
			return target
		}
		return goja.Undefined()
	}
	f := loop.Frame{Op: loop.Op(op)}
	var okN, okM, okA, okB bool
	f.N, okN = numberOf(call.Argument(1))
	f.M, okM = numberOf(call.Argument(2))
	f.A, okA = stringOf(call.Argument(3))
	f.B, okB = stringOf(call.Argument(4))
	if okN && okM && okA && okB {
		if reply, ok := g.host.Receive(f); ok {
			return g.vm.ToValue(reply)
		}
	}
	return goja.Undefined()
}

// numberOf reads a number; a missing one is 0. It converts nothing: a conversion could run the program's code.
func numberOf(v goja.Value) (float64, bool) {
	if goja.IsUndefined(v) {
		return 0, true
	}
	if !goja.IsNumber(v) {
		return 0, false
	}
	return v.ToFloat(), true
}

func stringOf(v goja.Value) (string, bool) {
	if goja.IsUndefined(v) {
		return "", true
	}
	if !goja.IsString(v) {
		return "", false
	}
	return v.String(), true
}

func (g *guest) track(p *goja.Promise, operation goja.PromiseRejectionOperation) {
	if operation == goja.PromiseRejectionReject {
		g.rejected = append(g.rejected, p)
		return
	}
	for i, q := range g.rejected {
		if q == p {
			g.rejected = append(g.rejected[:i], g.rejected[i+1:]...)
			return
		}
	}
}

// Configure calls the prelude's configure.
func (g *guest) Configure(config string) error {
	return g.call(g.configure, g.vm.ToValue(config))
}

// Start evaluates the program's code and starts the function that it is.
func (g *guest) Start(js string) error {
	program, err := compile(loop.FileName, js)
	if err != nil {
		return programError(err)
	}
	f, err := g.vm.RunProgram(program)
	if err != nil {
		return g.classify(err)
	}
	return g.call(g.start, f)
}

// Settle calls the prelude's settle.
func (g *guest) Settle(id uint32, ok bool, payload string) error {
	return g.call(g.settle, g.vm.ToValue(id), g.vm.ToValue(ok), g.vm.ToValue(payload), g.vm.ToValue(ok && nestsDeeply(payload)))
}

// Fire calls the prelude's fire.
func (g *guest) Fire(timer uint32) error { return g.call(g.fire, g.vm.ToValue(timer)) }

// Jobs reports unhandled rejections: goja itself has emptied its queue before a call returns.
func (g *guest) Jobs() error {
	for len(g.rejected) > 0 && !g.host.Ended() {
		p := g.rejected[0]
		g.rejected = g.rejected[1:]
		if err := g.call(g.unhandled, p.Result()); err != nil {
			return err
		}
	}
	return nil
}

// HeapBytes returns 0: goja's values are the process's.
func (g *guest) HeapBytes() int64 { return 0 }

// Steps returns 0: goja does not count.
func (g *guest) Steps() int64 { return 0 }

// Close has nothing to do: the collector takes a runtime that nobody holds.
func (g *guest) Close() {}

// Interrupt has the runtime stop at its next instruction.
func (g *guest) Interrupt() { g.vm.Interrupt(loop.ErrStopped) }

// call calls one of the prelude's functions, which throw nothing.
func (g *guest) call(f goja.Callable, arguments ...goja.Value) (err error) {
	defer func() {
		// goja passes on what it does not know, so raw Go panics of its own included.
		if p := recover(); p != nil {
			err = fmt.Errorf("goja: %v", p)
		}
	}()
	_, err = f(goja.Undefined(), arguments...)
	return g.classify(err)
}

func (g *guest) classify(err error) error {
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &interrupted):
		return loop.ErrStopped
	case errors.As(err, &overflow):
		return &loop.ProgramError{Message: loop.StackMessage, Stack: framesText(overflow.Stack())}
	}
	return err
}

// framesText writes frames as goja writes them into an error's stack.
func framesText(frames []goja.StackFrame) string {
	const enough = 50 // of thousands
	var b strings.Builder
	for _, f := range frames[:min(len(frames), enough)] {
		p := f.Position()
		fmt.Fprintf(&b, "\tat %s (%s:%d:%d)\n", f.FuncName(), f.SrcName(), p.Line, p.Column)
	}
	return b.String()
}

// compile parses and compiles a script in strict mode. A source map comment in it is not followed: goja would read a file.
func compile(name, source string) (*goja.Program, error) {
	tree, err := parser.ParseFile(nil, name, source, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(tree, true)
}

// programError says where goja could not parse what the transform had accepted.
func programError(err error) error {
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return &loop.ProgramError{Message: "SyntaxError: " + list[0].Message, Line: list[0].Position.Line, Column: list[0].Position.Column}
	}
	var syntax *goja.CompilerSyntaxError
	if errors.As(err, &syntax) && syntax.File != nil {
		p := syntax.File.Position(syntax.Offset)
		return &loop.ProgramError{Message: "SyntaxError: " + syntax.Message, Line: p.Line, Column: p.Column}
	}
	return &loop.ProgramError{Message: "SyntaxError: " + err.Error()}
}
