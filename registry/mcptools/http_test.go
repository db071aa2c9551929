//go:build unix

package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// webServer is a scripted server behind HTTP.
type webServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // method, body
	headers  []http.Header
	answer   func(w http.ResponseWriter, r *http.Request, m message) bool // true: it has answered
	sse      bool
	session  string
}

func newWebServer(t *testing.T) *webServer {
	t.Helper()
	s := &webServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Server.Close)
	return s
}

func (s *webServer) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+string(body))
	s.headers = append(s.headers, r.Header.Clone())
	answer := s.answer
	s.mu.Unlock()
	var m message
	_ = json.Unmarshal(body, &m)
	if answer != nil && answer(w, r, m) {
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var result string
	switch m.Method {
	case "initialize":
		if s.session != "" {
			w.Header().Set("Mcp-Session-Id", s.session)
		}
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"w","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"echo","inputSchema":` + oddSchema + `}]}`
	case "tools/call":
		var params struct {
			Arguments struct{ Answer json.RawMessage }
		}
		_ = json.Unmarshal(m.Params, &params)
		result = string(params.Arguments.Answer)
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.reply(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
}

func (s *webServer) reply(w http.ResponseWriter, text string) {
	if !s.sse {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, text)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, ": a comment\r\nid: 1\r\nevent: message\r\ndata: %s\r\n\r\n", text)
}

func (s *webServer) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.requests, "\n")
}

