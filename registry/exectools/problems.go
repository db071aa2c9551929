package exectools

import (
	"fmt"
	"strings"
)

// ManifestError lists everything that is wrong with a manifest. Each problem begins with the key that it is about, as
// tools.greet.command[0].
type ManifestError struct {
	File     string
	Problems []string
}

// Error gives each problem a line that begins with the file's name.
func (e *ManifestError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.File + ": " + p
	}
	return strings.Join(lines, "\n")
}

// problems collects what is wrong below one key.
type problems struct{ list *[]string }

func (p problems) add(key, format string, args ...any) {
	if key == "" {
		key = `""`
	}
	*p.list = append(*p.list, key+": "+fmt.Sprintf(format, args...))
}
