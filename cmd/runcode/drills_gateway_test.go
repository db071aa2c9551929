//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// allStarted has a gateway wait until every server is up, on a loaded machine too.
const allStarted = "--start-wait=5m"

// TestDrillsGateway has the same sicknesses behind the gateway: what a program reads of them is the same, and the gateway outlives them.
func TestDrillsGateway(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	for _, s := range sicknesses {
		t.Run("GATE-6 "+s.name, func(t *testing.T) {
			d := newDrill(t, cache)
			d.configure(map[string]drillEntry{"bad": s.server})
			c := d.connect(timeEnough, allStarted)
			for range 2 { // a gateway goes on
				if got := c.run(askBoth + s.program); got != s.value {
					t.Errorf("got %s, want %s\n%s", got, s.value, &c.stderr)
				}
			}
			c.leave()
			most, got := max(s.most, usualMemory), resident(c.cmd.ProcessState)
			t.Logf("%d MiB", got/mib)
			if got > most {
				t.Errorf("%d MiB of memory, at most %d are right", got/mib, most/mib)
			}
		})
	}
}

func TestDrillsGatewayStart(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	t.Run("GATE-6 one of three does not start: the others work, and why stands on standard error", func(t *testing.T) {
		d := newDrill(t, cache)
		d.configure(map[string]drillEntry{"other": {}, "bad": {modes: []string{"exit"}}, "none": {more: map[string]any{"command": "no-such-server"}}})
		c := d.connect(allStarted)
		if got := c.run(`return [await tools.mcp__good__add({ a: 1, b: 2 }), await tools.mcp__other__add({ a: 2, b: 2 })].map(r => r.content[0].text)`); got != `["3","4"]` {
			t.Errorf("got %s", got)
		}
		if got := c.run(`return Object.keys(tools).filter(n => n.includes("bad") || n.includes("none")).length`); got != "0" {
			t.Errorf("%s tools of servers that are not there", got)
		}
		c.logged("bad")
		c.logged("the database is not there")
		c.logged(`there is no executable "no-such-server" in PATH`)
	})
	t.Run("GATE-6 one hangs at start: the others work at once, and it is ended with the rest", func(t *testing.T) {
		d := newDrill(t, cache)
		d.configure(map[string]drillEntry{"bad": {modes: []string{"hang", "ignore-term"}}})
		c := d.connect("--start-wait", "500ms")
		asked := 0
		d.eventually("the healthy one is up", func() bool {
			asked++
			return c.run(fmt.Sprintf(`return "mcp__good__add" in tools // %d`, asked)) == "true"
		})
		if got := c.run(`return (await tools.mcp__good__add({ a: 1, b: 2 })).content[0].text`); got != `"3"` {
			t.Errorf("got %s", got)
		}
		c.logged("bad")
	})
	t.Run("GATE-6 MCP-71 one lists more than 64 MiB: the others work", func(t *testing.T) {
		d := newDrill(t, cache)
		d.configure(map[string]drillEntry{"bad": {modes: []string{"many=1000", "manual=70"}}})
		c := d.connect(allStarted)
		if got := c.run(askBoth + `return [Object.keys(tools).filter(n => n.includes("bad")).length, await good()]`); got != `[0,"3"]` {
			t.Errorf("got %s", got)
		}
		c.logged("the server printed a line of more than 64 MiB")
	})
	t.Run("GATE-6 all are broken: the gateway serves programs without tools", func(t *testing.T) {
		d := newDrill(t, cache)
		d.configure(map[string]drillEntry{"good": {modes: []string{"exit"}}, "bad": {modes: []string{"exit"}}})
		c := d.connect()
		if got := c.run(`return Object.keys(tools).length + 40`); got != "40" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("GATE-3 MCP-52 a list that changes every 10 ms: clients are told, but not every time", func(t *testing.T) {
		d := newDrill(t, cache)
		d.configure(map[string]drillEntry{"bad": {modes: []string{"churn"}}})
		c := d.connect("--mode", "native", allStarted)
		const notice = "notifications/tools/list_changed"
		d.eventually("a notice", func() bool { return c.noticed(notice) > 0 })
		before, began := c.noticed(notice), time.Now()
		for n := range 5 {
			time.Sleep(200 * time.Millisecond)
			if got := c.call("mcp__good__add", map[string]any{"a": n, "b": 3 - n}); got.text() != "3" {
				t.Errorf("got %s", got.text())
			}
		}
		if n, took := c.noticed(notice)-before, time.Since(began); float64(n) > 40*took.Seconds() {
			t.Errorf("%d notices in %v, of 100 changes a second", n, took)
		}
		first, _ := c.tools()
		d.eventually("another list", func() bool { now, _ := c.tools(); return !slices.Equal(now, first) })
	})
}

// TestDrillsTogether has all of them at the same time in front of one healthy server.
func TestDrillsTogether(t *testing.T) {
	t.Parallel()
	d := newDrill(t, t.TempDir())
	sick := map[string]drillEntry{}
	for _, modes := range []string{"banner", "flood", "many=1000", "churn", "grandchild", "ignore-eof", "hang", "exit"} {
		name, _, _ := strings.Cut(modes, "=")
		sick[name] = drillEntry{modes: []string{modes}, more: slowCalls}
	}
	sick["crash"] = drillEntry{more: soonAgain}
	d.configure(sick)
	c := d.connect("--start-wait", "1s")
	asked := 0
	d.eventually("all are up that will be", func() bool {
		asked++
		return c.run(fmt.Sprintf(`return new Set(Object.keys(tools).map(name => name.split("__")[1])).size // %d`, asked)) == "8"
	})
	t.Run("GATE-6 calls of the healthy one and of those that answer go on", func(t *testing.T) {
		got := c.run(`
const sum = async (server, a, b) => (await tools["mcp__" + server + "__add"]({ a, b })).content[0].text
const wrong = []
for (const call of [tools.mcp__crash__crash, tools.mcp__banner__deaf, tools.mcp__flood__garbage]) {
  await call({}).then(() => wrong.push("no failure"), e => e.name === "ToolCallError" || wrong.push(e.message))
}
for (let n = 0; n < 10; n++) {
  for (const server of ["good", "banner", "flood", "many", "churn", "grandchild", "ignore-eof"]) {
    const got = await sum(server, n, 1)
    if (got !== String(n + 1)) wrong.push(server + ": " + got)
  }
}
return wrong`)
		if got != "[]" {
			t.Errorf("got %s\n%s", got, &c.stderr)
		}
	})
}

// TestDrillsNative has calls of the sick server's tools without a program.
func TestDrillsNative(t *testing.T) {
	t.Parallel()
	d := newDrill(t, t.TempDir())
	entry := drillEntry{more: map[string]any{"toolCallTimeoutMs": 2500, "reconnect": map[string]any{"initialDelayMs": 20, "maxDelayMs": 60}}}
	d.configure(map[string]drillEntry{"bad": entry})
	c := d.connect("--mode", "native", allStarted)
	for n, test := range []struct{ name, tool, text string }{
		{"MCP-65 an answer that is no JSON", "garbage", "Error: tool call timed out after 2500ms"},
		{"MCP-63 no answer", "deaf", "Error: tool call timed out after 2500ms"},
		{"MCP-30 a crash", "crash", `Error: MCP server "bad" is not connected: the connection was lost during the call, so its effect is unknown`},
	} {
		t.Run("GATE-5 GATE-6 "+test.name+" is a result that says so", func(t *testing.T) {
			if r := c.call("mcp__bad__"+test.tool, map[string]any{}); !r.IsError || r.text() != test.text || r.StructuredContent != nil {
				t.Errorf("%+v", r)
			}
			if r := c.call("mcp__good__add", map[string]any{"a": n, "b": 3 - n}); r.IsError || r.text() != "3" {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("GATE-1 a large answer is cut, and the whole is a resource", func(t *testing.T) {
		d := newDrill(t, d.cache)
		d.configure(map[string]drillEntry{"bad": {}})
		c := d.connect("--mode", "native", allStarted)
		r := c.call("mcp__bad__huge", map[string]any{"mib": 3})
		if r.IsError || len(r.text()) > 64<<10 || len(r.StructuredContent) > 64<<10 {
			t.Errorf("%d bytes of text, %d of structured content", len(r.text()), len(r.StructuredContent))
		}
		var whole struct{ Contents []struct{ Text string } }
		link := r.Content[len(r.Content)-1]
		if err := json.Unmarshal(c.request("resources/read", map[string]any{"uri": link.URI}), &whole); err != nil || len(whole.Contents) != 1 {
			t.Fatalf("%+v: %v", link, err)
		}
		if n := len(whole.Contents[0].Text); n != 3*mib {
			t.Errorf("the resource has %d bytes", n)
		}
	})
}

// TestDrillsClient has clients that go while a program runs.
func TestDrillsClient(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	tsc := nativeCompiler(t)
	stubborn := map[string]drillEntry{"bad": {modes: []string{"grandchild"}}, "stubborn": {modes: []string{"ignore-eof", "ignore-term"}}}
	running := func(t *testing.T, servers map[string]drillEntry) (*drill, *drillClient, <-chan drillReply, int) {
		t.Helper()
		d := newDrill(t, cache)
		d.configure(servers)
		var flags []string
		if tsc != "" { // a process more that could be left
			flags = []string{"--tsc", tsc}
		}
		c := d.launch(append(flags, allStarted)...)
		c.handshake()
		id, answer := c.begin("tools/call", programCall(fmt.Sprintf("await tools.mcp__bad__deaf({ note: %q })", d.path("called"))))
		d.eventually("the call is at the server", func() bool { return d.exists("called") })
		return d, c, answer, id
	}
	t.Run("GATE-5 the end of its input in mid-run ends the gateway and all servers, stubborn ones too", func(t *testing.T) {
		_, c, _, _ := running(t, stubborn)
		c.leave()
	})
	t.Run("GATE-5 the interrupt in mid-run", func(t *testing.T) {
		_, c, _, _ := running(t, stubborn)
		_ = c.cmd.Process.Signal(os.Interrupt)
		c.over()
		if status := c.cmd.ProcessState.ExitCode(); status != statusInterrupted && status != 0 {
			t.Errorf("status %d", status)
		}
	})
	t.Run("GATE-5 a client that reads no more ends the gateway when it is to be answered", func(t *testing.T) {
		_, c, _, _ := running(t, map[string]drillEntry{"bad": {modes: []string{"ignore-eof"}}})
		_ = c.out.Close()
		c.begin("tools/list", map[string]any{})
		c.over()
	})
	t.Run("MCP-72 the gateway is killed in mid-run: servers go that ignore the end of their input", func(t *testing.T) {
		_, c, _, _ := running(t, map[string]drillEntry{"bad": {modes: []string{"ignore-eof"}}})
		_ = c.cmd.Process.Signal(syscall.SIGKILL)
		c.over()
	})
	t.Run("GATE-5 a cancelled request ends the run; the server that ignores it harms nobody", func(t *testing.T) {
		_, c, answer, id := running(t, map[string]drillEntry{"bad": {}})
		c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id, "reason": "enough"}})
		if got := c.run(askBoth + `return [await good(), await add()]`); got != `["3","5"]` {
			t.Errorf("got %s", got)
		}
		select {
		case r := <-answer:
			if r.Error == nil && !c.result(r.Result).IsError {
				t.Errorf("the cancelled run succeeded: %s", r.Result)
			}
		default: // nothing is owed to who has cancelled
		}
		c.leave()
	})
}

// TestDrillsLeaks has a server that crashes again and again, and runs that are cancelled, and looks at what the gateway then holds.
func TestDrillsLeaks(t *testing.T) {
	d := newDrill(t, t.TempDir())
	d.configure(map[string]drillEntry{"bad": {more: map[string]any{"reconnect": map[string]any{"initialDelayMs": 1, "maxDelayMs": 1}}}})
	c := d.connect(allStarted)
	round := func() {
		got := c.run(askBoth + `
const crashed = await text(tools.mcp__bad__crash({}))
return [crashed.slice(0, 13), await again(), await good()]`)
		if got != `["ToolCallError","5","3"]` {
			t.Fatalf("got %s\n%s", got, &c.stderr)
		}
	}
	round()
	before := d.held(c)
	for range 15 {
		round()
	}
	t.Run("MCP-60 crashes leave no files and no threads", func(t *testing.T) {
		var after holding
		d.eventually("as many files and threads as before", func() bool {
			after = d.held(c)
			return after.files <= before.files && after.threads <= before.threads+8
		})
		t.Logf("before %+v, after %+v", before, after)
	})
}

// holding is what a process has of the system.
type holding struct{ files, threads int }

func (d *drill) held(c *drillClient) holding {
	d.t.Helper()
	folder := fmt.Sprintf("/proc/%d/", c.cmd.Process.Pid)
	files, err := os.ReadDir(folder + "fd")
	if err != nil {
		d.t.Fatal(err)
	}
	status, err := os.ReadFile(folder + "status")
	if err != nil {
		d.t.Fatal(err)
	}
	h := holding{files: len(files)}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "Threads:"); ok {
			h.threads, _ = strconv.Atoi(strings.TrimSpace(rest))
		}
	}
	return h
}
