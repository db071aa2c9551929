package runtimetest

// RUN-40: the end of an engine; BUDGET-2: its beginning.

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

func testLife(t *testing.T, s *suite) {
	s.test(t, "RUN-40 Close ends what runs and refuses what comes", func(t *testing.T) {
		e := s.newEngine(t, limits)
		var wg sync.WaitGroup
		for _, program := range []string{"console.log('a'); for (;;);", "console.log('a'); await tools.never({})" + decl} {
			h := newHost()
			defer h.close()
			running := make(chan struct{}, 1)
			wg.Go(func() {
				r, err := e.Run(context.Background(), runtime.Request{Program: program, Namespaces: h.namespaces(), OnLog: func(string) { running <- struct{}{} }})
				if err != nil {
					t.Error(err)
					return
				}
				(&check{kind: runtime.Abort, message: "runtime is shut down", logs: []string{"a"}}).verify(t, r)
			})
			<-running
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for range 2 {
			if err := e.Close(ctx); err != nil {
				t.Fatalf("Close: %v", err)
			}
		}
		wg.Wait()
		_, err := e.Run(context.Background(), runtime.Request{Program: "return 1"})
		misuse(t, err, "shut down")
		done, stop := context.WithCancel(context.Background())
		stop()
		_, err = e.Run(done, runtime.Request{Program: "return 1", Namespaces: []runtime.Namespace{{Global: "await"}}})
		misuse(t, err, "shut down")
	})
	s.test(t, "RUN-28 no goroutine is left", func(t *testing.T) {
		e := s.newEngine(t, limits)
		before := goruntime.NumGoroutine()
		for range 30 {
			h := newHost()
			if _, err := e.Run(context.Background(), runtime.Request{Program: "tools.never({}); setTimeout(() => {}, 1e6); return await tools.echo(1)" + decl, Namespaces: h.namespaces()}); err != nil {
				t.Fatal(err)
			}
			h.close()
		}
		if err := e.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		var now int
		for range 1000 {
			if now = goruntime.NumGoroutine(); now <= before {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("%d goroutines, %d before", now, before)
	})
	s.test(t, "RUN-40 Close gives up when its context ends", func(t *testing.T) {
		e := s.newEngine(t, limits)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := e.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Close: %v", err)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
}
