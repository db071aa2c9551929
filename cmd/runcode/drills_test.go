//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Each drill has a healthy server, whose calls must go on working, beside one that misbehaves. What is asked of the sick one, and what a
// program reads of it, is the same whether the command runs the program or the gateway does.

// askBoth is a program's prologue: the healthy server, and what a call of the other one gives or fails with. No call is like another, so
// that nobody is reminded of repeating himself.
const askBoth = `
let turn = 0
const text = async (p) => { try { return (await p).content[0].text } catch (e) { return e.name + ": " + e.message } }
const good = () => text(tools.mcp__good__add({ a: ++turn, b: 3 - turn }))
const add = () => text(tools.mcp__bad__add({ a: ++turn, b: 5 - turn }))
const again = async () => {
  let sum = ""
  for (let n = 0; n < 500 && sum !== "5"; n++) { await new Promise(r => setTimeout(r, 20)); sum = await add() }
  return sum
}
`

// sickness is one way to misbehave.
type sickness struct {
	name    string
	server  drillEntry
	program string // after askBoth
	value   string // that it returns, as JSON
	most    int64  // bytes of memory, 0 for what is always allowed
}

const mib = 1 << 20

// usualMemory is generous to a command with a race detector in it; what a drill asks for would be far above it.
const usualMemory = 512 * mib

// lost is what a program returns that was told of a lost connection, and then found the server again.
func lost(why string) string {
	return `["ToolCallError: MCP server \"bad\" is not connected: the connection was lost during the call, so its effect is unknown` + why + `","3","5","3"]`
}

// timeEnough is the wall budget of runs on a loaded machine.
const timeEnough = "--wall=5m"

// slowCalls shortens the budget of a call that will never be answered.
var slowCalls = map[string]any{"toolCallTimeoutMs": 2500}

// soonAgain shortens the delays of reconnection.
var soonAgain = map[string]any{"reconnect": map[string]any{"initialDelayMs": 20, "maxDelayMs": 60}}

var sicknesses = []sickness{
	{name: "MCP-71 a banner on standard output", server: drillEntry{modes: []string{"banner"}},
		program: `return [await good(), await add(), await good()]`, value: `["3","5","3"]`},
	{name: "MCP-30 MCP-55 a crash in mid-call", server: drillEntry{more: soonAgain},
		program: `
const crashed = await text(tools.mcp__bad__crash({}))
return [crashed, await good(), await again(), await good()]`,
		value: lost("")},
	{name: "MCP-71 a flood on standard error", server: drillEntry{modes: []string{"flood"}},
		program: `const sums = []; for (let n = 0; n < 20; n++) sums.push(await good() + await add()); return sums.join()`,
		value:   `"` + strings.TrimSuffix(strings.Repeat("35,", 20), ",") + `"`},
	{name: "MCP-71 an answer that is no JSON", server: drillEntry{more: slowCalls},
		program: `return [await text(tools.mcp__bad__garbage({})), await good(), await add(), await good()]`,
		value:   `["ToolCallError: tool call timed out after 2500ms","3","5","3"]`},
	{name: "MCP-29 an answer that is no result", program: `return [await text(tools.mcp__bad__odd({})), await good(), await add(), await good()]`, value: `["(no output)","3","5","3"]`},
	{name: "MCP-71 an answer within the limit of 64 MiB",
		program: fmt.Sprintf(`const huge = await text(tools.mcp__bad__huge({ mib: %d })); return [huge.length, huge.slice(-3), await good(), await add(), await good()]`, largeAnswer),
		value:   fmt.Sprintf(`[%d,"xxx","3","5","3"]`, largeAnswer*mib), most: 2048 * mib},
	{name: "MCP-71 an answer of more than 64 MiB", server: drillEntry{more: soonAgain},
		program: `
const huge = await text(tools.mcp__bad__huge({ mib: 65 }))
return [huge, await good(), await again(), await good()]`,
		value: lost("; the server printed a line of more than 64 MiB"), most: 1024 * mib},
	{name: "MCP-16 a thousand tools", server: drillEntry{modes: []string{"many=1000"}},
		program: `return [Object.keys(tools).length, await text(tools.mcp__bad__tool_0999({ text: "x" })), await good()]`, value: `[1014,"tool_0999","3"]`},
	{name: "MCP-16 a list of 30 MiB", server: drillEntry{modes: []string{"many=1000", "manual=30"}},
		program: `return [Object.keys(tools).length, await add(), await good()]`, value: `[1014,"5","3"]`, most: 1024 * mib},
	{name: "MCP-52 a list that changes every 10 ms", server: drillEntry{modes: []string{"churn"}},
		program: `
const sums = new Set()
for (let n = 0; n < 30; n++) { sums.add(await good() + await add()); await new Promise(r => setTimeout(r, 20)) }
return [...sums]`, value: `["35"]`},
	{name: "MCP-72 a grandchild that stays", server: drillEntry{modes: []string{"grandchild"}},
		program: `return [await good(), await add(), await good()]`, value: `["3","5","3"]`},
	{name: "MCP-63 cancellation is ignored", server: drillEntry{more: slowCalls},
		program: `return [await text(tools.mcp__bad__deaf({})), await good(), await add(), await good()]`,
		value:   `["ToolCallError: tool call timed out after 2500ms","3","5","3"]`},
}

