// This file defines how foreign text gets into the generated text: descriptions as one harmless line, names and values as string
// literals (SDK-9, SDK-11, SDK-12, PY-22).

package sdkgen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace is the white space of ECMAScript, line ends included (SDK-9).
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0xFEFF, 0x2028, 0x2029:
		return true
	}
	return r > 0x7F && unicode.Is(unicode.Zs, r)
}

// isInvisible reports whether r shows nothing or turns the direction of its neighbours: what Unicode calls default ignorable (zero-width
// characters, bidirectional controls, tags, variation selectors) and the rest of the format characters. Such text reads differently to
// a person and to a model (SDK-11).
func isInvisible(r rune) bool {
	if r < 0xAD {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7F && r < 0xA0 }

// oneLine makes a description one line of visible text: white space runs are one space, invisible characters are gone, other control
// characters are written out, backtick runs cannot close a fence, and past limit characters (0: none) the rest is an ellipsis. What a
// comment or a docstring needs besides is up to its writer.
func oneLine(text string, limit int) string {
	if (limit <= 0 || len(text) <= limit) && isPlainLine(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	space, ticks, count := false, 0, 0
	lastSpace := -1 // length of b before its last space, where a cut looks best
	for _, r := range text {
		switch {
		case isSpace(r):
			space = b.Len() > 0
			continue
		case isInvisible(r):
			continue
		}
		if space {
			lastSpace = b.Len()
			b.WriteByte(' ')
			count++
			space, ticks = false, 0
		}
		if limit > 0 && count >= limit {
			return cutAt(b.String(), lastSpace)
		}
		if r != '`' {
			ticks = 0
		} else if ticks++; ticks > 2 {
			b.WriteByte(' ')
			ticks = 1
		}
		if isControl(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
		} else {
			b.WriteRune(r) // an invalid byte has become U+FFFD by ranging (SDK-12)
		}
		count++
	}
	return b.String()
}

// isPlainLine reports whether oneLine has nothing to do, which is nearly always so: visible ASCII with single spaces inside.
func isPlainLine(text string) bool {
	last, ticks := byte(' '), 0
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		if c != '`' {
			ticks = 0
		} else if ticks++; ticks > 2 {
			return false
		}
		last = c
	}
	return text == "" || last != ' '
}

// cutAt ends a text that is too long, at its last space if that keeps most of it.
func cutAt(text string, lastSpace int) string {
	if lastSpace > len(text)*2/3 {
		text = text[:lastSpace]
	}
	return strings.TrimRight(text, " ,;:") + "…"
}

// quoteStyle says how a string literal writes a character beyond U+FFFF that must be escaped.
type quoteStyle int

const (
	jsonQuotes   quoteStyle = iota // surrogate pairs, as JSON and TypeScript read them
	pythonQuotes                   // \UXXXXXXXX: Python would read a pair as two characters
)

// appendQuoted appends s as a string literal that means exactly s. JSON's escapes, and besides: what is invisible or would look like
// the end of a line or of the fence is escaped instead of removed, since a name has to stay reachable as it is registered (SDK-16).
func appendQuoted(b []byte, s string, style quoteStyle) []byte {
	b = append(b, '"')
	ticks := 0 // length of the present run of backticks
	for i, r := range s {
		if r != '`' {
			ticks = 0
		} else if ticks == 0 {
			ticks = len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		}
		switch {
		case ticks >= 3:
			b = append(b, `\u0060`...)
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\b':
			b = append(b, '\\', 'b')
		case r == '\f':
			b = append(b, '\\', 'f')
		case isControl(r), r == 0x2028, r == 0x2029, isInvisible(r) && r <= 0xFFFF:
			b = fmt.Appendf(b, `\u%04x`, r)
		case isInvisible(r) && style == pythonQuotes:
			b = fmt.Appendf(b, `\U%08x`, r)
		case isInvisible(r):
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
