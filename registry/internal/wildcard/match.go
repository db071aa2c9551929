// Package wildcard matches names with the patterns that people write in configurations and flags.
package wildcard

import "strings"

// Match reports whether the pattern, in which * stands for any run of characters, also none, and every other character
// for itself, matches the whole name (REPEAT-4).
func Match(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, found := strings.Cut(name, part)
		if !found {
			return false
		}
		name = rest
	}
	return true
}
