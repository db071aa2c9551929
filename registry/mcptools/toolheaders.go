package mcptools

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// headerKeyword marks a parameter that also travels as an HTTP header, from revision 2026-07-28 on.
const headerKeyword = "x-mcp-header"

// maxHeaderDepth is how deep in a schema such a parameter is looked for.
const maxHeaderDepth = 32

// listSubstitute is what the library gets instead of a list of tools: of each tool only the marked parameters, and of those only what
// the library needs to send their headers, for it is the one that makes the requests. Nothing else of a schema can make it fail.
func listSubstitute(result json.RawMessage) json.RawMessage {
	if !bytes.Contains(result, []byte(headerKeyword)) {
		return json.RawMessage(`{"tools":[]}`)
	}
	out := []byte(`{"tools":[`)
	for _, tool := range gjson.GetBytes(result, "tools").Array() {
		name := tool.Get("name")
		properties, marked := markedProperties(tool.Get("inputSchema.properties"), maxHeaderDepth)
		if !marked || name.Type != gjson.String {
			continue
		}
		if out[len(out)-1] == '}' {
			out = append(out, ',')
		}
		out = slices.Concat(out, []byte(`{"name":`+name.Raw+`,"inputSchema":{"type":"object","properties":`), properties, []byte(`}}`))
	}
	return append(out, `]}`...)
}

// markedProperties keeps the marked ones of a schema's properties, and the way to them.
func markedProperties(properties gjson.Result, depth int) (kept []byte, marked bool) {
	kept = []byte{'{'}
	if !properties.IsObject() || depth == 0 {
		return append(kept, '}'), false
	}
	properties.ForEach(func(name, property gjson.Result) bool {
		inner, deep := markedProperties(member(property, "properties"), depth-1)
		header := member(property, headerKeyword)
		if !deep && !header.Exists() {
			return true
		}
		if marked {
			kept = append(kept, ',')
		}
		marked = true
		kept = append(append(kept, name.Raw...), `:{"type":`+stringOr(member(property, "type"))...)
		if header.Exists() {
			kept = append(kept, `,"`+headerKeyword+`":`+stringOr(header)...)
		}
		if deep {
			kept = slices.Concat(kept, []byte(`,"properties":`), inner)
		}
		kept = append(kept, '}')
		return true
	})
	return append(kept, '}'), marked
}

// member is a member of an object by its plain name, which a path would take apart.
func member(object gjson.Result, name string) (found gjson.Result) {
	if !object.IsObject() {
		return gjson.Result{}
	}
	object.ForEach(func(key, value gjson.Result) bool {
		if key.Str == name {
			found = value
		}
		return true
	})
	return found
}

// stringOr is a string as it stands, and an empty one for anything else: the library refuses that, as it must (SEP-2243).
func stringOr(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Raw
	}
	return `""`
}
