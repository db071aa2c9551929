package runtimetest

// RUN-26 and HOSTILE-8: what holds after a program has wrecked the built-ins.

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// wreck replaces or deletes everything that the bootstrap could have relied on.
const wreck = `
	const g: any = globalThis;
	const trap = () => { throw 'poisoned' };
	const define = Object.defineProperty, names = Object.getOwnPropertyNames;
	const wreckProto = (proto: any, keep: string[]) => {
		const list = names(proto);
		for (let i = 0; i < list.length; i++) {
			let kept = list[i] === 'constructor';
			for (let k = 0; k < keep.length; k++) if (keep[k] === list[i]) kept = true;
			if (!kept) try { define(proto, list[i], { value: trap, writable: true, configurable: true }) } catch {}
		}
	};
	const base = Object.prototype, array = Array.prototype, then = Promise.prototype.then, promise = Promise.prototype;
	const protos = [Function.prototype, RegExp.prototype, Map.prototype, Set.prototype, WeakMap.prototype, Date.prototype, Number.prototype, Boolean.prototype,
		Error.prototype, promise, Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(new Map().entries()), array, String.prototype, base];
	const statics = [Reflect, JSON, Math, Array, Number, Promise, Date, String, Symbol, Error, Object];
	const globals = ['Error', 'TypeError', 'RangeError', 'Object', 'Array', 'JSON', 'Map', 'WeakMap', 'Set', 'Reflect', 'Promise', 'String', 'Number', 'Symbol', 'Math', 'Date', 'Function'];
	const pollution = ['up', 'source', 'next', 'size', 'toJSON', 'space', 'member', 'cause', '0', '1'];
	for (let i = 0; i < protos.length; i++) wreckProto(protos[i], ['__proto__']);
	for (let i = 0; i < statics.length; i++) wreckProto(statics[i], ['prototype', 'length', 'name']);
	define(promise, 'then', { value: then, configurable: true });
	for (let i = 0; i < globals.length; i++) try { delete g[globals[i]] } catch {}
	const loud: any = { __proto__: null, get() { throw trap() }, set() { throw trap() }, configurable: true };
	for (let i = 0; i < pollution.length; i++) define(base, pollution[i], loud);
	define(array, '0', loud);
`

// pollute puts accessors where property descriptors have their fields, on top of wreck.
const pollute = `
	const fields = ['value', 'writable', 'enumerable', 'configurable', 'get', 'set'];
	for (let i = 0; i < fields.length; i++) define(base, fields[i], loud);
`

