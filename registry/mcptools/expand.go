package mcptools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// expander replaces the places of a configuration file's strings (GATE-2): ${VAR}, ${VAR:-default}, ${env:VAR},
// ${workspaceFolder}, ${userHome}, ${pathSeparator} and ${input:ID}. A bare $VAR is text: shells know it, these files do not.
type expander struct {
	lookup    func(string) (string, bool)
	workspace string
	inputs    map[string]string
}

// expand returns text with its places filled; replacements are not searched again. The error says which place cannot be filled and
// why, and never holds a value.
func (e expander) expand(text string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		place, after, closed := strings.Cut(rest, "}")
		if !closed {
			out.WriteString("${" + rest)
			return out.String(), nil
		}
		value, known, err := e.value(place)
		if err != nil {
			return "", err
		}
		if !known {
			out.WriteString("${" + place + "}")
		} else {
			out.WriteString(value)
		}
		text = after
	}
}

func (e expander) value(place string) (value string, known bool, err error) {
	kind, _, prefixed := strings.Cut(place, ":")
	name, fallback, hasFallback := strings.Cut(place, ":-")
	switch {
	case hasFallback && variableName(name):
		// As in a shell, the default also stands in for an empty variable.
		if value, ok := e.lookup(name); ok && value != "" {
			return value, true, nil
		}
		return fallback, true, nil
	case prefixed && kind == "env":
		return e.environment(strings.TrimPrefix(place, "env:"))
	case prefixed && kind == "input":
		id := strings.TrimPrefix(place, "input:")
		if value, ok := e.inputs[id]; ok {
			return value, true, nil
		}
		return "", false, fmt.Errorf("${input:%s} asks for a value that cannot be asked for here: write it as ${%s} and set that variable, or give the input a default", id, variableFor(id))
	case prefixed && (kind == "command" || kind == "config"):
		return "", false, fmt.Errorf("${%s} can only be filled by an editor: replace it by a value or a variable", place)
	case place == "workspaceFolder" || place == "workspaceRoot":
		return e.workspace, true, nil
	case place == "workspaceFolderBasename":
		return filepath.Base(e.workspace), true, nil
	case place == "userHome":
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false, fmt.Errorf("${userHome} is unknown: %w", err)
		}
		return home, true, nil
	case place == "pathSeparator" || place == "/":
		return string(filepath.Separator), true, nil
	case variableName(place):
		return e.environment(place)
	}
	return "", false, nil // not one of these places: text, for example of a script in an argument
}

func (e expander) environment(name string) (string, bool, error) {
	if !variableName(name) {
		return "", false, fmt.Errorf("${env:%s} names no environment variable", name)
	}
	if value, ok := e.lookup(name); ok {
		return value, true, nil
	}
	return "", false, fmt.Errorf("the environment variable %s is not set: set it, or write ${%s:-default}", name, name)
}

func variableName(s string) bool {
	for i := range len(s) {
		b := s[i]
		letter := b == '_' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
		if !letter && (i == 0 || b < '0' || b > '9') {
			return false
		}
	}
	return s != ""
}

// variableFor makes a variable's name out of an input's id, for the advice in an error.
func variableFor(id string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && nameByte(byte(r)) && r != '-' {
			return r
		}
		return '_'
	}, strings.ToUpper(id))
	if !variableName(name) {
		return "INPUT_" + name
	}
	return name
}
