package exectools

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// A template is a text with places {name}, each for one argument. It is filled in one pass: what an argument holds is never searched
// for places again.
type template []part

// part is literal text, or a place if name is not empty.
type part struct{ text, name string }

// newTemplate takes text apart. A place is a declared name in braces; what looks like one and is not declared is an error. Other braces
// are text.
func newTemplate(text string, declared func(name string) bool) (template, error) {
	var t template
	literal := ""
	for text != "" {
		before, rest, found := strings.Cut(text, "{")
		literal += before
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		switch {
		case closed && declared(name):
			t = append(t, part{text: literal}, part{name: name})
			literal, text = "", after
		case closed && identifier(name):
			return nil, fmt.Errorf("{%s} names no member of parameters.properties", name)
		default:
			literal, text = literal+"{", rest
		}
	}
	if literal != "" {
		t = append(t, part{text: literal})
	}
	return t, nil
}

func identifier(s string) bool {
	for i := range len(s) {
		b := s[i]
		letter := b == '_' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
		if !letter && (i == 0 || b != '-' && (b < '0' || b > '9')) {
			return false
		}
	}
	return s != ""
}

// constant says whether the template has no places.
func (t template) constant() bool {
	for _, p := range t {
		if p.name != "" {
			return false
		}
	}
	return true
}

// only is the name of the place that is all of the template.
func (t template) only() (name string, ok bool) {
	for _, p := range t {
		switch {
		case p.name != "" && ok, p.text != "":
			return "", false
		case p.name != "":
			name, ok = p.name, true
		}
	}
	return name, ok
}

// leads says whether the template begins with a place.
func (t template) leads() bool {
	for _, p := range t {
		if p.name != "" {
			return true
		}
		if p.text != "" {
			return false
		}
	}
	return false
}

// fill puts in the arguments, each as encode makes it; missing is the first place whose argument was not given.
func (t template) fill(args jsonval.Value, encode func(string) string) (text, missing string) {
	var b strings.Builder
	for _, p := range t {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		v, ok := args.Get(p.name)
		if !ok {
			return "", p.name
		}
		b.WriteString(encode(argumentText(v)))
	}
	return b.String(), ""
}

// argumentText is a string as it is and anything else as compact JSON (TOOLS-3).
func argumentText(v jsonval.Value) string {
	if v.IsString() {
		return v.Str()
	}
	return v.String()
}

func asIs(s string) string { return s }
