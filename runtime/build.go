package runtime

// This file defines how esbuild is used: what it is given, what is made of its output, and what an engine gets.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The program is parsed inside two wrappers of different shape (RUN-36). What can follow the brace that ends the first
// one is a comma or a parenthesis, behind the second it is a semicolon or a class member: a text that closes one of them
// early and goes on cannot fit the other, so a text that fits both is a function's body.
//
// The second shape, a class field, also forbids `arguments`, and the first one `super` and `new.target`. Each wrapper
// has a line of its own, so that the program's lines and columns are the parser's, one line on.
//
// The second parse is as dear as the first. It is left out when the scanner was in doubt about nothing and found all
// brackets closed, and when what was printed is, by another scan, one function as well.
const (
	wrapperHead = "(async()=>{await 0;"
	wrapperTail = "\n})"
	checkHead   = "(class{static f=async()=>{"
	checkTail   = "\n}})"

	// A function expression is the value of the wrapper. It is called elsewhere, for the call is no line of the program's.
	callHead = "return ("
	callTail = "\n);"
	callJS   = "(f=>async()=>(await f())())"

	// moduleHead stands before a program with namespaces, which only the top level of a file can have.
	moduleHead = "await 0;"

	printedHead = "(async()=>{"
)

// silent names the parser's warnings: nobody sees them, so they need not be put together.
var silent = func() map[string]api.LogLevel {
	m := make(map[string]api.LogLevel)
	for _, id := range strings.Fields(`assert-to-with assert-type-json assign-to-constant assign-to-define
		assign-to-import bigint call-import-namespace class-name-will-throw commonjs-variable-in-esm
		confusing-typescript-cast delete-super-property direct-eval duplicate-case duplicate-class-member
		duplicate-object-key empty-import-meta equals-nan equals-negative-zero equals-new-object html-comment-in-js
		impossible-typeof indirect-require private-name-will-throw semicolon-after-return suspicious-boolean-not
		suspicious-define suspicious-logical-operator suspicious-nullish-coalescing this-is-undefined-in-esm
		unsupported-dynamic-import unsupported-jsx-comment unsupported-regexp unsupported-require-call`) {
		m[id] = api.LogLevelSilent
	}
	return m
}()

// esbuildOptions returns the options for one parse. They never minify names or syntax: the program can see both
// (RUN-35). White space is minified, because indentation grows with the square of the nesting (HOSTILE-9).
func esbuildOptions(loader api.Loader, target Target) api.TransformOptions {
	supported := map[string]bool{
		"decorators": false,
		"using":      false,
	}
	if target.AsyncGenerators {
		for _, feature := range []string{"async-generator", "for-await", "dynamic-import", "regexp-match-indices", "regexp-set-notation"} {
			supported[feature] = false
		}
	}
	return api.TransformOptions{
		Loader:           loader,
		Target:           api.ESNext,
		Supported:        supported,
		MinifyWhitespace: true,
		Charset:          api.CharsetUTF8,
		LegalComments:    api.LegalCommentsNone,
		LogOverride:      silent,
		// The folder's name turns off searches for suspicious code, which take time that grows with its square. The
		// extension makes the text a module: strict, and its errors refer to no directive far away.
		Sourcefile:  "/node_modules/program.mts",
		TsconfigRaw: `{"compilerOptions":{"target":"esnext","useDefineForClassFields":true,"verbatimModuleSyntax":true,"experimentalDecorators":false}}`,
	}
}

// builder makes the code of one program.
type builder struct {
	src    string // the program, wrappings blanked
	call   bool   // it is one function expression, to be called
	form   form
	target Target
}

func (b *builder) build() (*Code, *Failure) {
	text := input{program: b.src, head: wrapperHead, tail: wrapperTail}
	marker := ""
	switch {
	case b.form.namespaces:
		marker = newMarker(b.src)
		text.head, text.tail = moduleHead, ""
		text.program, text.edits = b.markReturns(marker)
	case b.call:
		text.head += callHead
		text.tail = callTail + text.tail
	}

	o := esbuildOptions(api.LoaderTS, b.target)
	o.Sourcemap, o.SourcesContent = api.SourceMapExternal, api.SourcesContentExclude
	r := api.Transform(text.whole(), o)
	if len(r.Errors) > 0 {
		return nil, text.failure(r.Errors[0], b.src)
	}
	if !b.form.namespaces && (!b.form.exact || b.form.arguments || !isOneFunction(string(r.Code))) {
		if f := b.check(); f != nil {
			return nil, f
		}
	}
	out, err := readOutput(r.Code, r.Map)
	if err != nil {
		return nil, StoppedFailure("the transform failed: " + err.Error())
	}
	return b.assemble(out, text, marker)
}

// assemble makes one expression of the printed program.
func (b *builder) assemble(out output, text input, marker string) (*Code, *Failure) {
	helpers := 0
	if b.form.namespaces {
		unmarkReturns(out.code, marker)
	} else {
		helpers = strings.Index(string(out.code), printedHead)
	}
	if helpers < 0 {
		return nil, StoppedFailure("the transform failed: its output has no wrapper")
	}
	if b.target.AsyncGenerators {
		repairAsyncGenerators(out.code)
	}
	out.restoreNames(b.form.objects, helpers > 0 || b.form.namespaces || b.target != Target{})

	js := new(strings.Builder)
	c := &Code{source: b.src, called: b.call, edits: text.edits, mapping: out.mapping}
	printed := strings.TrimRight(string(out.code), "\n")
	printed = strings.TrimSuffix(printed, ";")
	// The outer function gives the program's this, undefined, and holds helpers where the program does not see them.
	js.WriteString(`(function(){"use strict";`)
	if b.form.namespaces {
		js.WriteString("return async()=>{")
		c.parts = append(c.parts, part{js.Len(), 0, len(printed)})
		js.WriteString(printed)
		js.WriteString("\n}")
	} else {
		c.parts = append(c.parts, part{js.Len(), 0, helpers})
		js.WriteString(printed[:helpers])
		js.WriteString("return")
		if b.call {
			js.WriteString(callJS)
		}
		c.parts = append(c.parts, part{js.Len(), helpers, len(printed) - helpers})
		js.WriteString(printed[helpers:])
	}
	js.WriteString("})()")
	c.JS = js.String()
	if b.form.namespaces {
		// The program was parsed at a file's top level: it is sure not to leave its wrapper, but it may hold what only a
		// module can.
		if f := b.checkPrinted(c, printed); f != nil {
			return nil, f
		}
	}
	return c, nil
}

