// This file defines how a tool is found by its name, and what is said of a name that no tool has (GATE-3, CODE-34).

package sdkgen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/spelling"
)

// Describe returns the declaration of the tool called name, its descriptions whole. The name that an MCP server itself gives a tool does where only one server has
// it. The error of an unknown name says which names are near.
func (x *Index) Describe(name string) (string, error) {
	found := x.find(name)
	switch {
	case len(found) == 1:
		return x.language.entry(found[0], Options{}), nil
	case len(found) > 1:
		return "", fmt.Errorf("several servers have a tool %s; name one in full: %s", quoted(name), quotedNames(found))
	case len(x.tools) == 0:
		return "", errors.New("there are no tools")
	}
	return "", fmt.Errorf("no tool is called %s; the nearest names are %s; sdk.search finds tools by what they do", quoted(name),
		quotedNames(x.nearest(name)))
}

// find returns the tool called name, or those that MCP servers call so.
func (x *Index) find(name string) []*tool {
	if t, ok := x.byName[name]; ok {
		return []*tool{t}
	}
	if name == "" {
		return nil
	}
	return x.byRaw[name]
}

// nearest returns the three tools whose names are spelled most alike.
func (x *Index) nearest(name string) []*tool {
	near := slices.Clone(x.tools)
	distance := make(map[*tool]int, len(near))
	for _, t := range near {
		_, raw := serverAndName(t.Name)
		distance[t] = min(spelling.Distance(name, t.Name), spelling.Distance(name, raw))
	}
	slices.SortStableFunc(near, func(a, b *tool) int { return cmp.Compare(distance[a], distance[b]) })
	return near[:min(3, len(near))]
}

// serverAndName takes the name of an MCP tool apart (TOOLMCP-1). Another tool has no server.
func serverAndName(name string) (server, raw string) {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if server, raw, ok := strings.Cut(rest, "__"); ok {
			return server, raw
		}
	}
	return "", name
}

func quotedNames(tools []*tool) string {
	var names []string
	for _, t := range tools[:min(len(tools), 10)] {
		names = append(names, quoted(t.Name))
	}
	return strings.Join(names, ", ")
}

// quoted returns a name as a message shows it, bounded.
func quoted(name string) string { return string(appendQuoted(nil, oneLine(name, 100), jsonQuotes)) }
