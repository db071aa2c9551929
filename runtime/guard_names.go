package runtime

// This file defines what the guard keeps of names and of enums: the work of renaming, and text that is printed more
// often than it is written.

import "strconv"

// nameUse is one name at one level, and what was known of it before.
type nameUse struct {
	name         string
	levels, last int
}

// nameEntry is where a name may have been declared.
type nameEntry struct {
	levels int   // open levels that have the name
	last   int   // the innermost of them
	steps  int64 // sum of the scopes around all levels that ever had it
}

// nameTable tells how hard names are to rename. The parser gives a name that an outer scope has too a number, trying 2,
// 3, … in all scopes around until one is free: each outer level with the name can have taken one, and so can the program
// itself.
type nameTable struct {
	entries  map[string]*nameEntry
	numbered []string // names that end in 2
}

// binding takes the name before t into account if it may be a declaration: what stands before it and behind it tells.
func (g *guard) binding(t token) {
	name := g.prev
	if name.kind != tokName || name.word != wordNone || g.prevMember {
		return
	}
	if !t.is(opArrow) {
		switch before := g.prev2; before.kind {
		case tokName:
			switch before.word {
			case wordVariable, wordFunction, wordClass, wordEnum, wordNamespace:
			default:
				return
			}
		case tokPunct:
			switch before.op {
			case '(', ',', '[', '{', ':', '*', opSpread:
			default:
				return
			}
			switch {
			case t.kind == tokName && t.word != wordInfix, t.is('(') && !before.is('*'), t.is('.'), t.is('['), t.is(opOptional), t.is('+'), t.is('<'):
				return
			}
		default:
			return
		}
	}
	scopes := g.scopes + g.nests + 1
	tries := g.nests + g.names.enter(g.scan.src[name.start:name.end], len(g.levels), scopes, &g.top.names)
	g.lookups += int64(tries) * int64(scopes)
}

// enter records name at a level and returns how many tries a declaration there can take because of outer levels.
func (t *nameTable) enter(name string, level, scopes int, seen *[]nameUse) int {
	if t.entries == nil {
		t.entries = make(map[string]*nameEntry, 64)
	}
	e := t.entries[name]
	if e == nil {
		e = &nameEntry{}
		t.entries[name] = e
		if len(name) > 1 && name[len(name)-1] == '2' {
			t.numbered = append(t.numbered, name)
		}
	}
	if e.last == level {
		return 0
	}
	tries := e.levels
	*seen = append(*seen, nameUse{name, e.levels, e.last})
	e.levels, e.last, e.steps = e.levels+1, level, e.steps+int64(scopes)
	return tries
}

// leave forgets the names of a level that ends.
func (t *nameTable) leave(seen []nameUse) {
	for _, u := range seen {
		e := t.entries[u.name]
		e.levels, e.last = u.levels, u.last
	}
}

// numberedTries returns how many steps the numbers that the program itself uses can cost: for each declaration of x the
// length of the run x2, x3, ….
func (t *nameTable) numberedTries() int64 {
	var steps int64
	for _, name := range t.numbered {
		base := name[:len(name)-1]
		e := t.entries[base]
		if e == nil {
			continue
		}
		run := 2
		for t.entries[base+strconv.Itoa(run+1)] != nil {
			run++
		}
		steps += e.steps * int64(run)
	}
	return steps
}

// enumMember is what is known of the member of an enum that is being read. Its value is printed wherever the member is used,
// and a few members that double fill any memory.
type enumMember struct {
	text   int  // bytes of strings in it
	names  int  // names in it, which may stand for the longest string so far
	joined bool // strings may be joined in it
	adding bool // prev is a + with no number before it
}

// enumPart takes a token of an enum's body into account. False when a member's string may be too long.
//
// Whether a + adds numbers or joins strings only the parser knows; a number beside it settles it well enough, for what grows
// by a number grows slowly.
func (g *guard) enumPart(t token) bool {
	m := &g.enum
	if m.adding && t.kind != tokNumber {
		m.joined = true
	}
	m.adding = t.is('+') && g.prev.kind != tokNumber
	own := g.top.open == '{'
	switch t.kind {
	case tokString, tokTemplate, tokTemplateOpen:
		m.text += t.end - t.start
		m.joined = m.joined || t.kind == tokTemplateOpen
	case tokName:
		if t.word == wordNone && !g.prev.is('.') && !g.prev.is(opOptional) {
			m.names++
		}
	case tokPunct:
		switch {
		case own && t.is(opAssign): // before it stands the member's name
			*m = enumMember{}
		case own && (t.is(',') || t.is('}')):
			if m.joined {
				m.text += m.names * g.longestString
			}
			g.longestString = max(g.longestString, m.text)
			*m = enumMember{}
		}
	}
	return m.text <= maxEnumString+2 && g.longestString <= maxEnumString+2
}
