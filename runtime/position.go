package runtime

// This file defines positions in text: lines from 1, columns from 1 in UTF-16 units (RUN-39).

import (
	"fmt"
	"unicode/utf8"
)

// positionAt returns the position of the byte at offset.
func positionAt(src string, offset int) (line, column int) {
	line, start := 1, 0
	for i := 0; i < offset; {
		n := lineBreak(src, i)
		switch {
		case n == 0:
			i++
		case src[i] == '\r' && i+1 < len(src) && src[i+1] == '\n':
			i++ // the LF ends the line
		default:
			i += n
			line, start = line+1, i
		}
	}
	return line, utf16Len(src[start:max(start, offset)]) + 1
}

// utf16Len returns the length of s in UTF-16 units.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

// utf16Offset returns the byte offset of the UTF-16 unit at index n of s, at most len(s).
func utf16Offset(s string, n int) int {
	for i := 0; i < len(s); {
		if n <= 0 {
			return i
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		n--
		if r >= 0x10000 {
			n--
		}
		i += size
	}
	return len(s)
}

// programFile is the name of the model's text in messages and frames.
const programFile = "program.ts"

// syntaxFailure is the failure of a program that does not parse: the reason and the position (RUN-37).
func syntaxFailure(src string, offset int, reason string) *Failure {
	line, column := positionAt(src, offset)
	return &Failure{
		Kind:    Exception,
		Message: fmt.Sprintf("SyntaxError: %s%s (%s:%d:%d)", reason, syntaxAdvice(src, offset, reason), programFile, line, column),
		Line:    line,
		Column:  column,
	}
}
