package sdkgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// fronted returns the index over the tools of all real servers, each under the name that it has when the servers are fronted.
func fronted(t testing.TB) *Index {
	t.Helper()
	servers := realServers(t)
	var all []Tool
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		for _, tool := range servers[server] {
			tool.Name = "mcp__" + server + "__" + tool.Name
			all = append(all, tool)
		}
	}
	s, err := New("typescript", all, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Index()
}

// rank is the place of the first right tool among the answers, from 1; 0 if it is not there.
func (q searchQuery) rank(answers []Match) int {
	return 1 + slices.IndexFunc(answers, func(m Match) bool {
		server, name := serverAndName(m.Name)
		return slices.Contains(q.right, server+"/"+name)
	})
}

// How many queries of each table are to find a right tool among the first five answers. What was measured stands in the log of the test.
const (
	leastTuned   = 72
	leastHeldOut = 36
)

func TestSearchQuality(t *testing.T) {
	x := fronted(t)
	for _, table := range []struct {
		name    string
		queries []searchQuery
		least   int
	}{{"tuned", tunedQueries, leastTuned}, {"held out", heldOutQueries, leastHeldOut}} {
		t.Run("GATE-3 plain-language queries find a right tool within five: "+table.name, func(t *testing.T) {
			found, first := 0, 0
			var misses strings.Builder
			for _, q := range table.queries {
				for _, right := range q.right {
					if _, ok := x.byName["mcp__"+strings.Replace(right, "/", "__", 1)]; !ok {
						t.Errorf("%q: no tool %s", q.text, right)
					}
				}
				switch q.rank(x.Search(q.text, 5)) {
				case 0:
					fmt.Fprintf(&misses, "\n%q", q.text)
				case 1:
					first++
					fallthrough
				default:
					found++
				}
			}
			t.Logf("%d of %d within five, %d as the first", found, len(table.queries), first)
			if found < table.least {
				t.Errorf("expected at least %d; these did not:%s", table.least, misses.String())
			}
		})
	}
}

// BenchmarkSearchAll is a search among all the tools that the real servers have.
func BenchmarkSearchAll(b *testing.B) {
	x := fronted(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Search(tunedQueries[i%len(tunedQueries)].text, 5)
	}
}

// BenchmarkIndexAll is the making of the index that the first search waits for.
func BenchmarkIndexAll(b *testing.B) {
	x := fronted(b)
	s := &SDK{language: x.language, options: x.options, tools: x.tools}
	b.ReportAllocs()
	for b.Loop() {
		s.newIndex()
	}
}
