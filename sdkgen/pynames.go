// This file defines the names in Python text: members, fields and generated classes (PY-7 to PY-10, PY-18 to PY-21).

package sdkgen

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/cases"
	xlanguage "golang.org/x/text/language"
)

// isPythonMethod reports whether a tool's name can be a method's (PY-9).
func isPythonMethod(name string) bool {
	return isPythonIdentifier(name) && !isPythonKeyword(name) && name[0] != '_'
}

// isPythonField reports whether a member's name can be a TypedDict's field (PY-10).
func isPythonField(name string) bool {
	mangled := strings.HasPrefix(name, "__") && !strings.HasSuffix(name, "__")
	return isPythonIdentifier(name) && !isPythonKeyword(name) && !mangled
}

// takenPython are the names of the text itself, and those of the language that an annotation uses or a class would hide.
var takenPython = strings.Fields(`
	Any Literal NotRequired Protocol TypedDict ToolCallError Tools Sdk McpResult Exception RuntimeError NameError
	False None True bool dict float int list str tools sdk`)

// camel makes the camel form of a name (PY-19).
func camel(name string) string {
	var b strings.Builder
	head := true
	for _, r := range name {
		switch {
		case r == '_' || isInvisible(r) || !isXIDContinue(r):
			head = true
			continue
		case !head || r > 0xFFFF:
			b.WriteRune(r)
		case r < 0x80:
			b.WriteString(strings.ToUpper(string(r)))
		default:
			b.WriteString(cases.Upper(xlanguage.Und).String(string(r))) // full mapping: one letter may become two
		}
		head = false
	}
	text := nfkc(b.String())
	if first, _ := utf8.DecodeRuneInString(text); text == "" || !isXIDStart(first) {
		text = nfkc("Tool" + text)
	}
	return text
}

// maxClassName is how long a class name may get, in UTF-16 units, before its number (PY-20).
const maxClassName = 120

// className joins the parts of a class name (PY-18, PY-20).
func className(enclosing, part string) string {
	name := nfkc(enclosing + part)
	if len(name) <= maxClassName {
		return name
	}
	units := 0
	for i, r := range name {
		if units += utf16.RuneLen(r); units > maxClassName {
			return name[:i]
		}
	}
	return name
}

// branchName is the name of a union's branch.
func branchName(enclosing string, index int) string { return className(enclosing, strconv.Itoa(index)) }
