//go:build unix

package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/policy"
)

// The sharpest question about each rule that the other files do not ask.

func TestConfiguredFields(t *testing.T) {
	t.Run("MCP-1 args as they are, cwd, env", func(t *testing.T) {
		r := newRig(t)
		dir := t.TempDir()
		r.config.Args, r.config.Cwd = []string{"-a b", "$HOME", "", "*", `"q"`}, dir
		r.config.Env["PLAIN"] = "x=y z"
		r.connect()
		said := r.call("mcp__srv__environment", `{}`).Text()
		real, _ := filepath.EvalSymlinks(dir)
		for _, want := range []string{"\ncwd=" + real + "\n", "\nargs=[\"-a b\",\"$HOME\",\"\",\"*\",\"\\\"q\\\"\"]", "\nPLAIN=x=y z\n"} {
			if !strings.Contains("\n"+said, want) {
				t.Errorf("no %q in %s", want, said)
			}
		}
	})
}

func TestToolsOfServers(t *testing.T) {
	inBubble(t, "TOOLMCP-1 registered once for each connection, and every call passes the pipeline", func(b *bench) {
		b.script.lists = []string{page("a", "wait")}
		b.config.ToolCallTimeout = time.Second
		changes := 0
		b.reg.OnChange(func() { changes++ })
		b.connect()
		b.wantNames("a wait")
		if changes != 1 {
			b.Errorf("%d changes of the registry", changes)
		}
		var seen []string
		defer b.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			seen = append(seen, "pre "+x.Name())
			return next()
		})()
		defer b.reg.OnResult(func(x registry.Execution, _ registry.Result) { seen = append(seen, "result "+x.Name()) })()
		wantText(b.T, b.call("a"), "a")
		if got := strings.Join(seen, ", "); got != "pre mcp__srv__a, result mcp__srv__a" {
			b.Errorf("stages %s", got)
		}
		lift := b.reg.Guard(func(registry.Execution) (string, bool) { return "not now", true })
		wantFailure(b.T, b.call("a"), "not now")
		lift()
		lift = policy.Timeout(b.reg)
		if f := b.call("wait").Failure(); f == nil || f.Info == nil || f.Info.Code != registry.CodeTimeout {
			b.Errorf("timeout: %+v", f)
		}
		lift()
		ctx, cancel := context.WithCancel(b.Context())
		time.AfterFunc(time.Millisecond, cancel)
		r := b.reg.Execute(ctx, registry.Call{ID: "1", Name: "mcp__srv__wait", Arguments: json.RawMessage(`{}`)})
		if f := r.Failure(); f == nil || f.Info == nil || f.Info.Code != registry.CodeAborted {
			b.Errorf("cancellation: %+v", f)
		}
		if d, _ := b.reg.Get("mcp__srv__a", nil); d.PresentCall != nil || d.PresentResult != nil {
			b.Error("it has a card of its own")
		}
	})
	t.Run("TOOLMCP-2 names of at most 64 characters, a function of server and raw name", func(t *testing.T) {
		for raw, want := range map[string]string{"plain": "mcp__srv__plain", "admin.reset": "mcp__srv__admin_reset_3b185f786768", strings.Repeat("a", 80): "mcp__srv__" + strings.Repeat("a", 41) + "_3b75b5cc78d8"} {
			if got := PublicName("srv", raw); got != want || len(got) > 64 {
				t.Errorf("%s is called %s", raw, got)
			}
		}
		for name, legal := range map[string]bool{"A-z_0": true, "": false, "a.b": false, strings.Repeat("x", 33): false, "é": false} {
			if err := (ServerConfig{Name: name, Transport: Stdio, Command: "x"}).Validate(); (err == nil) != legal {
				t.Errorf("the server name %q: %v", name, err)
			}
		}
	})
	for _, c := range []struct{ name, schema, answer, value, failure string }{
		{"MCP-26 without a schema anything passes", "", `{"content":[],"structuredContent":[1]}`, `{"content":[],"structuredContent":[1]}`, ""},
		{"MCP-27 a schema that is satisfied", `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`, `{"content":[],"structuredContent":{"n":1}}`, `{"content":[],"structuredContent":{"n":1}}`, ""},
		{"MCP-27 a missing member", `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`, `{"content":[],"structuredContent":{}}`, "", "value.structuredContent"},
		{"MCP-27 a wrong member", `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`, `{"content":[],"structuredContent":{"n":"1"}}`, "", "value.structuredContent.n"},
		{"MCP-27 no structured content at all", `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`, `{"content":[]}`, "", "structuredContent"},
		{"MCP-27 a schema that is not enforced", `{"type":"object","patternProperties":{"^n":{"type":"number"}}}`, `{"content":[],"structuredContent":{"n":"1"}}`, `{"content":[],"structuredContent":{"n":"1"}}`, ""},
		{"MCP-27 a schema that is not enforced, and nothing", `{"type":"object","patternProperties":{"^n":{}}}`, `{"content":[]}`, `{"content":[]}`, ""},
		{"MCP-28 an error has no value, whatever the schema", `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`, `{"isError":true,"content":[{"type":"text","text":"no"}]}`, "", "no"},
	} {
		inBubble(t, "TOOLMCP-3 "+c.name, func(b *bench) {
			output := ""
			if c.schema != "" {
				output = `,"outputSchema":` + c.schema
			}
			b.script.lists = []string{`{"tools":[{"name":"a","inputSchema":{"type":"object"}` + output + `}]}`}
			b.script.answers = map[string]string{"a": c.answer}
			b.connect()
			r := b.call("a")
			if c.failure == "" {
				if r.IsError() || r.Value().String() != c.value {
					b.Errorf("%s", r.JSON())
				}
				return
			}
			wantFailure(b.T, r, c.failure)
			if coded := r.Failure().Info != nil && r.Failure().Info.Code == registry.CodeInvalidOutput; coded != strings.Contains(c.failure, "structuredContent") {
				b.Errorf("failure %+v", r.Failure())
			}
		})
	}
}

