package runtime

// This file defines the program's form as its tokens show it: what a program may not contain (RUN-32), where its
// top-level namespaces and returns are (RUN-34), and whether it does anything at all (CODE-33).

import (
	"fmt"
	"strings"
)

// form is what a scan of the tokens found.
type form struct {
	failure    *Failure
	namespaces bool            // there is a namespace at the top level
	returns    []token         // every return statement
	followed   []bool          // whether an expression follows that return
	objects    map[string]bool // names of enums and namespaces, which generated code refers to
	idle       bool            // all it does is declare main
	exact      bool            // no slash was in doubt: the tokens are the parser's
	arguments  bool            // the name occurs
	classes    int             // offset + 1 of the first regular expression with a class of Unicode properties
}

// readForm reads the tokens of src, a text that the guard has passed.
func readForm(src string) form {
	f := formReader{src: src}
	s := scanner{src: src}
	f.tokens = s.all()
	f.form.exact = s.doubts == 0 && !s.broken && s.unbalanced == 0 && len(s.brackets) == 0
	if s.unbalanced > 0 && s.doubts == 0 {
		at := s.unbalanced - 1
		f.fail(at, "Unexpected %q: it closes nothing", src[at:at+1])
	}
	return f.read()
}

// all returns the tokens in the likelier reading of each slash in doubt.
func (s *scanner) all() []token {
	tokens := make([]token, 0, len(s.src)/4+8)
	for t := s.next(); t.kind != tokEOF; t = s.next() {
		tokens = append(tokens, t)
	}
	if s.html > 0 {
		// A last token that no program has: see formReader.read.
		tokens = append(tokens, token{kind: tokEOF, start: s.html - 1, end: s.html - 1})
	}
	return tokens
}

type formReader struct {
	src    string
	tokens []token
	form   form
	blocks []bool // for each open bracket, whether it is the body of a namespace

	mainDeclared bool
	mainUsed     bool
	acts         bool // a statement at the top level is no declaration
}

func (f *formReader) read() form {
	if hasPrefixAt(f.src, 0, "#!") {
		f.fail(0, "a program has no #! line")
	}
	for i, t := range f.tokens {
		if f.form.failure != nil {
			break
		}
		switch t.kind {
		case tokEOF:
			f.fail(t.start, "HTML-like comments (<!-- and -->) are not allowed: use // instead")
		case tokName:
			if !f.at(i-1).is('.') && !f.at(i-1).is(opOptional) {
				f.name(i, t)
			}
			f.statement(i, t)
		case tokPunct:
			f.punct(i, t)
			f.statement(i, t)
		case tokTemplateOpen:
			if f.src[t.start] == '}' {
				f.close()
			}
			f.blocks = append(f.blocks, false)
			f.statement(i, t)
		default:
			if t.kind == tokTemplate && f.src[t.start] == '}' {
				f.close()
			}
			if t.kind == tokRegex && f.form.classes == 0 && namesProperty(f.text(t)) {
				f.form.classes = t.start + 1
			}
			f.statement(i, t)
		}
	}
	f.form.idle = f.mainDeclared && !f.mainUsed && !f.acts
	return f.form
}

// namesProperty reports whether a regular expression has a class such as \p{L}, which it has with a flag u or v only.
func namesProperty(literal string) bool {
	end := strings.LastIndexByte(literal, '/')
	return strings.ContainsAny(literal[end+1:], "uv") && (strings.Contains(literal, `\p{`) || strings.Contains(literal, `\P{`))
}

// at returns the i-th token, or none.
func (f *formReader) at(i int) token {
	if i < 0 || i >= len(f.tokens) {
		return token{start: len(f.src), end: len(f.src)}
	}
	return f.tokens[i]
}

func (f *formReader) text(t token) string { return f.src[t.start:t.end] }

func (f *formReader) fail(offset int, format string, args ...any) {
	if f.form.failure == nil {
		f.form.failure = syntaxFailure(f.src, offset, fmt.Sprintf(format, args...))
	}
}

func (f *formReader) close() {
	if len(f.blocks) > 0 {
		f.blocks = f.blocks[:len(f.blocks)-1]
	}
}

func (f *formReader) punct(i int, t token) {
	switch t.op {
	case '(', '[':
		f.blocks = append(f.blocks, false)
	case '{':
		f.blocks = append(f.blocks, f.opensNamespace(i))
	case ')', ']', '}':
		f.close()
	}
}

// inNamespace reports whether the innermost bracket is a namespace's body.
func (f *formReader) inNamespace() bool {
	return len(f.blocks) > 0 && f.blocks[len(f.blocks)-1]
}

// opensNamespace reports whether the brace at i follows `namespace A.B`, `module "a"` or `declare global`.
func (f *formReader) opensNamespace(i int) bool {
	j := i - 1
	switch {
	case f.at(j).kind == tokString:
		return f.at(j-1).word == wordNamespace
	case f.at(j).kind != tokName:
		return false
	case f.text(f.at(j)) == "global" && f.at(j-1).word == wordDeclare:
		return true
	}
	for f.at(j).kind == tokName && f.at(j-1).is('.') {
		j -= 2
	}
	return f.at(j).kind == tokName && f.at(j-1).word == wordNamespace && !f.at(j).newline
}

