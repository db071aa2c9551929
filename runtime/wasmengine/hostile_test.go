package wasmengine

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

type hostileCase struct {
	name, program string
	ends          []runtime.Kind
}

// outliving are programs that try to outlive their budgets, each with the ends it may come to.
var outliving = []hostileCase{
	{"do while", "do ; while (1)", ends(runtime.Timeout)},
	{"loop behind a decoy", "void tools.x({}); for (;;);", ends(runtime.Timeout)},
	{"microtask storm", "const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})", ends(runtime.Timeout)},
	{"timer storm", "const f = () => { setTimeout(f); setTimeout(f) }; f(); await new Promise(() => {})", ends(runtime.Timeout, runtime.WorkerExit)},
	{"thenable that never ends", "return { then(f) { f(this) } }", ends(runtime.Timeout, runtime.WorkerExit)},
	{"getter on the way out", "return new Proxy([], { get() { for (;;); }, ownKeys() { for (;;); } })", ends(runtime.Timeout, runtime.InvalidOutput)},
	{"lastIndexOf", "Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)", ends(runtime.Timeout)},
	{"reduce", "Array.prototype.reduceRight.call({ length: 2 ** 53 - 1 }, () => 1, 1)", ends(runtime.Timeout)},
	{"reverse", "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })", ends(runtime.Timeout)},
	{"copyWithin", "Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 1, 0)", ends(runtime.Timeout)},
	{"splice", "Array.prototype.splice.call({ length: 2 ** 52 }, 0, 1)", ends(runtime.Timeout)},
	{"Array.from", "Array.from({ length: 2 ** 40 })", ends(runtime.Timeout, runtime.WorkerExit, runtime.Exception)},
	{"regexp, nested quantifiers", "/(?:(?:x+)*)*$/.test('x'.repeat(60) + '!')", ends(runtime.Timeout)},
	{"regexp, backward", "/(?<=^(?:x+x+)+)y/.test('x'.repeat(200) + 'y!'.repeat(3))", ends(runtime.Timeout, "")},
	{"split", "'ab'.repeat(1e6).split(/(?:a|b)*?c/)", ends(runtime.Timeout)},
	{"replace", "'a'.repeat(3e6).replace(/a*?b/g, '')", ends(runtime.Timeout)},
	{"substring search", "const h = 'ab'.repeat(2e6); for (;;) h.includes('ba'.repeat(1e6) + 'c')", ends(runtime.Timeout)},
	{"modular power", "(3n ** 200000n) ** 7n % 7n; for (;;) 12345n ** 9999n", ends(runtime.Timeout, runtime.Exception)},
	{"bigint to text", "for (;;) (7n ** 100000n).toString()", ends(runtime.Timeout)},
	{"number to text", "for (;;) (Math.PI * 1e300).toString(2)", ends(runtime.Timeout)},
	{"date", "for (;;) new Date('2020-01-01T00:00:00Z').toISOString()", ends(runtime.Timeout)},
	{"normalise", "const s = 'e\\u0301\\u0323'.repeat(5e5); for (;;) s.normalize('NFC')", ends(runtime.Timeout)},
	{"case", "const s = '\\u00df'.repeat(1e6); for (;;) s.toUpperCase()", ends(runtime.Timeout)},
	{"sort of numbers", "const a = new Float64Array(4e6).map((_, i) => -i); for (;;) a.toSorted()", ends(runtime.Timeout, runtime.WorkerExit)},
	{"freeze", "const a = Array.from({ length: 3e5 }, (_, i) => i); for (;;) Object.freeze([...a])", ends(runtime.Timeout)},
	{"stringify", "const a = new Array(3e5).fill(1.5); for (;;) JSON.stringify(a)", ends(runtime.Timeout)},
	{"parse", "const s = '[' + '1,'.repeat(3e5) + '1]'; for (;;) JSON.parse(s)", ends(runtime.Timeout)},
	{"eval", "for (;;) eval('1+'.repeat(1000) + '1')", ends(runtime.Timeout)},
	{"Function", "for (;;) new Function('a', 'return a')", ends(runtime.Timeout)},
	{"recursion in finally", "function f() { try { f() } finally { f() } } f()", ends(runtime.Exception, runtime.Timeout)},
	{"deep stringify", "let a = []; for (let i = 0; i < 2e5; i++) a = [a]; JSON.stringify(a)", ends(runtime.Exception, runtime.Timeout)},
	{"iterator helpers", "function* g() { for (;;) yield 1 } g().map(x => x).filter(() => false).next()", ends(runtime.Timeout)},
	{"destructuring", "const [...all] = { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) }", ends(runtime.WorkerExit, runtime.Timeout)},
	{"weak references", "for (;;) new WeakRef({}), new FinalizationRegistry(() => {}).register({}, 1)", ends(runtime.Timeout)},
	{"many rejections", "for (;;) Promise.reject(1).catch(() => {})", ends(runtime.Timeout, runtime.WorkerExit)},
	{"many rejections, handled backwards", "for (;;) { const a = []; for (let i = 0; i < 1e4; i++) a.push(Promise.reject(i)); for (const p of a.reverse()) p.catch(() => {}) }", ends(runtime.Timeout, runtime.WorkerExit)},
}

