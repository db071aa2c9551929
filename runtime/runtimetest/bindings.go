package runtimetest

// Section 2: how a program calls its host.

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// decl declares the suite's tools for the type annotations of a program.
const decl = "\ndeclare const tools: any, plain: any, host: any; declare const ToolCallError: any"

type panicking struct{}

func (panicking) Error() string { panic("the error's own bug") }

func testBindings(t *testing.T, s *suite) {
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	s.checks(t, []check{
		{name: "RUN-18 a namespace is an object without prototype whose members are in declared order", program: `
			const d = Object.getOwnPropertyDescriptor(tools, 'echo');
			return [Object.getPrototypeOf(tools), Object.keys(tools), typeof d.value, d.writable, d.configurable, d.enumerable, Object.isExtensible(tools)]` + decl,
			want: `[null,["echo","fail","panic","wait","never","__proto__","constructor","a b","","é","then"],"function",false,false,true,true]`},
		{name: "RUN-18 members cannot be assigned or deleted", program: `
			const names = [];
			for (const f of [() => { tools.echo = 1 }, () => { delete tools.echo }]) try { f(); names.push('done') } catch (e) { names.push(e.name) }
			tools.mine = 2;
			return [names, tools.mine]` + decl, want: `[["TypeError","TypeError"],2]`},
		{name: "RUN-19 names of any shape are members", program: `
			return [await tools.__proto__({}), await tools.constructor({}), await tools['a b'](1), await tools[''](2), await tools['é'](3), await tools.then(4)]` + decl,
			want: `["proto","made",1,2,3,4]`},
		{name: "RUN-19 what is not declared is undefined", program: "return [typeof plain.hasOwnProperty, typeof plain.toString, typeof plain.__proto__, typeof plain.constructor, typeof plain.then, typeof tools.nope]" + decl,
			want: `["undefined","undefined","undefined","undefined","undefined","undefined"]`},
		{name: "RUN-20 a call returns a promise and never throws", program: `
			const p = tools.echo(() => 1), q = tools.echo();
			const kinds = [p instanceof Promise, q instanceof Promise];
			for (const x of [p, q]) try { await x } catch (e) { kinds.push(e.message.startsWith('arguments are not lossless JSON')) }
			return kinds` + decl, want: "[true,true,true,true]", calls: "-"},
		{name: "RUN-20 only the first argument is used", program: "return await tools.echo(1, 2, () => 3)" + decl, want: "1"},
		{name: "RUN-21 arguments are snapshots", program: `
			const a = { list: [1] }; const p = tools.echo(a); a.list.push(2);
			const r = await p; r.list.push(3);
			return [r, a]` + decl, want: `[{"list":[1,3]},{"list":[1,2]}]`},
		{name: "RUN-22 a refused argument names what and where", program: "try { await tools.echo({ items: [0, { when: new Date(0) }] }) } catch (e) { return e.message }" + decl,
			want: `"arguments are not lossless JSON: a Date (use toISOString()) at $.items[1].when"`, calls: "-"},
		{name: "RUN-22 a getter or trap that throws", program: `
			const got = [];
			for (const x of [{ get a() { throw new Error('mine') } }, new Proxy({}, { ownKeys() { throw 1 } }), new Proxy([], { getPrototypeOf() { throw 1 } })])
				try { await tools.echo(x) } catch (e) { got.push(e.message.startsWith('arguments are not lossless JSON')) }
			return got` + decl, want: "[true,true,true]", calls: "-"},
		{name: "RUN-22 a missing argument is told what is expected", program: "try { await tools.echo() } catch (e) { return e.message.includes('{}') }" + decl, want: "true"},
		{name: "RUN-24 a failure's message", program: "try { await tools.fail({}) } catch (e) { return e.message }" + decl, want: `"no such row"`},
		{name: "RUN-24 a panic of a host function", program: "try { await tools.panic({}) } catch (e) { return [e instanceof ToolCallError, e.message] }" + decl, want: `[true,"host bug"]`},
		{name: "RUN-25 the error class", program: `
			try { await tools.fail({}) } catch (e) {
				const d = (k: string) => { const x = Object.getOwnPropertyDescriptor(e, k); return [x.enumerable, x.writable] };
				return [e instanceof ToolCallError, e instanceof Error, e.name, e.message, e.toolName, d('name'), d('toolName'), ToolCallError.name,
					Object.keys(e), Object.getPrototypeOf(ToolCallError) === Error, String(e), e.constructor === ToolCallError]
			}` + decl,
			want: `[true,true,"ToolCallError","no such row","fail",[true,false],[true,false],"ToolCallError",["name","toolName"],true,"ToolCallError: no such row",true]`},
		{name: "RUN-25 the program may construct the class", program: "const e = new ToolCallError('some', 'text'); return [e.toolName, e.message, e.name, e instanceof Error]" + decl,
			want: `["some","text","ToolCallError",true]`},
		{name: "RUN-25 refusals are of the class too", program: `
			const seen = [];
			for (const f of [() => tools.echo(NaN), () => tools.constructor()]) try { await f() } catch (e) { seen.push([e instanceof ToolCallError, e.toolName]) }
			return seen` + decl, want: `[[true,"echo"],[true,"constructor"]]`},
		{name: "RUN-25 without a class it is a plain Error", program: "try { await plain.fail({}) } catch (e) { return [e.constructor === Error, e.name, e.message, Object.keys(e)] }" + decl,
			want: `[true,"Error","no such row",[]]`},
		{name: "RUN-25 the stack is the calling site's", program: "async function work() {\n  await null;\n  return await tools.fail({ a: 1 })\n}\nawait work()" + decl,
			kind: runtime.Exception, match: `^ToolCallError: no such row\n    at work \(program\.ts:3:\d+\)`, line: 3},
		{name: "RUN-27 calls reach the host in order", program: "await Promise.all([tools.echo(1), plain.echo(2), tools.wait({ ms: 1 }), tools.echo(3)])" + decl, none: true, calls: "echo echo wait echo",
			also: func(t *testing.T, _ runtime.Result, h *host) {
				if a := h.arguments(); a[0].Float() != 1 || a[1].Float() != 2 || a[3].Float() != 3 {
					t.Errorf("arguments %v", a)
				}
			}},
		{name: "RUN-27 calls overlap", program: "for (let i = 0; i < 20; i++) tools.never({ i }); return await tools.echo('at once')" + decl, want: `"at once"`},
		{name: "RUN-29 calls that nobody awaits are delivered", program: "tools.echo(1); tools.echo(2); return 'done'" + decl, want: `"done"`, calls: "echo echo"},
		{name: "RUN-29 completion does not wait for them", program: "tools.never({}); return 'done'" + decl, want: `"done"`, calls: "never", also: func(t *testing.T, _ runtime.Result, h *host) {
			select {
			case <-h.ended:
			case <-time.After(patience):
				t.Error("the handler's context has not ended with the run (RUN-28)")
			}
		}},
	})

	results := []struct {
		name  string
		value any
		want  string // "" = refused
		text  string // of the rejection, when it is another
	}{
		{name: "nil", value: nil, want: "null"},
		{name: "a struct", value: struct {
			B int    `json:"b"`
			A string `json:"a,omitempty"`
		}{B: 1}, want: `{"b":1}`},
		{name: "2^53", value: int64(1) << 53, want: "9007199254740992"},
		{name: "2^60", value: int64(1) << 60, want: "1152921504606847000"},
		{name: "2^53+1", value: int64(1)<<53 + 1},
		{name: "NaN", value: math.NaN()},
		{name: "infinity", value: math.Inf(-1)},
		{name: "negative zero", value: math.Copysign(0, -1)},
		{name: "a channel", value: make(chan int)},
		{name: "a function", value: func() {}},
		{name: "invalid UTF-8", value: "a\xff"},
		{name: "a cycle", value: cyclic},
		{name: "an absent value", value: jsonval.Value{}},
	}
	for _, c := range results {
		rule := "RUN-23 a host result is refused: "
		want := "true"
		program := "try { return JSON.stringify(await host.get({})) } catch (e) { return e.message.startsWith('binding result is not lossless JSON') }"
		if c.want != "" {
			rule, want, program = "RUN-21 a host result is taken: ", c.want, "return await host.get({})"
		}
		s.checks(t, []check{{name: rule + c.name, program: program + decl, request: result(c.value), want: want}})
	}

	s.test(t, "RUN-24 an error whose text panics", func(t *testing.T) {
		r, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{
			Program: "try { await host.get({}) } catch (e) { return typeof e.message }" + decl,
			Namespaces: []runtime.Namespace{{Global: "host", Functions: []runtime.Function{{
				Name: "get", Call: runtime.Go(func(context.Context, jsonval.Value) (any, error) { return nil, panicking{} }),
			}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		(&check{want: `"string"`}).verify(t, r)
	})
	s.test(t, "RUN-24 a handler that panics by itself", func(t *testing.T) {
		r, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{
			Program: "try { await host.get({}) } catch (e) { return e.message }" + decl,
			Namespaces: []runtime.Namespace{{Global: "host", Functions: []runtime.Function{{
				Name: "get", Call: func(context.Context, jsonval.Value, func(any, error)) { panic("at once") },
			}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		(&check{want: `"at once"`}).verify(t, r)
	})
	s.test(t, "RUN-27 replies settle in the order in which they came", func(t *testing.T) {
		replies := make(chan func(any, error), 3)
		r, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{
			Program: `
				const order = [];
				await Promise.all(['a', 'b', 'c'].map(x => host.get(x).then(r => order.push(x + r))));
				return order` + decl,
			Namespaces: []runtime.Namespace{{Global: "host", Functions: []runtime.Function{{
				Name: "get", Call: func(_ context.Context, arg jsonval.Value, reply func(any, error)) {
					replies <- reply
					if arg.Str() != "c" {
						return
					}
					go func() {
						list := []func(any, error){<-replies, <-replies, <-replies}
						for i, at := range []int{2, 0, 1} {
							list[at](i, nil)
							list[at]("again", errors.New("a second answer counts for nothing"))
						}
					}()
				},
			}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		(&check{want: `["c0","a1","b2"]`}).verify(t, r)
	})
	s.test(t, "RUN-28 a reply after the end is dropped", func(t *testing.T) {
		late := make(chan func(any, error), 1)
		r, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{
			Program: "host.get({}); return 1" + decl,
			Namespaces: []runtime.Namespace{{Global: "host", Functions: []runtime.Function{{
				Name: "get", Call: func(_ context.Context, _ jsonval.Value, reply func(any, error)) { late <- reply },
			}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		(&check{want: "1"}).verify(t, r)
		(<-late)(1, nil)
	})
	s.test(t, "RUN-19 many members", func(t *testing.T) {
		var functions []runtime.Function
		for i := range 3000 {
			functions = append(functions, runtime.Function{Name: strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(jsonval.MustOf(i).JSON()), Call: runtime.Go(func(context.Context, jsonval.Value) (any, error) { return i, nil })})
		}
		r, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{
			Program:    "return [Object.keys(host).length, await host[Object.keys(host)[2999]](0)]" + decl,
			Namespaces: []runtime.Namespace{{Global: "host", Functions: functions}},
		})
		if err != nil {
			t.Fatal(err)
		}
		(&check{want: "[3000,2999]"}).verify(t, r)
	})
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	s.checks(t, []check{{name: "VALUE-5 5,000 levels as argument, resolution and completion", program: `
		let a: any = []; for (let i = 1; i < 5000; i++) a = [a];
		const r = await tools.echo(a);
		let depth = 0; for (let x = r; x !== undefined; x = x[0]) depth++;
		if (depth !== 5000) throw new Error('depth ' + depth);
		return r` + decl, want: deep, also: func(t *testing.T, _ runtime.Result, h *host) {
		if got := h.arguments()[0].String(); got != deep {
			t.Errorf("the argument has %d bytes, want %d", len(got), len(deep))
		}
	}}})
}
