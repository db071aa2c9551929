package runtimetest

// This file defines the host functions that the suite's programs call.

import (
	"context"
	"errors"
	"flag"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// host holds the functions of one test and what became of them.
type host struct {
	mu    sync.Mutex
	names []string        // of the functions called, in order
	args  []jsonval.Value // of the calls
	open  chan struct{}   // ends the functions that wait
	ended chan struct{}   // a value for each handler's context that ended
	once  sync.Once
}

func newHost() *host {
	return &host{open: make(chan struct{}), ended: make(chan struct{}, 100)}
}

func (h *host) close() { h.once.Do(func() { close(h.open) }) }

func (h *host) called() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.names)
}

func (h *host) arguments() []jsonval.Value {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.args)
}

// function makes one function that is recorded when it is called.
func (h *host) function(name string, f func(ctx context.Context, arg jsonval.Value) (any, error)) runtime.Function {
	inner := runtime.Go(f)
	return runtime.Function{Name: name, Call: func(ctx context.Context, arg jsonval.Value, reply func(any, error)) {
		h.mu.Lock()
		h.names = append(h.names, name)
		h.args = append(h.args, arg)
		h.mu.Unlock()
		inner(ctx, arg, reply)
	}}
}

var errRow = errors.New("no such row")

// namespaces are the tools that programs of the suite have.
func (h *host) namespaces() []runtime.Namespace {
	echo := func(_ context.Context, arg jsonval.Value) (any, error) { return arg, nil }
	return []runtime.Namespace{{
		Global:     "tools",
		ErrorClass: &runtime.ErrorClass{Name: "ToolCallError", MemberProperty: "toolName"},
		Functions: []runtime.Function{
			h.function("echo", echo),
			h.function("fail", func(context.Context, jsonval.Value) (any, error) { return nil, errRow }),
			h.function("panic", func(context.Context, jsonval.Value) (any, error) { panic("host bug") }),
			h.function("wait", func(ctx context.Context, arg jsonval.Value) (any, error) {
				ms, _ := arg.Get("ms")
				select {
				case <-time.After(time.Duration(ms.Float()) * time.Millisecond):
				case <-ctx.Done():
				}
				return arg, nil
			}),
			h.function("never", func(ctx context.Context, _ jsonval.Value) (any, error) {
				select {
				case <-ctx.Done():
					h.ended <- struct{}{}
				case <-h.open:
				}
				return nil, ctx.Err()
			}),
			h.function("__proto__", func(context.Context, jsonval.Value) (any, error) { return "proto", nil }),
			h.function("constructor", func(context.Context, jsonval.Value) (any, error) { return "made", nil }),
			h.function("a b", echo),
			h.function("", echo),
			h.function("é", echo),
			h.function("then", echo),
		},
	}, {
		Global: "plain",
		Functions: []runtime.Function{
			h.function("echo", echo),
			h.function("fail", func(context.Context, jsonval.Value) (any, error) { return nil, errRow }),
		},
	}}
}

// result returns a request's change that adds a namespace host with one function get, whose result is v.
func result(v any) func(*runtime.Request) {
	return func(r *runtime.Request) {
		r.Namespaces = append(r.Namespaces, runtime.Namespace{Global: "host", Functions: []runtime.Function{{
			Name: "get",
			Call: runtime.Go(func(context.Context, jsonval.Value) (any, error) { return v, nil }),
		}}})
	}
}

func flagValue(name string) string {
	f := flag.Lookup(name)
	if f == nil {
		return ""
	}
	return f.Value.String()
}
