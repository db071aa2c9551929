package wasmengine

// This file defines the guest: one instance of QuickJS, as the event loop drives it.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/wasmengine/internal/rewrite"
)

// host is what a guest calls back: a *loop.Run, or the stand-in while the image is made. None of its methods blocks.
type host interface {
	Receive(f loop.Frame) (reply string, ok bool)
	Tick() (stop bool)
	Ended() bool
	Clock() time.Time
}

// guest implements loop.Guest. It is one operation, driven by one goroutine, so it may keep the context of its calls,
// which carries nothing but the guest itself to the imports.
type guest struct {
	image *image
	host  host
	ctx   context.Context
	mod   api.Module
	mem   guestMemory

	// Each handle of a function owns a native stack, so there are two: one for calls of the host, and, from the first time
	// that an import needs it, one for calls that it makes while the first is at work.
	outer, inner           api.Function
	outerStack, innerStack [1 + rewrite.MaxParams]uint64

	fuel, reason, stackPointer api.Global
	intervals                  int64 // used up so far

	plainText []byte // what plain wrote last, kept for its memory

	rejections rejections
	stopped    bool  // the host told the guest to stop
	fault      error // what an import ended the run for
	dead       error // set once and for all by the first error
}

var _ loop.Guest = (*guest)(nil)

// call runs one function of QuickJS. An error is the end of the guest.
func (g *guest) call(f entry, args ...uint64) (uint64, error) {
	if g.dead != nil {
		return 0, g.dead
	}
	g.outerStack[0] = uint64(f)
	copy(g.outerStack[1:], args)
	if err := g.outer.CallWithStack(g.ctx, g.outerStack[:]); err != nil {
		g.dead = g.death(err)
		return 0, g.dead
	}
	return g.outerStack[0], nil
}

// nested is call for imports, while the guest is in the middle of an outer call. It runs no code of the program.
func (g *guest) nested(f entry, args ...uint64) uint64 {
	if g.inner == nil {
		g.inner = g.mod.ExportedFunction(rewrite.ExportEnter)
	}
	g.innerStack[0] = uint64(f)
	copy(g.innerStack[1:], args)
	if err := g.inner.CallWithStack(g.ctx, g.innerStack[:]); err != nil {
		g.abort(g.death(err))
	}
	return g.innerStack[0]
}

// abort ends the guest from inside of an import. The panic is caught by wazero and comes out of the outer call as an
// error; there is no other way to leave the guest's code for good.
func (g *guest) abort(err error) {
	if g.fault == nil {
		g.fault = err
	}
	panic(g.fault)
}

// check is abort for a failed access of the guest's memory.
func (g *guest) check(err error) {
	if err != nil {
		g.abort(err)
	}
}

// death says what ended the guest, given the error of its call.
func (g *guest) death(err error) error {
	switch {
	case g.stopped:
		return loop.ErrStopped
	case g.fault != nil:
		return g.fault
	case uint32(g.reason.Get()) == rewrite.ReasonMemory:
		return loop.ErrHeap
	}
	detail, _, _ := strings.Cut(err.Error(), "\n")
	detail = strings.TrimPrefix(detail, "wasm error: ")
	// The guest's own stack lies at the bottom of its memory, so that running out of it wraps round to an address that
	// does not exist (RUN-47).
	sp := uint32(g.stackPointer.Get())
	if detail == "stack overflow" || detail == "out of bounds memory access" && (sp < stackReserve || sp > uint32(g.image.stackPointer)) {
		return loop.ErrStack
	}
	return errors.New(detail)
}

// stackReserve is what QuickJS's own limit leaves of the stack for functions that do not check it.
const stackReserve = 64 << 10

// Configure implements loop.Guest.
func (g *guest) Configure(config string) error { return g.callText(g.image.configure, config) }

// Settle implements loop.Guest.
func (g *guest) Settle(id uint32, ok bool, payload string) error {
	n, err := g.number(float64(id))
	if err != nil {
		return err
	}
	s, err := g.newString(payload)
	if err != nil {
		return err
	}
	// QuickJS's own parser recurses. Where that cannot end in an error that the prelude catches, the prelude is told not to
	// try it (VALUE-5).
	deep := g.image.interpreted && ok && deeper(payload, maxNative)
	if err := g.callValue(g.image.settle, n, boolean(ok), s, boolean(deep)); err != nil {
		return err
	}
	return g.free(s)
}

