package mcptools

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"
)

// The methods whose answers the MCP library does not get to see.
const (
	methodListTools  = "tools/list"
	methodCallTool   = "tools/call"
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
	noticeCancelled  = "notifications/cancelled"

	noticeListChanged = "notifications/tools/list_changed"
)

// substitute is what the library gets instead of a result: valid and next to empty, so that nothing of a real answer can make it fail
// (MCP-75).
func substitute(method string, result json.RawMessage) json.RawMessage {
	if method == methodListTools {
		return listSubstitute(result)
	}
	return json.RawMessage(`{"content":[]}`)
}

// A capture receives the result of one request as the server sent it. It travels to the connection in the request's context, because
// the library chooses the request's id and tells it only to the connection.
type capture struct {
	id     jsonrpc.ID
	method string
	result json.RawMessage // nil until answered
}

type captureKey struct{}

func withCapture(ctx context.Context, c *capture) context.Context {
	return context.WithValue(ctx, captureKey{}, c)
}

// tap sits between the wire and the library on both transports. It is safe for concurrent use.
type tap struct {
	mu        sync.Mutex
	waiting   map[jsonrpc.ID]*capture
	handshake map[jsonrpc.ID]bool
}

func newTap() *tap {
	return &tap{waiting: map[jsonrpc.ID]*capture{}, handshake: map[jsonrpc.ID]bool{}}
}

// outgoing sees a message before it is sent; it is not to be sent when drop is true.
func (t *tap) outgoing(ctx context.Context, msg jsonrpc.Message) (drop bool) {
	request, ok := msg.(*jsonrpc.Request)
	if !ok {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch request.Method {
	case methodInitialize, methodDiscover:
		t.handshake[request.ID] = true
	case noticeCancelled:
		// The protocol forbids to cancel the handshake, and the library would (MCP-63).
		return t.handshake[requestID(gjson.GetBytes(request.Params, "requestId"))]
	case methodListTools, methodCallTool:
		if c, ok := ctx.Value(captureKey{}).(*capture); ok {
			c.id, c.method = request.ID, request.Method
			t.waiting[c.id] = c
		}
	}
	return false
}

// incoming takes the result out of an answer that is waited for and leaves the substitute; it says whether it did.
func (t *tap) incoming(f *frame) (taken bool) {
	if f.method != "" || f.result == nil || f.fault != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.waiting[f.id]
	if !ok {
		return false
	}
	delete(t.waiting, f.id)
	c.result = f.result
	f.result = substitute(c.method, f.result)
	return true
}

// forget ends the waiting of a request that was given up. A later answer is the library's to drop.
func (t *tap) forget(c *capture) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting[c.id] == c {
		delete(t.waiting, c.id)
	}
}

func requestID(v gjson.Result) jsonrpc.ID {
	var id jsonrpc.ID
	switch v.Type {
	case gjson.Number:
		id, _ = jsonrpc.MakeID(v.Num)
	case gjson.String:
		id, _ = jsonrpc.MakeID(v.Str)
	}
	return id
}
