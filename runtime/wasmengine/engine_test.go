package wasmengine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestEngine(t *testing.T) {
	e := newEngine(t, Options{})
	t.Run("RUN-1 RUN-2 RUN-3 names itself", func(t *testing.T) {
		if e.Language() != "typescript" || e.Isolation() != "wasm" {
			t.Errorf("language %q, isolation %q", e.Language(), e.Isolation())
		}
	})
	t.Run("RUN-10 nothing is visible to the next run", func(t *testing.T) {
		leave := `globalThis.leak = 1; Array.prototype.leak = 2; Object.prototype.leak = 3; Promise.prototype.then = null;
			JSON.stringify = null; delete globalThis.Map; Math.random = () => 0; console.log = null; tools.leak = 4; return 1`
		look := `return [typeof leak, typeof [].leak, typeof ({}).leak, typeof Promise.prototype.then, typeof JSON.stringify, typeof Map,
			typeof console.log, typeof tools.leak, Math.random() !== 0]`
		req := runtime.Request{Namespaces: answering(1)}
		for range 3 {
			req.Program = leave
			tryRun(t, e, req)
			req.Program = look
			want := `["undefined","undefined","undefined","function","function","function","function","undefined",true]`
			if got := mustRun(t, e, req).Value.String(); got != want {
				t.Fatalf("the next run sees %s", got)
			}
		}
	})
	t.Run("RUN-43 DESIGN 6 the clock is the run's and stands still, the zone is UTC", func(t *testing.T) {
		start := time.Date(2001, 2, 3, 4, 5, 6, 789e6, time.FixedZone("far", 7*3600))
		r := mustRun(t, e, runtime.Request{Start: start, Program: `
			const a = Date.now(); for (let i = 0; i < 1e5; i++); const b = Date.now();
			return [a === b, a, new Date(a).getHours(), new Date(2020, 6, 1).getTimezoneOffset(), new Date(0).toString()]`})
		want := fmt.Sprintf(`[true,%d,21,0,"Thu Jan 01 1970 00:00:00 GMT+0000`, start.UnixMilli())
		if got := r.Value.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("DESIGN 6 the seed decides all randomness", func(t *testing.T) {
		req := runtime.Request{Seed: 5, Program: "return [Math.random(), Math.random()]"}
		a, b := mustRun(t, e, req).Value.String(), mustRun(t, e, req).Value.String()
		req.Seed = 6
		if c := mustRun(t, e, req).Value.String(); a != b || a == c {
			t.Errorf("seeds 5, 5 and 6 gave %s, %s, %s", a, b, c)
		}
	})
	t.Run("RUN-32 RUN-48 no modules, eval within limits", func(t *testing.T) {
		r := mustRun(t, e, runtime.Request{Program: `
			const out = [];
			for (const name of ['fs', 'std', 'os', './x.js', 'node:fs']) { try { await import(name); out.push(name) } catch (e) { out.push('no') } }
			return [...out, eval('1 + 1'), new Function('return typeof host')(), typeof std, typeof os, typeof scriptArgs, typeof require, typeof Worker]`})
		want := `["no","no","no","no","no",2,"undefined","undefined","undefined","undefined","undefined","undefined"]`
		if got := r.Value.String(); got != want {
			t.Errorf("%s", got)
		}
	})
	t.Run("RUN-47 recursion is a RangeError with its place, and can be caught", func(t *testing.T) {
		r := mustRun(t, e, runtime.Request{Program: "let n = 0; const f = () => { n++; f() }; try { f() } catch (e) { return [e instanceof RangeError, n > 2000] }"})
		if r.Value.String() != "[true,true]" {
			t.Errorf("%v", r.Value)
		}
		r = tryRun(t, e, runtime.Request{Program: "function f() {\n  f();\n}\nf();"})
		if r.Error == nil || r.Error.Kind != runtime.Exception || r.Error.Line != 2 || !strings.HasPrefix(r.Error.Message, "RangeError: ") {
			t.Errorf("failure %+v", r.Error)
		}
	})
	t.Run("VALUE-5 5,000 and 100,000 levels cross in each direction", func(t *testing.T) {
		for _, depth := range []int{5_000, 100_000} {
			r := mustRun(t, e, runtime.Request{
				Program:    fmt.Sprintf("let a = []; for (let i = 1; i < %d; i++) a = [a]; return await tools.x(a)", depth),
				Namespaces: serving(func(_ context.Context, arg jsonval.Value, reply func(any, error)) { reply(arg, nil) }),
			})
			if got := len(r.Value.JSON()); got != 2*depth {
				t.Errorf("%d levels came back as %d bytes", depth, got)
			}
		}
	})
	t.Run("RUN-8 no instance before the transform", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("before it began"))
		r, err := e.Run(ctx, runtime.Request{Program: "this does not parse"})
		if err != nil {
			t.Fatal(err)
		}
		wantFailure(t, r, runtime.Abort, "before it began")
		if r.Usage.Steps != 0 {
			t.Errorf("an instance has worked: %+v", r.Usage)
		}
	})
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Limits: runtime.Limits{Heap: -1}}, "maxOldGenerationSizeMb"},
		{Options{Limits: runtime.Limits{MaxOutput: 3}}, "maxOutputBytes"},
		{Options{MaxLive: -1}, "MaxLive"},
	} {
		if _, err := New(context.Background(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("BUDGET-2 %+v: error %v, want %q named", c.o, err, c.want)
		}
	}
}

