package runtime

// This file corrects the positions that QuickJS records (RUN-39). It notes where it stands only at names, at calls before
// their arguments are evaluated, and at awaits. What fails later is said to stand at the last of these: a call over several
// lines at its last argument, a destructuring at the statement before it.

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// maxSites is the longest code whose positions are corrected, in bytes: the tokens of a failed program are kept with it.
const maxSites = 256 << 10

// Failing says what is known about a position at which QuickJS says that a frame of a stack stood.
type Failing struct {
	// Function is the name of the function that the frame had called; empty if that has none. It is not looked at for the
	// innermost frame.
	Function string

	// Innermost is set for the frame in which the error came into being. Class and Message are those of the error.
	Innermost      bool
	Class, Message string
}

// Site returns the position in JS at which a frame really stood, given the one that QuickJS recorded, both 1-based, the
// columns in bytes. Where the tokens do not tell, that is the recorded one.
func (c *Code) Site(line, column int, f Failing) (l, col int) {
	c.once.Do(c.index)
	if line < 1 || line > len(c.lines) || column < 1 || len(c.JS) > maxSites {
		return line, column
	}
	s := c.site()
	i, found := slices.BinarySearchFunc(s.tokens, c.lines[line-1]+column-1, func(t token, at int) int { return cmp.Compare(t.start, at) })
	if !found {
		return line, column
	}
	at := i
	switch {
	case !f.Innermost:
		at = s.called(i, f.Function)
	case strings.Contains(f.Message, "not a function"), strings.Contains(f.Message, "not a constructor"), strings.Contains(f.Message, "must be invoked with 'new'"):
		at = s.called(i, "")
	case strings.HasPrefix(f.Message, "cannot read property 'Symbol.iterator' of "), f.Message == "value is not iterable":
		if !s.iterated(i) {
			at = s.pattern(i)
		}
	case f.Message == "Cannot convert undefined or null to object":
		at = s.pattern(i)
	case strings.HasPrefix(f.Message, "cannot read property '"):
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Message, "cannot read property '"), "' of ")
		at = s.read(i, name)
		before, _, _ := c.Position(line, column)
		if after, _, _ := c.Position(c.place(s.tokens[at].start)); before == after {
			at = i
		}
	default:
		at = s.made(i, f.Class)
	}
	if at == i {
		return line, column
	}
	return c.place(s.tokens[at].start)
}

// place returns the position in JS of an offset in it.
func (c *Code) place(offset int) (line, column int) {
	row, _ := slices.BinarySearch(c.lines, offset+1)
	return row, offset - c.lines[row-1] + 1
}

// sites are the tokens of JS and how their brackets are nested.
type sites struct {
	formReader
	parent []int // for each token the index of the innermost bracket around it, or -1
	match  []int // for each bracket the index of the one that it belongs to
}

func (c *Code) site() *sites {
	c.sitesOnce.Do(func() {
		scan := scanner{src: c.JS}
		s := &sites{formReader: formReader{src: c.JS, tokens: scan.all()}}
		s.parent, s.match = make([]int, len(s.tokens)), make([]int, len(s.tokens))
		var open []int
		for i, t := range s.tokens {
			closes := t.is(')') || t.is(']') || t.is('}') || (t.kind == tokTemplate || t.kind == tokTemplateOpen) && s.src[t.start] == '}'
			s.match[i] = len(s.tokens)
			if n := len(open); closes && n > 0 {
				s.match[i], s.match[open[n-1]] = open[n-1], i
				open = open[:n-1]
			}
			s.parent[i] = -1
			if n := len(open); n > 0 {
				s.parent[i] = open[n-1]
			}
			if t.is('(') || t.is('[') || t.is('{') || t.kind == tokTemplateOpen {
				open = append(open, i)
			}
		}
		c.sites = s
	})
	return c.sites
}

