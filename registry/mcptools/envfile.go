package mcptools

import (
	"fmt"
	"strings"
)

const maxEnvFile = 1 << 20

// parseEnvFile reads a file of variables, one NAME=value a line. Empty lines and those that begin with # are passed over, and so is the
// word export. A value in double quotes may hold \n, \r, \t, \" and \\, one in single quotes is taken as it is; both may go over several
// lines. Any other value ends with its line, or with a # behind white space. Nothing is filled in. An error never holds a value.
func parseEnvFile(text string) (map[string]string, error) {
	env := map[string]string{}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for line := 1; text != ""; {
		entry, rest, _ := strings.Cut(text, "\n")
		entry = strings.TrimSpace(entry)
		if entry == "" || entry[0] == '#' {
			text, line = rest, line+1
			continue
		}
		name, _, ok := strings.Cut(strings.TrimPrefix(entry, "export "), "=")
		if name = strings.TrimSpace(name); !ok || !variableName(name) {
			return env, fmt.Errorf("line %d: expected NAME=value", line)
		}
		_, behind, _ := strings.Cut(text, "=")
		value, rest, ok := envValue(strings.TrimLeft(behind, " \t"))
		if !ok {
			return env, fmt.Errorf("line %d: the quotes of %s are not closed", line, name)
		}
		line += strings.Count(text[:len(text)-len(rest)], "\n")
		env[name], text = value, rest
	}
	return env, nil
}

// envValue takes a value off the beginning of text, with the rest of its line.
func envValue(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		value, rest, _ = strings.Cut(text, "\n")
		for i := range len(value) {
			if value[i] == '#' && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t') {
				value = value[:i]
				break
			}
		}
		return strings.TrimSpace(value), rest, true
	}
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch b := text[i]; {
		case b == text[0]:
			_, rest, _ = strings.Cut(text[i+1:], "\n")
			return out.String(), rest, true
		case b == '\\' && text[0] == '"' && i+1 < len(text):
			i++
			out.WriteString(unescaped(text[i]))
		default:
			out.WriteByte(b)
		}
	}
	return "", "", false
}

func unescaped(b byte) string {
	switch b {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '"', '\\':
		return string(b)
	}
	return "\\" + string(b)
}
