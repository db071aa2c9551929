package loop

// This file lists names that exist, the nearest spellings of a name that doesn't first (CODE-34).

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

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
			far := distance(w, c.name)
			r.far = min(r.far, far)
			r.near = r.near || far <= 10*(len(plain(w))/3)
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

var plainName = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

func access(global, member string) string {
	if plainName.MatchString(member) {
		return global + "." + member
	}
	return global + `["` + member + `"]`
}

// distance says how far apart two names are spelled, whatever their case and separators: the number of edits, less for a
// name that contains the other.
func distance(a, b string) int {
	a, b = plain(a), plain(b)
	if a == b {
		return -1000
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			diagonal = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	far := row[len(b)] * 10
	if shorter := min(len(a), len(b)); shorter >= 3 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		far -= 10 * shorter
	}
	return far
}

// plain is a name without case and separators, cut to what is worth comparing.
func plain(name string) string {
	name = name[:min(len(name), maxHintText)]
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}
