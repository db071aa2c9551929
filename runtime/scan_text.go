package runtime

// This file defines where the scanner's numbers, strings, templates, operators and names end.

import "unicode/utf8"

func (s *scanner) digitAt(i int) bool {
	return i < len(s.src) && '0' <= s.src[i] && s.src[i] <= '9'
}

// skipNumber takes digits, letters, dots and a signed exponent: enough to find the end of every number.
func (s *scanner) skipNumber() {
	start := s.pos
	dot := false
	hex := hasPrefixAt(s.src, start, "0x") || hasPrefixAt(s.src, start, "0X")
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == '.' && !dot && !hex:
			dot = true
		case (c == '+' || c == '-') && !hex && s.pos > start && s.src[s.pos-1]|0x20 == 'e':
		case '0' <= c && c <= '9', c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		default:
			return
		}
		s.pos++
	}
}

func (s *scanner) skipString(quote byte) {
	for i := s.pos + 1; i < len(s.src); i++ {
		switch s.src[i] {
		case quote:
			s.pos = i + 1
			return
		case '\\':
			i++ // \ and CR LF: the LF would end the string
			if i+1 < len(s.src) && s.src[i] == '\r' && s.src[i+1] == '\n' {
				i++
			}
		case '\n', '\r':
			s.broken = true
			return
		}
	}
	s.broken = true
}

// skipTemplate moves behind the template text at pos.
func (s *scanner) skipTemplate() tokenKind {
	for i := s.pos; i < len(s.src); i++ {
		switch s.src[i] {
		case '`':
			s.pos = i + 1
			return tokTemplate
		case '\\':
			i++
		case '$':
			if i+1 < len(s.src) && s.src[i+1] == '{' {
				s.pos = i + 2
				return tokTemplateOpen
			}
		}
	}
	s.broken = true
	return tokTemplate
}

// punct takes the operator at pos.
func (s *scanner) punct() byte {
	rest := s.src[s.pos:min(s.pos+4, len(s.src))]
	c := rest[0]
	n, op := 1, c
	at := func(i int) byte {
		if i < len(rest) {
			return rest[i]
		}
		return 0
	}
	switch c {
	case '=':
		switch {
		case at(1) == '>':
			n, op = 2, opArrow
		case at(1) == '=' && at(2) == '=':
			n, op = 3, opCompare
		case at(1) == '=':
			n, op = 2, opCompare
		default:
			op = opAssign
		}
	case '!':
		switch {
		case at(1) == '=' && at(2) == '=':
			n, op = 3, opCompare
		case at(1) == '=':
			n, op = 2, opCompare
		}
	case '?':
		switch {
		case at(1) == '?' && at(2) == '=':
			n, op = 3, opAssign
		case at(1) == '?':
			n, op = 2, opNullish
		case at(1) == '.' && (at(2) < '0' || at(2) > '9'):
			n, op = 2, opOptional
		}
	case '.':
		if at(1) == '.' && at(2) == '.' {
			n, op = 3, opSpread
		}
	case '+', '-':
		switch at(1) {
		case c:
			n, op = 2, opStep
		case '=':
			n, op = 2, opAssign
		}
	case '*':
		switch {
		case at(1) == '*' && at(2) == '=':
			n, op = 3, opAssign
		case at(1) == '*':
			n, op = 2, opPower
		case at(1) == '=':
			n, op = 2, opAssign
		}
	case '&', '|':
		switch {
		case at(1) == c && at(2) == '=':
			n, op = 3, opAssign
		case at(1) == c:
			n, op = 2, opLogic
		case at(1) == '=':
			n, op = 2, opAssign
		}
	case '/', '%', '^':
		if at(1) == '=' {
			n, op = 2, opAssign
		}
	case '<':
		switch {
		case at(1) == '<' && at(2) == '=':
			n, op = 3, opAssign
		case at(1) == '=':
			n, op = 2, opCompare
		}
	case '>':
		if at(1) == '=' && at(2) != '>' { // not the => of `(): Array<T>=>`
			n = 2
		}
	}
	s.pos += n
	return byte(op)
}

// isNameStart takes every byte beyond ASCII for part of a name: the white space there is skipped before.
func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

// skipName returns the end of the name that starts at i, unicode escapes included.
func skipName(src string, i int) int {
	for i < len(src) {
		switch {
		case src[i] == '\\':
			i++
			if hasPrefixAt(src, i, "u{") {
				for i < len(src) && src[i] != '}' && isNamePart(src[i]) || i < len(src) && src[i] == '{' {
					i++
				}
				if i < len(src) && src[i] == '}' {
					i++
				}
			}
		case src[i] < utf8.RuneSelf:
			if !isNamePart(src[i]) {
				return i
			}
			i++
		case lineBreak(src, i) > 0 || blankRune(src, i) > 0:
			return i
		default:
			i++
		}
	}
	return i
}

func isNamePart(c byte) bool { return isNameStart(c) || '0' <= c && c <= '9' }

// lineBreak returns the length of the line terminator at i, or 0.
func lineBreak(src string, i int) int {
	switch src[i] {
	case '\n', '\r':
		return 1
	case 0xE2:
		if hasPrefixAt(src, i, "\u2028") || hasPrefixAt(src, i, "\u2029") {
			return 3
		}
	}
	return 0
}

// blankRune returns the length of the white space beyond ASCII at i, or 0.
func blankRune(src string, i int) int {
	switch r, n := utf8.DecodeRuneInString(src[i:]); r {
	case 0x00A0, 0x1680, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return n
	default:
		if 0x2000 <= r && r <= 0x200A {
			return n
		}
	}
	return 0
}

func hasPrefixAt(s string, i int, prefix string) bool {
	return len(s)-i >= len(prefix) && s[i:i+len(prefix)] == prefix
}
