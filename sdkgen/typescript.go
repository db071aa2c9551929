// This file defines how a shape is written as a TypeScript type (SDK-16 to SDK-23).

package sdkgen

import (
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// maxIndent is how many levels are indented; deeper ones stay there, or the text of a deep schema would grow with the square of its
// depth (SDK-7).
const maxIndent = 32

// TypeScriptType returns the TypeScript type of a schema of the enforced subset, and unknown for any other value (SDK-23).
func TypeScriptType(schema jsonval.Value) string {
	if !inSubset(schema) {
		return "unknown"
	}
	w := tsWriter{top: "JsonValue"}
	w.write(newPool().exact(schema), 0)
	return string(w.buf)
}

// tsWriter writes types. It keeps a stack of what is still to be written, so that depth costs no call stack.
type tsWriter struct {
	buf   []byte
	ref   func(*namedType) string // how a named type is referred to
	alias map[*shape]string       // the names of objects that are declared apart
	top   string                  // the type of any JSON value
	widen bool                    // literals become their base type (GATE-7)
	limit int                     // characters of a description, 0 for all
	bare  bool                    // without descriptions

	todo []tsPart
}

// tsPart is something to write: a shape at a level, or, without a shape, a text; and a field in front of its shape.
type tsPart struct {
	text  string
	shape *shape
	field *field
	level int
}

// write appends the type of s, whose closing brace stands at level.
func (w *tsWriter) write(s *shape, level int) {
	w.later(tsPart{shape: s, level: level})
	w.rest()
}

// rest writes what has been put off.
func (w *tsWriter) rest() {
	for len(w.todo) > 0 {
		part := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if part.field != nil {
			w.member(part.field.name, part.field.description, part.field.optional, part.level)
		}
		if part.shape == nil {
			w.buf = append(w.buf, part.text...)
		} else {
			w.shape(part.shape, part.level)
		}
	}
}

// later pushes parts so that the first is written first.
func (w *tsWriter) later(parts ...tsPart) {
	for i := len(parts) - 1; i >= 0; i-- {
		w.todo = append(w.todo, parts[i])
	}
}

func (w *tsWriter) shape(s *shape, level int) {
	if name, ok := w.alias[s]; ok {
		w.text(name)
		return
	}
	switch s.kind {
	case anyKind:
		w.text(w.top)
	case arrayKind:
		switch {
		case s.item == nil:
			w.text(w.top + "[]")
		case w.isCompound(s.item):
			w.later(tsPart{text: "("}, tsPart{shape: s.item, level: level}, tsPart{text: ")[]"})
		default:
			w.later(tsPart{shape: s.item, level: level}, tsPart{text: "[]"})
		}
	case unionKind:
		for i := len(s.alts) - 1; i >= 0; i-- {
			w.later(tsPart{shape: s.alts[i], level: level})
			if i > 0 {
				w.later(tsPart{text: " | "})
			}
		}
	case objectKind:
		w.object(s, level)
	case namedKind:
		if s.named.isAnything() {
			w.text(w.top)
		} else {
			w.text(w.ref(s.named))
		}
	case resultKind:
		w.result(s, level)
	default:
		w.scalar(s)
	}
}

func (w *tsWriter) scalar(s *shape) {
	if len(s.literals) == 0 || w.widen {
		w.text([...]string{stringKind: "string", numberKind: "number", integerKind: "number", booleanKind: "boolean", nullKind: "null"}[s.kind])
		return
	}
	for i, v := range s.literals {
		if i > 0 {
			w.text(" | ")
		}
		w.buf = appendLiteral(w.buf, v)
	}
}

// appendLiteral appends a scalar as TypeScript writes it (SDK-19).
func appendLiteral(b []byte, v jsonval.Value) []byte {
	if v.IsString() {
		return appendQuoted(b, v.Str(), jsonQuotes)
	}
	return v.AppendJSON(b)
}

func (w *tsWriter) object(s *shape, level int) {
	if len(s.fields) == 0 {
		if s.open == closed {
			w.text("Record<string, never>")
		} else {
			w.text("Record<string, " + w.top + ">")
		}
		return
	}
	w.text("{\n")
	end := "}"
	if s.open != closed {
		end = "} & Record<string, " + w.top + ">"
	}
	w.later(tsPart{text: indent(level) + end})
	for i := len(s.fields) - 1; i >= 0; i-- {
		f := &s.fields[i]
		w.later(tsPart{field: f, shape: f.shape, level: level + 1}, tsPart{text: ";\n"})
	}
}

// member writes what stands before a member's type: its description, its indentation and its key.
func (w *tsWriter) member(name, description string, optional bool, level int) {
	if !w.bare {
		w.comment(description, level)
	}
	w.text(indent(level))
	w.buf = appendKey(w.buf, name)
	if optional {
		w.text("?")
	}
	w.text(": ")
}

// comment writes a description as a comment of one line (SDK-17).
func (w *tsWriter) comment(description string, level int) {
	text := oneLine(description, w.limit)
	if text == "" {
		return
	}
	w.text(indent(level) + "/** ")
	w.text(strings.ReplaceAll(text, "*/", `*\/`))
	w.text(" */\n")
}

// isCompound reports whether s is a union or an intersection at its top level (SDK-22).
func (w *tsWriter) isCompound(s *shape) bool {
	switch s.kind {
	case unionKind:
		return true
	case objectKind:
		return len(s.fields) > 0 && s.open != closed && w.alias[s] == ""
	}
	return s.isScalar() && len(s.literals) > 1 && !w.widen
}

func (w *tsWriter) text(s string) { w.buf = append(w.buf, s...) }

func indent(level int) string { return spaces[:2*min(level, maxIndent)] }

var spaces = strings.Repeat("  ", maxIndent)

// appendKey appends a member's or tool's name as a key: bare if that is possible, reserved words included (SDK-16).
func appendKey(b []byte, name string) []byte {
	if isTypeScriptName(name) {
		return append(b, name...)
	}
	return appendQuoted(b, name, jsonQuotes)
}

func isTypeScriptName(name string) bool {
	for i, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
