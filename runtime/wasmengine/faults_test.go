package wasmengine

// This file makes one thing fail at a time, the k-th for every k: the growth of an instance's memory, a look at the budgets
// at which the caller gives up, a call of a tool. Whatever fails and whenever, there is one outcome, the expected one, and
// the next run is whole.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// intercept has e make its guests with another host or from another memory; nil leaves the one or the other.
func intercept(e *Engine, wrap func(*loop.Run) host, source memorySource) {
	if source == nil {
		source = e.image.source
	}
	e.service.NewGuest = func(ctx context.Context, run *loop.Run) (loop.Guest, error) {
		var h host = run
		if wrap != nil {
			h = wrap(run)
		}
		return e.module.instance(ctx, e.image, source, e.memory, h)
	}
}

// faultySource makes memories whose growth beyond the image fails at the k-th time and ever after.
type faultySource struct {
	memorySource
	image uint64 // bytes
	k     int    // 0: never
	grown int    // growths of the memory made last
}

func (s *faultySource) memory(most uint64) (experimental.LinearMemory, error) {
	m, err := s.memorySource.memory(most)
	s.grown = 0
	return &faultyMemory{m, s, s.image}, err
}

type faultyMemory struct {
	experimental.LinearMemory
	source *faultySource
	size   uint64
}

func (m *faultyMemory) Reallocate(size uint64) []byte {
	if size > m.size {
		m.source.grown++
		if m.source.k > 0 && m.source.grown >= m.source.k {
			return nil
		}
		m.size = size
	}
	return m.LinearMemory.Reallocate(size)
}

// growing are programs that make their memory grow, each in a way of its own, and end in a value.
var growing = map[string]string{
	"buffers":         "const a = []; for (let i = 0; i < SIZE; i++) a.push(new Uint8Array(65000)); return a.length",
	"objects":         "const a = []; for (let i = 0; i < SIZE * 500; i++) a.push({ i, s: 'x' + i }); return a.length",
	"strings":         "const a = []; for (let i = 0; i < SIZE; i++) a.push(('y' + i).repeat(9000)); return a.length",
	"caught":          "const a = []; try { for (let i = 0; i < SIZE; i++) a.push(new Uint8Array(65000)) } catch { console.log('caught') } finally { console.log('finally') } return a.length",
	"in jobs":         "const a = []; for (let i = 0; i < SIZE; i++) { await null; a.push(new Array(8000).fill(i)) } return a.length",
	"a map":           "const m = new Map(); for (let i = 0; i < SIZE * 600; i++) m.set(i, [i]); return m.size",
	"one long string": "let s = ''; for (let i = 0; i < SIZE; i++) s += 'z'.repeat(60000) + i; return s.charCodeAt(9)",
	"JSON":            "const s = JSON.stringify(new Array(SIZE * 1000).fill({ a: 'text' })); return JSON.parse(s).length",
	"arguments":       "const s = 'q'.repeat(50000); const a = []; for (let i = 0; i < SIZE / 2; i++) a.push(await tools.echo({ i, s })); return a.length",
	"results":         "const a = []; for (let i = 0; i < SIZE / 8; i++) a.push(await tools.large({})); return a.length",
	"the value":       "return new Array(SIZE * 800).fill('value of the program')",
	"logs":            "for (let i = 0; i < 5; i++) console.log(new Array(SIZE * 1000).fill('an entry'), 'x'.repeat(SIZE * 9000)); return 1",
	"rejections":      "const a = []; for (let i = 0; i < SIZE * 100; i++) { const p = Promise.reject(i); p.catch(() => {}); a.push(p) } return a.length",
	"recursion":       "const f = (n: number): any => n ? [f(n - 1), new Array(300).fill(n)] : []; const a = []; for (let i = 0; i < SIZE; i++) a.push(f(30)); return a.length",
	"regexp":          "const s = 'ab'.repeat(SIZE * 3000); return s.match(/a(?=b)/g)!.length",
	"errors":          "const a = []; for (let i = 0; i < SIZE * 100; i++) a.push(new Error('e' + i)); return a.length",
}

