package loop

// The event loop in fake time: order, clock, timers, budgets.

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// after answers its argument after that many milliseconds.
func after(t testing.TB) runtime.Function {
	return runtime.Function{Name: "after", Call: runtime.Go(func(ctx context.Context, arg jsonval.Value) (any, error) {
		select {
		case <-time.After(time.Duration(arg.Float()) * time.Millisecond):
		case <-ctx.Done():
		}
		return arg, nil
	})}
}

func call(id int, member string, arg any) Frame {
	return Frame{Op: OpCall, N: float64(id), A: member, B: fmt.Sprint(arg)}
}

func TestLoop(t *testing.T) {
	bubble := func(name string, f func(t *testing.T)) {
		t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
	}
	bubble("RUN-27 answers and timers come in the order of time, one event a turn", func(t *testing.T) {
		var order []string
		note := func(s *script, what string, id uint32) error {
			order = append(order, fmt.Sprintf("%s%d@%d", what, id, s.host.Clock().UnixMilli()-1_700_000_000_000))
			if len(order) == 5 {
				s.send(done)
			}
			return nil
		}
		s := &script{
			start: func(s *script) error {
				s.send(call(1, "after", 30), call(2, "after", 10), Frame{Op: OpTimer, N: 1, M: 20}, Frame{Op: OpTimer, N: 2, M: 5}, Frame{Op: OpTimer, N: 3, M: 20})
				return nil
			},
			settle: func(s *script, id uint32, _ bool, _ string) error { return note(s, "reply", id) },
			fire:   func(s *script, id uint32) error { return note(s, "timer", id) },
		}
		var turns []runtime.Turn
		spec := s.spec(after(t))
		spec.Request.OnTurn = func(turn runtime.Turn) { turns = append(turns, turn) }
		wantValue(t, s.run(t, t.Context(), spec), `"done"`)
		want := []string{"timer2@5", "reply2@10", "timer1@20", "timer3@20", "reply1@30"}
		if !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
		if len(turns) != 5 || turns[1] != (runtime.Turn{Kind: runtime.TurnReply, ID: 2, Clock: time.UnixMilli(1_700_000_000_010)}) {
			t.Errorf("turns %v", turns)
		}
	})
	bubble("RUN-44 a timer is cleared, set again and cleared in its own callback", func(t *testing.T) {
		s := &script{
			start: func(s *script) error {
				s.send(Frame{Op: OpTimer, N: 1, M: 5}, Frame{Op: OpTimer, N: 2, M: 10}, Frame{Op: OpClear, N: 1}, Frame{Op: OpClear, N: 9}, Frame{Op: OpTimer, N: 2, M: 50}, Frame{Op: OpTimer, N: 3, M: 20})
				return nil
			},
			fire: func(s *script, id uint32) error {
				s.send(Frame{Op: OpClear, N: float64(id)})
				if id == 2 {
					s.send(done)
				}
				return nil
			},
		}
		wantValue(t, s.do(t), `"done"`)
		if !slices.Equal(s.fired, []uint32{3, 2}) {
			t.Errorf("fired %v", s.fired)
		}
	})
	bubble("BUDGET-4 busy time is measured, waiting and handlers are not", func(t *testing.T) {
		slow := runtime.Function{Name: "slow", Call: func(_ context.Context, _ jsonval.Value, reply func(any, error)) {
			time.Sleep(time.Hour / 100) // a handler that blocks, which it must not
			reply(nil, nil)
		}}
		s := &script{
			start: func(s *script) error { time.Sleep(20 * time.Second); s.send(call(1, "slow", 1)); return nil },
			settle: func(s *script, _ uint32, _ bool, _ string) error {
				time.Sleep(30 * time.Second)
				s.send(Frame{Op: OpTimer, N: 1, M: 100_000})
				return nil
			},
			fire: func(s *script, _ uint32) error { time.Sleep(9 * time.Second); s.send(done); return nil },
		}
		r := s.do(t, slow)
		wantValue(t, r, `"done"`)
		if r.Usage.Compute != 59*time.Second || r.Usage.Wall != 59*time.Second+36*time.Second+100*time.Second-39*time.Second && r.Usage.Wall < 59*time.Second {
			t.Errorf("compute %v, wall %v", r.Usage.Compute, r.Usage.Wall)
		}
	})
	bubble("BUDGET-4 the sum of many turns reaches the limit", func(t *testing.T) {
		s := &script{
			start: func(s *script) error { s.send(Frame{Op: OpTimer, N: 1, M: 1000}); return nil },
			fire: func(s *script, _ uint32) error {
				time.Sleep(25 * time.Second)
				if s.host.Tick() {
					return ErrStopped
				}
				s.send(Frame{Op: OpTimer, N: 1, M: 1000})
				return nil
			},
		}
		r := s.do(t)
		wantFailure(t, r, runtime.Timeout, "compute time used up: limit 60000 ms")
		if r.Error.Budget != runtime.BudgetCompute || len(s.fired) != 3 {
			t.Errorf("budget %q after %d turns", r.Error.Budget, len(s.fired))
		}
	})
	bubble("BUDGET-4 the watchdog stops a guest that never asks", func(t *testing.T) {
		s := &stubborn{stop: make(chan struct{})}
		spec := s.spec()
		spec.NewGuest = func(_ context.Context, host *Run) (Guest, error) { s.host = host; return s, nil }
		began := time.Now()
		r := s.run(t, t.Context(), spec)
		wantFailure(t, r, runtime.Timeout, "compute time used up: limit 60000 ms")
		if took := time.Since(began); took != time.Minute {
			t.Errorf("stopped after %v", took)
		}
	})
	bubble("BUDGET-5 the wall is never paused", func(t *testing.T) {
		s := &script{start: func(s *script) error { s.send(call(1, "silent", 1)); return nil }}
		r := s.do(t, silent)
		wantFailure(t, r, runtime.Timeout, "wall-clock limit reached: 600000 ms")
		if r.Error.Budget != runtime.BudgetWall || r.Usage.Wall != 10*time.Minute || !errors.Is(r.Error, context.DeadlineExceeded) {
			t.Errorf("budget %q after %v", r.Error.Budget, r.Usage.Wall)
		}
	})
	bubble("BUDGET-5 the wall counts from the start of the run", func(t *testing.T) {
		s := &script{start: func(s *script) error { s.send(call(1, "silent", 1)); return nil }}
		spec := s.spec(silent)
		spec.Began = time.Now().Add(-9 * time.Minute)
		began := time.Now()
		wantFailure(t, s.run(t, t.Context(), spec), runtime.Timeout, "wall-clock limit reached: 600000 ms")
		if took := time.Since(began); took != time.Minute {
			t.Errorf("ended after %v", took)
		}
	})
	bubble("BUDGET-11 whichever is exceeded first decides", func(t *testing.T) {
		s := &script{start: func(s *script) error { s.send(call(1, "silent", 1)); return nil }}
		spec := s.spec(silent)
		spec.Limits.Wall = time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		wantFailure(t, s.run(t, ctx, spec), runtime.Timeout, "wall-clock limit reached: 1000 ms")
	})
	bubble("BUDGET-6 a guest that waits for nothing is told so", func(t *testing.T) {
		wantFailure(t, (&script{}).do(t), runtime.WorkerExit, "the program waits for a promise that nothing can settle")
	})
	bubble("BUDGET-7 the caller's cause is the message", func(t *testing.T) {
		cause := errors.New("user pressed stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &script{start: func(s *script) error { s.send(Frame{Op: OpLog, A: "a"}, call(1, "silent", 1)); return nil }}
		time.AfterFunc(time.Second, func() { cancel(cause) })
		r := s.run(t, ctx, s.spec(silent))
		wantFailure(t, r, runtime.Abort, "user pressed stop")
		if !errors.Is(r.Error, cause) || !slices.Equal(r.Logs, []string{"a"}) {
			t.Errorf("%v, logs %q", r.Error, r.Logs)
		}
	})
	bubble("RUN-40 the engine's end is the message", func(t *testing.T) {
		var life Life
		ctx, leave, err := life.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := &script{start: func(s *script) error { s.send(call(1, "silent", 1)); return nil }}
		closed := make(chan error, 1)
		time.AfterFunc(time.Second, func() { closed <- life.Close(context.Background()) })
		wantFailure(t, s.run(t, ctx, s.spec(silent)), runtime.Abort, "runtime is shut down")
		select {
		case <-closed:
			t.Error("Close did not wait for the run")
		default:
		}
		leave()
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if _, _, err := life.Enter(t.Context()); err == nil {
			t.Error("a run began after Close")
		}
	})
	bubble("RUN-28 a handler's context ends after the run, with its cause", func(t *testing.T) {
		var wg sync.WaitGroup
		var cause error
		f := runtime.Function{Name: "f", Call: func(ctx context.Context, _ jsonval.Value, reply func(any, error)) {
			if ctx.Err() != nil {
				t.Error("ended before the run")
			}
			wg.Go(func() {
				<-ctx.Done()
				cause = context.Cause(ctx)
				reply("late", nil)
			})
		}}
		s := &script{start: func(s *script) error { s.send(call(1, "f", 1), done); return nil }}
		wantValue(t, s.do(t, f), `"done"`)
		wg.Wait()
		if !errors.Is(cause, errSettled) || len(s.settled) != 0 {
			t.Errorf("cause %v, settled %v", cause, s.settled)
		}
	})
	bubble("RUN-9 the first terminal condition wins", func(t *testing.T) {
		s := &script{start: func(s *script) error {
			s.send(Frame{Op: OpExit, A: "7"}, done, Frame{Op: OpLog, A: "late"}, call(1, "echo", 1), Frame{Op: OpTimer, N: 1, M: 1})
			return nil
		}}
		r := s.do(t, runtime.Function{Name: "echo", Call: func(context.Context, jsonval.Value, func(any, error)) { t.Error("called after the end") }})
		wantFailure(t, r, runtime.WorkerExit, "program ended itself with code 7")
		if len(r.Logs) != 0 {
			t.Errorf("logs %q", r.Logs)
		}
	})
	bubble("RUN-46 an uncaught error ends the run with its position", func(t *testing.T) {
		s := &script{start: func(s *script) error { s.send(Frame{Op: OpUncaught, A: "boo", N: 3, M: 4}); return nil }}
		r := s.do(t)
		wantFailure(t, r, runtime.WorkerExit, "uncaught error: boo")
		if r.Error.Line != 3 || r.Error.Column != 4 {
			t.Errorf("position %d:%d", r.Error.Line, r.Error.Column)
		}
	})
	bubble("RUN-51 a detached guest that is stuck is left behind and emits nothing", func(t *testing.T) {
		release := make(chan struct{})
		s := &script{start: func(s *script) error {
			<-release
			s.send(Frame{Op: OpLog, A: "from the grave"}, done)
			return nil
		}}
		spec := s.spec()
		spec.Request.OnLog = func(string) { t.Error("an entry after the result") }
		var life Life
		ctx, leave, _ := life.Enter(t.Context())
		spec.Detach = life.Go
		spec.Limits.Compute = time.Second
		began := time.Now()
		r := Do(ctx, spec)
		leave()
		wantFailure(t, r, runtime.Timeout, "compute time used up: limit 1000 ms")
		if took := time.Since(began); took > time.Second+250*time.Millisecond {
			t.Errorf("delivered after %v", took)
		}
		short, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := life.Close(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close did not wait for the goroutine: %v", err)
		}
		close(release)
		if err := life.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if s.closed != 1 {
			t.Error("the guest was not closed")
		}
	})
	bubble("RUN-5 figures of the guest are reported", func(t *testing.T) {
		s := &script{heap: func() int64 { return 123 }, start: func(s *script) error { s.send(done); return nil }}
		r := s.do(t)
		if r.Usage.HeapBytes != 123 || r.Usage.Steps != 7 || r.Seed != 1 || r.Usage.OutputBytes != 2+6 {
			t.Errorf("%+v, seed %d", r.Usage, r.Seed)
		}
	})
}

// stubborn runs until it is interrupted.
type stubborn struct {
	script
	stop chan struct{}
}

func (s *stubborn) Start(string) error {
	<-s.stop
	return ErrStopped
}

func (s *stubborn) Interrupt() { close(s.stop) }

func TestConfig(t *testing.T) {
	t.Run("RUN-18 the configuration is JSON in declared order", func(t *testing.T) {
		req := runtime.Request{
			Seed: 0xFFFF_FFFF_0000_0001,
			Namespaces: []runtime.Namespace{
				{Global: "a", ErrorClass: &runtime.ErrorClass{Name: "E", MemberProperty: "m\"\xff"}, Functions: []runtime.Function{{Name: "__proto__"}, {Name: "b\n"}, {Name: "x"}, {Name: "b\n"}}},
				{Global: "c"},
			},
			Globals: []runtime.Global{{Name: "g", Value: jsonval.MustOf([]int{1})}, {Name: "h", Value: jsonval.Null()}},
		}
		got := configText(&req, testLimits)
		want := `{"limit":1048576,"seed":[4294967295,1],"namespaces":[{"global":"a","errors":["E","m\"` + "\uFFFD" + `"],"members":["__proto__","b\n","x"]},{"global":"c","members":[]}],"globals":[["g",[1]],["h",null]]}`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if _, err := jsonval.ParseString(got); err != nil {
			t.Error(err)
		}
	})
}

func TestPrelude(t *testing.T) {
	t.Run("HOSTILE-7 the numbers of the messages are the same on both sides", func(t *testing.T) {
		for name, op := range map[string]Op{
			"OP_CALL": OpCall, "OP_LOG": OpLog, "OP_TIMER": OpTimer, "OP_CLEAR": OpClear, "OP_DONE": OpDone, "OP_DONE_VOID": OpDoneVoid, "OP_FAIL": OpFail,
			"OP_EXIT": OpExit, "OP_UNCAUGHT": OpUncaught, "OP_LIMIT": OpLimit, "OP_MAP_STACK": OpMapStack, "OP_CHECK": OpCheck, "OP_BRAND": OpBrand, "OP_TARGET": OpTarget,
		} {
			if !strings.Contains(Prelude, fmt.Sprintf("%s = %d", name, op)) {
				t.Errorf("the prelude has no %s = %d", name, op)
			}
		}
	})
	t.Run("RUN-26 the prelude looks nothing up that a program could replace", func(t *testing.T) {
		texts := regexp.MustCompile(`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`)
		bad := regexp.MustCompile(`\.\.\.\w+[^\w)]|\bof\b|\bawait\b|\.(?:push|call|apply|then|slice|indexOf|join|map|charCodeAt|toString|test|exec)\(`)
		for n, line := range strings.Split(Prelude, "\n") {
			code, _, _ := strings.Cut(texts.ReplaceAllString(line, "''"), "//")
			if found := bad.FindString(code); found != "" {
				t.Errorf("line %d uses %q: %s", n+1, found, line)
			}
		}
	})
}

func TestHint(t *testing.T) {
	req := &runtime.Request{
		Program:    "const a = 1;\nawait tools.read_fil({ path: 'x' });\nawait tools['list-dirs']({});\nconst b = await tools.big(\n  1,\n  2,\n);",
		Namespaces: []runtime.Namespace{{Global: "tools", Functions: []runtime.Function{{Name: "write_file"}, {Name: "read_file"}, {Name: "list_dir"}, {Name: "has space"}}}},
		Globals:    []runtime.Global{{Name: "input", Value: jsonval.Null()}},
	}
	cases := []struct {
		name, message string
		line          int
		want          string
	}{
		{"CODE-34 QuickJS's message", "TypeError: not a function\n    at program.ts:2:7", 2, "TypeError: tools.read_fil is not a function; tools has read_file, write_file, list_dir, has space\n    at program.ts:2:7"},
		{"CODE-34 goja's message", "TypeError: Object has no member 'read_fil'\n    at program.ts:2:7", 2, "TypeError: tools.read_fil is not a function; tools has read_file, write_file, list_dir, has space\n    at program.ts:2:7"},
		{"CODE-34 a quoted member", "TypeError: not a function", 3, `TypeError: tools["list-dirs"] is not a function; tools has list_dir, has space, read_file, write_file`},
		{"CODE-34 a position in an argument", "TypeError: not a function", 6, "TypeError: tools.big is not a function; tools has list_dir, read_file, has space, write_file"},
		{"CODE-34 without TypeError", "not a function", 2, "tools.read_fil is not a function; tools has read_file, write_file, list_dir, has space"},
		{"CODE-34 something else is no function", "TypeError: not a function", 1, "TypeError: not a function"},
		{"CODE-34 another error", "TypeError: cannot read property", 2, "TypeError: cannot read property"},
		{"CODE-34 an unknown global", "ReferenceError: tool is not defined\n    at x", 1, "ReferenceError: tool is not defined; tools are called as tools.name({…}): the program has tools, input, tools.list_dir, tools.read_file, tools.write_file, tools[\"has space\"]\n    at x"},
		{"CODE-34 a tool's bare name", "ReferenceError: read_file is not defined", 1, "ReferenceError: read_file is not defined; the program has tools.read_file, tools, input, tools.write_file, tools.list_dir, tools[\"has space\"]"},
		{"CODE-34 a bound name", "ReferenceError: tools is not defined", 1, "ReferenceError: tools is not defined"},
		{"CODE-34 no position", "TypeError: not a function", 0, "TypeError: not a function"},
		{"CODE-34 a position past the end", "TypeError: not a function", 99, "TypeError: not a function"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := hint(c.message, req, nil, c.line, 1); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	t.Run("CODE-34 at most ten names", func(t *testing.T) {
		many := *req
		many.Namespaces = []runtime.Namespace{{Global: "tools"}}
		for i := range 500 {
			many.Namespaces[0].Functions = append(many.Namespaces[0].Functions, runtime.Function{Name: fmt.Sprintf("tool_%03d", i)})
		}
		got := hint("TypeError: not a function", &many, nil, 2, 1)
		if n := strings.Count(got, "tool_"); n != 10 || !strings.HasSuffix(got, ", …") {
			t.Errorf("%d names: %s", n, got)
		}
	})
}
