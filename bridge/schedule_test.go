package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// finish starts run_code and returns its result over a channel, so that the test can steer the bodies meanwhile.
func (w *world) finish(ctx context.Context) <-chan registry.Result {
	out := make(chan registry.Result, 1)
	go func() { out <- w.runContext(ctx) }()
	return out
}

func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s never came", what)
		panic("unreachable")
	}
}

// all calls name with n = 1..count and waits for every promise in order.
func all(t *testing.T, p *program, name string, count int) []*promise {
	var promises []*promise
	for i := 1; i <= count; i++ {
		promises = append(promises, p.call(name, n(i)))
	}
	return promises
}

func waitAll(t *testing.T, promises []*promise) {
	for _, q := range promises {
		_, _ = q.wait(t)
	}
}

func TestOverlap(t *testing.T) {
	t.Run("SUB-15 SUB-21 safe calls overlap; SUB-19 reverse completion commits, delivers and defers in submission order", func(t *testing.T) {
		var delivered, posts, results []string
		var promises []*promise
		ready := make(chan struct{})
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			promises = all(t, p, "safe", 3)
			close(ready)
			for i, q := range promises {
				_, _ = q.wait(t)
				for j := i + 1; j < 3; j++ {
					if w := promises[j]; w.isSettled() && !promises[i].isSettled() {
						t.Error("a later promise settled first")
					}
				}
				delivered = append(delivered, fmt.Sprint(i+1))
			}
			return done(nil)
		})
		g := w.gated("safe", true, safe)
		w.reg.OnPostExecute(func(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			posts = append(posts, x.CallID())
			d, err := next()
			return d.AppendContexts(registry.Context{ID: x.CallID(), Content: []registry.Block{registry.Text("x")}}), err
		})
		w.reg.OnResult(func(x registry.Execution, _ registry.Result) { results = append(results, x.CallID()) })
		out := w.finish(context.Background())
		await(t, "the calls", ready)
		for i := range 3 {
			g.entered(float64(i + 1))
		}
		g.release(3)
		g.left(3)
		g.release(2)
		g.left(2)
		if promises[1].isSettled() || promises[2].isSettled() {
			t.Error("SUB-19 a call that finished early was not held back")
		}
		g.release(1)
		r := await(t, "the result", out)
		equal(t, "events", w.eventLines(), []string{"start c:code:1", "start c:code:2", "start c:code:3", "end c:code:1", "end c:code:2", "end c:code:3"})
		equal(t, "post-execute", posts, []string{"c:code:1", "c:code:2", "c:code:3", "c"})
		equal(t, "tools/result", results, []string{"c:code:1", "c:code:2", "c:code:3", "c"})
		var contexts []string
		for _, c := range r.Contexts() {
			contexts = append(contexts, c.ID)
		}
		equal(t, "contexts", contexts, []string{"c:code:1", "c:code:2", "c:code:3", "c"})
	})
	t.Run("SUB-15 a cap of two is refilled as bodies settle", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			waitAll(t, all(t, p, "safe", 4))
			return done(nil)
		}, parallel(2))
		g := w.gated("safe", true, safe)
		out := w.finish(context.Background())
		g.entered(1)
		g.entered(2)
		if slices.Contains(w.trail.list(), "body safe 3") {
			t.Error("a third body runs")
		}
		g.release(2) // not the first: the pool is rolling
		g.entered(3)
		g.release(1)
		g.entered(4)
		g.release(3)
		g.release(4)
		await(t, "the result", out)
	})
	t.Run("SUB-16 one is strictly serial", func(t *testing.T) {
		w, most := countingWorld(t, 1, safe)
		w.run()
		if *most != 1 {
			t.Errorf("%d bodies at once", *most)
		}
	})
	t.Run("SUB-16 ten by default", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			waitAll(t, all(t, p, "safe", 11))
			return done(nil)
		})
		g := w.gated("safe", true, safe)
		out := w.finish(context.Background())
		for i := range 10 {
			g.entered(float64(i + 1))
		}
		if slices.Contains(w.trail.list(), "body safe 11") {
			t.Error("an eleventh body runs")
		}
		for i := range 11 {
			g.release(float64(i + 1))
		}
		await(t, "the result", out)
	})
	t.Run("SUB-21 an ordinary tool is serialised in submission order", func(t *testing.T) {
		w, most := countingWorld(t, 10)
		w.run()
		if *most != 1 {
			t.Errorf("%d bodies at once", *most)
		}
		var want []string
		for i := range 5 {
			want = append(want, fmt.Sprintf("start c:code:%d", i+1), fmt.Sprintf("end c:code:%d", i+1))
		}
		equal(t, "events", w.eventLines(), want)
	})
	t.Run("SUB-15 read, read, write, read: the write is a barrier, its slow post-execute included", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			promises := []*promise{p.call("read", n(1)), p.call("read", n(2)), p.call("write", n(3)), p.call("read", n(4))}
			waitAll(t, promises)
			return done(nil)
		})
		read := w.gated("read", true, safe)
		write := w.gated("write", true)
		slow := make(chan struct{})
		w.reg.OnPostExecute(func(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			if x.Name() == "write" {
				w.trail.add("post write")
				await(t, "the end of the slow post-execute", slow)
				w.trail.add("posted write")
			}
			return next()
		})
		out := w.finish(context.Background())
		read.entered(1)
		read.entered(2)
		read.release(2)
		read.left(2)
		if slices.Contains(w.trail.list(), "body write 3") {
			t.Error("the write began before the reads had committed")
		}
		read.release(1)
		write.entered(3)
		write.release(3)
		w.trail.await(t, "post write")
		if slices.Contains(w.trail.list(), "body read 4") {
			t.Error("the read began before the write had committed")
		}
		close(slow)
		read.entered(4)
		read.release(4)
		await(t, "the result", out)
		steps := w.trail.list()
		if slices.Index(steps, "posted write") > slices.Index(steps, "body read 4") {
			t.Errorf("order: %v", steps)
		}
	})
	t.Run("SUB-18 a slow pre-execute delays the next start", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			waitAll(t, all(t, p, "safe", 2))
			return done(nil)
		})
		g := w.gated("safe", true, safe)
		slow := make(chan struct{})
		w.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			if x.CallID() == "c:code:1" {
				w.trail.add("gate 1")
				await(t, "the end of the slow gate", slow)
			}
			return next()
		})
		out := w.finish(context.Background())
		w.trail.await(t, "gate 1")
		equal(t, "events while the first gate is open", w.eventLines(), []string{"start c:code:1"})
		close(slow)
		g.release(1)
		g.release(2)
		await(t, "the result", out)
	})
	t.Run("SUB-20 a call that settles in its gate takes no slot", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			waitAll(t, []*promise{p.call("safe", n(1)), p.call("denied", n(2)), p.call("safe", n(3))})
			return done(nil)
		}, parallel(2))
		g := w.gated("safe", true, safe)
		w.echo("denied", safe)
		w.reg.Guard(func(x registry.Execution) (string, bool) { return "no", x.Name() == "denied" })
		out := w.finish(context.Background())
		g.entered(1)
		g.entered(3) // with a slot taken by the denied call this would wait for 1
		g.release(3)
		g.release(1)
		await(t, "the result", out)
		equal(t, "events", w.eventLines(), []string{"start c:code:1", "start c:code:2", "start c:code:3", "end c:code:1", "error c:code:2", "end c:code:3"})
	})
	t.Run("SUB-17 a call that became exclusive while queued waits", func(t *testing.T) {
		var exclusive atomic.Bool
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			waitAll(t, all(t, p, "safe", 3))
			return done(nil)
		}, parallel(2))
		g := w.gated("safe", true, func(d *registry.Definition) {
			d.ConcurrencySafe = func(jsonval.Value) bool { return !exclusive.Load() }
		})
		out := w.finish(context.Background())
		g.entered(1)
		g.entered(2)
		exclusive.Store(true)
		g.release(1)
		g.left(1)
		w.trail.await(t, "left safe 1")
		g.release(2)
		g.entered(3)
		steps := w.trail.list()
		if slices.Index(steps, "body safe 3") < slices.Index(steps, "left safe 2") {
			t.Errorf("the exclusive call ran beside another: %v", steps)
		}
		g.release(3)
		await(t, "the result", out)
	})
	t.Run("SUB-9 classes ignore the collapse of code mode", func(t *testing.T) {
		w, most := countingWorld(t, 3, safe) // mode is code: a direct call would be exclusive
		w.run()
		if *most < 2 {
			t.Errorf("%d bodies at once", *most)
		}
	})
	t.Run("SUB-22 submitting does not block, however long the queue", func(t *testing.T) {
		const calls = 5000
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			promises := all(t, p, "slow", calls)
			return done(len(promises))
		})
		w.gated("slow", true) // nobody opens a gate while the program submits
		r := w.run()
		if got := textOf(t, r); got != fmt.Sprint(calls) {
			t.Errorf("got %s", got)
		}
		if got := len(w.outcome().Calls); got != calls {
			t.Errorf("%d calls in the ledger", got)
		}
	})
}

