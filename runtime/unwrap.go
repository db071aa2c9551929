package runtime

// This file defines the two wrappings that are undone before the transform (CODE-33). Both keep every offset: what is
// left out becomes blanks.

import "strings"

// unfence blanks the fence of a text that is as a whole one markdown code block.
func unfence(src string) string {
	body := strings.TrimLeft(src, " \t\r\n")
	start := len(src) - len(body)
	end := len(strings.TrimRight(src, " \t\r\n"))
	if start+6 > end {
		return src
	}
	mark := src[start]
	if mark != '`' && mark != '~' {
		return src
	}
	n := 0
	for start+n < end && src[start+n] == mark {
		n++
	}
	first := strings.IndexByte(src[start:end], '\n')
	last := strings.LastIndexByte(src[start:end], '\n')
	if n < 3 || first < 0 {
		return src
	}
	open, closing := src[start:start+first], strings.TrimLeft(src[start+last+1:end], " \t")
	if mark == '`' && strings.IndexByte(open[n:], '`') >= 0 {
		return src
	}
	if len(closing) < n || strings.Trim(closing, string(mark)) != "" {
		return src
	}
	if last > first {
		for line := range strings.Lines(src[start+first+1 : start+last+1]) {
			line = strings.TrimSpace(line)
			if len(line) >= n && strings.Trim(line, string(mark)) == "" {
				return src // the block ends before the text does
			}
		}
	}
	return src[:start] + strings.Repeat(" ", first) + src[start+first:start+last+1] + strings.Repeat(" ", end-start-last-1) + src[end:]
}

// soleFunction reports whether src is one function expression that can be called without arguments. If it is, the text
// that it returns is src without the semicolon behind it.
func soleFunction(src string) (string, bool) {
	scan := scanner{src: src}
	tokens := scan.all()
	f := formReader{src: src, tokens: tokens}
	i, n := 0, len(tokens)
	if n > 0 && tokens[n-1].is(';') {
		semicolon := tokens[n-1].start
		src = src[:semicolon] + " " + src[semicolon+1:]
		n--
	}
	for i < n && tokens[i].is('(') && f.closes(i) == n-1 {
		i, n = i+1, n-1
	}
	parenthesised := i > 0
	if i < n && tokens[i].word == wordAsync {
		i++
	}
	if i >= n {
		return src, false
	}
	arrow := tokens[i].word != wordFunction
	if !arrow {
		i++
		// A name makes it a declaration, unless it stands in parentheses; a generator's call runs nothing.
		if i < n && tokens[i].kind == tokName && parenthesised {
			i++
		}
	}
	if i >= n || !tokens[i].is('(') {
		return src, false
	}
	end := f.closes(i)
	if end >= n || !f.optional(i+1, end) {
		return src, false
	}
	i = end + 1
	if i < n && tokens[i].is(':') {
		i = f.skipType(i+1, n)
	}
	if arrow {
		if i >= n || !tokens[i].is(opArrow) {
			return src, false
		}
		i++
		if i < n && !tokens[i].is('{') {
			return src, f.sole(i, n)
		}
	}
	return src, i < n && tokens[i].is('{') && f.closes(i) == n-1
}

// closes returns the index of the token that closes the bracket at i, or the number of tokens.
func (f *formReader) closes(i int) int {
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
			return i
		}
	}
	return i
}

// optional reports whether each parameter in tokens[i:end] has a default, is optional or is a rest parameter.
func (f *formReader) optional(i, end int) bool {
	for i < end {
		ok := f.tokens[i].is(opSpread)
		for ; i < end && !f.tokens[i].is(','); i++ {
			t := f.tokens[i]
			if t.is('(') || t.is('[') || t.is('{') {
				i = f.closes(i)
				continue
			}
			ok = ok || t.is(opAssign) || t.is('?')
		}
		if !ok {
			return false
		}
		i++
	}
	return true
}

// skipType returns the index of the arrow or of the body's brace behind a return type that starts at i.
func (f *formReader) skipType(i, n int) int {
	for ; i < n; i++ {
		t, before := f.tokens[i], f.at(i-1)
		operand := before.kind != tokPunct || before.is('>') || before.is(')') || before.is(']') || before.is('}')
		switch {
		case t.is(opArrow), t.is('{') && operand:
			return i
		case t.is('('), t.is('['), t.is('{'):
			i = f.closes(i)
		}
	}
	return i
}

// sole reports whether the tokens from i to n, an arrow function's expression, are certainly one expression.
func (f *formReader) sole(i, n int) bool {
	for ; i < n; i++ {
		t := f.tokens[i]
		switch {
		case t.is(';'), t.is(','):
			return false
		case t.newline && t.kind != tokPunct && t.kind != tokTemplate && !f.at(i-1).is(opArrow):
			b := f.at(i - 1)
			if b.kind != tokPunct || b.is(')') || b.is(']') || b.is('}') {
				return false
			}
		case t.is('('), t.is('['), t.is('{'):
			i = f.closes(i)
		}
	}
	return true
}
