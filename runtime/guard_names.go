package runtime

// This file defines what the guard keeps of names and of enums: the work of renaming, and text that is printed more
// often than it is written.

import "strconv"

// nameUse is one name at one level, and what was known of it before.
type nameUse struct {
	name         string
	levels, last int
}

// nameEntry is where a name was seen.
type nameEntry struct {
	levels int // open levels that have the name
	last   int // the innermost of them
	uses   int // levels that ever had it
}

// nameTable tells how hard a name is to rename. The parser gives a name that an outer scope has too a number, trying 2,
// 3, … until one is free: each outer level with the name can have taken one, and so can the program itself.
type nameTable struct {
	entries  map[string]*nameEntry
	numbered []string // names that end in 2
}

// enter records name at a level and returns how many tries a declaration there can take because of outer levels.
func (t *nameTable) enter(name string, level int, seen *[]nameUse) int {
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
	e.levels, e.last, e.uses = e.levels+1, level, e.uses+1
	return tries
}

// leave forgets the names of a level that ends.
func (t *nameTable) leave(seen []nameUse) {
	for _, u := range seen {
		e := t.entries[u.name]
		e.levels, e.last = u.levels, u.last
	}
}

// numberedTries returns how many tries the numbers that the program itself uses can cost: for each declaration of x the
// length of the run x2, x3, ….
func (t *nameTable) numberedTries() int64 {
	var tries int64
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
		tries += int64(e.uses) * int64(run)
	}
	return tries
}

// enumText takes a string or template in an enum's body into account, whose value is printed wherever the member is
// used. False when it is too long or is made of other members: a few that double fill any memory.
func (g *guard) enumText(t token) bool {
	if !g.top.enum {
		return true
	}
	g.enumStrings = true
	g.longestString = max(g.longestString, t.end-t.start)
	return t.end-t.start <= maxEnumString+2 && t.kind != tokTemplateOpen && !g.prev.is('+')
}

// enumSum takes a + in an enum's body into account. Whether it adds numbers or joins strings only the parser knows; a
// number beside it settles it well enough, for what grows by a number grows slowly.
func (g *guard) enumSum() bool {
	if g.top.enum && g.prev.kind != tokNumber {
		g.enumSums = true
	}
	return !g.top.enum || g.prev.kind != tokString && g.prev.kind != tokTemplate
}
