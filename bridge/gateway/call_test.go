package gateway

import (
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry"
)

const (
	newest = "2026-07-28"
	older  = "2025-11-25"
)

// revisions runs a test with clients of both kinds: those that may be asked while a request is open, and those that may not.
func revisions(t *testing.T, f func(t *testing.T, protocol string)) {
	for _, protocol := range []string{older, newest} {
		t.Run(protocol, func(t *testing.T) { f(t, protocol) })
	}
}

func TestCalls(t *testing.T) {
	revisions(t, func(t *testing.T, protocol string) {
		h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}})
		s := h.connect(nil, protocol)
		t.Run("GATE-5 structuredContent is the canonical value and stands alone, logs included", func(t *testing.T) {
			r := run(t, s, `console.log("one"); const x = await tools.echo({ a: [1, 2] }); return x`)
			if got, want := structured(r), `{"logs":["one"],"result":{"a":[1,2]}}`; got != want {
				t.Errorf("structured %s, want %s", got, want)
			}
			if got := text(r); !strings.HasPrefix(got, "one\n{") || r.IsError {
				t.Errorf("content %q, error %v", got, r.IsError)
			}
		})
		t.Run("GATE-5 a failed program is a result with isError", func(t *testing.T) {
			r := run(t, s, `console.log("got here"); throw new Error("no")`)
			if !r.IsError || !strings.Contains(text(r), "no") || !strings.Contains(text(r), "got here") {
				t.Errorf("error %v, text %q", r.IsError, text(r))
			}
			if r.StructuredContent != nil {
				t.Errorf("structured %s beside a failure", structured(r))
			}
		})
		t.Run("GATE-5 arguments are validated by us", func(t *testing.T) {
			r := callTool(t, s, "run_code", map[string]any{"code": 1})
			if !r.IsError || !strings.Contains(text(r), "arguments do not match the schema") {
				t.Errorf("error %v, text %q", r.IsError, text(r))
			}
			r = callTool(t, s, "run_code", []int{1})
			if !r.IsError || text(r) != "Error: arguments must be a JSON object such as {}, not array" {
				t.Errorf("error %v, text %q", r.IsError, text(r))
			}
		})
		t.Run("GATE-5 an unknown tool is a protocol error", func(t *testing.T) {
			for _, name := range []string{"nope", "relay", "echo"} {
				_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
				var wire *jsonrpc.Error
				if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	})
}
