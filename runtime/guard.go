package runtime

// This file defines the input guard: what source text is refused before any parser sees it (HOSTILE-9).
//
// The parser behind the transform is recursive, cannot be interrupted, and a Go stack that overflows ends the process.
// So the guard bounds, in one scan, everything that costs it depth or more than linear time. It never needs to be
// right about a program that does not parse: up to its first error such a text is one that does. It counts too much
// rather than too little; what it counts resets only where a new statement or list element certainly begins.

// Limits of the guard. Measured with the parser in use; ordinary programs stay far below.
const (
	maxBrackets   = 256   // open brackets
	maxTight      = 256   // chained prefix operators, arrows, conditions, assignments, powers, labels, statement heads
	maxLoose      = 4096  // chained member accesses, calls, subscripts, templates, additions, else, commas
	maxPath       = 8192  // all of these together, along one path through the syntax tree
	maxRetried    = 8     // conditions that make the parser read an arrow function twice, nested in each other
	maxNamespaces = 8192  // in the whole text, each part of a name counted
	maxEnums      = 8192  // in the whole text
	maxMembers    = 32768 // of all enums
	maxBodies     = 65536 // of functions, methods and statements with a head, in the whole text
	maxCases      = 2048  // case clauses of one block
	maxAngles     = 1024  // < that may each open type arguments
	maxDecorators = 2048  // in the whole text: each becomes a page of code
	maxDoubts     = 5     // slashes of which only a parser knows what they are

	maxSquares    = 2 * maxLoose * maxLoose // work that grows with the square of a chain
	maxLookups    = 24 << 20                // steps from scope to scope
	maxEnumString = 256                     // bytes of an enum member's string
	maxEchoed     = 48 << 20                // bytes that repeated names and strings can print
	maxJoined     = 1 << 30                 // bytes that joining strings piece by piece can copy
	maxHoisted    = 1 << 20                 // enums, for each using declaration
	maxWalked     = 64 << 20                // bytes between errors and the places they refer to
)

// checkSource refuses a text that the parser must not see. It returns nil or an Exception with the position.
func checkSource(src string) *Failure {
	if len(src) > MaxProgramBytes {
		return &Failure{Kind: Exception, Message: MessageLong}
	}
	g := guard{scan: scanner{src: src}}
	if at, ok := g.run(); !ok {
		return refusal(src, at)
	}
	if g.scan.doubts > maxDoubts {
		return refusal(src, len(src))
	}
	for choice := uint32(1); choice < 1<<g.scan.doubts; choice++ {
		h := guard{scan: scanner{src: src, choice: choice}}
		at, ok := h.run()
		// Another reading of one slash can bring others into doubt.
		if !ok || h.scan.doubts > maxDoubts {
			return refusal(src, at)
		}
		g.scan.doubts = max(g.scan.doubts, h.scan.doubts)
	}
	return nil
}

func refusal(src string, at int) *Failure {
	line, column := positionAt(src, at)
	return &Failure{Kind: Exception, Message: MessageNested, Line: line, Column: column}
}

// guard is one scan of a text. The counters of a level reset at a separator; sums over the open levels are kept
// beside them, so that each token costs the same.
type guard struct {
	scan   scanner
	levels []level
	top    *level

	above   int // tight + loose + 1 of all open levels
	retried int // of all open levels
	nests   int // of all open levels
	angles  int // of all open levels
	scopes  int // open brackets that can hold declarations

	squares int64
	joined  int64
	lookups int64
	names   nameTable
	errors  errorCounter

	prev, prev2   token
	prevAfter     after
	prevMember    bool // prev follows a dot
	starts        bool // the token begins a statement
	prevStarts    bool
	classHead     bool  // a class or an interface is named, its body follows
	closed        int64 // level.repeated of the parenthesis that prev closes
	enumNext      bool  // an enum's name stands, its body follows
	enum          enumMember
	longestName   int
	nameCount     int64
	longestString int // in an enum
	decorators    int
	enums, usings int64
	enumBodies    int64
	enumMembers   int64
	bodies        int64 // braces behind a parenthesis
	namespaces    int64 // and the parts of their names
	namespaceHead bool
	members       int64
}

