package tscheck

// This file defines which diagnostics of a compiler keep a program from running, and what the model is told about them (GATE-7).

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/runcode-go/runcode/runtime"
)

// maxDiagnostics is how many a failure tells of.
const maxDiagnostics = 5

// maxMessage is how many bytes of one the model gets.
const maxMessage = 600

// diagnostic is one error that a compiler found in a program.
type diagnostic struct {
	code int
	at   int    // offset in the model's text
	text string // the first line says what is wrong, further ones why
}

// unresolved are the codes of a name that is declared nowhere. What most of them add is advice on the installation of packages.
var unresolved = map[int]bool{
	2304: true, 2503: true, 2552: true, 2580: true, 2581: true, 2582: true, 2583: true, 2584: true, 2591: true, 2592: true, 2593: true,
	2662: true, 2663: true, 2867: true, 2868: true, 18004: true,
}

// noMember are the codes of a member that its object does not have.
var noMember = map[int]bool{2339: true, 2551: true, 2568: true, 2570: true}

// unfit are the codes of an argument, or a part of one, that is not of the declared type.
var unfit = map[int]bool{
	2322: true, 2326: true, 2328: true, 2345: true, 2353: true, 2559: true, 2560: true, 2561: true, 2696: true, 2739: true, 2740: true,
	2741: true, 2769: true, 2820: true, 2375: true, 2379: true,
}

// miscounted are the codes of a call with too few or too many arguments. The compiler places them at the callee or at an argument.
var miscounted = map[int]bool{2554: true, 2555: true, 2556: true, 2557: true, 2575: true}

// failure makes of diagnostics what keeps the program from running, or nil.
func (p *program) failure(found []diagnostic) *runtime.Failure {
	found = append(found, p.quoted()...)
	slices.SortStableFunc(found, func(a, b diagnostic) int { return cmp.Compare(a.at, b.at) })
	own := p.ownMembers(found)
	probed := p.probed()
	f := &runtime.Failure{Kind: runtime.Exception}
	var lines []string
	for _, d := range found {
		message, ok := p.refuses(d, own, probed)
		if !ok {
			continue
		}
		line, column := p.code.PositionOf(d.at)
		text := fmt.Sprintf("type error: %s:%d:%d: %s", programFile, line, column, message)
		if slices.Contains(lines, text) {
			continue
		}
		if len(lines) == 0 {
			f.Line, f.Column = line, column
		}
		if lines = append(lines, text); len(lines) == maxDiagnostics {
			break
		}
	}
	if len(lines) == 0 {
		return nil
	}
	f.Message = strings.Join(lines, "\n")
	return f
}

// refuses decides over one diagnostic and returns what the model is told.
func (p *program) refuses(d diagnostic, own, probed map[string]bool) (message string, ok bool) {
	name := p.word(d.at)
	if unresolved[d.code] {
		// A name in a type is not looked up by what runs, and a program that asks whether a name is there can do without it.
		if name == "" || probed[name] || !p.code.Runs(p.code.PositionOf(d.at)) {
			return "", false
		}
		return p.unresolvedText(name, d), true
	}
	call, inside := p.innermost(d.at)
	switch {
	case d.code == quotedTool:
		return p.noToolText(d.text), true
	case noMember[d.code]:
		if own[firstLine(d.text)] {
			return "", false
		}
		if c, is := p.called(d.at); is {
			if c.Optional || slices.Contains(p.tools, name) {
				return "", false
			}
			return p.noToolText(name), true
		}
		return oneMessage(d.text), p.within(d.at)
	case miscounted[d.code]:
		if c, is := p.called(d.at); is {
			return oneMessage(d.text) + " " + access(c.Member) + " takes one object", true
		}
		return oneMessage(d.text), inside && isTool(call)
	case unfit[d.code]:
		if !inside || !isTool(call) {
			return "", false // it is about the arguments of another call
		}
		text := oneMessage(d.text)
		if d.code == unknownMember && p.isRoot(call, d.at) {
			text += p.argumentsText(call.Member, name)
		}
		return text, true
	}
	return "", false
}

// quotedTool is the code of our own finding of a tool that does not exist: without strictness a compiler takes what is in brackets for
// anything.
const quotedTool = -1

// toolsName matches the name of the namespace.
var toolsName = regexp.MustCompile(`\b` + toolsGlobal + `\b\s*(.?)`)

