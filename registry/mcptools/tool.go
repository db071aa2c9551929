package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// definition makes the registry's tool of a server's tool (MCP-21): the input schema as it was sent, no classifier whatever the
// server claims, no cards, and the budget of a call.
func (b *Bridge) definition(t remoteTool) registry.Definition {
	output, sdk := outputSchemas(t.output)
	return registry.Definition{
		Name:        PublicName(b.config.Name, t.raw),
		Description: t.description,
		Parameters:  t.input,
		Output: registry.Output{
			Schema: output,
			Render: func(_, value jsonval.Value) ([]registry.Block, error) { return renderContent(t.raw, value) },
		},
		SDKOutput: sdk,
		TimeoutMs: b.config.ToolCallTimeout.Milliseconds(),
		Execute: func(ctx context.Context, args jsonval.Value, run *registry.Run) (any, error) {
			text, err := b.call(ctx, t, args)
			if err != nil {
				return nil, err
			}
			value, err := jsonval.Parse(text)
			if err != nil {
				return text, nil // the registry says what is lossy about it (MCP-30)
			}
			b.images.prepare(ctx, run.Execution(), value)
			return value, nil
		},
		Finalize: func(x registry.Execution, r registry.Result) ([]registry.Block, bool) {
			return b.images.finalize(t.raw, x, r)
		},
	}
}

// outputSchemas returns the schema that a value of a tool must satisfy (MCP-26) and the one that shapes its generated type, where that
// says more (TOOL-13). An advertised schema is enforced if it lies in the enforced subset, and then the structured content is
// required; otherwise anything passes (MCP-27).
func outputSchemas(advertised jsonval.Value) (enforced, sdk jsonval.Value) {
	if !advertised.Exists() {
		return valueSchema(jsonval.Object(), false), jsonval.Value{}
	}
	if _, err := schema.Compile(advertised); err == nil {
		return valueSchema(advertised, true), jsonval.Value{}
	}
	return valueSchema(jsonval.Object(), false), valueSchema(advertised, false)
}

func valueSchema(structured jsonval.Value, required bool) jsonval.Value {
	names := []any{"content"}
	if required {
		names = append(names, "structuredContent")
	}
	return jsonval.Object(
		jsonval.Member{Name: "type", Value: jsonval.Text("object")},
		jsonval.Member{Name: "properties", Value: jsonval.Object(
			jsonval.Member{Name: "content", Value: jsonval.MustOf(map[string]any{"type": "array"})},
			jsonval.Member{Name: "structuredContent", Value: structured},
		)},
		jsonval.Member{Name: "required", Value: jsonval.MustOf(names)},
		jsonval.Member{Name: "additionalProperties", Value: jsonval.Bool(false)},
	)
}

// call is the body of every tool of the bridge (section 5). What it returns is the canonical value as text.
func (b *Bridge) call(ctx context.Context, t remoteTool, args jsonval.Value) (json.RawMessage, error) {
	if t.needsTask { // MCP-25
		return nil, fmt.Errorf("tool %q needs task-based execution, which is not supported", t.raw)
	}
	if !args.IsObject() { // MCP-24: the server's complaint is more useful than ours
		args = jsonval.Object()
	}
	s := b.session()
	if s == nil {
		return nil, b.notConnected()
	}
	limit := b.config.ToolCallTimeout
	own := errors.New("the bridge's own budget is used up")
	inner := ctx
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > limit { // MCP-65
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeoutCause(ctx, limit, own)
		defer cancel()
	}
	result, err := s.call(inner, t.raw, args)
	switch {
	case err == nil:
		value, err := canonical(t.raw, result)
		return value, b.redact.error(err)
	case ctx.Err() != nil: // MCP-64
		return nil, registry.Coded("AbortError", registry.CodeAborted, "the call was cancelled")
	case errors.Is(context.Cause(inner), own):
		return nil, fmt.Errorf("MCP server %q did not answer within %d ms", b.config.Name, limit.Milliseconds())
	case errors.Is(err, errClosed):
		if b.closing() { // MCP-69
			return nil, b.notConnected()
		}
		what := "the connection was lost during the call, so its effect is unknown"
		if broken := (*brokenError)(nil); errors.As(err, &broken) {
			what += "; " + broken.fault.Error()
		}
		return nil, b.redact.error(fmt.Errorf("%w: %s", b.notConnected(), what))
	}
	return nil, b.redact.error(fmt.Errorf("MCP server %q: %w", b.config.Name, err)) // MCP-30
}

// notConnected is the failure of calls during an outage (MCP-56) and at disposal (MCP-69).
func (b *Bridge) notConnected() error {
	return fmt.Errorf("MCP server %q is not connected", b.config.Name)
}
