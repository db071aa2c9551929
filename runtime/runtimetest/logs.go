package runtimetest

// Section 5: what a program's output looks like.

import (
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// forms is LOG-6: an expression and how console.log shows it.
var forms = []struct{ expression, want string }{
	{"undefined", "undefined"}, {"null", "null"}, {"true", "true"}, {"1.5", "1.5"}, {"-0", "-0"}, {"NaN", "NaN"}, {"1n", "1n"}, {"Symbol('q')", "Symbol(q)"},
	{"['a']", "[ 'a' ]"}, {`["it's"]`, `[ "it's" ]`}, {"['\"']", `[ '"' ]`}, {"[`it's \"x\"`]", "[ `it's \"x\"` ]"}, {"['a\\nb\\t\\u0001\\\\']", `[ 'a\nb\t\x01\\' ]`},
	{"[1, 2]", "[ 1, 2 ]"}, {"[]", "[]"}, {"[, 1, , ,]", "[ <1 empty item>, 1, <2 empty items> ]"},
	{"Array.from({ length: 103 }, () => 0)", "[ " + strings.Repeat("0, ", 100) + "... 3 more items ]"},
	{"new Array(4294967295)", "[ <4294967295 empty items> ]"},
	{"{ x: 1, y: 2 }", "{ x: 1, y: 2 }"}, {"{}", "{}"}, {"{ 'a-b': 1, 3: 2 }", "{ '3': 2, 'a-b': 1 }"}, {"{ [Symbol('s')]: 1 }", "{ [Symbol(s)]: 1 }"},
	{"Object.create(null)", "[Object: null prototype] {}"}, {"new (class P { x = 1 })()", "P { x: 1 }"}, {"new (class L extends Array {})()", "L(0) []"},
	{"function f() {}", "[Function: f]"}, {"(() => () => 1)()", "[Function (anonymous)]"}, {"class A {}", "[class A]"}, {"class B extends Array {}", "[class B extends Array]"},
	{"{ get a() { return 1 }, set b(x) {}, get c() { return 1 }, set c(x) {} }", "{ a: [Getter], b: [Setter], c: [Getter/Setter] }"},
	{"new Map([[1, 2], ['a', { b: 1 }]])", "Map(2) { 1 => 2, 'a' => { b: 1 } }"}, {"new Set([1, 'x'])", "Set(2) { 1, 'x' }"}, {"new Map()", "Map(0) {}"},
	{"new Date(0)", "1970-01-01T00:00:00.000Z"}, {"new Date(NaN)", "Invalid Date"}, {"/x/g", "/x/g"}, {"new Uint8Array([1, 2])", "Uint8Array(2) [ 1, 2 ]"},
	{"new ArrayBuffer(4)", "ArrayBuffer { byteLength: 4 }"}, {"Promise.resolve(1)", "Promise {}"}, {"new Number(3)", "[Number: 3]"}, {"[new String('x')]", "[ [String: 'x'] ]"},
	{"new WeakMap()", "WeakMap { <items unknown> }"}, {"Object(Symbol('s'))", "[Symbol: Symbol(s)]"}, {"[1].values()", "Object [Array Iterator] {}"},
	{"['\\x1b\\x7f\\v\\ud80a']", `[ '\x1B\x7F\x0B\uD80A' ]`}, {"[function* () {}, { *g() {} }.g]", "[ [GeneratorFunction (anonymous)], [GeneratorFunction: g] ]"},
	{"new (class M extends Map {})([[1, 2]])", "M(1) [Map] { 1 => 2 }"}, {"new (class {})()", "{}"}, {"new (class extends (class Q {}) { x = 1 })()", "Q { x: 1 }"},
	{"Object.create({ constructor: function Named() {} })", "{}"},
	{"(() => { const a: any = { n: 1 }; a.me = a; return a })()", "{ n: 1, me: [Circular] }"},
	{"{ a: { b: { c: { d: { e: 1 } } } } }", "{ a: { b: { c: { d: { e: 1 } } } } }"},
	{"{ a: { b: { c: { d: { e: { f: 1 } } } } } }", "{ a: { b: { c: { d: { e: [Object] } } } } }"},
	{"[[[[[[1]]]]]]", "[ [ [ [ [ [Array] ] ] ] ] ]"},
	{"['x'.repeat(10001)]", "[ '" + strings.Repeat("x", 10000) + "'... 1 more character ]"},
	{"new Proxy({ a: 1 }, { get() { throw 1 }, ownKeys() { throw 1 }, getOwnPropertyDescriptor() { throw 1 }, getPrototypeOf() { throw 1 } })", "{ a: 1 }"},
}

func testLogs(t *testing.T, s *suite) {
	for _, f := range forms {
		s.checks(t, []check{{name: "LOG-6 " + f.expression, program: "console.log((" + f.expression + ") as any)", none: true, logs: []string{f.want}}})
	}
	s.checks(t, []check{
		{name: "LOG-1 the levels are equal", program: "console.log('a'); console.info('b'); console.warn('c'); console.error('d'); console.debug('e')", none: true, logs: []string{"a", "b", "c", "d", "e"}},
		{name: "LOG-1 the console may be changed and shadowed", program: "(console as any).log = (x: any) => console.warn('mine ' + x); console.log(1); { const console = { log() {} }; console.log() }", none: true, logs: []string{"mine 1"}},
		{name: "LOG-1 what models also write", program: `
			console.group('g'); console.log('in'); console.groupEnd(); console.groupCollapsed(); console.groupEnd();
			console.count(); console.count('x'); console.count(); console.countReset(); console.count();
			console.assert(true, 'no'); console.assert(false, 'yes', { a: 1 }); console.assert(0);
			console.dir({ a: 'b' }); console.time('t'); console.timeEnd('t'); console.time(); console.timeLog(undefined, 'extra'); console.timeEnd('nope')`, none: true,
			logs: []string{"g", "in", "default: 1", "x: 1", "default: 2", "default: 1", "Assertion failed: yes { a: 1 }", "Assertion failed", "{ a: 'b' }", "t: 0ms", "default: 0ms extra", "Timer 'nope' does not exist"}},
		{name: "LOG-1 a table", program: "console.table([{ a: 1, b: 'x' }, { b: 2, c: { d: 1 } }]); console.table(['p', 7]); console.table([{ a: 1, b: 2 }], ['b']); console.table(5)", none: true, logs: []string{
			"┌─────────┬───┬─────┬──────────┐\n│ (index) │ a │ b   │ c        │\n├─────────┼───┼─────┼──────────┤\n│ 0       │ 1 │ 'x' │          │\n│ 1       │   │ 2   │ { d: 1 } │\n└─────────┴───┴─────┴──────────┘",
			"┌─────────┬────────┐\n│ (index) │ Values │\n├─────────┼────────┤\n│ 0       │ 'p'    │\n│ 1       │ 7      │\n└─────────┴────────┘",
			"┌─────────┬───┐\n│ (index) │ b │\n├─────────┼───┤\n│ 0       │ 2 │\n└─────────┴───┘",
			"5"}},
		{name: "LOG-1 a trace", program: "function here() {\n  console.trace('at', 1)\n}\nhere()", none: true, also: func(t *testing.T, r runtime.Result, _ *host) {
			if !strings.HasPrefix(r.Logs[0], "Trace: at 1\n    at here (program.ts:2:") {
				t.Errorf("log %q", r.Logs[0])
			}
		}},
		{name: "LOG-1 the console never throws", program: `
			const bad = new Proxy(function () {}, { get() { throw 1 }, has() { throw 1 }, ownKeys() { throw 1 }, apply() { throw 1 }, getPrototypeOf() { throw 1 } });
			const c: any = console;
			for (const k of Object.keys(c)) for (const x of [bad, Symbol('s'), null, undefined, { toString() { throw 1 } }, Object.create(bad), [bad], class extends Array {}])
				{ c[k](x); c[k](x, x); c[k]('l', x) }
			return 'quiet'`, want: `"quiet"`},
		{name: "LOG-2 one call is one entry", program: "console.log('a', 1, { x: 1, y: [1, 'b'] }, null, undefined); console.error('e'); console.log(); console.log('%s', 1); console.log('a\\nb ')", none: true,
			logs: []string{"a 1 { x: 1, y: [ 1, 'b' ] } null undefined", "e", "", "%s 1", "a\nb "}},
		{name: "LOG-3 raw writes", program: `
			const order: any[] = [];
			const r = process.stdout.write('raw\n', (e: any) => order.push(e)); process.stderr.write(5, 'utf8', (e: any) => order.push('second'));
			order.push(r); await null; await null; return order; declare const process: any`, want: `[true,null,"second"]`, logs: []string{"raw\n", "5"}},
		{name: "LOG-4 one list in order", program: "console.log('point', { x: 1, y: 2 }); process.stdout.write('raw\\n'); console.warn('careful'); return 3; declare const process: any", want: "3",
			logs: []string{"point { x: 1, y: 2 }", "raw\n", "careful"}},
		{name: "LOG-5 entries before a throw", program: "console.log('a'); await null; console.log('b'); throw 1", kind: runtime.Exception, logs: []string{"a", "b"}},
		{name: "LOG-5 entries before a timeout", program: "console.log('a'); for (;;);", limits: quick, kind: runtime.Timeout, logs: []string{"a"}},
		{name: "LOG-5 entries before an exit", program: "console.log('a'); process.exit(); declare const process: any", kind: runtime.WorkerExit, logs: []string{"a"}},
		{name: "LOG-6 getters and traps are not triggered", program: `
			let n = 0;
			const o = { get a() { n++; return 1 } }, p = new Proxy({ b: 1 }, { get() { n++; return 1 }, ownKeys() { n++; return [] }, getPrototypeOf() { n++; return null }, getOwnPropertyDescriptor() { n++; return undefined } });
			class E extends Error { get name() { n++; return 'E' } get message() { n++; return 'm' } }
			console.log(o, p, [o, p], new Map([[o, p]]), Object.create(p), Object.create(o), new E(), class { static get name() { n++; return 'x' } });
			return n`, want: "0"},
		{name: "LOG-6 inspection ends on any value", program: `
			let a: any = [1]; for (let i = 0; i < 60; i++) a = [a, a, a, a];
			let wide: any = {}; for (let i = 0; i < 300; i++) wide['k' + i] = a;
			console.log(a); console.log([wide, wide]); let d: any = {}; for (let i = 0; i < 1e5; i++) d = { d }; console.log(d); return 1`, want: "1"},
		{name: "LOG-6 inspection stops at the cap", program: "let a: any = 'x'.repeat(100); for (let i = 0; i < 5; i++) a = Array(100).fill(a); console.log(a); return 1", limits: runtime.Limits{MaxOutput: 5000}, kind: runtime.OutputLimit},
		{name: "LOG-6 errors with causes", program: "const e: any = new Error('outer', { cause: new TypeError('inner') }); e.code = 7; console.log(e)", none: true, also: func(t *testing.T, r runtime.Result, _ *host) {
			if !strings.HasPrefix(r.Logs[0], "Error: outer\n    at program.ts:1:") || !strings.Contains(r.Logs[0], "[cause]: [TypeError: inner") || !strings.Contains(r.Logs[0], "code: 7") {
				t.Errorf("log %q", r.Logs[0])
			}
		}},
	})
	s.test(t, "LOG-5 entries are handed out as they are emitted", func(t *testing.T) {
		h := newHost()
		defer h.close()
		entries := make(chan string, 10)
		done := make(chan runtime.Result, 1)
		e := s.engine(t, runtime.Limits{})
		go func() {
			r, _ := e.Run(t.Context(), runtime.Request{Program: "console.log('first'); await tools.never({})" + decl, Namespaces: h.namespaces(), OnLog: func(text string) { entries <- text }})
			done <- r
		}()
		select {
		case text := <-entries:
			if text != "first" {
				t.Errorf("entry %q", text)
			}
		case r := <-done:
			t.Fatalf("the run ended first: %v", r.Error)
		case <-time.After(patience):
			t.Fatal("no entry while the program waits")
		}
		h.close()
		r := <-done
		(&check{none: true, logs: []string{"first"}}).verify(t, r)
	})
}
