package runtimetest

// This file is the grammar of generated programs.

var expressions = []func(g *generator) string{
	func(g *generator) string { return g.number() },
	func(g *generator) string { return g.text() },
	func(g *generator) string { return g.variable() },
	func(g *generator) string {
		return g.one("null", "undefined", "true", "false", "Colour.Green", "Colour[0]", "Space.one", "String(10n ** 15n)", `'\ud800'`)
	},
	func(g *generator) string { return g.array() },
	func(g *generator) string { return "[" + g.expr() + ", " + g.expr() + "]" },
	func(g *generator) string { return "({ x: " + g.expr() + ", y: " + g.expr() + " }).x" },
	func(g *generator) string {
		return "({ " + quote(g.key()) + ": " + g.expr() + ", ['" + g.one("p", "q", "1", "__proto__") + "']: " + g.expr() + " })"
	},
	func(g *generator) string {
		return "(" + g.expr() + " " + g.one("+", "-", "*", "%", "==", "===", "!==", "&&", "||", "??", "&", "|", "^", "<<", ">>", ">>>", ",") + " " + g.mixed() + ")"
	},
	func(g *generator) string {
		return "(" + g.one("!", "-", "+", "~", "typeof ", "void ") + g.mixed() + ")"
	},
	func(g *generator) string { return "(" + g.expr() + " ? " + g.expr() + " : " + g.expr() + ")" },
	func(g *generator) string { return "`<${plain(" + g.variable() + ")}|${" + g.number() + "}>`" },
	func(g *generator) string {
		return "plain((" + g.expr() + " as any)?.[" + quote(g.one("a", "x", "0", "length", "10", "é", "", "constructor")) + "])"
	},
	func(g *generator) string {
		return "plain((" + g.variable() + " as any)?." + g.one("a", "x", "length", "p") + ")"
	},
	func(g *generator) string {
		x := g.fresh()
		g.vars = append(g.vars, x)
		body := g.expr()
		g.vars = g.vars[:len(g.vars)-1]
		return g.array() + "." + g.one("map", "filter", "some", "every", "findIndex", "flatMap", "find") + "((" + x + ": any) => " + body + ")"
	},
	func(g *generator) string {
		return g.array() + ".reduce((p: any, q: any) => [p, " + g.expr() + "], " + g.expr() + ")"
	},
	func(g *generator) string {
		return g.array() + g.one(".slice(1)", ".concat([9])", ".join('-')", ".indexOf(1 as any)", ".includes(NaN as any)", ".reverse()", ".flat(Infinity)", ".at(-1)",
			".sort()", ".sort((p: any, q: any) => String(p) < String(q) ? 1 : String(p) > String(q) ? -1 : 0)", ".entries().next().value", ".fill(7 as any, 1)", ".splice(1, 1)", ".lastIndexOf(2 as any)", ".keys().next()", ".toString()")
	},
	func(g *generator) string {
		return g.text() + g.one(".split(',')", ".slice(1, 3)", ".toUpperCase()", ".padStart(6, '*')", ".charCodeAt(0)", ".replace('a', '[$&]')", ".trim()", ".indexOf('b')", ".codePointAt(2)",
			".replace(/[a-c]/g, c => c + c)", ".match(/(\\w)(?<n>,)?/)?.slice()", ".normalize('NFD').length", ".split('')", ".localeCompare('abc') === 0", ".substring(2, 0)", ".at(-1)", ".replaceAll('l', 'L')", ".search(/\\d/)")
	},
	func(g *generator) string {
		return "Object." + g.one("keys", "values", "entries", "isFrozen") + "(Object(" + g.expr() + "))"
	},
	func(g *generator) string { return "JSON.stringify(" + g.expr() + ")" },
	func(g *generator) string {
		return g.one("String", "Number", "Boolean", "Array.isArray", "Number.isInteger", "plain", "Space.twice") + "(plain(" + g.expr() + "))"
	},
	func(g *generator) string {
		return g.one("parseInt", "parseFloat", "isNaN", "encodeURIComponent", "Number") + "(" + g.one("'12px'", "'0x1f'", "'  1e3 '", "'é'", "'-'", "''") + ")"
	},
	func(g *generator) string {
		return "(" + g.number() + ")." + g.one("toString()", "toFixed(2)", "toString(16)", "toExponential(3)", "toPrecision(5)")
	},
	func(g *generator) string {
		return "[...new " + g.one("Set", "Map") + "(" + g.one("[[1, 2], [1, 3]]", "[['a', 'b'], ['c', 'd']]", "[]") + " as any)]"
	},
	func(g *generator) string {
		return "Math." + g.one("floor", "ceil", "round", "trunc", "sign", "abs", "fround") + "(" + g.number() + ")"
	},
	func(g *generator) string {
		x := g.fresh()
		return "[..." + g.one("(function* () { yield 1; return yield 2 })()", "{ *[Symbol.iterator]() { yield* [4, 5] } }", "'ab'", "[1, , 3]") + "].map((" + x + ": any) => " + x + ")"
	},
	func(g *generator) string {
		return "new (class { a = " + g.expr() + "; #b = 2; get c() { return this.#b } static d = 1; e() { return this.a } })()." + g.one("a", "c", "e()")
	},
	func(g *generator) string {
		return "(({ a = 1, ...rest }: any) => [a, rest])(Object(plain(" + g.expr() + ")))"
	},
	func(g *generator) string {
		return "((p: any = " + g.expr() + ", ...q: any[]) => [p, q.length])(" + g.one("", "undefined", "null, 2, 3") + ")"
	},
	func(g *generator) string {
		return "new Uint8Array([1, 256, -1])" + g.one("[1]", ".length", ".join()", ".map(x => x * 2)[2]")
	},
}

