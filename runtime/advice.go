package runtime

// This file says what to do about a program that does not parse, where the parser's reason alone would not tell a model
// (CODE-34).

import (
	"regexp"
	"strconv"
	"strings"
)

// maxAdviceLine is the longest line that is looked at, in bytes.
const maxAdviceLine = 1000

var (
	expectation  = regexp.MustCompile(`^(?:Expected|Unexpected|Syntax error)`)
	pythonLogic  = regexp.MustCompile(`but found "(?:and|or|not)"$`)
	pythonNot    = regexp.MustCompile(`\bnot\s*$`)
	pythonLine   = regexp.MustCompile(`^(?:async )?def \w|^elif\b|^(?:if|for|while|else|try|except|with|class|finally)\b[^{]*:$|\blambda\b|^except\b|^from \w+ import\b|^(?:pass|raise)\b`)
	pythonText   = regexp.MustCompile(`\b[fr]["']`)
	proseLine    = regexp.MustCompile(`^[A-Z][a-z']*(?: [\w'",-]+){2,}[:.!]?$`)
	markupClosed = regexp.MustCompile(`</\w*>`)
)

// syntaxAdvice returns what to add to the parser's reason for refusing src at offset; empty if nothing is known.
func syntaxAdvice(src string, offset int, reason string) string {
	line := strings.TrimSpace(lineAt(src, offset))
	if len(line) > maxAdviceLine {
		return ""
	}
	switch {
	case strings.HasSuffix(reason, "something is not closed"):
		if markupClosed.MatchString(src) {
			return "; JSX is not available"
		}
		return unclosed(src)
	case strings.HasPrefix(reason, `"await" can only be used inside`):
		return ": write async before that function's parameters, and wait for the promises that it then returns with await Promise.all(…)"
	case reason == "Unterminated string literal":
		return ": a string ends on its line, a text of several lines stands between backquotes"
	case strings.HasSuffix(reason, "has already been declared"):
		return ": give one of the two another name"
	case strings.HasPrefix(reason, `Cannot use "yield"`):
		return ": return the result instead"
	case !expectation.MatchString(reason):
		return ""
	case strings.HasPrefix(line, "#"):
		return ": programs are TypeScript, where a comment begins with //"
	case pythonLine.MatchString(line):
		return ": programs are TypeScript, not Python"
	case pythonText.MatchString(line) && strings.Contains(reason, "but found"):
		return ": programs are TypeScript, where a text with values is `a ${b}`"
	case !proseLine.MatchString(line) && (pythonLogic.MatchString(reason) || pythonNot.MatchString(src[max(0, offset-10):min(offset, len(src))])):
		return ": programs are TypeScript: write && for and, || for or, ! for not"
	case proseLine.MatchString(line):
		return ": a program is code alone, put other text into comments"
	}
	return ""
}

func lineAt(src string, offset int) string {
	offset = min(max(offset, 0), len(src))
	start := strings.LastIndexByte(src[:offset], '\n') + 1
	if end := strings.IndexByte(src[offset:], '\n'); end >= 0 {
		return src[start : offset+end]
	}
	return src[start:]
}

// unclosed names the innermost bracket that nothing closes.
func unclosed(src string) string {
	s := scanner{src: src}
	var open []int
	for _, t := range s.all() {
		switch {
		case t.kind == tokTemplateOpen && src[t.start] != '}', t.is('('), t.is('['), t.is('{'):
			open = append(open, t.start)
		case t.kind == tokTemplate && src[t.start] == '}', t.is(')'), t.is(']'), t.is('}'):
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	if len(open) == 0 {
		return ""
	}
	at := open[len(open)-1]
	line, _ := positionAt(src, at)
	return ", the " + src[at:at+1] + " in line " + strconv.Itoa(line)
}