// maxNative is a depth of JSON that QuickJS's parser manages in wazero's interpreter.
const maxNative = 250

// deeper reports whether the containers of a JSON text nest deeper than max.
func deeper(text string, max int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > max {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// Fire implements loop.Guest.
func (g *guest) Fire(timer uint32) error {
	n, err := g.number(float64(timer))
	if err != nil {
		return err
	}
	return g.callValue(g.image.fire, n)
}

// Start implements loop.Guest.
func (g *guest) Start(js string) error {
	fn, err := g.eval(js)
	if err != nil {
		return err
	}
	if fn.exception() {
		return g.die(g.unparsed(js))
	}
	if err := g.callValue(g.image.start, fn); err != nil {
		return err
	}
	return g.free(fn)
}

// eval evaluates a script; the value is an exception where it does not parse.
func (g *guest) eval(js string) (value, error) {
	p, err := g.call(jsMalloc, g.image.context, uint64(len(js))+1)
	if err != nil {
		return 0, err
	}
	if err := g.mem.putText(uint32(p), js); err != nil {
		return 0, g.die(err)
	}
	v, err := g.call(jsEval, g.image.context, p, uint64(len(js)), uint64(g.image.fileName), 0)
	if err != nil {
		return 0, err
	}
	_, err = g.call(jsFree, g.image.context, p)
	return value(v), err
}

// Jobs implements loop.Guest.
func (g *guest) Jobs() error {
	for {
		for !g.host.Ended() {
			n, err := g.call(jsExecutePendingJob, g.image.runtime, uint64(g.image.scratch+scratchResult))
			if err != nil {
				return err
			}
			if int32(n) == 0 {
				break
			}
			if int32(n) < 0 {
				return g.die(g.thrown())
			}
		}
		// Handing a rejection over may run code of the program, and that may add jobs.
		r, ok := g.rejections.next()
		if !ok || g.host.Ended() {
			return nil
		}
		if err := g.handOver(r); err != nil {
			return err
		}
	}
}

// handOver gives the reason of a rejection that nothing handled to the prelude.
func (g *guest) handOver(r rejection) error {
	reason, err := g.mem.value(r.reasonBox)
	if err != nil {
		return g.die(err)
	}
	if err := g.callValue(g.image.unhandled, reason); err != nil {
		return err
	}
	if _, err := g.call(boxFree, uint64(r.promiseBox)); err != nil {
		return err
	}
	_, err = g.call(boxFree, uint64(r.reasonBox))
	return err
}

// HeapBytes implements loop.Guest.
func (g *guest) HeapBytes() int64 {
	size, err := g.mem.u32(g.image.heapSize)
	if err != nil {
		return 0
	}
	return max(int64(size)-int64(g.image.heapBase), 0)
}

// Steps implements loop.Guest.
func (g *guest) Steps() int64 {
	return g.intervals*interval + interval - int64(int32(uint32(g.fuel.Get())))
}

// Close implements loop.Guest.
func (g *guest) Close() {
	_ = g.mod.Close(g.ctx) // frees the memory; it has no other resources whose release could fail
	g.mem = guestMemory{}  // it may be another guest's from now on
}

// die makes err the end of the guest.
func (g *guest) die(err error) error {
	if g.dead == nil {
		g.dead = err
	}
	return g.dead
}

// callText calls a function of the prelude with a text.
func (g *guest) callText(fn value, text string) error {
	s, err := g.newString(text)
	if err != nil {
		return err
	}
	if err := g.callValue(fn, s); err != nil {
		return err
	}
	return g.free(s)
}

// callValue calls a function of the prelude. The arguments stay the caller's.
func (g *guest) callValue(fn value, args ...value) error {
	argv := g.image.scratch + scratchArgs
	for i, a := range args {
		if err := g.mem.putU64(argv+uint32(i)*8, uint64(a)); err != nil {
			return g.die(err)
		}
	}
	r, err := g.call(jsCall, g.image.context, uint64(fn), uint64(undefined), uint64(len(args)), uint64(argv))
	if err != nil {
		return err
	}
	if value(r).exception() {
		return g.die(g.thrown())
	}
	return g.free(value(r))
}

func (g *guest) free(v value) error {
	if v.tag() < tagCounted {
		return nil
	}
	_, err := g.call(jsFreeValue, g.image.context, uint64(v))
	return err
}

func (g *guest) number(f float64) (value, error) {
	if f == float64(int32(f)) {
		return value(uint32(int32(f))), nil
	}
	v, err := g.call(jsNewNumber, g.image.context, math.Float64bits(f))
	return value(v), err
}

func boolean(b bool) value {
	if b {
		return tagBool<<32 | 1
	}
	return tagBool << 32
}

// newString makes a string of the guest's. Long texts pass through the program's heap and count towards its limit.
func (g *guest) newString(text string) (value, error) {
	p := uint64(g.image.scratch + scratchText)
	long := len(text) > scratchTextSize
	if long {
		var err error
		if p, err = g.call(jsMalloc, g.image.context, uint64(len(text))+1); err != nil {
			return 0, err
		}
	}
	if err := g.mem.putText(uint32(p), text); err != nil {
		return 0, g.die(err)
	}
	s, err := g.call(jsNewStringLen, g.image.context, p, uint64(len(text)))
	if err == nil && long {
		_, err = g.call(jsFree, g.image.context, p)
	}
	if err == nil && value(s).exception() {
		err = g.die(g.thrown())
	}
	return value(s), err
}

// unparsed describes the exception of a code that QuickJS cannot parse. No code of the program has run.
func (g *guest) unparsed(js string) error {
	e, err := g.call(jsGetException, g.image.context)
	if err != nil {
		return err
	}
	message, err := g.property(value(e), g.image.messageName)
	if err != nil {
		return err
	}
	stack, err := g.call(jsCall, g.image.context, uint64(g.image.recordedStack), e, 0, 0)
	if err != nil {
		return err
	}
	frames, err := g.prefix(value(stack))
	if err != nil {
		return err
	}
	if frames == "" {
		return g.unparsedRegExp(js, message)
	}
	return &loop.ProgramError{Message: "SyntaxError: " + message, Stack: frames}
}

// maxLiteral is how much of a regular expression a message shows, in bytes.
const maxLiteral = 60

// unparsedRegExp finds the regular expression that QuickJS cannot parse: of these it does not say where they are (RUN-37).
func (g *guest) unparsedRegExp(js, message string) error {
	for _, span := range runtime.RegExps(js) {
		literal := js[span[0]:span[1]]
		v, err := g.eval(literal)
		if err != nil {
			return err
		}
		if !v.exception() {
			if err := g.free(v); err != nil {
				return err
			}
			continue
		}
		if len(literal) > maxLiteral {
			literal = strings.ToValidUTF8(literal[:maxLiteral], "") + "…"
		}
		before := js[:span[0]]
		return &loop.ProgramError{
			Message: "SyntaxError: invalid regular expression " + literal + ": " + message,
			Line:    strings.Count(before, "\n") + 1,
			Column:  span[0] - strings.LastIndexByte(before, '\n'),
		}
	}
	return &loop.ProgramError{Message: "SyntaxError: " + message}
}

// thrown describes the exception that came out of a call of the prelude or of a job. The prelude catches everything that
// can be caught, so it is an error that no program can catch, or a text that does not parse.
func (g *guest) thrown() error {
	e, err := g.call(jsGetException, g.image.context)
	if err != nil {
		return err
	}
	uncatchable, err := g.call(jsIsUncatchable, e)
	if err != nil {
		return err
	}
	message, err := g.property(value(e), g.image.messageName)
	if err != nil {
		return err
	}
	if uncatchable != 0 && strings.Contains(message, "string too long") {
		return loop.ErrString
	}
	return fmt.Errorf("uncaught exception: %s", message)
}

// property returns the start of a text property of an error of the engine's own making, or of the thrown text itself.
func (g *guest) property(e value, name uint32) (string, error) {
	if e.tag() == tagObject {
		v, err := g.call(jsGetPropertyStr, g.image.context, uint64(e), uint64(name))
		if err != nil {
			return "", err
		}
		e = value(v)
	}
	return g.prefix(e)
}

// prefix returns the start of a text; empty for what is none.
func (g *guest) prefix(v value) (string, error) {
	if !v.isString() {
		return "", nil
	}
	at := g.image.scratch + scratchResult
	p, err := g.call(jsToCString, g.image.context, uint64(at), uint64(v), 0)
	if err != nil || p == 0 {
		return "", err
	}
	n, err := g.mem.u32(at)
	if err != nil {
		return "", err
	}
	return g.mem.text(uint32(p), min(n, 4000))
}
