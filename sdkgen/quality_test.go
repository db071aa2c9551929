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

// How many queries of each half are to find a right tool among the first five answers. What was measured stands in the log of the test.
const (
	leastTuned   = 38
	leastHeldOut = 34
)

func TestSearchQuality(t *testing.T) {
	x := fronted(t)
	t.Run("GATE-3 the right tools exist", func(t *testing.T) {
		for _, q := range searchQueries {
			for _, right := range q.right {
				if _, ok := x.byName["mcp__"+strings.Replace(right, "/", "__", 1)]; !ok {
					t.Errorf("%q: no tool %s", q.text, right)
				}
			}
		}
	})
	for half, test := range []struct {
		name  string
		least int
	}{{"those that it was tuned with", leastTuned}, {"those that it was not tuned with", leastHeldOut}} {
		t.Run("GATE-3 plain-language queries find a right tool within five, "+test.name, func(t *testing.T) {
			found, first, all := 0, 0, 0
			var misses strings.Builder
			for i := half; i < len(searchQueries); i += 2 {
				q := searchQueries[i]
				all++
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
			t.Logf("%d of %d within five, %d as the first", found, all, first)
			if found < test.least {
				t.Errorf("expected at least %d; these did not:%s", test.least, misses.String())
			}
		})
	}
}

// BenchmarkSearchAll is a search among all the tools that the real servers have.
func BenchmarkSearchAll(b *testing.B) {
	x := fronted(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Search(searchQueries[i%len(searchQueries)].text, 5)
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
