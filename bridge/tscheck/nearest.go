package tscheck

// This file defines the list of names that exist beside one that does not (CODE-34).

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/spelling"
)

// maxNames is how many names a message lists, maxNameBytes how long a name may be to be listed.
const (
	maxNames     = 10
	maxNameBytes = 60
)

// existing is a name that exists: how a program writes it, and the part that its spelling is compared by.
type existing struct{ written, name string }

// nearest lists what exists, the nearest spellings first.
func nearest(intro, missing string, all []existing) string {
	type ranked struct {
		written string
		far     int
	}
	var list []ranked
	for _, e := range all {
		if len(e.written) <= maxNameBytes && !strings.ContainsAny(e.written, "\r\n") {
			list = append(list, ranked{e.written, spelling.Distance(missing, e.name)})
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.far, b.far) })
	var names []string
	for _, r := range list[:min(len(list), maxNames)] {
		names = append(names, r.written)
	}
	text := intro + strings.Join(names, ", ")
	if len(list) > maxNames {
		text += ", …"
	}
	return text
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

// access is how a program reaches a tool.
func access(name string) string {
	if plainName.MatchString(name) {
		return toolsGlobal + "." + name
	}
	return toolsGlobal + `["` + name + `"]`
}
