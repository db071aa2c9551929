package loop

// This file defines a guest made of Go functions, so that tests can send any traffic that a forger could.

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// script is a Guest. Nil functions do nothing.
type script struct {
	host *Run

	start  func(s *script) error
	settle func(s *script, id uint32, ok bool, payload string) error
	fire   func(s *script, timer uint32) error
	jobs   func(s *script) error
	heap   func() int64

	config   string
	settled  []answer
	fired    []uint32
	closed   int
	running  bool
	mistakes []string
}

func (s *script) step(f func() error) error {
	if s.running || s.closed > 0 {
		s.mistakes = append(s.mistakes, "called while running or after Close")
	}
	s.running = true
	defer func() { s.running = false }()
	return f()
}

func (s *script) Configure(config string) error {
	return s.step(func() error { s.config = config; return nil })
}

func (s *script) Start(string) error {
	return s.step(func() error {
		if s.start == nil {
			return nil
		}
		return s.start(s)
	})
}

func (s *script) Settle(id uint32, ok bool, payload string) error {
	return s.step(func() error {
		s.settled = append(s.settled, answer{id: id, ok: ok, payload: payload})
		if s.settle == nil {
			return nil
		}
		return s.settle(s, id, ok, payload)
	})
}

func (s *script) Fire(timer uint32) error {
	return s.step(func() error {
		s.fired = append(s.fired, timer)
		if s.fire == nil {
			return nil
		}
		return s.fire(s, timer)
	})
}

func (s *script) Jobs() error {
	return s.step(func() error {
		if s.jobs == nil {
			return nil
		}
		return s.jobs(s)
	})
}

func (s *script) HeapBytes() int64 {
	if s.heap == nil {
		return 0
	}
	return s.heap()
}

func (s *script) Steps() int64 { return 7 }

func (s *script) Close() { s.closed++ }

// send sends frames from within the guest.
func (s *script) send(frames ...Frame) {
	for _, f := range frames {
		s.host.Receive(f)
	}
}

var testLimits = runtime.Limits{Compute: time.Minute, Wall: 10 * time.Minute, MaxOutput: 1 << 20, Heap: 64 << 20}

// spec is a run of a scripted guest with a namespace tools.
func (s *script) spec(functions ...runtime.Function) Spec {
	return Spec{
		Request: runtime.Request{
			Seed: 1, Start: time.Unix(1_700_000_000, 0),
			Namespaces: []runtime.Namespace{{Global: "tools", Functions: functions}},
		},
		Limits:   testLimits,
		Code:     &runtime.Code{},
		NewGuest: func(_ context.Context, host *Run) (Guest, error) { s.host = host; return s, nil },
	}
}

// do runs a script and checks that the loop kept to the Guest's contract.
func (s *script) do(t testing.TB, functions ...runtime.Function) runtime.Result {
	t.Helper()
	return s.run(t, context.Background(), s.spec(functions...))
}

func (s *script) run(t testing.TB, ctx context.Context, spec Spec) runtime.Result {
	t.Helper()
	r := Do(ctx, spec)
	if s.closed != 1 {
		t.Errorf("the guest was closed %d times", s.closed)
	}
	for _, m := range s.mistakes {
		t.Error(m)
	}
	return r
}

// echo answers at once with its argument.
var echo = runtime.Function{Name: "echo", Call: func(_ context.Context, arg jsonval.Value, reply func(any, error)) { reply(arg, nil) }}

// silent never answers.
var silent = runtime.Function{Name: "silent", Call: func(context.Context, jsonval.Value, func(any, error)) {}}

var done = Frame{Op: OpDone, A: `"done"`}

func wantValue(t testing.TB, r runtime.Result, text string) {
	t.Helper()
	if r.Error != nil || r.Value.String() != text {
		t.Errorf("value %s, error %v; want %s", r.Value, r.Error, text)
	}
}

func wantFailure(t testing.TB, r runtime.Result, kind runtime.Kind, message string) {
	t.Helper()
	if r.Error == nil || !errors.Is(r.Error, kind) || r.Error.Message != message {
		t.Errorf("value %s, error %v; want %s: %s", r.Value, r.Error, kind, message)
	}
	if r.Value.Exists() {
		t.Errorf("a value beside a failure: %s", r.Value)
	}
}
