//go:build unix

package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Servers as the official library makes them, each held to one revision of the protocol: what a hand-written server could get wrong
// about a revision, these have right.

// newest is the revision without a handshake and without sessions.
const newest = "2026-07-28"

// libraryServer speaks one revision. Its tool "grow" adds another tool.
func libraryServer(revision string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{revision}, Instructions: "be brief"})
	type in struct {
		Name string `json:"name"`
	}
	type out struct {
		Greeting string `json:"greeting"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "greets"}, func(_ context.Context, _ *mcp.CallToolRequest, args in) (*mcp.CallToolResult, out, error) {
		return nil, out{"hello " + args.Name}, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "grow", Description: "adds a tool"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(server, &mcp.Tool{Name: "grown", Description: "was added"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
		return nil, nil, nil
	})
	if revision == newest {
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if method == methodInitialize { // the library would go back to the revision before
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is no initialize any more"}
				}
				return next(ctx, method, req)
			}
		})
	}
	return server
}

func TestRevisions(t *testing.T) {
	try := func(t *testing.T, r *rig, b *Bridge, revision string, grows bool) {
		t.Helper()
		if f := b.Facts(); f.Protocol != revision || f.Instructions != "be brief" {
			t.Errorf("facts %+v", f)
		}
		if got := strings.Join(r.names(), " "); got != "mcp__srv__greet mcp__srv__grow" {
			t.Fatalf("tools %s", got)
		}
		res := r.call("mcp__srv__greet", `{"name":"you"}`)
		structured, _ := res.Value().Get("structuredContent")
		if greeting, _ := structured.Get("greeting"); greeting.Str() != "hello you" {
			t.Errorf("MCP-26 %s", res.JSON())
		}
		if res := r.call("mcp__srv__grow", `{}`); res.IsError() {
			t.Fatal(res.Text())
		}
		if grows {
			eventually(t, "the added tool", func() bool { return len(r.names()) == 3 })
			if res := r.call("mcp__srv__grown", `{}`); res.IsError() {
				t.Error(res.Text())
			}
		}
	}
	for _, revision := range mcp.SupportedProtocolVersions() {
		t.Run("MCP-74 MCP-52 over stdio, revision "+revision, func(t *testing.T) {
			r := newRig(t, "library="+revision)
			try(t, r, r.connect(), revision, true)
		})
		for _, stateless := range []bool{false, true} {
			if revision == newest && !stateless {
				continue // this revision has no sessions
			}
			for _, asJSON := range []bool{false, true} {
				t.Run(fmt.Sprintf("MCP-74 MCP-73 over HTTP, revision %s, stateless %v, JSON %v", revision, stateless, asJSON), func(t *testing.T) {
					server := libraryServer(revision)
					handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: stateless, JSONResponse: asJSON})
					s := httptest.NewServer(handler)
					t.Cleanup(s.CloseClientConnections)
					t.Cleanup(s.Close)
					r := newRig(t)
					r.config = ServerConfig{Name: "srv", Transport: StreamableHTTP, URL: s.URL, FailOnStartupError: true, Reconnect: Reconnect{InitialDelay: time.Millisecond}}
					b := r.connect()
					try(t, r, b, revision, !stateless || revision == newest && !asJSON)
					_ = b.Close(t.Context())
					s.CloseClientConnections()
					s.Close()
				})
			}
		}
	}
}

func TestParameterHeaders(t *testing.T) {
	const schema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region","x.y":1},"plain":{"type":"string"},"where":{"type":"object","properties":{"zone":{"type":"integer","x-mcp-header":"Zone"},"b":{}}}}}`
	t.Run("MCP-74 marked parameters travel as headers, as the newest revision demands", func(t *testing.T) {
		server := libraryServer(newest)
		server.AddTool(&mcp.Tool{Name: "place", InputSchema: json.RawMessage(schema)}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(req.Params.Arguments)}}}, nil
		})
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
		seen := make(chan http.Header, 100)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Mcp-Name") == "place" {
				seen <- r.Header.Clone()
			}
			handler.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		r := newRig(t)
		r.config = ServerConfig{Name: "srv", Transport: StreamableHTTP, URL: s.URL, FailOnStartupError: true}
		b := r.connect()
		const arguments = `{"region":"eu \u00fc","where":{"zone":7},"plain":"x"}`
		res := r.call("mcp__srv__place", arguments)
		if res.IsError() || !strings.Contains(res.Text(), `"zone":7`) {
			t.Errorf("%s", res.Text())
		}
		if h := <-seen; h.Get("Mcp-Param-Zone") != "7" || !strings.HasPrefix(h.Get("Mcp-Param-Region"), "=?base64?") || h.Get("Mcp-Param-Plain") != "" {
			t.Errorf("headers %v", h)
		}
		_ = b.Close(t.Context())
		s.CloseClientConnections()
		s.Close()
	})
	for _, c := range []struct{ name, list, want string }{
		{"no marks", `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`, `{"tools":[]}`},
		{"the marks and the way to them alone", `{"tools":[{"name":"x","inputSchema":{}},{"name":"place","description":"d","inputSchema":` + schema + `}],"nextCursor":"2","ttlMs":1000}`,
			`{"tools":[{"name":"place","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"where":{"type":"object","properties":{"zone":{"type":"integer","x-mcp-header":"Zone"}}}}}}]}`},
		{"marks that are none", `{"tools":[{"name":"a","inputSchema":{"properties":{"p":{"type":["string"],"x-mcp-header":[[1]]}}}},{"name":"b","inputSchema":{"properties":{"q":{"type":"string","x-mcp-header":"Q"}}}}]}`,
			`{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"p":{"type":"","x-mcp-header":""}}}},{"name":"b","inputSchema":{"type":"object","properties":{"q":{"type":"string","x-mcp-header":"Q"}}}}]}`},
		{"shapes that are none", `{"tools":[7,{"name":"x-mcp-header"},{"name":3,"inputSchema":{"properties":{"q":{"x-mcp-header":"Q"}}}},{"inputSchema":{"properties":[{"x-mcp-header":"Q"}]}}]}`, `{"tools":[]}`},
		{"no list", `"x-mcp-header"`, `{"tools":[]}`},
		{"marks too deep", `{"tools":[{"name":"a","inputSchema":` + strings.Repeat(`{"properties":{"p":`, 1000) + `{"x-mcp-header":"Q"}` + strings.Repeat("}}", 1000) + `}]}`, `{"tools":[]}`},
	} {
		t.Run("MCP-75 what the library sees of a list: "+c.name, func(t *testing.T) {
			if got := string(listSubstitute([]byte(c.list))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
