package runtimetest

// RUN-39: the place that is named for a failure, in calls and statements over several lines.

import (
	"context"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/runcode-go/runcode/runtime"
)

// places are programs that fail where the mark @ stands. Where a ~ stands behind it, QuickJS's place is there: it records the
// name after a `new`, and goja the `new`.
var places = []struct{ name, program string }{
	{"a new over several lines", "const x = { a: 1 };\nthrow @new ~Error(\n  'bad ' +\n  x.a,\n)"},
	{"a new with a cause", "try { (null as any).x } catch (e) {\n  throw @new ~Error('outer', {\n    cause: e,\n  })\n}"},
	{"a new with arguments on its line", "const v = 'é😀'; throw @new ~Error(v + v)"},
	{"a new in a template", "const v = 1\nfunction f(user: { name: string }) {\n  throw @new ~TypeError(\n    `no ${user.name} ${v}`,\n  )\n}\nf({\n  name: 'q'\n})"},
	{"an error without new", "const v = 'q'\nthrow @Error(\n  v)"},
	{"a class of errors without a constructor", "class Bad extends Error {}\nconst v = 'q'\nthrow @new ~Bad(\n  v,\n)"},
	{"a refused call over several lines", "const x = 1, y = 2\nawait tools.@fail({\n  a: x,\n  b: y,\n})"},
	{"a refused call of a quoted member", "const x = 1\nawait @tools['fail']({\n  a: [x, x.toFixed()],\n})"},
	{"a refused call whose arguments are calls", "const x = 1, id = (v: any) => v\nawait tools.@fail(\n  id({\n    a: id(x),\n  }),\n)"},
	{"a refused call among several", "const x = 1\nawait Promise.all([\n  tools.echo({ x }),\n  tools.@fail({\n    x: x,\n  }),\n])"},
	{"a refused call with a function in its arguments", "const xs = [1]\nawait tools.@fail({\n  a: xs,\n  b: xs.map(x => {\n    return x\n  }),\n  c: xs,\n})"},
	{"a refused argument", "const x = undefined\nawait tools.@echo(\n  x,\n)"},
	{"a built-in over several lines", "const text = '{'\nJSON.@parse(\n  text,\n)"},
	{"a call of what is no function", "const a: any = {}, z = 1\na.@c(\n  z,\n)"},
	{"an array taken apart", "const a: any = 5\nconsole.log(a)\n\nconst @[x] = a"},
	{"nothing taken apart", "const a: any = null\nconsole.log(a)\n\nconst @{ x } = a"},
	{"nothing taken apart behind an await", "const f = async (q: any) => {\n  await q\n\n  const @{ x } = q\n}\nawait f(null)"},
	{"nothing taken apart at the program's begin", "\nconst @{ x } = (globalThis as any).none"},
	{"a parameter taken apart", "function f(q: any, @{ x }: any) { return x }\nconsole.log('f')\nf(1, null)"},
	{"a loop over what is no list, before one is taken apart", "const a: any = 5\nfor (const x of @a) { }\nconst { y } = a"},
	{"a spread of what is no list, before one is taken apart", "const a: any = { b: 5 }\nconst z = [...@a.b]\nconst { y } = a"},
	{"a member read on a later line", "const a: any = {}\nconst v = a\n  .b\n  .@c"},
	{"a member read in an argument", "const o: any = undefined\nconsole.log(\n  1,\n  @o.x,\n)"},
	{"a name that is not there, in an argument", "console.log(\n  1,\n  @nowhere,\n)"},
	{"a frozen object", "const o: any = Object.freeze({ a: 1 })\n\n@o.a = 2"},
	{"the inside of a getter", "const o = { get x(): any { throw @new ~Error('get') } }\nconsole.log(\n  o.x,\n)"},
}

// unmark takes the marks out of a program and returns where an engine's place is.
func unmark(program, isolation string) (text string, line, column int) {
	mark := "@"
	if isolation == runtime.IsolationWasm && strings.Contains(program, "~") {
		mark = "~"
	}
	text = strings.NewReplacer("@", "", "~", "").Replace(program)
	before, _, _ := strings.Cut(program, mark)
	before = strings.NewReplacer("@", "", "~", "").Replace(before)
	last := before[strings.LastIndexByte(before, '\n')+1:]
	return text, strings.Count(before, "\n") + 1, len(utf16.Encode([]rune(last))) + 1
}

func testPositions(t *testing.T, s *suite) {
	for _, p := range places {
		s.test(t, "RUN-39 the place of "+p.name, func(t *testing.T) {
			program, line, column := unmark(p.program, s.options.Isolation)
			h := newHost()
			defer h.close()
			r, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{Program: program, Namespaces: h.namespaces()})
			if err != nil {
				t.Fatal(err)
			}
			if r.Error == nil || r.Error.Kind != runtime.Exception {
				t.Fatalf("%v, want an exception", r.Error)
			}
			// goja's columns within a statement are its own.
			exact := s.options.Isolation == runtime.IsolationWasm || strings.Contains(p.program, "@new")
			if r.Error.Line != line || exact && r.Error.Column != column {
				t.Errorf("%d:%d, want %d:%d\n%s\n%s", r.Error.Line, r.Error.Column, line, column, program, r.Error.Message)
			}
		})
	}
}