// mixed is an expression that can stand behind an operator: BigInts do not mix with numbers there, which throws, as it does
// in both engines.
func (g *generator) mixed() string { return "(" + g.expr() + ")" }

func quote(key string) string { return "'" + key + "'" }

// portable are the statements of Portable. The first ends.
var portable = []statement{
	func(g *generator) { g.line("console.%s(plain(%s));", g.one("log", "error", "warn", "info"), g.expr()) },
	func(g *generator) {
		value := g.expr()
		name := g.fresh()
		g.line("%s %s: any = %s;", g.one("let", "var"), name, value)
		g.vars = append(g.vars, name)
	},
	func(g *generator) {
		g.line("%s %s %s;", g.variable(), g.one("=", "+=", "??=", "||=", "&&="), g.mixed())
	},
	func(g *generator) {
		g.line("if (%s) {", g.expr())
		g.nested()
		g.line("} else {")
		g.nested()
		g.line("}")
	},
	func(g *generator) {
		i := g.fresh()
		g.line("for (let %s = 0; %s < %d; %s++) {", i, i, g.pick(5), i)
		g.nested()
		g.line("%s;\n}", g.one("1", "continue", "break"))
	},
	func(g *generator) {
		x := g.fresh()
		g.line("for (const %s %s %s) {", x, g.one("of", "in"), g.array())
		g.nested()
		g.line("}")
	},
	func(g *generator) {
		g.line("try { try {") // two statements: see the differences in the test
		g.nested()
		e := g.fresh()
		g.line("%s;", g.one("1", "throw new TypeError('made')", "throw { a: 1 }", "throw 7", "(null as any).x", "undefined_name", "throw new RangeError('r', { cause: 1 })"))
		g.line("} catch (%s) { console.log('caught', plain(name(%s)));", e, e)
		g.nested()
		g.line("} } finally {")
		g.nested()
		g.line("}")
	},
	func(g *generator) {
		g.line("%s = await tools.%s(%s);", g.variable(), g.one("echo", "size", "list"), g.expr())
	},
	func(g *generator) {
		e := g.fresh()
		g.line("try { await tools.%s(%s) } catch (%s: any) { console.log(name(%s), %s instanceof ToolCallError ? %s.message : 0) }", g.one("fail", "missing", "echo", "panic"), g.one("1", "{ a: [1, null] }", "'x'", "NaN", "[undefined]"), e, e, e, e)
	},
	func(g *generator) {
		g.line("console.log(await Promise.%s([tools.echo(%s).catch(name), tools.fail(1).catch(name), %s]));", g.one("all", "allSettled", "race", "any"), g.expr(), g.expr())
	},
	func(g *generator) {
		f := g.fresh()
		p := g.fresh()
		g.line("const %s = async (%s: any) => {", f, p)
		g.function(p)
		g.line("return %s };", p)
		if g.pick(3) > 0 {
			g.line("await %s(%s);", f, g.expr())
		} else {
			g.line("%s(%s).catch((e: any) => console.log('late', plain(name(e))));", f, g.expr())
		}
	},
	func(g *generator) {
		g.line("%s;", g.one("queueMicrotask(() => console.log('micro'))", "Promise.resolve(2).then(x => console.log('then', x))", "void tools.echo(3).then((x: any) => console.log('answer', x))",
			"Promise.reject(new Error('no')).catch(name)", "await null", "(async () => { await null; await null; console.log('two turns') })()"))
	},
	func(g *generator) {
		g.line("switch (%s) { case 1: v0 = 1; case 'abc':", g.expr())
		g.nested()
		g.line("break; default: v0 = [v0].length; }")
	},
	func(g *generator) {
		l := "l" + g.fresh()
		g.line("%s: for (const q of [1, 2]) { for (const r of [1, 2]) { if (q === r) %s %s; console.log(q, r) } }", l, g.one("continue", "break"), l)
	},
	func(g *generator) {
		c := g.fresh()
		g.line("class C%s extends %s { constructor() { super(); } get tag() { return %s } }", c, g.one("Array", "Error", "Map", "Object"), g.number())
		g.line("console.log(new C%s().tag, new C%s() instanceof C%s);", c, c, c)
	},
	func(g *generator) {
		g.line("process.std%s.write(String(plain(%s)));", g.one("out", "err"), g.one("'raw'", "1", "'é\\n'", "''"))
	},
	func(g *generator) {
		// The ends: as rare as any other statement, since each leaves the rest of the program dead.
		if g.inner > 0 || g.pick(4) > 0 {
			g.line("v0 = [%s];", g.one("1", "v0 === 1", "typeof v0"))
			return
		}
		g.line("%s;", g.one("if (v0) throw new Error('end')", "if (v0) process.exit(3)", "if (!v0) await new Promise(() => {})", "if (v0) return { get x() { throw 1 } }",
			"if (v0 !== 0) return [undefined]", "if (v0) throw 'text'", "if (v0) return new Date(0)", "if (v0) { Promise.reject(new Error('lost')); await new Promise(() => {}) }"))
	},
}