func TestOddLines(t *testing.T) {
	r := newRig(t, "oddities")
	b := r.connect()
	const answer = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"mine"}]}}`
	lines := func(lines ...string) string { return `{"lines":` + mustJSON(lines) + `}` }
	for _, c := range []struct {
		name  string
		lines []string
	}{
		{"MCP-67 an answer that comes twice", []string{answer, strings.Replace(answer, "mine", "second", 1)}},
		{"MCP-67 answers to nobody before it", []string{`{"jsonrpc":"2.0","id":999999,"result":{}}`, `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}`, `{"jsonrpc":"2.0","id":null,"result":{}}`, answer}},
		{"MCP-71 white space and carriage returns", []string{"", " \t", " \t" + answer + " \r"}},
		{"MCP-71 members out of order and unknown ones", []string{`{"result":{"content":[{"text":"mine","type":"text"}],"x":1},"zzz":[],"id":ID,"jsonrpc":"2.0"}`}},
		{"MCP-75 a batch", []string{`[{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}},` + answer + `]`}},
		{"MCP-19 notices that nobody asked for", []string{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}`, `{"jsonrpc":"2.0","method":"notifications/made/up"}`, answer}},
		{"MCP-19 requests with odd ids", []string{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":ID,"method":"ping"}`, answer}},
		{"MCP-71 no message at all before it", []string{"Warning: deprecated", "\x1b[31mred\x1b[0m", "[]", "{}", `{"jsonrpc":"2.0"}`, "\ufeff", answer}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantText(t, r.call("mcp__srv__raw", lines(c.lines...)), "mine")
			wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		})
	}
	for _, c := range []struct{ name, line, want string }{
		{"MCP-30 an error that is none", `{"jsonrpc":"2.0","id":ID,"error":"broken"}`, "the server reported an error without a message"},
		{"MCP-30 an error with everything", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"two\nlines","data":{"x":1}}}`, `MCP server "srv": two` + "\nlines (error -32000)"},
		{"MCP-30 neither result nor error", `{"jsonrpc":"2.0","id":ID}`, "neither a result nor an error"},
		{"MCP-75 far too deep", `{"jsonrpc":"2.0","id":ID,"result":` + strings.Repeat(`{"a":`, 12_000) + "1" + strings.Repeat("}", 12_000) + "}", "nests deeper than 10000 levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantFailure(t, r.call("mcp__srv__raw", lines(c.line)), c.want)
			wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		})
	}
	t.Run("MCP-30 MCP-71 bytes that are no text make the value invalid, and nothing else", func(t *testing.T) {
		res := r.call("mcp__srv__bytes", `{}`)
		if f := res.Failure(); f == nil || f.Info == nil || f.Info.Code != registry.CodeInvalidOutput {
			t.Errorf("%s", res.JSON())
		}
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
	})
	t.Run("MCP-71 a line of some megabytes", func(t *testing.T) {
		if n := len(r.call("mcp__srv__big", `{}`).Text()); n != 8<<20 {
			t.Errorf("%d bytes", n)
		}
	})
	t.Run("MCP-63 an answer that comes after the cancellation is dropped", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		before := strings.Count(r.recorded(), `"name":"slow"`)
		done := make(chan registry.Result, 1)
		go func() { done <- r.callIn(ctx, "mcp__srv__slow", `{}`) }()
		eventually(t, "the call at the server", func() bool { return strings.Count(r.recorded(), `"name":"slow"`) > before })
		cancel()
		<-done
		wantText(t, r.call("mcp__srv__slow", `{}`), "late") // by then the first answer has come
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
	})
	if log := r.log.String(); !b.Connected() || strings.Contains(log, "level=ERROR") || strings.Contains(log, "reconnecting") {
		t.Errorf("MCP-71 the connection was lost: %s", log)
	}
	t.Run("MCP-66 progress does not extend the budget", func(t *testing.T) {
		r.config.Name = "short"
		r.config.ToolCallTimeout = 300 * time.Millisecond
		short := r.connect()
		wantFailure(t, r.call("mcp__short__progress", `{}`), `MCP server "short" did not answer within 300 ms`)
		_ = short.Close(t.Context())
	})
}

func TestReplacedGenerations(t *testing.T) {
	inBubble(t, "MCP-55 a close of a replaced generation is ignored", func(b *bench) {
		b.connect()
		old := b.script.last()
		old.close()
		time.Sleep(time.Second)
		before := b.script.tried()
		old.close()
		time.Sleep(time.Hour)
		b.wantNames("a")
		if b.script.tried() != before {
			b.Errorf("%d attempts", b.script.tried())
		}
	})
	inBubble(t, "MCP-56 tools that a conflict took away do not come back with the outage", func(b *bench) {
		b.script.lists = []string{page("a", "squat")}
		defer squat(b.T, b.reg, "mcp__srv__squat")()
		b.config.Reconnect = Reconnect{InitialDelay: time.Second, MaxDelay: time.Second, MaxAttempts: 2}
		b.connect()
		b.wantNames("squat")
		time.Sleep(time.Minute)
		b.wantNames("squat")
		if !strings.Contains(b.log.String(), "giving up") || b.script.tried() != 3 {
			b.Errorf("MCP-57 a conflict is a failed attempt: %d attempts", b.script.tried())
		}
	})
	inBubble(t, "MCP-52 a notice during the outage costs nothing, one after it is heard", func(b *bench) {
		b.connect()
		b.script.set(func() { b.script.lists = []string{page("a"), page("b")} })
		b.script.last().close()
		time.Sleep(time.Second)
		b.wantNames("a")
		b.script.last().notices <- struct{}{}
		time.Sleep(time.Second)
		b.wantNames("b")
	})
	inBubble(t, "MCP-58 nothing happens any more after giving up", func(b *bench) {
		b.config.Reconnect = Reconnect{InitialDelay: time.Second, MaxDelay: time.Second, MaxAttempts: 1}
		b.script.refuse = func(n int) error {
			if n == 2 {
				return errRefused
			}
			return nil
		}
		bridge := b.connect()
		b.script.last().close()
		time.Sleep(time.Hour)
		b.wantNames("")
		if bridge.Connected() || b.script.tried() != 2 {
			b.Errorf("%d attempts", b.script.tried())
		}
		if r := b.call("a"); r.Failure() == nil || r.Failure().Info == nil || r.Failure().Info.Code != registry.CodeUnknownTool {
			b.Errorf("%s", r.Text())
		}
	})
	inBubble(t, "MCP-3 MCP-68 a set that is closed takes no more servers, and closes one that is starting", func(b *bench) {
		b.script.slowDial = time.Minute
		started := make(chan error, 1)
		go func() {
			_, err := b.set.connect(b.Context(), b.config, Options{Logger: b.log.logger()}, b.script.dial)
			started <- err
		}()
		time.Sleep(time.Second)
		if err := b.set.Close(b.Context()); err != nil {
			b.Error(err)
		}
		if err := <-started; err == nil || !strings.Contains(err.Error(), "has been closed") {
			b.Errorf("error %v", err)
		}
		b.wantNames("")
		if _, err := b.set.connect(b.Context(), b.config, Options{}, b.script.dial); err == nil || !strings.Contains(err.Error(), "has been closed") {
			b.Errorf("error %v", err)
		}
	})
}

func TestHTTPOddities(t *testing.T) {
	hello := `{"answer":{"content":[{"type":"text","text":"hello"}]}}`
	onCall := func(s *webServer, f func(w http.ResponseWriter, r *http.Request, m message)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answer = func(w http.ResponseWriter, r *http.Request, m message) bool {
			if m.Method == "tools/call" {
				f(w, r, m)
			}
			return m.Method == "tools/call"
		}
	}
	result := func(m message, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, m.ID, text)
	}
	stream := func(w http.ResponseWriter, events ...string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = io.WriteString(w, "data: "+e+"\n\n")
			w.(http.Flusher).Flush()
		}
	}
	for _, c := range []struct {
		name, want string // want: part of the failure, "" for success
		answer     func(w http.ResponseWriter, r *http.Request, m message)
	}{
		{"a page instead of an answer", `MCP server "srv": `, func(w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>welcome</html>")
		}},
		{"nothing", `MCP server "srv"`, func(http.ResponseWriter, *http.Request, message) {}},
		{"half an answer", `MCP server "srv"`, func(w http.ResponseWriter, _ *http.Request, m message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, result(m, "hello")[:30])
		}},
		{"a connection that breaks", `MCP server "srv"`, func(w http.ResponseWriter, _ *http.Request, _ message) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}},
		{"notices and progress before the answer", "", func(w http.ResponseWriter, _ *http.Request, m message) {
			stream(w, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`, result(m, "hello"))
		}},
		{"an answer to somebody else before it", "", func(w http.ResponseWriter, _ *http.Request, m message) {
			stream(w, `{"jsonrpc":"2.0","id":424242,"result":{}}`, result(m, "hello"))
		}},
		{"a stream that ends before the answer", `MCP server "srv"`, func(w http.ResponseWriter, _ *http.Request, _ message) {
			stream(w, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
		}},
		{"an event that is no message", `MCP server "srv"`, func(w http.ResponseWriter, _ *http.Request, _ message) { stream(w, "hello") }},
		{"a redirect to another origin", "redirects to another origin", func(w http.ResponseWriter, r *http.Request, _ message) {
			http.Redirect(w, r, "http://localhost:1/x", http.StatusTemporaryRedirect)
		}},
		{"an answer beyond the limit", "larger than 64 MiB", func(w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.Repeat(" ", maxLine+1))
		}},
		{"an event beyond the limit", `MCP server "srv"`, func(w http.ResponseWriter, _ *http.Request, _ message) {
			stream(w, strings.Repeat("x", maxLine+1))
		}},
		{"a refusal that is endless", "HTTP 500 Internal Server Error: no no", func(w http.ResponseWriter, r *http.Request, _ message) {
			w.WriteHeader(http.StatusInternalServerError)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("no ", 1000)); err != nil {
					return
				}
			}
		}},
	} {
		t.Run("MCP-55 MCP-73 "+c.name, func(t *testing.T) {
			s := newWebServer(t)
			r, b := webRig(t, s, func(c *ServerConfig) { c.Reconnect.InitialDelay = time.Millisecond })
			onCall(s, c.answer)
			res := r.call("mcp__srv__echo", hello)
			if c.want == "" {
				wantText(t, res, "hello")
			} else {
				wantFailure(t, res, c.want)
				if strings.Contains(res.Text(), "did not answer within") {
					t.Errorf("it was noticed by the budget alone: %s", res.Text())
				}
			}
			s.mu.Lock()
			s.answer = nil
			s.mu.Unlock()
			eventually(t, "the next call", func() bool { return b.Connected() && r.call("mcp__srv__echo", hello).Text() == "hello" })
			if strings.Contains(r.log.String()+res.Text(), "s3cret") {
				t.Errorf("MCP-5 %s %s", res.Text(), r.log)
			}
		})
	}
	t.Run("MCP-67 a slow call does not hold up another", func(t *testing.T) {
		s := newWebServer(t)
		r, _ := webRig(t, s, nil)
		release, waiting := make(chan struct{}), make(chan struct{})
		var once sync.Once
		onCall(s, func(w http.ResponseWriter, _ *http.Request, m message) {
			first := false
			once.Do(func() { first = true })
			if first {
				close(waiting)
				<-release
			}
			s.reply(w, result(m, map[bool]string{true: "slow", false: "fast"}[first]))
		})
		slow := make(chan registry.Result, 1)
		go func() { slow <- r.call("mcp__srv__echo", hello) }()
		<-waiting
		wantText(t, r.call("mcp__srv__echo", hello), "fast")
		close(release)
		wantText(t, <-slow, "slow")
	})
	t.Run("MCP-66 progress does not extend the budget", func(t *testing.T) {
		s := newWebServer(t)
		r, b := webRig(t, s, func(c *ServerConfig) { c.ToolCallTimeout = 200 * time.Millisecond })
		onCall(s, func(w http.ResponseWriter, r *http.Request, _ message) {
			for r.Context().Err() == nil {
				stream(w, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
				time.Sleep(5 * time.Millisecond)
			}
		})
		wantFailure(t, r.call("mcp__srv__echo", hello), `MCP server "srv" did not answer within 200 ms`)
		if !b.Connected() {
			t.Error("the connection is lost")
		}
	})
	t.Run("MCP-19 requests of the server are refused, ping is answered", func(t *testing.T) {
		s := newWebServer(t)
		r, _ := webRig(t, s, nil)
		onCall(s, func(w http.ResponseWriter, _ *http.Request, m message) {
			var asked []string
			for i, method := range []string{"ping", "roots/list", "sampling/createMessage", "elicitation/create", "made/up"} {
				asked = append(asked, fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","method":%q,"params":{}}`, i, method))
			}
			stream(w, append(asked, result(m, "hello"))...)
		})
		wantText(t, r.call("mcp__srv__echo", hello), "hello")
		eventually(t, "five answers", func() bool { return strings.Count(s.log(), `"id":"s`) == 5 })
		for line := range strings.Lines(s.log()) {
			var m message
			_ = json.Unmarshal([]byte(strings.TrimPrefix(line, "POST ")), &m)
			switch id := string(m.ID); {
			case id == `"s0"` && string(m.Result) != "{}":
				t.Errorf("ping was answered by %s", line)
			case strings.HasPrefix(id, `"s`) && id != `"s0"` && !strings.Contains(string(m.Error), "-32601"):
				t.Errorf("answered by %s", line)
			}
		}
	})
	t.Run("MCP-52 a burst of notices over the event stream", func(t *testing.T) {
		s := newWebServer(t)
		s.session = "s"
		burst := make(chan struct{})
		s.answer = func(w http.ResponseWriter, r *http.Request, _ message) bool {
			if r.Method != http.MethodGet {
				return false
			}
			stream(w)
			w.(http.Flusher).Flush()
			select {
			case <-burst:
			case <-r.Context().Done():
				return true
			}
			for range 500 {
				stream(w, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
			<-r.Context().Done()
			return true
		}
		r, b := webRig(t, s, nil)
		before := strings.Count(s.log(), "tools/list")
		close(burst)
		eventually(t, "a new list", func() bool { return strings.Count(s.log(), "tools/list") > before })
		wantText(t, r.call("mcp__srv__echo", hello), "hello")
		if n := strings.Count(s.log(), "tools/list") - before; n > 250 || !b.Connected() {
			t.Errorf("500 notices were merged into %d requests", n)
		}
	})
	t.Run("MCP-77 no header of the configuration reaches another origin, whatever the request", func(t *testing.T) {
		var mu sync.Mutex
		var reached []string
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			reached = append(reached, r.Method+" "+r.Header.Get("X-Own")+r.Header.Get("Authorization"))
		}))
		defer other.Close()
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			s := newWebServer(t)
			s.session = "s"
			s.answer = func(w http.ResponseWriter, r *http.Request, _ message) bool {
				if r.Method == method {
					http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
				}
				return r.Method == method
			}
			r, b := webRig(t, s, nil)
			wantText(t, r.call("mcp__srv__echo", hello), "hello")
			eventually(t, "the stream's request", func() bool { return strings.Contains(s.log(), http.MethodGet) })
			_ = b.Close(t.Context())
		}
		mu.Lock()
		defer mu.Unlock()
		if len(reached) != 0 {
			t.Errorf("reached by %v", reached)
		}
	})
}