// webRig is a bridge to a webServer.
func webRig(t *testing.T, s *webServer, change func(*ServerConfig)) (*rig, *Bridge) {
	t.Helper()
	r := &rig{t: t, log: &journal{}, dir: t.TempDir()}
	reg, err := registry.New(registry.Options{Logger: r.log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	r.reg, r.servers = reg, NewServers(reg)
	r.config = ServerConfig{Name: "srv", Transport: StreamableHTTP, URL: s.URL + "/mcp?key=url-s3cret", FailOnStartupError: true, Headers: map[string]string{"Authorization": "Bearer head-s3cret", "X-Own": "1"}}
	r.options = Options{Logger: r.log.logger(), RequestTimeout: 5 * time.Second}
	if change != nil {
		change(&r.config)
	}
	before := goruntime.NumGoroutine()
	t.Cleanup(func() { r.finish(before + 2) }) // the server keeps a goroutine for each idle connection until it closes
	b, err := r.servers.Connect(t.Context(), r.config, r.options)
	if err != nil {
		t.Fatal(err)
	}
	return r, b
}

func TestHTTP(t *testing.T) {
	for _, sse := range []bool{false, true} {
		for _, session := range []string{"", "sess-1"} {
			t.Run(fmt.Sprintf("MCP-73 events %v session %q", sse, session), func(t *testing.T) {
				s := newWebServer(t)
				s.sse, s.session = sse, session
				r, b := webRig(t, s, nil)
				d, ok := r.reg.Get("mcp__srv__echo", nil)
				if want := strings.Replace(oddSchema, "9223372036854775807", "9223372036854776000", 1); !ok || d.Parameters.String() != want {
					t.Errorf("MCP-21 schema %s", d.Parameters)
				}
				res := r.call("mcp__srv__echo", `{"answer":{"content":[{"type":"new","z":1,"a":[2]}],"structuredContent":`+strings.Repeat("[", 3000)+strings.Repeat("]", 3000)+`}}`)
				if res.IsError() || !strings.HasPrefix(res.Value().String(), `{"content":[{"type":"new","z":1,"a":[2]}],"structuredContent":[[[`) {
					t.Errorf("MCP-75 %.200s", res.Text())
				}
				wantText(t, r.call("mcp__srv__echo", `{"answer":{"content":[{"type":"text","text":"x"}]}}`), "x")
				_ = b.Close(t.Context())
				s.mu.Lock()
				defer s.mu.Unlock()
				for i, h := range s.headers {
					if h.Get("Authorization") != "Bearer head-s3cret" || h.Get("X-Own") != "1" {
						t.Errorf("MCP-73 the request %s has headers %v", s.requests[i], h)
					}
					if h.Get("User-Agent") != "runcode/dev" {
						t.Errorf("MCP-74 the request comes from %q", h.Get("User-Agent"))
					}
					if session != "" && !strings.Contains(s.requests[i], `"initialize"`) && h.Get("Mcp-Session-Id") != session {
						t.Errorf("MCP-73 the session is not repeated in %s", s.requests[i])
					}
				}
				if ended := strings.HasPrefix(s.requests[len(s.requests)-1], http.MethodDelete); ended != (session != "") {
					t.Errorf("MCP-68 the last request is %s", s.requests[len(s.requests)-1])
				}
				if strings.Contains(r.log.String(), "s3cret") {
					t.Errorf("MCP-5 log %s", r.log)
				}
			})
		}
	}
}

func TestHTTPFailures(t *testing.T) {
	start := func(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, m message) bool, parts ...string) {
		t.Helper()
		s := newWebServer(t)
		s.answer = answer
		reg, err := registry.New(registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		log := &journal{}
		_, err = Connect(t.Context(), reg, ServerConfig{Name: "srv", Transport: StreamableHTTP, URL: s.URL + "/mcp?key=url-s3cret", FailOnStartupError: true, Headers: map[string]string{"X-Key": "head-s3cret"}}, Options{Logger: log.logger(), RequestTimeout: 300 * time.Millisecond})
		if err == nil {
			t.Fatal("it started")
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q has no %q", err, part)
			}
		}
		if strings.Contains(err.Error()+log.String(), "s3cret") {
			t.Errorf("MCP-5 error %v, log %s", err, log)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	}
	t.Run("MCP-14 a refusal", func(t *testing.T) {
		start(t, func(w http.ResponseWriter, _ *http.Request, _ message) bool {
			http.Error(w, "no", http.StatusUnauthorized)
			return true
		}, `MCP server "srv": start-up failed: http://127.0.0.1:`, "/mcp: ", "Unauthorized")
	})
	t.Run("MCP-77 a redirect to another origin is not followed", func(t *testing.T) {
		reached := make(chan http.Header, 10)
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached <- r.Header }))
		defer other.Close()
		start(t, func(w http.ResponseWriter, r *http.Request, _ message) bool {
			http.Redirect(w, r, other.URL+"/x?y=s3cret", http.StatusTemporaryRedirect)
			return true
		}, "redirects to another origin", other.URL+"/x")
		select {
		case h := <-reached:
			t.Errorf("it was followed with %v", h)
		default:
		}
	})
	t.Run("MCP-66 no answer", func(t *testing.T) {
		start(t, func(_ http.ResponseWriter, r *http.Request, _ message) bool {
			<-r.Context().Done()
			return true
		}, "did not answer initialize within 300ms")
	})
	t.Run("MCP-14 nobody listens", func(t *testing.T) {
		s := newWebServer(t)
		s.Server.Close()
		reg, _ := registry.New(registry.Options{})
		_, err := Connect(t.Context(), reg, ServerConfig{Name: "srv", Transport: StreamableHTTP, URL: s.URL, FailOnStartupError: true}, Options{})
		if err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("MCP-77 a redirect within the origin is followed", func(t *testing.T) {
		s := newWebServer(t)
		s.answer = func(w http.ResponseWriter, r *http.Request, _ message) bool {
			if r.URL.Path != "/mcp" {
				return false
			}
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return true
		}
		r, _ := webRig(t, s, nil)
		wantText(t, r.call("mcp__srv__echo", `{"answer":{"content":[{"type":"text","text":"x"}]}}`), "x")
	})
	t.Run("MCP-55 a failed request ends nothing", func(t *testing.T) {
		s := newWebServer(t)
		r, b := webRig(t, s, nil)
		for _, status := range []int{400, 401, 403, 500, 503, 429} {
			s.mu.Lock()
			s.answer = func(w http.ResponseWriter, _ *http.Request, _ message) bool {
				http.Error(w, "not\nyou", status)
				return true
			}
			s.mu.Unlock()
			res := r.call("mcp__srv__echo", `{}`)
			if want := fmt.Sprintf("MCP server \"srv\": HTTP %d %s: not you", status, http.StatusText(status)); !res.IsError() || res.Failure().Message != want {
				t.Errorf("%q, want %q", res.Text(), want)
			}
		}
		s.mu.Lock()
		s.answer = nil
		s.mu.Unlock()
		wantText(t, r.call("mcp__srv__echo", `{"answer":{"content":[{"type":"text","text":"x"}]}}`), "x")
		if !b.Connected() {
			t.Error("the connection is lost")
		}
	})
	t.Run("MCP-55 a session that the server has forgotten is begun anew", func(t *testing.T) {
		s := newWebServer(t)
		s.session = "one"
		r, b := webRig(t, s, func(c *ServerConfig) { c.Reconnect.InitialDelay = time.Millisecond })
		s.mu.Lock()
		s.session = "two"
		s.answer = func(w http.ResponseWriter, r *http.Request, _ message) bool {
			if r.Header.Get("Mcp-Session-Id") != "one" {
				return false
			}
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		s.mu.Unlock()
		if res := r.call("mcp__srv__echo", `{}`); !res.IsError() {
			t.Error(res.Text())
		}
		eventually(t, "a new session", func() bool {
			return b.Connected() && !r.call("mcp__srv__echo", `{"answer":{"content":[]}}`).IsError()
		})
	})
	t.Run("MCP-30 a protocol error; one that nests too deep", func(t *testing.T) {
		s := newWebServer(t)
		r, _ := webRig(t, s, nil)
		for _, data := range []string{`1`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000)} {
			s.mu.Lock()
			s.answer = func(w http.ResponseWriter, _ *http.Request, m message) bool {
				s.reply(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"nope","data":%s}}`, m.ID, data))
				return true
			}
			s.mu.Unlock()
			wantFailure(t, r.call("mcp__srv__echo", `{}`), `MCP server "srv"`)
		}
		s.mu.Lock()
		s.answer = nil
		s.mu.Unlock()
		wantText(t, r.call("mcp__srv__echo", `{"answer":{"content":[{"type":"text","text":"x"}]}}`), "x")
	})
	t.Run("MCP-63 cancellation over HTTP", func(t *testing.T) {
		s := newWebServer(t)
		r, _ := webRig(t, s, nil)
		s.mu.Lock()
		s.answer = func(_ http.ResponseWriter, r *http.Request, m message) bool {
			if m.Method == "tools/call" {
				<-r.Context().Done()
				return true
			}
			return false
		}
		s.mu.Unlock()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan registry.Result, 1)
		go func() { done <- r.callIn(ctx, "mcp__srv__echo", `{}`) }()
		eventually(t, "the call", func() bool { return strings.Contains(s.log(), "tools/call") })
		cancel()
		if f := (<-done).Failure(); f == nil || f.Info == nil || f.Info.Code != registry.CodeAborted {
			t.Errorf("%+v", f)
		}
		eventually(t, "the notice", func() bool { return strings.Contains(s.log(), noticeCancelled) })
		s.mu.Lock()
		s.answer = nil
		s.mu.Unlock()
		wantText(t, r.call("mcp__srv__echo", `{"answer":{"content":[{"type":"text","text":"x"}]}}`), "x")
	})
	t.Run("MCP-52 a notice over the event stream", func(t *testing.T) {
		s := newWebServer(t)
		s.session = "s"
		send := make(chan string, 1)
		s.answer = func(w http.ResponseWriter, r *http.Request, _ message) bool {
			if r.Method != http.MethodGet {
				return false
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			for {
				select {
				case text := <-send:
					_, _ = io.WriteString(w, text)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return true
				}
			}
		}
		_, _ = webRig(t, s, nil)
		before := strings.Count(s.log(), "tools/list")
		send <- "data: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/tools/list_changed\"}\n\n"
		eventually(t, "a new list", func() bool { return strings.Count(s.log(), "tools/list") > before })
	})
	t.Run("MCP-69 calls under way fail as not connected at disposal", func(t *testing.T) {
		s := newWebServer(t)
		r, b := webRig(t, s, nil)
		s.mu.Lock()
		s.answer = func(_ http.ResponseWriter, r *http.Request, m message) bool {
			if m.Method == "tools/call" {
				<-r.Context().Done()
				return true
			}
			return false
		}
		s.mu.Unlock()
		done := make(chan registry.Result, 1)
		go func() { done <- r.call("mcp__srv__echo", `{}`) }()
		eventually(t, "the call", func() bool { return strings.Contains(s.log(), "tools/call") })
		start := time.Now()
		_ = b.Close(t.Context())
		if res := <-done; res.Failure() == nil || res.Failure().Message != `MCP server "srv" is not connected` {
			t.Errorf("%s", res.Text())
		}
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
