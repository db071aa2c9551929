package loop

// This file reads the model's text around the place of a failure. It reads tokens and patterns, not grammar: what it finds is
// named in a message, never acted on.

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/runtime"
)

// hintLines is how far before the recorded position a call may begin.
const hintLines = 8

// Bounds of what is searched: a hint must cost little whatever the program is.
const (
	maxHintSource = 64 << 10 // of the program, in bytes
	maxHintLine   = 4 << 10  // of one line, in bytes
	maxHintCalls  = 200
)

// scene is where in a program something failed.
type scene struct {
	req          *runtime.Request
	code         *runtime.Code // nil: there is only the text
	source       string
	lines        []string
	line, column int
}

func newScene(req *runtime.Request, code *runtime.Code, line, column int) *scene {
	s := &scene{req: req, code: code, source: req.Program, line: line, column: column}
	if code != nil {
		s.source, _ = code.Source()
	}
	s.lines = strings.Split(s.source, "\n")
	if len(s.source) > maxHintSource {
		s.code, s.source = nil, ""
	}
	if line > len(s.lines) {
		s.line = 0
	}
	return s
}

// text returns the line that is back lines before the failing one.
func (s *scene) text(back int) string {
	if at := s.line - back; s.line > 0 && at > 0 && len(s.lines[at-1]) <= maxHintLine {
		return s.lines[at-1]
	}
	return ""
}

// missingMember finds the call of an undeclared member at the failing line, or shortly before it: the position that an
// engine records can be that of an argument.
func (s *scene) missingMember() (*runtime.Namespace, string) {
	for back := range hintLines {
		text := s.text(back)
		for i := range s.req.Namespaces {
			n := &s.req.Namespaces[i]
			name := regexp.QuoteMeta(n.Global)
			call := regexp.MustCompile(`(?:(?:^|[^\w$.])` + name + `|\(\s*(?:<[^<>()]*>\s*)?` + name + `(?:\s+as\s+[^()]*)?\))!?(?:\??\.([A-Za-z_$][\w$]*)|(?:\?\.)?\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])\s*\(`)
			for _, m := range call.FindAllStringSubmatch(text, -1) {
				if member := m[1] + m[2] + m[3]; !has(n, member) {
					return n, member
				}
			}
		}
	}
	return nil, ""
}

// calleeText is what stands before the parenthesis of a call: names, members and short subscripts.
var calleeText = lazy(`[A-Za-z_$][\w$]*(?:!?\??\.[A-Za-z_$][\w$]*|(?:\?\.)?\[[^\[\]\n]{0,40}\])*!?(?:\?\.)?\s*$`)

// callee returns the text of what is called where the failure is; empty if that is not plain.
func (s *scene) callee() string {
	if s.code == nil || s.line == 0 {
		return ""
	}
	at := s.code.OffsetOf(s.line, max(s.column, 1))
	best, text := -1, ""
	for _, c := range s.code.Calls() {
		from := max(0, c.Open-2*maxHintText)
		if at < from || at > c.Close {
			continue
		}
		name := calleeText().FindString(s.source[from:c.Open])
		start := c.Open - len(name)
		// Either the position is in what is called, or the call is the innermost one around it.
		if start <= at && at <= c.Close && start > best {
			best, text = start, strings.TrimSpace(name)
		}
	}
	if len(text) > maxHintText || best > 0 && strings.IndexByte(").]}", s.source[best-1]) >= 0 {
		return ""
	}
	return text
}

// firstText returns the string literal that the failing line's call begins with.
func (s *scene) firstText() string {
	return stringArgument().FindString(s.text(0))
}

var stringArgument = lazy(`["'][\w-]+["']`)

// missing returns the name of the member that goja's message says is missing.
func (s *scene) missing(head string) string {
	_, name, _ := strings.Cut(head, "Object has no member '")
	name, _, _ = strings.Cut(name, "'")
	return name
}

// baseOf returns what the failing line reads the property of, if it does that once.
func (s *scene) baseOf(property string) string {
	end := `\.` + regexp.QuoteMeta(property) + `(?:[^\w$]|$)`
	switch {
	case indexText().MatchString(property):
		end = `\[` + property + `\]`
	case !plainName().MatchString(property):
		return ""
	}
	read := regexp.MustCompile(`([A-Za-z_$][\w$]*(?:!?\??\.[A-Za-z_$][\w$]*|\[[^\[\]]{0,40}\])*?)!?` + end)
	found := read.FindAllStringSubmatch(s.text(0), -1)
	if len(found) != 1 || len(found[0][1]) > maxHintText {
		return ""
	}
	return found[0][1]
}

var indexText = lazy(`^\d{1,10}$`)

// chain returns the members that the failing line reads of a name: "b", "a_b" for mcp.a.b.
func (s *scene) chain(name string) []string {
	read := regexp.MustCompile(`(?:^|[^\w$.])` + regexp.QuoteMeta(name) + `((?:\??\.[A-Za-z_$][\w$]*)+)`)
	m := read.FindStringSubmatch(s.text(0))
	if m == nil {
		if call := regexp.MustCompile(`(?:^|[^\w$.])` + regexp.QuoteMeta(name) + `\(`); call.MatchString(s.text(0)) && elsewhere[name].tools {
			if argument := s.firstText(); argument != "" {
				return []string{strings.Trim(argument, `"'`)}
			}
		}
		return nil
	}
	parts := strings.Split(strings.ReplaceAll(m[1][1:], "?", ""), ".")
	return slices.Compact([]string{parts[len(parts)-1], strings.Join(parts, "_")})
}

