package loop

// HOSTILE-1 to 6 and 10: forged traffic at the host's boundary.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestForgedFrames(t *testing.T) {
	t.Run("HOSTILE-1 what is malformed has no effect", func(t *testing.T) {
		numbers := []float64{0, -1, 1.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, math.MaxUint32 + 1, math.Copysign(0, -1)}
		calls := 0
		counted := runtime.Function{Name: "f", Call: func(_ context.Context, _ jsonval.Value, reply func(any, error)) { calls++; reply(nil, nil) }}
		s := &script{start: func(s *script) error {
			for _, n := range numbers {
				s.send(Frame{Op: OpCall, N: n, M: 0, A: "f", B: "1"}, Frame{Op: OpTimer, N: n, M: 1}, Frame{Op: OpClear, N: n})
			}
			for _, m := range []float64{-1, 0.5, math.NaN(), math.Inf(1), 1e300} {
				s.send(Frame{Op: OpCall, N: 3, M: m, A: "f", B: "1"}, Frame{Op: OpTimer, N: 3, M: m})
			}
			for _, op := range []Op{0, 13, 63, OpBrand, OpTarget, 66, math.MaxUint32} {
				s.send(Frame{Op: op, N: 1, A: "x", B: "y"})
			}
			s.send(Frame{Op: OpFail, A: "timeout", B: "x"}, Frame{Op: OpFail, A: "abort", B: "x"}, Frame{Op: OpFail, A: "worker-exit", B: "x"}, Frame{Op: OpFail, A: "", B: "x"}, Frame{Op: OpFail, A: "Exception", B: "x"})
			s.send(Frame{Op: OpExit, A: strings.Repeat("9", 1000)})
			if s.host.Ended() {
				t.Error("a malformed frame ended the run")
			}
			s.send(done)
			return nil
		}}
		r := s.do(t, counted)
		wantValue(t, r, `"done"`)
		if calls != 0 || len(s.fired) != 0 || len(r.Logs) != 0 {
			t.Errorf("%d calls, timers %v, logs %q", calls, s.fired, r.Logs)
		}
	})
	t.Run("HOSTILE-1 odd positions and delays are rebuilt", func(t *testing.T) {
		for _, n := range []float64{math.NaN(), -3, 2.5, math.Inf(1), 1e18} {
			s := &script{start: func(s *script) error {
				s.send(Frame{Op: OpFail, A: "exception", B: "m", N: n, M: 1})
				return nil
			}}
			r := s.do(t)
			wantFailure(t, r, runtime.Exception, "m")
			if r.Error.Line != 0 || r.Error.Column != 0 {
				t.Errorf("position %d:%d from %v", r.Error.Line, r.Error.Column, n)
			}
		}
	})
	t.Run("HOSTILE-1 stacks that no engine made", func(t *testing.T) {
		s := &script{start: func(s *script) error {
			for _, text := range []string{"", "\n", "    at ", "    at (", "\tat \x00", "    at f (program.ts:99999999999999999999:1)", "    at f (program.ts:-1:2)", "    at program.ts:1:1(", strings.Repeat("    at f (program.ts:1:1)\n", 100000)} {
				s.host.Receive(Frame{Op: OpMapStack, A: text})
			}
			s.send(done)
			return nil
		}}
		wantValue(t, s.do(t), `"done"`)
	})
	t.Run("HOSTILE-2 a number is answered at most once", func(t *testing.T) {
		s := &script{
			start: func(s *script) error {
				for _, n := range []float64{1, 1, 2, 5, 1, 5, 4294967295, 4294967295, 3, 3} {
					s.send(Frame{Op: OpCall, N: n, A: "echo", B: fmt.Sprint(n)})
				}
				return nil
			},
			settle: func(s *script, id uint32, _ bool, _ string) error {
				s.send(Frame{Op: OpCall, N: float64(id), A: "echo", B: "0"}) // again, after it was answered
				if len(s.settled) == 5 {
					s.send(Frame{Op: OpTimer, N: 1, M: 5})
				}
				return nil
			},
			fire: func(s *script, _ uint32) error { s.send(done); return nil },
		}
		wantValue(t, s.do(t, echo), `"done"`)
		var ids []uint32
		for _, a := range s.settled {
			ids = append(ids, a.id)
		}
		if want := []uint32{1, 2, 5, 4294967295, 3}; !slices.Equal(ids, want) {
			t.Errorf("answered %v, want %v", ids, want)
		}
	})
	t.Run("HOSTILE-2 numbers that leave gaps are remembered", func(t *testing.T) {
		var c calls
		c.bind(nil)
		for _, id := range []uint32{7, 3, 1, 2, 7, 3, 4, 5, 6, 7, 8, 1} {
			used := c.begin(id, 0)
			if again := c.begin(id, 0); again {
				t.Errorf("%d was used twice", id)
			}
			_ = used
		}
		if c.low != 8 || len(c.strays) != 0 || c.open() != 8 {
			t.Errorf("low %d, strays %v, open %d", c.low, c.strays, c.open())
		}
	})
	t.Run("HOSTILE-3 what was not declared is refused by name", func(t *testing.T) {
		names := []string{"nope", "__proto__", "constructor", "toString", "hasOwnProperty", "", "echo2", "Echo"}
		s := &script{
			start: func(s *script) error {
				for i, name := range names {
					s.send(Frame{Op: OpCall, N: float64(i + 1), A: name, B: "1"})
				}
				s.send(Frame{Op: OpCall, N: 100, M: 1, A: "echo", B: "1"}, Frame{Op: OpCall, N: 101, M: 4294967000, A: "echo", B: "1"})
				return nil
			},
			settle: func(s *script, _ uint32, _ bool, _ string) error {
				if len(s.settled) == len(names)+2 {
					s.send(done)
				}
				return nil
			},
		}
		wantValue(t, s.do(t, echo), `"done"`)
		for i, a := range s.settled {
			want := `no binding "#1.echo"`
			if i < len(names) {
				want = fmt.Sprintf("no binding %q", "tools."+names[i])
			} else if i > len(names) {
				want = `no binding "#4294967000.echo"`
			}
			if a.ok || a.payload != want {
				t.Errorf("answer %q %v, want %q", a.payload, a.ok, want)
			}
		}
	})
	t.Run("HOSTILE-4 forged arguments are validated again", func(t *testing.T) {
		bad := []string{"", " ", "NaN", "Infinity", "-0", "[1e400]", "9007199254740993", `"\ud800"`, "\"\xff\"", "[1,,2]", "[1,]", `{"a":1,}`, "{a:1}", `{"a"`, "undefined", "1 2", "[", strings.Repeat("[", 100000), `{"a":-0.0}`}
		called := 0
		f := runtime.Function{Name: "f", Call: func(_ context.Context, _ jsonval.Value, reply func(any, error)) { called++; reply(nil, nil) }}
		s := &script{
			start: func(s *script) error {
				for i, text := range bad {
					s.send(Frame{Op: OpCall, N: float64(i + 1), A: "f", B: text})
				}
				return nil
			},
			settle: func(s *script, id uint32, ok bool, payload string) error {
				if ok || !strings.HasPrefix(payload, "arguments are not lossless JSON: ") {
					t.Errorf("argument %q answered %v %q", bad[id-1], ok, payload)
				}
				if len(s.settled) == len(bad) {
					s.send(done)
				}
				return nil
			},
		}
		wantValue(t, s.do(t, f), `"done"`)
		if called != 0 {
			t.Errorf("the function was called %d times", called)
		}
	})
	completions := []struct {
		name    string
		frame   Frame
		kind    runtime.Kind
		message string // or the value
	}{
		{"a well-formed completion is the completion", Frame{Op: OpDone, A: ` {"a" : 1} `}, "", `{"a":1}`},
		{"a completion that is none", Frame{Op: OpDone, A: "[1,"}, runtime.InvalidOutput, ""},
		{"a lossy completion", Frame{Op: OpDone, A: "[-0]"}, runtime.InvalidOutput, "result is not lossless JSON: negative zero at $[0]"},
		{"an empty completion", Frame{Op: OpDone}, runtime.InvalidOutput, ""},
		{"a completion that is too large", Frame{Op: OpDone, A: `"` + strings.Repeat("x", 1<<20) + `"`}, runtime.OutputLimit, "output larger than 1048576 bytes"},
		{"a completion that is small but long", Frame{Op: OpDone, A: strings.Repeat(" ", 2<<20) + "1"}, "", "1"},
		{"an exception", Frame{Op: OpFail, A: "exception", B: "boo"}, runtime.Exception, "boo"},
		{"an invalid output", Frame{Op: OpFail, A: "invalid-output", B: "boo"}, runtime.InvalidOutput, "boo"},
		{"an output limit", Frame{Op: OpFail, A: "output-limit", B: "boo"}, runtime.OutputLimit, "output larger than 1048576 bytes"},
		{"a message that is too large", Frame{Op: OpFail, A: "exception", B: strings.Repeat("x", 2<<20)}, runtime.OutputLimit, "output larger than 1048576 bytes"},
		{"a message that is not UTF-8", Frame{Op: OpFail, A: "exception", B: "a\xffb"}, runtime.Exception, "a\uFFFDb"},
	}
	for _, c := range completions {
		t.Run("HOSTILE-5 "+c.name, func(t *testing.T) {
			s := &script{start: func(s *script) error {
				s.send(c.frame, done, Frame{Op: OpFail, A: "exception", B: "second"}) // only the first counts (RUN-9)
				return nil
			}}
			r := s.do(t)
			switch {
			case c.kind == "":
				wantValue(t, r, c.message)
			case c.message == "":
				if r.Error == nil || r.Error.Kind != c.kind || !strings.HasPrefix(r.Error.Message, "result is not lossless JSON: ") {
					t.Errorf("%v %v", r.Value, r.Error)
				}
			default:
				wantFailure(t, r, c.kind, c.message)
			}
		})
	}
	t.Run("HOSTILE-6 floods pass the ledger", func(t *testing.T) {
		s := &script{start: func(s *script) error {
			for i := 0; !s.host.Ended(); i++ {
				s.send(Frame{Op: OpLog, A: strings.Repeat("x", 1000)})
				if i > 2000 {
					t.Fatal("the flood is not stopped")
				}
			}
			for range 10 {
				s.send(Frame{Op: OpLog, A: "later"})
			}
			return nil
		}}
		r := s.do(t)
		wantFailure(t, r, runtime.OutputLimit, "output larger than 1048576 bytes")
		if slices.Contains(r.Logs, "later") || r.Usage.OutputBytes > 1<<20 {
			t.Errorf("%d bytes", r.Usage.OutputBytes)
		}
	})
	t.Run("HOSTILE-6 entries that are not UTF-8", func(t *testing.T) {
		s := &script{start: func(s *script) error { s.send(Frame{Op: OpLog, A: "a\xffb"}, done); return nil }}
		if r := s.do(t); !slices.Equal(r.Logs, []string{"a\uFFFDb"}) {
			t.Errorf("logs %q", r.Logs)
		}
	})
	t.Run("HOSTILE-6 a forged notice of the limit ends the run", func(t *testing.T) {
		s := &script{start: func(s *script) error { s.send(Frame{Op: OpLog, A: "kept"}, Frame{Op: OpLimit}, done); return nil }}
		r := s.do(t)
		wantFailure(t, r, runtime.OutputLimit, "output larger than 1048576 bytes")
		if !slices.Equal(r.Logs, []string{"kept"}) {
			t.Errorf("logs %q", r.Logs)
		}
	})
	t.Run("HOSTILE-10 outstanding calls are charged", func(t *testing.T) {
		s := &script{start: func(s *script) error {
			for i := 1; !s.host.Ended(); i++ {
				s.send(Frame{Op: OpCall, N: float64(i), A: "silent", B: `"` + strings.Repeat("x", 12<<10) + `"`})
				if i > 5000 {
					t.Fatal("nothing stops the calls")
				}
			}
			return nil
		}}
		wantFailure(t, s.do(t, silent), runtime.WorkerExit, "heap limit reached: 64 MiB")
	})
	t.Run("HOSTILE-10 together with the guest's own heap", func(t *testing.T) {
		sent := 0
		s := &script{heap: func() int64 { return 60 << 20 }, start: func(s *script) error {
			for i := 1; !s.host.Ended(); i++ {
				sent = i
				s.send(Frame{Op: OpCall, N: float64(i), A: "silent", B: "1"})
			}
			return nil
		}}
		wantFailure(t, s.do(t, silent), runtime.WorkerExit, "heap limit reached: 64 MiB")
		if sent < 900 || sent > 1300 { // 4 MiB of 4 KiB each
			t.Errorf("stopped after %d calls", sent)
		}
	})
	t.Run("HOSTILE-10 answered calls are not", func(t *testing.T) {
		s := &script{
			start: func(s *script) error { s.send(Frame{Op: OpCall, N: 1, A: "echo", B: "1"}); return nil },
			settle: func(s *script, id uint32, _ bool, _ string) error {
				if id == 40000 {
					s.send(done)
				} else {
					s.send(Frame{Op: OpCall, N: float64(id + 1), A: "echo", B: "1"})
				}
				return nil
			},
		}
		wantValue(t, s.do(t, echo), `"done"`)
	})
}

