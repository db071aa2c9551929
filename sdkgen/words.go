// This file defines how names and prose are taken apart into the words that a search compares.

package sdkgen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words calls yield with each word of text in lower case: split at everything that is no letter or digit and where a new word begins
// inside of a name (readFile, HTTPServer). A script without spaces gives single characters.
func words(text string, yield func(string)) {
	start := -1 // of the present word
	var before, last rune
	end := func(at int) {
		if start >= 0 {
			yield(strings.ToLower(text[start:at]))
		}
		start = -1
	}
	lastAt := 0
	for i, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end(i)
			yield(string(r))
			before, last = 0, 0
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && !unicode.IsUpper(last):
			end(i)
			start = i
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before) && !isPluralEnd(text[i:]):
			end(lastAt)
			start = lastAt
		}
		before, last, lastAt = last, r, i
	}
	end(len(text))
}

// isPluralEnd reports whether text begins with the s of an acronym's plural, as in IDs.
func isPluralEnd(text string) bool {
	rest, ok := strings.CutPrefix(text, "s")
	next, _ := utf8.DecodeRuneInString(rest)
	return ok && !unicode.IsLower(next)
}
