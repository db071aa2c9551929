// Package commented looks at JSON as people write it: with comments and trailing commas.
package commented

import "bytes"

// Deeper reports whether brackets outside of strings and comments nest deeper than limit: the parser of commented JSON calls
// itself for each level.
func Deeper(text []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i += commentLength(text[i:])
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth = max(depth-1, 0)
		}
	}
	return false
}

// commentLength is how far the comment at the start of text reaches beyond its first byte; 0 if there is none.
func commentLength(text []byte) int {
	end := -1
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		end = bytes.IndexByte(text, '\n')
	case bytes.HasPrefix(text, []byte("/*")):
		if end = bytes.Index(text[2:], []byte("*/")); end >= 0 {
			end += 3
		}
	default:
		return 0
	}
	if end < 0 {
		return len(text)
	}
	return end
}
