package schema

// This file says what came in place of what a schema expects, for whoever wrote the value to correct it (CODE-34).

import (
	"fmt"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	maxShown     = 40 // bytes of a value or a name
	maxNames     = 10
	maxExplained = 5
)

// Explain returns the violations of v as Validate does, and with them one text on what came instead: at most five things,
// with no more of the value than names of members and short scalars. It is empty if v is valid.
func (c *Compiled) Explain(v jsonval.Value, root string) (violations []string, came string) {
	w := walker{nodes: c.nodes, root: root, union: -1, explains: true}
	w.walk(v)
	texts := w.came
	if len(texts) > maxExplained {
		texts = append(texts[:maxExplained:maxExplained], "…")
	}
	return w.violations, strings.Join(slices.Compact(texts), "; ")
}

// describe says what came at the step s: the value v, or, if that is absent, the members of the object that lacks one or has
// one too many.
func (w *walker) describe(s step, v jsonval.Value) string {
	if !v.Exists() {
		return w.describeMembers(s)
	}
	text := clip(w.path(s)) + " is " + show(v)
	switch {
	case s.kind == noStep && len(w.stack) == 0 && w.root == "arguments":
		text = "the call passes " + show(v) + " instead of one object"
		if members := declared(&w.nodes[0]); len(members) > 0 {
			text += " with " + names(members)
		}
	case v.IsNull() && s.kind == nameStep && !slices.Contains(w.stack[len(w.stack)-1].node.required, s.name):
		text += ": leave out what is optional"
	case v.IsString() && len(v.Str()) > 0 && (v.Str()[0] == '{' || v.Str()[0] == '['):
		text += ": pass the value itself, not its JSON text"
	}
	return text
}

func (w *walker) describeMembers(s step) string {
	top := &w.stack[len(w.stack)-1]
	holder := "the value"
	if path := w.path(step{}); path != w.root {
		holder = clip(path)
	} else if w.root == "arguments" {
		holder = "the call"
	}
	var given []string
	for name := range top.value.Members() {
		given = append(given, name)
		if len(given) > maxNames {
			break
		}
	}
	text := holder + " has " + names(given)
	if missing := s.name; slices.Contains(top.node.required, missing) || len(top.node.members) == 0 {
		return text
	}
	return text + ", and can have " + names(declared(top.node))
}

func declared(n *node) []string {
	list := make([]string, len(n.members))
	for i, m := range n.members {
		list[i] = m.name
	}
	return list
}

func names(list []string) string {
	if len(list) == 0 {
		return "no members"
	}
	shown := make([]string, 0, maxNames+1)
	for i, name := range list {
		if i == maxNames {
			shown = append(shown, "…")
			break
		}
		shown = append(shown, clip(name))
	}
	return strings.Join(shown, ", ")
}

// show writes a short scalar as JSON, and anything else by its kind.
func show(v jsonval.Value) string {
	switch {
	case v.IsString():
		if text := v.String(); len(text) <= maxShown {
			return "the string " + text
		}
		return fmt.Sprintf("a string of %d bytes", len(v.Str()))
	case v.IsNumber():
		return "the number " + v.String()
	case v.IsArray():
		return "an array"
	case v.IsObject():
		return "an object"
	}
	return v.String()
}

// clip cuts a name, and escapes what would break the line.
func clip(name string) string {
	text := jsonval.Text(name).String()
	text = text[1 : len(text)-1]
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}