// run scans the text. False with the offset of the token that went too far.
func (g *guard) run() (int, bool) {
	g.levels = append(make([]level, 0, 16), level{decl: true})
	g.top = &g.levels[0]
	g.above = 1
	for {
		g.prevAfter = g.scan.after
		t := g.scan.next()
		if t.kind == tokEOF {
			break
		}
		g.starts = g.prev.end == 0 || g.prev.is(';') || g.prev.is('{') || g.prev.is('}') || g.prevAfter == afterHead
		if g.boundary(t) {
			g.separate()
			g.starts = true
		}
		g.strict(t)
		if !g.count(t) || g.scan.looked > maxLook(len(g.scan.src)) {
			return t.start, false
		}
		g.prevMember = g.prev.is('.') || g.prev.is(opOptional)
		g.prev2, g.prev, g.prevStarts = g.prev, t, g.starts
	}
	for len(g.levels) > 1 {
		g.closeLevel()
	}
	g.separate()
	g.lookups += g.names.numberedTries()
	return len(g.scan.src), g.within() && g.squares*int64(g.longestString)+g.joined <= maxJoined
}

// within reports whether all limits hold.
func (g *guard) within() bool {
	l := g.top
	return l.tight <= maxTight && l.loose <= maxLoose && l.angles <= maxAngles && l.commas <= maxLoose && l.cases <= maxCases &&
		g.above+l.deepest <= maxPath && g.squares <= maxSquares && g.lookups <= maxLookups &&
		int64(g.longestName)*g.nameCount <= maxEchoed && int64(g.longestString)*g.members <= maxEchoed &&
		g.errors.walked <= maxWalked && (g.namespaces == 0 || g.errors.strict <= maxWalked) && g.namespaces <= maxNamespaces && g.enums*g.usings <= maxHoisted &&
		g.enumBodies <= maxEnums && g.enumMembers <= maxMembers && g.bodies <= maxBodies
}

// count takes one token into account. False when a limit is passed.
func (g *guard) count(t token) bool {
	if g.top.enum && !g.enumPart(t) {
		return false
	}
	g.binding(t)
	switch t.kind {
	case tokName:
		g.name(t)
	case tokPrivate:
		if !g.prev.is('.') && !g.prev.is(opOptional) && g.top.members {
			g.declare(g.scan.src[t.start:t.end], t.start, len(g.levels), false)
		}
		g.seen(t)
	case tokString:
		g.top.text += t.end - t.start
	case tokTemplate, tokTemplateOpen:
		g.top.text += t.end - t.start
		if !g.template(t) {
			return false
		}
	case tokPunct:
		if !g.punct(t) {
			return false
		}
	}
	return g.within()
}

// template takes a piece of a template: a chain when it is tagged, a bracket for each ${.
func (g *guard) template(t token) bool {
	if g.scan.src[t.start] == '}' {
		g.closeLevel()
	} else if g.prevAfter != afterOperator {
		g.loose()
	}
	return t.kind == tokTemplate || g.openLevel(level{open: '`', enum: g.top.enum})
}

func (g *guard) name(t token) {
	member := g.prev.is('.') || g.prev.is(opOptional)
	if member {
		g.members++
		g.nameCount++
		if g.namespaceHead {
			g.namespaces++
		}
		return
	}
	switch t.word {
	case wordPrefix, wordAsync, wordDeclare, wordModifier, wordFunction, wordClass, wordFor, wordIf, wordWhile, wordWith, wordDo, wordTry, wordSwitch:
		if (!g.top.list || g.top.open != '{') && g.prev.word != wordElse {
			g.tight(1)
		}
	case wordElse:
		g.loose()
	case wordInfix:
		g.loose()
	case wordCase:
		g.top.cases++
	}
	if t.word == wordFor || t.word == wordClass {
		g.nest()
	}
	g.enumNext = t.word == wordEnum || g.enumNext && t.word == wordNone
	g.classHead = g.classHead || t.word == wordClass || t.word == wordType
	if t.word == wordVariable && g.top.open != '[' {
		g.top.declaring, g.top.declaresVar = true, g.scan.src[t.start] == 'v'
		if g.scan.src[t.start] == 'u' {
			g.usings++
		}
	}
	switch t.word {
	case wordEnum:
		g.enums++
	case wordNamespace:
		g.namespaces++
		g.namespaceHead = true
	case wordClass:
		g.lookups += 8 * int64(g.scopes+g.nests)
	}
	g.declaration(t)
	g.parameter(t)
	if t.word == wordNone || t.word == wordThis {
		g.seen(t)
	}
}

