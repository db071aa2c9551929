package runtime

// This file defines the guard's bound on what the parser reports. It goes on after most errors, and for an error that
// refers to an earlier place it walks the text from there: a hundred thousand of them walk for minutes. Each is cheap
// enough while the distances add up to less than maxWalked, so only floods are refused, of texts that do not parse.

import "strings"

// declaration is the first declaration of a name at a level.
type declaration struct {
	at      int
	lexical bool // by let, const, using, class: it cannot be repeated
}

// errorCounter adds up the walks of the errors that a text will certainly, or nearly so, have.
type errorCounter struct {
	walked   int64
	strict   int64                  // of errors of strict mode, see guard.strict
	declared map[string]declaration // by level and name, see declarationKey
	labels   map[string]int         // offsets of the labels around
	vars     map[string]varUse      // names that var declares
}

// varUse is how often var declares a name, and where first.
type varUse struct{ count, first int }

// declares takes the declaration of a name at a level into account.
func (e *errorCounter) declares(name string, level, at int, lexical, isVar bool) {
	if e.declared == nil {
		e.declared = make(map[string]declaration)
		e.vars = make(map[string]varUse)
	}
	if isVar {
		v, ok := e.vars[name]
		if !ok {
			v.first = at
		}
		v.count++
		e.vars[name] = v
		// A var reaches up to its function: a lexical declaration of any block around is in its way.
		for l := level; l > 0; l-- {
			if d, ok := e.declared[declarationKey(name, l)]; ok && d.lexical {
				e.walked += int64(at - d.at)
				break
			}
		}
	} else if v, ok := e.vars[name]; ok && lexical {
		e.walked += int64(v.count) * int64(at-v.first)
	}
	key := declarationKey(name, level)
	d, ok := e.declared[key]
	switch {
	case !ok:
		e.declared[key] = declaration{at, lexical}
	case d.lexical || lexical || !isVar:
		e.walked += int64(at - d.at)
	}
}

// leave forgets the declarations of a level that ends.
func (e *errorCounter) leave(level int, names []string) {
	for _, name := range names {
		delete(e.declared, declarationKey(name, level))
	}
}

func declarationKey(name string, level int) string {
	return string([]byte{byte(level), byte(level >> 8)}) + name
}

// strict takes a token into account that strict mode may refuse. In a program with namespaces the error refers to a
// top-level await, which is at the start of the text at worst; in others to no place.
func (g *guard) strict(t token) {
	src := g.scan.src
	flawed := false
	switch t.kind {
	case tokNumber:
		flawed = t.end-t.start > 1 && src[t.start] == '0' && '0' <= src[t.start+1] && src[t.start+1] <= '9'
	case tokString:
		flawed = hasOctalEscape(src[t.start:t.end])
	case tokName:
		flawed = t.word == wordWith || t.word == wordFunction && (g.prevAfter == afterHead || g.prev.word == wordElse || g.prev.word == wordDo || g.prev.is(':') && g.top.decl)
		if t.word == wordNone {
			flawed = isStrictName(src[t.start:t.end])
		}
	case tokPunct:
		// A word that strict mode reserves, used as a name: no name follows it.
		flawed = isReserved(g.prev, src) && !g.prevMember && !t.is('{') && !t.is('[') && !t.is('*') && !t.is('@') &&
			!((t.is(':') || t.is('(')) && (g.top.members || !g.top.decl)) ||
			g.prev.kind == tokName && g.prev2.kind == tokName && g.prev2.word == wordPrefix && src[g.prev2.start] == 'd' &&
				!t.is('.') && !t.is('[') && !t.is('(') && !t.is(opOptional) && !t.is('!')
	}
	if t.kind == tokName && g.prev.word == wordVariable && isReserved(t, src) {
		flawed = true
	}
	if flawed {
		g.errors.strict += int64(t.start)
	}
}

// isStrictName reports whether strict mode forbids to bind the name.
func isStrictName(name string) bool { return name == "eval" || name == "arguments" }