// called returns the token at which a call stands that was under way when i was the last position noted: the innermost one
// of the function named, or the innermost.
func (s *sites) called(i int, function string) int {
	if strings.HasPrefix(function, "get ") || strings.HasPrefix(function, "set ") || slices.Contains(implicit, function) {
		return i
	}
	first := -1
	if next := s.at(i + 1); next.is('(') || next.is(opOptional) && s.at(i+2).is('(') || next.kind == tokTemplate || next.kind == tokTemplateOpen {
		if s.text(s.at(i)) == function || function == "" {
			return i
		}
		first = i
	}
	for open := range s.around(i) {
		name, at := s.calleeOf(open)
		switch {
		case at < 0:
		case name == function && name != "":
			return at
		case first < 0:
			first = at
		}
	}
	if first < 0 {
		return i
	}
	return first
}

// implicit are the names of methods that are called without being named.
var implicit = []string{"toString", "valueOf", "toJSON", "then", "next", "return", "throw", "[Symbol.toPrimitive]", "[Symbol.iterator]", "[Symbol.asyncIterator]", "[Symbol.hasInstance]"}

// made returns the token at which an error of a class was made when i was the last position noted.
func (s *sites) made(i int, class string) int {
	for open := range s.around(i) {
		if name, at := s.calleeOf(open); at >= 0 && (name == class && class != "" || name == "super") {
			return at
		}
	}
	return i
}

// around yields the parentheses of calls around i whose arguments note no position behind i, from the inside.
func (s *sites) around(i int) iter.Seq[int] {
	return func(yield func(open int) bool) {
		behind := i + 1
		for from := i; ; {
			open := s.parent[from]
			if open < 0 || !s.quiet(behind, s.match[open]) || s.inArrow(from, open) {
				return
			}
			switch t := s.tokens[open]; {
			case t.is('{') && s.isBody(open):
				return
			case t.is('(') && s.calls(open) && !s.defines(open):
				if !yield(open) {
					return
				}
			}
			from, behind = open, s.match[open]
		}
	}
}

// calleeOf returns the name of what the parenthesis at open calls, and the token where the engine would say that the call
// stands if its arguments were none; -1 if that is not plain.
func (s *sites) calleeOf(open int) (name string, at int) {
	at = open - 1
	if s.at(at).is(opOptional) {
		at--
	}
	switch t := s.at(at); {
	case t.kind == tokName, t.kind == tokPrivate:
		name = s.text(t)
	case t.is(']'):
		start := s.match[at]
		if key := s.at(at - 1); key.kind == tokString && start == at-2 && isPlain(s.text(key)) {
			name = s.text(key)[1 : key.end-key.start-1]
		}
		if at = start - 1; s.at(at).is(opOptional) {
			at--
		}
		if s.at(at).kind != tokName {
			return "", -1
		}
	default:
		return "", -1
	}
	first := at
	for s.at(first-1).is('.') && s.at(first-2).kind == tokName {
		first -= 2
	}
	if first > 0 && s.text(s.at(first-1)) == "new" {
		at = first
	}
	return name, at
}

// defines reports whether the parentheses at open hold parameters.
func (s *sites) defines(open int) bool {
	next := s.at(s.match[open] + 1)
	return next.is('{') || next.is(opArrow)
}

// isBody reports whether the brace at open is a block's, a function's or a class's, not an object's.
func (s *sites) isBody(open int) bool {
	switch before := s.at(open - 1); before.kind {
	case tokName:
		return before.word != wordReturn && before.word != wordPrefix && before.word != wordInfix && before.word != wordCase
	case tokPunct:
		return before.is(')') || before.is(']') || before.is('}') || before.is(';') || before.is('{') || before.is(opArrow)
	}
	return false
}

// inArrow reports whether i, directly inside of the bracket at open, belongs to the expression of an arrow function.
func (s *sites) inArrow(i, open int) bool {
	for i--; i > open; i-- {
		switch t := s.tokens[i]; {
		case s.parent[i] != open:
		case t.is(','), t.is(';'):
			return false
		case t.is(opArrow):
			return true
		}
	}
	return false
}

// quiet reports whether the engine notes no position for the tokens from i to end.
func (s *sites) quiet(i, end int) bool {
	for i < end {
		if next := s.behindFunction(i); next > i {
			i = next
			continue
		}
		if s.notes(i) {
			return false
		}
		i++
	}
	return true
}

