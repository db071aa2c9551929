package runtime

// This file defines the token scanner: one linear scan over source text that nobody has checked. The input guard
// (HOSTILE-9), the lowering of namespaces (RUN-34) and the unwrapping (CODE-33) all stand on it.
//
// Strings, templates, comments and brackets are exact. Whether a slash divides or starts a regular expression is not
// decidable without a parser for types (`let x: T` + newline + `/re/`), so the scanner answers only when the preceding
// token settles it. A slash in doubt takes the likelier reading, or the other one where scanner.choice says so: who
// must not be fooled scans the text once for each combination (see guard.go).

import "unicode/utf8"

type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokName
	tokPrivate // #name
	tokNumber
	tokString
	tokTemplate     // `…` or the last piece }…`
	tokTemplateOpen // `…${ or }…${ : code follows
	tokRegex
	tokPunct
)

// Operators of more than one character, and the ones that several characters stand for. Others are their own byte.
const (
	opArrow    = 128 + iota // =>
	opOptional              // ?.
	opNullish               // ??
	opPower                 // **
	opStep                  // ++ --
	opSpread                // ...
	opAssign                // = and compound assignments
	opCompare               // == != <= and the like, but not a lone < or >
	opLogic                 // && ||
	opShift                 // <<
)

// token is one token of the source: src[start:end].
type token struct {
	kind    tokenKind
	op      byte // for tokPunct
	word    word // for tokName
	newline bool // a line ends between the preceding token and this one
	start   int
	end     int
}

func (t token) is(op byte) bool { return t.kind == tokPunct && t.op == op }

// after is what a token says about a slash behind it.
type after uint8

const (
	afterOperator  after = iota // a regular expression can follow, a division cannot
	afterOperand                // a division; or, on a new line behind a type, a regular expression
	afterHead                   // ) of if, while, for, with: a statement follows
	afterBrace                  // } : a block's or an object's
	afterAmbiguous              // > ! ++ and words that are only sometimes keywords
)

// bracket is an open bracket: what stood before it decides what follows its end.
type bracket struct {
	open byte // ( [ { or ` for the ${ of a template
	head bool // the ( of if, while, for, with
}

type scanner struct {
	src      string
	pos      int
	prev     token
	after    after
	forAwait bool // prev is the await of `for await`
	brackets []bracket

	choice uint32 // bit n: the n-th slash in doubt takes the unlikelier reading
	doubts int    // slashes in doubt so far
	looked int    // bytes that were looked at to find ends of regular expressions
	broken bool   // the text ends within a token: no parser gets beyond

	unbalanced int // offset of a bracket + 1 that closes none
	html       int // offset of an HTML-like comment + 1
}

// maxLook bounds the search for ends of regular expressions in a text of n bytes, which would otherwise be quadratic.
func maxLook(n int) int { return 8*n + 1<<16 }

// next returns the next token; after the last one, and from a place on that no parser gets beyond, tokEOF.
func (s *scanner) next() token {
	t := token{newline: s.skipBlank(), start: s.pos}
	if s.pos >= len(s.src) || s.broken {
		t.start, t.end = len(s.src), len(s.src)
		return t
	}
	c := s.src[s.pos]
	switch {
	case isNameStart(c) || c == '\\':
		t.kind = tokName
		s.pos = skipName(s.src, s.pos)
		t.word = wordOf(s.src[t.start:s.pos])
	case '0' <= c && c <= '9', c == '.' && s.digitAt(s.pos+1):
		t.kind = tokNumber
		s.skipNumber()
	case c == '"' || c == '\'':
		t.kind = tokString
		s.skipString(c)
	case c == '`':
		s.pos++
		t.kind = s.skipTemplate()
	case c == '#' && s.pos+1 < len(s.src) && (isNameStart(s.src[s.pos+1]) || s.src[s.pos+1] == '\\'):
		t.kind = tokPrivate
		s.pos = skipName(s.src, s.pos+1)
	case c == '}' && s.top().open == '`':
		s.brackets = s.brackets[:len(s.brackets)-1]
		s.pos++
		t.kind = s.skipTemplate()
	case c == '/' && s.slashIsRegex(t.newline):
		t.kind = tokRegex
	default:
		t.kind = tokPunct
		t.op = s.punct()
		if c == '<' && s.html == 0 && hasPrefixAt(s.src, t.start, "<!--") {
			s.html = t.start + 1
		}
		if t.op == opStep && c == '-' && s.html == 0 && (t.newline || s.prev.end == 0) && hasPrefixAt(s.src, t.start, "-->") {
			s.html = t.start + 1
		}
	}
	if s.broken {
		s.pos = len(s.src)
		return token{start: len(s.src), end: len(s.src), newline: t.newline}
	}
	t.end = s.pos
	s.settle(t)
	return t
}

