package main

// This file is the MCP server whose tools the conformance suite expects: the command "mcpfixture" of the tests' PATH. The suite is run
// against the gateway that fronts it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A picture of one pixel and a sound of one sample: the smallest that decode.
var (
	onePixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde" +
		"\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82")
	oneSample = []byte("RIFF\x25\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00\x80")
)

// fixtureSchema is the schema with keywords of JSON Schema 2020-12 that the suite looks for.
const fixtureSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]}, "else": {"required": ["email"]},
	"additionalProperties": false
}`

func mcpFixture() {
	server := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, nil)
	text := func(s string) mcp.Content { return &mcp.TextContent{Text: s} }
	resource := func(uri, mime, text string) mcp.Content {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: mime, Text: text}}
	}
	add := func(name, description, schema string, answer func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error)) {
		server.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				content, err := answer(ctx, r)
				if err != nil {
					return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{text(err.Error())}}, nil
				}
				return &mcp.CallToolResult{Content: content}, nil
			})
	}
	constant := func(name, description string, content ...mcp.Content) {
		add(name, description, `{"type": "object"}`, func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error) { return content, nil })
	}
	constant("test_simple_text", "Answers with one text", text("This is a simple text response for testing."))
	constant("test_image_content", "Answers with one picture", &mcp.ImageContent{MIMEType: "image/png", Data: onePixel})
	constant("test_audio_content", "Answers with one sound", &mcp.AudioContent{MIMEType: "audio/wav", Data: oneSample})
	constant("test_embedded_resource", "Answers with one resource",
		resource("test://embedded-resource", "text/plain", "This is an embedded resource content."))
	constant("test_multiple_content_types", "Answers with a text, a picture and a resource",
		text("Multiple content types test:"), &mcp.ImageContent{MIMEType: "image/png", Data: onePixel},
		resource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`))
	add("test_error_handling", "Fails", `{"type": "object"}`, func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error) {
		return nil, errors.New("This tool intentionally returns an error for testing")
	})
	add("test_tool_with_progress", "Reports on its progress while it works", `{"type": "object"}`,
		func(ctx context.Context, r *mcp.CallToolRequest) ([]mcp.Content, error) {
			for _, done := range []float64{0, 50, 100} {
				if token := r.Params.GetProgressToken(); token != nil {
					if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
						return nil, err
					}
				}
				time.Sleep(50 * time.Millisecond)
			}
			return []mcp.Content{text("The tool has come to its end.")}, nil
		})
	add("json_schema_2020_12_tool", "Takes what only JSON Schema 2020-12 can say", fixtureSchema,
		func(_ context.Context, r *mcp.CallToolRequest) ([]mcp.Content, error) {
			return []mcp.Content{text(string(r.Params.Arguments))}, nil
		})
	add("test_x_mcp_header", "Takes an argument that clients mirror in a header",
		`{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}, "required": ["region"]}`,
		func(_ context.Context, r *mcp.CallToolRequest) ([]mcp.Content, error) {
			return []mcp.Content{text(string(r.Params.Arguments))}, nil
		})
	added := 0
	add("test_trigger_tool_change", "Adds a tool", `{"type": "object"}`, func(context.Context, *mcp.CallToolRequest) ([]mcp.Content, error) {
		added++
		constant(fmt.Sprintf("test_added_%d", added), "Was added later", text("added"))
		return []mcp.Content{text("A tool was added.")}, nil
	})
	// The gateway asks the person before it calls these: see TestRealConformance.
	for _, name := range []string{"elicitation", "tampered_state", "request_state", "capabilities"} {
		constant("test_input_required_result_"+name, "Answers when it has been approved", text("approved: state-ok"))
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}
