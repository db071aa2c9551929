// This file defines the search over tools that discovery offers to programs and to the gateway (GATE-3).

package sdkgen

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Index answers questions about one set of tools: sdk.search and sdk.describe. It never changes and is safe for concurrent use.
//
// The ranking is BM25 over the words of each tool's name, description and members, each kind of text measured by its own usual length, so
// that a tool with a long manual is found by its name like any other. Words are compared without case and plural; a word of the query also
// finds longer words that begin with it, at a discount.
type Index struct {
	language *language
	options  Options
	tools    []*tool
	byName   map[string]*tool
	byRaw    map[string][]*tool // by the name that an MCP server has for it
	postings map[string][]posting
	terms    []string         // the words of the postings, sorted
	lengths  [][parts]float64 // of each tool, in words
	average  [parts]float64
}

// The texts of a tool that are searched.
const (
	nameWords = iota
	aboutWords
	memberWords
	parts
)

// How much a word of each text counts, and how much a long text is held back (BM25's b).
var (
	partWeight  = [parts]float64{4, 1, 0.7}
	partPenalty = [parts]float64{0.3, 0.75, 0.75}
)

// posting is one tool that a word occurs in, with the number of occurrences in each of its texts.
type posting struct {
	tool  int
	count [parts]float64
}

// Match is one answer of a search.
type Match struct {
	Name        string `json:"name"`
	Declaration string `json:"declaration"`
}

const (
	defaultLimit  = 5
	maxLimit      = 50
	maxQuery      = 64  // words of a query that count
	maxExpansions = 32  // longer words that a word of the query stands for
	prefixWeight  = 0.5 // how much such a word counts
	saturation    = 1.2 // BM25's k1: how fast repeating a word stops to count
)

// Index returns the index of the tools. It is made at the first call, in time in proportion to their text, and then kept.
func (s *SDK) Index() *Index { return s.index() }

func (s *SDK) newIndex() *Index {
	x := &Index{
		language: s.language, options: s.options, tools: s.tools,
		byName: map[string]*tool{}, byRaw: map[string][]*tool{}, postings: map[string][]posting{}, lengths: make([][parts]float64, len(s.tools)),
	}
	for i, t := range s.tools {
		x.byName[t.Name] = t
		x.byRaw[rawName(t.Name)] = append(x.byRaw[rawName(t.Name)], t)
		x.add(i, t)
	}
	for term := range x.postings {
		x.terms = append(x.terms, term)
	}
	slices.Sort(x.terms)
	for _, n := range x.lengths {
		for part := range parts {
			x.average[part] += n[part] / float64(len(x.lengths))
		}
	}
	return x
}

func (x *Index) add(i int, t *tool) {
	counted := func(part int) func(string) {
		return func(word string) {
			list := x.postings[word]
			if n := len(list); n == 0 || list[n-1].tool != i {
				list = append(list, posting{tool: i})
				x.postings[word] = list
			}
			list[len(list)-1].count[part]++
			x.lengths[i][part]++
		}
	}
	words(t.Name, counted(nameWords))
	words(t.Description, counted(aboutWords))
	for _, root := range []*shape{t.args, t.output} {
		root.walk(func(s *shape) []*shape {
			for _, f := range s.fields {
				words(f.name, counted(memberWords))
			}
			return s.parts()
		})
	}
}

// Search returns the tools that fit a query best, the best first, at most limit (0 or less: 5; never more than 50). A query that is a
// tool's name finds that tool first. It may be empty: nothing fits nothing.
func (x *Index) Search(query string, limit int) []Match {
	if limit <= 0 {
		limit = defaultLimit
	}
	scores := x.score(query)
	order := make([]int, 0, len(scores))
	for i, score := range scores {
		if score > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) }) // ties stay in name order
	matches := make([]Match, 0, min(limit, maxLimit, len(order)))
	for _, i := range order[:cap(matches)] {
		t := x.tools[i]
		matches = append(matches, Match{t.Name, x.language.entry(t, x.options)})
	}
	return matches
}

// score returns the score of each tool.
func (x *Index) score(query string) []float64 {
	scores := make([]float64, len(x.tools))
	best := make([]float64, len(x.tools)) // of one word of the query: what stands for it adds nothing to itself
	seen := map[string]bool{}
	words(query, func(word string) {
		if seen[word] || len(seen) >= maxQuery {
			return
		}
		seen[word] = true
		rarity := math.Inf(1)
		if len(x.postings[word]) > 0 {
			rarity = x.rarity(word)
			x.scoreTerm(best, word, rarity)
		}
		at, _ := slices.BinarySearch(x.terms, word)
		for n := 0; at < len(x.terms) && n < maxExpansions && len(word) > 2 && strings.HasPrefix(x.terms[at], word); at++ {
			if longer := x.terms[at]; longer != word {
				x.scoreTerm(best, longer, prefixWeight*min(rarity, x.rarity(longer)))
				n++
			}
		}
		for i, score := range best {
			scores[i] += score
			best[i] = 0
		}
	})
	if found := x.find(query); len(found) == 1 {
		i, _ := slices.BinarySearchFunc(x.tools, found[0].Name, func(t *tool, name string) int { return strings.Compare(t.Name, name) })
		scores[i] = math.Inf(1)
	}
	return scores
}

// rarity says how much it means that a tool has the word.
func (x *Index) rarity(term string) float64 {
	n, all := float64(len(x.postings[term])), float64(len(x.tools))
	return math.Log(1 + (all-n+0.5)/(n+0.5))
}

// scoreTerm raises the scores of the tools that have the word.
func (x *Index) scoreTerm(best []float64, term string, weight float64) {
	for _, p := range x.postings[term] {
		count := 0.0
		for part, n := range p.count {
			if n > 0 {
				held := 1 - partPenalty[part] + partPenalty[part]*x.lengths[p.tool][part]/x.average[part]
				count += partWeight[part] * n / held
			}
		}
		best[p.tool] = max(best[p.tool], weight*count/(count+saturation))
	}
}

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

// nearest returns the three tools whose names take the fewest changes.
func (x *Index) nearest(name string) []*tool {
	near := slices.Clone(x.tools)
	distance := make(map[*tool]int, len(near))
	for _, t := range near {
		distance[t] = min(editDistance(short(name), short(t.Name)), editDistance(short(name), short(rawName(t.Name))))
	}
	slices.SortStableFunc(near, func(a, b *tool) int { return cmp.Compare(distance[a], distance[b]) })
	return near[:min(3, len(near))]
}

// short bounds what a comparison of names costs.
func short(name string) string { return strings.ToLower(name[:min(len(name), 64)]) }

// rawName returns what an MCP server calls a tool with this name (TOOLMCP-1), or else the name.
func rawName(name string) string {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if _, raw, ok := strings.Cut(rest, "__"); ok {
			return raw
		}
	}
	return name
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

// editDistance counts the bytes to insert, remove or change to make one text of the other.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Question reads the argument of sdk.search: a text, or an object with a text query and a number limit.
func Question(arg jsonval.Value) (query string, limit int, err error) {
	const expected = `sdk.search takes a text, or an object such as {query: "send mail", limit: 5}`
	if arg.IsString() {
		return arg.Str(), 0, nil
	}
	q, _ := arg.Get("query")
	n, hasLimit := arg.Get("limit")
	if !q.IsString() || hasLimit && !n.IsNumber() {
		return "", 0, errors.New(expected)
	}
	return q.Str(), int(max(0, min(n.Float(), maxLimit))), nil
}
