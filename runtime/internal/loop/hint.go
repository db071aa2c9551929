package loop

// This file adds to a failure what a model needs to correct itself: of a call of something that does not exist, what does
// exist (CODE-34).

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/runtime"
)

const (
	maxHints    = 10
	maxHintText = 60 // of one name, in bytes
	maxHintHead = 300
	hintLines   = 8 // how far before the recorded position a call may begin
)

var (
	notDefined  = regexp.MustCompile(`^(?:ReferenceError: )?'?([A-Za-z_$][\w$]*)'? is not defined`)
	notFunction = regexp.MustCompile(`^(?:TypeError: )?(?:not a function|Object has no member '|.* is not a function|Value is not )`)
)

// hint rewrites the first line of a failure's message if the program called or named what is not there. line is where in the
// program that happened.
func hint(message string, req *runtime.Request, line int) string {
	head, frames, framed := strings.Cut(message, "\n")
	if len(head) > maxHintHead {
		return message
	}
	if m := notDefined.FindStringSubmatch(head); m != nil && !isBound(req, m[1]) {
		head += known("; the program has ", m[1], everything(req))
	} else if notFunction.MatchString(head) {
		space, member := missingMember(req, line)
		if space == nil {
			return message
		}
		kind := ""
		if strings.HasPrefix(head, "TypeError: ") {
			kind = "TypeError: "
		}
		head = kind + access(space.Global, member) + " is not a function" + known("; "+space.Global+" has ", member, members(space))
	} else {
		return message
	}
	if framed {
		return head + "\n" + frames
	}
	return head
}

// candidate is one name that exists: how a program writes it, and the part that its spelling is compared by.
type candidate struct{ written, name string }

func everything(req *runtime.Request) []candidate {
	var all []candidate
	for _, n := range req.Namespaces {
		all = append(all, candidate{n.Global, n.Global})
	}
	for _, g := range req.Globals {
		all = append(all, candidate{g.Name, g.Name})
	}
	for _, n := range req.Namespaces {
		for _, f := range n.Functions {
			all = append(all, candidate{access(n.Global, f.Name), f.Name})
		}
	}
	return all
}

func members(n *runtime.Namespace) []candidate {
	all := make([]candidate, len(n.Functions))
	for i, f := range n.Functions {
		all[i] = candidate{f.Name, f.Name}
	}
	return all
}

// known lists what is there, the nearest spellings first.
func known(intro, missing string, all []candidate) string {
	all = slices.DeleteFunc(all, func(c candidate) bool { return len(c.written) > maxHintText || strings.ContainsAny(c.written, "\r\n") })
	if len(all) == 0 {
		return ""
	}
	type ranked struct {
		candidate
		far int
	}
	list := make([]ranked, len(all))
	for i, c := range all {
		list[i] = ranked{c, distance(missing, c.name)}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.far, b.far) })
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

func isBound(req *runtime.Request, name string) bool {
	return slices.ContainsFunc(req.Namespaces, func(n runtime.Namespace) bool { return n.Global == name }) ||
		slices.ContainsFunc(req.Globals, func(g runtime.Global) bool { return g.Name == name })
}

// missingMember finds the call of an undeclared member at a line of the program, or shortly before it: the position that an
// engine records can be that of an argument.
func missingMember(req *runtime.Request, line int) (*runtime.Namespace, string) {
	lines := strings.Split(req.Program, "\n")
	if line < 1 || line > len(lines) {
		return nil, ""
	}
	for at := line; at > max(line-hintLines, 0); at-- {
		for i := range req.Namespaces {
			n := &req.Namespaces[i]
			call := regexp.MustCompile(`(?:^|[^\w$.])` + regexp.QuoteMeta(n.Global) + `(?:\??\.([A-Za-z_$][\w$]*)|(?:\?\.)?\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])\s*\(`)
			for _, m := range call.FindAllStringSubmatch(lines[at-1], -1) {
				member := m[1] + m[2] + m[3]
				if !slices.ContainsFunc(n.Functions, func(f runtime.Function) bool { return f.Name == member }) {
					return n, member
				}
			}
		}
	}
	return nil, ""
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
