package wasmengine

// This file runs hostile and ordinary programs for a long time, one after the other and beside each other, and looks at what
// the process holds: some seconds as part of the ordinary tests, and at full length with RUNCODE_SOAK=1 (make soak).

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/runtimetest"
)

func soaking() bool { return os.Getenv("RUNCODE_SOAK") != "" }

// scaled chooses how much a test does: with -short or the race detector, ordinarily, and at full length.
func scaled(short, ordinary, full int) int {
	switch {
	case soaking():
		return full
	case testing.Short() || raceEnabled:
		return short
	}
	return ordinary
}

// hostilePrograms are the programs of the hostile corpus; every n-th, n = 1 for all.
func hostilePrograms(t testing.TB, n int) (programs []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpusFolder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in %s: %v", corpusFolder, err)
	}
	i := 0
	for _, path := range files {
		_, list := readCorpus(t, path)
		for _, p := range list {
			if i++; i%n == 0 {
				programs = append(programs, p.program(t))
			}
		}
	}
	return programs
}

// ordinaryPrograms complete.
var ordinaryPrograms = []string{
	"return 1 + 1",
	"const a = Array.from({ length: 2000 }, (_, i) => ({ i, s: 'x' + i })); return a.filter(x => x.i % 3 === 0).length",
	"const out = []; for (let i = 0; i < 20; i++) out.push(await tools.echo({ i })); return out",
	"return await Promise.all(Array.from({ length: 50 }, (_, i) => tools.size([i])))",
	"console.log('some', { text: 1 }); await new Promise<void>(r => setTimeout(r, 1)); return 'later'",
	"try { await tools.fail(1) } catch (e) { return e instanceof ToolCallError }",
}

// holdings are what a process holds.
type holdings struct {
	resident, heap    int64 // bytes
	goroutines, files int   // files: -1 where they cannot be counted
}

// hold looks at what the process holds after it has given back what it can. goroutines is how many there may be.
func hold(goroutines int) holdings {
	var h holdings
	// What ends by itself gets the time to: handlers, timers, and transforms that were begun for a run that was given up,
	// which take a second at most (HOSTILE-9).
	for range 500 {
		if goruntime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	debug.FreeOSMemory()
	debug.FreeOSMemory()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	h.heap, h.goroutines, h.files = int64(m.HeapAlloc), goruntime.NumGoroutine(), -1
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		var size, resident int64
		if n, _ := fmt.Sscan(string(text), &size, &resident); n == 2 {
			h.resident = resident * int64(os.Getpagesize())
		}
	}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.files = len(list)
	}
	return h
}

func (h holdings) String() string {
	return fmt.Sprintf("%.1f MiB resident, %.1f MiB heap, %d goroutines, %d files", float64(h.resident)/(1<<20), float64(h.heap)/(1<<20), h.goroutines, h.files)
}

// TestSoak proves RUN-10, RUN-11, BUDGET-8, BUDGET-10 and HOSTILE-10 in the long run: hostile and ordinary programs in turn
// leave no memory, no goroutine and no file behind.
func TestSoak(t *testing.T) {
	runs, each := scaled(120, 600, 100_000), scaled(1, 1, 3) // ordinary programs to a hostile one
	limits := runtime.Limits{Compute: 8 * time.Millisecond, Wall: time.Minute, Heap: 16 << 20, MaxOutput: 1 << 20}
	e := newEngine(t, Options{Limits: limits})
	patient := newEngine(t, Options{})
	// What remembers the texts of programs shall fill up at once, not during the test.
	e.service.Transformer = runtime.NewTransformer(runtime.TransformOptions{CacheBytes: 256 << 10})
	programs := hostilePrograms(t, scaled(40, 15, 1))
	perRound := len(programs) * (1 + each)
	var first holdings
	idle := goruntime.NumGoroutine()
	for round := 0; round*perRound < max(runs, 3*perRound); round++ {
		for i, program := range programs {
			place := corpusPlacements[(round+i)%len(corpusPlacements)]
			// No text comes twice.
			text := place.text(program) + fmt.Sprintf("\n// %d.%d", round, i)
			r := tryRun(t, e, corpusRequest(text))
			checkOutcome(t, limits, text, r)
			for k := range each {
				mustRun(t, patient, runtime.Request{Program: ordinaryPrograms[(i+k)%len(ordinaryPrograms)], Namespaces: runtimetest.GeneratedTools()})
			}
		}
		h := hold(idle)
		t.Logf("after %d runs: %v", (round+1)*perRound, h)
		switch {
		case round == 0:
			continue // what is made once is made now
		case round == 1:
			first = h
			continue
		}
		const slack = 4 << 20
		switch {
		case h.heap > first.heap+slack:
			t.Errorf("BUDGET-10 the heap of the process grows: %v, after round 1 %v", h, first)
		case h.resident > first.resident+4*slack && !raceEnabled: // the race detector keeps account of all memory there was
			t.Errorf("BUDGET-8 the process grows: %v, after round 1 %v", h, first)
		case h.goroutines > idle:
			t.Errorf("RUN-11 goroutines are left: %v, at the start %d", h, idle)
		case h.files > first.files:
			t.Errorf("RUN-43 files are left: %v, after round 1 %v", h, first)
		}
	}
}