func TestGuestErrors(t *testing.T) {
	kinds := []struct {
		name    string
		err     error
		kind    runtime.Kind
		message string
	}{
		{"BUDGET-8 the heap limit", fmt.Errorf("malloc: %w", ErrHeap), runtime.WorkerExit, "heap limit reached: 64 MiB"},
		{"BUDGET-8 a string that is too long", ErrString, runtime.Exception, "InternalError: string too long"},
		{"RUN-47 the backstop of the stack", ErrStack, runtime.Exception, "RangeError: Maximum call stack size exceeded"},
		{"BUDGET-10 any other death", errors.New("trap: unreachable"), runtime.WorkerExit, "engine stopped: trap: unreachable"},
		{"RUN-52 syntax that the engine lacks", &ProgramError{Message: "SyntaxError: no such flag"}, runtime.Exception, "SyntaxError: no such flag"},
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s := &script{start: func(s *script) error { s.send(Frame{Op: OpLog, A: "before"}); return k.err }}
			r := s.do(t)
			wantFailure(t, r, k.kind, k.message)
			if !slices.Equal(r.Logs, []string{"before"}) {
				t.Errorf("logs %q (LOG-5)", r.Logs)
			}
		})
	}
	t.Run("BUDGET-10 a panic of an engine", func(t *testing.T) {
		s := &script{start: func(*script) error { panic("index out of range") }}
		s.running = false
		r := Do(context.Background(), s.spec())
		wantFailure(t, r, runtime.WorkerExit, "engine stopped: internal fault: index out of range")
	})
	t.Run("RUN-9 an error after the end changes nothing", func(t *testing.T) {
		s := &script{start: func(s *script) error { s.send(done); return ErrStopped }}
		wantValue(t, s.do(t), `"done"`)
	})
	t.Run("RUN-8 no guest, no run", func(t *testing.T) {
		spec := (&script{}).spec()
		spec.NewGuest = func(context.Context, *Run) (Guest, error) { return nil, errors.New("no memory") }
		wantFailure(t, Do(context.Background(), spec), runtime.WorkerExit, "engine stopped: no memory")
	})
}

