package runtime

// This file defines which names a request may bind (RUN-13..17). The names are checked so that one list of namespaces
// is valid whatever language the program is written in.

import (
	"strings"
)

// reservedWords are the words of ECMAScript and Python that are no names (RUN-13).
const reservedWords = ` await break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with yield let static implements interface package private protected public arguments eval False None True and as assert async def del elif except from global is lambda nonlocal not or pass raise match type _ `

// reservedGlobals are names that the languages' own worlds need (RUN-14).
const reservedGlobals = ` console __main__ __builtins__ __name__ __debug__ `

// reservedMembers are the properties that an error has by itself in one of the languages (RUN-16).
const reservedMembers = ` name message stack args with_traceback add_note `

// CheckNamespaces reports the first thing in a request's namespaces and globals that no engine can bind, as a
// *MisuseError that quotes the offending name; nil when all are usable (RUN-13..17).
func CheckNamespaces(namespaces []Namespace, globals []Global) error {
	taken := make(map[string]string, len(namespaces)+len(globals))
	take := func(what, name string) error {
		if err := checkGlobalName(what, name); err != nil {
			return err
		}
		if by, ok := taken[name]; ok {
			return Misuse("%s %q is a duplicate: %s has that name already", what, name, by)
		}
		taken[name] = "a " + what
		return nil
	}
	for _, n := range namespaces {
		if err := take("namespace", n.Global); err != nil {
			return err
		}
		for _, f := range n.Functions {
			if f.Call == nil {
				return Misuse("function %q of namespace %q has no handler", f.Name, n.Global)
			}
		}
	}
	for _, n := range namespaces {
		if n.ErrorClass == nil {
			continue
		}
		if err := take("error class", n.ErrorClass.Name); err != nil {
			return err
		}
		if err := checkMemberProperty(n.ErrorClass.Name, n.ErrorClass.MemberProperty); err != nil {
			return err
		}
	}
	for _, g := range globals {
		if err := take("global", g.Name); err != nil {
			return err
		}
		if !g.Value.Exists() {
			return Misuse("global %q has no value", g.Name)
		}
	}
	return nil
}

func checkGlobalName(what, name string) error {
	switch {
	case !isPlainIdentifier(name):
		return Misuse("%s %q is an unusable identifier: it must match [A-Za-z_][A-Za-z0-9_]*", what, name)
	case inWords(reservedWords, name):
		return Misuse("%s %q is reserved: it is a keyword of ECMAScript or Python", what, name)
	case inWords(reservedGlobals, name):
		return Misuse("%s %q is reserved: programs need it for themselves", what, name)
	}
	return nil
}

func checkMemberProperty(class, name string) error {
	switch {
	case name == "":
		return Misuse("error class %q has an unusable member property \"\": it must have a name", class)
	case inWords(reservedMembers, name):
		return Misuse("error class %q has an unusable member property %q: errors have that property already", class, name)
	case len(name) > 4 && strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__"):
		return Misuse("error class %q has an unusable member property %q: names of the form __x__ are reserved", class, name)
	}
	return nil
}

func isPlainIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case '0' <= c && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != ""
}

// inWords reports whether word, which holds no space, is one of the words in list.
func inWords(list, word string) bool {
	return word != "" && strings.Contains(list, " "+word+" ")
}
