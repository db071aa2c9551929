package gateway

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// withToken is a call of run_code that asks for progress.
func withToken(id, token, program string) string {
	return strings.Replace(runLine(id, program), `"params":{`, `"params":{"_meta":{"progressToken":`+token+`},`, 1)
}

func TestProgress(t *testing.T) {
	t.Run("GATE-5 progress while a program runs, growing, and none after the answer", func(t *testing.T) {
		w := newWaiting()
		release := make(chan struct{})
		hold := tool("hold", func(ctx context.Context, _ jsonval.Value) (any, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return nil, ctx.Err()
		})
		h := open(t, houseOptions{tools: []registry.Definition{echo("echo"), hold, blocker(w)}, times: times{progress: 5 * time.Millisecond, alive: 20 * time.Millisecond}})
		c := h.greeted()
		c.send(withToken("2", `"tok"`, `await tools.echo({}); await tools.echo({}); await tools.hold({}); return "done"`))
		last := -1.0
		seen := map[string]bool{}
		for range 5 {
			line := c.expect(`"method":"notifications/progress"`, `"progressToken":"tok"`)
			p := gjson.Get(line, "params.progress").Num
			if p <= last || gjson.Get(line, "params.total").Exists() {
				t.Errorf("progress %v after %v", p, last)
			}
			last = p
			seen[gjson.Get(line, "params.message").Str] = true
		}
		if !seen["0 s, 2 calls done, 1 running: hold"] {
			t.Errorf("messages %v", seen)
		}
		close(release)
		for answered := false; !answered; {
			line := c.next()
			answered = gjson.Get(line, "id").Int() == 2
		}
		time.Sleep(60 * time.Millisecond) // more would have come by now
		c.alive()
	})
	t.Run("GATE-5 a number is a token, and a client that asks for nothing is told nothing", func(t *testing.T) {
		h := open(t, houseOptions{times: times{progress: time.Millisecond, alive: time.Millisecond}})
		c := h.greeted()
		c.send(withToken("2", `0`, `await new Promise(r => setTimeout(r, 300))`))
		c.expect(`"progressToken":0`)
		for gjson.Get(c.next(), "id").Int() != 2 {
		}
		c.send(runLine("3", `await new Promise(r => setTimeout(r, 100))`))
		c.expect(`"id":3`)
	})
	t.Run("GATE-5 what is no token asks for nothing", func(t *testing.T) {
		h := open(t, houseOptions{times: times{progress: time.Millisecond, alive: time.Millisecond}})
		c := h.greeted()
		for _, token := range []string{`null`, `{"a":1}`, `[1]`, `true`, `"` + strings.Repeat("x", maxToken+1) + `"`} {
			c.send(withToken("2", token, `return 1`))
			c.expect(`"id":2`)
		}
	})
	t.Run("GATE-5 reports are bounded in number", func(t *testing.T) {
		h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}, times: times{progress: 100 * time.Millisecond, alive: time.Hour}})
		c := h.greeted()
		began := time.Now()
		c.send(withToken("2", `1`, `for (let i = 0; i < 3000; i++) await tools.echo({})`))
		reports := 0
		for gjson.Get(c.next(), "id").Int() != 2 {
			reports++
		}
		if most := int(time.Since(began)/(100*time.Millisecond)) + 1; reports > most {
			t.Errorf("%d reports of 3000 calls, at most %d expected", reports, most)
		}
	})
	t.Run("GATE-5 a hostile name does not get out of its place", func(t *testing.T) {
		var tl tally
		tl.running, tl.last, tl.version = 1, "x\nall done\u202e", 1
		if _, got := tl.state(); got != `0 calls done, 1 running: "x\nall done\u202e"` {
			t.Errorf("%q", got)
		}
	})
	revisions(t, func(t *testing.T, protocol string) {
		t.Run("GATE-5 a client of the library is told, too", func(t *testing.T) {
			told := make(chan string, 1000)
			h := open(t, houseOptions{times: times{progress: time.Millisecond, alive: time.Millisecond}})
			s := h.connect(&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				told <- r.Params.Message
			}}, protocol)
			p := &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": `await new Promise(r => setTimeout(r, 200))`, "description": "d"}}
			p.SetProgressToken("t")
			if _, err := s.CallTool(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if got := next(t, told, "a report"); got != "0 s" {
				t.Errorf("%q", got)
			}
		})
	})
}

func TestWall(t *testing.T) {
	const slow = `console.log("begun"); await new Promise(r => setTimeout(r, 600)); return "done"`
	h := open(t, houseOptions{gateway: Options{Wall: 200 * time.Millisecond}})
	revisions(t, func(t *testing.T, protocol string) {
		s := h.connect(nil, protocol)
		t.Run("GATE-1 a client that asked for no progress is answered in time", func(t *testing.T) {
			r := run(t, s, slow)
			if !r.IsError || !strings.Contains(text(r), "wall-clock limit reached: 200 ms") || !strings.Contains(text(r), "begun") {
				t.Errorf("%s", text(r))
			}
		})
		t.Run("GATE-1 one that did has the engine's time", func(t *testing.T) {
			p := &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": slow, "description": "d"}}
			p.SetProgressToken("t")
			if r, err := s.CallTool(t.Context(), p); err != nil || r.IsError {
				t.Errorf("%v %s", err, text(r))
			}
		})
	})
	t.Run("GATE-1 a tool called directly is no run", func(t *testing.T) {
		slow := tool("slow", func(ctx context.Context, _ jsonval.Value) (any, error) {
			select {
			case <-time.After(600 * time.Millisecond):
				return "done", nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		})
		h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{slow}, gateway: Options{Wall: 200 * time.Millisecond}})
		for _, protocol := range []string{older, newest} {
			if r := callTool(t, h.connect(nil, protocol), "slow", nil); text(r) != "done" {
				t.Errorf("%s: %s", protocol, text(r))
			}
		}
	})
	t.Run("GATE-1 the budget is 55 s unless it is set", func(t *testing.T) {
		if got := open(t, houseOptions{}).wall(); got != 55*time.Second {
			t.Errorf("%v", got)
		}
		h := open(t, houseOptions{gateway: Options{Wall: -1}})
		if got := h.wall(); got != 0 {
			t.Errorf("%v", got)
		}
		for _, protocol := range []string{older, newest} {
			if r := run(t, h.connect(nil, protocol), slow); r.IsError {
				t.Errorf("%s", text(r))
			}
		}
	})
	t.Run("GATE-1 a run that no client asked for has no budget of the gateway's", func(t *testing.T) {
		if o := PerRun(t.Context(), registry.Execution{}); o.Wall != 0 || o.OnEvent != nil {
			t.Errorf("%+v", o)
		}
	})
}
