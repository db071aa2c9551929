package runtime

// This file defines how a program reaches its host: namespaces of functions, and how a function is served.

import (
	"context"
	"errors"
	"fmt"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Namespace is one object of host functions, reachable in the program by the bare name Global (RUN-18).
type Namespace struct {
	Global    string
	Functions []Function

	// ErrorClass, when set, is the class of every rejection of a member of this namespace (RUN-25). Without it
	// rejections are plain Errors.
	ErrorClass *ErrorClass
}

// Function is one member of a namespace. Its name is never a violation, whatever it is (RUN-17); of two functions of
// one name the last is the one that is called.
type Function struct {
	Name string
	Call Handler
}

// ErrorClass is a class that the program sees under Name. Its instances hold the failing member's exact name in their
// own property MemberProperty.
type ErrorClass struct {
	Name           string
	MemberProperty string
}

// Handler starts one call of a function. It runs in the program's order on the run's own goroutine, so it MUST NOT
// BLOCK: it hands the work to another goroutine and returns. [Go] makes a Handler of an ordinary function.
//
// arg is a detached copy. reply may be called from any goroutine, from within the handler too; its first call counts,
// and after the run has settled none does (RUN-28). result is any Go value that [jsonval.Of] accepts; another rejects
// the call (RUN-23). A non-nil err rejects the call with its text and nothing else (RUN-24).
//
// ctx ends when the run settles; nobody waits for the work then.
type Handler func(ctx context.Context, arg jsonval.Value, reply func(result any, err error))

// Go returns a Handler that runs f on a goroutine of its own for each call. A panic of f rejects the call with the
// panic's text and goes no further (RUN-24).
func Go(f func(ctx context.Context, arg jsonval.Value) (any, error)) Handler {
	if f == nil {
		panic("runtime: Go of a nil function")
	}
	return func(ctx context.Context, arg jsonval.Value, reply func(result any, err error)) {
		go func() {
			var result any
			// Left in place when f ends its goroutine by runtime.Goexit (as testing.T.FailNow does).
			err := errExited
			defer func() {
				if p := recover(); p != nil {
					result, err = nil, errors.New(fmt.Sprint(p))
				}
				reply(result, err)
			}()
			result, err = f(ctx, arg)
		}()
	}
}

var errExited = errors.New("the host function ended without an answer")
