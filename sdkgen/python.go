// This file defines how a shape is written as a Python annotation, and the classes that annotations need (PY-11 to PY-17).

package sdkgen

import (
	"math"
	"math/big"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// maxBrackets is how many lists one annotation may nest: Python's tokenizer gives up at 200 open brackets (PY-14).
const maxBrackets = 180

// PythonType returns the annotation of a schema of the enforced subset, objects as dict[str, Any] since nothing gives a class a name,
// and Any for any other value (PY-12, PY-15).
func PythonType(schema jsonval.Value) string {
	if !inSubset(schema) {
		return "Any"
	}
	w := pyWriter{bare: true}
	w.annotate(newPool().exact(schema), "", 0)
	return string(w.buf)
}

// pyWriter writes annotations. A class that an annotation needs is written before what uses it: its text is collected apart and appended
// to classes when it is complete. What is still to be written is on a stack, so that depth costs no call stack.
type pyWriter struct {
	buf     []byte // the text being written
	classes []byte // the classes that are complete
	bare    bool   // no classes: every object is a dict (PY-15)
	limit   int    // characters of a description, 0 for all

	free  *allocator
	names *typeNames
	state map[*namedType]declared

	usesAny, usesLiteral, usesNotRequired, usesTypedDict, usesResult bool

	todo  []pyPart
	outer [][]byte // texts that wait for the present one to end
}

// declared says how far the declaration of a named type has come.
type declared uint8

const (
	undeclared declared = iota
	declaring           // references are quoted: the name stands further down or around them
	complete
)

// pyPart is something to write: one of its fields.
type pyPart struct {
	text    string
	comment string // a description in a class

	shape    *shape // an annotation
	name     string // what a class of the shape would be called
	brackets int    // lists around it

	end      bool       // the text that begin set apart is complete
	complete *namedType // its declaration is complete
}

// annotate appends the annotation of s. A class of it is called name if that is free; brackets is how many lists are open around it.
func (w *pyWriter) annotate(s *shape, name string, brackets int) {
	w.todo = append(w.todo[:0], pyPart{shape: s, name: name, brackets: brackets})
	for len(w.todo) > 0 {
		part := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		switch {
		case part.shape != nil:
			w.shape(part)
		case part.end:
			w.classes = append(append(w.classes, w.buf...), '\n')
			w.buf = w.outer[len(w.outer)-1]
			w.outer = w.outer[:len(w.outer)-1]
		case part.complete != nil:
			w.state[part.complete] = complete
		case part.comment != "":
			if text := oneLine(part.comment, w.limit); text != "" {
				w.text("    # " + text + "\n")
			}
		default:
			w.text(part.text)
		}
	}
}

// begin sets a text apart: what is written from now on goes to the classes, up to the part that says end.
func (w *pyWriter) begin() {
	w.outer = append(w.outer, w.buf)
	w.buf = nil
}

// later pushes parts so that the first is written first.
func (w *pyWriter) later(parts ...pyPart) {
	for i := len(parts) - 1; i >= 0; i-- {
		w.todo = append(w.todo, parts[i])
	}
}

func (w *pyWriter) shape(p pyPart) {
	s := p.shape
	switch s.kind {
	case anyKind:
		w.any()
	case nullKind:
		w.text("None")
	case arrayKind:
		w.array(p)
	case unionKind:
		for i := len(s.alts) - 1; i >= 0; i-- {
			w.later(pyPart{shape: s.alts[i], name: w.branch(p.name, i+1), brackets: p.brackets})
			if i > 0 {
				w.later(pyPart{text: " | "})
			}
		}
	case objectKind:
		w.object(p)
	case namedKind:
		w.reference(s.named)
	case resultKind:
		w.result(p)
	default:
		w.scalar(s)
	}
}

func (w *pyWriter) text(s string) { w.buf = append(w.buf, s...) }

func (w *pyWriter) any() {
	w.usesAny = true
	w.text("Any")
}

func (w *pyWriter) branch(name string, index int) string {
	if w.bare {
		return ""
	}
	return branchName(name, index)
}

func (w *pyWriter) array(p pyPart) {
	if p.brackets >= maxBrackets {
		w.any()
		return
	}
	if p.shape.item == nil {
		w.usesAny = true
		w.text("list[Any]")
		return
	}
	w.text("list[")
	w.later(pyPart{shape: p.shape.item, name: p.name, brackets: p.brackets + 1}, pyPart{text: "]"})
}

func (w *pyWriter) scalar(s *shape) {
	if len(s.literals) == 0 {
		w.text([...]string{stringKind: "str", numberKind: "float", integerKind: "int", booleanKind: "bool", nullKind: "None"}[s.kind])
		return
	}
	w.usesLiteral = true
	w.text("Literal[")
	for i, v := range s.literals {
		if i > 0 {
			w.text(", ")
		}
		w.buf = appendPythonLiteral(w.buf, v)
	}
	w.text("]")
}

// appendPythonLiteral appends a scalar as Python reads it (PY-13).
func appendPythonLiteral(b []byte, v jsonval.Value) []byte {
	switch v.Kind() {
	case jsonval.KindString:
		return appendQuoted(b, v.Str(), pythonQuotes)
	case jsonval.KindBool:
		if v.Bool() {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case jsonval.KindNumber:
		if f := v.Float(); f == math.Trunc(f) && math.Abs(f) > 1<<53-1 {
			exact, _ := big.NewFloat(f).Int(nil)
			return exact.Append(b, 10)
		}
	}
	return v.AppendJSON(b)
}

// object writes an object as a class of its own, or as a dict where no class can say it.
func (w *pyWriter) object(p pyPart) {
	if w.bare || !hasClass(p.shape) {
		w.usesAny = true
		w.text("dict[str, Any]")
		return
	}
	name := w.free.allocate(p.name)
	w.text(name)
	w.begin()
	w.class(name, p.shape)
}

// class writes the class of an object, of which the head is there at once and the fields follow.
func (w *pyWriter) class(name string, s *shape) {
	w.usesTypedDict = true
	w.text("class " + name + "(TypedDict):\n")
	w.later(pyPart{end: true})
	if s.open != closed {
		w.later(pyPart{text: "    # More keys are allowed.\n"})
	} else if len(s.fields) == 0 {
		w.later(pyPart{text: "    pass\n"})
	}
	for i := len(s.fields) - 1; i >= 0; i-- {
		f := &s.fields[i]
		w.field(f.name, f.optional, f.shape, className(name, camel(f.name)))
		w.later(pyPart{comment: f.description})
	}
}

// field pushes the line of a field. Its annotation counts one bracket, for NotRequired (PY-14).
func (w *pyWriter) field(name string, optional bool, s *shape, class string) {
	head, tail := "    "+name+": ", "\n"
	if optional {
		w.usesNotRequired = true
		head, tail = head+"NotRequired[", "]\n"
	}
	w.later(pyPart{text: head}, pyPart{shape: s, name: class, brackets: 1}, pyPart{text: tail})
}

// reference writes the name of a named type and, the first time, its declaration.
func (w *pyWriter) reference(n *namedType) {
	if n.isAnything() {
		w.any()
		return
	}
	n = w.names.canonical(n)
	name := w.names.of[n]
	switch w.state[n] {
	case complete:
		w.text(name)
		return
	case declaring:
		w.text(`"` + name + `"`)
		return
	}
	w.text(name)
	w.state[n] = declaring
	w.begin()
	w.later(pyPart{complete: n})
	if n.body.kind == objectKind && hasClass(n.body) {
		w.class(name, n.body)
		return
	}
	w.text(name + " = ")
	w.later(pyPart{shape: n.body, name: name}, pyPart{text: "\n"}, pyPart{end: true})
}

func (w *pyWriter) useResult() {
	w.usesResult, w.usesAny, w.usesNotRequired, w.usesTypedDict = true, true, true, true
}

// result writes the type of an MCP tool's value (MCP-76); with structured content it is a class of its own, since a TypedDict of the
// text cannot have a parameter.
func (w *pyWriter) result(p pyPart) {
	s := p.shape
	if s.item == nil {
		w.useResult()
		w.text("McpResult")
		return
	}
	w.usesAny, w.usesTypedDict = true, true
	name := w.free.allocate(p.name)
	w.text(name)
	w.begin()
	w.text("class " + name + "(TypedDict):\n    content: list[dict[str, Any]]\n")
	w.later(pyPart{end: true})
	w.field("structuredContent", s.optional, s.item, className(name, "StructuredContent"))
}

// hasClass reports whether a class can say what the object does (PY-11).
func hasClass(s *shape) bool {
	for _, f := range s.fields {
		if !isPythonField(f.name) {
			return false
		}
	}
	return len(s.fields) > 0 || s.open == closed
}
