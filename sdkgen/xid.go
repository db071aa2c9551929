// This file defines which names Python takes as bare identifiers: XID_Start, XID_Continue and NFKC (PY-7, PY-8).

package sdkgen

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// identifierStart and identifierContinue are the ranges of Unicode's ID_Start and ID_Continue, before the closure under NFKC.
func identifierStart(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start) &&
		!unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space)
}

func identifierContinue(r rune) bool {
	return identifierStart(r) ||
		unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) &&
			!unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space)
}

// isXIDStart reports whether r may begin an identifier. The X means closed under normalisation: what NFKC makes of r must be an
// identifier too, so U+0E33 and U+037A, which decompose into something that cannot begin one, are out.
func isXIDStart(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if !identifierStart(r) {
		return false
	}
	for i, n := range nfkcOf(r) {
		if i == 0 && !identifierStart(n) || i > 0 && !identifierContinue(n) {
			return false
		}
	}
	return true
}

// isXIDContinue reports whether r may follow in an identifier.
func isXIDContinue(r rune) bool {
	if r < 0x80 {
		return isXIDStart(r) || '0' <= r && r <= '9' || r == '_'
	}
	if !identifierContinue(r) {
		return false
	}
	for _, n := range nfkcOf(r) {
		if !identifierContinue(n) {
			return false
		}
	}
	return true
}

func nfkcOf(r rune) string { return nfkc(string(r)) }

func nfkc(s string) string {
	if isASCII(s) {
		return s
	}
	return norm.NFKC.String(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// isPythonIdentifier reports whether Python reads name as one identifier and declares it under exactly this spelling. A name with a
// character that shows nothing is refused as well: two such names look alike, and the escaped form tells them apart.
func isPythonIdentifier(name string) bool {
	if name == "" {
		return false
	}
	for i, r := range name {
		if r == '_' {
			continue
		}
		if i == 0 && !isXIDStart(r) || !isXIDContinue(r) || isInvisible(r) {
			return false
		}
	}
	return nfkc(name) == name
}

// isPythonKeyword reports whether name is a hard keyword, or the one name that Python forbids to assign (PY-8).
func isPythonKeyword(name string) bool {
	switch name {
	case "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
		"except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
		"return", "try", "while", "with", "yield", "__debug__":
		return true
	}
	return false
}
