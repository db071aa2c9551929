package wasmengine

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/runtime/runtimetest"
)

// tightLimits end a hostile program soon.
var tightLimits = runtime.Limits{Compute: 40 * time.Millisecond, Wall: 2 * time.Second, Heap: 8 << 20, MaxOutput: 4096}

// checkOutcome proves of any run what must hold of every run: one outcome of a known kind (RUN-5, RUN-7, RUN-9), within its
// output (LOG-12), the engine alive (BUDGET-10).
func checkOutcome(t testing.TB, l runtime.Limits, program string, r runtime.Result) {
	t.Helper()
	switch {
	case r.Logs == nil:
		t.Errorf("RUN-5 no logs at all")
	case r.Error != nil && r.Value.Exists():
		t.Errorf("RUN-9 both %v and %v", r.Value, r.Error)
	case r.Error != nil && !slices.Contains(runtime.Kinds(), r.Error.Kind):
		t.Errorf("RUN-7 kind %q", r.Error.Kind)
	case r.Error != nil && !utf8.ValidString(r.Error.Message):
		t.Errorf("VALUE-9 message %q", r.Error.Message)
	case strings.HasPrefix(message(r), "engine stopped"):
		t.Errorf("BUDGET-10 %s", r.Error.Message)
	case r.Usage.OutputBytes > l.MaxOutput || outputBytes(r) != r.Usage.OutputBytes:
		t.Errorf("LOG-12 %d bytes charged of %d, but there are %d", r.Usage.OutputBytes, l.MaxOutput, outputBytes(r))
	case r.Error == nil && r.Usage.HeapBytes > l.Heap:
		t.Errorf("BUDGET-8 completed with %d bytes of %d", r.Usage.HeapBytes, l.Heap)
	case r.Error != nil && r.Error.Kind == runtime.Timeout && r.Error.Budget == "":
		t.Errorf("BUDGET-4 BUDGET-5 a timeout of no budget: %s", r.Error.Message)
	default:
		return
	}
	t.Logf("%.4000s", program)
}

// outputBytes is what LOG-8 charges for a result, counted anew.
func outputBytes(r runtime.Result) int64 {
	n := int64(2 + max(len(r.Logs)-1, 0))
	for _, entry := range r.Logs {
		n += jsonval.StringSize(entry)
	}
	switch {
	case r.Error != nil:
		n += jsonval.StringSize(r.Error.Message)
	case r.Value.Exists():
		n += r.Value.Size(-1)
	}
	return n
}

// sanity is a program that looks whether the world is whole.
const sanity = "const a = [3, 1, 2].sort(); await null; return [a, await tools.echo({ a }), typeof (globalThis as any).v0, JSON.stringify({ b: Object.keys(a) })]"

const sane = `[[1,2,3],{"a":[1,2,3]},"undefined","{\"b\":[\"0\",\"1\",\"2\"]}"]`

func checkSane(t testing.TB, e *Engine) {
	t.Helper()
	r := tryRun(t, e, runtime.Request{Program: sanity, Namespaces: runtimetest.GeneratedTools()})
	if r.Error != nil || r.Value.String() != sane {
		t.Fatalf("RUN-10 the next run: %v, %v", r.Value, r.Error)
	}
}

// FuzzPrograms runs whole programs of a grammar of hostile and ordinary statements: RUN-9, RUN-10, RUN-50, HOSTILE-11.
func FuzzPrograms(f *testing.F) {
	for i := range 30 {
		f.Add(material(uint64(i)))
	}
	for i := range byte(40) {
		f.Add(slices.Repeat([]byte{i * 6, i, 1, i + 1}, 4))
	}
	e := newEngine(f, Options{Limits: tightLimits})
	patient := newEngine(f, Options{})
	f.Fuzz(func(t *testing.T, data []byte) {
		program := runtimetest.Wild(data)
		r := tryRun(t, e, runtime.Request{Program: program, Namespaces: runtimetest.GeneratedTools(), Seed: 1})
		checkOutcome(t, tightLimits, program, r)
		checkSane(t, patient)
	})
}

// material is the bytes of one generated program, the same in each process.
func material(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	b := make([]byte, 20+r.IntN(120))
	for i := 0; i+8 <= len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	return b
}

// TestPrograms is FuzzPrograms over more programs, with a look at the mix: a grammar whose programs all end alike would
// prove little.
func TestPrograms(t *testing.T) {
	programs := scaled(60, 200, 10_000)
	e, patient := newEngine(t, Options{Limits: tightLimits}), newEngine(t, Options{})
	kinds := map[runtime.Kind]int{}
	for i := range programs {
		program := runtimetest.Wild(material(1<<40 + uint64(i)))
		r := tryRun(t, e, runtime.Request{Program: program, Namespaces: runtimetest.GeneratedTools(), Seed: 1})
		checkOutcome(t, tightLimits, program, r)
		kind := runtime.Kind("completed")
		if r.Error != nil {
			kind = r.Error.Kind
		}
		kinds[kind]++
	}
	checkSane(t, patient)
	if len(kinds) < 4 {
		t.Errorf("all ended in %v", kinds)
	}
	t.Logf("%v", kinds)
}
