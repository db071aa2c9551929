package tscheck

// This file defines the Checker: how a check is bounded, and that its failures change nothing.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/sdkgen"
)

// DefaultTimeout bounds one check, the start of the compiler included.
const DefaultTimeout = 5 * time.Second

// Options configures a [Checker].
type Options struct {
	// Compiler is what [Find] returned. Nil checks nothing.
	Compiler *Compiler

	// Warm keeps the compiler running from one check to the next, if it is native. A caller who checks one program is served better by
	// a compiler that is started for it.
	Warm bool

	// Timeout bounds one check, waiting for others included; 0 is DefaultTimeout.
	Timeout time.Duration

	// Logger is told when a program could not be checked, and why. Nil is slog.Default().
	Logger *slog.Logger
}

// Checker checks programs. It is safe for concurrent use; checks are made one at a time. Close it to end a compiler that is kept.
type Checker struct {
	o      Options
	code   *runtime.Transformer
	sdk    sdkgen.Cache
	turn   chan struct{} // holds a token while a check is on
	warm   *server       // nil when none is running; belongs to whoever has the turn
	closed chan struct{}
	close  sync.Once
}

// New returns a Checker. It starts nothing.
func New(o Options) (*Checker, error) {
	if o.Timeout < 0 {
		return nil, fmt.Errorf("tscheck: Timeout is %v, expected a duration above 0, or 0 for %v", o.Timeout, DefaultTimeout)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Checker{
		o:      o,
		code:   runtime.NewTransformer(runtime.TransformOptions{}),
		turn:   make(chan struct{}, 1),
		closed: make(chan struct{}),
	}, nil
}

// Check returns why the program of req must not run, as a failure of kind exception with the position of the first reason, or nil. It
// reads from req what the program will find: its namespaces and globals. tools are the members of the namespace tools.
//
// A program that does not parse passes: running it says what is wrong. So does every program when the compiler is missing, fails or
// does not answer in time, which is logged, and when ctx ends.
func (c *Checker) Check(ctx context.Context, req runtime.Request, tools []sdkgen.Tool) *runtime.Failure {
	failure, err := c.Try(ctx, req, tools)
	if err != nil && ctx.Err() == nil {
		c.o.Logger.WarnContext(ctx, "the program runs without a type check", "reason", err.Error())
	}
	return failure
}

// errNoCompiler is the error of a Checker that has nothing to check with.
var errNoCompiler = errors.New("there is no TypeScript compiler")

// Try is Check for those who need to know whether the program was checked: the error says why it was not.
func (c *Checker) Try(ctx context.Context, req runtime.Request, tools []sdkgen.Tool) (*runtime.Failure, error) {
	if c.o.Compiler == nil {
		return nil, errNoCompiler
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, fmt.Errorf("the TypeScript compiler did not answer within %v", c.o.Timeout))
	defer cancel()
	code, failure := c.code.Transform(ctx, req.Program, req.Unwrap)
	if failure != nil {
		return nil, context.Cause(ctx) // nil for what does not parse
	}
	p, err := c.newProgram(code, req, tools)
	if err != nil {
		return nil, err
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-c.closed:
		return nil, errors.New("the type checker is closed")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	found, err := c.diagnose(ctx, p)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	return p.failure(found), nil
}

// diagnose asks the compiler. The caller has the turn.
func (c *Checker) diagnose(ctx context.Context, p *program) ([]diagnostic, error) {
	if !c.o.Warm || !c.o.Compiler.Native {
		return once(ctx, c.o.Compiler, p)
	}
	for {
		select {
		case <-c.closed:
			return nil, errors.New("the type checker is closed")
		default:
		}
		started := c.warm == nil
		if started {
			s, err := startServer(ctx, c.o.Compiler)
			if err != nil {
				return nil, err
			}
			c.warm = s
		}
		found, err := c.warm.check(ctx, p)
		if err == nil && c.warm.checks < maxChecks {
			return found, nil
		}
		c.warm.stop()
		c.warm = nil
		if err == nil {
			return found, nil
		}
		// One that had been running may have died of something else than this program.
		if started || ctx.Err() != nil {
			return nil, err
		}
	}
}

// Close ends the compiler that is kept running and waits until it is gone. A check that is on is let finish, which its timeout bounds;
// later ones check nothing.
func (c *Checker) Close() error {
	c.close.Do(func() {
		close(c.closed)
		c.turn <- struct{}{}
		if c.warm != nil {
			c.warm.stop()
			c.warm = nil
		}
		<-c.turn
	})
	return nil
}
