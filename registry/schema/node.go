package schema

// This file defines the author's vocabulary as Go values.

import (
	"slices"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Node describes one value. It is immutable; its methods return a changed copy. It holds the node's JSON form, so that what
// is written in Go and what is read from JSON are compiled by the same code. The zero Node is no node; using it is an author
// error.
type Node struct {
	form jsonval.Value
	err  *Error // the first mistake that the form cannot express
}

// Props are the members of an object, in order (SCHEMA-5).
type Props []Prop

// Prop is one member.
type Prop struct {
	Name     string
	Node     Node
	Required bool
}

// Required returns a member that must be there.
func Required(name string, n Node) Prop { return Prop{name, n, true} }

// Optional returns a member that may be left out.
func Optional(name string, n Node) Prop { return Prop{name, n, false} }

// String describes any text.
func String() Node { return typed("string") }

// Number describes any finite number.
func Number() Node { return typed("number") }

// Integer describes a number with a whole value.
func Integer() Node { return typed("integer") }

// Boolean describes true and false.
func Boolean() Node { return typed("boolean") }

// Null describes null alone.
func Null() Node { return typed("null") }

// JSON describes any JSON value.
func JSON() Node { return typed("json") }

// Array describes a list whose items all fit the node.
func Array(items Node) Node { return typed("array").with("items", items) }

// List describes a list of anything.
func List() Node { return typed("array") }

// Enum describes one of these texts.
func Enum(values ...string) Node {
	any := make([]any, len(values))
	for i, v := range values {
		any[i] = v
	}
	return String().Enum(any...)
}

// Object describes an object with these members and no others (SCHEMA-3).
func Object(props Props) Node { return object(props, false) }

// OpenObject describes an object with these members and any others.
func OpenObject(props Props) Node { return object(props, true) }

// Map describes an object with any members; the enforced subset does not constrain their values.
func Map() Node { return typed("object").set("additionalProperties", jsonval.Bool(true)) }

// OneOf describes a value that fits exactly one of two or more nodes.
func OneOf(branches ...Node) Node {
	n := Node{}
	forms := make([]jsonval.Value, 0, len(branches))
	for _, b := range branches {
		n.err = first(n.err, b.err)
		forms = append(forms, b.formOrNull())
	}
	n.form = jsonval.Object(jsonval.Member{Name: "oneOf", Value: jsonval.Array(forms...)})
	return n
}

// Describe sets the description.
func (n Node) Describe(text string) Node { return n.annotate("description", text) }

// Title sets the title.
func (n Node) Title(text string) Node { return n.annotate("title", text) }

// Default documents the value that a missing member stands for. It is never filled in (SCHEMA-10).
func (n Node) Default(v any) Node { return n.annotate("default", v) }

// Examples documents values.
func (n Node) Examples(values ...any) Node { return n.annotate("examples", slices.Clip(values)) }

// Enum restricts a scalar to these values.
func (n Node) Enum(values ...any) Node { return n.annotate("enum", slices.Clip(values)) }

// Const restricts a scalar to this value.
func (n Node) Const(v any) Node { return n.annotate("const", v) }

// JSON returns the node's JSON form; absent for the zero Node.
func (n Node) JSON() jsonval.Value { return n.form }

// Exists reports whether it is a node at all.
func (n Node) Exists() bool { return n.form.Exists() }

// JSON returns the JSON form of the members, as ParseProps reads it.
func (p Props) JSON() jsonval.Value {
	members := make([]jsonval.Member, 0, len(p))
	for _, m := range p {
		form := m.Node.formOrNull()
		if m.Required && form.IsObject() {
			form = form.With("required", jsonval.Bool(true))
		}
		members = append(members, jsonval.Member{Name: m.Name, Value: form})
	}
	return jsonval.Object(members...)
}

func typed(name string) Node {
	return Node{form: jsonval.Object(jsonval.Member{Name: "type", Value: jsonval.Text(name)})}
}

func object(props Props, open bool) Node {
	n := typed("object").set("additionalProperties", jsonval.Bool(open)).set("properties", props.JSON())
	n.err = props.firstError("properties")
	return n
}

// firstError finds what is wrong with the members and does not show in their JSON form.
func (p Props) firstError(where string) *Error {
	seen := make(map[string]bool, len(p))
	for _, m := range p {
		if seen[m.Name] {
			return &Error{[]string{where + ": the member " + quoted(m.Name) + " is declared twice"}}
		}
		seen[m.Name] = true
		if m.Node.err != nil {
			return m.Node.err
		}
	}
	return nil
}

func (n Node) annotate(key string, v any) Node {
	value, err := jsonval.Of(v)
	if err != nil {
		n.err = first(n.err, &Error{[]string{key + ": not lossless JSON: " + err.Error()}})
		return n
	}
	return n.set(key, value)
}

func (n Node) set(key string, v jsonval.Value) Node {
	if n.form.Exists() {
		n.form = n.form.With(key, v)
	}
	return n
}

func (n Node) with(key string, child Node) Node {
	n.err = first(n.err, child.err)
	return n.set(key, child.formOrNull())
}

// formOrNull returns null for the zero Node, which is then reported where it stands.
func (n Node) formOrNull() jsonval.Value {
	if !n.form.Exists() {
		return jsonval.Null()
	}
	return n.form
}

func first(a, b *Error) *Error {
	if a != nil {
		return a
	}
	return b
}

func quoted(name string) string { return string(jsonval.AppendString(nil, name)) }