func (s *scanner) top() bracket {
	if len(s.brackets) == 0 {
		return bracket{}
	}
	return s.brackets[len(s.brackets)-1]
}

// settle records t as the preceding token and what may follow it.
func (s *scanner) settle(t token) {
	a := afterOperand
	switch t.kind {
	case tokName:
		if !s.prev.is('.') && !s.prev.is(opOptional) {
			switch {
			case t.word.beforeExpression():
				a = afterOperator
			case t.word.maybeBeforeExpression():
				a = afterAmbiguous
			}
		}
	case tokTemplateOpen:
		s.brackets = append(s.brackets, bracket{open: '`'})
		a = afterOperator
	case tokPunct:
		a = s.settlePunct(t)
	}
	s.forAwait = t.word == wordPrefix && s.prev.word == wordFor
	s.prev, s.after = t, a
}

func (s *scanner) settlePunct(t token) after {
	switch t.op {
	case '(':
		// `if` as a member's name makes no difference: behind `.if(x)` a slash is in doubt only on a new line.
		head := s.prev.kind == tokName && (s.prev.word.isHead() && s.after == afterOperator || s.forAwait)
		s.brackets = append(s.brackets, bracket{open: '(', head: head})
	case '[', '{':
		s.brackets = append(s.brackets, bracket{open: t.op})
	case ')', ']', '}':
		b := s.top()
		if b.open == opening(t.op) {
			s.brackets = s.brackets[:len(s.brackets)-1]
		} else if s.unbalanced == 0 {
			s.unbalanced = t.start + 1
		}
		switch {
		case t.op == '}':
			return afterBrace
		case b.head && t.op == ')':
			return afterHead
		}
		return afterOperand
	case '>', opStep:
		return afterAmbiguous
	case '!':
		if s.after != afterOperator && !t.newline {
			return afterAmbiguous
		}
	}
	return afterOperator
}

func opening(c byte) byte {
	switch c {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}

// slashIsRegex decides what the slash at pos is and, for a regular expression, moves behind it.
func (s *scanner) slashIsRegex(newline bool) bool {
	likely := true
	switch s.after {
	case afterOperator, afterHead:
		end, ok := s.regexEnd()
		if !ok {
			s.broken = true
			return false
		}
		s.pos = end
		return true
	case afterOperand:
		if !newline {
			return false
		}
		likely = false
	}
	end, ok := s.regexEnd()
	if !ok {
		return false
	}
	regex := likely != (s.choice>>min(s.doubts, 31)&1 == 1)
	s.doubts++
	if regex {
		s.pos = end
	}
	return regex
}

// regexEnd returns the end of the regular expression that starts at pos; false when there is none on this line.
func (s *scanner) regexEnd() (int, bool) {
	class := false
	for i := s.pos + 1; i < len(s.src); i++ {
		s.looked++
		switch c := s.src[i]; c {
		case '\\':
			i++
			if i < len(s.src) && lineBreak(s.src, i) > 0 {
				return 0, false
			}
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return skipName(s.src, i+1), true
			}
		case '\n', '\r':
			return 0, false
		case 0xE2:
			if lineBreak(s.src, i) > 0 {
				return 0, false
			}
		}
	}
	return 0, false
}

// skipBlank moves behind white space and comments and reports whether a line ended in them.
func (s *scanner) skipBlank() (newline bool) {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			s.pos++
		case c == '\n' || c == '\r':
			newline = true
			s.pos++
		case c == '/' && hasPrefixAt(s.src, s.pos, "//"):
			for s.pos < len(s.src) && lineBreak(s.src, s.pos) == 0 {
				s.pos++
			}
		case c == '/' && hasPrefixAt(s.src, s.pos, "/*"):
			s.pos += 2
			closed := false
			for s.pos < len(s.src) && !closed {
				n := lineBreak(s.src, s.pos)
				switch {
				case n > 0:
					newline = true
					s.pos += n
				case hasPrefixAt(s.src, s.pos, "*/"):
					closed = true
					s.pos += 2
				default:
					s.pos++
				}
			}
			s.broken = s.broken || !closed
		case c >= utf8.RuneSelf:
			if n := lineBreak(s.src, s.pos); n > 0 {
				newline = true
				s.pos += n
			} else if n := blankRune(s.src, s.pos); n > 0 {
				s.pos += n
			} else {
				return newline
			}
		default:
			return newline
		}
	}
	return newline
}
