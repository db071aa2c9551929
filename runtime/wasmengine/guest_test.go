package wasmengine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/internal/loop"
)

// raw returns a guest in which the native function itself is the program's global host, and a function that runs a script
// in it and returns what the native function received.
func raw(t *testing.T, e *Engine, h *fakeHost) (*guest, func(script string) []loop.Frame) {
	g := newGuest(t, e, h)
	if err := g.Configure(`{"limit":1000,"seed":[1,2],"namespaces":[],"globals":[]}`); err != nil {
		t.Fatal(err)
	}
	b := boot{g: g, im: e.image}
	name := b.cString("host")
	box := b.call(newHostFunction, uint64(name), 4, maxArgs)
	native, err := g.mem.value(uint32(box))
	if err != nil || b.err != nil {
		t.Fatal(err, b.err)
	}
	set := b.eval("(f => { globalThis.host = f })", "test.js")
	if err := g.callValue(set, native); err != nil || b.err != nil {
		t.Fatal(err, b.err)
	}
	return g, func(script string) []loop.Frame {
		t.Helper()
		h.frames = nil
		b.eval(script, "test.js")
		if b.err != nil {
			t.Fatalf("%s: %v", script, b.err)
		}
		return h.frames
	}
}

// TestForged calls the native function as a program would that had reached it.
func TestForged(t *testing.T) {
	e := newEngine(t, Options{})
	h := &fakeHost{}
	_, run := raw(t, e, h)
	for _, c := range []struct {
		script string
		want   []loop.Frame
	}{
		{"host(2, 1, 2, 'a', 'b')", []loop.Frame{{Op: 2, N: 1, M: 2, A: "a", B: "b"}}},
		{"host(2)", []loop.Frame{{Op: 2}}},
		{"host(2, undefined, undefined, undefined, 'b')", []loop.Frame{{Op: 2, B: "b"}}},
		{"host(2, 1.5, -1e300, 'x', 'y', 'z', {}, 7)", []loop.Frame{{Op: 2, N: 1.5, M: -1e300, A: "x", B: "y"}}},
		{"host(2, 2**31, -(2**31), '')", []loop.Frame{{Op: 2, N: 1 << 31, M: -(1 << 31)}}},
		{"host(2, Infinity, 4294967296, 'n\\u0000l')", []loop.Frame{{Op: 2, N: math.Inf(1), M: 1 << 32, A: "n\x00l"}}},
		{"host(2, 0, 0, '\\u20ac\\ud83d\\ude00')", []loop.Frame{{Op: 2, A: "€😀"}}},
		{"host(2, 0, 0, '\\ud83d')", []loop.Frame{{Op: 2, A: "\xed\xa0\xbd"}}}, // to be seen as invalid by the loop
		{"host(2, 0, 0, 'ab'.repeat(50000), 'c' + 'd'.repeat(9))", []loop.Frame{{Op: 2, A: strings.Repeat("ab", 50000), B: "cddddddddd"}}},
		{"let rope = ''; for (let i = 0; i < 5000; i++) rope += 'x' + rope.length % 10; host(2, 0, 0, rope.slice(0, 3), rope + rope === '' ? '' : rope.slice(-2))", []loop.Frame{{Op: 2, A: "x0x", B: "x8"}}},
		{"let r = ''; for (let i = 0; i < 1000; i++) r = r + 'ab'; host(2, 0, 0, r + r)", []loop.Frame{{Op: 2, A: strings.Repeat("ab", 2000)}}},
		// HOSTILE-1: dropped.
		{"host()", nil},
		{"host('2')", nil},
		{"host(1.5)", nil},
		{"host(-1)", nil},
		{"host(NaN)", nil},
		{"host(2 ** 32 + 2)", nil},
		{"host({ valueOf() { throw 1 } })", nil},
		{"host(2, '1')", nil},
		{"host(2, 1, null)", nil},
		{"host(2, 1n)", nil},
		{"host(2, 1, 2, 3)", nil},
		{"host(2, 1, 2, null)", nil},
		{"host(2, 1, 2, { toString() { return 'no' } })", nil},
		{"host(2, 1, 2, new String('no'))", nil},
		{"host(2, 1, 2, Symbol('no'))", nil},
		{"host(2, 1, 2, 'a', ['b'])", nil},
		{"host(2, true)", nil},
		{"host.call(null, 2, 1, 1, 'this')", []loop.Frame{{Op: 2, N: 1, M: 1, A: "this"}}},
		{"new Proxy(host, {})(2)", []loop.Frame{{Op: 2}}},
		{"Reflect.apply(host, 5, { length: 4, 0: 2, 3: 'arraylike' })", []loop.Frame{{Op: 2, A: "arraylike"}}},
	} {
		t.Run("HOSTILE-1 "+c.script, func(t *testing.T) {
			if got := run(c.script); !slices.Equal(got, c.want) {
				t.Errorf("received %.200v, want %.200v", got, c.want)
			}
		})
	}
	t.Run("HOSTILE-1 NaN is a number like any other", func(t *testing.T) {
		got := run("host(2, NaN)")
		if len(got) != 1 || !math.IsNaN(got[0].N) {
			t.Errorf("received %v", got)
		}
	})
}

