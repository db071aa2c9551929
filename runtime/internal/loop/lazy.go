package loop

import (
	"regexp"
	"sync"
)

// lazy returns a regular expression that is compiled when it is first asked for. They all serve to explain failures, which
// most processes never do, and compiling them took longer than a whole run.
func lazy(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