// TestGrowthFails proves BUDGET-8, BUDGET-10 and RUN-9: the operating system may refuse memory at any moment.
func TestGrowthFails(t *testing.T) {
	const message = "heap limit reached: 64 MiB"
	size, most := scaled(20, 40, 300), scaled(2, 8, math.MaxInt)
	e := newEngine(t, Options{Limits: runtime.Limits{Heap: 64 << 20, MaxOutput: 64 << 20, Compute: time.Hour, Wall: 2 * time.Hour}})
	source := &faultySource{memorySource: e.image.source, image: uint64(e.image.pages) * wasmPage}
	intercept(e, nil, source)
	large := jsonval.Text(strings.Repeat("large ", 80_000))
	tools := []runtime.Namespace{{Global: "tools", Functions: []runtime.Function{
		{Name: "echo", Call: func(_ context.Context, arg jsonval.Value, reply func(any, error)) { reply(arg, nil) }},
		{Name: "large", Call: func(_ context.Context, _ jsonval.Value, reply func(any, error)) { reply(large, nil) }},
	}}}
	faults := 0
	for name, text := range growing {
		t.Run("BUDGET-8 "+name, func(t *testing.T) {
			req := runtime.Request{Program: strings.ReplaceAll(text, "SIZE", fmt.Sprint(size)), Namespaces: tools, Seed: 1, Start: time.UnixMilli(1)}
			source.k = 0
			whole := mustRun(t, e, req)
			n := source.grown
			if n < 3 {
				t.Fatalf("the memory grew %d times only", n)
			}
			step := max(n/most, 1)
			for k := 1; k <= n; k += step {
				source.k = k
				r := tryRun(t, e, req)
				wantFailure(t, r, runtime.WorkerExit, message)
				if len(r.Logs) > len(whole.Logs) || name == "caught" && len(r.Logs) > 0 {
					t.Errorf("HOSTILE-11 growth %d: logs %.200q", k, r.Logs)
				}
				faults++
				if t.Failed() {
					t.Fatalf("growth %d of %d", k, n)
				}
			}
			source.k = 0
			if again := mustRun(t, e, req); !jsonval.Identical(again.Value, whole.Value) || again.Usage.Steps != whole.Usage.Steps {
				t.Errorf("RUN-10 after the failures: %.100v in %d steps, before %.100v in %d", again.Value, again.Usage.Steps, whole.Value, whole.Usage.Steps)
			}
		})
	}
	t.Logf("%d failures", faults)
}

// TestLateGrowthFails is TestGrowthFails for a program that takes nearly all of a large heap, page by page.
func TestLateGrowthFails(t *testing.T) {
	pages, step := scaled(1_000, 2_000, 10_000), scaled(500, 250, 20)
	e := newEngine(t, Options{Limits: runtime.Limits{Heap: 1 << 30, Compute: time.Hour, Wall: 2 * time.Hour}})
	source := &faultySource{memorySource: e.image.source, image: uint64(e.image.pages) * wasmPage}
	intercept(e, nil, source)
	req := runtime.Request{Program: strings.ReplaceAll(growing["buffers"], "SIZE", fmt.Sprint(pages*11/10))}
	faults := 0
	for k := step; k <= pages; k += step {
		source.k = k
		r := tryRun(t, e, req)
		wantFailure(t, r, runtime.WorkerExit, "heap limit reached: 1024 MiB")
		if source.grown != k {
			t.Fatalf("BUDGET-8 the memory grew %d times, and should have failed to at %d", source.grown, k)
		}
		faults++
	}
	t.Logf("%d failures", faults)
}

