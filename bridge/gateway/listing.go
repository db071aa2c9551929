package gateway

// This file defines what clients see of the registry: its presentation, as MCP has it (GATE-1, PRESENT-2).

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/sdkgen"
)

// listing is one state of what clients see. It never changes.
type listing struct {
	wire  []*mcp.Tool
	names map[string]string // from the names on the wire to the registry's, where they differ

	sdk       *sdkgen.SDK // nil in mode native
	discovery bool        // search_tools is listed
	tools     []sdkgen.Tool
	missing   []string          // the servers whose tools are not there
	conflict  error             // a tool of the registry has the name search_tools
	digest    [sha256.Size]byte // of wire, as it is sent
}

// list makes the listing of this moment.
func (g *Gateway) list() (*listing, error) {
	p, err := g.o.Registry.Present(g.o.Agent)
	if err != nil {
		return nil, err
	}
	visible := g.o.Registry.Visible(g.o.Agent)
	l := &listing{names: map[string]string{}, wire: []*mcp.Tool{}, missing: g.o.Unavailable()} // null is no list
	description := ""
	if p.Mode != registry.Native {
		l.tools = bridge.SDKTools(visible)
		if l.sdk, err = g.o.SDKs.New(runtime.LanguageTypeScript, l.tools, g.o.SDK); err != nil {
			return nil, err
		}
		description, l.discovery = g.describe(l)
	}
	raw := g.rawNames(p.Tools, visible)
	for _, s := range p.Tools {
		tool := &mcp.Tool{Name: s.Name, Description: s.Description, InputSchema: g.inputSchema(s)}
		if s.Name == registry.RunCode {
			tool.Description = description
		}
		if name, ok := raw[s.Name]; ok {
			tool.Name = name
			l.names[name] = s.Name
		}
		l.wire = append(l.wire, tool)
	}
	if l.discovery {
		for _, d := range visible {
			if d.Name == searchTools {
				l.conflict = fmt.Errorf("a tool is called %s, which is the name of the search over the tools: leave it out or rename it", searchTools)
			}
		}
		l.addSearch()
	}
	text, err := json.Marshal(l.wire)
	if err != nil {
		return nil, err
	}
	l.digest = sha256.Sum256(text)
	return l, nil
}

// addSearch lists search_tools behind the others, instead of any other tool of that name.
func (l *listing) addSearch() {
	wire := make([]*mcp.Tool, 0, len(l.wire)+1)
	for _, t := range l.wire {
		if t.Name != searchTools {
			wire = append(wire, t)
		}
	}
	l.wire = append(wire, searchTool())
}

// rawNames returns the names on the wire of the tools that get their servers' own: where no other tool has or gets that name.
func (g *Gateway) rawNames(wire []registry.Schema, visible []registry.Definition) map[string]string {
	taken := map[string]int{registry.RunCode: 1, searchTools: 1}
	for _, d := range visible {
		taken[d.Name]++
	}
	raw := make(map[string]string)
	for _, s := range wire {
		if name, ok := g.o.RawName(s.Name); ok && name != "" && name != s.Name {
			raw[s.Name] = name
			taken[name]++
		}
	}
	for public, name := range raw {
		if taken[name] > 1 {
			delete(raw, public)
		}
	}
	return raw
}
