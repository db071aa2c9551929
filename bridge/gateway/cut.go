package gateway

// This file defines how texts are made to fit.

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// shares divides a space among texts of these sizes: the small ones are whole, and the large ones get the same.
func shares(sizes []int64, space int64) []int64 {
	ascending := make([]int, len(sizes))
	for i := range ascending {
		ascending[i] = i
	}
	slices.SortStableFunc(ascending, func(a, b int) int { return int(min(max(sizes[a]-sizes[b], -1), 1)) })
	out := make([]int64, len(sizes))
	for done, i := range ascending {
		out[i] = min(sizes[i], space/int64(len(sizes)-done))
		space -= out[i]
	}
	return out
}

// cutMiddle leaves the first and the last half of limit bytes of a longer text, and says in between what is missing and where
// the whole is; uri is "" if it is nowhere. Characters stay whole.
func cutMiddle(text string, limit int, uri string) string {
	head, tail := limit/2, len(text)-(limit-limit/2)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	where := "the whole is too large to be kept"
	if uri != "" {
		where = "the whole is the resource " + uri
	}
	return fmt.Sprintf("%s\n[… %d of %d bytes are left out here: %s …]\n%s", text[:head], tail-head, len(text), where, text[tail:])
}

// cutEnd leaves at most limit bytes of a text and says how many are missing. Characters stay whole.
func cutEnd(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return fmt.Sprintf("%s\n[… %d more bytes]", text[:limit], len(text)-limit)
}
