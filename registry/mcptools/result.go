package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// This file turns what tools/call answered into the canonical value (MCP-26 to MCP-30) and the text for the model (MCP-31).

const noOutput = "(no output)"

// canonical makes the value of an answer: its content blocks as they came, and its structured content. It is JSON text that the
// registry's codec has yet to accept: what is lossy in it fails the call there as an invalid result (MCP-30). An error is what the
// server flagged as one.
func canonical(raw string, result json.RawMessage) (json.RawMessage, error) {
	var content, structured, legacy, kind string
	failed := false
	if document := gjson.ParseBytes(result); document.IsObject() {
		document.ForEach(func(key, value gjson.Result) bool {
			switch key.Str {
			case "content":
				content = ""
				if value.IsArray() {
					content = value.Raw
				}
			case "structuredContent":
				structured = value.Raw
			case "toolResult":
				legacy = value.Raw
			case "isError":
				failed = value.Type == gjson.True
			case "resultType":
				kind = value.Str
			}
			return true
		})
	}
	if kind == "input_required" {
		return nil, fmt.Errorf("tool %q asks for input from the client, which is not supported", raw)
	}
	if content == "" { // MCP-29
		content = `[{"type":"text","text":` + string(jsonval.AppendString(nil, legacyText(legacy))) + `}]`
	}
	if failed { // MCP-28
		return nil, errors.New(failureText(raw, content))
	}
	value := `{"content":` + content
	if structured != "" {
		value += `,"structuredContent":` + structured
	}
	return json.RawMessage(value + "}"), nil
}

// legacyText is the text of an answer in the shape of the protocol's first draft.
func legacyText(toolResult string) string {
	if toolResult == "" {
		return noOutput
	}
	if v, err := jsonval.ParseString(toolResult); err == nil {
		return v.String()
	}
	return toolResult
}

func failureText(raw, content string) string {
	blocks, err := jsonval.Parse(roundNumbers([]byte(content)))
	if err != nil {
		return "the tool reported an error whose text is not valid JSON: " + err.Error()
	}
	return contentText(raw, blocks)
}

// renderContent is the default rendering of a canonical value. It is pure, and admits no image (MCP-33).
func renderContent(raw string, value jsonval.Value) ([]registry.Block, error) {
	content, _ := value.Get("content")
	return []registry.Block{registry.Text(contentText(raw, content))}, nil
}

// contentText joins what the blocks say, in their order.
func contentText(raw string, content jsonval.Value) string {
	var pieces []string
	for _, block := range content.Items() {
		if text, ok := blockText(block, reasonDefault); ok {
			pieces = append(pieces, text)
		}
	}
	if text := strings.Join(pieces, "\n"); text != "" {
		return text
	}
	return "(" + raw + " returned nothing to show)"
}

// blockText is one line of the table of MCP-31; imageReason is why an image is not shown. What a faulty server leaves out is never an
// error here (MCP-32).
func blockText(block jsonval.Value, imageReason string) (text string, shown bool) {
	kind := stringMember(block, "type")
	if !kind.IsString() {
		return "[MCP content block not supported: not an object]", true
	}
	switch kind.Str() {
	case "text":
		text := stringMember(block, "text")
		return text.Str(), text.IsString()
	case "resource_link":
		name, uri := stringMember(block, "name"), stringMember(block, "uri")
		if !name.IsString() || !uri.IsString() {
			return "[resource link incomplete: name or URI missing]", true
		}
		return "Resource link: " + name.Str() + " (" + uri.Str() + ")", true
	case "image":
		return "[image not shown: " + mediaType(block) + "; " + imageReason + "; the raw data is available to programs]", true
	case "audio":
		return "[audio not supported: " + mediaType(block) + "; the raw data is available to programs]", true
	case "resource":
		return "[embedded resource not supported; the raw data is available to programs]", true
	}
	return "[MCP content type not supported: " + kind.Str() + "]", true
}

// stringMember is a member that is a string, absent otherwise.
func stringMember(v jsonval.Value, name string) jsonval.Value {
	if m, ok := v.Get(name); ok && m.IsString() {
		return m
	}
	return jsonval.Value{}
}

func mediaType(block jsonval.Value) string {
	if m := stringMember(block, "mimeType"); m.Str() != "" {
		return m.Str()
	}
	return "unknown type"
}
