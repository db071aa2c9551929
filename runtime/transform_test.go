package runtime

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// run transforms src for goja and runs it to its end. It returns what the program's promise became.
func run(t testing.TB, src string, unwrap bool) string {
	t.Helper()
	code, failure := transform(src, unwrap, Target{AsyncGenerators: true})
	if failure != nil {
		return failure.Error()
	}
	vm := goja.New()
	if _, err := vm.RunString(`Symbol.asyncIterator = Symbol("Symbol.asyncIterator"); var log = []`); err != nil {
		t.Fatal(err)
	}
	fn, err := vm.RunScript(programFile, code.JS)
	if err != nil {
		t.Fatalf("%q: the code does not compile: %v\n%s", src, err, code.JS)
	}
	call, ok := goja.AssertFunction(fn)
	if !ok {
		t.Fatalf("%q: the code is no function: %s", src, code.JS)
	}
	timer := time.AfterFunc(time.Minute, func() { vm.Interrupt("timeout") })
	defer timer.Stop()
	v, err := call(vm.ToValue("this"))
	if err != nil {
		return "threw synchronously: " + err.Error()
	}
	p := v.Export().(*goja.Promise)
	show, _ := goja.AssertFunction(must(vm.RunString(`(v) => v instanceof Error ? String(v) : JSON.stringify(v)`)))
	text := must(show(goja.Undefined(), p.Result())).String()
	return fmt.Sprintf("%s %s", [...]string{"pending", "fulfilled", "rejected"}[p.State()], text)
}

func must(v goja.Value, err error) goja.Value {
	if err != nil {
		panic(err)
	}
	return v
}

