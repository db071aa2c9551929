package runtime

import (
	"strings"
	"testing"
)

func TestUnwrap(t *testing.T) {
	fence := "```"
	for _, c := range []struct{ name, src, want string }{
		{"CODE-33 a fence", fence + "\nreturn 1\n" + fence, "fulfilled 1"},
		{"CODE-33 a fence with an info string", fence + "typescript title=\"a.ts\"\nreturn 1\n" + fence, "fulfilled 1"},
		{"CODE-33 a fence with blanks around", "\n\n  " + fence + "ts\nreturn 1\n  " + fence + "  \n\n", "fulfilled 1"},
		{"CODE-33 a longer fence", fence + "`ts\nreturn `" + "${1}" + "`\n" + fence + "`", `fulfilled "1"`},
		{"CODE-33 a fence of tildes", "~~~js\nreturn 1\n~~~", "fulfilled 1"},
		{"CODE-33 a fence with CR LF", fence + "ts\r\nreturn 1\r\n" + fence + "\r\n", "fulfilled 1"},
		{"CODE-33 an empty fence", fence + "ts\n" + fence, "fulfilled undefined"},
		{"CODE-33 two fences are no program", fence + "\nreturn 1\n" + fence + "\n" + fence + "\nreturn 2\n" + fence, "rejected TypeError: Value is not an object: "},
		{"CODE-33 text before a fence stays", "Here:\n" + fence + "\nreturn 1\n" + fence, "rejected TypeError: Value is not an object: "},
		{"CODE-33 an async arrow", "async () => { return await 1 }", "fulfilled 1"},
		{"CODE-33 an arrow with a semicolon", "() => { return 1 };\n// the end", "fulfilled 1"},
		{"CODE-33 an arrow in parentheses", "((async () => { return 1 }));", "fulfilled 1"},
		{"CODE-33 an arrow with an expression", "async () => tools?.a ?? 1", "rejected ReferenceError: tools is not defined"},
		{"CODE-33 an arrow with an object", "() => ({ a: [1] })", `fulfilled {"a":[1]}`},
		{"CODE-33 a function", "async function () { return 1 }", "fulfilled 1"},
		{"CODE-33 a named function in parentheses", "(async function main() { return 1 })", "fulfilled 1"},
		{"CODE-33 optional parameters", "async ({ a } = { a: 1 }, b = 2, c?: string, ...d) => a + b + d.length", "fulfilled 3"},
		{"CODE-33 a return type", "async (): Promise<{ a: number }> => { return { a: 1 } }", `fulfilled {"a":1}`},
		{"CODE-33 a return type of a function", "function (): { a: number } { return { a: 1 } }", `fulfilled {"a":1}`},
		{"CODE-33 a fence and a function", fence + "ts\nasync () => {\n  return 1\n}\n" + fence, "fulfilled 1"},
		{"CODE-33 its throw is the program's", "() => { throw new Error('a') }", "rejected Error: a"},
		{"CODE-33 required parameters are not guessed", "(a) => { return 1 }", "fulfilled undefined"},
		{"CODE-33 a generator is not called", "(function* () { return 1 })", "fulfilled undefined"},
		{"CODE-33 two statements are no function", "() => 1\n2", "fulfilled undefined"},
		{"CODE-33 a called function is left alone", "(() => { return 1 })()", "fulfilled undefined"},
		{"CODE-33 an empty statement at the end stays", "for (const n of [1]);", "fulfilled undefined"},
		{"CODE-33 an empty body at the end stays", "if (false);", "fulfilled undefined"},
		{"CODE-33 no implicit return", "1 + 1", "fulfilled undefined"},
		{"CODE-33 main without a call", "async function main() {\n  return 1\n}", "never calls it"},
		{"CODE-33 main as a constant", "const helper = 1\nconst main = async () => {\n  return helper\n}\n", "never calls it"},
		{"CODE-33 main that is called", "async function main() { return 1 }\nreturn main()", "fulfilled 1"},
		{"CODE-33 main called and awaited", "const main = async () => 1\nawait main()", "fulfilled undefined"},
		{"CODE-33 main beside other statements", "function main() {}\nlog.push(1)\nreturn 2", "fulfilled 2"},
		{"CODE-33 export default", "export default async () => { return 1 }", "at the top level"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(t, c.src, true)
			if got != c.want && !(strings.Contains(got, "SyntaxError: ") && strings.Contains(got, c.want)) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("CODE-33 only when asked", func(t *testing.T) {
		if got := run(t, fence+"\nreturn 1\n"+fence, false); !strings.Contains(got, "SyntaxError") && !strings.Contains(got, "rejected") {
			t.Errorf("got %s", got)
		}
		if got := run(t, "() => 1", false); got != "fulfilled undefined" {
			t.Errorf("got %s", got)
		}
	})
}

// TestEscape proves RUN-36: none of these may run anything.
func TestEscape(t *testing.T) {
	for _, src := range []string{
		"return 1 }\nasync function x() {",
		"}", "{", "} {", "}; {", "}, {", "}) ; (async()=>{", "})();(async()=>{", "}\nstatic g(){", "};static f=async()=>{",
		"} / 1 /\n{", "}\n/1/; {", "}/`/,{`", "}, () => {", "}, async () => { log.push(1)", "}) , ({", "`}`}, {", "}/*", "*/", "//\n}", "${", "`${",
		"}\n);log.push(1);(async()=>{", "}})();log.push(1);(function(){return async()=>{", "\u2028}, {", "}//\n, {", "} as any, {",
		"/[/}, {]/", "a\n/}, {/", "x = {}\n/}, {/1", "<T>/}, {/", "if (a) /}/, {/",
		"namespace N { }\n}, {", "namespace N { }\n} {", "namespace N { export const a = 1 }\nreturn 1 }\nasync function x() {",
	} {
		t.Run("RUN-36 "+src, func(t *testing.T) {
			for _, unwrap := range []bool{false, true} {
				code, failure := transform(src, unwrap, Target{})
				if failure == nil {
					// Some are programs after all: then the regular expression in them is one.
					if !isOneFunction("(async()=>{" + code.JS + "\n})") {
						t.Errorf("accepted: %s", code.JS)
					}
					if !strings.Contains(src, "/") {
						t.Errorf("accepted: %s", code.JS)
					}
					continue
				}
				if failure.Kind != Exception || failure.Line == 0 {
					t.Errorf("got %+v", failure)
				}
			}
		})
	}
}
