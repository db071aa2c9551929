package wasmengine

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// TestPlain compares what the host reads out of the guest's memory with what the prelude would have written.
func TestPlain(t *testing.T) {
	e := newEngine(t, Options{})
	for _, c := range []struct {
		name, program string // the value is what tools.x is called with
		want          string // the argument; empty: refused
		read          bool   // by the host alone
	}{
		{"VALUE-4 a small object", "tools.x({a: 1, b: 'text', c: [true, null, {d: 0.1}]})", `{"a":1,"b":"text","c":[true,null,{"d":0.1}]}`, true},
		{"VALUE-4 an array", "tools.x([1, [], {}])", `[1,[],{}]`, true},
		{"VALUE-4 without a prototype", "const o = Object.create(null); o.a = 1; tools.x(o)", `{"a":1}`, true},
		{"VALUE-4 frozen", "tools.x(Object.freeze({a: Object.freeze([1])}))", `{"a":[1]}`, false},
		{"VALUE-7 indices come first", "tools.x({b: 1, 2: 0, 1: 0})", `{"1":0,"2":0,"b":1}`, false},
		{"VALUE-7 a large index too", "tools.x({b: 1, 4000000000: 0})", `{"4000000000":0,"b":1}`, false},
		{"VALUE-7 the order of an added key", "const o = {b: 1, a: 2}; delete o.b; o.b = 3; tools.x(o)", `{"a":2,"b":3}`, false},
		{"VALUE-6 large and small numbers", "tools.x({a: 2 ** 60, b: 1e21, c: 5e-324, d: -1})", `{"a":1152921504606847000,"b":1e+21,"c":5e-324,"d":-1}`, true},
		{"VALUE-9 wide texts and names", "tools.x({'\u20ac': 'a\u20ac\U0001f600\u00e9'})", `{"€":"a€😀é"}`, true},
		{"VALUE-9 an unpaired surrogate", `tools.x({a: '\ud800x'})`, "", false},
		{"VALUE-9 half a pair at the end", `tools.x({a: '\ud83d'})`, "", false},
		{"VALUE-9 an unpaired surrogate in a name", `tools.x({'\ud800x': 1})`, "", false},
		{"VALUE-4 a part of a long text", "const s = 'abc'.repeat(9000); tools.x({a: s.slice(3, 1000)})", `{"a":"` + strings.Repeat("abc", 9000)[3:1000] + `"}`, false},
		{"VALUE-4 texts that are put together", "let s = 'x'; for (let i = 0; i < 9; i++) s += s + 'y'.repeat(i); tools.x({a: s.length, s: s.slice(0, 3)})", `{"a":1014,"s":"xxx"}`, false},
		{"VALUE-4 a getter is read once", "let n = 0; tools.x({a: 1, get b() { return ++n }})", `{"a":1,"b":1}`, false},
		{"RUN-27 a getter that calls", "tools.x({a: 1, get b() { tools.x({inner: 1}); return 2 }})", `{"a":1,"b":2}`, false},
		{"VALUE-4 toJSON is not called", "Object.prototype.toJSON = () => 1; tools.x({a: {b: 1}})", `{"a":{"b":1}}`, true},
		{"VALUE-4 negative zero", "tools.x({a: -0})", "", false},
		{"VALUE-4 a hole", "tools.x([1,,2])", "", false},
		{"VALUE-4 a cycle", "const o = {}; o.o = o; tools.x(o)", "", false},
		{"VALUE-4 shared but no cycle", "const o = {}; tools.x({a: o, b: o})", `{"a":{},"b":{}}`, true},
		{"VALUE-4 a symbol key", "tools.x({a: 1, [Symbol()]: 1})", "", false},
		{"VALUE-4 a symbol value", "tools.x({a: Symbol()})", "", false},
		{"VALUE-4 hidden", "tools.x(Object.defineProperty({a: 1}, 'b', {value: 1}))", "", false},
		{"VALUE-4 a class", "tools.x(new (class A { a = 1 })())", "", false},
		{"VALUE-4 arguments", "(function () { tools.x(arguments) })(1)", "", false},
		{"VALUE-4 a boxed number", "tools.x({a: Object(1)})", "", false},
		{"VALUE-4 the global object", "tools.x(globalThis)", "", false},
		{"VALUE-4 a prototype that was replaced", "tools.x(Object.setPrototypeOf([1], Object.prototype))", "", false},
		{"VALUE-5 depth", "let o = {}; for (let i = 0; i < 30; i++) o = {o}; tools.x(o)", strings.Repeat(`{"o":`, 30) + "{}" + strings.Repeat("}", 30), false},
		{"VALUE-1 many slots", "tools.x(Array.from({length: 65}, () => 0))", "[" + strings.Repeat("0,", 64) + "0]", false},
		{"VALUE-1 long texts", "tools.x({a: 'x'.repeat(4097)})", `{"a":"` + strings.Repeat("x", 4097) + `"}`, false},
		{"VALUE-4 an own __proto__", "tools.x({['__proto__']: 1})", `{"__proto__":1}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			h := &fakeHost{receive: func(f loop.Frame) (string, bool) {
				if f.Op == loop.OpCall {
					got = append(got, f.B)
				}
				if f.Op == loop.OpCheck {
					if _, err := jsonval.ParseString(f.A); err != nil {
						return err.Error(), true
					}
				}
				return "", f.Op == loop.OpCheck
			}}
			g := newGuest(t, e, h)
			if err := begin(g, c.program+"; await null"); err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if len(got) != 0 {
					t.Fatalf("called with %q", got)
				}
				return
			}
			if len(got) == 0 || got[len(got)-1] != c.want {
				t.Fatalf("called with %q, want %q", got, c.want)
			}
			b := boot{g: g, im: e.image}
			source := c.program[strings.LastIndex(c.program, "tools.x(")+len("tools.x("):]
			if c.read && !strings.Contains(c.program, "; tools") {
				v := b.eval("("+strings.TrimSuffix(source, ")")+")", loop.FileName)
				if text, ok := g.plain(v); b.err != nil || !ok || text != c.want {
					t.Errorf("the host reads %q, %v, %v", text, ok, b.err)
				}
			}
		})
	}
}

// TestPlainIsLossless lets programs send random values both ways.
func TestPlainIsLossless(t *testing.T) {
	e := newEngine(t, Options{})
	var sent []string
	req := runtime.Request{
		Program: `
			const pick = list => list[Math.floor(Math.random() * list.length)];
			const text = () => pick(['', 'a', 'é', '€', '😀', '"\\\n\u0000', 'x'.repeat(40), 'ab'.repeat(5).slice(3), String(Math.random())]);
			const value = depth => pick([() => text(), () => Math.random() * 1e9 | 0, () => Math.random() * 10 ** pick([-30, 0, 30]), () => null, () => true,
				() => depth > 4 ? 1 : Array.from({length: Math.random() * 4}, () => value(depth + 1)),
				() => { const o = {}; for (let i = Math.random() * 5; depth < 5 && i > 0; i--) o[text()] = value(depth + 1); return o; }])();
			for (let i = 0; i < 500; i++) {
				const v = {v: value(0)};
				await tools.x(v);
				await tools.x(new Proxy(v, {})); // the host does not look into proxies
			}`,
		Namespaces: serving(func(_ context.Context, arg jsonval.Value, reply func(any, error)) {
			sent = append(sent, arg.String())
			reply(nil, nil)
		}),
		Seed: rand.Uint64N(1<<50) + 1,
	}
	mustRun(t, e, req)
	if len(sent) != 1000 {
		t.Fatalf("%d calls", len(sent))
	}
	for i := 0; i < len(sent); i += 2 {
		if sent[i] != sent[i+1] {
			t.Errorf("VALUE-6 VALUE-7 seed %d: %s by the host, %s by the prelude", req.Seed, sent[i], sent[i+1])
		}
	}
}

// TestPlainTrustsNothing points the reader at arbitrary memory (HOSTILE-1).
func TestPlainTrustsNothing(t *testing.T) {
	e := newEngine(t, Options{})
	g := newGuest(t, e, &fakeHost{})
	size := g.mem.Size()
	for i := range 200_000 {
		p := rand.Uint32N(size + 64)
		if i%16 == 0 {
			p = ^rand.Uint32N(256)
		}
		tag := uint64(tagObject)
		if i%2 == 0 {
			tag = tagString
		}
		if text, _ := g.plain(value(tag<<32 | uint64(p))); len(text) > 32<<10 {
			t.Fatalf("HOSTILE-1 at %#x: %d bytes", p, len(text))
		}
	}
}
