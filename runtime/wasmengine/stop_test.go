package wasmengine

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// unstoppable are programs that stay in one stretch of compiled code, each of its own kind, and never end.
var unstoppable = map[string]string{
	"loop":          "for (;;);",
	"native loop":   "Array.prototype.indexOf.call({length: 2**53-1}, 1)",
	"bulk fill":     "const u = new Uint8Array(4e8); for (;;) u.fill(1)",
	"bulk copy":     "const u = new Uint8Array(2e8); for (;;) u.copyWithin(1, 0)",
	"regexp":        "/^(a+)+$/.test('a'.repeat(50) + 'b')",
	"sort":          "[1, 2].sort(() => { for (;;); })",
	"JSON":          "let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; JSON.stringify(a)",
	"bigint":        "const x = 3n ** 100000n; for (;;) x * x",
	"microtasks":    "for (;;) await null",
	"caught":        "for (;;) { try { for (;;); } catch {} finally { continue } }",
	"generator":     "function* g() { for (;;) yield 1 } for (const x of g());",
	"while reading": "return { get x() { for (;;); } }",
	"stringifying":  "throw { toString() { for (;;); } }",
	"inspecting":    "console.log(new Proxy({}, { ownKeys() { for (;;); } })); for (;;);",
}

// eternity is a net under what should take milliseconds, on a machine that does a hundred other things besides.
const eternity = time.Minute

// stoppedHost notes how often the guest looks after it has been told to stop.
type stoppedHost struct {
	*loop.Run
	told  bool
	after *int
}

func (h *stoppedHost) Tick() bool {
	if h.told {
		*h.after++
	}
	h.told = h.Run.Tick()
	return h.told
}

func TestStop(t *testing.T) {
	const compute = 150 * time.Millisecond
	e := newEngine(t, Options{Limits: runtime.Limits{Compute: compute}})
	after := 0
	intercept(e, func(r *loop.Run) host { return &stoppedHost{Run: r, after: &after} }, nil)
	for name, program := range unstoppable {
		t.Run("BUDGET-4 HOSTILE-11 RUN-50 compute ends "+name, func(t *testing.T) {
			start := time.Now()
			r := tryRun(t, e, runtime.Request{Program: program})
			took := time.Since(start)
			wantFailure(t, r, runtime.Timeout, "compute time used up: limit 150 ms")
			if took > eternity {
				t.Errorf("took %v", took)
			}
			// What may pass until a guest stops is the rest of one stretch between two looks (BenchmarkLiveness measures it).
			if after != 0 {
				t.Errorf("the guest went on for %d looks", after)
			}
			if r.Usage.Compute < compute || r.Usage.Steps < 1 {
				t.Errorf("usage %+v", r.Usage)
			}
		})
	}
	t.Run("BUDGET-4 a run is stopped in time", func(t *testing.T) {
		// That a machine is too busy to let it happen is no proof against it; that it happens is one for it.
		var r runtime.Result
		for range 100 {
			if r = tryRun(t, e, runtime.Request{Program: "for (;;);"}); r.Usage.Compute <= compute+25*time.Millisecond {
				return
			}
		}
		t.Errorf("compute of %v, budget %v", r.Usage.Compute, compute)
	})
	t.Run("BUDGET-5 the wall clock ends a wait", func(t *testing.T) {
		e := newEngine(t, Options{Limits: runtime.Limits{Wall: 100 * time.Millisecond}})
		r := tryRun(t, e, runtime.Request{Program: "await tools.x({})", Namespaces: silent()})
		wantFailure(t, r, runtime.Timeout, "wall-clock limit reached: 100 ms")
	})
	t.Run("BUDGET-4 a wait for the host is not billed, a loop beside it is", func(t *testing.T) {
		waiting := runtime.Request{
			Program: "return await tools.x({})",
			Namespaces: serving(runtime.Go(func(context.Context, jsonval.Value) (any, error) {
				time.Sleep(2 * compute)
				return "late", nil
			})),
		}
		// The little that the program does counts by the clock too, so that once is enough on a busy machine.
		r := tryRun(t, e, waiting)
		for i := 0; r.Error != nil && i < 50; i++ {
			r = tryRun(t, e, waiting)
		}
		if r.Value.Str() != "late" {
			t.Errorf("%v, %v", r.Value, r.Error)
		}
		r = tryRun(t, e, runtime.Request{Program: "void tools.x({}); for (;;);", Namespaces: silent()})
		wantFailure(t, r, runtime.Timeout, "compute time used up: limit 150 ms")
	})
}

