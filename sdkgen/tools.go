// This file defines how tools become what the renderers take: sorted, with projected types.

package sdkgen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// tool is one tool with its types.
type tool struct {
	Tool
	args, output *shape
}

// prepare sorts tools by name, bytewise, and projects their schemas (SDK-4, SDK-25).
func prepare(list []Tool) []*tool {
	list = slices.Clone(list)
	slices.SortFunc(list, compareTools)
	list = slices.CompactFunc(list, func(a, b Tool) bool { return a.Name == b.Name })
	p := newPool()
	tools := make([]*tool, len(list))
	for i, t := range list {
		args, _ := projectArguments(p, t)
		output, _ := projectOutput(p, t)
		tools[i] = &tool{t, args, output}
	}
	return tools
}

// compareTools orders tools by name. Two with the same name are ordered by the rest, so that it is not the caller's order that says which
// of them counts.
func compareTools(a, b Tool) int {
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return cmp.Or(
		strings.Compare(a.Description, b.Description), strings.Compare(a.Parameters.String(), b.Parameters.String()),
		strings.Compare(a.Output.String(), b.Output.String()), strings.Compare(a.SDKOutput.String(), b.SDKOutput.String()),
	)
}

// projectArguments returns the type of a tool's arguments, always that of an object (MCP-50). A union of objects is one.
func projectArguments(p *pool, t Tool) (*shape, []Loss) {
	if !t.Parameters.Exists() {
		return p.object(nil, openUnsaid), nil
	}
	s, lost := project(p, t.Parameters, t.Name+" Args")
	if !isObject(s) {
		return p.object(nil, openUnsaid), append(lost, Loss{"#", lossRoot})
	}
	return s, lost
}

// isObject reports whether every value of s is an object.
func isObject(s *shape) bool {
	all := true
	s.walk(func(s *shape) []*shape {
		switch s.kind {
		case objectKind:
			return nil
		case unionKind:
			return s.alts
		case namedKind:
			return []*shape{s.named.body}
		}
		all = false
		return nil
	})
	return all
}

// projectOutput returns the type of a tool's value.
func projectOutput(p *pool, t Tool) (*shape, []Loss) {
	schema := t.Output
	if t.SDKOutput.Exists() {
		schema = t.SDKOutput
	}
	if !schema.Exists() {
		return anything, nil
	}
	structured, optional, ok := resultSchema(schema)
	if !ok {
		return project(p, schema, t.Name+" Output")
	}
	if !structured.Exists() {
		return p.intern(shape{kind: resultKind, optional: true}), nil
	}
	// The advertised schema is a document of its own: its references start at its own root.
	s, lost := project(p, structured, t.Name+" Output")
	if s.kind == anyKind {
		s = nil
	}
	return p.intern(shape{kind: resultKind, item: s, optional: optional}), lost
}

// resultSchema recognises the value of an MCP tool (MCP-26) by its shape, and returns the schema of its structured content: absent if it
// is not advertised.
func resultSchema(schema jsonval.Value) (structured jsonval.Value, optional, ok bool) {
	kind, _ := schema.Get("type")
	properties, _ := schema.Get("properties")
	content, hasContent := properties.Get("content")
	contentType, _ := content.Get("type")
	items, _ := content.Get("items")
	structured, hasStructured := properties.Get("structuredContent")
	members := 1
	if hasStructured {
		members = 2
	}
	required := requiredNames(schema)
	if kind.Str() != "object" || !hasContent || properties.Len() != members || additional(schema) != closed || !required["content"] ||
		contentType.Str() != "array" || items.Len() > 0 {
		return jsonval.Value{}, false, false
	}
	return structured, !required["structuredContent"], true
}
