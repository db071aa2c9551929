package wasmengine

import (
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
)

func BenchmarkRun(b *testing.B) {
	for _, c := range []struct{ name, program string }{
		{"expression", "return 1+1"},
		{"one call", "return await tools.x({})"},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := newEngine(b, Options{})
			req := runtime.Request{Program: c.program, Namespaces: answering(map[string]any{"x": 1})}
			mustRun(b, e, req)
			b.ReportAllocs()
			for b.Loop() {
				mustRun(b, e, req)
			}
		})
	}
}

func BenchmarkParallelRuns(b *testing.B) {
	e := newEngine(b, Options{})
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			mustRun(b, e, runtime.Request{Program: "return 1+1"})
		}
	})
}

// BenchmarkCalls is 10,000 calls, one after the other; the figure is for one.
func BenchmarkCalls(b *testing.B) {
	const calls = 10_000
	for _, c := range []struct{ name, program string }{
		{"small", "for (let i = 0; i < 10000; i++) await tools.x({a: i, b: 'text'})"},
		{"at once", "await Promise.all(Array.from({length: 10000}, (_, i) => tools.x({a: i, b: 'text'})))"},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := newEngine(b, Options{})
			for b.Loop() {
				mustRun(b, e, runtime.Request{Program: c.program, Namespaces: answering(map[string]any{"x": 1})})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkInstance(b *testing.B) {
	e := newEngine(b, Options{})
	b.ReportAllocs()
	for b.Loop() {
		g, err := e.module.instance(b.Context(), e.image, e.image.source, e.memory, bootHost{})
		if err != nil {
			b.Fatal(err)
		}
		g.Close()
	}
}

// BenchmarkNew is the start of an engine: compiling, and with code from a cache on disk.
func BenchmarkNew(b *testing.B) {
	start := func(b *testing.B, dir string) {
		e, err := New(b.Context(), Options{CacheDir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if err := e.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			start(b, "")
		}
	})
	b.Run("cached", func(b *testing.B) {
		start(b, cacheDir)
		for b.Loop() {
			start(b, cacheDir)
		}
	})
}

// BenchmarkLive reports what an instance that waits for an answer costs: private memory of the process for each.
func BenchmarkLive(b *testing.B) {
	const live = 500
	e := newEngine(b, Options{})
	for b.Loop() {
		before := privateBytes(b)
		guests := make([]*guest, live)
		for i := range guests {
			g, err := e.module.instance(b.Context(), e.image, e.image.source, e.memory, &deafHost{})
			if err != nil {
				b.Fatal(err)
			}
			guests[i] = g
			if err := begin(g, "return await tools.x({})"); err != nil {
				b.Fatal(err)
			}
		}
		goruntime.GC()
		b.ReportMetric(float64(privateBytes(b)-before)/live/1024, "KiB/instance")
		for _, g := range guests {
			g.Close()
		}
	}
}

// BenchmarkGuest is a run without the loop and the transform.
func BenchmarkGuest(b *testing.B) {
	e := newEngine(b, Options{})
	b.ReportAllocs()
	for b.Loop() {
		g, err := e.module.instance(b.Context(), e.image, e.image.source, e.memory, &deafHost{})
		if err != nil {
			b.Fatal(err)
		}
		if err := begin(g, "return 1+1"); err != nil {
			b.Fatal(err)
		}
		g.Close()
	}
}

// deafHost hears nothing and stops nothing.
type deafHost struct{ bootHost }

func (deafHost) Receive(loop.Frame) (string, bool) { return "", false }
func (deafHost) Clock() time.Time                  { return time.UnixMilli(1_700_000_000_000) }

// privateBytes is the memory that the process does not share, from /proc.
func privateBytes(tb testing.TB) int64 {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		tb.Skip("no /proc to measure with")
	}
	var sum int64
	for _, name := range []string{"Private_Clean:", "Private_Dirty:"} {
		var kb int64
		for line := range strings.Lines(string(text)) {
			if n, _ := fmt.Sscanf(line, name+" %d kB", &kb); n == 1 {
				sum += kb << 10
			}
		}
	}
	return sum
}