// lookedAt are programs of some dozens of looks, which do the different things that a stop can interrupt.
var lookedAt = map[string]string{
	"a loop":        "let n = 0; for (let i = 0; i < SIZE * 4000; i++) n += i; console.log('end'); return n",
	"jobs":          "let n = 0; for (let i = 0; i < SIZE * 120; i++) n += await i; console.log('end'); return n",
	"calls":         "for (let i = 0; i < SIZE * 4; i++) { await tools.echo({ i }); if (i % 10 === 0) console.log(i) } return 'end'",
	"sorting":       "const a = Array.from({ length: SIZE * 150 }, (_, i) => (i * 7919) % 1009); a.sort((x, y) => x - y); console.log('end'); return a.length",
	"bulk":          "const u = new Uint8Array(1 << 20); for (let i = 0; i < SIZE / 3; i++) u.fill(i); console.log('end'); return 1",
	"regexp":        "const s = 'ab'.repeat(SIZE * 600); console.log(s.replace(/a(b)/g, '$1').length); return 1",
	"inspecting":    "const a = Array.from({ length: SIZE * 2 }, (_, i) => ({ i, a: [i] })); for (let i = 0; i < 5; i++) console.log(a.slice(i)); return 1",
	"the value":     "return Array.from({ length: SIZE * 40 }, (_, i) => ({ i, s: 's' + i }))",
	"catching":      "let n = 0; for (let i = 0; i < SIZE * 60; i++) { try { throw new Error('x') } catch { n++ } finally { n++ } } console.log('end'); return n",
	"a generator":   "function* g() { try { for (let i = 0; ; i++) yield i } finally { console.log('returned') } } let n = 0; for (const x of g()) { n += x; if (x > SIZE * 600) break } return n",
	"timers":        "let n = 0; for (let i = 0; i < 3; i++) { await new Promise<void>(r => setTimeout(r, 1)); for (let k = 0; k < SIZE * 1300; k++) n++ } console.log('end'); return n",
	"freeing":       "for (let k = 0; k < SIZE / 4; k++) { let a: any = null; for (let i = 0; i < 3000; i++) a = { a }; a = null } console.log('end'); return 1",
	"unhandled":     "for (let i = 0; i < SIZE * 50; i++) { const p = Promise.reject(i); p.catch(() => {}) } await null; console.log('end'); return 1",
	"a thenable":    "let n = 0; return { then(done: any) { for (let i = 0; i < SIZE * 3000; i++) n++; console.log('then'); done(n) } }",
	"parsing":       "const s = JSON.stringify(Array.from({ length: SIZE * 100 }, (_, i) => [i])); console.log('made'); return JSON.parse(s).length",
	"weak":          "for (let i = 0; i < SIZE * 100; i++) new WeakRef({ i }); console.log('end'); return 1",
	"bigints":       "let x = 3n; for (let i = 0; i < SIZE * 3; i++) x = (x * 12345678901234567890n) % (10n ** 400n); console.log('end'); return x.toString().length",
	"spread":        "let a: number[] = []; for (let i = 0; i < SIZE * 4; i++) a = [...a, i]; console.log('end'); return a.length",
	"string search": "const s = 'ab'.repeat(SIZE * 300); let n = 0; for (let i = 0; i < 10; i++) n += s.indexOf('bb'); console.log('end'); return n",
}

// TestCancelAtEachLook proves BUDGET-7, RUN-9 and HOSTILE-11: the caller may give up at any moment.
func TestCancelAtEachLook(t *testing.T) {
	size, most := scaled(5, 20, 20), scaled(3, 10, math.MaxInt)
	stops := 0
	for name, text := range lookedAt {
		t.Run("BUDGET-7 HOSTILE-11 "+name, func(t *testing.T) {
			stops += cancelAtEachLook(t, strings.ReplaceAll(text, "SIZE", fmt.Sprint(size)), interval, most)
		})
	}
	// One program that does all of it, looked at more often than an engine does.
	var all strings.Builder
	all.WriteString("const all: any[] = [];\n")
	for _, name := range slices.Sorted(maps.Keys(lookedAt)) {
		fmt.Fprintf(&all, "all.push(await (async () => {\n%s\n})());\n", strings.ReplaceAll(lookedAt[name], "SIZE", "8"))
	}
	all.WriteString("return all")
	t.Run("BUDGET-7 HOSTILE-11 all", func(t *testing.T) {
		stops += cancelAtEachLook(t, all.String(), scaled(interval, interval, 300), scaled(10, 30, math.MaxInt))
	})
	t.Logf("%d stops", stops)
}

