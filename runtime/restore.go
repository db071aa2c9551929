package runtime

// This file defines how names that the transform changed get their own spelling back (RUN-35).

import (
	"bytes"
	"strings"
)

// restoreNames undoes the printer's renaming: where a nested scope has a name of an outer one it appends a number,
// which the program would see in a function's name and a model in a message. The program's own scopes keep such names
// apart. The code keeps its length, for positions: a blank takes the number's place.
//
// Names that generated code refers to inside of the program's scopes must stay as they are: those of enums and
// namespaces, and with generated set those that helpers and lowered syntax use.
func (o *output) restoreNames(objects map[string]bool, generated bool) {
	if len(o.names) == 0 {
		return
	}
	lines := lineStarts(string(o.code))
	row, offset, unit := -1, 0, 0
	for _, s := range decodeMapping(o.mapping) {
		if s.line >= len(lines) {
			return
		}
		if s.line != row {
			row, offset, unit = s.line, lines[s.line], 0
		}
		// The columns of one line only grow: each byte is looked at once.
		offset += utf16Offset(string(o.code[offset:min(len(o.code), offset+4*(s.column-unit))]), s.column-unit)
		unit = s.column
		if s.name < 0 || s.name >= len(o.names) {
			continue
		}
		name := o.names[s.name]
		// An enum E is E2 inside of its own body: what the program calls E2 there must not be.
		if objects[strings.TrimRight(name, "0123456789")] || objects[name] || generated && isGeneratedName(name) {
			continue
		}
		restoreName(o.code[offset:], name)
	}
}

// restoreName writes blanks over the number behind name at the beginning of code.
func restoreName(code []byte, name string) {
	if len(code) < len(name) || string(code[:len(name)]) != name {
		return
	}
	end := len(name)
	for end < len(code) && '0' <= code[end] && code[end] <= '9' {
		end++
	}
	if end < len(code) && (isNamePart(code[end]) || code[end] == '\\') {
		return
	}
	for i := len(name); i < end; i++ {
		code[i] = ' '
	}
}

// isGeneratedName reports whether lowered syntax and its helpers can use name.
func isGeneratedName(name string) bool {
	if strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#") {
		return true
	}
	switch name {
	case "iter", "more", "temp", "error", "require":
		return true
	}
	return false
}

// The helper for async generators answers a return() that meets an await in a finally by another return(), which skips the
// rest of that block. Only for a yield* does it have to be passed on. The two texts are equally long, so that no position
// changes.
const (
	resumeWrong = `k==="return"?k:"next"`
	resumeRight = `k<"s"&&v[1]?k:"next" `
)

// repairAsyncGenerators corrects the helper in printed code.
func repairAsyncGenerators(code []byte) {
	helper := bytes.Index(code, []byte("__asyncGenerator="))
	if helper < 0 {
		return
	}
	if at := bytes.Index(code[helper:], []byte(resumeWrong)); at >= 0 {
		copy(code[helper+at:], resumeRight)
	}
}