// quoted finds the calls of tools["name"] that do not exist. It finds nothing in a program that does something else with the name
// tools than to take a member of it: it may be another object then.
func (p *program) quoted() (found []diagnostic) {
	for _, m := range toolsName.FindAllStringSubmatch(p.text, -1) {
		if m[1] != "." && m[1] != "[" && m[1] != "?" {
			return nil
		}
	}
	for _, c := range p.calls {
		bracket := strings.IndexAny(p.text[c.Start:c.Open], ".[")
		if !isTool(c) || c.Optional || c.Member == "" || slices.Contains(p.tools, c.Member) || bracket < 0 || p.text[c.Start+bracket] != '[' {
			continue
		}
		at := c.Start + bracket + 1
		found = append(found, diagnostic{code: quotedTool, at: at + strings.IndexAny(p.text[at:], `"'`), text: c.Member})
	}
	return found
}

func isTool(c runtime.Call) bool { return c.Object == toolsGlobal }

// innermost returns the call in whose arguments an offset is, the innermost one.
func (p *program) innermost(at int) (runtime.Call, bool) {
	for _, c := range slices.Backward(p.calls) {
		if c.Open < at && at < c.Close {
			return c, true
		}
	}
	return runtime.Call{}, false
}

// within reports whether an offset is in the arguments of a tool, however deep.
func (p *program) within(at int) bool {
	return slices.ContainsFunc(p.calls, func(c runtime.Call) bool { return isTool(c) && c.Open < at && at < c.Close })
}

// called returns the call of a tool in whose callee an offset is.
func (p *program) called(at int) (runtime.Call, bool) {
	for _, c := range p.calls {
		if isTool(c) && c.Start <= at && at < c.Open {
			return c, true
		}
	}
	return runtime.Call{}, false
}

// assigned matches what follows a member that is assigned to.
var assigned = regexp.MustCompile(`^\s*(?:(?:\*\*|\|\||&&|\?\?|<<|>>>?|[-+*/%&|^])?=(?:[^=>]|$)|\+\+|--)`)

// ownMembers returns the first lines of those complaints about missing members that concern an object which the program itself gives
// that member: `const o = {}; o.total = 1`. They say nothing about a tool's arguments.
func (p *program) ownMembers(found []diagnostic) map[string]bool {
	own := make(map[string]bool)
	for _, d := range found {
		if noMember[d.code] && assigned.MatchString(p.text[d.at+len(p.word(d.at)):]) {
			own[firstLine(d.text)] = true
		}
	}
	return own
}

// typeofName matches a question for a name.
var typeofName = regexp.MustCompile(`\btypeof\s*\(?\s*([\p{L}_$][\p{L}\p{N}_$]*)`)

// probed returns the names that the program asks for before it uses them: `typeof fetch === "function"`.
func (p *program) probed() map[string]bool {
	names := make(map[string]bool)
	for _, m := range typeofName.FindAllStringSubmatch(p.text, -1) {
		names[m[1]] = true
	}
	return names
}

// unresolvedText says that a name is not there, and what is (CODE-34).
func (p *program) unresolvedText(name string, d diagnostic) string {
	text := fmt.Sprintf("Cannot find name '%s'.", name)
	if i := strings.Index(d.text, "Did you mean"); i >= 0 && d.code == 2552 {
		text += " " + oneMessage(d.text[i:])
	}
	var there []existing
	for _, n := range p.world {
		there = append(there, existing{n, n})
	}
	for _, n := range p.tools {
		there = append(there, existing{access(n), n})
	}
	return text + nearest(" The program has ", name, there)
}

// unknownMember is the code of a member of an object literal that the declared type does not have; the compiler guesses which was meant
// only now and then, and shortens the type.
const unknownMember = 2353

// isRoot reports whether what is at an offset in the arguments of a call is a member of the one object that they are.
func (p *program) isRoot(call runtime.Call, at int) bool {
	depth := 0
	for _, r := range p.text[call.Open+1 : at] {
		switch r {
		case '{', '(', '[':
			depth++
		case '}', ')', ']':
			depth--
		}
	}
	return depth == 1
}

// argumentsText says which arguments a tool takes.
func (p *program) argumentsText(tool, missing string) string {
	var there []existing
	for _, n := range p.takes(tool) {
		there = append(there, existing{n, n})
	}
	return nearest(" "+access(tool)+" takes ", missing, there)
}

// noToolText says that a tool is not there, and which are.
func (p *program) noToolText(name string) string {
	var there []existing
	for _, n := range p.tools {
		there = append(there, existing{n, n})
	}
	return access(name) + " is not a function." + nearest(" tools has ", name, there)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// oneMessage makes one line of a compiler's text, and cuts what is too long.
func oneMessage(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	text = strings.Join(parts, " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + " …"
	}
	return text
}

func isNamePart(r rune) bool {
	return r == '$' || r == '_' || r == '\u200c' || r == '\u200d' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) ||
		unicode.Is(unicode.Mc, r) || unicode.Is(unicode.Pc, r) || unicode.Is(unicode.Nl, r)
}
