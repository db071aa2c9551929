package tscheck

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

var osGetenv = os.Getenv

// TestPrograms checks programs with the real compiler, started for each and kept running.
func TestPrograms(t *testing.T) {
	compiler := realCompiler(t)
	tools := someTools(t)
	once, warm := newChecker(t, Options{Compiler: compiler}), newChecker(t, Options{Compiler: compiler, Warm: true})
	for _, c := range []struct {
		name    string
		program string
		want    string // the failure's message; "" passes. A line that ends in … is compared up to there
	}{
		// CLI-8 of the acceptance list: the line and the right name.
		{"GATE-7 a misspelt member is refused with the line and the right name", "const a = 1;\nawait tools.note({ txet: 'x' });",
			"type error: program.ts:2:20: Object literal may only specify known properties, and 'txet' does not exist in type '{ text: string; tags?: string[]; kind?: string; }'. tools.note takes text, tags, kind"},
		{"GATE-7 a misspelt optional member", "await tools.list_notes({ limti: 3 })",
			"type error: program.ts:1:26: Object literal may only specify known properties, but 'limti' does not exist in type '{ limit?: number; sort?: string; }'. Did you mean to write 'limit'?"},
		{"GATE-7 a member that is missing", "await tools.note({ tags: [] })", "type error: program.ts:1:18: Property 'text' is missing in type …"},
		{"GATE-7 a member of another type", "await tools.note({ text: 5, tags: ['a', 1] })",
			"type error: program.ts:1:20: Type 'number' is not assignable to type 'string'.\ntype error: program.ts:1:41: Type 'number' is not assignable to type 'string'."},
		{"GATE-7 a variable of another type", "const n = { text: 5 };\nawait tools.note(n)", "type error: program.ts:2:18: Argument of type '{ text: number; }' is not assignable to parameter of type …"},
		{"GATE-7 a misspelt member within a member", "await tools.nested({ at: { txet: 1 } })", "type error: program.ts:1:28: Object literal may only specify known properties, and 'txet' does not exist in type '{ text?: string; }'."},
		{"GATE-7 no argument", "await tools.anything()", "type error: program.ts:1:13: Expected 1 arguments, but got 0. tools.anything takes one object"},
		{"GATE-7 a tool with an odd name", `await tools["my-tool"]({ m: 1 })`, "type error: program.ts:1:26: Object literal may only specify known properties, and 'm' does not exist in type '{ n: number; }'. tools[\"my-tool\"] takes n"},
		{"GATE-7 CODE-34 a tool that does not exist", "await tools.noet({ text: 'x' })", `type error: program.ts:1:13: tools.noet is not a function. tools has note, …`},
		{"GATE-7 CODE-34 a quoted tool that does not exist", `await tools["my-tol"]({ n: 1 })`, `type error: program.ts:1:13: tools["my-tol"] is not a function. tools has my-tool, …`},
		{"GATE-7 no argument for a quoted tool", `await tools["my-tool"]()`, `type error: program.ts:1:7: Expected 1 arguments, but got 0. tools["my-tool"] takes one object`},
		{"GATE-7 a quoted member of an own tools", `function f(tools) { return tools["no-tool"]({}) } return f({})`, ""},
		{"GATE-7 CODE-34 a name that does not exist", "return lst_notes({})", `type error: program.ts:1:8: Cannot find name 'lst_notes'. The program has tools.note, tools.list_notes, …`},
		{"GATE-7 a name without advice on packages", "return Buffer.from('')", `type error: program.ts:1:8: Cannot find name 'Buffer'. The program has …`},
		{"GATE-7 what is no global of a program", "fetch('x')", "type error: program.ts:1:1: Cannot find name 'fetch'. …"},
		{"GATE-7 require", "const fs = require('fs')", "type error: program.ts:1:12: Cannot find name 'require'. …"},
		{"GATE-7 a shorthand", "return { zzz }", "type error: program.ts:1:10: Cannot find name 'zzz'. …"},
		{"GATE-7 a variable that was never declared", "total = 1; return 1", "type error: program.ts:1:1: Cannot find name 'total'. …"},
		{"GATE-7 args and sdk are there only where they are bound", "return [args, sdk]", "type error: program.ts:1:9: Cannot find name 'args'. …\ntype error: program.ts:1:15: Cannot find name 'sdk'. …"},
		{"GATE-7 columns are in UTF-16 units", "const a = '😀é'; await tools.note({ tekst: a })", "type error: program.ts:1:37: Object literal may only …"},
		{"GATE-7 lines of all kinds count", "1;\r\n2;\u20283;\nawait tools.note({ tekst: '' })", "type error: program.ts:4:20: …"},
		{"GATE-7 at most five", strings.Repeat("await tools.note({ text: 1 });\n", 7), strings.TrimSuffix(
			"type error: program.ts:1:20: …\ntype error: program.ts:2:20: …\ntype error: program.ts:3:20: …\ntype error: program.ts:4:20: …\ntype error: program.ts:5:20: …\n", "\n")},
		{"GATE-7 CODE-33 a fence keeps its lines", "```ts\nawait tools.note({ txt: 'x' })\n```", "type error: program.ts:2:20: …"},
		{"GATE-7 CODE-33 a function keeps its places", "async function () { await tools.note({ txt: 'x' }) }", "type error: program.ts:1:40: …"},
		{"GATE-7 CODE-33 an arrow function", "\nasync () => tools.note({ txt: 'x' });", "type error: program.ts:2:26: …"},
		{"GATE-7 an argument in a callback", "await Promise.all([1].map(i => tools.note({ txet: `${i}` })))", "type error: program.ts:1:45: …"},
		{"GATE-7 an output used wrongly in an argument", "const n = await tools.note({ text: 'x' }); await tools.note({ text: n.idd })", "type error: program.ts:1:71: Property 'idd' does not exist on type '{ id: string; }'…"},
		{"GATE-7 an output of another type as an argument", "const [n] = await tools.list_notes({}); await tools.note({ text: n.size })", "type error: program.ts:1:60: Type 'number' is not assignable to type 'string'."},
		{"GATE-7 beside a namespace", "namespace A { export const b = 1 }\nawait tools.note({ text: A.b })", "type error: program.ts:2:20: Type 'number' is not assignable to type 'string'."},

		{"GATE-7 a right program", "const n = await tools.note({ text: 'x', tags: ['a'], kind: 'a' }); return n.id", ""},
		{"GATE-7 RUN-42 every global", "console.log(1); console.table([{}]); process.stdout.write('x'); const t = setTimeout(() => {}, 1); clearTimeout(t); queueMicrotask(() => {}); setImmediate(() => {}); const u = new URL('https://a.b/?c=d'); for (const [k, v] of u.searchParams) await tools.note({ text: k + v + u.hostname + atob(btoa(v)) + new TextDecoder().decode(new TextEncoder().encode(k)) }); return [process.env.HOME, performance.now(), structuredClone({ a: 1 }).a]", ""},
		{"GATE-7 what the language has", "return [new Map(), Object.groupBy([1], x => x), [1].toSorted(), globalThis, new Set([1]).union(new Set())].length", ""},
		{"GATE-7 catch (e) { e.message }", "try { await tools.anything({}) } catch (e) { console.log(e.message, e.toolName); await tools.note({ text: e.message }) }", ""},
		{"GATE-7 ToolCallError", "try { await tools.anything({}) } catch (e) { if (e instanceof ToolCallError) return e.toolName }", ""},
		{"GATE-7 untyped parameters", "function f(a, b) { return a.x + b } const g = x => x.y; return f({ x: 1 }, g({ y: 1 }))", ""},
		{"GATE-7 untyped objects", "const o = {}; o.total = 1; o['x'] = 2; await tools.note({ text: o.total }); return o.total", ""},
		{"GATE-7 a member that the program adds itself", "const o = { a: '' }; o.b = 'x'; o.c ??= 1; await tools.note({ text: o.b + o.c })", ""},
		{"GATE-7 a value of any shape", "const r = await tools.anything({ q: 1 }); await tools.note({ text: r.items[0].name })", ""},
		{"GATE-7 mistakes that are no argument's", "const n: number = 'x'; const [a] = 5; return n.foo + a.b.c + new Date() - new Date()", ""},
		{"GATE-7 an enum's word by way of a variable", "let kind = 'a'; await tools.note({ text: '', kind })", ""},
		{"GATE-7 a type without a declaration", "const n: Note = await tools.note({ text: 'x' }); const m = new Map<string, Thing>(); let t: NodeJS.Timeout; return n.id", ""},
		{"GATE-7 the types of the SDK", "let a: ToolArgsMap['note'] = { text: '' }; let v: JsonValue = 1; return [a, v]", ""},
		{"GATE-7 a question whether a name is there", "if (typeof fetch === 'function') return fetch('x'); if (typeof window !== 'undefined') return window; return 1", ""},
		{"GATE-7 a question whether a tool is there", "if (tools.maybe) return await tools.maybe?.({}); return tools['may-be']?.({})", ""},
		{"GATE-7 a wrong argument of something else in an argument", "await tools.note({ text: parseInt(5).toString() })", ""},
		{"GATE-7 arithmetic on dates in an argument", "await tools.anything({ ms: new Date(2) - new Date(1) })", ""},
		{"GATE-7 a name of its own", "const fetch = x => x, tools2 = tools; return fetch(tools2)", ""},
		{"GATE-7 an own tools", "function f(tools) { return tools.nope({ a: 1 }) } return f({ nope: x => x })", ""},
		{"GATE-7 a comment that asks for it", "// @ts-ignore\nawait tools.note({ txet: 1 })", ""},
		{"GATE-7 what does not parse is not its business", "await tools.note({ txet: ", ""},
		{"GATE-7 nothing", "", ""},
		{"GATE-7 enums, decorators, using, top-level namespaces", "enum E { A } namespace N { export const x = 1 } class C { @d m() {} } function d(...a) {} { using r = null } return [E.A, N.x, new C()]", ""},
		{"GATE-7 files are not read", `/// <reference path="/etc/passwd" />` + "\nlet a: typeof import('/etc/passwd'); let b: import('./sdk').X; return 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := request(c.program, tools)
			for how, checker := range map[string]*Checker{"once": once, "warm": warm} {
				failure := try(t, t.Context(), checker, req, tools)
				message := ""
				if failure != nil {
					message = failure.Message
				}
				if !like(message, c.want) {
					t.Errorf("%s:\n got %s\nwant %s", how, message, c.want)
				}
			}
		})
	}
	t.Run("GATE-7 the failure is an exception with the first position", func(t *testing.T) {
		f := try(t, t.Context(), warm, request("1;\nawait tools.note({ text: 1, tags: 2 })", tools), tools)
		if f == nil || f.Kind != runtime.Exception || f.Line != 2 || f.Column != 20 || f.Budget != "" {
			t.Errorf("%+v", f)
		}
	})
	t.Run("GATE-7 a file of the machine is not read, and says nothing to a model", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path+".ts", []byte("export type S = 'SECRET';"), 0o600); err != nil {
			t.Fatal(err)
		}
		req := request("let s: import("+strconv.Quote(filepath.ToSlash(path))+").S; await tools['my-tool']({ n: s })", tools)
		for how, checker := range map[string]*Checker{"once": once, "warm": warm} {
			if f := try(t, t.Context(), checker, req, tools); f != nil {
				t.Errorf("%s: %v", how, f)
			}
		}
	})
	t.Run("GATE-7 the right name comes first, however many there are", func(t *testing.T) {
		f := try(t, t.Context(), warm, request("await tools.many({ number_7: 1 })", tools), tools)
		if f == nil || !strings.Contains(f.Message, "tools.many takes option_7, ") || !strings.HasSuffix(f.Message, ", …") {
			t.Error(f)
		}
	})
	t.Run("GATE-7 args and sdk where they are bound", func(t *testing.T) {
		req := request("const [hit] = await sdk.search('x'); await sdk.search({ query: 'x', limit: 1 }); return [args[0], hit.name, await sdk.describe(args[1])]", tools, "args", "sdk")
		for how, checker := range map[string]*Checker{"once": once, "warm": warm} {
			if f := try(t, t.Context(), checker, req, tools); f != nil {
				t.Errorf("%s: %v", how, f)
			}
		}
	})
	t.Run("GATE-7 without tools", func(t *testing.T) {
		for how, checker := range map[string]*Checker{"once": once, "warm": warm} {
			f := try(t, t.Context(), checker, request("return tools.x({})", nil), nil)
			if f == nil || f.Message != "type error: program.ts:1:14: tools.x is not a function." {
				t.Errorf("%s: %v", how, f)
			}
		}
	})
}

// like compares line by line; a line of want that ends in … is compared up to there.
func like(got, want string) bool {
	gots, wants := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(gots) != len(wants) {
		return false
	}
	for i, w := range wants {
		if head, ok := strings.CutSuffix(w, "…"); ok && strings.HasPrefix(gots[i], head) {
			continue
		}
		if gots[i] != w {
			return false
		}
	}
	return true
}
