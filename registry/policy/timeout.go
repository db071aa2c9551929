// Package policy holds ready-made stages for a registry's pipeline: the time budgets that tools declare, a reminder for
// models that repeat themselves, and an approver. They use only what any listener can use, and each can be left out
// (GUARDS-1, GUARDS-3). The two watchers add nothing that a model sees: no tool, no prompt section, no argument (GUARDS-4).
package policy

import (
	"context"
	"strconv"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// Timeout enforces the budgets that tools declare (TimeoutMs). It counts from the wrapper's entry over the wrappers inside
// of it and the body, and only notifies: a call settles when its body returns, then as TOOL_TIMEOUT (TIMEOUT-15). Wrappers
// that are registered before it are outside of the budget. The function returned removes it; calls in flight finish under it.
func Timeout(r *registry.Registry) (dispose func()) {
	return r.OnExecute(func(ctx context.Context, x registry.Execution, next func(context.Context) (registry.Result, error)) (registry.Result, error) {
		d, ok := r.Get(x.Name(), x.Agent()) // TIMEOUT-4: as the calling agent sees it
		if !ok || d.TimeoutMs == 0 {
			return next(ctx)
		}
		expiry := &expired{ms: d.TimeoutMs}
		ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(d.TimeoutMs)*time.Millisecond, expiry)
		defer cancel()
		result, err := next(ctx)
		if err == nil && context.Cause(ctx) == error(expiry) { // TIMEOUT-8: this timer and no other
			return registry.Fail(expiry), nil
		}
		return result, err
	})
}

// expired is the cause of a context whose budget was used up. Its address is its identity: one for each call.
type expired struct{ ms int64 }

func (e *expired) Error() string {
	return "tool call timed out after " + strconv.FormatInt(e.ms, 10) + "ms"
}

// Name is "ToolTimeoutError".
func (e *expired) Name() string { return "ToolTimeoutError" }

// Code is TOOL_TIMEOUT.
func (e *expired) Code() string { return registry.CodeTimeout }

// Is makes a body that returns the cause of its context look like one that returns its error.
func (e *expired) Is(target error) bool { return target == context.DeadlineExceeded }