// check parses the program in the second wrapper.
func (b *builder) check() *Failure {
	text := input{program: b.src, head: checkHead, tail: checkTail}
	if b.call {
		text.head += callHead
		text.tail = callTail + text.tail
	}
	r := api.Transform(text.whole(), esbuildOptions(api.LoaderTS, Target{}))
	if len(r.Errors) == 0 {
		return nil
	}
	return text.failure(r.Errors[0], b.src)
}

// isOneFunction reports whether the printed code is helpers and then certainly one function in parentheses.
func isOneFunction(printed string) bool {
	start := strings.Index(printed, printedHead)
	if start < 0 {
		return false
	}
	s := scanner{src: printed[start:]}
	// The brace of the function, the third bracket, is the last one that closes before the parenthesis.
	for t := s.next(); t.kind != tokEOF; t = s.next() {
		if len(s.brackets) > 1 || t.end <= len(printedHead) {
			continue
		}
		rest := strings.TrimRight(s.src[t.end:], "\n")
		return t.is('}') && (rest == ")" || rest == ");") && s.doubts == 0
	}
	return false
}

// checkPrinted parses the JavaScript that is to be a function's body as one.
func (b *builder) checkPrinted(c *Code, printed string) *Failure {
	text := input{program: printed, head: checkHead, tail: checkTail}
	r := api.Transform(text.whole(), esbuildOptions(api.LoaderJS, Target{}))
	if len(r.Errors) == 0 {
		return nil
	}
	offset := 0
	if line, column, ok := c.Position(c.positionOf(text.offset(r.Errors[0].Location))); ok {
		offset = offsetAt(b.src, line, column)
	}
	return syntaxFailure(b.src, offset, r.Errors[0].Text)
}

// input is a text for the parser: a program between the lines of a wrapper.
type input struct {
	program    string
	head, tail string
	edits      []edit // how program differs from the model's text
}

func (in input) whole() string { return in.head + "\n" + in.program + in.tail }

// offset returns where in the program a position of the parser's is, clamped to it.
func (in input) offset(l *api.Location) int {
	if l == nil {
		return 0
	}
	line, start := 1, 0
	whole := in.whole()
	for line < l.Line && start < len(whole) {
		n := lineBreak(whole, start)
		switch {
		case n == 0:
			start++
		case whole[start] == '\r' && start+1 < len(whole) && whole[start+1] == '\n':
			start++
		default:
			start += n
			line++
		}
	}
	return min(max(start+l.Column-len(in.head)-1, 0), len(in.program))
}

// failure makes a Failure of the parser's first error.
func (in input) failure(m api.Message, src string) *Failure {
	at := in.offset(m.Location)
	reason := strings.ReplaceAll(m.Text, "in an ECMAScript module", "in strict mode")
	if at == len(in.program) && strings.TrimSpace(in.tail) != "" && m.Location != nil {
		// The parser speaks of the wrapper's end.
		if found := strings.Index(reason, " but found "); found >= 0 {
			reason = reason[:found] + " but the program ends"
		} else {
			reason = "the program ends too early: something is not closed"
		}
	}
	return syntaxFailure(src, originalOffset(in.edits, at), reason)
}

// newMarker returns a name that src does not hold, however it is spelled there.
func newMarker(src string) string {
	return fmt.Sprintf("return_%x", hashOf(src))
}

// markReturns writes the returns as throws of a marker: beside a top-level await the parser refuses them, and it treats
// the two alike.
func (b *builder) markReturns(marker string) (string, []edit) {
	var edits []edit
	var s strings.Builder
	last := 0
	for i, t := range b.form.returns {
		s.WriteString(b.src[last:t.start])
		s.WriteString("throw " + marker)
		if b.form.followed[i] {
			s.WriteByte(',')
		} else {
			s.WriteByte(' ')
		}
		last = t.end
		edits = append(edits, edit{at: s.Len(), shift: len("throw ,") + len(marker) - (t.end - t.start)})
	}
	s.WriteString(b.src[last:])
	return s.String(), edits
}

// unmarkReturns undoes markReturns in the printed code, in place and without changing its length.
func unmarkReturns(code []byte, marker string) {
	throw := []byte("throw " + marker)
	for i := 0; ; {
		at := strings.Index(string(code[i:]), string(throw))
		if at < 0 {
			return
		}
		i += at
		n := len(throw)
		if i+n < len(code) && code[i+n] == ',' {
			n++
		}
		copy(code[i:], "return")
		for j := i + len("return"); j < i+n; j++ {
			code[j] = ' '
		}
		i += n
	}
}

// edit says that the text from offset at on is shifted by shift bytes more than before it.
type edit struct{ at, shift int }

// originalOffset maps an offset of an edited text to the text before.
func originalOffset(edits []edit, offset int) int {
	i, _ := slices.BinarySearchFunc(edits, offset+1, func(e edit, at int) int { return e.at - at })
	for _, e := range edits[:i] {
		offset -= e.shift
	}
	return max(offset, 0)
}
