package mcptools

import (
	"context"
	"errors"
	"slices"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// synchronise brings the server's list into the registry (MCP-20): fetch everything, then swap everything. A failed fetch leaves what is
// registered; a conflict leaves the bridge without tools.
func (b *Bridge) synchronise(ctx context.Context, s session) error {
	tools, err := discover(ctx, s, b.options.RequestTimeout)
	if err != nil {
		return err
	}
	if ctx.Err() != nil || isClosed(s.closed()) {
		return errors.Join(errClosed, ctx.Err())
	}
	tools = slices.DeleteFunc(tools, func(t remoteTool) bool { return !b.config.admits(t.raw) })
	// An unchanged list changes nothing, so that the prompt stays as it is (MCP-54).
	if b.published != nil && slices.EqualFunc(b.published, tools, remoteTool.equal) {
		return nil
	}
	b.noteChanges(tools)
	return b.register(tools)
}

// register swaps the bridge's tools under one lock of the registry.
func (b *Bridge) register(tools []remoteTool) error {
	definitions := make([]registry.Definition, len(tools))
	names := make(map[string]string, len(tools))
	for i, t := range tools {
		definitions[i] = b.definition(t)
		names[definitions[i].Name] = t.raw
	}
	b.setNames(names)
	if err := b.tools.Replace(definitions); err != nil {
		b.published = nil
		b.setNames(nil)
		if emptied := b.tools.Replace(nil); emptied != nil {
			err = errors.Join(err, emptied)
		}
		return err
	}
	b.published = slices.Clone(tools)
	if b.published == nil {
		b.published = []remoteTool{}
	}
	return nil
}

func (b *Bridge) setNames(names map[string]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.raw = names
}

// noteChanges logs descriptions that changed while a model may be relying on them (MCP-77).
func (b *Bridge) noteChanges(next []remoteTool) {
	old := make(map[string]string, len(b.published))
	for _, t := range b.published {
		old[t.raw] = t.description
	}
	for _, t := range next {
		if before, known := old[t.raw]; known && before != t.description {
			b.log.Warn("the MCP server changed the description of a tool", "tool", PublicName(b.config.Name, t.raw), "before", b.redact.excerpt(before, shownBadLine), "after", b.redact.excerpt(t.description, shownBadLine))
		}
	}
}

func (t remoteTool) equal(o remoteTool) bool {
	return t.raw == o.raw && t.description == o.description && t.needsTask == o.needsTask &&
		jsonval.Identical(t.input, o.input) && jsonval.Identical(t.output, o.output)
}
