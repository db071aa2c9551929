package runtimetest

// Section 4: lossless JSON, both as a completion and as an argument.

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// verdicts is the table of VALUE-4: an expression, the JSON that it is, or "" if it is a violation.
var verdicts = []struct{ name, expression, want string }{
	{"the empty string", `""`, `""`},
	{"a string with a NUL", `"a\0b"`, `"a\u0000b"`},
	{"a string with an emoji", `"\ud83d\ude00 é"`, `"😀 é"`},
	{"text that looks like an escape", `"\\ud800"`, `"\\ud800"`},
	{"an unpaired surrogate", `"a\ud800"`, ""},
	{"an unpaired surrogate behind a backslash", `"\\\ud800"`, ""},
	{"an unpaired low surrogate in a key", `{ ["x\udc00"]: 1 }`, ""},
	{"numbers", `[0, 1.5, -2, 1e21, 1e-7, 0.1, 100, 5e-324, 1.7976931348623157e308]`, `[0,1.5,-2,1e+21,1e-7,0.1,100,5e-324,1.7976931348623157e+308]`},
	{"NaN", "NaN", ""},
	{"infinity", "[Infinity]", ""},
	{"negative infinity", "{ a: -Infinity }", ""},
	{"negative zero", "{ a: [-0] }", ""},
	{"a BigInt", "10n", ""},
	{"a symbol", "{ a: Symbol('s') }", ""},
	{"a function", "[() => 1]", ""},
	{"undefined in an array", "[undefined]", ""},
	{"undefined in an object", "{ a: undefined }", ""},
	{"a boxed number", "new Number(1)", ""},
	{"a boxed string", "[new String('x')]", ""},
	{"a boxed boolean", "{ a: new Boolean(true) }", ""},
	{"a Date", "new Date(0)", ""},
	{"a Map", "[new Map()]", ""},
	{"a Set", "new Set([1])", ""},
	{"a RegExp", "{ a: /x/ }", ""},
	{"an Error", "{ a: new Error('x') }", ""},
	{"a promise inside", "[Promise.resolve(1)]", ""},
	{"a typed array", "new Uint8Array(2)", ""},
	{"a buffer", "[new ArrayBuffer(2)]", ""},
	{"an instance of a class", "new (class P { x = 1 })()", ""},
	{"an object made from another", "Object.create({ a: 1 })", ""},
	{"an array subclass", "new (class L extends Array {})()", ""},
	{"an array with a hole", "[1, , 2]", ""},
	{"an array with a hole at its end", "[1, ,]", ""},
	{"an array with a named property", "Object.assign([1], { extra: 2 })", ""},
	{"an array with a symbol property", "Object.assign([1], { [Symbol('s')]: 2 })", ""},
	{"an array with a hidden property", "Object.defineProperty([1], 'x', { value: 1 })", ""},
	{"an array with a hole and a property", "Object.assign([1, , 2], { extra: 2 })", ""},
	{"an array with a hidden element", "Object.defineProperty([1, 2], 0, { value: 1, enumerable: false })", ""},
	{"a match array", "/a/.exec('a')", ""},
	{"a template's strings", "((s: any) => s)`a`", ""},
	{"an array with another prototype", "Object.setPrototypeOf([1], null)", ""},
	{"an array with an object's prototype", "Object.setPrototypeOf([1], Object.prototype)", ""},
	{"an object with a symbol key", "{ [Symbol('s')]: 1 }", ""},
	{"an object with a hidden property", "Object.defineProperty({}, 'x', { value: 1 })", ""},
	{"arguments", "(function () { return arguments })()", ""},
	{"a cycle", "(() => { const a: any = {}; a.a = a; return a })()", ""},
	{"a long cycle", "(() => { const a: any = []; let x = a; for (let i = 0; i < 100; i++) { const y: any = [i]; x.push(y); x = y } x.push(a); return a })()", ""},
	{"a cycle deep down", "(() => { const a: any = []; let x = a; for (let i = 0; i < 100; i++) { const y: any = [i]; x.push(y); x = y } x.push(x); return a })()", ""},
	{"an object reached twice", "(() => { const a = [1]; return [a, a, { a }] })()", "[[1],[1],{\"a\":[1]}]"},
	{"a deep object reached twice", "(() => { const s = { x: [[1]] }; let a: any = [s, s]; for (let i = 0; i < 40; i++) a = [a, s]; return a })()", strings.Repeat("[", 40) + `[{"x":[[1]]},{"x":[[1]]}]` + strings.Repeat(`,{"x":[[1]]}]`, 40)},
	{"a null prototype", "Object.assign(Object.create(null), { a: 1 })", `{"a":1}`},
	{"the groups of a match", "/(?<x>a)/.exec('a')!.groups", `{"x":"a"}`},
	{"frozen and sealed containers", "Object.freeze({ a: Object.seal([1]) })", `{"a":[1]}`},
	{"an own toJSON", "{ toJSON() { return 1 } }", ""},
	{"an own toJSON that is data", "{ toJSON: 1 }", `{"toJSON":1}`},
	{"a getter", "{ get a() { return 1 } }", `{"a":1}`},
	{"a getter that throws", "{ get a() { throw 1 } }", ""},
	{"a proxy of an object", "new Proxy({ a: 1 }, {})", `{"a":1}`},
	{"a proxy of an array", "[new Proxy([1, { b: 2 }], {})]", `[[1,{"b":2}]]`},
	{"a proxy of a proxy", "new Proxy(new Proxy({ a: [1] }, {}), {})", `{"a":[1]}`},
	{"a proxy whose trap throws", "new Proxy({}, { ownKeys() { throw 1 } })", ""},
	{"a proxy of a Map", "new Proxy(new Map(), { getPrototypeOf() { return Object.prototype } })", ""},
	{"a revoked proxy", "(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return [proxy] })()", ""},
	{"a getter that shortens its array", "(() => { const a: any[] = [1, 2, 3]; Object.defineProperty(a, 0, { get() { a.length = 1; return 1 }, enumerable: true, configurable: true }); return a })()", ""},
	{"an own key __proto__", `JSON.parse('{"__proto__":{"x":1},"a":2}')`, `{"__proto__":{"x":1},"a":2}`},
	{"a Date with an object's prototype", "Object.setPrototypeOf(new Date(0), Object.prototype)", ""},
	{"a Map with an object's prototype", "Object.setPrototypeOf(new Map(), Object.prototype)", ""},
	{"a Set without a prototype", "Object.setPrototypeOf(new Set(), null)", ""},
	{"a WeakMap with an object's prototype", "Object.setPrototypeOf(new WeakMap(), Object.prototype)", ""},
	{"a promise with an object's prototype", "[Object.setPrototypeOf(Promise.resolve(1), Object.prototype)]", ""},
	{"an error with an object's prototype", "[Object.setPrototypeOf(new Error('x'), Object.prototype)]", ""},
	{"a boxed number with an object's prototype", "Object.setPrototypeOf(new Number(1), Object.prototype)", ""},
	{"a generator with an object's prototype", "Object.setPrototypeOf((function* () {})(), Object.prototype)", ""},
	{"a typed array with an array's prototype", "Object.setPrototypeOf(new Uint8Array(1), Array.prototype)", ""},
	{"a class that calls itself Object", "(() => { const C = { Object: class {} }.Object; Object.defineProperty(C, 'name', { value: 'Object' }); return new C() })()", ""},
	{"JavaScript's order of keys", "{ b: 1, a: 2, 2: 3, 1: 4 }", `{"1":4,"2":3,"b":1,"a":2}`},
	{"a key that needs quotes", `{ 'a "b" \n': 1, '': 2, 'é': 3 }`, `{"a \"b\" \n":1,"":2,"é":3}`},
}

