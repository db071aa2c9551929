package gateway

// This file defines how a result of the registry becomes one that a client gets (GATE-1, GATE-5).

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// maxImages is how many bytes of images one result carries.
const maxImages = 16 << 20

// piece is one part of a result: a text, or an image if there is one.
type piece struct {
	text  string
	image *mcp.ImageContent
}

// answer makes the result of a call. Its content is what a model reads: the rendering, and behind it the messages that ride on
// the result. A failure has nothing else.
//
// A success also has structured content, because some clients show their models nothing else when it is there: the canonical
// value, in an object {"result": …} if it is none itself. Therefore it stands alone or is left out: a result that has more to
// say than its value, by an image or by a message that rides on it, comes without. A value larger than MaxText, or nested
// deeper than parsers follow, would cost the model or the client too much; in its place stands an object that says so, with the
// text as the content shows it and the resource that has the value as JSON:
//
//	{"text": "…", "truncated": {"bytes": 123456, "resource": "runcode://result/…"}}
func (g *Gateway) answer(r *mcp.CallToolRequest, result registry.Result) *mcp.CallToolResult {
	client := g.clientOf(r)
	alone := !result.IsError()
	images := int64(maxImages)
	var pieces []piece
	add := func(b registry.Block) {
		p := g.piece(b, &images)
		alone = alone && p.image == nil
		pieces = append(pieces, p)
	}
	for _, b := range result.Content() {
		add(b)
	}
	for _, c := range result.Contexts() {
		alone = false
		for _, b := range c.Content {
			add(b)
		}
	}
	a := &mcp.CallToolResult{IsError: result.IsError()}
	text := ""
	a.Content, text = g.content(client, r, pieces)
	if alone {
		a.StructuredContent = g.structured(client, result.Value(), text)
	}
	return a
}

// failed is the result of a call that did not come to an execution.
func failed(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "Error: " + err.Error()}}}
}

// piece converts a block. An image whose bytes cannot be had, or that is one too many, becomes a text.
func (g *Gateway) piece(b registry.Block, images *int64) piece {
	if ref, ok := b.Image(); ok {
		data, ok := g.o.Image(ref)
		if ok && int64(len(data)) <= *images && strings.HasPrefix(ref.MediaType, "image/") {
			*images -= int64(len(data))
			return piece{image: &mcp.ImageContent{Data: data, MIMEType: ref.MediaType}}
		}
		return piece{text: fmt.Sprintf("[image not shown: %s, %d bytes]", visibleName(ref.MediaType), ref.Bytes)}
	}
	switch b.Type() {
	case "text", "reasoning":
		return piece{text: b.Text()}
	}
	return piece{text: b.Value().String()}
}

// content makes the content of a result within MaxText, and returns its texts, too.
func (g *Gateway) content(client *client, r *mcp.CallToolRequest, pieces []piece) (content []mcp.Content, text string) {
	sizes := make([]int64, len(pieces))
	for i, p := range pieces {
		sizes[i] = int64(len(p.text))
	}
	limits := shares(sizes, g.o.MaxText)
	content = []mcp.Content{} // null is none
	var links []mcp.Content
	var shown []string
	for i, p := range pieces {
		if p.image != nil {
			content = append(content, p.image)
			continue
		}
		if sizes[i] > limits[i] {
			uri, kept := client.texts.keep(p.text, textPlain)
			p.text = cutMiddle(p.text, int(limits[i]), uri)
			if kept && knowsLinks(r.Session) {
				links = append(links, &mcp.ResourceLink{URI: uri, Name: "whole text", MIMEType: textPlain, Size: &sizes[i]})
			}
		}
		shown = append(shown, p.text)
		content = append(content, &mcp.TextContent{Text: p.text})
	}
	return append(content, links...), strings.Join(shown, "\n")
}

// structured makes the structured content of a value whose rendering is text.
func (g *Gateway) structured(client *client, value jsonval.Value, text string) json.RawMessage {
	if !value.IsObject() {
		value = jsonval.Object(jsonval.Member{Name: "result", Value: value})
	}
	whole := value.JSON()
	if int64(len(whole)) <= g.o.MaxText && !jsonval.Deeper(whole, maxNesting) {
		return whole
	}
	truncated := jsonval.Object(jsonval.Member{Name: "bytes", Value: jsonval.MustOf(len(whole))})
	if uri, ok := client.texts.keep(string(whole), applicationJSON); ok {
		truncated = truncated.With("resource", jsonval.Text(uri))
	}
	return jsonval.Object(
		jsonval.Member{Name: "text", Value: jsonval.Text(text)},
		jsonval.Member{Name: "truncated", Value: truncated},
	).JSON()
}

// knowsLinks reports whether a client knows links to resources in results. Older ones would refuse the whole result.
func knowsLinks(s *mcp.ServerSession) bool {
	p := s.InitializeParams()
	return p == nil || p.ProtocolVersion >= "2025-06-18"
}
