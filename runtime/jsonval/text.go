package jsonval

// This file defines the JSON form of strings: printing, and its cost.

import (
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, by the high bit of its byte, the first of the eight bytes of w that a JSON string cannot hold as itself:
// a quote, a backslash or a control character. The bits above the lowest one mean nothing.
func special(w uint64) uint64 {
	quote := w ^ '"'*lows
	slash := w ^ '\\'*lows
	return ((w-0x20*lows)&^w | (quote-lows)&^quote | (slash-lows)&^slash) & highs
}

// plainPrefix returns how many bytes of s, from position i on, need no escape; it returns the position after them.
func plainPrefix(s string, i int) int {
	p := unsafe.Pointer(unsafe.StringData(s))
	for ; i+8 <= len(s); i += 8 {
		b := (*[8]byte)(unsafe.Add(p, i))
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		if m := special(w); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// StringSize returns how many bytes s takes as JSON, quotes included (LOG-9). Bytes that are not UTF-8 count as U+FFFD,
// which is what [AppendString] prints for them.
func StringSize(s string) int64 {
	n := int64(len(s)) + 2
	for i := plainPrefix(s, 0); i < len(s); i = plainPrefix(s, i+1) {
		n += int64(len(escape(s[i]))) - 1
	}
	if !utf8.ValidString(s) {
		for i := 0; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				n += int64(len("\uFFFD")) - 1
			}
			i += size
		}
	}
	return n
}

// AppendString appends s as a JSON string. It escapes what JSON demands and nothing else (LOG-9); each byte that is not
// UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if !utf8.ValidString(s) {
		s = wellFormed(s)
	}
	return append(appendEscaped(dst, s), '"')
}

// appendEscaped appends what stands between the quotes of s.
func appendEscaped(dst []byte, s string) []byte {
	from := 0
	for {
		i := plainPrefix(s, from)
		dst = append(dst, s[from:i]...)
		if i == len(s) {
			return dst
		}
		dst = append(dst, escape(s[i])...)
		from = i + 1
	}
}

func wellFormed(s string) string {
	b := make([]byte, 0, len(s)+8)
	for _, r := range s {
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// escape returns the escape sequence of a quote, a backslash or a control character.
func escape(c byte) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	}
	return controlEscapes[c]
}

var controlEscapes = [0x20]string{
	`\u0000`, `\u0001`, `\u0002`, `\u0003`, `\u0004`, `\u0005`, `\u0006`, `\u0007`,
	`\b`, `\t`, `\n`, `\u000b`, `\f`, `\r`, `\u000e`, `\u000f`,
	`\u0010`, `\u0011`, `\u0012`, `\u0013`, `\u0014`, `\u0015`, `\u0016`, `\u0017`,
	`\u0018`, `\u0019`, `\u001a`, `\u001b`, `\u001c`, `\u001d`, `\u001e`, `\u001f`,
}