// notes reports whether the engine notes the position of the token at i.
func (s *sites) notes(i int) bool {
	t, before := s.tokens[i], s.at(i-1)
	switch {
	case t.kind == tokPrivate, t.kind == tokName && (before.is('.') || before.is(opOptional)):
		return s.at(i + 1).is('(')
	case t.kind != tokName, before.word == wordVariable:
		return false
	}
	switch t.word {
	case wordPrefix:
		text := s.text(t)
		return text == "await" || text == "yield"
	case wordInfix: // an operator, unless it is a name like any other
		return before.kind == tokPunct && !before.is(')') && !before.is(']') && !before.is('}')
	case wordNone, wordType, wordDeclare, wordNamespace, wordModifier, wordAsync:
		if p := s.parent[i]; p >= 0 && s.tokens[p].is('{') && (before.is('{') || before.is(',')) {
			return s.at(i + 1).is('(') // an object's member, or a call
		}
		return true
	}
	return false
}

// behindFunction returns the token behind what belongs to a function or class that begins at i: what that does is not the
// doing of the code around it. It returns i if none begins there.
func (s *sites) behindFunction(i int) int {
	t, next := s.tokens[i], s.at(i+1)
	switch {
	case s.at(i - 1).is('.'):
	case t.word == wordFunction, t.word == wordClass:
		for j := i + 1; j < len(s.tokens); j++ {
			if s.tokens[j].is('{') && s.parent[j] == s.parent[i] {
				return s.match[j] + 1
			}
		}
	case t.is('(') && s.at(s.match[i]+1).is(opArrow):
		return s.match[i] + 1
	case t.kind == tokName && next.is(opArrow):
		return i + 1
	case t.is(opArrow) && next.is('{'):
		return s.match[i+1] + 1
	case t.is(opArrow):
		j := i + 1
		for j < len(s.tokens) && (s.parent[j] > s.parent[i] || s.parent[j] == s.parent[i] && !s.tokens[j].is(',') && !s.tokens[j].is(';')) {
			j++
		}
		return j
	case t.kind == tokName && next.is('(') && s.at(s.match[i+1]+1).is('{') && !t.word.isHead(): // a method
		return s.match[s.match[i+1]+1] + 1
	}
	return i
}

// iterated reports whether what stands at i is itself what a loop or a spread goes through.
func (s *sites) iterated(i int) bool {
	for open := s.parent[i]; ; open = s.parent[open] {
		for s.at(i-1).is('.') || s.at(i-1).is(opOptional) {
			i -= 2
		}
		if s.at(i-1).is(opSpread) || s.at(i-1).is('*') && s.text(s.at(i-2)) == "yield" {
			return true
		}
		if open < 0 || !s.tokens[open].is('(') && !s.tokens[open].is('[') {
			return false
		}
		if w := s.at(open - 1).word; w == wordFor || w == wordPrefix && s.at(open-2).word == wordFor {
			return true
		}
		i = open - 1
	}
}

// pattern returns the token that begins the destructuring which comes next after the position i was noted.
func (s *sites) pattern(i int) int {
	j := i + 1
	if s.tokens[i].word == wordFunction {
		for j < len(s.tokens) && !s.tokens[j].is('(') {
			j++
		}
		if j == len(s.tokens) {
			return i
		}
		for k := j + 1; k < s.match[j]; k++ {
			if s.parent[k] == j && (s.tokens[k].is('{') || s.tokens[k].is('[')) && !s.at(k-1).is(opAssign) {
				return k
			}
		}
		j = s.match[j] + 1
	}
	for j < len(s.tokens) {
		if next := s.behindFunction(j); next > j {
			j = next
			continue
		}
		if t := s.tokens[j]; (t.is('{') || t.is('[')) && s.at(j-1).word == wordVariable {
			return j
		}
		if s.notes(j) && !s.at(j+1).is(opAssign) {
			break
		}
		j++
	}
	return i
}

// read returns the token where the member name is read of what begins at i.
func (s *sites) read(i int, name string) int {
	for j := i + 1; j < len(s.tokens) && s.parent[j] >= s.parent[i] && !(s.tokens[j].is(';') && s.parent[j] == s.parent[i]); j++ {
		if t := s.tokens[j]; t.kind == tokName && s.text(t) == name && (s.at(j-1).is('.') || s.at(j-1).is(opOptional)) {
			return j
		}
	}
	return i
}
