// This file defines how a projection combines shapes: unions, intersections, and the circles of names that no type can have.

package sdkgen

import (
	"slices"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// branches returns the union of the shapes at some places (MCP-42).
func (j *projector) branches(at []*place) *shape {
	alts := make([]*shape, len(at))
	for i, b := range at {
		alts[i] = j.shape(b)
	}
	return j.pool.simple(alts)
}

// simple returns the union of alts, which has one or more: nested unions are opened, equal branches are merged, literals of one kind
// become one branch, whole numbers are numbers, and what includes anything is anything (MCP-42).
func (p *pool) simple(alts []*shape) *shape {
	var flat []*shape
	for _, a := range alts {
		if a.kind == unionKind {
			flat = append(flat, a.alts...)
		} else {
			flat = append(flat, a)
		}
	}
	seen := map[*shape]bool{}
	literal := map[kind]int{} // where in out the literals of a kind stand, plus one
	var out []*shape
	for _, a := range flat {
		switch {
		case a.kind == anyKind:
			return anything
		case seen[a]:
			continue
		case a.literals == nil:
			out = append(out, a)
		case literal[a.kind] == 0:
			out = append(out, &shape{kind: a.kind, literals: a.literals})
			literal[a.kind] = len(out)
		default:
			to := out[literal[a.kind]-1]
			to.literals = append(slices.Clip(to.literals), a.literals...)
		}
		seen[a] = true
	}
	if seen[p.scalar(numberKind)] {
		out = slices.DeleteFunc(out, func(s *shape) bool { return s.kind == integerKind && s.literals == nil })
	}
	for i, s := range out {
		if s.literals != nil {
			out[i] = p.scalar(s.kind, distinct(s.literals)...)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return p.union(out)
}

func distinct(list []jsonval.Value) []jsonval.Value {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(slices.Clone(list), func(v jsonval.Value) bool {
		text := v.String()
		had := seen[text]
		seen[text] = true
		return had
	})
}

// within returns what a union says beside what is known already of the same node. Members of an object are added to each branch if every
// branch is an object; else the union wins (MCP-42), unless it says nothing.
func (j *projector) within(at *place, known, union *shape) *shape {
	if known == nil || known.kind == anyKind || known == union {
		return union
	}
	if union.kind == anyKind {
		return known
	}
	alts := []*shape{union}
	if union.kind == unionKind {
		alts = union.alts
	}
	base := opened(known)
	if base.kind != objectKind || slices.ContainsFunc(alts, func(s *shape) bool { return opened(s).kind != objectKind }) {
		return union
	}
	merged := make([]*shape, len(alts))
	for i, a := range alts {
		if merged[i] = j.merge(base, opened(a)); merged[i] == nil {
			j.lose(at, lossSize)
			return known
		}
	}
	return j.pool.simple(merged)
}

// opened returns the shape behind the name of a type; a reference while that type is still being projected. No name stands for itself,
// directly or through others, so that it ends.
func opened(s *shape) *shape {
	for s.kind == namedKind && s.named.body != nil {
		s = s.named.body
	}
	return s
}

// both returns what two schemas for the same value say together (MCP-43); nil stands for nothing.
func (j *projector) both(a, b *shape) *shape {
	switch {
	case a == nil || a.kind == anyKind || a == b:
		return b
	case b == nil || b.kind == anyKind:
		return a
	}
	x, y := opened(a), opened(b)
	switch {
	case x.kind == objectKind && y.kind == objectKind:
		if m := j.merge(x, y); m != nil {
			return m
		}
	case x.isScalar() && x.literals == nil && (y.kind == x.kind || y.kind == integerKind && x.kind == numberKind):
		return b // the same or narrower
	case y.kind == unionKind && x.kind == objectKind:
		return j.within(j.root, a, b)
	case x.kind == unionKind && y.kind == objectKind:
		return j.within(j.root, b, a)
	}
	return a
}

// merge returns the object with the members of both; nil if that goes past the limit. Every copied member is paid for, so that merging
// cannot multiply what a document says.
func (j *projector) merge(a, b *shape) *shape {
	if j.depth >= maxNodes {
		return nil
	}
	if j.left -= a.size + b.size; j.left < 0 {
		j.left = 0
		return nil
	}
	j.depth++
	defer func() { j.depth-- }()
	fields := slices.Clone(a.fields)
	index := make(map[string]int, len(fields))
	for i, f := range fields {
		index[f.name] = i
	}
	for _, f := range b.fields {
		i, ok := index[f.name]
		if !ok {
			fields = append(fields, f)
			continue
		}
		old := &fields[i]
		old.shape = j.both(old.shape, f.shape)
		old.optional = old.optional && f.optional
		if old.description == "" {
			old.description = f.description
		}
	}
	return j.pool.object(fields, max(a.open, b.open))
}

// straighten cuts named types that are defined as themselves, such as A = A | string: a type may meet its own name only inside of an
// object or an array. It reports whether there was one.
func (j *projector) straighten(root *shape) bool {
	const (
		fresh = iota
		onPath
		done
	)
	states := map[*namedType]int{}
	var all []*namedType
	root.walk(func(s *shape) []*shape {
		if s.named != nil {
			all = append(all, s.named)
		}
		return s.parts()
	})
	found := false
	// The path has at most as many names as the projection has nodes.
	var visit func(n *namedType)
	visit = func(n *namedType) {
		states[n] = onPath
		alts := []*shape{n.body}
		if n.body.kind == unionKind {
			alts = n.body.alts
		}
		for _, a := range alts {
			if a.kind != namedKind {
				continue
			}
			if states[a.named] == fresh {
				visit(a.named)
			} else if states[a.named] == onPath {
				n.body, found = anything, true
			}
		}
		states[n] = done
	}
	for _, n := range all {
		if states[n] == fresh {
			visit(n)
		}
	}
	return found
}
