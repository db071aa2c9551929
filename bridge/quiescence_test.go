package bridge_test

// This file throws random programs, endings and cancellations at the bridge and checks what must hold whatever happens.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// chaos is one random run: how many calls, how long their bodies take, how the program ends and when the caller leaves.
func chaos(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 3))
	calls, ending, limit := r.IntN(20), r.IntN(5), 1+r.IntN(4)
	naps := make([]time.Duration, 64)
	for i := range naps {
		naps[i] = time.Duration(r.IntN(800)) * time.Microsecond
	}
	leave := time.Duration(r.IntN(3000)) * time.Microsecond
	awaited, slowLog, obeys, safeOnes := r.IntN(calls+1), r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var promises []*promise
	w := newWorld(t, func(ctx context.Context, p *program) (runtime.Result, error) {
		for i := range calls {
			promises = append(promises, p.call(fmt.Sprintf("t%d", i%2), n(i)))
		}
		for _, q := range promises[:awaited] {
			select {
			case <-q.settled:
			case <-ctx.Done():
			}
		}
		switch ending {
		case 0:
			return failed(runtime.Exception, "Error: x")
		case 1:
			return runtime.Result{}, runtime.ErrorClosed()
		case 2:
			time.AfterFunc(leave, func() { cancel(errors.New("the caller left")) })
			return aborted(ctx)
		}
		return done("ok")
	}, parallel(limit))
	for i := range 2 {
		w.tool(fmt.Sprintf("t%d", i), func(ctx context.Context, args jsonval.Value, _ *registry.Run) (any, error) {
			v, _ := args.Get("n")
			nap := time.After(naps[int(v.Float())])
			if !obeys {
				<-nap
				return v, nil
			}
			select {
			case <-nap:
				return v, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}, func(d *registry.Definition) {
			if safeOnes && i == 0 {
				safe(d)
			}
		})
	}
	if slowLog {
		w.bridge.OnDispatchLog(nil, func(_ context.Context, e bridge.LogEntry, next next) ([]registry.Block, error) {
			time.Sleep(naps[len(e.SubCallID)])
			return next()
		})
	}
	outer := w.runContext(ctx)
	events := w.eventLines()

	if want := ending <= 2; outer.IsError() != want {
		t.Errorf("ending %d gives %s", ending, outer.Text())
	}
	ledger := w.outcome().Calls
	if len(ledger) != calls {
		t.Fatalf("CLI-8 %d of %d calls are in the ledger", len(ledger), calls)
	}
	starts, ends := 0, 0
	for _, line := range events {
		var kind, id string
		fmt.Sscan(line, &kind, &id)
		if kind == "start" {
			starts++
			if want := fmt.Sprintf("c:code:%d", starts); id != want {
				t.Fatalf("SUB-12 start %s out of order: %v", id, events)
			}
			continue
		}
		ends++
		if want := fmt.Sprintf("c:code:%d", ends); id != want || ends > starts {
			t.Fatalf("SUB-12 settlement %s out of order: %v", id, events)
		}
		state := ledger[ends-1].State
		if (kind == "end") != (state == bridge.Done) {
			t.Fatalf("CLI-9 %s is %s, recorded as %s", id, state, kind)
		}
	}
	if starts != ends {
		t.Fatalf("SUB-12 %d started, %d settled: %v", starts, ends, events)
	}
	for i, c := range ledger[starts:] {
		if c.State != bridge.Dropped {
			t.Fatalf("SUB-12 call %d was never started and is %s", starts+i+1, c.State)
		}
	}
	for i, q := range promises {
		if !q.isSettled() {
			t.Fatalf("SUB-14 promise %d is pending after the return", i+1)
		}
	}
	if now := w.eventLines(); len(now) != len(events) {
		t.Fatalf("CODE-17 an event came after the return: %v", now[len(events):])
	}
}

func TestQuiescence(t *testing.T) {
	t.Run("CODE-17 SUB-12 SUB-23 whatever happens, everything is settled, recorded in order and over at the return", func(t *testing.T) {
		before := goruntime.NumGoroutine()
		seeds := uint64(300)
		if testing.Short() {
			seeds = 50
		}
		for seed := range seeds {
			if chaos(t, seed); t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		for range 200 {
			if goruntime.NumGoroutine() <= before+2 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d goroutines before, %d after", before, goruntime.NumGoroutine())
	})
}

func FuzzQuiescence(f *testing.F) {
	f.Add(uint64(7))
	f.Fuzz(func(t *testing.T, seed uint64) { chaos(t, seed) })
}
