package exectools

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A globPattern matches slash-separated paths: * and ? within one name, ** for any number of folders, [a-z] for one character,
// {a,b} for alternatives. A name that begins with "." is matched only where the pattern has a "." there.
type globPattern struct{ forms [][]string }

const (
	maxPatternBytes = 1000
	maxPatternForms = 256
)

func newGlobPattern(text string) (globPattern, error) {
	switch {
	case text == "":
		return globPattern{}, errors.New("the pattern is empty")
	case len(text) > maxPatternBytes:
		return globPattern{}, fmt.Errorf("the pattern is longer than %d bytes", maxPatternBytes)
	case strings.HasPrefix(text, "/"):
		return globPattern{}, errors.New("the pattern is absolute: patterns are relative to the folder")
	}
	alternatives, err := expandBraces(text)
	if err != nil {
		return globPattern{}, err
	}
	var g globPattern
	for _, a := range alternatives {
		var names []string
		for _, name := range strings.Split(strings.TrimPrefix(a, "./"), "/") {
			switch name {
			case "..":
				return globPattern{}, errors.New("the pattern leads out of the folder")
			case "", ".":
				continue
			case "**":
				if len(names) > 0 && names[len(names)-1] == "**" {
					continue
				}
			}
			if _, err := path.Match(name, ""); err != nil {
				return globPattern{}, fmt.Errorf("%q is no pattern: a [ has no ]", name)
			}
			names = append(names, name)
		}
		g.forms = append(g.forms, names)
	}
	return g, nil
}

// expandBraces writes out the alternatives of the first {…}, and so on.
func expandBraces(text string) ([]string, error) {
	open := strings.IndexByte(text, '{')
	if open < 0 {
		return []string{text}, nil
	}
	depth, start := 0, open+1
	var parts []string
	end := -1
	for i := open; i < len(text) && end < 0; i++ {
		switch text[i] {
		case '{':
			depth++
		case ',':
			if depth == 1 {
				parts = append(parts, text[start:i])
				start = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				parts, end = append(parts, text[start:i]), i
			}
		}
	}
	if end < 0 {
		return nil, errors.New("the pattern is wrong: a { has no }")
	}
	var all []string
	for _, part := range parts {
		rest, err := expandBraces(text[:open] + part + text[end+1:])
		if err != nil {
			return nil, err
		}
		if all = append(all, rest...); len(all) > maxPatternForms {
			return nil, fmt.Errorf("the pattern has more than %d alternatives", maxPatternForms)
		}
	}
	return all, nil
}

// match says whether the pattern matches a path of these names.
func (g globPattern) match(names []string) bool {
	for _, form := range g.forms {
		if places := walk(form, names); places[len(form)] {
			return true
		}
	}
	return false
}

// descends says whether something below a folder of these names can match.
func (g globPattern) descends(names []string) bool {
	for _, form := range g.forms {
		if slices.Contains(walk(form, names)[:len(form)], true) {
			return true
		}
	}
	return false
}

// walk returns the places in a form that the names can have led to. It keeps them as a set, so that no pattern takes more than the
// product of the two lengths.
func walk(form, names []string) (places []bool) {
	places = make([]bool, len(form)+1)
	places[0] = true
	skip(form, places)
	for _, name := range names {
		next := make([]bool, len(form)+1)
		for i, here := range places[:len(form)] {
			switch {
			case !here:
			case form[i] != "**":
				next[i+1] = next[i+1] || matchName(form[i], name)
			case !strings.HasPrefix(name, "."):
				next[i] = true
			}
		}
		skip(form, next)
		places = next
	}
	return places
}

// skip lets each ** stand for no folder at all.
func skip(form []string, places []bool) {
	for i, part := range form {
		if part == "**" && places[i] {
			places[i+1] = true
		}
	}
}

func matchName(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") {
		return false
	}
	ok, _ := path.Match(pattern, name)
	return ok
}