func TestReply(t *testing.T) {
	e := newEngine(t, Options{})
	for _, reply := range []string{"", "short", "€", strings.Repeat("long €", 2000)} {
		h := &fakeHost{receive: func(f loop.Frame) (string, bool) {
			if f.Op == 100 {
				return reply, true
			}
			return "", false
		}}
		_, run := raw(t, e, h)
		got := run("host(101, 0, 0, host(100)); host(101, 0, 0, typeof host(102))")
		if len(got) != 4 || got[1].A != reply || got[3].A != "undefined" {
			t.Errorf("reply %.20q came as %.200v", reply, got)
		}
	}
}

func TestBrand(t *testing.T) {
	e := newEngine(t, Options{})
	_, run := raw(t, e, &fakeHost{})
	for expression, want := range map[string]string{
		"{}":                              "undefined",
		"Object.create(null)":             "undefined",
		"new (class A {})":                "undefined",
		"Object.create(Array.prototype)":  "undefined",
		"{ [Symbol.toStringTag]: 'Map' }": "undefined",
		"1":                               "undefined",
		"'text'":                          "undefined",
		"null":                            "undefined",
		"undefined":                       "undefined",
		"[]":                              "Array",
		"Object.setPrototypeOf([], null)": "Array",
		"new (class A extends Array {})":  "Array",
		"() => 1":                         "Function",
		"class A {}":                      "Function",
		"Math.max":                        "Function",
		"(() => 1).bind()":                "Function",
		"new Error('x')":                  "Error",
		"Object.setPrototypeOf(new RangeError, null)": "Error",
		"new Map":                              "Map",
		"new Set":                              "Set",
		"new WeakMap":                          "WeakMap",
		"new Date":                             "Date",
		"/x/":                                  "RegExp",
		"Promise.resolve()":                    "Promise",
		"new Uint8Array(1)":                    "Uint8Array",
		"new ArrayBuffer(1)":                   "ArrayBuffer",
		"new Number(1)":                        "Number",
		"Object('s')":                          "String",
		"Object(1n)":                           "BigInt",
		"Object(Symbol())":                     "Symbol",
		"(function () { return arguments })()": "Arguments",
		"(function () { 'use strict'; return arguments })(1)": "Arguments",
		"new Proxy({}, {})":                    "Proxy",
		"new Proxy([], { get() { throw 1 } })": "Proxy",
		"new Proxy(() => 1, {})":               "Proxy",
		"Proxy.revocable({}, {}).proxy":        "Proxy",
		"(function* () {})()":                  "Generator",
		"globalThis":                           "Object",
		"Math":                                 "undefined",
		"new WeakRef({})":                      "WeakRef",
	} {
		got := run(fmt.Sprintf("host(100, 0, 0, String(host(%d, 0, 0, (%s))))", loop.OpBrand, expression))
		if want == "Object" && len(got) == 1 && (got[0].A == "Object" || got[0].A == "undefined") {
			continue
		}
		if len(got) != 1 || got[0].A != want {
			t.Errorf("%s is %v, want %s", expression, got, want)
		}
	}
	for expression, want := range map[string]string{
		"host(65, 0, 0, new Proxy(target, { get() { throw 1 } })) === target": "true",
		"typeof host(65, 0, 0, {})": "undefined",
		"typeof host(65, 0, 0, 1)":  "undefined",
		"typeof host(65)":           "undefined",
		"(r => { r.revoke(); return typeof host(65, 0, 0, r.proxy) })(Proxy.revocable(target, {}))":         "undefined",
		"(() => { for (let i = 0; i < 1e4; i++) host(65, 0, 0, new Proxy(target, {})); return 'alive' })()": "alive",
	} {
		got := run("var target = { a: 1 }; host(100, 0, 0, String(" + expression + "))")
		if len(got) != 1 || got[0].A != want {
			t.Errorf("%s is %v, want %s", expression, got, want)
		}
	}
}

