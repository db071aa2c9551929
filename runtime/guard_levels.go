package runtime

// This file defines what the guard keeps of each open bracket, and when its counters start again.

// level is what the guard knows about one open bracket, or about the top level of the text.
type level struct {
	open byte // as bracket.open; 0 at the top
	list bool // commas separate elements of a list, they do not chain
	enum bool // the body of an enum
	decl bool // a block: declarations and statements

	tight, loose int // chained since the last separator
	deepest      int // the longest path through brackets closed since the last separator
	siblings     int // the longest path through the elements before the last comma
	commas       int
	conditions   int // ? whose : has not come
	retried      int
	nests        int // arrows, loops and classes: scopes without a bracket of their own
	text         int // bytes of strings
	angles       int
	cases        int

	names []nameUse // names first seen at this level

	// See guard_errors.go.
	declaring   bool // within let, const, using or var
	declaresVar bool // by var
	pattern     int  // the level that this pattern declares for, + 1; 0 for no pattern
	patternVar  bool
	members     bool // the body of a class or an interface
	declared    []string
	labels      []string
	proto       int // offset of a key __proto__ + 1
	params      map[string]int
	repeated    int64 // what repeated names cost if this turns out to be a parameter list
	elements    int
}

// boundary reports whether t certainly begins a statement or a member: two operands never stand side by side, so
// between them a semicolon was inserted, or the text has an error there.
func (g *guard) boundary(t token) bool {
	if !g.top.decl {
		return false
	}
	switch t.kind {
	case tokName:
		switch t.word {
		case wordCase, wordDefault:
			return g.prev.end > 0
		case wordInfix, wordElse, wordFollows:
			return false
		}
	case tokPrivate, tokNumber, tokString:
	case tokPunct:
		if t.op != '@' && (t.op != '{' || g.prevAfter != afterBrace) {
			return false
		}
	default:
		return false
	}
	switch g.prevAfter {
	case afterBrace:
		return true
	case afterOperand:
		return t.newline && (g.prev.kind != tokName || g.prev.word == wordNone || g.prev.word == wordThis)
	case afterAmbiguous:
		return t.newline && g.prev.kind == tokPunct && g.prev.op == opStep && g.prev2.kind == tokName && !g.prev.newline
	}
	return false
}

// separate ends a statement or member: its chains do not go on.
func (g *guard) separate() {
	l := g.top
	n := int64(l.loose + l.commas)
	g.squares += n*n + int64(l.angles)*int64(l.angles)
	g.joined += int64(l.loose) * int64(l.text)
	g.above -= l.tight + l.loose + l.commas
	g.retried -= l.retried
	g.nests -= l.nests
	g.angles -= l.angles
	l.tight, l.loose, l.commas, l.conditions, l.retried, l.nests, l.angles, l.text = 0, 0, 0, 0, 0, 0, 0, 0
	l.deepest, l.siblings = 0, 0
	l.declaring = false
}

// comma ends an element of a list or an operand of a chain of commas.
func (g *guard) comma() {
	l := g.top
	if l.enum {
		g.enumMembers++
	}
	g.squares += int64(l.loose) * int64(l.loose)
	g.joined += int64(l.loose) * int64(l.text)
	l.siblings = max(l.siblings, l.tight+l.loose+l.deepest)
	g.above -= l.tight + l.loose
	g.retried -= l.retried
	g.nests -= l.nests
	l.tight, l.loose, l.deepest, l.conditions, l.retried, l.nests, l.text = 0, 0, 0, 0, 0, 0, 0
	if !l.list {
		l.commas++
		g.above++
		l.deepest = l.siblings
	}
}

func (g *guard) tight(n int) {
	g.top.tight += n
	g.above += n
}

func (g *guard) loose() {
	g.top.loose++
	g.above++
}

func (g *guard) openLevel(l level) bool {
	if len(g.levels) > maxBrackets {
		return false
	}
	g.levels = append(g.levels, l)
	g.top = &g.levels[len(g.levels)-1]
	g.above++
	if l.open == '{' || l.open == '(' {
		g.scopes++
	}
	return g.above <= maxPath
}

func (g *guard) closeLevel() {
	l := g.top
	path := 1 + l.tight + l.loose + l.commas + max(l.deepest, l.siblings)
	g.separate()
	g.squares += int64(l.cases) * int64(l.cases)
	g.names.leave(l.names)
	g.errors.leave(len(g.levels), l.declared)
	for _, name := range l.labels {
		delete(g.errors.labels, name)
	}
	g.closed = l.repeated
	g.above--
	if l.open == '{' || l.open == '(' {
		g.scopes--
	}
	g.levels = g.levels[:len(g.levels)-1]
	g.top = &g.levels[len(g.levels)-1]
	g.top.deepest = max(g.top.deepest, path)
}
