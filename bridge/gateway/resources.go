package gateway

// This file defines the resources: the complete declarations, and the whole texts of results that were cut.

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/sdkgen"
)

// sdkURI is the address of the instructions and the declarations of all tools (GATE-3).
const sdkURI = "runcode://sdk"

func (g *Gateway) addResources(s *mcp.Server) {
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: resultURI + "{id}", Name: "result", Title: "The whole text of a result that was cut",
		Description: "Results that are too long are cut and name the resource that has the whole. The last ones are kept.",
	}, g.readResult)
}

// listSDK lists the declarations as a resource while there are any.
func (g *Gateway) listSDK(l *listing) {
	if l.sdk == nil {
		g.server.RemoveResources(sdkURI)
		return
	}
	g.server.AddResource(&mcp.Resource{
		URI: sdkURI, Name: "sdk", Title: "The tools that programs can call", MIMEType: "text/markdown",
		Description: "How programs for run_code call tools, and the TypeScript declarations of all of them, whole.",
	}, g.readSDK)
}

func subscribable(uri string) error {
	if uri != sdkURI {
		return invalidParams("only %s changes: %q does not", sdkURI, uri)
	}
	return nil
}

func (g *Gateway) readSDK(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	l := g.board.current()
	if l.sdk == nil {
		return nil, mcp.ResourceNotFoundError(sdkURI)
	}
	text, err := g.o.SDKs.New(runtime.LanguageTypeScript, l.tools, sdkgen.Options{}) // everything, whatever is shown elsewhere
	if err != nil {
		return nil, err
	}
	return contents(r.Params.URI, "text/markdown", text.Section()), nil
}

func (g *Gateway) readResult(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text, mime, ok := g.clientBy(r.Session, r.Extra).texts.get(r.Params.URI)
	if !ok {
		return nil, invalidParams("%s is not there (any more): the whole texts of the last results are kept, up to %d MiB, for the session that got them", visibleURI(r.Params.URI), maxKept>>20)
	}
	return contents(r.Params.URI, mime, text), nil
}

func contents(uri, mime, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: text}}}
}

// visibleURI returns an address that a client sent, bounded.
func visibleURI(uri string) string { return visible(strings.ToValidUTF8(cutEnd(uri, 100), "\uFFFD")) }
