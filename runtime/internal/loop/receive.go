package loop

// This file defines what becomes of each message of the guest. Everything in it may be forged (HOSTILE-1..6): a frame is
// checked field by field, and what is malformed has no effect.

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	maxDelay    = math.MaxInt32 // milliseconds
	maxPosition = 1 << 30
	maxExitCode = 100
	timerCharge = 256     // bytes that a running timer costs of the heap limit
	heapSample  = 1 << 20 // bytes of charge between two looks at the guest's own heap
)

// Receive takes one message of the guest. ok says whether there is a reply. It never blocks; after the run has ended it
// drops everything.
func (r *Run) Receive(f Frame) (reply string, ok bool) {
	if r.Ended() {
		return "", false
	}
	switch f.Op {
	case OpCall:
		r.call(f)
	case OpLog:
		r.log(f.A)
	case OpTimer:
		r.timer(f)
	case OpClear:
		if id, ok := number(f.N); ok {
			r.timers.clear(id)
		}
	case OpDone:
		r.complete(f.A)
	case OpDoneVoid:
		r.set(outcome{})
	case OpFail:
		r.programFailed(f)
	case OpExit:
		if len(f.A) <= 4*maxExitCode {
			r.fail(runtime.ExitFailure(f.A))
		}
	case OpUncaught:
		line, column := place(f)
		failure := runtime.UncaughtFailure(hint(clip(f.A, r.spec.Limits.MaxOutput), &r.spec.Request, r.spec.Code, line, column))
		failure.Line, failure.Column = line, column
		r.fail(failure)
	case OpLimit:
		r.set(outcome{overflow: true})
	case OpMapStack:
		frames, line, column, ok := mapStack(r.spec.Code, f.A, f.B)
		return strconv.Itoa(line) + ":" + strconv.Itoa(column) + frames, ok
	case OpCheck:
		if _, err := jsonval.ParseString(f.A); err != nil {
			return err.Error(), true
		}
		return "", true
	}
	return "", false
}

// number reads a call's or timer's number.
func number(f float64) (uint32, bool) {
	if f >= 1 && f <= math.MaxUint32 && f == math.Trunc(f) {
		return uint32(f), true
	}
	return 0, false
}

// place reads a position in the model's text; 0, 0 if it is none.
func place(f Frame) (line, column int) {
	if f.N >= 1 && f.N <= maxPosition && f.N == math.Trunc(f.N) && f.M >= 1 && f.M <= maxPosition && f.M == math.Trunc(f.M) {
		return int(f.N), int(f.M)
	}
	return 0, 0
}

// call starts one call. A call that is refused is answered like any other, in its turn.
func (r *Run) call(f Frame) {
	id, ok := number(f.N)
	index, okIndex := number(f.M + 1)
	if !ok || !okIndex || !r.calls.begin(id, len(f.B)) {
		return
	}
	if r.overHeap() {
		return
	}
	handler, refusal := r.calls.lookup(index-1, f.A)
	if handler == nil {
		r.inbox.put(answer{id: id, payload: refusal})
		return
	}
	argument, err := jsonval.ParseString(f.B)
	if err != nil {
		r.inbox.put(answer{id: id, payload: runtime.MessageArguments + ": " + err.Error()})
		return
	}
	r.outside(func() {
		reply := r.replier(id)
		defer func() {
			if p := recover(); p != nil {
				reply(nil, errors.New(fmt.Sprint(p)))
			}
		}()
		handler(r.handlerCtx, argument, reply)
	})
}

// outside runs a function of the host's without billing its time to the guest (BUDGET-3).
func (r *Run) outside(f func()) {
	r.meter.stop()
	defer r.meter.start()
	f()
}

// replier returns the function that answers one call; only its first use counts.
func (r *Run) replier(id uint32) func(result any, err error) {
	var used atomic.Bool
	in := r.inbox
	return func(result any, err error) {
		if used.Swap(true) || in.isClosed() {
			return
		}
		in.put(makeAnswer(id, result, err))
	}
}

// makeAnswer detaches a host function's result: a later change of it is not seen (RUN-21), and what is not lossless is a
// failure (RUN-23).
func makeAnswer(id uint32, result any, err error) answer {
	if err != nil {
		return answer{id: id, payload: wellFormed(runtime.ErrorText(err))}
	}
	value, err := convert(result)
	if err != nil {
		var read *jsonval.ReadError
		if errors.As(err, &read) { // the value's own failure to be read (JSON-8)
			return answer{id: id, payload: wellFormed(read.Message)}
		}
		return answer{id: id, payload: wellFormed(runtime.MessageBinding + ": " + err.Error())}
	}
	return answer{id: id, ok: true, payload: string(value.AppendJSON(nil))}
}

// convert is jsonval.Of for foreign values, whose methods may panic.
func convert(result any) (v jsonval.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(fmt.Sprint(p))
		}
	}()
	return jsonval.Of(result)
}

// wellFormed replaces what is not UTF-8 in a foreign text.
func wellFormed(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (r *Run) log(entry string) {
	entry = wellFormed(clip(entry, r.spec.Limits.MaxOutput))
	r.out.Lock()
	defer r.out.Unlock()
	if r.Ended() {
		return
	}
	if !r.ledger.admit(entry) {
		r.set(outcome{overflow: true, last: entry})
		return
	}
	if onLog := r.spec.Request.OnLog; onLog != nil {
		r.outside(func() { onLog(entry) })
	}
}

func (r *Run) timer(f Frame) {
	id, ok := number(f.N)
	if !ok || !(f.M >= 0 && f.M <= maxDelay) {
		return
	}
	r.timers.set(id, r.clock.Add(time.Duration(f.M)*time.Millisecond))
	r.overHeap()
}

// overHeap ends the run if what it keeps on the host's side, together with the guest's live heap, is past the heap limit
// (HOSTILE-10). The guest's heap is asked for anew for each mebibyte that is charged.
func (r *Run) overHeap() bool {
	charged := r.calls.charged + int64(len(r.timers.queue))*timerCharge
	if sample := charged / heapSample; sample != r.sampled {
		r.sampled, r.guestHeap = sample, r.guest.HeapBytes()
	}
	if charged+r.guestHeap <= r.spec.Limits.Heap {
		return false
	}
	if r.guestHeap = r.guest.HeapBytes(); charged+r.guestHeap <= r.spec.Limits.Heap {
		return false
	}
	r.fail(runtime.HeapFailure(r.spec.Limits.Heap))
	return true
}

// complete takes the completion's value, forged or not (HOSTILE-5).
func (r *Run) complete(text string) {
	value, err := jsonval.ParseString(text)
	if err != nil {
		r.fail(&runtime.Failure{Kind: runtime.InvalidOutput, Message: runtime.MessageResult + ": " + err.Error()})
		return
	}
	r.set(outcome{value: value})
}

// programFailed takes a failure that the guest reports; of the kinds that are the guest's to report, and no other.
func (r *Run) programFailed(f Frame) {
	switch kind := runtime.Kind(f.A); kind {
	case runtime.Exception, runtime.InvalidOutput:
		failure := &runtime.Failure{Kind: kind, Message: clip(f.B, r.spec.Limits.MaxOutput)}
		failure.Line, failure.Column = place(f)
		if kind == runtime.Exception {
			failure.Message = hint(failure.Message, &r.spec.Request, r.spec.Code, failure.Line, failure.Column)
		}
		r.fail(failure)
	case runtime.OutputLimit:
		r.set(outcome{overflow: true})
	}
}