// wild are the statements that Wild has besides.
var wild = []statement{
	func(g *generator) {
		g.line("%s", g.one("for (;;);", "while (true) { v0 = [v0] }", "for (;;) await null;", "do { void 0 } while (1)", "for (;;) tools.never(v0 === 1);", "for (;;) console.log('flood', v0);"))
	},
	func(g *generator) {
		g.line("%s;", g.one("const u = new Uint8Array(1e6); for (;;) u.fill(1)", "/^(a+)+$/.test('a'.repeat(40) + 'b')", "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", "'x'.repeat(2 ** 29)", "let s9 = 'x'; for (;;) s9 += s9",
			"new Array(1e6).fill(0).sort(() => 1)", "3n ** 99999n", "[].concat(...new Array(1e5).fill([1, 2]))", "JSON.parse('['.repeat(1e5))", "const big: any[] = []; for (;;) big.push({})"))
	},
	func(g *generator) {
		f := g.fresh()
		g.line("const %s = (n: any): any => { try { return %s(n + 1) } %s };", f, f, g.one("catch (e) { return name(e) }", "finally { v0 = 1 }", "catch { return "+f+"(0) }"))
		g.line("v0 = %s(0);", f)
	},
	func(g *generator) {
		g.line("%s;", g.one("Object.defineProperty(Object.prototype, 'then', { get() { throw 1 }, configurable: true })", "Array.prototype.push = () => { throw 1 }", "(globalThis as any).Promise = null", "JSON.stringify = (() => '9') as any",
			"Object.prototype.toString = () => { for (;;); }", "delete (globalThis as any).Error", "Promise.prototype.then = function () { return this as any }", "Symbol.prototype[Symbol.toPrimitive as any] = 0 as any",
			"Reflect.ownKeys = (() => { throw 2 }) as any", "(Function.prototype as any).call = null", "Array.prototype[Symbol.iterator] = function* () { for (;;) yield 1 } as any", "Object.freeze(globalThis)"))
	},
	func(g *generator) {
		g.line("%s(() => { %s }, %s);", g.one("setTimeout", "setInterval"), g.one("v0 = 1", "throw new Error('timer')", "console.log('tick')", "process.exit(4)", "for (;;);"), g.one("0", "1", "5", "1e9", "NaN"))
	},
	func(g *generator) {
		g.line("try { %s(%s) } catch (e) { console.log(name(e)) }", g.one("eval", "new Function", "(0, eval)"), g.one("'1+1'", "'for(;;);'", "'('.repeat(1e4)", "'throw 1'", "'\\0'"))
	},
	func(g *generator) {
		g.line("async function* g%s() { yield %s; for (;;) yield 2 }", g.fresh(), g.expr())
		g.line("for await (const q of [tools.echo(1), %s]) console.log(q);", g.expr())
	},
	func(g *generator) {
		g.line("console.log(new Proxy(%s, { get() { %s }, ownKeys() { throw 1 }, getPrototypeOf() { for (;;); } }));", g.one("{}", "[]", "() => 1"), g.one("throw 1", "for (;;);", "return 1 as any"))
	},
	func(g *generator) {
		g.line("return %s;", g.one("new Proxy({}, { ownKeys() { for (;;); } })", "{ then(f: any) { f(this) } }", "{ toJSON() { return 1 } }", "new Proxy([], { get: () => 1 as any })", "Symbol()", "globalThis", "(() => { let a: any = []; for (let i = 0; i < 20000; i++) a = [a]; return a })()"))
	},
	func(g *generator) {
		g.line("%s", g.one("}", "{", "`", "/*", "'", "return }", "<!--", "enum", "x => {", "await = 1", "import 'fs'", "\\u{110000}", "@", "#!x", "😀"))
	},
	func(g *generator) {
		g.line("%s;", g.one("new WeakRef({}).deref()", "new FinalizationRegistry(() => { throw 1 }).register({}, 1)", "structuredClone(new Map([[1, 2]]))", "Atomics.add(new Int32Array(4), 0, 1)", "new ArrayBuffer(8, { maxByteLength: 16 } as any)",
			"Error.captureStackTrace?.(globalThis)", "Error.stackTraceLimit = Infinity as any", "Error.prepareStackTrace = (() => { throw 1 }) as any", "await import('fs').catch(name)", "new Error('x', { cause: tools }).stack"))
	},
}
