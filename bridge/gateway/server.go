package gateway

// This file defines which requests the gateway answers in the place of the MCP library, and what the library does for it: the
// handshake, the versions of the protocol, the transports, notifications to every session.

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// relay is the one tool that the library knows. Every call is led through it, so that the library marks results as each
// version of the protocol wants them; and the library announces a change of the tools when a tool is added to it.
//
// The tools themselves it must not know: it sorts them, and it panics on schemas that a hostile server can make.
const relay = "relay"

func (g *Gateway) newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: g.o.Name, Version: g.o.Version}, &mcp.ServerOptions{
		Capabilities:       &mcp.ServerCapabilities{}, // tools and resources are added to it; nothing is logged to clients
		Logger:             libraryLogger(g.o.Logger),
		SubscribeHandler:   func(_ context.Context, r *mcp.SubscribeRequest) error { return subscribable(r.Params.URI) },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		// What is served here is for those who may call the tools, whatever is between them and the gateway.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	s.AddReceivingMiddleware(followHTTP, g.receive)
	g.addRelay(s)
	g.addResources(s)
	return s
}

func (g *Gateway) addRelay(s *mcp.Server) {
	s.AddTool(&mcp.Tool{Name: relay, InputSchema: json.RawMessage(`{"type":"object"}`)}, g.relayed)
}

// called is the tool that a request on its way through the relay really names.
type called struct{}

func (g *Gateway) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch r := req.(type) {
		case *mcp.CallToolRequest:
			params := *r.Params
			params.Name = relay
			ctx = context.WithValue(ctx, called{}, r.Params.Name)
			return next(ctx, method, &mcp.CallToolRequest{Session: r.Session, Params: &params, Extra: r.Extra})
		case *mcp.ListToolsRequest:
			if r.Params != nil && r.Params.Cursor != "" {
				return nil, invalidParams("there is one page of tools: leave the cursor out")
			}
		case *mcp.ListPromptsRequest, *mcp.GetPromptRequest: // the library has these, but the handshake does not say so
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q: this server has no prompts", method)}
		}
		result, err := next(ctx, method, req)
		if err != nil {
			return nil, err
		}
		switch result := result.(type) {
		case *mcp.ListToolsResult:
			result.Tools = g.board.current().wire
		case *mcp.InitializeResult:
			result.Instructions = g.instructions()
		case *mcp.DiscoverResult:
			result.Instructions = g.instructions()
		}
		return result, nil
	}
}

// relayed answers a call (GATE-5): with a result whatever becomes of it, or with a protocol error when there is no such tool
// or no such call.
func (g *Gateway) relayed(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	params := *r.Params
	params.Name, _ = ctx.Value(called{}).(string)
	request := &mcp.CallToolRequest{Session: r.Session, Params: &params, Extra: r.Extra}
	listed := g.board.current()
	if params.Name == searchTools && listed.discovery {
		return g.search(request, listed), nil
	}
	return g.call(ctx, request, listed)
}

func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
