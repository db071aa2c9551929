package runtime

// This file defines what a Code tells of the program that it was made from, for those who read programs before they run
// (GATE-7).

import "sync"

// Source returns the model's text as it was read: in valid UTF-8, with what was unwrapped (CODE-33) blanked, so that all
// offsets and positions are the model's. called says that the text is one function expression, which is called, and not
// the body of a function.
func (c *Code) Source() (text string, called bool) { return c.source, c.called }

// PositionOf returns the position of the byte at offset of the source: 1-based, the column in UTF-16 units.
func (c *Code) PositionOf(offset int) (line, column int) {
	return positionAt(c.source, max(0, min(offset, len(c.source))))
}

// OffsetOf is the inverse of PositionOf; what is past the end is the end.
func (c *Code) OffsetOf(line, column int) int { return offsetAt(c.source, line, column) }

// Runs reports whether the name or the literal that begins at a position of the source is part of the code that runs. Types
// are not.
func (c *Code) Runs(line, column int) bool { return c.kept()[[2]int{line, column}] }

// keptPositions is made on first use: an engine never asks.
type keptPositions struct {
	once sync.Once
	at   map[[2]int]bool
}

func (c *Code) kept() map[[2]int]bool {
	c.keeps.once.Do(func() {
		c.once.Do(c.index)
		c.keeps.at = make(map[[2]int]bool, len(c.segments))
		for _, s := range c.segments {
			if s.sourceLine < 1 || s.sourceLine > len(c.inputs) {
				continue
			}
			if line, column, ok := c.located(s.sourceLine, s.sourceColumn); ok {
				c.keeps.at[[2]int{line, column}] = true
			}
		}
	})
	return c.keeps.at
}

// Call is one call as the tokens of the source show it: `tools.read(…)`, `f(…)`, `new Map(…)`. All offsets are in bytes.
type Call struct {
	// Object and Member are set for a call of a member of a plain name: `object.member(…)`, `object["member"](…)`. Member is
	// empty for a computed one.
	Object, Member string

	// Optional says that a missing member is no error: `object.member?.(…)`.
	Optional bool

	// Start is where the callee begins that Object and Member describe, or Open. Open is the parenthesis, Close the one that
	// closes it.
	Start, Open, Close int
}

// Calls returns the calls of the source in the order of their parentheses. It reads tokens, not grammar: the parameters of a
// method look like the arguments of a call and are returned too.
func (c *Code) Calls() []Call {
	s := scanner{src: c.source}
	f := formReader{src: c.source, tokens: s.all()}
	var calls []Call
	var open []int // for each open bracket the index of its call, or -1
	for i, t := range f.tokens {
		switch {
		case t.is('('):
			at := -1
			if f.calls(i) {
				at = len(calls)
				calls = append(calls, f.call(i))
			}
			open = append(open, at)
		case t.is('['), t.is('{'), t.kind == tokTemplateOpen && f.src[t.start] != '}':
			open = append(open, -1)
		case t.is(')'), t.is(']'), t.is('}'), t.kind == tokTemplate && f.src[t.start] == '}':
			if n := len(open); n > 0 {
				if at := open[n-1]; at >= 0 {
					calls[at].Close = t.start
				}
				open = open[:n-1]
			}
		}
	}
	return calls
}

// calls reports whether the parenthesis at i can follow a callee.
func (f *formReader) calls(i int) bool {
	before := f.at(i - 1)
	switch before.kind {
	case tokName:
		if f.at(i-2).is('.') || f.at(i-2).is(opOptional) {
			return true // the name of a member, whatever the word
		}
		switch before.word {
		case wordNone, wordThis, wordImport, wordDeclare, wordType, wordModifier:
			return f.at(i-2).word != wordFunction
		}
		return false
	case tokPrivate, tokTemplate:
		return true
	case tokPunct:
		return before.is(')') || before.is(']') || before.is(opOptional) || before.is('!')
	}
	return false
}

// call describes the call whose parenthesis is at i.
func (f *formReader) call(i int) Call {
	c := Call{Start: f.tokens[i].start, Open: f.tokens[i].start, Close: len(f.src)}
	j := i - 1
	for ; f.at(j).is('!') || f.at(j).is(opOptional); j-- {
		c.Optional = c.Optional || f.at(j).is(opOptional)
	}
	member := ""
	switch t := f.at(j); {
	case t.kind == tokName && (f.at(j-1).is('.') || f.at(j-1).is(opOptional)):
		member = f.text(t)
		j -= 2
	case t.is(']'):
		last := j
		for depth := 0; j >= 0; j-- {
			if t := f.tokens[j]; t.is(']') || t.is(')') || t.is('}') {
				depth++
			} else if t.is('[') || t.is('(') || t.is('{') {
				depth--
			}
			if depth == 0 {
				break
			}
		}
		if key := f.at(j + 1); j == last-2 && key.kind == tokString && isPlain(f.text(key)) {
			member = f.text(key)[1 : key.end-key.start-1]
		}
		j--
		if f.at(j).is(opOptional) {
			j--
		}
	default:
		return c
	}
	if o := f.at(j); j >= 0 && o.kind == tokName && !f.at(j-1).is('.') && !f.at(j-1).is(opOptional) {
		c.Object, c.Member, c.Start = f.text(o), member, o.start
	}
	return c
}

// isPlain reports whether a string literal says what it holds without escapes.
func isPlain(literal string) bool {
	for i := range len(literal) {
		if literal[i] == '\\' {
			return false
		}
	}
	return len(literal) >= 2
}

// RegExps returns where in a JavaScript text its regular expressions stand, as far as its tokens tell: the offsets of the
// first byte and of the one behind the last.
func RegExps(js string) [][2]int {
	var spans [][2]int
	s := scanner{src: js}
	for t := s.next(); t.kind != tokEOF; t = s.next() {
		if t.kind == tokRegex {
			spans = append(spans, [2]int{t.start, t.end})
		}
	}
	return spans
}
