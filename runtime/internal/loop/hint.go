package loop

// This file adds to the message of a failure what a model needs to correct itself (CODE-34). What the engine says stays in
// front; an addition says what there is instead, or what the failing line shows.

import (
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/spelling"
	"github.com/runcode-go/runcode/runtime"
)

// maxHintHead is the longest first line of a message that an engine writes by itself, in bytes.
const maxHintHead = 300

var (
	notDefined  = lazy(`^(?:ReferenceError: )?'?([A-Za-z_$][\w$]*)'? is not defined`)
	noModule    = lazy(`^(?:ReferenceError: )?could not load module `)
	notFunction = lazy(`^(?:TypeError: )?(?:not a function|Object has no member '|.* is not a function|Value is not an object: |Could not convert &)`)
	notIterable = lazy(`^(?:TypeError: )?(?:value|object) is not iterable`)
	noProperty  = lazy(`^(?:TypeError: )?[cC]annot read property '([^']+)' of (?:undefined|null)`)
	noObject    = lazy(`^(?:TypeError: )?(?:Cannot convert undefined or null to object|cannot read property 'Symbol.iterator' of |Value is not object coercible)`)
	readOnly    = lazy(`^(?:TypeError: )?'([A-Za-z_$][\w$]*)' is read-only`)
	constant    = lazy(`^(?:TypeError: )?Assignment to constant variable`)
	early       = lazy(`^(?:ReferenceError: )?(?:[\w$]+ is not initialized|Cannot access a variable before initialization)`)
	notJSON     = lazy(`^(?:SyntaxError: )?(?:unexpected token: |invalid character |unexpected end of|Unexpected end of|unexpected EOF)`)
	hostDump    = lazy(`Could not convert &\{.*\} \(\*goja\.\w+\) to primitive`) // addresses of the host's memory
	noPrimitive = "cannot convert object to primitive value"
)

// hint rewrites the first line of a failure's message. line and column are where in the program that happened; code may be
// nil, and then the lines of the program tell nothing.
func hint(message string, req *runtime.Request, code *runtime.Code, line, column int) string {
	head, frames, framed := strings.Cut(message, "\n")
	dumped := hostDump().MatchString(head)
	if len(head) > maxHintHead && !dumped {
		return message
	}
	s := newScene(req, code, line, column)
	switch m := notDefined().FindStringSubmatch(head); {
	case m != nil && !isBound(req, m[1]):
		head += s.unknownName(m[1])
	case m != nil:
	case noModule().MatchString(head):
		head += "; " + elsewhere["require"].advice
	case notFunction().MatchString(head):
		head = s.noFunction(head)
	case notIterable().MatchString(head):
		if at := s.unawaited(); at != "" {
			head += at
		} else {
			head += "; of an object take Object.entries(…), of a promise what await gives"
		}
	case noObject().MatchString(head):
		note := s.unawaited() + s.environment()
		if note == "" {
			note = "; what is taken apart is missing: print what it comes from"
		}
		head += note
	case noProperty().MatchString(head):
		head += s.missingObject(noProperty().FindStringSubmatch(head)[1])
	case head == "AggregateError":
		head += "; all of the promises failed: catch it and print its errors"
	case readOnly().MatchString(head):
		if name := readOnly().FindStringSubmatch(head)[1]; s.declares("const", name) {
			head += "; declare it with let instead of const"
		}
	case constant().MatchString(head):
		head = strings.TrimSuffix(head, ".") + "; declare it with let instead of const"
	case early().MatchString(head):
		head += "; move its declaration above the first use"
	case notJSON().MatchString(head) && strings.Contains(s.text(0), "JSON.parse("):
		head += "; JSON.parse takes a JSON text, while what a tool returns is mostly a value already: print it to see"
	}
	if dumped {
		head = hostDump().ReplaceAllString(head, noPrimitive)
	}
	if framed {
		return head + "\n" + frames
	}
	return head
}

