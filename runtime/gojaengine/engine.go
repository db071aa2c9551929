package gojaengine

import (
	"context"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
)

// Options configures an engine. The zero value is useful.
type Options struct {
	// Limits are the budgets of each run. Heap bounds only what calls and timers hold outside of the program (BUDGET-9).
	Limits runtime.Limits
}

// Engine is a runtime.Engine on goja. It is safe for concurrent use.
type Engine struct {
	life    loop.Life
	service loop.Service

	// Parsed once, evaluated in each instance.
	shim, prelude *goja.Program
}

var _ runtime.Engine = (*Engine)(nil)

// New returns an engine. The error names the limit that is out of range.
func New(o Options) (*Engine, error) {
	if err := o.Limits.Validate(); err != nil {
		return nil, err
	}
	shim, err := compile(shimName, shimSource)
	if err != nil {
		return nil, err
	}
	prelude, err := compile(loop.PreludeName, loop.Prelude)
	if err != nil {
		return nil, err
	}
	e := &Engine{shim: shim, prelude: prelude}
	e.service = loop.Service{
		Life:        &e.life,
		Limits:      o.Limits.WithDefaults(),
		Transformer: runtime.NewTransformer(runtime.TransformOptions{Target: runtime.Target{AsyncGenerators: true}}),
		NewGuest:    e.newGuest,
		Detach:      true,
	}
	return e, nil
}

// Run runs one program; see runtime.Engine.
func (e *Engine) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	return e.service.Run(ctx, req)
}

// Language returns "typescript".
func (e *Engine) Language() string { return runtime.LanguageTypeScript }

// Isolation returns "in-process": there is none.
func (e *Engine) Isolation() string { return runtime.IsolationInProcess }

// Close ends all runs and waits until every goroutine of theirs has noticed, which a native operation can delay for as
// long as it takes; ctx bounds the wait.
func (e *Engine) Close(ctx context.Context) error { return e.life.Close(ctx) }
