package runtimetest

// RUN-38, RUN-39, RUN-45..47: what is said of a program that fails.

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func testFailure(t *testing.T, s *suite) {
	s.checks(t, []check{
		{name: "RUN-38 an error shows its header once and its frames", program: "function boom() {\n  throw new TypeError('bad v')\n}\nboom()",
			kind: runtime.Exception, match: `^TypeError: bad v\n    at boom \(program\.ts:2:\d+\)\n    at program\.ts:4:\d+$`, line: 2},
		{name: "RUN-38 a thrown string", program: "throw 'plain'", kind: runtime.Exception, message: "plain"},
		{name: "RUN-38 a thrown null", program: "throw null", kind: runtime.Exception, message: "null"},
		{name: "RUN-38 a thrown undefined", program: "throw undefined", kind: runtime.Exception, message: "undefined"},
		{name: "RUN-38 a thrown symbol", program: "throw Symbol('s')", kind: runtime.Exception, message: "Symbol(s)"},
		{name: "RUN-38 a thrown object", program: "throw {}", kind: runtime.Exception, message: "[object Object]"},
		{name: "RUN-38 a thrown object with a text of its own", program: "throw { toString() { return 'mine' } }", kind: runtime.Exception, message: "mine"},
		{name: "RUN-38 an assigned stack is used as it is", program: "const e = new Error('m'); e.stack = 'my stack\\n    at f (program.ts:9:9)'; throw e",
			kind: runtime.Exception, message: "my stack\n    at f (program.ts:9:9)", also: func(t *testing.T, r runtime.Result, _ *host) {
				if r.Error.Line != 0 {
					t.Errorf("line %d is from a stack that the program assigned (RUN-38)", r.Error.Line)
				}
			}},
		{name: "RUN-38 a stack of undefined", program: "const e = new Error('only this'); Object.defineProperty(e, 'stack', { value: undefined }); throw e",
			kind: runtime.Exception, message: "only this"},
		{name: "RUN-38 a stack of null", program: "const e = new Error('only this'); Object.defineProperty(e, 'stack', { value: null }); throw e",
			kind: runtime.Exception, message: "only this"},
		{name: "RUN-38 a stack of something else", program: "const e = new Error('m'); Object.defineProperty(e, 'stack', { value: 42 }); throw e",
			kind: runtime.Exception, message: "42"},
		{name: "RUN-38 an empty stack", program: "const e = new Error('m'); e.stack = ''; throw e", kind: runtime.Exception, match: `^$`},
		{name: "RUN-38 a proxy of an error", program: "throw new Proxy(new Error('inner'), {})", kind: runtime.Exception, message: "inner"},
		{name: "RUN-38 a thrown value that cannot be shown", program: "throw { toString() { throw 1 } }", kind: runtime.Exception, message: "thrown value cannot be shown"},
		{name: "RUN-38 a stack set to undefined", program: "const e = new Error('only this'); e.stack = undefined; throw e",
			kind: runtime.Exception, message: "only this"},
		{name: "RUN-38 a stack set to null", program: "const e = new Error('only this'); (e as any).stack = null; throw e",
			kind: runtime.Exception, message: "only this"},
		{name: "RUN-38 a stack set to something else", program: "const e = new Error('m'); (e as any).stack = 42; throw e",
			kind: runtime.Exception, message: "42"},
		{name: "RUN-38 an error whose stack throws", program: "const e = new Error('m'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e",
			kind: runtime.Exception, message: "thrown value cannot be shown"},
		{name: "RUN-38 a hostile proxy", program: "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })", kind: runtime.Exception, message: "thrown value cannot be shown"},
		{name: "RUN-38 at most ten frames", program: "function f(n: number): number { if (n === 0) throw new Error('deep'); return 1 + f(n - 1) }\nreturn f(50)",
			kind: runtime.Exception, also: func(t *testing.T, r runtime.Result, _ *host) {
				if n := strings.Count(r.Error.Message, "\n    at "); n != 10 {
					t.Errorf("%d frames, want 10: %s", n, r.Error.Message)
				}
			}},
		{name: "RUN-38 prepareStackTrace has no effect", program: "(Error as any).prepareStackTrace = () => 'forged';\nthrow new Error('m')",
			kind: runtime.Exception, match: `^Error: m\n    at program\.ts:2:\d+$`, line: 2},
		{name: "RUN-38 an empty name or message", program: "const e = new Error('m'); e.name = ''; throw e", kind: runtime.Exception, match: `^m\n    at program`},
		{name: "RUN-38 a message of several lines", program: "throw new Error('a\\n    at b (program.ts:1:1)')", kind: runtime.Exception,
			match: `^Error: a\n    at b \(program\.ts:1:1\)\n    at program\.ts:1:\d+$`, line: 1},
		{name: "RUN-38 an error of the engine", program: "const o: any = null;\nreturn o.x", kind: runtime.Exception, match: `^TypeError: .*\n    at program\.ts:2:\d+$`, line: 2},

		{name: "RUN-39 the model's line and column", program: "interface A { a: string }\ntype B = A & { b: number };\n\nfunction boom(x: B): never {\n  throw new TypeError('bad ' + x.a);\n}\nboom({ a: 'v', b: 1 });",
			kind: runtime.Exception, match: `TypeError: bad v\n    at boom \(program\.ts:5:\d+\)\n    at program\.ts:7:\d+`, line: 5},
		{name: "RUN-39 a column behind wide characters", program: "const s = '\U0001F600\U0001F600'; throw new Error(s)", kind: runtime.Exception, line: 1, also: func(t *testing.T, r runtime.Result, _ *host) {
			if c := r.Error.Column; c != 25 && c != 29 { // the new, or the name behind it
				t.Errorf("column %d, want 25 or 29", c)
			}
		}},
		{name: "RUN-39 frames of the bootstrap are left out", program: "try { await tools.echo(undefined) } catch (e) { throw e }\ndeclare const tools: any", kind: runtime.Exception, also: func(t *testing.T, r runtime.Result, _ *host) {
			for line := range strings.Lines(r.Error.Message) {
				if strings.HasPrefix(line, "    at ") && !strings.Contains(line, "program.ts:1:") {
					t.Errorf("frame %q", line)
				}
			}
		}},
		{name: "RUN-39 an error after an await", program: "async function later() {\n  await null;\n  throw new Error('late')\n}\nawait later()", kind: runtime.Exception, line: 3},
		{name: "RUN-39 a lowered namespace keeps positions", program: "namespace N {\n  export function f() {\n    throw new Error('in')\n  }\n}\nN.f()", kind: runtime.Exception, line: 3},
		{name: "RUN-39 logged errors are mapped", program: "\n\nconsole.log(new Error('seen'))", also: func(t *testing.T, r runtime.Result, _ *host) {
			if !strings.HasPrefix(r.Logs[0], "Error: seen\n    at program.ts:3:") {
				t.Errorf("log %q", r.Logs[0])
			}
		}},
		{name: "RUN-39 the stack that the program reads is mapped", program: "\n\nreturn new Error('seen').stack", also: func(t *testing.T, r runtime.Result, _ *host) {
			if !strings.HasPrefix(r.Value.Str(), "Error: seen\n    at program.ts:3:") {
				t.Errorf("stack %q", r.Value.Str())
			}
		}},
		{name: "RUN-39 captureStackTrace", program: "class E extends Error {\n  constructor(m: string) { super(m); (Error as any).captureStackTrace(this, E) }\n}\nfunction f() {\n  throw new E('c')\n}\nf()",
			kind: runtime.Exception, match: `^Error: c\n`},

		{name: "RUN-45 process.exit", program: "console.log('a'); process.exit(7); console.log('b'); declare const process: any", kind: runtime.WorkerExit, message: "program ended itself with code 7", logs: []string{"a"}},
		{name: "RUN-45 process.exit without a code", program: "process.exit(); declare const process: any", kind: runtime.WorkerExit, message: "program ended itself with code 0"},
		{name: "RUN-45 process.exit cannot be caught", program: "try { process.exit(3) } catch {} finally { console.log('still here') } for (;;); declare const process: any", kind: runtime.WorkerExit, message: "program ended itself with code 3", logs: []string{}},
		{name: "RUN-45 process.exit in a callback", program: "setTimeout(() => process.exit(2), 1); await new Promise(() => {}); declare const process: any", kind: runtime.WorkerExit, message: "program ended itself with code 2"},

		{name: "RUN-46 an exception escapes a timer", program: "setTimeout(() => {\n  throw new Error('late')\n}, 1); await new Promise(() => {})", kind: runtime.WorkerExit, message: "uncaught error: late", line: 2},
		{name: "RUN-46 an exception escapes a microtask", program: "queueMicrotask(() => { throw 'text' }); await new Promise(() => {})", kind: runtime.WorkerExit, message: "uncaught error: text"},
		{name: "RUN-46 a rejection without a handler while the program waits", program: "Promise.reject(new Error('lost')); await tools.wait({ ms: 5000 }); declare const tools: any", kind: runtime.WorkerExit, message: "uncaught error: lost"},
		{name: "RUN-46 a rejected call that nobody awaits", program: "void tools.fail({}); await tools.wait({ ms: 5000 }); declare const tools: any", kind: runtime.WorkerExit, message: "uncaught error: no such row"},
		{name: "RUN-46 a rejection that is unhandled at completion", program: "Promise.reject(new Error('lost')); return 1", want: "1"},
		{name: "RUN-46 a handler attached before the queue drains", program: "const p = Promise.reject(1); await null; p.catch(() => {}); await tools.wait({ ms: 1 }); return 'ok'; declare const tools: any", want: `"ok"`},
		{name: "RUN-46 a handler attached later is too late", program: "const p = Promise.reject('late'); await tools.wait({ ms: 1 }); p.catch(() => {}); return 'ok'; declare const tools: any", kind: runtime.WorkerExit, message: "uncaught error: late"},

		{name: "RUN-47 unbounded recursion is an exception", program: "function f(n: number): number {\n  return 1 + f(n + 1)\n}\nreturn f(0)", kind: runtime.Exception, match: "^RangeError", line: 2},
		{name: "RUN-47 unbounded recursion can be caught", program: "function f(n: number): number { return 1 + f(n + 1) } try { return f(0) } catch (e) { return e.name }", want: `"RangeError"`},
		{name: "RUN-47 recursion through a getter", program: "const o = { get x(): any { return this.x } }; return o.x", kind: runtime.Exception},
		{name: "RUN-47 deep but bounded recursion", program: "function f(n: number): number { return n === 0 ? 0 : 1 + f(n - 1) } return f(2000)", want: "2000"},

		{name: "RUN-48 code from strings sees no host objects", program: "try { return (0, eval)('typeof host + typeof tools') } catch { return 'undefinedobject' }", want: `"undefinedobject"`},
		{name: "RUN-48 Function obeys the limits", program: "let f: any; try { f = new Function('for (;;);') } catch { f = () => { for (;;); } } f()", limits: quick, kind: runtime.Timeout},

		{name: "CODE-34 what exists is said of a call that does not", program: "await tools.ech({}); declare const tools: any", kind: runtime.Exception, match: `(?s)TypeError.*echo`},
		{name: "CODE-34 what exists is said of a call behind a cast", program: "await (tools as any).ech({}); declare const tools: any", kind: runtime.Exception, match: `(?s)TypeError.*tools\.ech.*echo`},
		{name: "CODE-34 what exists is said of an unknown global", program: "await tool.echo({}); declare const tool: any", kind: runtime.Exception, match: `(?s)ReferenceError.*tools`},
	})
}
