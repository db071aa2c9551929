// This file defines how well a tool fits a query: BM25 over several texts of each tool, on stems.

package sdkgen

import (
	"math"
	"slices"
	"strings"
)

// How much a word of each text counts, and how much a long text is held back (BM25's b). Each kind of text is measured by its own usual
// length, so that a tool with a long manual is found by its name like any other.
var (
	partWeight  = [parts]float64{nameWords: 4, serverWords: 0.75, summaryWords: 2, aboutWords: 1, memberWords: 0.4, noteWords: 0.2}
	partPenalty = [parts]float64{nameWords: 0.3, serverWords: 0, summaryWords: 0.3, aboutWords: 0.75, memberWords: 0.75, noteWords: 0.75}
)

const (
	maxQuery      = 64  // words of a query that count
	maxExpansions = 32  // longer words that a word of the query stands for
	prefixWeight  = 0.5 // how much such a word counts
	synonymWeight = 0.6 // how much a word of the same meaning counts
	outdated      = 0.5 // how much a tool counts that says of itself that it is deprecated
	saturation    = 1.2 // BM25's k1: how fast repeating a word stops to count
)

// score returns the score of each tool.
func (x *Index) score(query string) []float64 {
	scores := make([]float64, len(x.tools))
	best := make([]float64, len(x.tools)) // of one word of the query: what stands for it adds nothing to itself
	for _, term := range asked(query) {
		x.scoreWord(best, term)
		for i, score := range best {
			scores[i] += score
			best[i] = 0
		}
	}
	for i := range scores {
		if x.deprecated[i] {
			scores[i] *= outdated
		}
	}
	if found := x.find(query); len(found) == 1 {
		i, _ := slices.BinarySearchFunc(x.tools, found[0].Name, func(t *tool, name string) int { return strings.Compare(t.Name, name) })
		scores[i] = math.Inf(1)
	}
	return scores
}

// asked returns the stems of the words of a query that say something: all of them if none does.
func asked(query string) []string {
	var telling, all []string
	words(query, func(word string) {
		if len(all) >= maxQuery {
			return
		}
		term := stem(word)
		if slices.Contains(all, term) {
			return
		}
		all = append(all, term)
		if !fillers[word] {
			telling = append(telling, term)
		}
	})
	if len(telling) > 0 {
		return telling
	}
	return all
}

// scoreWord raises the scores of the tools that have a word of the query, a word of the same meaning, or a longer word that begins with it.
func (x *Index) scoreWord(best []float64, term string) {
	rarity := math.Inf(1)
	if len(x.postings[term]) > 0 {
		rarity = x.rarity(term)
		x.scoreTerm(best, term, rarity)
	}
	for _, other := range synonyms[term] {
		if len(x.postings[other]) > 0 {
			x.scoreTerm(best, other, synonymWeight*min(rarity, x.rarity(other)))
		}
	}
	if len(x.postings[term]) > 0 {
		return
	}
	at, _ := slices.BinarySearch(x.terms, term)
	for n := 0; at < len(x.terms) && n < maxExpansions && len(term) > 2 && strings.HasPrefix(x.terms[at], term); at++ {
		if longer := x.terms[at]; longer != term {
			x.scoreTerm(best, longer, prefixWeight*min(rarity, x.rarity(longer)))
			n++
		}
	}
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
