package registry

// This file holds what the pipeline needs beside its stages: the reading of arguments, the fusing of contexts, and the state
// that bodies reach from goroutines of their own.

import (
	"context"
	"errors"
	"reflect"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// taken is a value that has been read already: the arguments of a call that was submitted to a lane, or what a typed tool
// returned.
type taken struct {
	value jsonval.Value
	err   error
}

// take reads the arguments now, so that what the caller does to them later has no effect.
func (c Call) take() Call {
	value, err := c.arguments()
	c.Arguments = taken{value, err}
	return c
}

func (c *Call) arguments() (jsonval.Value, error) {
	return snapshot(c.Arguments)
}

// argumentsError is the failure of arguments that could not be taken in: the message of what raised while they were read
// (JSON-8), or what is lossy about them.
func argumentsError(err error) error {
	if message, yes := unread(err); yes {
		return errors.New(message)
	}
	var lossy *jsonval.Error
	if errors.As(err, &lossy) {
		return errors.New(errLossyArguments.Error() + ": " + lossy.Error())
	}
	return errLossyArguments
}

// fuse joins the caller's cancellation into the context that a wrapper passed on (AROUND-4): what it returns ends when either
// does, with the cause of the first. release must be called when the body has returned; nothing runs after it.
func (c *call) fuse(outer context.Context) (ctx context.Context, release func()) {
	if sameContext(outer, c.ctx) {
		return outer, func() {}
	}
	ctx, cancel := context.WithCancelCause(outer)
	if c.ctx.Err() != nil {
		cancel(context.Cause(c.ctx)) // no effect if the wrapper's has ended too: its cause counts
		return ctx, func() { cancel(nil) }
	}
	hooked := make(chan struct{})
	stop := context.AfterFunc(c.ctx, func() {
		cancel(context.Cause(c.ctx))
		close(hooked)
	})
	return ctx, func() {
		if !stop() {
			<-hooked
		}
		cancel(nil)
	}
}

// sameContext compares without the panic that a context of a type that is not comparable would be.
func sameContext(a, b context.Context) bool {
	t := reflect.TypeOf(a)
	if t != reflect.TypeOf(b) {
		return false
	}
	return (t.Kind() == reflect.Pointer || reflect.ValueOf(a).Comparable()) && a == b
}

// comparableKey reports whether the key can be looked up without a panic.
func comparableKey(key AgentKey) bool { return reflect.ValueOf(key).Comparable() }

func (c *call) deferContexts(contexts ...Context) {
	contexts = copyContexts(contexts)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deferred = append(c.deferred, contexts...)
}

func (c *call) conclude() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.concluding = true
}

func (c *call) concludes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.concluding
}
