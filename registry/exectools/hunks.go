package exectools

import "strings"

// hunk is one piece of a change: whole lines before and after, with lines around them (CARD-44).
type hunk struct {
	Old string `json:"old"`
	New string `json:"new"`
}

const (
	hunkContext = 3 // lines around a change
	maxHunks    = 50
)

// replacementHunks are the hunks of replacing every old in text. Changes whose surroundings touch share a hunk. Of very large or very many
// changes there are none.
func replacementHunks(text, old, new string) []hunk {
	hunks := []hunk{}
	size := 0
	for from := 0; ; {
		first := strings.Index(text[from:], old)
		if first < 0 {
			return hunks
		}
		first += from
		start, end := linesBefore(text, first), linesAfter(text, first+len(old))
		start = max(start, from)
		for next := first + len(old); ; { // further places whose surroundings begin before this ends
			i := strings.Index(text[next:], old)
			if i < 0 || linesBefore(text, next+i) >= end {
				break
			}
			next += i + len(old)
			end = linesAfter(text, next)
		}
		h := hunk{Old: text[start:end], New: strings.ReplaceAll(text[start:end], old, new)}
		if size += len(h.Old) + len(h.New); size > maxMetaBytes || len(hunks) == maxHunks {
			return []hunk{}
		}
		hunks = append(hunks, h)
		from = end
	}
}

// linesBefore is where the line hunkContext lines before the one of position at begins.
func linesBefore(text string, at int) int {
	for range hunkContext + 1 {
		i := strings.LastIndexByte(text[:at], '\n')
		if i < 0 {
			return 0
		}
		at = i
	}
	return at + 1
}

// linesAfter is where the line hunkContext lines after the one that holds the byte before at ends.
func linesAfter(text string, at int) int {
	if at > 0 && text[at-1] == '\n' {
		at-- // a change that ends with its line
	}
	for range hunkContext + 1 {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}
