package wasmengine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

const smallHeap = 16 << 20

func smallEngine(t testing.TB) *Engine {
	return newEngine(t, Options{Limits: runtime.Limits{Heap: smallHeap, Compute: time.Hour, Wall: 2 * time.Hour}})
}

func TestHeap(t *testing.T) {
	e := smallEngine(t)
	const message = "heap limit reached: 16 MiB"
	const hog = "const hog = []; for (;;) hog.push({});"
	t.Run("BUDGET-8 the program cannot catch it and go on", func(t *testing.T) {
		for name, program := range map[string]string{
			"plain":              hog,
			"caught":             "try { " + hog + " } catch (e) { console.log('caught') } finally { console.log('finally') } return 1",
			"in a job":           "await null; try { " + hog + " } catch { } return 1",
			"in a job unawaited": "Promise.resolve().then(() => { " + hog + " }).catch(() => {}); await new Promise(r => setTimeout(r, 50)); return 1",
			"in a timer":         "setTimeout(() => { " + hog + " }); await new Promise(r => setTimeout(r, 1000)); return 1",
			"while read":         "return { get x() { " + hog + " } }",
			"while stringified":  "throw { toString() { " + hog + " } }",
			"while inspected":    "console.log({ [Symbol.toStringTag]: 'x'.repeat(1 << 23) + 'y' }); " + hog,
			"in an argument":     "try { await tools.x({ get x() { " + hog + " } }) } catch { } return 1",
			"in a generator":     "function* g() { try { " + hog + " } finally { yield 1 } } for (const x of g()) return x",
			"in a getter":        "const o = { get x() { " + hog + " } }; try { o.x } catch { } return 1",
			"in sort":            "try { [1, 2].sort(() => { " + hog + " }) } catch { } return 1",
			"one array buffer":   "try { new ArrayBuffer(17 << 20) } catch { } return 1",
			"one typed array":    "try { new Uint8Array(3e8) } catch { } return 1",
			"one string":         "try { const s = 'x'.repeat(17 << 20) } catch { } return 1",
			"joined strings":     "let s = 'x'; try { for (;;) s = (s + s + 'y').replace('zz', '') } catch { } return 1",
			"regexp":             "try { new RegExp('(a{1,9}){1,9999}'.repeat(9999)).test('a'.repeat(1 << 20)) } catch { } " + hog,
			"parser":             "try { eval('[' + '[1,2,3],'.repeat(1 << 20) + ']') } catch { } return 1",
			"JSON.parse":         "try { JSON.parse('[' + '[],'.repeat(1 << 20) + '[]]') } catch { } return 1",
			"map":                "const m = new Map(); try { for (let i = 0; ; i++) m.set(i, i) } catch { } return 1",
			"pending promises":   "const a = []; try { for (;;) a.push(new Promise(() => {})) } catch { } return 1",
			"rejected promises":  "const a = []; try { for (;;) a.push(Promise.reject(1)) } catch { } return 1",
		} {
			t.Run(name, func(t *testing.T) {
				r := tryRun(t, e, runtime.Request{Program: program, Namespaces: answering(1)})
				wantFailure(t, r, runtime.WorkerExit, message)
				if len(r.Logs) > 0 && name != "while inspected" {
					t.Errorf("logs %.100q: code ran after the end", r.Logs)
				}
			})
		}
	})
	t.Run("BUDGET-8 the cap is exact", func(t *testing.T) {
		const slack = 100 << 10 // what the program and the loop's own values take
		mustRun(t, e, runtime.Request{Program: fmt.Sprintf("const u = new Uint8Array(%d).fill(1); return u.length", smallHeap-slack)})
		r := tryRun(t, e, runtime.Request{Program: fmt.Sprintf("const u = new Uint8Array(%d); return u.length", smallHeap)})
		wantFailure(t, r, runtime.WorkerExit, message)
		// In small pieces it is the sum that counts.
		pieces := func(n int) runtime.Request {
			return runtime.Request{Program: fmt.Sprintf("const a = []; for (let i = 0; i < %d; i++) a.push(new ArrayBuffer(1 << 16)); return a.length", n)}
		}
		const most = smallHeap >> 16
		mustRun(t, e, pieces(most-2))
		wantFailure(t, tryRun(t, e, pieces(most)), runtime.WorkerExit, message)
	})
	t.Run("BUDGET-8 garbage is not live heap", func(t *testing.T) {
		// Several times the limit in all, of cycles, which only the collector can free; and 12 of 16 MiB are live beside them.
		mustRun(t, e, runtime.Request{Program: `
			const live = new Uint8Array(12 << 20);
			for (let i = 0; i < 60; i++) {
				const ring = [];
				for (let k = 0; k < 4000; k++) ring.push({ ring, k, text: 'x' + k });
			}
			return live.length`})
	})
	t.Run("BUDGET-8 a string that is too long is an exception", func(t *testing.T) {
		big := newEngine(t, Options{})
		for _, program := range []string{"return 'x'.repeat(2 ** 30)", "let s = 'x'; for (;;) s += s", "await null; return 'ab'.padEnd(2 ** 30)"} {
			r := tryRun(t, big, runtime.Request{Program: program})
			if r.Error == nil || r.Error.Kind != runtime.Exception || !strings.Contains(r.Error.Message, "string too long") && !strings.Contains(r.Error.Message, "nvalid") {
				t.Errorf("%s: %v", program, r.Error)
			}
		}
	})
	t.Run("BUDGET-8 the next run works", func(t *testing.T) {
		r := mustRun(t, e, runtime.Request{Program: "return 1 + 1"})
		if r.Value.Float() != 2 {
			t.Errorf("value %v", r.Value)
		}
	})
	t.Run("HOSTILE-10 pending calls count", func(t *testing.T) {
		r := tryRun(t, e, runtime.Request{Program: "for (;;) tools.x({})", Namespaces: silent()})
		wantFailure(t, r, runtime.WorkerExit, message)
	})
}

func TestMemoryLimit(t *testing.T) {
	for _, c := range []struct{ heap, least, most int64 }{
		{1, 8 << 20, 9 << 20},
		{512 << 20, 768 << 20, 800 << 20},
		{3 << 30, 4<<30 - wasmPage, 4<<30 - wasmPage},
		{1 << 60, 4<<30 - wasmPage, 4<<30 - wasmPage},
	} {
		if got := int64(memoryLimit(c.heap)); got < c.least || got > c.most || got%wasmPage != 0 {
			t.Errorf("a heap of %d bytes gives a memory of %d", c.heap, got)
		}
	}
	t.Run("BUDGET-2 the largest and the smallest heap", func(t *testing.T) {
		for _, heap := range []int64{1 << 40, 256 << 10} {
			mustRun(t, newEngine(t, Options{Limits: runtime.Limits{Heap: heap}}), runtime.Request{Program: "return 1"})
		}
		e := newEngine(t, Options{Limits: runtime.Limits{Heap: 1}})
		r, err := e.Run(context.Background(), runtime.Request{Program: "return 1"})
		if err != nil || r.Error == nil || r.Error.Kind != runtime.WorkerExit {
			t.Errorf("a heap of one byte: %v, %v", r.Error, err)
		}
	})
}