// FuzzGuestErrors proves RUN-7, BUDGET-8, BUDGET-10, RUN-47 and RUN-52 for the classifier of a guest's errors: whatever error a
// guest ends with, however wrapped and with whatever text, the run ends once, as the kind that the error stands for, within its
// output and with a message that is UTF-8; and an error that comes after the end changes nothing (RUN-9).
func FuzzGuestErrors(f *testing.F) {
	code := testCode(f)
	for _, text := range []string{"", "x", "unreachable", "heap limit reached", "string too long", "a\nb", "\xff\xfe", strings.Repeat("long ", 100)} {
		for which := range uint8(10) {
			f.Add(which, text, "    at f (program.ts:2:5)\n", 2, 5, false)
			f.Add(which, text, "\tat f (program.ts:3:1(7))", -1, 1<<40, which%2 == 0)
		}
	}
	const most = 300
	f.Fuzz(func(t *testing.T, which uint8, text, stack string, line, column int, over bool) {
		program := &ProgramError{Message: text, Line: line, Column: column, Stack: stack}
		errs := []struct {
			err    error
			kind   runtime.Kind
			exact  string // the whole message, or
			prefix string // how it begins
		}{
			{err: ErrHeap, kind: runtime.WorkerExit, exact: "heap limit reached: 64 MiB"},
			{err: fmt.Errorf("%s: %w", text, ErrHeap), kind: runtime.WorkerExit, exact: "heap limit reached: 64 MiB"},
			{err: ErrStack, kind: runtime.Exception, exact: StackMessage},
			{err: fmt.Errorf("%w: %s", ErrStack, text), kind: runtime.Exception, exact: StackMessage},
			{err: errors.Join(ErrString, errors.New(text)), kind: runtime.Exception, exact: "InternalError: string too long"},
			{err: program, kind: runtime.Exception, prefix: text},
			{err: fmt.Errorf("evaluate: %w", program), kind: runtime.Exception, prefix: text},
			{err: errors.New(text), kind: runtime.WorkerExit, prefix: "engine stopped: " + text},
			{err: errors.Join(program, ErrHeap), kind: runtime.WorkerExit, exact: "heap limit reached: 64 MiB"}, // the harder end
			{err: ErrStopped, kind: runtime.WorkerExit, prefix: "engine stopped: "},
		}
		c := errs[int(which)%len(errs)]
		s := &script{start: func(s *script) error {
			if over {
				s.send(done)
			}
			return c.err
		}}
		spec := s.spec()
		spec.Code, spec.Limits.MaxOutput = code, most
		r := s.run(t, context.Background(), spec)
		if over {
			wantValue(t, r, `"done"`)
			return
		}
		prefix := strings.ToValidUTF8(c.prefix, "\uFFFD")
		switch {
		case r.Error == nil:
			t.Fatalf("RUN-6 completed with %v after %v", r.Value, c.err)
		case r.Usage.OutputBytes > most || !utf8.ValidString(r.Error.Message):
			t.Errorf("LOG-14 %d bytes charged for %q", r.Usage.OutputBytes, r.Error.Message)
		case r.Error.Kind == runtime.OutputLimit: // a text that does not fit
			if jsonval.StringSize(c.prefix)+jsonval.StringSize(stack) < most/4 {
				t.Errorf("LOG-14 %q is taken for too long", c.prefix)
			}
		case r.Error.Kind != c.kind:
			t.Errorf("RUN-7 %v ends as %v", c.err, r.Error)
		case c.exact != "" && r.Error.Message != c.exact:
			t.Errorf("BUDGET-10 %v gives the message %q", c.err, r.Error.Message)
		case c.exact == "" && !strings.HasPrefix(strings.ToValidUTF8(r.Error.Message, "\uFFFD"), prefix) && utf8.ValidString(c.prefix):
			t.Errorf("BUDGET-10 %v gives the message %q", c.err, r.Error.Message)
		case r.Error.Line < 0 || r.Error.Column < 0 || (r.Error.Line == 0) != (r.Error.Column == 0) || r.Error.Line > 4:
			t.Errorf("RUN-39 the position %d:%d", r.Error.Line, r.Error.Column)
		}
	})
}