// noFunction explains a call of what cannot be called.
func (s *scene) noFunction(head string) string {
	kind := ""
	if strings.HasPrefix(head, "TypeError: ") {
		kind = "TypeError: "
	}
	if space, member := s.missingMember(); space != nil {
		name := access(space.Global, member)
		if note := elsewhere[member].advice; note != "" && elsewhere[member].member {
			return kind + name + " is not a function; " + note
		}
		return kind + name + " is not a function" + known("; "+space.Global+" has ", []string{member}, members(space))
	}
	callee := s.callee()
	if callee == "" {
		return head + s.unawaited()
	}
	if strings.HasPrefix(head, kind+"Could not convert") {
		head = kind + "not a function"
	}
	head += "; the call is " + callee + "(…)"
	for i := range s.req.Namespaces {
		space := &s.req.Namespaces[i]
		rest, of := strings.CutPrefix(callee, space.Global)
		switch {
		case !of:
		case rest == "":
			return head + known(": "+space.Global+" is an object of functions and has ", []string{s.firstText()}, members(space))
		case rest[0] == '[':
			return head + known("; "+space.Global+" has ", []string{s.missing(head)}, members(space))
		case rest[0] == '.':
			if name, _, deeper := strings.Cut(rest[1:], "."); deeper && has(space, name) {
				return head + ": call " + access(space.Global, name) + "({…}) itself"
			}
		}
	}
	if space := s.destructured(callee); space != nil {
		return head + known("; "+space.Global+" has ", []string{callee}, members(space))
	}
	if strings.HasPrefix(callee, "process.") {
		return head + "; process has stdout.write, stderr.write, exit and an empty env alone"
	}
	if note := s.unawaited(); note != "" {
		return head + note
	}
	if dot := strings.LastIndexAny(callee, ".["); dot > 0 {
		return head + ": print " + strings.TrimRight(callee[:dot], "?!") + " to see what it is"
	}
	return head
}

// missingObject explains a read of a member of undefined or null.
func (s *scene) missingObject(property string) string {
	base := s.baseOf(property)
	for i := range s.req.Namespaces {
		space := &s.req.Namespaces[i]
		if name, of := strings.CutPrefix(base, space.Global+"."); of && !has(space, name) {
			return "; " + base + " does not exist" + known(", "+space.Global+" has ", []string{name + "_" + property, name, property}, members(space))
		}
	}
	if note := s.unawaited(); note != "" {
		return note
	}
	note := ""
	if base != "" {
		note = "; " + base + " is missing"
		if dot := strings.LastIndexAny(base, ".["); dot > 0 {
			note += ": print " + strings.TrimRight(base[:dot], "?!") + " to see what it has"
		}
	}
	return note + s.environment()
}

// environment says what process.env holds to a program that reads it.
func (s *scene) environment() string {
	if strings.Contains(s.source, "process.env") {
		return "; process.env is always empty: a program gets secrets from nowhere, tools have their own"
	}
	if strings.Contains(s.source, "process.argv") {
		return "; there is no process.argv: write values into the program"
	}
	return ""
}

// unknownName says what there is instead of a name that nothing declares.
func (s *scene) unknownName(name string) string {
	wanted := append([]string{name}, s.chain(name)...)
	all := s.everything(name)
	exact := slices.ContainsFunc(all, func(c candidate) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return spelling.Fold(w) == spelling.Fold(c.name) })
	})
	if e, ok := elsewhere[name]; ok && (!exact || e.tools) {
		note := "; " + e.advice
		if e.tools {
			note += known(": the program has ", wanted, all)
		}
		return note
	}
	note := ""
	if line, ok := s.declaredIn(name); ok {
		note = "; line " + line + " declares it, but in another block or function"
	}
	return note + known("; the program has ", wanted, all)
}

func (s *scene) everything(missing string) []candidate {
	var all []candidate
	for _, n := range s.req.Namespaces {
		all = append(all, candidate{written: n.Global, name: n.Global})
	}
	for _, g := range s.req.Globals {
		all = append(all, candidate{written: g.Name, name: g.Name})
	}
	for _, name := range s.declared() {
		if name == missing {
			continue // where that is declared it cannot be seen
		}
		all = append(all, candidate{written: name, name: name, onlyNear: true})
	}
	for _, n := range s.req.Namespaces {
		for _, f := range n.Functions {
			all = append(all, candidate{written: access(n.Global, f.Name), name: f.Name, other: true})
		}
	}
	return all
}

func isBound(req *runtime.Request, name string) bool {
	return slices.ContainsFunc(req.Namespaces, func(n runtime.Namespace) bool { return n.Global == name }) ||
		slices.ContainsFunc(req.Globals, func(g runtime.Global) bool { return g.Name == name })
}

func has(n *runtime.Namespace, member string) bool {
	return slices.ContainsFunc(n.Functions, func(f runtime.Function) bool { return f.Name == member })
}