// name reads a name that is no member.
func (f *formReader) name(i int, t token) {
	next := f.at(i + 1)
	switch t.word {
	case wordImport:
		switch {
		case next.is('.'):
			f.fail(t.start, "import%s does not exist: a program is no module", f.src[next.start:f.at(i+2).end])
		case next.kind == tokName && f.at(i+2).is(opAssign) && f.at(i+3).kind == tokName && f.text(f.at(i+3)) != "require":
			f.fail(t.start, "an alias by import is not available: write const %s = … instead", f.text(next))
		case next.kind == tokName, next.kind == tokString, next.is('{'), next.is('*'):
			f.fail(t.start, "import declarations are not available: everything that a program may use is in scope already")
		}
	case wordExport:
		switch {
		case f.inNamespace():
		case next.word == wordDefault:
			f.fail(t.start, "export default is not available: put the program's statements at the top level and return its result")
		case next.kind == tokName, next.is('{'), next.is('*'), next.is(opAssign), next.is('@'):
			f.fail(t.start, "export declarations are not available: a program is no module; it returns its result")
		}
	case wordNamespace:
		f.namespace(i, next)
	case wordDeclare:
		if len(f.blocks) == 0 && next.kind == tokName && f.text(next) == "global" && f.at(i+2).is('{') {
			f.form.namespaces = true
		}
	case wordEnum:
		if next.kind == tokName {
			f.object(next)
		}
	case wordReturn:
		f.returned(i, t, next)
	case wordNone:
		switch text := f.text(t); {
		case text == "main":
			f.main(i)
		case text == "arguments" || strings.Contains(text, `\`):
			f.form.arguments = true
		}
	}
}

func (f *formReader) object(t token) {
	if f.form.objects == nil {
		f.form.objects = make(map[string]bool)
	}
	f.form.objects[f.text(t)] = true
}

// namespace reads a namespace's head: it is one only when a name on the same line and a body follow.
func (f *formReader) namespace(i int, next token) {
	if next.newline || next.kind != tokName && next.kind != tokString || next.word == wordInfix {
		return
	}
	j := i + 2
	for f.at(j).is('.') && f.at(j+1).kind == tokName {
		j += 2
	}
	if !f.at(j).is('{') {
		return
	}
	for k := i + 1; k < j; k += 2 {
		f.object(f.at(k))
	}
	switch {
	case len(f.blocks) == 0:
		f.form.namespaces = true
	case !f.inNamespace():
		f.fail(f.tokens[i].start, "a namespace can only stand at the program's top level or in another namespace")
	}
}

// returned records a return statement; a member that is named so is none.
func (f *formReader) returned(i int, t, next token) {
	if next.is(':') || next.is('?') || next.is(opAssign) || next.is('<') {
		return
	}
	if next.is('(') && f.isMethod(i+1) {
		return
	}
	bare := next.kind == tokEOF || next.newline || next.is(';') || next.is('}')
	f.form.returns = append(f.form.returns, t)
	f.form.followed = append(f.form.followed, !bare)
}

// isMethod reports whether the parenthesis at i holds parameters: a body or a type follows its end.
func (f *formReader) isMethod(i int) bool {
	depth := 0
	for ; i < len(f.tokens); i++ {
		t := f.tokens[i]
		switch {
		case t.kind == tokTemplateOpen && f.src[t.start] != '}', t.is('('), t.is('['), t.is('{'):
			depth++
		case t.kind == tokTemplate && f.src[t.start] == '}', t.is(')'), t.is(']'), t.is('}'):
			depth--
		}
		if depth == 0 {
			next := f.at(i + 1)
			return next.is('{') && !next.newline || next.is(':')
		}
	}
	return false
}

// main reads an occurrence of the name main.
func (f *formReader) main(i int) {
	before := f.at(i - 1)
	switch {
	case len(f.blocks) == 0 && !f.mainDeclared && (before.word == wordFunction || before.word == wordVariable || before.is('*')):
		f.mainDeclared = true
	case !f.at(i + 1).is(':'):
		f.mainUsed = true
	}
}

// statement notes whether the token at i, at the top level, makes the program do something.
func (f *formReader) statement(i int, t token) {
	if f.acts || len(f.blocks) > 0 && !(len(f.blocks) == 1 && t.is('(')) {
		return
	}
	switch {
	case t.word == wordReturn, t.word == wordPrefix, t.word.isHead(), t.word == wordSwitch, t.word == wordTry, t.word == wordDo:
		f.acts = true
	case t.is('('):
		// A call; not the parameters of a function.
		b := f.at(i - 1)
		f.acts = b.kind == tokName && b.word == wordNone && f.at(i-2).word != wordFunction && !f.at(i-2).is('*') || b.is(')') || b.is(']')
	case t.kind == tokTemplate, t.kind == tokTemplateOpen:
		b := f.at(i - 1)
		f.acts = b.kind == tokName && b.word == wordNone
	}
}