// cancelAtEachLook gives a program up at every look at its budgets, one after each grain units of fuel, or at most times,
// spread evenly. It returns how often it did.
func cancelAtEachLook(t *testing.T, program string, grain, most int) (stops int) {
	t.Helper()
	e := newEngine(t, Options{Limits: runtime.Limits{Compute: time.Hour, Wall: 2 * time.Hour}})
	var quitter *quittingHost
	k, quit := 0, func() {}
	e.service.NewGuest = func(ctx context.Context, run *loop.Run) (loop.Guest, error) {
		quitter = &quittingHost{Run: run, given: &given{k: k, quit: quit}}
		h := &grainedHost{quittingHost: quitter, grain: grain}
		g, err := e.module.instance(ctx, e.image, e.image.source, e.memory, h)
		h.guest = g
		return g, err
	}
	req := runtime.Request{Program: program, Namespaces: echoing(), Seed: 1, Start: time.UnixMilli(1)}
	whole := mustRun(t, e, req)
	n := quitter.looks
	if n == 0 {
		t.Fatal("nobody has looked")
	}
	step := max(n/most, 1)
	for k = 1; k <= n; k += step {
		cause := fmt.Errorf("enough at look %d", k)
		ctx, cancel := context.WithCancelCause(t.Context())
		quit = func() { cancel(cause) }
		r, err := e.Run(ctx, req)
		cancel(nil)
		if err != nil {
			t.Fatal(err)
		}
		if quitter.late {
			if r.Error != nil || !jsonval.Identical(r.Value, whole.Value) {
				t.Errorf("RUN-9 look %d, after the end: %.100v, %v", k, r.Value, r.Error)
			}
		} else {
			wantFailure(t, r, runtime.Abort, cause.Error())
			if !errors.Is(r.Error, cause) {
				t.Errorf("BUDGET-7 the failure does not wrap its cause: %v", r.Error)
			}
		}
		if len(r.Logs) > len(whole.Logs) || !slices.Equal(r.Logs, whole.Logs[:len(r.Logs)]) {
			t.Errorf("RUN-9 look %d: logs %.200q are no start of %.200q", k, r.Logs, whole.Logs)
		}
		if quitter.looks != k {
			t.Errorf("HOSTILE-11 %d looks after the end", quitter.looks-k)
		}
		stops++
		if t.Failed() {
			t.Fatalf("look %d of %d", k, n)
		}
	}
	k = 0
	if again := mustRun(t, e, req); !jsonval.Identical(again.Value, whole.Value) || !slices.Equal(again.Logs, whole.Logs) {
		t.Errorf("RUN-10 after the stops: %.100v, before %.100v", again.Value, whole.Value)
	}
	t.Logf("%d stops, in a run of %d looks", stops, n)
	return stops
}

// grainedHost has the guest look after each grain units of fuel.
type grainedHost struct {
	*quittingHost
	guest *guest
	grain int
}

func (h *grainedHost) Tick() bool {
	if h.grain != interval { // the guest adds an interval when it is back
		h.guest.fuel.(api.MutableGlobal).Set(api.EncodeI32(int32(h.grain - interval)))
	}
	return h.quittingHost.Tick()
}

// echoing has one function that answers at once with its argument.
func echoing() []runtime.Namespace {
	return []runtime.Namespace{{Global: "tools", Functions: []runtime.Function{
		{Name: "echo", Call: func(_ context.Context, arg jsonval.Value, reply func(any, error)) { reply(arg, nil) }},
	}}}
}

// callShapes are ways to make CALLS calls, numbered from 0; each returns what became of them, in order.
var callShapes = []string{
	"const out: any[] = []; for (let i = 0; i < CALLS; i++) out.push(await seen(tools.x(i))); return out",
	"return await Promise.all(Array.from({ length: CALLS }, (_, i) => seen(tools.x(i))))",
	"const all = await Promise.allSettled(Array.from({ length: CALLS }, (_, i) => tools.x(i))); return Promise.all(all.map(s => seen(s.status === 'fulfilled' ? Promise.resolve(s.value) : Promise.reject(s.reason))))",
	"const out: any[] = []; for (let i = 0; i < CALLS; ) { const n = Math.min(7, CALLS - i); out.push(...await Promise.all(Array.from({ length: n }, (_, k) => seen(tools.x(i + k))))); i += n } return out",
	"const out: any[] = []; const go = async (i: number): Promise<void> => { if (i === CALLS) return; try { out.push(await tools.x(i)) } catch (e: any) { out.push(told(e)) } finally { await go(i + 1) } }; await go(0); return out",
	"const out: any[] = []; async function* g() { for (let i = 0; i < CALLS; i++) yield await seen(tools.x(i)) } for await (const x of g()) out.push(x); return out",
	"return await Array.from({ length: CALLS }, (_, i) => i).reduce((p: Promise<any[]>, i) => p.then(async out => [...out, await seen(tools.x(i))]), Promise.resolve([]))",
	"const out: any[] = []; let p: Promise<any> = Promise.resolve(); for (let i = 0; i < CALLS; i++) { p = p.then(() => seen(tools.x(i))).then(x => { out.push(x) }) } await p; return out",
}

const callShapeHead = `
	const told = (e: any) => e instanceof ToolCallError ? e.toolName + ': ' + e.message : 'not a ToolCallError: ' + e;
	const seen = (p: Promise<any>) => p.then((x: any) => x, told);
`