func FuzzReceive(f *testing.F) {
	f.Add(uint32(OpCall), 1.0, 0.0, "echo", "1")
	f.Add(uint32(OpDone), 0.0, 0.0, `{"a":[1,-0]}`, "")
	f.Add(uint32(OpMapStack), 0.0, 0.0, "    at f (program.ts:1:1)\n", "")
	f.Add(uint32(OpTimer), 1.0, -5.0, "", "")
	f.Add(uint32(OpFail), 1e9, 2.0, "exception", "TypeError: not a function\n    at program.ts:1:1")
	f.Fuzz(func(t *testing.T, op uint32, n, m float64, a, b string) {
		var called atomic.Int64
		function := runtime.Function{Name: "echo", Call: func(_ context.Context, arg jsonval.Value, reply func(any, error)) {
			called.Add(1)
			if !arg.Exists() {
				t.Error("an argument that does not exist")
			}
			reply(arg, nil)
		}}
		s := &script{start: func(s *script) error {
			frame := Frame{Op: Op(op), N: n, M: m, A: a, B: b}
			s.send(frame, frame)
			s.send(Frame{Op: OpTimer, N: 77, M: 0})
			return nil
		}}
		s.fire = func(s *script, id uint32) error {
			if id == 77 {
				s.send(done)
			}
			return nil
		}
		spec := s.spec(function)
		spec.Limits.MaxOutput = 200
		r := s.run(t, context.Background(), spec)
		if called.Load() > 1 {
			t.Error("a number was used twice")
		}
		if r.Error == nil && !r.Value.Exists() && Op(op) != OpDoneVoid {
			t.Errorf("no outcome of %v", Op(op))
		}
		if r.Usage.OutputBytes > 200 {
			t.Errorf("%d bytes charged", r.Usage.OutputBytes)
		}
	})
}
