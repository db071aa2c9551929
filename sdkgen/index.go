// This file defines the search over tools that discovery offers to programs and to the gateway (GATE-3): what it knows of each tool, and
// how it is asked. How answers are ranked is in rank.go.

package sdkgen

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Index answers questions about one set of tools: sdk.search and sdk.describe. It never changes and is safe for concurrent use.
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

	deprecated []bool // tools that say so of themselves
}

// The texts of a tool that are searched.
const (
	nameWords    = iota // its own name
	serverWords         // the name of the server that it comes from
	summaryWords        // the first sentence of its description
	aboutWords          // the rest of it
	memberWords         // the names of its arguments and of the members of its result
	noteWords           // the descriptions of its arguments, and the literals that they admit
	parts
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
	defaultLimit = 5
	maxLimit     = 50
)

// Index returns the index of the tools. It is made at the first call, in time in proportion to their text, and then kept.
func (s *SDK) Index() *Index { return s.index() }

func (s *SDK) newIndex() *Index {
	x := &Index{
		language: s.language, options: s.options, tools: s.tools,
		byName: map[string]*tool{}, byRaw: map[string][]*tool{}, postings: map[string][]posting{}, lengths: make([][parts]float64, len(s.tools)),
		deprecated: make([]bool, len(s.tools)),
	}
	stems := map[string]string{}
	for i, t := range s.tools {
		_, raw := serverAndName(t.Name)
		x.byName[t.Name] = t
		x.byRaw[raw] = append(x.byRaw[raw], t)
		x.add(i, t, stems)
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

// add enters one tool. stems remembers the stems of words.
func (x *Index) add(i int, t *tool, stems map[string]string) {
	enter := func(part int, text string) {
		words(text, func(word string) {
			term, known := stems[word]
			if !known {
				term = stem(word)
				stems[word] = term
			}
			list := x.postings[term]
			if n := len(list); n == 0 || list[n-1].tool != i {
				list = append(list, posting{tool: i})
				x.postings[term] = list
			}
			list[len(list)-1].count[part]++
			x.lengths[i][part]++
		})
	}
	server, name := serverAndName(t.Name)
	enter(nameWords, name)
	enter(serverWords, server)
	summary, rest := firstSentence(t.Description)
	enter(summaryWords, summary)
	x.deprecated[i] = saysDeprecated.MatchString(t.Description)
	enter(aboutWords, rest)
	for _, root := range []*shape{t.args, t.output} {
		root.walk(func(s *shape) []*shape {
			for _, f := range s.fields {
				enter(memberWords, f.name)
				enter(noteWords, f.description)
			}
			for _, literal := range s.literals {
				enter(noteWords, literal.Str())
			}
			return s.parts()
		})
	}
}

// saysDeprecated matches a sentence that begins with the word, or says it of the tool; not one about something else that is deprecated.
var saysDeprecated = regexp.MustCompile(`(?i)(?:^|[.!?\n])[^\pL\n]*deprecated\b|\b(?:this|tool|it) is deprecated\b`)

// firstSentence returns the sentence that says what a tool does, and the rest of its description.
func firstSentence(description string) (first, rest string) {
	description = strings.TrimSpace(description)
	end := len(description)
	for _, mark := range []string{"\n", ". ", "; ", ": "} {
		if at := strings.Index(description, mark); at > 0 {
			end = min(end, at)
		}
	}
	return description[:end], description[end:]
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
