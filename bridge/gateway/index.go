package gateway

// This file defines the index of all tools by the servers that they come from, one line each (GATE-3).

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/sdkgen"
)

// group is the tools of one server.
type group struct {
	server string // "" for those of no server
	prefix string // what their names begin with
	names  []string
}

// index names the tools in as many bytes as there are, a line for each server. Where not all names fit, each line leaves out some
// and says how many; where not even the lines do, the last line says how many servers are left out.
func index(tools []sdkgen.Tool, origin func(string) string, space int) string {
	groups := groupByServer(tools, origin)
	lines := make([]int64, len(groups))
	for i, g := range groups {
		lines[i] = int64(len(g.line(1 << 30)))
	}
	fit := shares(lines, max(0, int64(space)))
	var b strings.Builder
	for i, g := range groups {
		line := g.line(int(fit[i]))
		if rest := fmt.Sprintf("and the tools of %d more servers\n", len(groups)-i); i > 0 && b.Len()+len(line)+len(rest) > space && i < len(groups)-1 {
			b.WriteString(rest)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

func groupByServer(tools []sdkgen.Tool, origin func(string) string) []*group {
	by := make(map[string]*group)
	var groups []*group
	for _, t := range tools {
		server := origin(t.Name)
		g := by[server]
		if g == nil {
			g = &group{server: server, prefix: t.Name}
			by[server] = g
			groups = append(groups, g)
		}
		g.names = append(g.names, t.Name)
		for !strings.HasPrefix(t.Name, g.prefix) {
			g.prefix = g.prefix[:len(g.prefix)-1]
		}
	}
	for _, g := range groups {
		const separator = "__" // between the parts of a name (MCP-10)
		end := strings.LastIndex(g.prefix, separator)
		if end < 0 || !isPlain(g.prefix) || len(g.names) < 2 {
			g.prefix = ""
		} else {
			g.prefix = g.prefix[:end+len(separator)]
		}
		slices.Sort(g.names)
	}
	slices.SortFunc(groups, func(a, b *group) int {
		if (a.server == "") != (b.server == "") { // those of no server come last
			return cmp.Compare(len(b.server), len(a.server))
		}
		return cmp.Compare(a.server, b.server)
	})
	return groups
}

// line is the group's line in about that many bytes, with at least its server and number. `prefix*: a, b` stands for prefixa and
// prefixb.
func (g *group) line(space int) string {
	var b strings.Builder
	if g.server != "" {
		b.WriteString(visibleName(g.server))
	} else {
		b.WriteString("other tools")
	}
	fmt.Fprintf(&b, " (%d): ", len(g.names))
	if g.prefix != "" {
		b.WriteString(g.prefix + "*: ")
	}
	for i, name := range g.names {
		name = visibleName(strings.TrimPrefix(name, g.prefix))
		rest := fmt.Sprintf("and %d more", len(g.names)-i)
		last := i == len(g.names)-1
		if b.Len()+len(name)+len("\n") > space || !last && b.Len()+len(name)+len(", ")+len(rest)+len("\n") > space {
			b.WriteString(rest)
			break
		}
		b.WriteString(name)
		if !last {
			b.WriteString(", ")
		}
	}
	b.WriteByte('\n')
	return b.String()
}
