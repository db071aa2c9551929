package gateway

// This file defines the schemas of arguments as clients get them.

import (
	"bytes"
	"encoding/json"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// maxNesting is how deep JSON nests in what clients are sent. Their parsers give up at some depth, some of them on the whole
// message: the strictest common one at 128 levels, of which the protocol itself takes a few.
const maxNesting = 100

// keywordHeader makes clients send an argument as an HTTP header, too.
const keywordHeader = "x-mcp-header"

// inputSchema returns the schema of a tool's arguments as it is on the wire: the registry's, to the byte, but for what would
// break more than this tool. Clients refuse the whole list over one schema whose root does not say that arguments are an
// object, so that is put right; one that is too deep for them is left out; and headers that nobody here would check against
// the arguments are not asked for.
func (g *Gateway) inputSchema(s registry.Schema) json.RawMessage {
	object := jsonval.Text("object")
	schema := s.Parameters
	if t, _ := schema.Get("type"); !jsonval.Equal(t, object) {
		schema = schema.With("type", object)
	}
	text := schema.JSON()
	switch {
	case jsonval.Deeper(text, maxNesting):
		g.o.Logger.Warn("a tool's schema nests too deep for clients and is not shown to them", "tool", s.Name)
		return json.RawMessage(`{"type":"object"}`)
	case bytes.Contains(text, []byte(`"`+keywordHeader+`"`)):
		return withoutHeaders(schema).JSON()
	}
	return text
}

// withoutHeaders removes the keyword where it means something: at properties, within properties. The schema must not be deep.
func withoutHeaders(schema jsonval.Value) jsonval.Value {
	properties, ok := schema.Get("properties")
	if !ok || !properties.IsObject() {
		return schema
	}
	for name, property := range properties.Members() {
		if property.IsObject() {
			properties = properties.With(name, withoutHeaders(property.Without(keywordHeader)))
		}
	}
	return schema.With("properties", properties)
}
