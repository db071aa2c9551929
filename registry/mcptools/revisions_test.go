//go:build unix

package mcptools

import (
	"context"
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