// seen takes an identifier into account: the parser looks it up from scope to scope.
func (g *guard) seen(t token) {
	g.nameCount++
	g.longestName = max(g.longestName, t.end-t.start)
	g.lookups += int64(g.scopes + g.nests)
}

func (g *guard) nest() {
	g.top.nests++
	g.nests++
}

func (g *guard) punct(t token) bool {
	operand := g.prevAfter != afterOperator && g.prevAfter != afterHead && g.prev.end > 0
	if g.prev.is(')') && (t.is(opArrow) || t.is('{') || t.is(':')) {
		g.errors.walked += g.closed
	}
	switch t.op {
	case '(', '[', '{':
		return g.bracket(t, operand)
	case ')', ']', '}':
		if len(g.levels) > 1 {
			g.closeLevel()
		}
	case ';':
		g.namespaceHead = false
		g.separate()
	case ',':
		g.comma()
	case opArrow:
		g.tight(1)
		g.nest()
		if g.top.retried > 0 {
			g.errors.walked += int64(t.start) // an error in the second reading looks for its line from the start
		}
		return g.retried <= maxRetried
	case '?':
		g.tight(1)
		g.top.conditions++
	case ':':
		g.colon()
	case '@':
		g.decorators++
		g.tight(1)
		return g.decorators <= maxDecorators
	case opAssign, opPower, '~', opSpread:
		g.tight(1)
	case '!', '-', opStep:
		if operand {
			g.loose()
		} else {
			g.tight(1)
		}
	case '+':
		if operand {
			g.loose()
		} else {
			g.tight(1)
		}
	case '<':
		switch {
		case !operand || g.prev.is('>'): // a cast
			g.tight(1)
		case g.prev.kind != tokNumber:
			g.tight(1)
			g.top.angles++
			g.angles++
		default:
			g.loose()
		}
	case '>':
		if g.top.angles > 0 {
			g.top.angles--
			g.angles--
			g.tight(-1)
		}
		g.loose()
	case '.', opOptional, opLogic, opNullish, opCompare, '*', '/', '%', '&', '|', '^':
		g.loose()
	}
	return true
}

func (g *guard) bracket(t token, operand bool) bool {
	l := level{open: t.op, enum: g.top.enum}
	switch t.op {
	case '(':
		if operand {
			g.loose()
		}
		// Within what may be type arguments the parser tries whether a parenthesis holds a function's parameters.
		g.squares += int64(g.angles) * int64(g.angles)
		l.list = operand && g.prev.kind != tokPunct || operand && !g.prev.is('>')
	case '[':
		if operand {
			g.loose()
		}
		l.list = !operand
	case '{':
		l.list = g.startsObject(t)
		l.enum = g.enumNext && !l.list
		if l.enum {
			g.enumBodies++
		}
		if g.prev.is(')') {
			g.bodies++
		}
		l.decl = !l.list
		l.list = l.list || l.enum
		l.members = g.classHead && !l.list
		g.enumNext, g.classHead, g.namespaceHead = false, false, false
	}
	if t.op != '(' {
		l.pattern, l.patternVar = g.patternFor()
		l.list = l.list || l.pattern > 0
	}
	return g.openLevel(l)
}

// startsObject reports whether the brace t certainly opens an object, a pattern or an object type: its commas then
// separate members. In doubt it is a block, where commas chain.
func (g *guard) startsObject(t token) bool {
	switch g.prev.kind {
	case tokName:
		return g.prev.word == wordReturn && !t.newline
	case tokTemplateOpen:
		return true
	case tokPunct:
		switch g.prev.op {
		case opAssign, '(', '[', '?', opLogic, opNullish, opSpread, opCompare, '+', '<':
			return true
		case ',', ':':
			return g.top.list && !g.top.enum || g.top.open == '(' || g.top.open == '['
		}
	}
	return false
}

// colon ends a condition's middle part, or follows a label, a key or a name with a type.
func (g *guard) colon() {
	l := g.top
	switch {
	case l.list:
		g.proto()
	case l.decl && !l.members && l.conditions == 0 && g.prev.kind == tokName && g.prevStarts && g.prev.word == wordNone:
		g.label()
	}
	switch {
	case l.conditions > 0:
		l.conditions--
		if g.prev.is(')') {
			// a ? (b) : c => d: the parser tries whether (b): c => d is an arrow function.
			l.retried++
			g.retried++
		}
	case l.decl && l.cases == 0:
		g.tight(1)
	}
}
