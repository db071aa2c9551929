// This file defines how a section is put together, and what it shows when it cannot show everything (GATE-3).

package sdkgen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// compose returns the section, and whether it leaves tools to discovery.
func (s *SDK) compose() (string, bool) {
	l := s.language
	full := l.texts.instructions + introduction + l.fenced(s.declarations)
	if s.options.MaxTokens == 0 || Tokens(full) <= s.options.MaxTokens {
		return full, false
	}
	head := l.texts.instructions + l.texts.discovery + introduction
	part := &sample{results: slices.ContainsFunc(s.tools, func(t *tool) bool { return t.output.kind == resultKind })}
	left := 4*s.options.MaxTokens - len(head+l.fenced(l.declarations(nil, s.options, part)))
	part.index = l.index(s.tools, left)
	chosen := s.choose(left - len(part.index))
	return head + l.fenced(l.declarations(chosen, s.options, part)), true
}

func (l *language) fenced(code string) string { return "```" + l.fence + "\n" + code + "```\n" }

// choose returns the tools whose declarations fit into a number of bytes, in name order: the used ones first, the most used at the
// front; then the shortest. Unused ones are left out if that would show less than half of the set, since a random handful of many costs
// its tokens in every request and is hardly ever what is needed.
func (s *SDK) choose(left int) []*tool {
	type candidate struct {
		tool *tool
		uses int64
		size int
	}
	list := make([]candidate, len(s.tools))
	for i, t := range s.tools {
		list[i] = candidate{t, max(0, s.options.Usage[t.Name]), len(s.language.entry(t, s.options)) + 2*len(t.Name)}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.uses, a.uses), cmp.Compare(a.size, b.size)) })
	var chosen []*tool
	used := 0
	for _, c := range list {
		if c.size > left {
			continue
		}
		left -= c.size
		chosen = append(chosen, c.tool)
		if c.uses > 0 {
			used++
		}
	}
	if 2*len(chosen) < len(s.tools) {
		chosen = chosen[:used]
	}
	slices.SortFunc(chosen, func(a, b *tool) int { return strings.Compare(a.Name, b.Name) })
	return chosen
}

// index names tools in comments, one line for each prefix that several share. In a space that is too small for all names each line says
// how many it leaves out; only the number of lines sets how small it can get.
func (l *language) index(tools []*tool, space int) string {
	groups := groupsOf(tools)
	total := 0
	for _, g := range groups {
		total += g.size
	}
	var b strings.Builder
	b.WriteString(l.comment + "Index of all " + strconv.Itoa(len(tools)) + " tools. `prefix*: a, b` stands for the tools prefixa and prefixb.\n")
	space -= b.Len()
	for _, g := range groups {
		g.write(&b, l.comment, g.share(space, total))
	}
	return b.String()
}

// group is the tools of one server or prefix.
type group struct {
	prefix string
	names  []string // without the prefix, as they are written
	size   int      // bytes of the whole line
}

// groupsOf groups sorted tools by prefix: for an MCP server's tools (TOOLMCP-1) the server, else the part before the first separator if at
// least three tools share it.
func groupsOf(tools []*tool) []group {
	shared := map[string]int{}
	for _, t := range tools {
		shared[prefixOf(t.Name)]++
	}
	at := map[string]int{}
	var groups []group
	for _, t := range tools {
		prefix := prefixOf(t.Name)
		if shared[prefix] < 3 && !strings.HasPrefix(prefix, "mcp__") {
			prefix = ""
		}
		i, ok := at[prefix]
		if !ok {
			i = len(groups)
			at[prefix] = i
			groups = append(groups, group{prefix: prefix, size: len(prefix) + 8})
		}
		g := &groups[i]
		name := indexed(strings.TrimPrefix(t.Name, prefix))
		g.names = append(g.names, name)
		g.size += len(name) + 2
	}
	return groups
}

// indexed returns a name as the index shows it: bare if nothing in it could be mistaken for the index itself, else quoted.
func indexed(name string) string {
	if name != "" && isPlain(name) {
		return name
	}
	return string(appendQuoted(nil, name, jsonQuotes))
}

func isPlain(name string) bool {
	for _, c := range []byte(name) {
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
		if !plain {
			return false
		}
	}
	return true
}

func prefixOf(name string) string {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if i := strings.Index(rest, "__"); i > 0 && isPlain(rest[:i]) {
			return name[:len("mcp__")+i+2]
		}
	}
	if i := strings.IndexAny(name, "_-."); i > 0 && i < len(name)-1 && isPlain(name[:i]) {
		return name[:i+1]
	}
	return ""
}

// share returns how many bytes of a space for all groups are this one's.
func (g *group) share(space, total int) int {
	if total <= space {
		return g.size
	}
	return max(0, space) * g.size / total
}

// write writes the line of a group with as many names as fit, at least one.
func (g *group) write(b *strings.Builder, comment string, space int) {
	b.WriteString(comment + g.prefix + "*: ")
	space -= len(comment) + len(g.prefix) + len("*: \n")
	for i, name := range g.names {
		if i > 0 {
			rest := len(g.names) - i
			if space -= len(name) + 2; space < len(", and 000 more") && rest > 1 {
				b.WriteString(", and " + strconv.Itoa(rest) + " more")
				break
			}
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	b.WriteByte('\n')
}