func TestOverlap(t *testing.T) {
	t.Run("RUN-41 hot loops beside each other end on their own budgets", func(t *testing.T) {
		// The short ones are measured by the clock too, and share the processors with the loops.
		e := newEngine(t, Options{Limits: runtime.Limits{Compute: 2 * time.Second}})
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if i%2 == 0 {
					r := tryRun(t, e, runtime.Request{Program: "for (;;);"})
					wantFailure(t, r, runtime.Timeout, "compute time used up: limit 2000 ms")
					return
				}
				r := mustRun(t, e, runtime.Request{Program: fmt.Sprintf("return %d", i)})
				if int(r.Value.Float()) != i {
					t.Errorf("run %d returned %v", i, r.Value)
				}
			})
		}
		wg.Wait()
	})
	t.Run("RUN-41 a run that waits for a place can be aborted and spends its wall clock", func(t *testing.T) {
		e := newEngine(t, Options{MaxLive: 1})
		holding := make(chan struct{})
		ctx, release := context.WithCancelCause(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = e.Run(ctx, runtime.Request{Program: "await tools.x({})", Namespaces: serving(func(context.Context, jsonval.Value, func(any, error)) { close(holding) })})
		})
		<-holding
		aborted, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(20*time.Millisecond, func() { cancel(errors.New("no longer wanted")) })
		r, err := e.Run(aborted, runtime.Request{Program: "return 1"})
		if err != nil {
			t.Fatal(err)
		}
		wantFailure(t, r, runtime.Abort, "no longer wanted")
		r = tryRun(t, e, runtime.Request{Program: "return 1", Wall: 20 * time.Millisecond})
		wantFailure(t, r, runtime.Timeout, "wall-clock limit reached: 20 ms")
		release(errors.New("released"))
		wg.Wait()
		// The place is free again, and stays usable.
		for range 3 {
			mustRun(t, e, runtime.Request{Program: "return 1"})
		}
	})
	t.Run("RUN-41 no more instances than MaxLive", func(t *testing.T) {
		e := newEngine(t, Options{MaxLive: 2})
		var live, most atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				mustRun(t, e, runtime.Request{Program: "return await tools.x({})", Namespaces: serving(func(_ context.Context, _ jsonval.Value, reply func(any, error)) {
					n := live.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					time.AfterFunc(10*time.Millisecond, func() { live.Add(-1); reply(1, nil) })
				})})
			})
		}
		wg.Wait()
		if most.Load() > 2 {
			t.Errorf("%d instances at once", most.Load())
		}
	})
}

func TestClose(t *testing.T) {
	t.Run("RUN-40 RUN-11 close ends loops, waits for them and leaves no goroutine", func(t *testing.T) {
		before := goruntime.NumGoroutine()
		e, err := New(context.Background(), Options{CacheDir: cacheDir})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, program := range []string{"for (;;);", "await tools.x({})", "for (;;) await null"} {
			wg.Go(func() {
				r := tryRun(t, e, runtime.Request{Program: program, Namespaces: silent()})
				wantFailure(t, r, runtime.Abort, "runtime is shut down")
			})
		}
		time.Sleep(50 * time.Millisecond)
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		var misuse *runtime.MisuseError
		if _, err := e.Run(context.Background(), runtime.Request{Program: "return 1"}); !errors.As(err, &misuse) {
			t.Errorf("a run after Close: %v", err)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("the second Close: %v", err)
		}
		for range 1000 {
			if goruntime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d goroutines, %d before", goruntime.NumGoroutine(), before)
	})
	t.Run("RUN-40 the context bounds the wait, and a later Close goes on", func(t *testing.T) {
		e, err := New(context.Background(), Options{CacheDir: cacheDir})
		if err != nil {
			t.Fatal(err)
		}
		inside, leave := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() { // a handler that breaks the rule and blocks
			_, _ = e.Run(context.Background(), runtime.Request{Program: "tools.x({})", Namespaces: serving(func(context.Context, jsonval.Value, func(any, error)) { close(inside); <-leave })})
		})
		<-inside
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if err := e.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		close(leave)
		wg.Wait()
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestCache(t *testing.T) {
	start := func(t *testing.T, dir string) {
		t.Helper()
		e := newEngine(t, Options{CacheDir: dir})
		mustRun(t, e, runtime.Request{Program: "return 1"})
	}
	t.Run("CLI-12 one folder for each engine and one for images, the user's alone", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "new", "cache")
		start(t, dir)
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) == 0 || len(entries) > 2 || !strings.HasPrefix(entries[0].Name(), "engine-") ||
			len(entries) == 2 && entries[1].Name() != "images" {
			t.Fatalf("entries %v, %v", entries, err)
		}
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(dir, e.Name()))
			if err != nil || goruntime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		}
		var files []string
		if err := filepath.WalkDir(filepath.Join(dir, entries[0].Name()), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, path)
			}
			return err
		}); err != nil || len(files) != 1 {
			t.Fatalf("files %v, %v", files, err)
		}
		// A damaged entry must not keep the engine from starting, whatever is left of it.
		for _, damage := range [][]byte{nil, []byte("nonsense"), make([]byte, 1<<16)} {
			if err := os.WriteFile(files[0], damage, 0o600); err != nil {
				t.Fatal(err)
			}
			start(t, dir)
		}
	})
	t.Run("CLI-12 concurrent first starts", func(t *testing.T) {
		dir := t.TempDir()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { start(t, dir) })
		}
		wg.Wait()
	})
	t.Run("CLI-12 not writable, or writable by others: none", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		start(t, file)
		if goruntime.GOOS == "windows" {
			return
		}
		dir := t.TempDir()
		start(t, dir)
		entries, _ := os.ReadDir(dir)
		sub := filepath.Join(dir, entries[0].Name())
		if err := os.Chmod(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		if openCache(dir, nil) == nil {
			t.Error("a fresh folder is not used")
		}
		if private(sub) {
			t.Error("a folder that anyone can write to is trusted")
		}
	})
}

var _ loop.Guest = (*placed)(nil)
