package runtimetest

// Section 7: budgets. What is measured here is that a run ends, on the right budget, and not how fast a machine is.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// quick is for programs that run into their compute budget.
var quick = runtime.Limits{Compute: 250 * time.Millisecond, Wall: 30 * time.Second}

func testBudgets(t *testing.T, s *suite) {
	spent := func(t *testing.T, r runtime.Result, _ *host) {
		if r.Usage.Compute < quick.Compute {
			t.Errorf("compute %v of %v", r.Usage.Compute, quick.Compute)
		}
		if r.Error.Budget != runtime.BudgetCompute || !errors.Is(r.Error, context.DeadlineExceeded) {
			t.Errorf("budget %q", r.Error.Budget)
		}
	}
	const out = "compute time used up: limit 250 ms"
	wall := runtime.Limits{Compute: patience, Wall: 300 * time.Millisecond}
	walled := func(t *testing.T, r runtime.Result, _ *host) {
		if r.Error.Budget != runtime.BudgetWall || r.Usage.Wall < wall.Wall {
			t.Errorf("budget %q after %v", r.Error.Budget, r.Usage.Wall)
		}
	}
	s.checks(t, []check{
		{name: "BUDGET-4 a hot loop", program: "for (;;);", limits: quick, kind: runtime.Timeout, message: out, also: spent},
		{name: "BUDGET-4 a hot loop behind an await", program: "await tools.echo(1); for (;;);" + decl, limits: quick, kind: runtime.Timeout, message: out, also: spent},
		{name: "BUDGET-4 a microtask storm", program: "for (;;) await null", limits: quick, kind: runtime.Timeout, message: out, also: spent},
		{name: "BUDGET-4 a promise storm", program: "const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})", limits: quick, kind: runtime.Timeout, message: out, also: spent},
		{name: "BUDGET-4 a decoy does not hide a loop", program: "tools.never({}); for (;;);" + decl, limits: quick, kind: runtime.Timeout, message: out, calls: "never", also: spent},
		{name: "BUDGET-4 a timer storm", program: "const f = () => { for (let i = 0; i < 2e4; i++); setTimeout(f, 0) }; f(); await new Promise(() => {})",
			limits: runtime.Limits{Compute: 100 * time.Millisecond, Wall: 30 * time.Second}, kind: runtime.Timeout},
		{name: "BUDGET-3 a getter of the result is metered", program: "return { get x() { for (;;); } }", limits: quick, kind: runtime.Timeout, message: out, also: spent},
		{name: "BUDGET-3 the text of what is thrown is metered", program: "throw { toString() { for (;;); } }", limits: quick, kind: runtime.Timeout, message: out, also: spent},
		{name: "BUDGET-5 a function that never answers", program: "await tools.never({})" + decl, limits: wall, kind: runtime.Timeout, message: "wall-clock limit reached: 300 ms", also: walled},
		{name: "BUDGET-5 a timer far away", program: "await new Promise(r => setTimeout(r, 1e9))", limits: wall, kind: runtime.Timeout, message: "wall-clock limit reached: 300 ms", also: walled},
		{name: "BUDGET-5 the wall stops a loop too", program: "for (;;);", limits: wall, kind: runtime.Timeout, message: "wall-clock limit reached: 300 ms", also: walled},
		{name: "GATE-1 a request shortens the wall-clock budget", program: "await tools.never({})" + decl, request: shorter(300 * time.Millisecond), kind: runtime.Timeout, message: "wall-clock limit reached: 300 ms", also: walled},
		{name: "GATE-1 a request does not lengthen the wall-clock budget", program: "await tools.never({})" + decl, request: shorter(time.Hour), limits: wall, kind: runtime.Timeout, message: "wall-clock limit reached: 300 ms", also: walled},
		{name: "BUDGET-6 a promise that nothing can settle", program: "console.log('a'); await new Promise(() => {})", kind: runtime.WorkerExit, message: "the program waits for a promise that nothing can settle", logs: []string{"a"}},
		{name: "BUDGET-6 after the last reply", program: "await tools.echo(1); await new Promise(() => {})" + decl, kind: runtime.WorkerExit, message: "the program waits for a promise that nothing can settle"},
		{name: "BUDGET-6 a timer is something to wait for", program: "return await new Promise(r => setTimeout(() => r('woken'), 50))", want: `"woken"`},
		{name: "BUDGET-8 the heap limit", program: "const a: any[] = []; for (let i = 0; ; i++) a.push('x'.repeat(1e6) + i)", limits: runtime.Limits{Heap: 48 << 20}, kind: runtime.WorkerExit, message: "heap limit reached: 48 MiB"},
		{name: "BUDGET-8 the heap limit cannot be caught", program: "const a: any[] = []; try { for (let i = 0; ; i++) a.push(new Array(1e5).fill(i)) } catch { a.length = 0; return 'caught' }", limits: runtime.Limits{Heap: 48 << 20}, kind: runtime.WorkerExit},
		{name: "BUDGET-8 the heap limit in a callback", program: "setTimeout(() => { const a: any[] = []; for (let i = 0; ; i++) a.push(new Array(1e5).fill(i)) }, 1); await tools.never({})" + decl, limits: runtime.Limits{Heap: 48 << 20}, kind: runtime.WorkerExit, message: "heap limit reached: 48 MiB"},
		{name: "BUDGET-8 what is freed can be used again", program: "let n = 0; for (let i = 0; i < 60; i++) n += 'x'.repeat(1e6).length; return n", limits: runtime.Limits{Heap: 48 << 20}, want: "60000000"},
		{name: "BUDGET-8 the next run works", program: "return 1", limits: runtime.Limits{Heap: 48 << 20}, want: "1"},
	})

	// What is measured by the clock happens in time on a machine that has the time, and once is proof enough.
	sometime := func(name, program string, in func(r runtime.Result) bool) {
		s.test(t, name, func(t *testing.T) {
			var r runtime.Result
			for range 50 {
				h := newHost()
				var err error
				r, err = s.engine(t, quick).Run(context.Background(), runtime.Request{Program: program, Namespaces: h.namespaces()})
				h.close()
				if err != nil {
					t.Fatal(err)
				}
				if in(r) {
					return
				}
			}
			t.Errorf("never: %v, %v, %+v", r.Value, r.Error, r.Usage)
		})
	}
	waits := func(r runtime.Result) bool { return r.Value.Str() == "ok" }
	sometime("BUDGET-3 waiting is not metered", "await tools.wait({ ms: 600 }); return 'ok'"+decl, waits)
	sometime("BUDGET-3 timers are not metered", "await new Promise(r => setTimeout(r, 400)); return 'ok'", waits)
	sometime("BUDGET-4 the overshoot is one sampling interval", "for (;;);", func(r runtime.Result) bool {
		return errors.Is(r.Error, runtime.Timeout) && r.Usage.Compute <= quick.Compute+25*time.Millisecond
	})

	s.test(t, "GATE-1 a negative wall-clock budget is a misuse", func(t *testing.T) {
		_, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{Program: "return 1", Wall: -time.Second})
		misuse(t, err, "-1s")
	})
	s.test(t, "BUDGET-7 an abort stops a hot loop", func(t *testing.T) {
		r, took := abortAfter(t, s, "for (;;);", runtime.Limits{})
		(&check{kind: runtime.Abort, message: "enough"}).verify(t, r)
		if took > patience {
			t.Errorf("delivered %v after the signal", took)
		}
		if !errors.Is(r.Error, errEnough) || !errors.Is(r.Error, context.Canceled) {
			t.Error("the failure does not match the caller's cause")
		}
	})
	s.test(t, "BUDGET-7 an abort ends a wait", func(t *testing.T) {
		r, _ := abortAfter(t, s, "console.log('a'); await tools.never({})"+decl, runtime.Limits{})
		(&check{kind: runtime.Abort, message: "enough", logs: []string{"a"}}).verify(t, r)
	})
	s.test(t, "BUDGET-7 what is answered because of an abort does not reach the program", func(t *testing.T) {
		for range 100 {
			ctx, cancel := context.WithCancelCause(context.Background())
			react := func(_ context.Context, _ jsonval.Value, reply func(any, error)) {
				go func() {
					cancel(errEnough)
					reply(nil, errEnough)
				}()
			}
			r, err := s.engine(t, runtime.Limits{}).Run(ctx, runtime.Request{
				Program:    "try { await tools.react({}) } catch { console.log('caught') }" + decl,
				Namespaces: []runtime.Namespace{{Global: "tools", Functions: []runtime.Function{{Name: "react", Call: react}}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			(&check{kind: runtime.Abort, message: "enough", logs: []string{}}).verify(t, r)
		}
	})
	s.test(t, "HOSTILE-11 an abort runs nothing more of the program", func(t *testing.T) {
		r, _ := abortAfter(t, s, `
			function* gen() { try { for (;;) yield 1 } finally { console.log('return') } }
			try { for (const x of gen()); } catch { console.log('catch') } finally { console.log('finally'); for (;;); }`, runtime.Limits{})
		(&check{kind: runtime.Abort, logs: []string{}}).verify(t, r)
	})
	s.test(t, "RUN-41 twenty runs at once end each on its own", func(t *testing.T) {
		// Each run's turns are short, but twenty of them share the processors with a loop.
		e := s.engine(t, runtime.Limits{Compute: 2 * time.Second})
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				h := newHost()
				defer h.close()
				program, want := fmt.Sprintf("let n = %d; for (let i = 0; i < 5; i++) n = (await tools.wait({ ms: 5, n: n + 1 })).n; return n", i), fmt.Sprint(i+5)
				if i == 7 {
					program, want = "for (;;);", ""
				}
				r, err := e.Run(context.Background(), runtime.Request{Program: program + decl, Namespaces: h.namespaces()})
				switch {
				case err != nil:
					t.Error(err)
				case want == "" && (r.Error == nil || r.Error.Kind != runtime.Timeout):
					t.Errorf("the loop ended as %v %v", r.Value, r.Error)
				case want != "" && r.Value.String() != want:
					t.Errorf("run %d: %v %v, want %s", i, r.Value, r.Error, want)
				}
			})
		}
		wg.Wait()
	})
}

// shorter asks for a wall-clock budget beside the engine's.
func shorter(wall time.Duration) func(*runtime.Request) {
	return func(req *runtime.Request) { req.Wall = wall }
}

var errEnough = errors.New("enough")

// abortAfter runs a program and aborts it a little later. took is from the signal to the result.
func abortAfter(t *testing.T, s *suite, program string, l runtime.Limits) (r runtime.Result, took time.Duration) {
	t.Helper()
	h := newHost()
	defer h.close()
	ctx, cancel := context.WithCancelCause(context.Background())
	var at time.Time
	go func() {
		time.Sleep(80 * time.Millisecond)
		at = time.Now()
		cancel(errEnough)
	}()
	r, err := s.engine(t, l).Run(ctx, runtime.Request{Program: program, Namespaces: h.namespaces()})
	if err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	return r, time.Since(at)
}