var declaration = lazy(`(declare\s+)?\b(?:const|let|var|function\*?|class)\s+([A-Za-z_$][\w$]*)`)

// declared returns the names that the program declares, by its text.
func (s *scene) declared() []string {
	var names []string
	for _, m := range declaration().FindAllStringSubmatch(s.source, -1) {
		if m[1] == "" {
			names = append(names, m[2])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// declares reports whether the program declares the name by that keyword.
func (s *scene) declares(keyword, name string) bool {
	return regexp.MustCompile(`\b` + keyword + `\s+` + regexp.QuoteMeta(name) + `(?:[^\w$]|$)`).MatchString(s.source)
}

// declaredIn returns the number of the line that declares a name.
func (s *scene) declaredIn(name string) (string, bool) {
	if s.source == "" {
		return "", false
	}
	for i, text := range s.lines {
		for _, m := range declaration().FindAllStringSubmatch(text, -1) {
			if m[1] == "" && m[2] == name {
				return strconv.Itoa(i + 1), true
			}
		}
	}
	return "", false
}

// destructured returns the namespace that a name was taken out of: `const { name } = tools`.
func (s *scene) destructured(name string) *runtime.Namespace {
	if !plainName().MatchString(name) {
		return nil
	}
	for i := range s.req.Namespaces {
		n := &s.req.Namespaces[i]
		taken := regexp.MustCompile(`\{[^{}]*\b` + regexp.QuoteMeta(name) + `\b[^{}]*\}\s*=\s*` + regexp.QuoteMeta(n.Global) + `\b`)
		if taken.MatchString(s.source) && !has(n, name) {
			return n
		}
	}
	return nil
}

// unawaited returns a note on the first call of a namespace's function whose promise is used as if it were the value.
func (s *scene) unawaited() string {
	if s.code == nil {
		return ""
	}
	for i, c := range s.code.Calls() {
		if i == maxHintCalls {
			break
		}
		if c.Member == "" || c.Close >= len(s.source) ||
			!slices.ContainsFunc(s.req.Namespaces, func(n runtime.Namespace) bool { return n.Global == c.Object }) {
			continue
		}
		before, after := strings.TrimSpace(s.source[:c.Start]), strings.TrimSpace(s.source[c.Close+1:])
		for strings.HasSuffix(before, "(") && strings.HasPrefix(after, ")") {
			before, after = strings.TrimSpace(before[:len(before)-1]), strings.TrimSpace(after[1:])
		}
		if usedAtOnce(before, after) || s.usedLater(before) {
			line, _ := s.code.PositionOf(c.Start)
			return "; " + access(c.Object, c.Member) + "(…) in line " + strconv.Itoa(line) + " gives a promise: put await before it"
		}
	}
	return ""
}

var (
	awaits    = lazy(`(?:^|[^\w$.])await$`)
	reads     = lazy(`^\??(?:\.([A-Za-z_$][\w$]*)|\[)`)
	spreads   = lazy(`(?:\.\.\.|[\s)]of)$`)
	takesPart = lazy(`(?:const|let|var)\s*(?:\{[^{}]*\}|\[[^\[\]]*\])\s*=$`)
	assigned  = lazy(`(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=;]*)?=$`)
)

// promiseMembers are what a program may read of a promise.
var promiseMembers = []string{"then", "catch", "finally"}

// usedAtOnce reports whether a call between two texts is used as if it gave the value.
func usedAtOnce(before, after string) bool {
	before = before[max(0, len(before)-200):]
	if awaits().MatchString(before) {
		return false
	}
	if m := reads().FindStringSubmatch(after[:min(len(after), 200)]); m != nil {
		return !slices.Contains(promiseMembers, m[1])
	}
	return spreads().MatchString(before) || takesPart().MatchString(before)
}

// usedLater reports whether before ends with an assignment to a name that is then used as if it were the value.
func (s *scene) usedLater(before string) bool {
	m := assigned().FindStringSubmatch(before[max(0, len(before)-200):])
	if m == nil {
		return false
	}
	name := regexp.QuoteMeta(m[1])
	if regexp.MustCompile(`\bawait\s+\(*` + name + `\b|\bPromise\.\w+\([^;]*\b` + name + `\b|\b` + name + `\s*=[^=]`).MatchString(s.source[len(before):]) {
		return false
	}
	use := regexp.MustCompile(`(?:^|[^\w$.])` + name + `\s*(?:!?\??\.([A-Za-z_$][\w$]*)|!?\[)|(?:\.\.\.|\bof\s+)` + name + `\b`)
	for _, u := range use.FindAllStringSubmatch(s.source, -1) {
		if !slices.Contains(promiseMembers, u[1]) {
			return true
		}
	}
	return false
}