// TestCallFails proves RUN-24, RUN-25 and RUN-23: the k-th call fails, in each way in which a call can, and that one call
// fails, however the program makes its calls.
func TestCallFails(t *testing.T) {
	runs, calls := scaled(40, 200, 6_400), scaled(40, 100, 100) // at full length each call fails in each way, in each shape
	e := newEngine(t, Options{})
	failures := []struct {
		name, message string
		fail          func(reply func(any, error))
	}{
		{"an error", "out of order", func(reply func(any, error)) { reply(nil, errors.New("out of order")) }},
		{"a panic", "a fault", func(func(any, error)) { panic("a fault") }},
		{"a lossy result", runtime.MessageBinding + ": NaN at $", func(reply func(any, error)) { reply(math.NaN(), nil) }},
		{"an error whose text panics", "", func(reply func(any, error)) { reply(nil, hostileError{}) }},
		{"a late panic after the answer", "null", func(reply func(any, error)) { reply(nil, nil); panic("too late") }},
		{"two answers", "null", func(reply func(any, error)) { reply(nil, nil); reply(7, nil) }},
		{"an answer from elsewhere", "elsewhere", func(reply func(any, error)) { go reply(nil, errors.New("elsewhere")) }},
		{"text that is not UTF-8", "\uFFFDx", func(reply func(any, error)) { reply(nil, errors.New("\xffx")) }},
	}
	for i := range runs {
		k := i * calls / runs % calls
		failure := failures[i/len(callShapes)%len(failures)]
		shape := callShapes[i%len(callShapes)]
		var made atomic.Int64
		tool := func(_ context.Context, arg jsonval.Value, reply func(any, error)) {
			made.Add(1)
			if arg.Float() == float64(k) {
				failure.fail(reply)
				return
			}
			reply(arg, nil)
		}
		r := mustRun(t, e, runtime.Request{
			Program: callShapeHead + strings.ReplaceAll(shape, "CALLS", fmt.Sprint(calls)),
			Namespaces: []runtime.Namespace{{
				Global:     "tools",
				Functions:  []runtime.Function{{Name: "x", Call: tool}},
				ErrorClass: &runtime.ErrorClass{Name: "ToolCallError", MemberProperty: "toolName"},
			}},
		})
		if r.Value.Len() != calls || made.Load() != int64(calls) {
			t.Fatalf("RUN-27 %s: %d outcomes of %d calls made, want %d", shape, r.Value.Len(), made.Load(), calls)
		}
		for at := range calls {
			got, want := r.Value.Index(at).String(), fmt.Sprint(at)
			if at == k {
				want = failure.message
				if want != "null" {
					want = jsonval.Text("x: " + want).String()
				}
				if failure.message == "" { // whatever it says, it says that
					want = got
					if !strings.HasPrefix(got, `"x: `) {
						want = "a failure of x"
					}
				}
			}
			if got != want {
				t.Fatalf("RUN-24 RUN-25 call %d failed with %s; call %d gave %s, want %s\n%s", k, failure.name, at, got, want, shape)
			}
		}
	}
}

// TestManyCallsFail is TestCallFails for programs that make thousands of calls: in run j, each hundredth fails from the j-th on,
// so that each call has failed once in the end.
func TestManyCallsFail(t *testing.T) {
	calls, runs := scaled(300, 1_000, 10_000), scaled(2, 4, 100)
	e := newEngine(t, Options{Limits: runtime.Limits{Compute: time.Hour, Wall: 2 * time.Hour}})
	for j := range runs {
		shape := callShapes[j%len(callShapes)]
		tool := func(_ context.Context, arg jsonval.Value, reply func(any, error)) {
			if int(arg.Float())%runs == j {
				reply(nil, fmt.Errorf("not %v", arg))
				return
			}
			reply(arg, nil)
		}
		r := mustRun(t, e, runtime.Request{
			Program: callShapeHead + strings.ReplaceAll(shape, "CALLS", fmt.Sprint(calls)),
			Namespaces: []runtime.Namespace{{
				Global:     "tools",
				Functions:  []runtime.Function{{Name: "x", Call: tool}},
				ErrorClass: &runtime.ErrorClass{Name: "ToolCallError", MemberProperty: "toolName"},
			}},
		})
		if r.Value.Len() != calls {
			t.Fatalf("RUN-24 %d outcomes of %d calls\n%s", r.Value.Len(), calls, shape)
		}
		for at := range calls {
			want := fmt.Sprint(at)
			if at%runs == j {
				want = fmt.Sprintf(`"x: not %d"`, at)
			}
			if got := r.Value.Index(at).String(); got != want {
				t.Fatalf("RUN-24 RUN-25 call %d gave %s, want %s\n%s", at, got, want, shape)
			}
		}
	}
}

// hostileError is an error that cannot be shown.
type hostileError struct{}

func (hostileError) Error() string { panic("no text") }
