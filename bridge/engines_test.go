package bridge_test

// This file runs real programs on both engines, end to end through the real registry.

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojaengine"
	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/runtime/wasmengine"
)

// cache holds the compiled engine for the tests of this package.
var cache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "bridge-test")
	if err != nil {
		panic(err)
	}
	cache = dir
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// onEngines runs f once for each engine.
func onEngines(t *testing.T, l runtime.Limits, f func(t *testing.T, e runtime.Engine)) {
	for name, open := range map[string]func() (runtime.Engine, error){
		"wasm": func() (runtime.Engine, error) {
			return wasmengine.New(context.Background(), wasmengine.Options{Limits: l, CacheDir: cache})
		},
		"goja": func() (runtime.Engine, error) { return gojaengine.New(gojaengine.Options{Limits: l}) },
	} {
		t.Run(name, func(t *testing.T) {
			e, err := open()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close(context.Background()) })
			f(t, e)
		})
	}
}

// real is a world over a real engine.
func real(t *testing.T, e runtime.Engine, options ...worldOption) *world {
	return newWorld(t, nil, append([]worldOption{func(o *bridge.Options, _ *registry.Options) { o.Engine = e }}, options...)...)
}

// runProgram runs a program's text for the agent.
func (w *world) runProgram(program string) registry.Result {
	call := runCall(agent)
	call.Arguments = map[string]any{"code": program, "description": "Runs a test"}
	return w.reg.Execute(context.Background(), call)
}