func TestLargeLists(t *testing.T) {
	for name, list := range map[string][]string{
		"more than 10,000 tools": func() (pages []string) {
			var names []string
			for i := range 5001 {
				names = append(names, fmt.Sprintf("t%d", i))
			}
			first := strings.TrimSuffix(page(names...), "}") + `,"nextCursor":"2"}`
			for i := range names {
				names[i] = "u" + names[i]
			}
			return []string{first, page(names...)}
		}(),
		"a tool without a schema": {`{"tools":[{"name":"a"}]}`}, "a tool whose schema is true": {`{"tools":[{"name":"a","inputSchema":true}]}`}, "a tool without a name": {`{"tools":[{"inputSchema":{}}]}`},
	} {
		inBubble(t, "MCP-16 "+name, func(b *bench) {
			b.config.FailOnStartupError = true
			b.script.lists = list
			if _, err := b.set.connect(b.Context(), b.config, Options{Logger: b.log.logger()}, b.script.dial); err == nil {
				b.Error("it was taken")
			}
			b.wantNames("")
		})
	}
	inBubble(t, "MCP-54 ten thousand tools are swapped at once", func(b *bench) {
		var names []string
		for i := range 10_000 {
			names = append(names, fmt.Sprintf("t%d", i))
		}
		b.script.lists = []string{page(names...)}
		b.connect()
		if n := len(b.reg.Visible(nil)); n != 10_000 {
			b.Errorf("%d tools", n)
		}
	})
}

func TestUnusualFiles(t *testing.T) {
	t.Run("MCP-14 what is no program", func(t *testing.T) {
		dir := t.TempDir()
		plain := filepath.Join(dir, "plain")
		if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{dir, plain, filepath.Join(dir, "none"), "./none"} {
			reg, _ := registry.New(registry.Options{})
			_, err := Connect(t.Context(), reg, ServerConfig{Name: "srv", Transport: Stdio, Command: command, FailOnStartupError: true}, Options{})
			if err == nil || !strings.HasPrefix(err.Error(), `MCP server "srv": start-up failed: `) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", command, err)
			}
		}
	})
}