func testValues(t *testing.T, s *suite) {
	for _, v := range verdicts {
		completion := check{name: "VALUE-4 as completion: " + v.name, program: "return (" + v.expression + ") as any", want: v.want, calls: "-"}
		argument := check{name: "VALUE-4 as argument: " + v.name, program: "return await tools.echo((" + v.expression + ") as any)" + decl, want: v.want, calls: "echo"}
		if v.want == "" {
			completion.kind, completion.match = runtime.InvalidOutput, `^result is not lossless JSON: .+ at \$`
			argument = check{name: argument.name, calls: "-", want: "true",
				program: "try { await tools.echo((" + v.expression + ") as any) } catch (e) { return e.message.startsWith('arguments are not lossless JSON: ') }" + decl}
		}
		s.checks(t, []check{completion, argument})
	}

	s.checks(t, []check{
		{name: "VALUE-1 the path of a violation", program: "return { items: [1, 2, { 'a b': [{ when: NaN }] }] }", kind: runtime.InvalidOutput,
			message: `result is not lossless JSON: NaN (use null) at $.items[2]["a b"][0].when`},
		{name: "VALUE-1 the addition is at most 200 bytes", program: "let a: any = NaN; for (let i = 0; i < 200; i++) a = { ['é'.repeat(i)]: a, n: 1 }; return a", kind: runtime.InvalidOutput,
			also: func(t *testing.T, r runtime.Result, _ *host) {
				if n := len(r.Error.Message) - len("result is not lossless JSON"); n > 200 {
					t.Errorf("the addition has %d bytes: %s", n, r.Error.Message)
				}
			}},
		{name: "VALUE-3 undefined is no value as a completion only", program: "try { await tools.echo(undefined) } catch { return undefined }" + decl, none: true, calls: "-"},
		{name: "VALUE-4 each slot is read once", program: `
			const reads: any = {};
			const watch = (o: any) => new Proxy(o, { get(t, k) { reads[String(k)] = (reads[String(k)] || 0) + 1; return t[k] } });
			let gets = 0;
			await tools.echo(watch({ a: 1, b: watch([7, 8]), get c() { return ++gets } }));
			return [reads.a, reads.b, reads['0'], reads['1'], gets]` + decl, want: "[1,1,1,1,1]"},
		{name: "VALUE-4 toJSON is never called", program: `
			let called = 0;
			const spy = () => { called++; return 'no' };
			for (const p of [Object.prototype, Array.prototype, String.prototype, Number.prototype] as any[]) p.toJSON = spy;
			const r = await tools.echo({ a: ['x', 1] });
			return [called, r.a]` + decl, want: `[0,["x",1]]`},
		{name: "VALUE-4 inherited properties are ignored", program: "(Object.prototype as any).extra = 1; return { a: 1 }", want: `{"a":1}`},
		{name: "VALUE-7 values from the host keep their order", program: "const r = await host.get({}); return [Object.keys(r), r]" + decl, request: result(json.RawMessage(`{"b":1,"a":2,"2":3,"1":4,"b":5}`)),
			want: `[["1","2","b","a"],{"1":4,"2":3,"b":5,"a":2}]`},
		{name: "VALUE-8 a completion is a snapshot", program: "const a = [1]; setTimeout(() => a.push(2), 0); Promise.resolve().then(() => Promise.resolve()).then(() => Promise.resolve()).then(() => a.push(3)); return a", want: "[1]"},
		{name: "VALUE-9 text is made well-formed", program: "console.log('a\\ud800b\\udc00\\udc00'); throw 'x\\ud800'", kind: runtime.Exception, message: "x\uFFFD", logs: []string{"a\uFFFDb\uFFFD\uFFFD"}},
		{name: "VALUE-10 a string of a mebibyte", program: "const s = 'é\"\\n'.repeat(3e5); const r = await tools.echo({ s }); return r.s === s" + decl, want: "true"},
		{name: "VALUE-2 a wide value", program: "const a = Array.from({ length: 100000 }, (_, i) => i); const r = await tools.echo({ a }); return [r.a.length, r.a[99999]]" + decl, want: "[100000,99999]"},
	})
}
