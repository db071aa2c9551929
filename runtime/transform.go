package runtime

// This file defines the Transformer: the way from a model's text to an engine's code, remembered by content.

import (
	"container/list"
	"context"
	"crypto/sha256"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
)

// MaxProgramBytes is the longest program text that is looked at (HOSTILE-9).
const MaxProgramBytes = 1 << 20

// defaultCacheBytes bounds a Transformer's cache when nothing else is said.
const defaultCacheBytes = 16 << 20

// Target says which syntax an engine lacks. The zero value is a current ECMAScript engine.
type Target struct {
	// AsyncGenerators has async generators and for-await loops lowered to what an engine without them runs, and with
	// them the rest of what goja does not parse: import(), some flags of regular expressions. Symbol.asyncIterator
	// must exist there.
	AsyncGenerators bool
}

// TransformOptions configures a Transformer. The zero value is useful.
type TransformOptions struct {
	Target Target

	// CacheBytes bounds the memory of remembered results; 0 is 16 MiB, a negative number remembers nothing.
	CacheBytes int64
}

// Transformer turns program texts into JavaScript and remembers the results by content, the least recently used ones
// the shortest. It is safe for concurrent use.
type Transformer struct {
	target   Target
	maxBytes int64
	slots    chan struct{} // bounds the transforms at work: none can be interrupted

	transform func(program string, unwrap bool, target Target) (*Code, *Failure)

	mu      sync.Mutex
	bytes   int64
	order   *list.List // of *transformed, the most recently used first
	entries map[programKey]*transformed
}

// programKey identifies a program text and how it is read.
type programKey struct {
	sum    [sha256.Size]byte
	unwrap bool
}

// transformed is one entry of the cache, or one to be while its transform is at work.
type transformed struct {
	key     programKey
	done    chan struct{} // closed when code and failure are set
	code    *Code
	failure *Failure
	bytes   int64
	element *list.Element // nil until it is done

	waiting   int           // callers that were in time for the work to begin
	begun     bool          // the work is under way
	forgotten chan struct{} // closed when all of them left before that
}

// NewTransformer returns a Transformer with an empty cache.
func NewTransformer(o TransformOptions) *Transformer {
	t := &Transformer{
		target:   o.Target,
		maxBytes: o.CacheBytes,
		slots:    make(chan struct{}, max(2, goruntime.GOMAXPROCS(0))),
		order:    list.New(),
		entries:  make(map[programKey]*transformed),

		transform: transform,
	}
	if t.maxBytes == 0 {
		t.maxBytes = defaultCacheBytes
	}
	return t
}

// Transform turns program into an engine's code, with unwrap set after undoing a model's wrapping (CODE-33). A program
// that cannot be parsed is an Exception with the position. The work is done on a goroutine of its own, because the
// parser cannot be interrupted: when ctx ends first, the answer is at once an Abort with ctx's cause (HOSTILE-9).
func (t *Transformer) Transform(ctx context.Context, program string, unwrap bool) (*Code, *Failure) {
	if ctx.Err() != nil {
		return nil, AbortFailure(context.Cause(ctx))
	}
	if len(program) > MaxProgramBytes {
		return nil, checkSource(program)
	}
	e := t.lookup(programKey{sha256.Sum256([]byte(program)), unwrap}, program)
	select {
	case <-e.done:
		return e.result()
	default:
	}
	select {
	case <-e.done:
		return e.result()
	case <-ctx.Done():
		t.leave(e)
		return nil, AbortFailure(context.Cause(ctx))
	}
}

// leave notes that a caller of lookup waits no longer. Work that nobody waits for is not begun: a caller that gives up
// must not leave a queue behind.
func (t *Transformer) leave(e *transformed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.waiting--
	if e.waiting == 0 && !e.begun {
		delete(t.entries, e.key)
		close(e.forgotten)
	}
}

// begin waits for a turn to do the work of an entry; false if there is no need any more.
func (t *Transformer) begin(e *transformed) bool {
	select {
	case t.slots <- struct{}{}:
	case <-e.forgotten:
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e.begun = e.waiting > 0
	if !e.begun {
		<-t.slots
	}
	return e.begun
}

// result returns the outcome; a failure is the caller's own copy.
func (e *transformed) result() (*Code, *Failure) {
	if e.failure != nil {
		f := *e.failure
		return nil, &f
	}
	return e.code, nil
}

// lookup returns the entry for key, and starts its transform when there is none.
func (t *Transformer) lookup(key programKey, program string) *transformed {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[key]; e != nil {
		if e.element != nil {
			t.order.MoveToFront(e.element)
		}
		e.waiting++
		return e
	}
	e := &transformed{key: key, done: make(chan struct{}), forgotten: make(chan struct{}), waiting: 1}
	t.entries[key] = e
	go t.work(e, program)
	return e
}

func (t *Transformer) work(e *transformed, program string) {
	if !t.begin(e) {
		return
	}
	code, failure := t.protected(program, e.key.unwrap)
	<-t.slots

	t.mu.Lock()
	defer t.mu.Unlock()
	e.code, e.failure = code, failure
	e.bytes = 512
	if code != nil {
		e.bytes += int64(len(code.JS) + len(code.mapping) + len(code.source))
	}
	close(e.done)
	if e.bytes > t.maxBytes {
		delete(t.entries, e.key)
		return
	}
	e.element = t.order.PushFront(e)
	t.bytes += e.bytes
	for t.bytes > t.maxBytes {
		last := t.order.Remove(t.order.Back()).(*transformed)
		delete(t.entries, last.key)
		t.bytes -= last.bytes
	}
}

// protected is transform for foreign text on a goroutine of its own, where a panic would end the process (BUDGET-10).
func (t *Transformer) protected(program string, unwrap bool) (code *Code, failure *Failure) {
	defer func() {
		if p := recover(); p != nil {
			code, failure = nil, StoppedFailure(fmt.Sprintf("internal fault: %v", p))
		}
	}()
	return t.transform(program, unwrap, t.target)
}

// transform is the whole way, without the cache.
func transform(program string, unwrap bool, target Target) (*Code, *Failure) {
	src := strings.ToValidUTF8(program, "\uFFFD")
	if unwrap {
		src = unfence(src)
	}
	if f := checkSource(src); f != nil {
		return nil, f
	}
	b := builder{src: src, target: target}
	if unwrap {
		if text, ok := soleFunction(src); ok {
			b.src, b.call = text, true
		}
	}
	b.form = readForm(b.src)
	switch {
	case b.form.failure != nil:
		return nil, b.form.failure
	case target.AsyncGenerators && b.form.classes > 0:
		// goja would take \p{L} for the letters of its spelling.
		return nil, syntaxFailure(b.src, b.form.classes-1, `\p{…} in a regular expression is not available in this engine: list the characters instead`)
	case unwrap && b.form.idle:
		return nil, syntaxFailure(b.src, len(b.src), "the program only declares main and never calls it: put its statements at the top level and return the result")
	}
	return b.build()
}
