package mcptools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// expander replaces the places of a configuration file's strings (GATE-2): ${VAR}, ${VAR:-default}, ${env:VAR}, ${file:PATH},
// ${workspaceFolder}, ${userHome}, ${pathSeparator} and ${input:ID}. A bare $VAR is text: shells know it, these files do not.
type expander struct {
	lookup    func(string) (string, bool)
	folder    string // of the configuration file
	workspace string
	inputs    map[string]string
	braces    bool // {env:VAR} and {file:PATH} are places too
}

// expand returns text with its places filled; replacements are not searched again. The error says which place cannot be filled and
// why, and never holds a value.
func (e expander) expand(text string) (string, error) {
	var out strings.Builder
	for {
		at, open := e.nextPlace(text)
		if at < 0 {
			break
		}
		place, after, closed := strings.Cut(text[at+open:], "}")
		if !closed {
			break
		}
		value, known, err := e.value(place)
		if err != nil {
			return "", err
		}
		if !known {
			value = text[at : len(text)-len(after)]
		}
		out.WriteString(text[:at])
		out.WriteString(value)
		text = after
	}
	out.WriteString(text)
	return out.String(), nil
}

// nextPlace finds the first place and the length of what opens it; at is below 0 if there is none.
func (e expander) nextPlace(text string) (at, open int) {
	at, open = strings.Index(text, "${"), len("${")
	if !e.braces {
		return at, open
	}
	for _, prefix := range []string{"{env:", "{file:"} {
		if i := strings.Index(text, prefix); i >= 0 && (at < 0 || i < at) {
			at, open = i, len("{")
		}
	}
	return at, open
}

func (e expander) value(place string) (value string, known bool, err error) {
	kind, _, prefixed := strings.Cut(place, ":")
	name, fallback, hasFallback := strings.Cut(place, ":-")
	switch {
	case hasFallback && variableName(name) && strings.Contains(fallback, "${"):
		return "", false, fmt.Errorf("the default of ${%s:-…} holds another place, and such are not filled: write a value there, or set %[1]s and leave the default out", name)
	case hasFallback && variableName(name):
		// As in a shell, the default also stands in for an empty variable.
		if value, ok := e.lookup(name); ok && value != "" {
			return value, true, nil
		}
		return fallback, true, nil
	case prefixed && kind == "env":
		return e.environment(strings.TrimPrefix(place, "env:"))
	case prefixed && kind == "file":
		value, err := e.fileText(strings.TrimPrefix(place, "file:"))
		return value, true, err
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

const maxPlaceFile = 64 << 10

// fileText is what a file holds, without the white space around it.
func (e expander) fileText(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.folder, path)
	}
	text, err := readRegular(path, maxPlaceFile)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
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
