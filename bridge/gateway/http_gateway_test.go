package gateway

// This file tests the whole gateway over HTTP: what is kept for a client between its requests belongs to its session or its token.

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry"
)

// over connects the library's client to a handler, with a token.
func over(t *testing.T, url, token, protocol string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{token}}}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestHTTPGateway(t *testing.T) {
	const asks = `return await tools.echo({ n: 1 })`
	params := func(program string) *mcp.CallToolParams {
		return &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": program, "description": "d"}}
	}
	yes := &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}

	t.Run("GATE-4 the person at the calling client is asked, and no other", func(t *testing.T) {
		h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}}).asking()
		_, url := serveHTTP(t, h.Gateway, options(), nil)
		var p, q person
		s := over(t, url, tokenA, older, p.options(answers("accept", yes.Content)))
		over(t, url, tokenA, older, q.options(answers("decline", nil)))
		if got := structured(run(t, s, asks)); got != `{"logs":[],"result":{"n":1}}` {
			t.Errorf("result %s", got)
		}
		if len(p.asked) != 1 || len(q.asked) != 0 {
			t.Errorf("asked %q and %q", p.asked, q.asked)
		}
	})
	t.Run("GATE-1 GATE-4 a waiting call belongs to the token that it came with", func(t *testing.T) {
		h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}}).asking()
		_, url := serveHTTP(t, h.Gateway, options(), nil)
		o := &mcp.ClientOptions{
			MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return nil, errors.New("not asked this way")
			},
		}
		s, thief := over(t, url, tokenA, newest, o), over(t, url, tokenB, newest, o)
		r, err := s.CallTool(t.Context(), params(asks))
		if err != nil || !r.NeedsInput() {
			t.Fatalf("%v: %+v", err, r)
		}
		back := params(asks)
		back.RequestState, back.InputResponses = r.RequestState, mcp.InputResponseMap{questionID: yes}
		if r, err := thief.CallTool(t.Context(), back); err == nil || !strings.Contains(err.Error(), "no call waits") {
			t.Errorf("another token: %v %+v", err, r)
		}
		if r, err := s.CallTool(t.Context(), back); err != nil || structured(r) != `{"logs":[],"result":{"n":1}}` {
			t.Errorf("the same token: %v %+v", err, r)
		}
	})
	for _, protocol := range []string{older, newest} {
		t.Run("GATE-1 the whole of a result that was cut belongs to its client "+protocol, func(t *testing.T) {
			h := open(t, houseOptions{gateway: Options{MaxText: 1000}})
			_, url := serveHTTP(t, h.Gateway, options(), nil)
			s, other := over(t, url, tokenA, protocol, nil), over(t, url, tokenB, protocol, nil)
			_, rest, _ := strings.Cut(text(run(t, s, `return "secret ".repeat(1000)`)), resultURI)
			read := &mcp.ReadResourceParams{URI: resultURI + rest[:strings.IndexAny(rest, " .,;]\n")]}
			if r, err := other.ReadResource(t.Context(), read); err == nil {
				t.Errorf("another client got %.100s", r.Contents[0].Text)
			}
			if r, err := s.ReadResource(t.Context(), read); err != nil || strings.Count(r.Contents[0].Text, "secret") != 1000 {
				t.Errorf("its own client: %v", err)
			}
		})
		t.Run("GATE-5 a client that cancels, or that goes, in mid-run has its run aborted "+protocol, func(t *testing.T) {
			w := newWaiting()
			h := open(t, houseOptions{tools: []registry.Definition{blocker(w)}})
			handler, err := h.Handler(options())
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(handler)
			t.Cleanup(func() { // the session cannot end well
				server.CloseClientConnections()
				server.Close()
			})
			s := over(t, server.URL, tokenA, protocol, nil)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, params(`await tools.block({})`))
				done <- err
			}()
			receive(t, w.began, "the run does not begin")
			cancel()
			receive(t, w.ended, "the run goes on")
			receive(t, done, "no answer")
			go func() {
				_, err := s.CallTool(t.Context(), params(`await tools.block({})`))
				done <- err
			}()
			receive(t, w.began, "the run does not begin")
			server.CloseClientConnections()
			receive(t, w.ended, "the run goes on without its connection")
			if err := receive(t, done, "no answer"); err == nil {
				t.Error("an answer came over a connection that broke")
			}
		})
	}
	t.Run("GATE-5 the end of the gateway ends the runs of its HTTP clients", func(t *testing.T) {
		w := newWaiting()
		h := open(t, houseOptions{tools: []registry.Definition{blocker(w)}})
		_, url := serveHTTP(t, h.Gateway, options(), nil)
		s := over(t, url, tokenA, older, nil)
		answer := make(chan *mcp.CallToolResult, 1)
		go func() {
			r, err := s.CallTool(t.Context(), params(`await tools.block({})`))
			if err != nil {
				t.Error(err)
			}
			answer <- r
		}()
		receive(t, w.began, "the run does not begin")
		closeWithin(t, h.Close)
		receive(t, w.ended, "the run goes on")
		if r := receive(t, answer, "no answer"); r != nil && (!r.IsError || !strings.Contains(text(r), errShutdown.Error())) {
			t.Errorf("%+v", r)
		}
	})
}
