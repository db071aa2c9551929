package registry

import (
	"slices"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Context is one user-role message that a tool or a listener wants in front of the model at its next request (CTX-1). It
// rides on the call's result; only a driver hands it over. Contexts are never merged: each keeps its identity and source.
type Context struct {
	// ID identifies the message to whoever made it; empty if nobody needs to.
	ID      string
	Content []Block
	// Source says who speaks, as {"kind": "plugin", "plugin": "<name>"}; absent if unknown.
	Source jsonval.Value
	// Meta is the maker's own data; absent if there is none.
	Meta jsonval.Value
}

// PluginSource returns the Source of a message that the named plugin injects.
func PluginSource(plugin string, more ...jsonval.Member) jsonval.Value {
	members := append([]jsonval.Member{
		{Name: "kind", Value: jsonval.Text("plugin")},
		{Name: "plugin", Value: jsonval.Text(plugin)},
	}, more...)
	return jsonval.Object(members...)
}

// JSON returns the message with the members id, content, source and meta; those that are empty are left out, content
// stays.
func (c Context) JSON() jsonval.Value {
	members := make([]jsonval.Member, 0, 4)
	if c.ID != "" {
		members = append(members, jsonval.Member{Name: "id", Value: jsonval.Text(c.ID)})
	}
	members = append(members, jsonval.Member{Name: "content", Value: contentValue(c.Content)})
	if c.Source.Exists() {
		members = append(members, jsonval.Member{Name: "source", Value: c.Source})
	}
	if c.Meta.Exists() {
		members = append(members, jsonval.Member{Name: "meta", Value: c.Meta})
	}
	return jsonval.Object(members...)
}

// MarshalJSON writes the object that JSON returns.
func (c Context) MarshalJSON() ([]byte, error) { return c.JSON().JSON(), nil }

// copyContexts returns contexts that share no slice with those given (JSON-9), nil if there are none.
func copyContexts(contexts []Context) []Context {
	if len(contexts) == 0 {
		return nil
	}
	out := slices.Clone(contexts)
	for i := range out {
		out[i].Content = slices.Clone(out[i].Content)
	}
	return out
}

func validContexts(contexts []Context) bool {
	for i := range contexts {
		if !validContent(contexts[i].Content) {
			return false
		}
	}
	return true
}

func contentValue(content []Block) jsonval.Value {
	items := make([]jsonval.Value, 0, len(content))
	for _, b := range content {
		if b.valid() {
			items = append(items, b.value)
		}
	}
	return jsonval.Array(items...)
}
