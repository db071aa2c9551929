package exectools

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// constant reads the bodies result and error (TOOLS-5): tools for trying out, for tests, for teaching.
func (e *entry) constant() body {
	delay := time.Duration(e.nonNegativeInteger("delayMs")) * time.Millisecond
	if v, ok := e.value.Get("error"); ok {
		if !v.IsString() || v.Str() == "" {
			e.add(e.key+".error", "must be the text of the failure, got %s", shown(v))
		}
		return after(delay, nil, errors.New(v.Str()))
	}
	v, _ := e.value.Get("result")
	if compiled, err := schema.Compile(e.output); err == nil && v.Exists() {
		if misfits := schema.Validate(compiled, v, "value"); len(misfits) > 0 {
			e.add(e.key+".result", "does not match output: %s", strings.Join(misfits, "; "))
		}
	}
	return after(delay, v, nil)
}

func (e *entry) nonNegativeInteger(key string) int64 {
	if v, ok := e.value.Get(key); ok && v.IsNumber() && v.Float() == 0 {
		return 0
	}
	return e.positiveInteger(key)
}

// after waits and then gives its outcome, unless the call is cancelled before.
func after(delay time.Duration, value any, err error) body {
	return func(ctx context.Context, _ jsonval.Value) (any, error) {
		if delay > 0 {
			timer := time.NewTimer(delay)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return nil, errAborted()
			}
		}
		return value, err
	}
}

func errAborted() error {
	return registry.Coded("AbortError", registry.CodeAborted, "the call was cancelled")
}