func TestEndToEnd(t *testing.T) {
	onEngines(t, runtime.Limits{}, func(t *testing.T, e runtime.Engine) {
		t.Run("CODE-20 SUB-10 SUB-11 Promise.all over reads and a catch around a failing tool, exact content and events", func(t *testing.T) {
			w := real(t, e)
			var both sync.WaitGroup // the reads overlap: neither returns before the other has begun
			both.Add(2)
			w.tool("read", func(_ context.Context, args jsonval.Value, _ *registry.Run) (any, error) {
				both.Done()
				both.Wait()
				return args, nil
			}, safe)
			w.tool("fails", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
				return nil, registry.Coded("RowError", "NO_ROW", "no such row")
			})
			r := w.runProgram(`
const [a, b] = await Promise.all([tools.read({ n: 1 }), tools.read({ n: 2 })]);
let caught;
try { await tools.fails({}) } catch (e) {
  caught = [e instanceof ToolCallError, e instanceof Error, e.name, e.toolName, e.message, Object.keys(e).sort()];
}
console.log("sum", a.n + b.n);
return { caught, later: typeof tools.run_code };`)
			want := "sum 3\n{\n  \"caught\": [\n    true,\n    true,\n    \"ToolCallError\",\n    \"fails\",\n    \"no such row\",\n    [\n      \"name\",\n      \"toolName\"\n    ]\n  ],\n  \"later\": \"undefined\"\n}"
			if got := textOf(t, r); got != want {
				t.Errorf("content\n%s\nwant\n%s", got, want)
			}
			var got []string
			for _, e := range w.events {
				got = append(got, e.Type()+" "+e.Value().String())
			}
			head := `{"rootCallId":"c","parentCallId":"c","subCallId":"c:code:`
			equal(t, "events", got, []string{
				`tool/code-dispatch-start ` + head + `1","name":"read","arguments":{"n":1}}`,
				`tool/code-dispatch-start ` + head + `2","name":"read","arguments":{"n":2}}`,
				`tool/code-dispatch ` + head + `1","name":"read","arguments":{"n":1},"isError":false,"content":[{"type":"text","text":"{\"n\":1}"}]}`,
				`tool/code-dispatch ` + head + `2","name":"read","arguments":{"n":2},"isError":false,"content":[{"type":"text","text":"{\"n\":2}"}]}`,
				`tool/code-dispatch-start ` + head + `3","name":"fails","arguments":{}}`,
				`tool/code-dispatch ` + head + `3","name":"fails","arguments":{},"isError":true,"content":[{"type":"text","text":"Error: no such row"}]}`,
			})
			equal(t, "live logs", w.logs, []string{"sum 3"})
		})
		t.Run("SUB-1 arguments that are refused get no number, no event and no stage", func(t *testing.T) {
			w := real(t, e)
			w.echo("echo")
			gates := 0
			w.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
				gates++
				return next()
			})
			r := w.runProgram(`
const out = [];
for (const bad of [() => tools.echo(), () => tools.echo(10n), () => tools.echo({ get x() { throw 1 } }), () => tools.echo(new Date(0)), () => tools.echo({ f() {} }), () => tools.echo([,])]) {
  try { await bad(); out.push("accepted") } catch (e) { out.push(e instanceof ToolCallError && e.toolName === "echo" && e.message.startsWith("arguments are not lossless JSON") ? "refused" : String(e)) }
}
await tools.echo({ last: 1 });
return out.join(" ")`)
			if got := textOf(t, r); got != strings.TrimSpace(strings.Repeat("refused ", 6)) {
				t.Errorf("got %s", got)
			}
			equal(t, "events", w.eventLines(), []string{"start c:code:1", "end c:code:1"})
			if gates != 2 {
				t.Errorf("%d gates, want those of run_code and of the one good call", gates)
			}
		})
		t.Run("SUB-7 what a program changes after the call changes neither the tool's arguments nor the record", func(t *testing.T) {
			w := real(t, e)
			w.echo("echo")
			r := w.runProgram(`const a = { n: 1, list: [1] }; const p = tools.echo(a); a.n = 2; a.list.push(2); const v = await p; v.list.push(3); return JSON.stringify(v)`)
			if got := textOf(t, r); got != `{"n":1,"list":[1,3]}` {
				t.Errorf("got %s", got)
			}
			for _, e := range w.events {
				if args, _ := e.Value().Get("arguments"); args.String() != `{"n":1,"list":[1]}` {
					t.Errorf("%s records %s", e.Type(), args)
				}
			}
		})
		t.Run("CODE-13 CODE-14 members of any name, and none that is not a tool", func(t *testing.T) {
			w := real(t, e)
			for _, name := range []string{"my-tool", "__proto__", "constructor", "then"} {
				w.echo(name)
			}
			r := w.runProgram(`
const out = [];
for (const k of ["my-tool", "__proto__", "constructor", "then"]) out.push((await tools[k]({ k })).k);
return [out, typeof tools.run_code, typeof tools.toString, typeof tools.hasOwnProperty].join()`)
			if got := textOf(t, r); got != "my-tool,__proto__,constructor,then,undefined,undefined,undefined" {
				t.Errorf("got %s", got)
			}
		})
		t.Run("SUB-24 CODE-17 calls that nobody awaits", func(t *testing.T) {
			w := real(t, e)
			w.gated("slow", true)
			r := w.runProgram(`tools.slow({ n: 1 }); tools.slow({ n: 2 }); await new Promise(r => setTimeout(r, 1000)); return "gone"`)
			if got := textOf(t, r); got != "gone" {
				t.Errorf("got %s", got)
			}
			equal(t, "states", w.states(), []bridge.CallState{bridge.Cancelled, bridge.Dropped})
			equal(t, "events", w.eventLines(), []string{"start c:code:1", "error c:code:1"})
		})
		t.Run("SUB-19 promises settle in submission order", func(t *testing.T) {
			w := real(t, e)
			w.tool("wait", func(ctx context.Context, args jsonval.Value, _ *registry.Run) (any, error) {
				ms, _ := args.Get("ms")
				select {
				case <-time.After(time.Duration(ms.Float()) * time.Millisecond):
				case <-ctx.Done():
				}
				return ms, nil
			}, safe)
			r := w.runProgram(`const order = []; await Promise.all([40, 20, 0].map(ms => tools.wait({ ms }).then(() => order.push(ms)))); return order.join()`)
			if got := textOf(t, r); got != "40,20,0" {
				t.Errorf("got %s", got)
			}
		})
		t.Run("CODE-12 GATE-3 under discovery programs can ask for declarations, and their questions are no sub-calls", func(t *testing.T) {
			w := real(t, e, func(o *bridge.Options, _ *registry.Options) { o.SDK.MaxTokens = 1 })
			w.echo("send_mail")
			w.echo("read_mail")
			p, err := w.reg.Present(agent)
			if err != nil || !strings.Contains(p.Sections[1].Text, "sdk.search") {
				t.Fatalf("the prompt does not turn to discovery: %v", err)
			}
			r := w.runProgram(`
const found = await sdk.search("send a mail");
const text = await sdk.describe(found[0].name);
let wrong; try { await sdk.describe(7) } catch (e) { wrong = e.message + " " + (e instanceof ToolCallError) }
await tools.send_mail({ n: 1 });
return [found[0].name, text.includes("send_mail"), wrong, (await sdk.search({ query: "mail", limit: 1 })).length, Object.keys(sdk).join("+")].join()`)
			if got := textOf(t, r); got != "send_mail,true,sdk.describe takes the name of a tool false,1,search+describe" {
				t.Errorf("got %s", got)
			}
			equal(t, "events", w.eventLines(), []string{"start c:code:1", "end c:code:1"})
			if calls := w.outcome().Calls; len(calls) != 1 {
				t.Errorf("ledger: %v", calls)
			}
		})
		t.Run("CODE-12 without discovery there is no sdk", func(t *testing.T) {
			w := real(t, e, func(o *bridge.Options, _ *registry.Options) { o.SDK.MaxTokens = 1_000_000 })
			w.echo("echo")
			if got := textOf(t, w.runProgram(`return typeof sdk`)); got != "undefined" {
				t.Errorf("got %s", got)
			}
		})
		t.Run("CODE-33 wrappings are undone", func(t *testing.T) {
			w := real(t, e)
			if got := textOf(t, w.runProgram("```ts\nreturn 1 + 2\n```")); got != "3" {
				t.Errorf("a fence: %s", got)
			}
			if got := textOf(t, w.runProgram("(async function main() { return 4 })")); got != "4" {
				t.Errorf("a function: %s", got)
			}
		})
		t.Run("CODE-34 a call of what does not exist names what does", func(t *testing.T) {
			w := real(t, e)
			w.echo("list_dir")
			w.echo("read_file")
			r := w.runProgram(`return await tools.list_dirs({})`)
			if text := r.Text(); !r.IsError() || !strings.Contains(text, "tools.list_dirs is not a function") || !strings.Contains(text, "list_dir") || !strings.Contains(text, "read_file") {
				t.Errorf("got %s", text)
			}
		})
		t.Run("CODE-34 INVALID_ARGS names the member, what was expected and what is there", func(t *testing.T) {
			w := real(t, e)
			type args struct {
				Path string `json:"path"`
			}
			d, err := registry.Define(registry.Spec[args, string]{Name: "typed", Description: "x", Run: func(context.Context, args, *registry.Run) (string, error) { return "", nil }})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.reg.Register(d); err != nil {
				t.Fatal(err)
			}
			r := w.runProgram(`try { await tools.typed({ path: 1 }) } catch (e) { return e.message }`)
			if text := r.Text(); !strings.Contains(text, `"path": expected string`) {
				t.Errorf("got %s", text)
			}
		})
		t.Run("SUB-8 5,000 levels go out and come back", func(t *testing.T) {
			w := real(t, e)
			w.echo("echo")
			r := w.runProgram(`let a = 1; for (let i = 0; i < 5000; i++) a = [a]; let v = await tools.echo(a); let n = 0; while (Array.isArray(v)) { v = v[0]; n++ } return n`)
			if got := textOf(t, r); got != "5000" {
				t.Errorf("got %s", got)
			}
		})
	})
	onEngines(t, runtime.Limits{Compute: 150 * time.Millisecond, Wall: 5 * time.Second}, func(t *testing.T, e runtime.Engine) {
		t.Run("SUB-26 CODE-22 a budget cancels and drains what is in flight", func(t *testing.T) {
			w := real(t, e)
			w.gated("slow", true)
			r := w.runProgram(`console.log("got here"); tools.slow({ n: 1 }); await new Promise(r => setTimeout(r, 20)); for (;;);`)
			f := r.Failure()
			want := "program failed (timeout): compute time used up: limit 150 ms\nOutput before the failure:\ngot here\n" +
				"Calls before the failure, which are not undone:\nslow: 1 unknown"
			if f == nil || f.Message != want {
				t.Errorf("got %+v", f)
			}
			equal(t, "states", w.states(), []bridge.CallState{bridge.Cancelled})
		})
	})
}