// TestWorkers proves RUN-41, RUN-9, BUDGET-7 and RUN-40: many runs at once, which their callers give up at any moment, on an
// engine that is closed in the middle of it. Each has one outcome, that of its own program and its own caller.
func TestWorkers(t *testing.T) {
	const workers = 64
	rounds, each := scaled(1, 2, 20), scaled(4, 8, 30)
	before := hold(goruntime.NumGoroutine())
	for round := range rounds {
		limits := runtime.Limits{Compute: 15 * time.Millisecond, Wall: 20 * time.Second, Heap: 16 << 20, MaxOutput: 1 << 16}
		o := Options{Limits: limits, CacheDir: cacheDir}
		if round%2 == 1 {
			o.MaxLive = 7
		}
		e, err := New(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		programs := append(hostilePrograms(t, 23), ordinaryPrograms...)
		var wg sync.WaitGroup
		var ran, refused atomic.Int64
		closing := make(chan struct{})
		for w := range workers {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(round), uint64(w)))
				for i := range each {
					if !workOnce(t, e, limits, random, programs, w, i) {
						refused.Add(1)
						return
					}
					if ran.Add(1) == workers*int64(each)*3/4 {
						close(closing)
					}
				}
			})
		}
		wg.Go(func() { // shuts down beside the runs, and beside itself
			<-closing
			var twice sync.WaitGroup
			for range 2 {
				twice.Go(func() {
					if err := e.Close(context.Background()); err != nil {
						t.Errorf("RUN-40 Close: %v", err)
					}
				})
			}
			twice.Wait()
		})
		wg.Wait()
		t.Logf("round %d: %d runs, %d workers were refused", round, ran.Load(), refused.Load())
	}
	after := hold(before.goroutines)
	if after.goroutines > before.goroutines || after.files > before.files {
		t.Errorf("RUN-40 left behind: %v, before %v", after, before)
	}
}

// workOnce does one run of a worker and reports whether the engine took it.
func workOnce(t *testing.T, e *Engine, limits runtime.Limits, random *rand.Rand, programs []string, worker, i int) bool {
	cause := fmt.Errorf("worker %d gives up run %d", worker, i)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if random.IntN(2) == 0 {
		timer := time.AfterFunc(time.Duration(random.IntN(12_000))*time.Microsecond, func() { cancel(cause) })
		defer timer.Stop()
	}
	own := fmt.Sprintf("return [await tools.echo(%d), %d]", worker, i)
	req := runtime.Request{Program: own, Namespaces: runtimetest.GeneratedTools()}
	if random.IntN(3) > 0 {
		req = corpusRequest(programs[random.IntN(len(programs))])
	}
	r, err := e.Run(ctx, req)
	var misuse *runtime.MisuseError
	switch {
	case errors.As(err, &misuse):
		return false
	case err != nil:
		t.Errorf("RUN-6 Run: %v", err)
		return false
	}
	checkOutcome(t, limits, req.Program, r)
	switch {
	case r.Error != nil && r.Error.Kind == runtime.Abort:
		if !errors.Is(r.Error, cause) && r.Error.Message != runtime.MessageClosed {
			t.Errorf("BUDGET-7 the run of worker %d ends with another's cause: %v", worker, r.Error)
		}
	case req.Program == own && r.Error != nil && r.Error.Kind != runtime.Timeout:
		t.Errorf("RUN-41 worker %d, run %d: %v", worker, i, r.Error)
	case req.Program == own && r.Error == nil && r.Value.String() != strings.ReplaceAll(fmt.Sprintf("[%d, %d]", worker, i), " ", ""):
		t.Errorf("RUN-41 worker %d, run %d has another's value: %v", worker, i, r.Value)
	}
	return true
}
