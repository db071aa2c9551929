package main

// This file defines how foreign text is made safe to show (CLI-5): a log entry, a tool's description or a server's error may hold
// sequences that move the cursor, rewrite the title bar or turn the reading direction round.

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// escapeControls shows C0 (but LF and TAB), DEL, C1 and bidirectional controls as \uXXXX, and bytes that are no UTF-8 as U+FFFD.
func escapeControls(s string) string { return escape(s, isControl) }

// escapeInvisible also shows what a terminal would not show at all: zero-width and tag characters (SDK-11).
func escapeInvisible(s string) string {
	return escape(s, func(r rune) bool { return isControl(r) || isInvisible(r) })
}

func escape(s string, mark func(rune) bool) string {
	clean := utf8.ValidString(s)
	if clean && strings.IndexFunc(s, mark) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s { // invalid bytes come as U+FFFD
		switch {
		case !mark(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isControl(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

func isInvisible(r rune) bool {
	return r == 0x00ad || r == 0x180e || r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f
}