// isReserved reports whether strict mode reserves the name.
func isReserved(t token, src string) bool {
	if t.kind != tokName {
		return false
	}
	switch t.word {
	case wordModifier, wordVariable, wordType, wordInfix, wordNone, wordPrefix:
	default:
		return false
	}
	switch src[t.start:t.end] {
	case "implements", "interface", "let", "package", "private", "protected", "public", "static", "yield":
		return true
	}
	return false
}

func hasOctalEscape(s string) bool {
	for i := strings.IndexByte(s, '\\'); i >= 0 && i+2 < len(s); {
		if c := s[i+1]; '1' <= c && c <= '9' || c == '0' && '0' <= s[i+2] && s[i+2] <= '9' {
			return true
		}
		next := strings.IndexByte(s[i+2:], '\\')
		if next < 0 {
			return false
		}
		i += 2 + next
	}
	return false
}

// declaration takes a name into account that a declaration declares.
func (g *guard) declaration(t token) {
	l := g.top
	name := g.scan.src[t.start:t.end]
	switch {
	case l.enum && l.open == '{' && (g.prev.is('{') || g.prev.is(',')):
		g.declare(name, t.start, len(g.levels), false)
	case l.pattern > 0:
		switch g.prev.op {
		case '{', '[', ',', ':', opSpread:
			g.declare(name, t.start, l.pattern, l.patternVar)
		}
	case g.prev.word == wordClass && g.prevStarts, g.prev.word == wordFunction && g.prevStarts:
		g.declare(name, t.start, len(g.levels), g.prev.word == wordFunction)
	case l.declaring && (g.prev.word == wordVariable || g.prev.is(',')):
		g.declare(name, t.start, len(g.levels), l.declaresVar)
	}
}

func (g *guard) declare(name string, at, level int, varLike bool) {
	g.errors.declares(name, level, at, !varLike, varLike && g.prev.word != wordFunction)
	l := &g.levels[level-1]
	l.declared = append(l.declared, name)
}

// label takes a label into account: one around it must not have the same name.
func (g *guard) label() {
	name := g.scan.src[g.prev.start:g.prev.end]
	if g.errors.labels == nil {
		g.errors.labels = make(map[string]int)
	}
	if at, ok := g.errors.labels[name]; ok {
		g.errors.walked += int64(g.prev.start - at)
		return
	}
	g.errors.labels[name] = g.prev.start
	g.top.labels = append(g.top.labels, name)
}

// proto takes a key into account that an object can have only once.
func (g *guard) proto() {
	key := g.scan.src[g.prev.start:g.prev.end]
	if g.prev.kind != tokName && g.prev.kind != tokString || len(key) > 64 {
		return
	}
	if !strings.Contains(key, "__proto__") && !strings.Contains(key, `\`) {
		return
	}
	if g.top.proto == 0 {
		g.top.proto = g.prev.start + 1
		return
	}
	g.errors.walked += int64(g.prev.start - g.top.proto)
}

// patternFor returns the level for which a bracket that opens now holds a declaration's pattern, or 0.
func (g *guard) patternFor() (level int, isVar bool) {
	l := g.top
	switch {
	case l.pattern > 0:
		switch g.prev.op {
		case '{', '[', ',', ':', opSpread:
			return l.pattern, l.patternVar
		}
	case l.declaring && (g.prev.word == wordVariable || g.prev.is(',')):
		return len(g.levels), l.declaresVar
	}
	return 0, false
}

// parameter takes a name into account that may be a parameter's: whether the parenthesis holds parameters shows only
// behind its end.
func (g *guard) parameter(t token) {
	if g.prev.kind != tokPunct {
		return
	}
	switch g.prev.op {
	case '(', ',', '[', '{', ':', opSpread:
	default:
		return
	}
	for i := len(g.levels) - 1; i > 0; i-- {
		l := &g.levels[i]
		if l.decl {
			return
		}
		if l.open != '(' {
			continue
		}
		if l.elements++; l.elements <= 64 {
			return
		}
		if l.params == nil {
			l.params = make(map[string]int)
		}
		name := g.scan.src[t.start:t.end]
		if at, ok := l.params[name]; ok {
			l.repeated += int64(t.start - at)
		} else {
			l.params[name] = t.start
		}
		return
	}
}