func TestRejections(t *testing.T) {
	e := newEngine(t, Options{})
	for _, c := range []struct{ name, body, want string }{
		{"unhandled", "Promise.reject(new Error('lost')); await new Promise(() => {})", "lost"},
		{"the first of several", "Promise.reject('a'); Promise.reject('b'); await new Promise(() => {})", "a"},
		{"handled at once", "Promise.reject('a').catch(() => {}); await new Promise(() => {})", ""},
		{"handled before the queue is empty", "const p = Promise.reject('a'); await null; await null; p.catch(() => {}); await new Promise(() => {})", ""},
		{"handled in another order", "const a = []; for (let i = 0; i < 300; i++) a.push(Promise.reject(i)); for (const p of a.reverse()) p.catch(() => {}); await new Promise(() => {})", ""},
		{"one of many left", "const a = []; for (let i = 0; i < 300; i++) a.push(Promise.reject('n' + i)); a.forEach((p, i) => { if (i !== 150) p.catch(() => {}) }); await new Promise(() => {})", "n150"},
		{"the promise is garbage", "(() => { Promise.reject('gone') })(); const a = []; for (let i = 0; i < 1e5; i++) a.push({ a }); await new Promise(() => {})", "gone"},
		{"at completion", "Promise.reject('a'); return 1", ""},
		{"by an async function", "(async () => { throw new Error('async') })(); await new Promise(() => {})", "async"},
	} {
		t.Run("RUN-46 "+c.name, func(t *testing.T) {
			h := &fakeHost{}
			g := newGuest(t, e, h)
			if err := begin(g, c.body); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range h.frames {
				if f.Op == loop.OpUncaught {
					got += f.A
				}
			}
			if !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("uncaught %q, want %q", got, c.want)
			}
			if len(g.rejections.index) > 0 && !h.ended {
				t.Errorf("%d rejections are kept", len(g.rejections.index))
			}
		})
	}
}

// TestDeath: what ends a guest ends it for good.
func TestDeath(t *testing.T) {
	e := newEngine(t, Options{})
	again := func(t *testing.T, g *guest, want error) {
		t.Helper()
		for _, f := range []func() error{
			g.Jobs, func() error { return g.Settle(1, true, "1") }, func() error { return g.Fire(1) }, func() error { return g.Start("1") },
		} {
			if err := f(); !errors.Is(err, want) {
				t.Errorf("afterwards: %v, want %v", err, want)
			}
		}
	}
	t.Run("a stop", func(t *testing.T) {
		g := newGuest(t, e, &fakeHost{tick: func() bool { return true }})
		if err := begin(g, "for (;;);"); !errors.Is(err, loop.ErrStopped) {
			t.Fatal(err)
		}
		again(t, g, loop.ErrStopped)
	})
	t.Run("RUN-47 the guest's stack", func(t *testing.T) {
		g := newGuest(t, e, &fakeHost{})
		// Without QuickJS's own limit only the trap is left.
		if _, err := g.call(jsSetMaxStackSize, e.image.runtime, 0); err != nil {
			t.Fatal(err)
		}
		if err := begin(g, "const f = () => f() + 1; f()"); !errors.Is(err, loop.ErrStack) {
			t.Fatal(err)
		}
		again(t, g, loop.ErrStack)
	})
	t.Run("BUDGET-10 memory that does not exist", func(t *testing.T) {
		g := newGuest(t, e, &fakeHost{})
		_, err := g.call(jsFreeCString, e.image.context, 0xfffffff0)
		if err == nil || errors.Is(err, loop.ErrStack) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "out of bounds") {
			t.Fatalf("error %q", err)
		}
		again(t, g, err)
	})
	t.Run("RUN-52 code that does not parse", func(t *testing.T) {
		g := newGuest(t, e, &fakeHost{})
		err := begin(g, "\n  let a = ;")
		var p *loop.ProgramError
		if !errors.As(err, &p) || !strings.Contains(p.Stack, "program.ts:2:") || !strings.HasPrefix(p.Message, "SyntaxError: ") {
			t.Fatalf("error %#v", err)
		}
	})
}

// TestForgedPointers hands the imports every kind of pointer: they answer or end the guest, and never fault.
func TestForgedPointers(t *testing.T) {
	e := newEngine(t, Options{})
	pointers := []uint64{0, 1, 8, 1 << 20, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff, uint64(e.image.pages)*wasmPage - 1, uint64(e.image.pages) * wasmPage}
	for _, im := range hostImports {
		for _, p := range pointers {
			for _, n := range pointers {
				g := newGuest(t, e, &fakeHost{})
				func() {
					defer func() { recover() }() // how an import leaves the guest
					stack := []uint64{p, n, p, n, p}
					im.call(g, stack)
				}()
				g.Close()
			}
		}
	}
}