func testPoison(t *testing.T, s *suite) {
	s.checks(t, []check{
		{name: "RUN-26 typed rejections", program: "const Real = ToolCallError;" + wreck + `
			try { await tools.fail({ a: 1 }) } catch (e) { return [e instanceof Real, e.name, e.message, e.toolName] }` + decl,
			want: `[true,"ToolCallError","no such row","fail"]`},
		{name: "RUN-26 typed refusals", program: "const when = new Date(0), Real = ToolCallError;" + wreck + `
			try { await tools.echo({ when }) } catch (e) { return [e instanceof Real, e.message] }` + decl,
			want: `[true,"arguments are not lossless JSON: a Date (use toISOString()) at $.when"]`, calls: "-"},
		{name: "RUN-26 transport and validation", program: wreck + `
			return await tools.echo({ list: [1, 'two', null, true, { deep: [[]] }], "2": 'é\u{1F600}' })` + decl,
			want: `{"2":"é😀","list":[1,"two",null,true,{"deep":[[]]}]}`},
		{name: "RUN-26 look-alikes stay refused", program: `
			class Fake {} Object.defineProperty(Fake, 'name', { value: 'Object' });
			const fake = new Fake(), map = Object.setPrototypeOf(new Map([[1, 2]]), Object.prototype);` + wreck + `
			let seen = '';
			try { await tools.echo({ fake }) } catch (e) { seen += e.message }
			try { await tools.echo({ map }) } catch (e) { seen += '; ' + e.message }
			return seen` + decl,
			want: `"arguments are not lossless JSON: an instance of Object (use a plain object) at $.fake; arguments are not lossless JSON: a Map (use Object.fromEntries(map)) at $.map"`, calls: "-"},
		{name: "RUN-26 logs", program: wreck + `
			console.log('text', 1, { a: [1, 'b', null] }); console.warn(undefined); console.table([{ a: 1 }]); console.count(); return 1` + decl,
			want: "1", also: func(t *testing.T, r runtime.Result, _ *host) {
				if len(r.Logs) != 4 || r.Logs[0] != "text 1 { a: [ 1, 'b', null ] }" || r.Logs[1] != "undefined" || r.Logs[3] != "default: 1" {
					t.Errorf("logs %q", r.Logs)
				}
			}},
		{name: "RUN-26 typed rejections with polluted descriptor fields", program: "const Real = ToolCallError;" + wreck + pollute + `
			try { await tools.fail({ a: 1 }) } catch (e) { return [e instanceof Real, e.name, e.message, e.toolName] }` + decl,
			want: `[true,"ToolCallError","no such row","fail"]`},
		{name: "RUN-26 values with polluted descriptor fields", program: "const when = new Date(0);" + wreck + pollute + `
			let text = ''; try { await tools.echo({ when }) } catch (e) { text = e.message }
			return [text, await tools.echo({ a: [1, { b: 'x' }] })]` + decl,
			want: `["arguments are not lossless JSON: a Date (use toISOString()) at $.when",{"a":[1,{"b":"x"}]}]`},
		{name: "RUN-26 logs with polluted descriptor fields", program: "const e = new Error('x');" + wreck + pollute + `
			console.log({ a: [1, 'b', { get c() { return 1 } }] }, e); return 1`, want: "1", also: func(t *testing.T, r runtime.Result, _ *host) {
			if !strings.HasPrefix(r.Logs[0], "{ a: [ 1, 'b', { c: [Getter] } ] } Error: x\n    at program.ts:") {
				t.Errorf("log %q", r.Logs[0])
			}
		}},
		{name: "RUN-26 logs of built-ins", program: "const list = [new Map([[1, { a: 1 }]]), new Set(['x']), /x/gi, new Date(0), [1, , 3], Symbol('s'), function f() {}, class A {}, new Uint8Array(2), 1n, -0];" + wreck + `
			console.log(list); return 1`,
			want: "1", logs: []string{"[ Map(1) { 1 => { a: 1 } }, Set(1) { 'x' }, /x/gi, 1970-01-01T00:00:00.000Z, [ 1, <1 empty item>, 3 ], Symbol(s), [Function: f], [class A], Uint8Array(2) [ 0, 0 ], 1n, -0 ]"}},
		{name: "RUN-26 timers and microtasks", program: wreck + `
			let n = 0; queueMicrotask(() => { n++ });
			await tools.wait({ ms: 1 });
			const id = setInterval(() => { n += 10; if (n > 25) clearInterval(id) }, 1);
			await tools.wait({ ms: 60 }); return n` + decl, want: "31"},
		{name: "RUN-26 failure texts", program: "const e = new TypeError('real');" + wreck + "throw e", kind: runtime.Exception, match: "^TypeError: real|thrown value cannot be shown"},
		{name: "RUN-26 the completion", program: wreck + "return { a: 1, b: ['x', { c: null }] }", want: `{"a":1,"b":["x",{"c":null}]}`},
		{name: "RUN-26 a lossy completion", program: "const d = new Date(0);" + wreck + "return { d }", kind: runtime.InvalidOutput, message: "result is not lossless JSON: a Date (use toISOString()) at $.d"},
		{name: "HOSTILE-8 metering", program: wreck + "for (;;) console.log('xxxxxxxxxx')", limits: runtime.Limits{MaxOutput: 300}, kind: runtime.OutputLimit},
		{name: "HOSTILE-7 helper functions are safe under any use", program: `
			const f: any[] = [tools.echo, console.log, console.table, setTimeout, clearTimeout, queueMicrotask, process.stdout.write];
			for (const x of f) for (const self of [undefined, null, 1, tools, f]) for (const args of [[], [undefined], [Symbol()], [null, NaN, {}]])
				try { const p = Reflect.apply(x, self, args); if (p instanceof Promise) p.catch(() => {}) } catch {}
			for (const x of f) try { new x() } catch {}
			return await tools.echo('alive'); declare const process: any` + decl, want: `"alive"`},
		{name: "HOSTILE-7 re-entrancy", program: `
			let inner: any;
			const outer = { get a() { inner = tools.echo({ get b() { console.log('in'); return 2 } }); return 1 }, c: 3 };
			return [await tools.echo(outer), await inner]` + decl, want: `[{"a":1,"c":3},{"b":2}]`, logs: []string{"in"}, calls: "echo echo"},
	})
}
