package wasmengine

// This file measures how long a guest keeps the rest of its process from working.

import (
	"context"
	goruntime "runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
)

// BenchmarkLiveness runs the hostile corpus, 100 ms of compute for each program, while another goroutine waits for a ticker
// of 1 ms and a third collects garbage over and over (RUN-50, RUN-41). It reports
//
//   - ticker-ms: the largest gap between two ticks that were seen;
//   - gc-ms: the longest garbage collection, from call to return;
//   - stop-ms and stop-p99-ms: the longest time, and the 99th in a hundred, for which a collection had to wait until all
//     goroutines stood still, as the runtime counts it (the upper bound of its bucket): this is what a deaf guest delays;
//   - stretch-ms and stretch-p99-ms: the longest stretch, and the 99th in a hundred, in which a guest was deaf: from one look
//     at its budgets to the next, in processor time of its thread where the system tells it, so that what other processes do
//     at the same time does not count;
//   - late-ms: the longest time by which a run outlived its compute budget.
//
// The first two are of the wall clock, with all that the machine does besides. The sub-benchmark "idle" is the same without
// a guest: what the machine itself contributes.
func BenchmarkLiveness(b *testing.B) {
	const compute = 100 * time.Millisecond
	const worth = 2 * time.Millisecond // telling
	b.Run("idle", func(b *testing.B) {
		for b.Loop() {
			watchLiveness(b, func() { time.Sleep(2 * time.Second) })
		}
	})
	b.Run("corpus", func(b *testing.B) {
		programs := hostilePrograms(b, scaled(12, 1, 1))
		e := newEngine(b, Options{Limits: runtime.Limits{Compute: compute, Wall: 10 * time.Second, Heap: 64 << 20, MaxOutput: 1 << 20}})
		var stretches []time.Duration
		e.service.NewGuest = func(ctx context.Context, run *loop.Run) (loop.Guest, error) {
			return e.module.instance(ctx, e.image, e.image.source, e.memory, &timedHost{Run: run, stretches: &stretches, last: threadTime()})
		}
		for b.Loop() {
			var late time.Duration
			watchLiveness(b, func() {
				goruntime.LockOSThread() // the thread's clock is the guest's
				defer goruntime.UnlockOSThread()
				for _, program := range programs {
					from := len(stretches)
					r := tryRun(b, e, corpusRequest(program))
					late = max(late, r.Usage.Compute-compute)
					if longest := slices.Max(append(stretches[from:], 0)); longest > worth {
						b.Logf("%v in %.80q", longest, program)
					}
				}
			})
			slices.Sort(stretches)
			b.ReportMetric(milliseconds(stretches[len(stretches)-1]), "stretch-ms")
			b.ReportMetric(milliseconds(stretches[len(stretches)*99/100]), "stretch-p99-ms")
			b.ReportMetric(milliseconds(stretches[len(stretches)/2]), "stretch-p50-ms")
			b.ReportMetric(milliseconds(late), "late-ms")
		}
	})
}

// timedHost notes how long the guest ran from look to look.
type timedHost struct {
	*loop.Run
	stretches *[]time.Duration
	last      time.Duration
}

func (h *timedHost) note() {
	now := threadTime()
	*h.stretches = append(*h.stretches, now-h.last)
	h.last = threadTime()
}

func (h *timedHost) Tick() bool {
	h.note()
	return h.Run.Tick()
}

// A message is no look, but the guest is in the host's hands meanwhile, and can be stopped there by the collector.
func (h *timedHost) Receive(f loop.Frame) (string, bool) {
	h.note()
	defer func() { h.last = threadTime() }()
	return h.Run.Receive(f)
}

// watchLiveness runs f beside a ticker and a collector, and reports what they saw.
func watchLiveness(b *testing.B, f func()) {
	var over atomic.Bool
	var gap, collection time.Duration
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		last := time.Now()
		for !over.Load() {
			<-ticker.C
			now := time.Now()
			gap, last = max(gap, now.Sub(last)), now
		}
	})
	wg.Go(func() {
		for !over.Load() {
			start := time.Now()
			goruntime.GC()
			collection = max(collection, time.Since(start))
			time.Sleep(5 * time.Millisecond)
		}
	})
	before := pauses()
	f()
	over.Store(true)
	wg.Wait()
	after := pauses()
	longest, p99 := since(before, after)
	b.ReportMetric(longest*1000, "stop-ms")
	b.ReportMetric(p99*1000, "stop-p99-ms")
	b.ReportMetric(milliseconds(gap), "ticker-ms")
	b.ReportMetric(milliseconds(collection), "gc-ms")
	b.ReportMetric(0, "ns/op")
}

// pauses are the times that collections waited for goroutines to stop.
func pauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}

// since returns the longest of the times that came between two looks and the 99th in a hundred, in seconds.
func since(before, after *metrics.Float64Histogram) (longest, p99 float64) {
	var all, sum uint64
	for i := range after.Counts {
		all += after.Counts[i] - before.Counts[i]
	}
	for i := range after.Counts {
		n := after.Counts[i] - before.Counts[i]
		if sum += n; n == 0 {
			continue
		}
		longest = after.Buckets[i+1]
		if sum-n < all-all/100 {
			p99 = longest
		}
	}
	return longest, p99
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