// countingWorld runs five calls of a tool and reports how many bodies ran at once at most.
func countingWorld(t *testing.T, limit int, change ...func(*registry.Definition)) (*world, *int32) {
	var running, most int32
	w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
		waitAll(t, all(t, p, "count", 5))
		return done(nil)
	}, parallel(limit))
	w.tool("count", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
		now := atomic.AddInt32(&running, 1)
		for {
			seen := atomic.LoadInt32(&most)
			if now <= seen || atomic.CompareAndSwapInt32(&most, seen, now) {
				break
			}
		}
		time.Sleep(5 * time.Millisecond)
		atomic.AddInt32(&running, -1)
		return nil, nil
	}, change...)
	return w, &most
}

func TestSettlement(t *testing.T) {
	t.Run("SUB-23 SUB-24 one running and one queued when the program returns", func(t *testing.T) {
		var promises []*promise
		var g *gated
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			promises = all(t, p, "slow", 2)
			g.entered(1)
			return done("ok")
		})
		g = w.gated("slow", true)
		var order []string
		w.reg.OnResult(func(x registry.Execution, _ registry.Result) { order = append(order, x.CallID()) })
		r := w.run()
		if textOf(t, r) != "ok" {
			t.Errorf("the outer result is %s", r.Text())
		}
		equal(t, "events", w.eventLines(), []string{"start c:code:1", "error c:code:1"})
		equal(t, "CODE-17 the outer result comes last", order, []string{"c:code:1", "c"})
		equal(t, "states", w.states(), []bridge.CallState{bridge.Cancelled, bridge.Dropped})
		_, err := promises[0].wait(t)
		if want := "the run is over (run_code settled): the result of slow was discarded"; err == nil || err.Error() != want {
			t.Errorf("SUB-14 SUB-25 running: %v", err)
		}
		_, err = promises[1].wait(t)
		if want := "the run is over (run_code settled): the call of slow was dropped"; err == nil || err.Error() != want {
			t.Errorf("SUB-14 queued: %v", err)
		}
		if calls := w.outcome().Calls; calls[0].Start.IsZero() || !calls[1].Start.IsZero() || !calls[1].End.IsZero() {
			t.Errorf("times: %+v", calls)
		}
	})
	t.Run("SUB-23 an uncooperative body is waited for, and its success is recorded as ABORTED", func(t *testing.T) {
		returned := make(chan struct{})
		var g *gated
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			p.call("stubborn", n(1))
			g.entered(1)
			defer close(returned)
			return done(nil)
		})
		g = w.gated("stubborn", false)
		out := w.finish(context.Background())
		await(t, "the program's end", returned)
		select {
		case <-out:
			t.Fatal("run_code returned while a body ran")
		case <-time.After(20 * time.Millisecond):
		}
		g.release(1)
		await(t, "the result", out)
		settled := w.events[1].(*bridge.Dispatch)
		if codeOf(settled.Result.Failure()) != registry.CodeAborted || settled.State != bridge.Cancelled {
			t.Errorf("recorded as %+v, %s", settled.Result.Failure(), settled.State)
		}
		equal(t, "states", w.states(), []bridge.CallState{bridge.Cancelled})
	})
	t.Run("SUB-23 a commit in progress ends before the rest is dropped", func(t *testing.T) {
		slow := make(chan struct{})
		ended := make(chan (<-chan struct{}), 1)
		var w *world
		w = newWorld(t, func(ctx context.Context, p *program) (runtime.Result, error) {
			all(t, p, "write", 2)
			w.trail.await(t, "post")
			ended <- ctx.Done()
			return done(nil)
		})
		w.echo("write")
		w.reg.OnPostExecute(func(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			if x.CallID() == "c:code:1" {
				w.trail.add("post")
				await(t, "the end of post-execute", slow)
			}
			return next()
		})
		out := w.finish(context.Background())
		<-await(t, "the end of the program", ended) // the run's cancellation fires during the commit
		close(slow)
		await(t, "the result", out)
		if lines := w.eventLines(); len(lines) != 2 || lines[0] != "start c:code:1" {
			t.Errorf("events: %v", lines)
		}
		if last := w.states()[1]; last != bridge.Dropped {
			t.Errorf("the second call is %s", last)
		}
	})
	for _, c := range []struct {
		name string
		end  func(ctx context.Context) (runtime.Result, error)
		code string
		text string
	}{
		{"the program fails", func(context.Context) (runtime.Result, error) { return failed(runtime.Exception, "Error: late") }, "CODE_RUN_FAILED", "program failed (exception): Error: late"},
		{"a budget runs out", func(context.Context) (runtime.Result, error) {
			return failed(runtime.Timeout, "compute time used up: limit 5 ms")
		}, "CODE_RUN_FAILED", "program failed (timeout): compute time used up: limit 5 ms"},
		{"the output overflows", func(context.Context) (runtime.Result, error) {
			return failed(runtime.OutputLimit, "output larger than 5 bytes")
		}, "CODE_RUN_FAILED", "program failed (output-limit): output larger than 5 bytes"},
		{"the heap is full", func(context.Context) (runtime.Result, error) {
			return failed(runtime.WorkerExit, "heap limit reached: 1 MiB")
		}, "CODE_RUN_FAILED", "program failed (worker-exit): heap limit reached: 1 MiB"},
		{"CODE-16 the runtime is misused", func(context.Context) (runtime.Result, error) { return runtime.Result{}, runtime.ErrorClosed() }, "", runtime.ErrorClosed().Error()},
		{"CODE-16 the runtime panics", func(context.Context) (runtime.Result, error) { panic("kaput") }, "", "the code runtime panicked: kaput"},
	} {
		t.Run("SUB-26 drained when "+c.name, func(t *testing.T) {
			var g *gated
			w := newWorld(t, func(ctx context.Context, p *program) (runtime.Result, error) {
				all(t, p, "slow", 3)
				g.entered(1)
				return c.end(ctx)
			})
			g = w.gated("slow", true)
			r := w.run()
			f := r.Failure()
			if f == nil || !strings.HasPrefix(f.Message, c.text) || codeOf(f) != c.code {
				t.Fatalf("got %+v", f)
			}
			equal(t, "events", w.eventLines(), []string{"start c:code:1", "error c:code:1"})
			if steps := w.trail.list(); !slices.Contains(steps, "left slow 1") || len(steps) != 2 {
				t.Errorf("CODE-17 bodies: %v", steps)
			}
		})
	}
	t.Run("CODE-15 CODE-24 SUB-26 the caller cancels: abort with its cause, sub-calls drained", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		var g *gated
		var promises []*promise
		w := newWorld(t, func(ctx context.Context, p *program) (runtime.Result, error) {
			promises = all(t, p, "slow", 2)
			g.entered(1)
			cancel(errors.New("the user left"))
			return aborted(ctx)
		})
		g = w.gated("slow", true)
		f := w.runContext(ctx).Failure()
		if f == nil || codeOf(f) != "CODE_RUN_FAILED" || !strings.HasPrefix(f.Message, "program failed (abort): the user left") {
			t.Fatalf("got %+v", f)
		}
		_, err := promises[1].wait(t)
		if want := "the run is over (the user left): the call of slow was dropped"; err == nil || err.Error() != want {
			t.Errorf("SUB-14: %v", err)
		}
		equal(t, "states", w.states(), []bridge.CallState{bridge.Cancelled, bridge.Dropped})
	})
	t.Run("CODE-24 cancelled before entry: the runtime is never invoked", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		w := newWorld(t, nothing(t))
		if f := w.runContext(ctx).Failure(); codeOf(f) != registry.CodeAbortedBeforeDispatch {
			t.Errorf("got %+v", f)
		}
		if w.engine.runs != 0 || len(w.outcomes) != 0 {
			t.Error("the engine was asked")
		}
	})
	t.Run("CODE-24 SUB-1 a late submission is rejected, and the program's success is ABORTED", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		var late error
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			cancel(errors.New("too late"))
			_, late = p.call("echo", n(1)).wait(t)
			return done("completed all the same")
		})
		w.tool("echo", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
			t.Error("dispatched")
			return nil, nil
		})
		f := w.runContext(ctx).Failure()
		if codeOf(f) != registry.CodeAborted {
			t.Errorf("the outer result is %+v", f)
		}
		if want := "the run is over (too late): echo was not called"; late == nil || late.Error() != want {
			t.Errorf("SUB-14: %v", late)
		}
		if len(w.eventLines()) != 0 || len(w.outcome().Calls) != 0 {
			t.Error("SUB-1 the late call left traces")
		}
	})
	t.Run("CODE-15 the run's context ends when the runtime has returned", func(t *testing.T) {
		var runCtx context.Context
		w := newWorld(t, func(ctx context.Context, _ *program) (runtime.Result, error) {
			runCtx = ctx
			if ctx.Err() != nil {
				t.Error("ended before the program ran")
			}
			return done(nil)
		})
		w.run()
		if cause := context.Cause(runCtx); cause == nil || cause.Error() != "run_code settled" {
			t.Errorf("cause %v", cause)
		}
	})
	t.Run("CODE-16 SCHED-14 an engine that breaks the lane gets no made-up outcome", func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			f := p.req.Namespaces[0].Functions[0]
			f.Call(context.Background(), jsonval.MustOf(n(1)), func(any, error) { panic("the engine's reply broke") })
			_, _ = p.call("echo", n(2)).wait(t)
			return done("fine")
		})
		w.echo("echo")
		r := w.run()
		if !r.IsError() || !strings.Contains(r.Text(), "the engine's reply broke") {
			t.Errorf("got %s", r.Text())
		}
		if o := w.outcome(); o.Err == nil || o.Result.Value.Exists() || len(o.Calls) != 2 {
			t.Errorf("outcome %+v", o)
		}
	})
	t.Run("CODE-18 effects of earlier sub-calls stay", func(t *testing.T) {
		written := 0
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			_, _ = p.call("write", n(1)).wait(t)
			return failed(runtime.Exception, "Error: after")
		})
		w.tool("write", func(context.Context, jsonval.Value, *registry.Run) (any, error) { written++; return nil, nil })
		w.run()
		if written != 1 || w.states()[0] != bridge.Done {
			t.Errorf("written %d, %v", written, w.states())
		}
	})
}
