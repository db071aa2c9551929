package gateway

// This file defines a raw client of the HTTP transport and a gateway with tools that wait, for the tests of http*.go.

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	tokenA = "first-token-of-the-tests"
	tokenB = "second-token-of-the-tests"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// waiting is a tool that runs until it is cancelled.
type waiting struct {
	began chan struct{}
	ended chan error // with the cause
}

func newWaiting() *waiting { return &waiting{make(chan struct{}, 10), make(chan error, 10)} }

func (w *waiting) call(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	w.began <- struct{}{}
	<-ctx.Done()
	w.ended <- context.Cause(ctx)
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "aborted: " + context.Cause(ctx).Error()}}}, nil
}

// httpGateway is a gateway as far as HTTP is concerned: its server has the tools wait and quick.
func httpGateway(w *waiting) *Gateway {
	g := &Gateway{o: Options{Logger: slog.New(slog.DiscardHandler)}}
	g.server = mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	g.server.AddReceivingMiddleware(followHTTP)
	schema := json.RawMessage(`{"type":"object"}`)
	g.server.AddTool(&mcp.Tool{Name: "wait", InputSchema: schema}, w.call)
	g.server.AddTool(&mcp.Tool{Name: "quick", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
	})
	return g
}

func options() HTTPOptions { return HTTPOptions{Tokens: []string{tokenA, tokenB}} }

// serveHTTP serves a handler on a real listener and returns both.
func serveHTTP(t *testing.T, g *Gateway, o HTTPOptions, change func(*httpHandler)) (*httpHandler, string) {
	t.Helper()
	h, err := g.newHTTP(o)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(h)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := h.close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
		server.CloseClientConnections()
		server.Close()
	})
	return h, server.URL
}

// rawClient speaks the transport without a library.
type rawClient struct {
	t       *testing.T
	url     string
	token   string
	session string
}

func (c *rawClient) request(ctx context.Context, method, body string) *http.Request {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		r.Header.Set(headerSession, c.session)
		r.Header.Set(headerProtocol, "2025-11-25")
	}
	return r
}

// do sends a request and returns the status and the JSON-RPC messages of the answer, or its text.
func (c *rawClient) do(r *http.Request) (status int, header http.Header, body string) {
	c.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Do(r)
	if err != nil {
		c.t.Fatalf("%s: %v", r.Method, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

func (c *rawClient) post(body string) (status int, header http.Header, text string) {
	c.t.Helper()
	return c.do(c.request(c.t.Context(), http.MethodPost, body))
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

// begin makes a session and returns the client with it.
func begin(t *testing.T, url, token string) *rawClient {
	t.Helper()
	c := &rawClient{t: t, url: url, token: token}
	status, header, text := c.post(initialize)
	if status != http.StatusOK || header.Get(headerSession) == "" {
		t.Fatalf("initialize: status %d, session %q: %s", status, header.Get(headerSession), text)
	}
	c.session = header.Get(headerSession)
	if status, _, text := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != http.StatusAccepted {
		t.Fatalf("initialized: status %d: %s", status, text)
	}
	return c
}

// callOf is a call with an id of its own, for that of a call which was aborted is in use until its answer has been tried to give.
func callOf(tool string) string {
	return `{"jsonrpc":"2.0","id":"` + rand.Text() + `","method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
}

// start sends a call of the tool wait and returns when it runs. The channel gets the answer's text, or is closed without when the
// connection broke.
func (c *rawClient) start(ctx context.Context, w *waiting) <-chan string {
	c.t.Helper()
	answer := make(chan string, 1)
	r := c.request(ctx, http.MethodPost, callOf("wait"))
	go func() {
		defer close(answer)
		response, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
		if err != nil {
			return
		}
		defer response.Body.Close()
		if text, err := io.ReadAll(response.Body); err == nil {
			answer <- string(text)
		}
	}()
	receive(c.t, w.began, "the call does not begin")
	return answer
}

// receive waits for what must come.
func receive[T any](t *testing.T, from <-chan T, otherwise string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatal(otherwise)
	}
	return v
}

// events opens the session's own stream of events. The channel gets its data lines and is closed at its end.
func (c *rawClient) events() <-chan string {
	c.t.Helper()
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(c.request(c.t.Context(), http.MethodGet, ""))
	if err != nil {
		c.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		c.t.Fatalf("GET: status %d", response.StatusCode)
	}
	lines := make(chan string, 10)
	go func() {
		defer close(lines)
		defer response.Body.Close()
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			if data, ok := strings.CutPrefix(scanner.Text(), "data: "); ok {
				lines <- data
			}
		}
	}()
	return lines
}
