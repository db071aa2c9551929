package child

import (
	"maps"
	goruntime "runtime"
	"slices"
	"strings"
)

// ownPrefix marks the variables of this project, which a child has no business to read.
const ownPrefix = "RUNCODE_"

// Environ is the environment of a child (MCP-70): the parent's, as os.Environ gives it, without every name that contains KEY,
// PASSWORD, SECRET or TOKEN and without this project's own variables, all in any case; then extra on top. What extra names was
// asked for and always survives. The result is sorted where it comes from extra, so that equal input gives equal output.
func Environ(parent []string, extra map[string]string) []string {
	env := make([]string, 0, len(parent)+len(extra))
	for _, entry := range parent {
		name, _, ok := strings.Cut(entry, "=")
		// Windows keeps the current folder of each drive in names that begin with "=".
		if !ok || (name == "" && goruntime.GOOS != "windows") {
			continue
		}
		if sensitive(name) || overridden(name, extra) {
			continue
		}
		env = append(env, entry)
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		env = append(env, name+"="+extra[name])
	}
	return env
}

func sensitive(name string) bool {
	upper := strings.ToUpper(name)
	if strings.HasPrefix(upper, ownPrefix) {
		return true
	}
	for _, word := range []string{"KEY", "PASSWORD", "SECRET", "TOKEN"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}

func overridden(name string, extra map[string]string) bool {
	if _, ok := extra[name]; ok {
		return true
	}
	if goruntime.GOOS != "windows" {
		return false
	}
	for other := range extra {
		if strings.EqualFold(name, other) {
			return true
		}
	}
	return false
}

// Lookup is the value of name in an environment list; the last entry wins, as it does for a process.
func Lookup(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		key, value, _ := strings.Cut(env[i], "=")
		if key == name || (goruntime.GOOS == "windows" && strings.EqualFold(key, name)) {
			return value, true
		}
	}
	return "", false
}
