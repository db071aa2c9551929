package loop

// This file lists names that exist, the nearest spellings of a name that doesn't first (CODE-34).

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/spelling"
	"github.com/runcode-go/runcode/runtime"
)

const (
	maxHints    = 10
	maxHintText = 60 // of one name, in bytes
)

// candidate is one name that exists: how a program writes it, and the part that its spelling is compared by.
type candidate struct {
	written, name string
	other         bool // of another kind than what is missing: behind those of its kind, unless the spelling is near
	onlyNear      bool // not worth naming if the spelling is not near
}

func members(n *runtime.Namespace) []candidate {
	all := make([]candidate, len(n.Functions))
	for i, f := range n.Functions {
		all[i] = candidate{written: f.Name, name: f.Name}
	}
	return all
}

// known lists what is there: near spellings of one of the wanted names, then names of the same kind, then the rest; what is
// equal in that is in the order of spelling and then of the names, so that the text is always the same.
func known(intro string, wanted []string, all []candidate) string {
	type ranked struct {
		candidate
		far  int
		near bool
	}
	var list []ranked
	for _, c := range all {
		if len(c.written) > maxHintText || strings.ContainsAny(c.written, "\r\n") {
			continue
		}
		r := ranked{candidate: c, far: math.MaxInt}
		for _, w := range wanted {
			far := spelling.Distance(w, c.name)
			r.far = min(r.far, far)
			r.near = r.near || spelling.Slip(w, far)
		}
		if r.near || !c.onlyNear {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return ""
	}
	group := func(r ranked) int {
		switch {
		case r.near:
			return 0
		case r.other:
			return 2
		}
		return 1
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(group(a), group(b)), cmp.Compare(a.far, b.far), cmp.Compare(a.written, b.written))
	})
	names := make([]string, 0, maxHints)
	for _, r := range list[:min(len(list), maxHints)] {
		names = append(names, r.written)
	}
	text := intro + strings.Join(names, ", ")
	if len(list) > maxHints {
		text += ", …"
	}
	return text
}

var plainName = lazy(`^[A-Za-z_$][\w$]*$`)

func access(global, member string) string {
	if plainName().MatchString(member) {
		return global + "." + member
	}
	return global + `["` + member + `"]`
}