func TestProgramForm(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"RUN-30 await and return at the top level", "const x = await Promise.resolve(20)\nreturn x + 1", "fulfilled 21"},
		{"RUN-30 this is undefined", "return typeof this", `fulfilled "undefined"`},
		{"RUN-30 an empty program has no value", "", "fulfilled undefined"},
		{"RUN-30 a comment has no value", "// nothing", "fulfilled undefined"},
		{"RUN-30 a trailing comment", "return 7 // the end", "fulfilled 7"},
		{"RUN-30 with is an error", "with ({}) {}", "SyntaxError"},
		{"RUN-30 a legacy octal is an error", "return 010", "SyntaxError"},
		{"RUN-30 duplicate parameters are an error", "function f(a, a) {}", "SyntaxError"},
		{"RUN-30 assignment to an undeclared name is an error", "x = 1", "rejected ReferenceError: x is not defined"},
		{"RUN-31 a returned promise is awaited", "return Promise.resolve(1)", "fulfilled 1"},
		{"RUN-32 import declaration", "import fs from 'node:fs'; return 1", "import declarations are not available"},
		{"RUN-32 export declaration", "export const a = 1", "export declarations are not available"},
		{"RUN-32 export default", "export default 1", "at the top level"},
		{"RUN-32 import.meta", "return import.meta.url", "import.meta does not exist"},
		{"RUN-32 super", "return super.x", "SyntaxError"},
		{"RUN-32 JSX", "return <div>a</div>", "SyntaxError"},
		{"RUN-32 hashbang", "#!/usr/bin/env node\nreturn 1", "#! line"},
		{"RUN-32 await in a nested function", "function f() { await 1 }", "SyntaxError"},
		{"RUN-32 HTML-like comment", "return 1 <!-- 2", "HTML-like comments"},
		{"RUN-32 HTML-like comment at a line's start", "let x = 1\n--> 2\nreturn x", "HTML-like comments"},
		{"RUN-32 an arrow of minus signs is no comment", "let x = 2; let n = 0; while (x-->0) n++; return n", "fulfilled 2"},
		{"RUN-32 dynamic import rejects", "try { await import('fs'); return 1 } catch (e) { return 'no' }", `fulfilled "no"`},
		{"RUN-32 require is not defined", "return typeof require", `fulfilled "undefined"`},
		{"RUN-32 import as a member's name", "const o = { import: 1, export: 2 }; return o.import + o.export", "fulfilled 3"},
		{"RUN-36 arguments", "return arguments.length", "arguments"},
		{"RUN-36 new.target", "return typeof new.target", "SyntaxError"},
		{"RUN-33 types", "interface P { x: number }\ntype Q<T> = T | null\nfunction id<T>(v: T): T { return v }\nconst p: P = id<P>({ x: 3 })\nlet q!: number\nreturn (p.x as number) + (<number>p!.x) satisfies number", "fulfilled 6"},
		{"RUN-33 declare, abstract, overloads", "declare const z: number\nabstract class A { abstract m(): void; constructor(public a: number, private readonly b = 2) {} s() { return this.a + this.b } }\nclass B extends A { m() {} }\nfunction f(x: number): number\nfunction f(x: string): string\nfunction f(x: any) { return x }\nreturn new B(1).s() + f(1)", "fulfilled 4"},
		{"RUN-33 enum", "enum Color { Red, Green = 5, Blue }\nreturn [Color.Red, Color.Blue, Color[5]]", `fulfilled [0,6,"Green"]`},
		{"RUN-33 const enum", "const enum E { A = 1, B = 'x' }\nreturn [E.A, E.B]", `fulfilled [1,"x"]`},
		{"RUN-33 enum in a function", "function f() { enum E { A = 3 } return E.A }\nreturn f()", "fulfilled 3"},
		{"RUN-34 namespace beside await and return", "namespace N { export const x = 1 }\nconst y = await Promise.resolve(2)\nreturn N.x + y", "fulfilled 3"},
		{"RUN-34 nested and dotted", "namespace A.B { export function f() { return 4 } export namespace C { export const z = 5 } }\nreturn await A.B.f() + A.B.C.z", "fulfilled 9"},
		{"RUN-34 merged with a class, a function and an enum", "class K { static a = 1 }\nnamespace K { export const b = 2 }\nfunction f() { return f.c }\nnamespace f { export const c = 3 }\nenum E { X = 4 }\nnamespace E { export function g() { return E.X } }\nreturn [K.a, K.b, f(), E.g(), await 5]", "fulfilled [1,2,3,4,5]"},
		{"RUN-34 siblings see exported members", "namespace N { export let x = 1 }\nnamespace N { export const y = x + 1 }\nreturn N.y", "fulfilled 2"},
		{"RUN-34 declare namespace", "declare namespace G { const a: number }\nreturn typeof G", `fulfilled "undefined"`},
		{"RUN-34 sees the program's variables", "const k = await Promise.resolve(6)\nnamespace N { export const x = k }\nif (N.x > 5) return N.x\nreturn 0", "fulfilled 6"},
		{"RUN-34 all shapes of return", "namespace N { export const a = [1, 2] }\nfunction f(x) { if (x) return; return [1, 2] }\nconst o = { return: 1, m() { return 2 }, get g() { return 3 } }\nconst it = { return() { return 4 } }\nconst h = () => { return }\nreturn [f(1), f(0), o.return, o.m(), o.g, it.return(), h(), (() => { return (1, 5) })(), N.a]", "fulfilled [null,[1,2],1,2,3,4,null,5,[1,2]]"},
		{"RUN-34 this beside a namespace", "namespace N { export const a = 1 }\nreturn typeof this + await N.a", `fulfilled "undefined1"`},
		{"RUN-34 a namespace in a function fails", "function f() { namespace N { export const a = 1 } }", "a namespace can only stand"},
		{"RUN-34 a namespace in a block fails", "if (true) { namespace N { export const a = 1 } }", "a namespace can only stand"},
		{"RUN-34 export outside of the namespace fails", "namespace N { export const a = 1 }\nexport const b = 2", "export declarations are not available"},
		{"RUN-34 arguments beside a namespace", "namespace N { export const a = 1 }\nreturn arguments", "arguments"},
		{"RUN-34 an alias by import", "namespace N { export const a = 1 }\nimport M = N.a\nreturn M", "write const M = … instead (program.ts:2:1)"},
		{"RUN-32 import by require", "import fs = require('fs')\nreturn fs", "import declarations are not available"},
		{"RUN-34 namespace as a name", "const namespace = 1, module = 2\nreturn namespace + module", "fulfilled 3"},
		{"RUN-35 names of functions stay", "const a = 1\nfunction outer(data) { function a() {} return [a.name, data] }\nconst data = 2\nclass Q { m() { class Q {} return Q.name } }\nreturn [outer(3), new Q().m()]", `fulfilled [["a",3],"Q"]`},
		{"RUN-35 shadowing stays right", "enum E { A } const f = (E) => E.B; { let E2 = 7; var r = [f({B: 1}), E2, E.A] } return r", "fulfilled [1,7,0]"},
		{"RUN-35 helper names are the program's own", "const __defProp = 1, __asyncGenerator = 2\nasync function* g() { const __await = 3; yield __await }\nfor await (const x of g()) return [x, __defProp, __asyncGenerator]", "fulfilled [3,1,2]"},
		{"RUN-35 helpers are out of sight", "async function* g() {}\nreturn [typeof __asyncGenerator, typeof __knownSymbol]", `fulfilled ["undefined","undefined"]`},
		{"RUN-35 lowered loops keep shadowing", "async function* g() { yield 1; yield 2 }\nlet n = 0\nfor await (const x of g()) { const iter = 1, more = 2, error = 3; let temp = x; try { throw 4 } catch (error) { n += temp + error + iter + more } }\nreturn n", "fulfilled 17"},
		{"RUN-35 decorators", "function d(v, c) { return function () { return c.name + 1 } }\nclass A { @d m() {} accessor z = 5 }\nconst a = new A(); a.z++\nreturn [a.m(), a.z]", `fulfilled ["m1",6]`},
		{"RUN-35 using", "let n = 0\n{ using a = { [Symbol.for('Symbol.dispose')]() { n++ } } }\nreturn n", "fulfilled 1"},
		{"RUN-35 statements with effects stay", "let n = 0; const f = () => { n++; return false }; f() && 1; void f(); if (f()) {} ; n;\nreturn n", "fulfilled 3"},
		{"RUN-35 text stays", "return ['</script>', String.raw`</script>\\u0041é`, 'é\u2028']", `fulfilled ["</script>","</script>\\u0041é","é` + "\u2028" + `"]`},
		{"RUN-52 what goja's regular expressions lack fails at run time", "try { return /a/d.test('a') } catch (e) { return e.name }", `fulfilled "SyntaxError"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(t, c.src, false)
			if strings.Contains(c.want, "fulfilled") || strings.Contains(c.want, "rejected") {
				if got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			} else if !strings.Contains(got, c.want) || !strings.Contains(got, "program failed (exception): SyntaxError: ") || !strings.Contains(got, "program.ts:") {
				t.Errorf("got %s, want a syntax error with %q", got, c.want)
			}
		})
	}
}

// isExpression reports whether goja parses js as one expression.
func isExpression(js string) bool {
	p, err := goja.Parse(programFile, "void "+js)
	if err != nil {
		// What goja does not know is no proof against it.
		return isOneFunction("(async()=>{" + js + "\n})")
	}
	if len(p.Body) != 1 {
		return false
	}
	_, ok := p.Body[0].(*ast.ExpressionStatement)
	return ok
}
