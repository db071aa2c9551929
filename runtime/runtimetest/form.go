package runtimetest

// Section 3: what a program looks like, and what its outcome is.

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func testForm(t *testing.T, s *suite) {
	s.checks(t, []check{
		{name: "RUN-30 return", program: "return 1 + 1", want: "2"},
		{name: "RUN-30 await at the top level", program: "const x = await Promise.resolve(20); return x + 1", want: "21"},
		{name: "RUN-30 falling off the end", program: "const x = 1", none: true},
		{name: "RUN-30 an empty program", program: "", none: true, logs: []string{}},
		{name: "RUN-30 comments only", program: "// nothing\n/* at all */", none: true, logs: []string{}},
		{name: "RUN-30 a comment at the end", program: "return 5 // the end", want: "5"},
		{name: "RUN-30 a block comment at the end", program: "return 7 /* end */", want: "7"},
		{name: "RUN-30 this is undefined", program: "return typeof this", want: `"undefined"`},
		{name: "RUN-30 strict mode", program: "try { undeclared = 1 } catch (e) { return e.name } declare let undeclared: number", want: `"ReferenceError"`},
		{name: "RUN-30 with is an error", program: "with ({}) {}", kind: runtime.Exception},
		{name: "RUN-30 a legacy octal literal is an error", program: "return 010", kind: runtime.Exception},
		{name: "RUN-30 duplicate parameters are an error", program: "function f(a, a) {} return 1", kind: runtime.Exception},

		{name: "RUN-31 a returned promise is awaited", program: "return Promise.resolve(4)", want: "4"},
		{name: "RUN-31 a returned thenable is awaited", program: "return { then(f: any) { f(6) } }", want: "6"},
		{name: "RUN-31 a rejected promise is a throw", program: "return Promise.reject(new Error('no'))", kind: runtime.Exception, match: "^Error: no"},

		{name: "RUN-32 static import", program: "import fs from 'node:fs'; return 1", kind: runtime.Exception},
		{name: "RUN-32 export", program: "export const a = 1", kind: runtime.Exception},
		{name: "RUN-32 import.meta", program: "return import.meta", kind: runtime.Exception},
		{name: "RUN-32 super", program: "return super.x", kind: runtime.Exception},
		{name: "RUN-32 JSX", program: "return <div>x</div>", kind: runtime.Exception},
		{name: "RUN-32 a hashbang", program: "#!/usr/bin/env node\nreturn 1", kind: runtime.Exception},
		{name: "RUN-32 await in a function that is not async", program: "function f() { await null } return 1", kind: runtime.Exception},
		{name: "RUN-32 an HTML-like comment", program: "<!-- hello\nreturn 1", kind: runtime.Exception},
		{name: "RUN-32 require is not defined", program: "return typeof require", want: `"undefined"`},
		{name: "RUN-32 a dynamic import rejects", program: "try { await import('fs'); return 'loaded' } catch (e) { return 'refused' }", want: `"refused"`},

		{name: "RUN-33 types are erased", program: `
			interface P { x: number }
			type Q<T> = { [K in keyof T]?: T[K] };
			function id<T extends P>(v: T): T { return v }
			const p = id({ x: 3 } satisfies P) as P;
			const q: Q<P> = <Q<P>>p;
			declare const never: string;
			abstract class A { abstract f(): number; constructor(readonly n: number, private m = 1) {} sum() { return this.n + this.m } }
			class B extends A { g!: number; f() { return 2 } }
			function over(a: number): number; function over(a: string): string; function over(a: any) { return a }
			return [q!.x, new B(4).sum(), new B(1).f(), over('s')]`, want: `[3,5,2,"s"]`},
		{name: "RUN-33 enum", program: "enum Color { Red, Green = 5, Blue } return [Color.Red, Color.Blue, Color[5]]", want: `[0,6,"Green"]`},
		{name: "RUN-33 const enum", program: "const enum E { A = 1, B = A << 2 } return [E.A, E.B]", want: `[1,4]`},
		{name: "RUN-33 types are never checked", program: "const n: number = 'text' as any as number; const m: string = 5 as any; return [n, m]", want: `["text",5]`},
		{name: "RUN-34 a namespace beside await and return", program: `
			namespace Geo { export const unit = 2; export namespace Deep { export function area(a: number) { return a * a * unit } } }
			namespace Geo { export const more = unit + 1 }
			const side = await Promise.resolve(3);
			return [Geo.Deep.area(side), Geo.more]`, want: `[18,3]`},
		{name: "RUN-34 a namespace merged with a function", program: "function f() { return f.x } namespace f { export const x = 9 } return f()", want: "9"},
		{name: "RUN-34 a namespace in a block is an error", program: "{ namespace N { export const a = 1 } } return 1", kind: runtime.Exception},

		{name: "RUN-35 async generators and for await", program: `
			async function* count(n: number) { for (let i = 0; i < n; i++) { await null; yield i } }
			let sum = 0; for await (const i of count(4)) sum += i;
			const it = { async *[Symbol.asyncIterator]() { yield 'a'; yield 'b' } };
			let text = ''; for await (const x of it) text += x;
			for await (const x of [1, Promise.resolve(2)]) text += x;
			return [sum, text]`, want: `[6,"ab12"]`},
		{name: "RUN-35 classes with private members", program: "class A { #x = 1; static s = 2; get x() { return this.#x } static { A.s = 3 } } return [new A().x, A.s]", want: `[1,3]`},
		{name: "RUN-35 nothing of the wrapper's is in the way", program: "const __runcode = 1, _a = 2, module = 3, exports = 4, arguments_ = 5; return [__runcode, _a, module, exports]", want: `[1,2,3,4]`},
		{name: "RUN-35 names stay", program: "function longName() {} const other = () => 1; return [longName.name, other.name]", want: `["longName","other"]`},
		{name: "RUN-35 statements with effects stay", program: "1; tools.echo({}); [].x; return 2; declare const tools: any", want: "2", calls: "echo"},

		{name: "RUN-36 closing the wrapper", program: "console.log('ran'); return 1 }\nasync function x() {", kind: runtime.Exception, logs: []string{}},
		{name: "RUN-36 closing and reopening a block", program: "console.log('ran') }\n{", kind: runtime.Exception, logs: []string{}},
		{name: "RUN-36 closing a call", program: "})(); tools.echo({}); (async () => {", kind: runtime.Exception, calls: "-"},

		{name: "RUN-35 using", program: "{ using a = { [Symbol.dispose]() { console.log('a') } }, b = { [Symbol.dispose]() { console.log('b') } }; console.log('in') } using none = null; await using c = { async [Symbol.asyncDispose]() { await null; console.log('c') } }; return 1",
			want: "1", logs: []string{"in", "b", "a", "c"}},
		{name: "RUN-35 using and two errors", program: "try { using a = { [Symbol.dispose]() { throw new Error('d') } }; throw new Error('b') } catch (e) { return [e instanceof SuppressedError, e.name, e.error.message, e.suppressed.message] } declare const SuppressedError: any",
			want: `[true,"SuppressedError","d","b"]`},
		{name: "RUN-35 async generators clean up to the end", program: `
			async function* inner() { try { yield 1; yield 2 } finally { console.log('i'); await null; console.log('i2') } }
			async function* outer() { try { yield* inner() } finally { console.log('o'); await null; console.log('o2') } }
			for await (const x of outer()) break;
			const g = inner(); await g.next(); console.log(JSON.stringify(await g.return(Promise.resolve(9))));
			const h = outer(); await h.next(); try { await h.throw(new Error('t')) } catch (e) { console.log(e.message) }`,
			logs: []string{"i", "i2", "o", "o2", "i", "i2", `{"value":9,"done":true}`, "i", "i2", "o", "o2", "t"}, none: true},
		{name: "CODE-33 the call of a sole function is no frame", program: "```ts\nasync () => {\n  throw new Error('q')\n}\n```", request: unwrap, kind: runtime.Exception, match: `^Error: q\n    at program\.ts:3:\d+$`, line: 3},
		{name: "RUN-37 the position of a parse failure", program: "const a = 1;\nconst b = ;\n", kind: runtime.Exception, match: `program\.ts:2:11`, line: 2, column: 11},
		{name: "RUN-37 the position of a regular expression that does not parse", program: "const ok = /a/\nconst b = ok && /[z-a]/", kind: runtime.Exception, match: `^SyntaxError: .*\n    at program\.ts:2:17$`, line: 2, column: 17},
		{name: "RUN-37 the column counts UTF-16 units", program: "const s = '\U0001F600é'; const b = ;", kind: runtime.Exception, match: `program\.ts:1:28`, line: 1},

		{name: "HOSTILE-9 nesting that no parser survives", program: strings.Repeat("[", 200000), kind: runtime.Exception, message: "program is nested too deeply"},
		{name: "HOSTILE-9 a program that is too long", program: "return '" + strings.Repeat("x", 1<<20) + "'", kind: runtime.Exception, message: "program is too long"},
		{name: "HOSTILE-9 200 levels are accepted", program: "return " + strings.Repeat("[", 200) + strings.Repeat("]", 200), want: strings.Repeat("[", 200) + strings.Repeat("]", 200)},

		{name: "CODE-33 a fence and a function are unwrapped", program: "```ts\nasync function main() {\n  return 8;\n}\n```", request: unwrap, kind: runtime.Exception},
		{name: "CODE-33 an arrow function is called", program: "async () => {\n  return 8;\n}", request: unwrap, want: "8"},
		{name: "CODE-33 positions stay", program: "```js\n(async () => {\n  throw new Error('x');\n})\n```", request: unwrap, kind: runtime.Exception, line: 3},
	})
}

func unwrap(r *runtime.Request) { r.Unwrap = true }