// overgrowing are programs that try to overgrow or break their engine.
var overgrowing = []hostileCase{
	// Memory.
	{"array of arrays", "let a = []; for (;;) a = [a, a.slice()]", ends(runtime.WorkerExit, runtime.Timeout)},
	{"push itself", "const a = [1]; for (;;) a.push(...a)", ends(runtime.WorkerExit, runtime.Exception)},
	{"concat", "let a = [1]; for (;;) a = a.concat(a)", ends(runtime.WorkerExit, runtime.Exception)},
	{"closures", "let f = () => 0; for (;;) { const g = f, pad = new Array(100).fill(1); f = () => [g, pad] }", ends(runtime.WorkerExit)},
	{"properties", "const o = {}; for (let i = 0; ; i++) o['p' + i] = o", ends(runtime.WorkerExit, runtime.Timeout)},
	{"buffers", "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(7))", ends(runtime.WorkerExit)},
	{"resizable buffer", "const b = new ArrayBuffer(0, { maxByteLength: 2 ** 30 }); b.resize(2 ** 30)", ends(runtime.WorkerExit, runtime.Exception)},
	{"2 ** 31 bytes", "new Uint8Array(2 ** 31)", ends(runtime.WorkerExit, runtime.Exception)},
	{"string bomb", "let s = 'x'; for (;;) s = s + s + '\\u0101'", ends(runtime.WorkerExit, runtime.Exception)},
	{"JSON bomb", "let s = 'x'.repeat(1e6), a = new Array(1e3).fill(s); JSON.stringify(new Array(1e3).fill(a))", ends(runtime.WorkerExit, runtime.Exception, runtime.Timeout)},
	{"source bomb", "eval('\"' + 'x'.repeat(4e7) + '\"')", ends(runtime.WorkerExit, runtime.Exception)},
	{"regexp compiler", "new RegExp('(?:' + 'a{1000}'.repeat(1000) + '){1000}')", ends(runtime.WorkerExit, runtime.Exception, runtime.Timeout, "")},
	{"log bomb", "for (;;) console.log('x'.repeat(1e5))", ends(runtime.OutputLimit)},
	{"log of a large value", "console.log(new Array(1e6).fill({ a: [1, 2, { b: 'x'.repeat(1e4) }] }))", ends("", runtime.OutputLimit, runtime.WorkerExit, runtime.Timeout)},
	{"large value", "return 'x'.repeat(5e6)", ends(runtime.OutputLimit, runtime.WorkerExit)},
	{"large error", "throw new Error('x'.repeat(5e6))", ends(runtime.OutputLimit, runtime.WorkerExit)},
	{"calls", "for (;;) tools.x({ a: 'x'.repeat(1e5) })", ends(runtime.WorkerExit)},
	{"timers", "for (;;) setTimeout(() => {}, 1e9)", ends(runtime.WorkerExit)},

	// Stack.
	{"recursion", "function f(a) { return f([a]) + 1 } f(1)", ends(runtime.Exception)},
	{"async recursion", "async function f() { await f() } await f()", ends(runtime.Exception)},
	{"getter recursion", "const o = { get a() { return o.a } }; o.a", ends(runtime.Exception)},
	{"toString recursion", "const o = { toString() { return `${o}` } }; `${o}`", ends(runtime.Exception)},
	{"proxy of itself", "const t = {}, p = new Proxy(t, { get: (_, k) => p[k] }); p.a", ends(runtime.Exception)},
	{"flat", "const a = []; a[0] = a; a.flat(Infinity)", ends(runtime.Exception)},
	{"join", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)", ends(runtime.Exception)},
	{"deep JSON", "JSON.parse('[' .repeat(1e6) + ']'.repeat(1e6))", ends(runtime.Exception, runtime.WorkerExit)},
	{"deep source", "eval('('.repeat(1e6) + ')'.repeat(1e6))", ends(runtime.Exception)},
	{"deep regexp", "new RegExp('(?:'.repeat(1e6) + ')'.repeat(1e6))", ends(runtime.Exception)},
	{"deep value", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a", ends("", runtime.WorkerExit)},
	{"deep prototype", "let o = {}; for (let i = 0; i < 3e5; i++) o = Object.create(o); return o.x === undefined", ends("", runtime.WorkerExit, runtime.Timeout)},
	{"deep promise", "let p = Promise.resolve(1); for (let i = 0; i < 2e4; i++) p = p.then(x => x); return await p", ends("", runtime.WorkerExit, runtime.Timeout)},
	{"freeing a deep structure", "let a = null; for (let i = 0; i < 1e5; i++) a = { a }; a = null; return 1", ends("", runtime.WorkerExit)},
	{"super", "class A { constructor() { new new.target() } } new A", ends(runtime.Exception)},
	{"arguments", "(() => 1).apply(null, { length: 1e7 })", ends(runtime.Exception, runtime.WorkerExit)},
	{"spread arguments", "Math.max(...new Array(1e6).fill(1))", ends(runtime.Exception, runtime.WorkerExit, "")},

	// Ends.
	{"throw null", "throw null", ends(runtime.Exception)},
	{"throw a trap", "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })", ends(runtime.Exception)},
	{"return a trap", "return new Proxy({}, { ownKeys() { throw 1 } })", ends(runtime.InvalidOutput)},
	{"return a function", "return () => 1", ends(runtime.InvalidOutput)},
	{"exit in finally", "try { throw 1 } finally { process.exit(9) }", ends(runtime.WorkerExit)},
	{"wait for nothing", "await new Promise(() => {})", ends(runtime.WorkerExit)},
	{"uncaught in a timer", "setTimeout(() => { throw new Error('no') }); await new Promise(() => {})", ends(runtime.WorkerExit)},
	{"import", "await import('fs')", ends(runtime.Exception)},
	{"Atomics.wait", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", ends(runtime.Exception)},
	{"replaced built-ins", "Promise.prototype.then = Array.prototype.push = JSON.stringify = () => { throw 1 }; return [1]", ends("")},
	{"polluted prototype", "Object.prototype.then = (f) => f(1); Object.prototype.get = 1; return { a: 1 }", ends("", runtime.InvalidOutput, runtime.Exception, runtime.WorkerExit, runtime.Timeout)},
}

// ends lists kinds; "" is a completion.
func ends(kinds ...runtime.Kind) []runtime.Kind { return kinds }

// maxResident bounds what hostile programs may make the process hold.
const maxResident = 500 << 20

// placements are where a hostile text can stand.
func placements(program string) []string {
	return []string{
		program,
		"await tools.ping({});\n" + program,
		"return { get x() {\n" + program + "\nreturn 1 } }",
	}
}

func hostileNamespaces() []runtime.Namespace {
	ns := silent()
	ns[0].Functions = append(ns[0].Functions, runtime.Function{Name: "ping", Call: answering(1)[0].Functions[0].Call})
	return ns
}

// TestHostile measures what a program may do in looks, as the corpus does.
func TestHostile(t *testing.T) {
	checkResident := watchResident(t)
	e := newEngine(t, Options{Limits: runtime.Limits{Compute: time.Hour, Wall: 2 * time.Hour, Heap: 32 << 20, MaxOutput: 1 << 20}})
	countLooks(e)
	for _, group := range []struct {
		name  string
		looks int
		cases []hostileCase
	}{
		{"outliving", quickLooks, outliving},
		{"overgrowing", patientLooks, overgrowing},
	} {
		for _, c := range group.cases {
			t.Run("HOSTILE-11 RUN-50 "+group.name+" "+c.name, func(t *testing.T) {
				for place, program := range placements(c.program) {
					if place > 0 && testing.Short() {
						break
					}
					r, _ := runWithin(t, e, runtime.Request{Program: program, Namespaces: hostileNamespaces()}, group.looks)
					got := runtime.Kind("")
					switch {
					case r.Error != nil && errors.Is(r.Error, errWorked):
						got = runtime.Timeout
					case r.Error != nil:
						got = r.Error.Kind
					}
					switch {
					case place < 2 && !slices.Contains(c.ends, got):
						t.Errorf("placement %d: ended as %q (%v), want one of %q", place, got, r.Error, c.ends)
					case strings.HasPrefix(message(r), "engine stopped"):
						t.Errorf("placement %d: %s", place, r.Error.Message)
					}
				}
			})
		}
		mustRun(t, e, runtime.Request{Program: "return 1"})
	}
	checkResident()
}

func message(r runtime.Result) string {
	if r.Error == nil {
		return ""
	}
	return r.Error.Message
}

// watchResident returns a check that the process has not grown beyond a bound since, whatever the programs did. Its own garbage
// does not count: while the check is on, the collector works as hard as it must to keep below the bound.
func watchResident(t *testing.T) (check func()) {
	t.Helper()
	if raceEnabled {
		return func() {
			t.Log("the race detector keeps memory of its own for all that there was, which is not looked at")
		}
	}
	debug.FreeOSMemory()
	limit := debug.SetMemoryLimit(maxResident / 2)
	t.Cleanup(func() { debug.SetMemoryLimit(limit) })
	// Linux forgets the peak of a process that writes a 5 here.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return func() { t.Logf("nothing to look at the memory with: %v", err) }
	}
	before := statusBytes(t, "VmRSS:")
	return func() {
		t.Helper()
		if grown := statusBytes(t, "VmHWM:") - before; grown > maxResident {
			t.Errorf("the process has held %d MiB more than before", grown>>20)
		}
	}
}

// statusBytes returns a size that Linux tells about this process.
func statusBytes(t *testing.T, field string) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatalf("no %s", field)
	return 0
}

// TestHostileShared runs the list that the project shares with other implementations, where it is at hand.
func TestHostileShared(t *testing.T) {
	checkResident := watchResident(t)
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "cases", "hostile.tsv"))
	if err != nil {
		t.Skip("no shared list of hostile programs")
	}
	defer file.Close()
	const compute = 100 * time.Millisecond
	e := newEngine(t, Options{Limits: runtime.Limits{Compute: compute, Wall: compute + time.Second, Heap: 32 << 20, MaxOutput: 1 << 20}})
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		name, program, ok := strings.Cut(scanner.Text(), "\t")
		if !ok {
			continue
		}
		t.Run("RUN-50 HOSTILE-11 "+name, func(t *testing.T) {
			for place, text := range placements(program) {
				if place > 0 && testing.Short() {
					break
				}
				start := time.Now()
				r := tryRun(t, e, runtime.Request{Program: text, Namespaces: hostileNamespaces()})
				if strings.HasPrefix(message(r), "engine stopped") {
					t.Errorf("placement %d: %s", place, r.Error.Message)
				}
				if took := time.Since(start); took > eternity {
					t.Errorf("placement %d: took %v", place, took)
				}
			}
		})
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	checkResident()
}