func TestDrillsRun(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	for _, s := range sicknesses {
		t.Run(s.name, func(t *testing.T) {
			d := newDrill(t, cache)
			d.configure(map[string]drillEntry{"bad": s.server})
			a := d.run(askBoth+s.program, timeEnough)
			a.is(t, s.value)
			t.Logf("%d MiB", a.resident/mib)
			if most := max(s.most, usualMemory); a.resident > most {
				t.Errorf("%d MiB of memory, at most %d are right", a.resident/mib, most/mib)
			}
		})
	}
}

func TestDrillsRunStart(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	t.Run("CLI-7 MCP-66 it hangs at start and the user gives up", func(t *testing.T) {
		d := newDrill(t, cache)
		d.configure(map[string]drillEntry{"bad": {modes: []string{"hang", "note=" + d.path("up")}}})
		d.write("program.ts", "return 1")
		p := d.start("run", "--mcp", "servers.json", "program.ts")
		d.eventually("the server is up", func() bool { return d.exists("up") })
		_ = p.Process.Signal(os.Interrupt)
		if status := d.ended(p); status != statusInterrupted || p.out.Len() != 0 || p.err.String() != "runcode: interrupted\n" {
			t.Errorf("status %d, output %q, error %q", status, &p.out, &p.err)
		}
	})
	t.Run("MCP-14 it leaves at start", func(t *testing.T) {
		d := newDrill(t, cache)
		d.configure(map[string]drillEntry{"bad": {modes: []string{"exit"}}})
		a := d.run("return 1")
		for _, part := range []string{`MCP server "bad": start-up failed: `, "exit status 3", "it said: drillserver: the database is not there"} {
			if a.status != statusUsage || !strings.Contains(a.failure, part) {
				t.Errorf("status %d, failure %q has no %q", a.status, a.failure, part)
			}
		}
	})
}

// TestDrillsRunKilled kills the command in the middle of a call, so that it can clean up nothing.
func TestDrillsRunKilled(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	for name, modes := range map[string][]string{
		"MCP-72 a server that leaves when its input ends": nil,
		"MCP-72 a server that ignores it":                 {"ignore-eof"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDrill(t, cache)
			d.configure(map[string]drillEntry{"bad": {modes: modes}})
			d.write("program.ts", fmt.Sprintf("await tools.mcp__bad__deaf({ note: %q })", d.path("called")))
			p := d.start("run", "--mcp", "servers.json", "program.ts")
			d.eventually("the call is at the server", func() bool { return d.exists("called") })
			_ = p.Process.Signal(syscall.SIGKILL)
			d.ended(p)
		})
	}
}
