package runtimetest

// This file makes programs out of bytes, for fuzzing: a grammar of statements and expressions in which each byte chooses a
// production. Any bytes give a program, and a small change of the bytes gives a similar program.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Portable returns a program that ends soon, and means the same in every engine: it uses nothing that an engine may lack or
// decide for itself. What it leaves out, and why:
//
//   - texts of the engines' own errors, which each engine words for itself: only the class of an error is looked at;
//   - positions and stacks, of which RUN-39 lets the column differ;
//   - unbounded recursion, which RUN-47 lets be uncatchable, and programs that use up memory (BUDGET-9);
//   - code from strings (RUN-48) and the texts of functions, whose code is lowered differently (RUN-35);
//   - async generators and what RUN-52 names, which an engine may lack or lower, so that turns of the queue are counted
//     differently;
//   - functions of Math and powers whose result ECMAScript leaves to the implementation;
//   - timers beside calls, whose order is the clock's;
//   - sloppy corners in which an engine is known to stray from ECMAScript without harm: label-less oddities of completion
//     values, the order of a class's computed keys, localised text.
func Portable(data []byte) string { return generate(data, portable) }

// Wild returns a program that may do anything: the portable grammar and besides endless loops and recursion, heaps that
// fill, floods, replaced built-ins, traps on the way out, and text that does not parse.
func Wild(data []byte) string {
	return generate(data, append(append([]statement{}, portable...), wild...))
}

// GeneratedTools are the functions that generated programs call. They answer at once, in the order of the calls.
func GeneratedTools() []runtime.Namespace {
	at := func(f func(arg jsonval.Value) (any, error)) runtime.Handler {
		return func(_ context.Context, arg jsonval.Value, reply func(any, error)) { reply(f(arg)) }
	}
	return []runtime.Namespace{{
		Global:     "tools",
		ErrorClass: &runtime.ErrorClass{Name: "ToolCallError", MemberProperty: "toolName"},
		Functions: []runtime.Function{
			{Name: "echo", Call: at(func(arg jsonval.Value) (any, error) { return arg, nil })},
			{Name: "fail", Call: at(func(arg jsonval.Value) (any, error) { return nil, errors.New("no: " + arg.String()) })},
			{Name: "size", Call: at(func(arg jsonval.Value) (any, error) { return len(arg.JSON()), nil })},
			{Name: "list", Call: at(func(jsonval.Value) (any, error) { return []any{1, "two", nil, map[string]any{"k": 4.5}}, nil })},
			{Name: "panic", Call: func(context.Context, jsonval.Value, func(any, error)) { panic("a fault of the host") }},
			{Name: "never", Call: func(context.Context, jsonval.Value, func(any, error)) {}},
		},
	}}
}

// statement writes one statement.
type statement func(g *generator)

type generator struct {
	data  []byte
	b     strings.Builder
	left  int // productions that may still be used
	depth int
	names int      // variables made so far
	vars  []string // in scope
	inner int      // functions around
	list  []statement
	exprs []func(g *generator) string
}

const (
	maxProductions = 300
	maxDepth       = 6
	maxTop         = 24
)

func generate(data []byte, list []statement) string {
	g := &generator{data: data, left: maxProductions, list: list, exprs: expressions}
	g.b.WriteString("enum Colour { Red, Green = 5, Blue }\nnamespace Space { export const one = 1; export function twice(x: any) { return [x, x] } }\n")
	g.b.WriteString("const name = (e: any) => e instanceof ToolCallError ? [e.name, e.toolName] : e instanceof Error ? e.name : e;\n")
	g.b.WriteString("const plain = (v: any) => typeof v === 'function' ? 'f' : v;\nlet v0: any = 0;\n")
	g.names, g.vars = 1, []string{"v0"}
	for n := 0; n < maxTop && len(g.data) > 0 && g.left > 0; n++ {
		g.statement()
	}
	g.b.WriteString("return " + g.expr())
	return g.b.String()
}

// pick consumes a byte and returns a number below n; 0 when no byte is left, which is always a production that ends.
func (g *generator) pick(n int) int {
	if len(g.data) == 0 {
		return 0
	}
	c := g.data[0]
	g.data = g.data[1:]
	return int(c) % n
}

func (g *generator) one(of ...string) string { return of[g.pick(len(of))] }

func (g *generator) line(format string, args ...any) {
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *generator) fresh() string {
	name := fmt.Sprintf("v%d", g.names)
	g.names++
	return name
}

func (g *generator) variable() string { return g.vars[len(g.vars)-1-g.pick(len(g.vars))] }

// nested writes a statement list in a scope of its own.
func (g *generator) nested() {
	vars := len(g.vars)
	g.depth++
	for range 1 + g.pick(3) {
		g.statement()
	}
	g.depth--
	g.vars = g.vars[:vars]
}

// function writes a statement list in the body of a function with parameters.
func (g *generator) function(params ...string) {
	vars := len(g.vars)
	g.vars = append(g.vars, params...)
	g.inner++
	g.nested()
	g.inner--
	g.vars = g.vars[:vars]
}

func (g *generator) statement() {
	if g.left--; g.left <= 0 || g.depth > maxDepth {
		g.line("v0;")
		return
	}
	g.list[g.pick(len(g.list))](g)
}

func (g *generator) key() string {
	return g.one("a", "b", "10", "2", "__proto__", "then", "constructor", "length", "é", "a b", "", "toString")
}

// expr returns an expression. It is not in parentheses if it needs none as an argument.
func (g *generator) expr() string {
	if g.left--; g.left <= 0 || g.depth > maxDepth {
		return "1"
	}
	g.depth++
	defer func() { g.depth-- }()
	return g.exprs[g.pick(len(g.exprs))](g)
}

func (g *generator) array() string {
	return g.one("[]", "[3, 1, 2]", "['b', 'a']", "[[1], [2, [3]]]", "[null, undefined, NaN]", "Array.from({ length: 4 }, (_, i) => i * i)", "[{ a: 1 }, { a: 0 }]", "[true, 'x', 1.5]")
}

func (g *generator) text() string {
	return g.one("''", "'abc'", "'a,b,,c'", `'é€\u{1f600}'`, `'line\nline'`, "' pad '", "'__proto__'", "'12px'", "'x'.repeat(40)", `'"\\\u0000'`)
}

func (g *generator) number() string {
	return g.one("0", "1", "-1", "2.5", "-0", "NaN", "Infinity", "1e300", "0.1 + 0.2", "2 ** 31", "9007199254740993", "5e-324", "1e300 * 10", "255", "-7", "123456789.125")
}