func TestAbort(t *testing.T) {
	e := newEngine(t, Options{})
	t.Run("BUDGET-7 an abort stops hot loops", func(t *testing.T) {
		for _, program := range []string{unstoppable["loop"], unstoppable["native loop"], unstoppable["bulk fill"], "await tools.x({})"} {
			ctx, cancel := context.WithCancelCause(context.Background())
			var at time.Time
			timer := time.AfterFunc(50*time.Millisecond, func() {
				at = time.Now()
				cancel(errors.New("enough of it"))
			})
			r, err := e.Run(ctx, runtime.Request{Program: program, Namespaces: silent()})
			if err != nil {
				t.Fatal(err)
			}
			timer.Stop()
			wantFailure(t, r, runtime.Abort, "enough of it")
			if late := time.Since(at); late > eternity {
				t.Errorf("%s: delivered %v after the signal", program, late)
			}
		}
	})
	t.Run("HOSTILE-11 no code runs after a stop", func(t *testing.T) {
		r := tryRun(t, newEngine(t, Options{Limits: runtime.Limits{Compute: 50 * time.Millisecond}}), runtime.Request{
			Program: "try { for (;;); } catch { console.log('caught') } finally { console.log('finally') }",
		})
		if len(r.Logs) != 0 {
			t.Errorf("logs %q", r.Logs)
		}
	})
	t.Run("RUN-45 process.exit cannot be caught", func(t *testing.T) {
		for program, want := range map[string]string{
			"try { process.exit(7) } catch { } finally { console.log('no') } return 1":        "program ended itself with code 7",
			"await Promise.resolve().then(() => process.exit()); return 1":                    "program ended itself with code 0",
			"return { get x() { process.exit(3) } }":                                          "program ended itself with code 3",
			"setTimeout(() => process.exit(4)); try { await new Promise(() => {}) } catch {}": "program ended itself with code 4",
		} {
			r := tryRun(t, e, runtime.Request{Program: program})
			wantFailure(t, r, runtime.WorkerExit, want)
			if len(r.Logs) != 0 {
				t.Errorf("%s: logs %q", program, r.Logs)
			}
		}
	})
}

// TestCollector: a guest in a loop must not hold back a garbage collection of the process, which has to stop all goroutines.
func TestCollector(t *testing.T) {
	e := newEngine(t, Options{Limits: runtime.Limits{Compute: 2 * eternity}})
	for _, name := range []string{"loop", "native loop", "bulk fill", "regexp"} {
		t.Run("RUN-50 RUN-41 "+name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = e.Run(ctx, runtime.Request{Program: unstoppable[name]})
			}()
			time.Sleep(30 * time.Millisecond)
			var worst time.Duration
			for range 10 {
				start := time.Now()
				goruntime.GC()
				worst = max(worst, time.Since(start))
			}
			select {
			case <-done:
				t.Error("the program ended while the collector ran")
			default:
			}
			cancel()
			<-done
			// Held back, it would wait for the whole compute budget.
			if worst > eternity {
				t.Errorf("a collection took %v", worst)
			}
			t.Logf("worst collection %v", worst)
		})
	}
}

func TestSteps(t *testing.T) {
	t.Run("RUN-50 the count of work is the same in each run", func(t *testing.T) {
		e := newEngine(t, Options{})
		other := newEngine(t, Options{})
		for _, program := range []string{
			"return 1",
			"let s = ''; for (let i = 0; i < 3000; i++) s += Math.random(); return s.length + Date.now()",
			"const a = []; for (let i = 0; i < 20000; i++) a.push({i, s: 'x' + i}); return JSON.stringify(a).length",
			"const u = new Uint8Array(1e6); u.fill(3); return u.slice(5).length",
			"for (let i = 0; i < 30; i++) await tools.x({i}); return new Error('x').stack",
			"function f() { f() } try { f() } catch (e) { return e.message }",
		} {
			req := runtime.Request{Program: program, Namespaces: answering(1), Seed: 7, Start: time.UnixMilli(1e12)}
			first := mustRun(t, e, req)
			for _, e := range []*Engine{e, e, other} {
				r := mustRun(t, e, req)
				if r.Usage.Steps != first.Usage.Steps || r.Usage.HeapBytes != first.Usage.HeapBytes || r.Value.String() != first.Value.String() {
					t.Errorf("%s: %d steps, %d bytes, %.50v; first %d, %d, %.50v", program, r.Usage.Steps, r.Usage.HeapBytes, r.Value,
						first.Usage.Steps, first.Usage.HeapBytes, first.Value)
				}
			}
			if !strings.Contains(program, "return 1") && first.Usage.Steps < interval {
				t.Errorf("%s: %d steps only", program, first.Usage.Steps)
			}
		}
	})
}
