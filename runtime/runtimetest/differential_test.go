package runtimetest_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojaengine"
	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/runtime/runtimetest"
	"github.com/runcode-go/runcode/runtime/wasmengine"
)

// pair is the same limits on both engines.
type pair struct{ wasm, goja runtime.Engine }

func newPair(t testing.TB) pair {
	l := runtime.Limits{Compute: 5 * time.Minute, Wall: 10 * time.Minute, Heap: 256 << 20, MaxOutput: 1 << 20}
	w, err := wasmengine.New(context.Background(), wasmengine.Options{Limits: l, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gojaengine.New(gojaengine.Options{Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.Close(context.Background())
		_ = g.Close(context.Background())
	})
	return pair{w, g}
}

func generated(program string) runtime.Request {
	return runtime.Request{Program: program, Namespaces: runtimetest.GeneratedTools(), Seed: 3, Start: time.UnixMilli(1_700_000_000_000)}
}

// compare runs a program on both engines and says how they differ; "" if they do not.
func (p pair) compare(t *testing.T, program string) (w runtime.Result, difference string) {
	t.Helper()
	w, err := p.wasm.Run(t.Context(), generated(program))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.goja.Run(t.Context(), generated(program))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case !slices.Equal(w.Logs, g.Logs):
		return w, fmt.Sprintf("LOG-6 the logs differ:\nwasm %q\ngoja %q", w.Logs, g.Logs)
	case (w.Error == nil) != (g.Error == nil) || w.Error != nil && (w.Error.Kind != g.Error.Kind || w.Error.Kind == runtime.InvalidOutput && w.Error.Message != g.Error.Message):
		return w, fmt.Sprintf("RUN-49 the failures differ:\nwasm %v\ngoja %v", w.Error, g.Error)
	case w.Value.Exists() != g.Value.Exists() || w.Value.Exists() && !jsonval.Identical(w.Value, g.Value):
		return w, fmt.Sprintf("RUN-49 VALUE-1 the values differ:\nwasm %v\ngoja %v", w.Value, g.Value)
	}
	return w, ""
}

// check compares, and shows the smallest program that differs.
func (p pair) check(t *testing.T, data []byte) runtime.Result {
	t.Helper()
	r, difference := p.compare(t, runtimetest.Portable(data))
	if difference == "" {
		return r
	}
	for cut := len(data) / 2; cut > 0; cut /= 2 {
		for at := 0; at+cut <= len(data); {
			less := slices.Concat(data[:at], data[at+cut:])
			if _, d := p.compare(t, runtimetest.Portable(less)); d != "" {
				data, difference = less, d
			} else {
				at += cut
			}
		}
	}
	t.Errorf("%s\nbytes %q\n%s", difference, data, runtimetest.Portable(data))
	return r
}

// TestDifferential proves RUN-49 over programs that nobody has written: whatever the grammar makes has the same value, the
// same logs and the same kind of failure on both engines. RUNCODE_SOAK=1 tries many more.
func TestDifferential(t *testing.T) {
	programs := 150
	if testing.Short() {
		programs = 40
	}
	if os.Getenv("RUNCODE_SOAK") != "" {
		programs = 5_000
	}
	p := newPair(t)
	completed, kinds := 0, map[runtime.Kind]int{}
	for i := range programs {
		r := p.check(t, randomBytes(uint64(i)))
		if r.Error == nil {
			completed++
		} else {
			kinds[r.Error.Kind]++
		}
	}
	// A grammar whose programs all die at once would prove nothing.
	if completed < programs/3 || kinds[runtime.Exception] == 0 || kinds[runtime.Exception] > programs/2 {
		t.Errorf("%d of %d programs completed, failures %v", completed, programs, kinds)
	}
	t.Logf("%d of %d programs completed, failures %v", completed, programs, kinds)
}

// differences are where the engines part in what ECMAScript settles. The grammar keeps clear of them; they are written down
// here so that a program's author can be told, and so that the list ends when its reason does.
var differences = []struct{ reason, program, wasm, goja string }{
	{
		"goja takes an exception out of a finally to the catch of the same statement, if the try had ended normally",
		"const log: any[] = []; try { try { log.push(1) } catch (e) { log.push(e) } finally { throw 2 } } catch (e) { log.push(e) } return log",
		"[1,2]", "[1,2,2]",
	},
	{
		"goja reads a chain of comparisons from right to left, and a chain of instanceof",
		"const [a, b, c] = [3, 2, 1]; return a > b > c as any",
		"false", "true",
	},
	{"goja takes numbers of 2 ** 63 and above for 0 in bit operations", "return [1e21 | 0, Math.clz32(1e21)]", "[-559939584,0]", "[0,32]"},
	{"goja's trim replaces an unpaired surrogate", `return '\ud800'.trim().charCodeAt(0)`, "55296", "65533"},
	{"goja's BigInt.prototype has a length", "return ((1n as any).length === undefined)", "true", "false"},
	{"goja's Number.prototype is no Number", "return JSON.stringify(Number.prototype)", `"0"`, `"{}"`},
	{"QuickJS spreads no characters of a text into an object", "return { ...('ab' as any) }", "{}", `{"0":"a","1":"b"}`},
	{"QuickJS compares texts by their code units, goja as a dictionary does", "return ['b', 'a', 'C'].sort((a, b) => a.localeCompare(b))", `["C","a","b"]`, `["a","b","C"]`},
	{"goja's years beyond 9999 have five digits, not six", "return new Date(253402300800000).toISOString()", `"+010000-01-01T00:00:00.000Z"`, `"+10000-01-01T00:00:00.000Z"`},
	{"goja does not know static fields named async", "class A { static async = 1 } return A.async", "1", ""},
	{"goja spells the slash of a pattern otherwise", "return new RegExp('/').source", `"\\/"`, `"\\u002f"`},
	{"goja's generators that are lowered are ordinary objects", "return String((async function* () {})())", `"[object AsyncGenerator]"`, `"[object Object]"`},
	{
		"QuickJS takes a division behind a template for a regular expression, where it looks ahead for an arrow",
		"const f = (p: any = (`${8}` as any / 2), ...q: any[]) => p; return f()",
		"", "4",
	},
}

func TestDifferences(t *testing.T) {
	p := newPair(t)
	for _, d := range differences {
		t.Run("RUN-49 "+d.reason, func(t *testing.T) {
			for name, c := range map[string]struct {
				engine runtime.Engine
				want   string
			}{"wasm": {p.wasm, d.wasm}, "goja": {p.goja, d.goja}} {
				r, err := c.engine.Run(t.Context(), generated(d.program))
				if err != nil {
					t.Fatal(err)
				}
				if c.want == "" && (r.Error == nil || r.Error.Kind != runtime.Exception) || c.want != "" && r.Value.String() != c.want {
					t.Errorf("%s gives %v, %v; if the difference is gone, let the grammar use it", name, r.Value, r.Error)
				}
			}
		})
	}
}

// randomBytes is the material of one program, the same in each process.
func randomBytes(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, 40+r.IntN(200))
	for i := 0; i+8 <= len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	return b
}

// FuzzDifferential is TestDifferential with bytes of the fuzzer's.
func FuzzDifferential(f *testing.F) {
	for i := range 20 {
		f.Add(randomBytes(uint64(i) + 1<<32))
	}
	p := newPair(f)
	f.Fuzz(func(t *testing.T, data []byte) { p.check(t, data) })
}

func TestGenerate(t *testing.T) {
	for i := range uint64(200) {
		data := randomBytes(i)
		for name, make := range map[string]func([]byte) string{"portable": runtimetest.Portable, "wild": runtimetest.Wild} {
			a := make(data)
			if a != make(data) {
				t.Fatalf("%s: the same bytes give two programs", name)
			}
			if len(a) > 64<<10 || !strings.Contains(a, "return ") {
				t.Fatalf("%s: a program of %d bytes", name, len(a))
			}
		}
	}
}
