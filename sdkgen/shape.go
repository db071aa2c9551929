// This file defines shapes: what the renderers know of a schema. A shape is a tree, but for references to named types.

package sdkgen

import (
	"encoding/binary"
	"math"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// kind says what a shape is.
type kind uint8

const (
	anyKind     kind = iota // any JSON value
	stringKind              // the scalars: all of the kind, or literals of it
	numberKind              //
	integerKind             //
	booleanKind             //
	nullKind                //
	arrayKind               // item, nil if anything
	unionKind               // alts, two or more
	objectKind              // fields and openness
	namedKind               // a reference to a named type
	resultKind              // an MCP tool's value (MCP-76): item is its structured content, nil if undeclared; optional or not
)

// openness says whether an object admits members that it does not name.
type openness uint8

const (
	openUnsaid openness = iota // the schema says nothing, which means open (RAW-10)
	openSaid
	closed
)

// shape is one node. Shapes come from a pool, which makes equal shapes the same pointer; they do not change afterwards.
type shape struct {
	kind     kind
	open     openness
	optional bool            // of a resultKind: the structured content may be missing
	literals []jsonval.Value // scalars: the values that are admitted, nil for all of the kind
	item     *shape
	alts     []*shape
	fields   []field
	named    *namedType

	id    uint64 // the pool's number of it
	size  int    // nodes of the text, counted as often as they are written
	bytes int    // about what its text takes
	names bool   // it refers to a named type somewhere
}

// field is one member of an object.
type field struct {
	name        string
	description string // as the schema has it
	optional    bool
	shape       *shape
}

// anything admits every value.
var anything = &shape{kind: anyKind, size: 1}

func (s *shape) isScalar() bool { return s.kind >= stringKind && s.kind <= nullKind }

// pool keeps one shape for each distinct content, so that comparing pointers tells whether two are equal (MCP-42).
type pool struct {
	shapes map[string]*shape
	key    []byte
	named  uint64
}

func newPool() *pool { return &pool{shapes: map[string]*shape{}} }

// intern returns the pool's shape with the content of s.
func (p *pool) intern(s shape) *shape {
	s.size, s.bytes, s.names = 1, 8, s.named != nil
	k := append(p.key[:0], byte(s.kind), byte(s.open), bit(s.optional))
	k = binary.AppendUvarint(k, uint64(len(s.literals)))
	for _, l := range s.literals {
		before := len(k)
		k = append(l.AppendJSON(k), 0) // no JSON text holds a zero byte
		s.bytes += len(k) - before
	}
	if s.item != nil {
		k = s.appendChild(k, s.item)
	}
	k = binary.AppendUvarint(k, uint64(len(s.alts)))
	for _, a := range s.alts {
		k = s.appendChild(k, a)
	}
	for _, f := range s.fields {
		k = binary.AppendUvarint(k, uint64(len(f.name)))
		k = append(k, f.name...)
		k = binary.AppendUvarint(k, uint64(len(f.description)))
		k = append(k, f.description...)
		k = append(k, bit(f.optional))
		k = s.appendChild(k, f.shape)
		s.bytes += len(f.name) + len(f.description) + 8
	}
	if s.named != nil {
		k = binary.AppendUvarint(k, s.named.id)
	}
	p.key = k
	if old, ok := p.shapes[string(k)]; ok {
		return old
	}
	s.id = uint64(len(p.shapes)) + 1
	p.shapes[string(k)] = &s
	return &s
}

func (s *shape) appendChild(key []byte, child *shape) []byte {
	s.size = min(s.size+child.size, math.MaxInt32)
	s.bytes = min(s.bytes+child.bytes, math.MaxInt32)
	s.names = s.names || child.names
	return binary.AppendUvarint(key, child.id)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (p *pool) scalar(k kind, literals ...jsonval.Value) *shape {
	return p.intern(shape{kind: k, literals: literals})
}

func (p *pool) array(item *shape) *shape {
	if item.kind == anyKind {
		item = nil
	}
	return p.intern(shape{kind: arrayKind, item: item})
}

// union returns the union of two or more shapes, as they are.
func (p *pool) union(alts []*shape) *shape { return p.intern(shape{kind: unionKind, alts: alts}) }

func (p *pool) object(fields []field, o openness) *shape {
	return p.intern(shape{kind: objectKind, fields: fields, open: o})
}

// namedType is a definition that the text declares once and refers to by name (MCP-41).
type namedType struct {
	id    uint64
	base  string // the name that the schema has for it
	place *place
	body  *shape // nil until it has been projected
	busy  bool   // it is being projected
}

// isAnything reports whether the type says nothing, so that its name is not worth showing.
func (n *namedType) isAnything() bool { return opened(n.body).kind == anyKind }

func (p *pool) reference(n *namedType) *shape { return p.intern(shape{kind: namedKind, named: n}) }

// walk calls visit once for each shape that is reachable from s through what visit returns, in no depth of the call stack.
func (s *shape) walk(visit func(*shape) []*shape) {
	seen := map[*shape]bool{s: true}
	todo := []*shape{s}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next := visit(at)
		for i := len(next) - 1; i >= 0; i-- {
			if !seen[next[i]] {
				seen[next[i]] = true
				todo = append(todo, next[i])
			}
		}
	}
}

// parts returns the shapes that the text of s refers to, bodies of named types included.
func (s *shape) parts() []*shape {
	var all []*shape
	for _, f := range s.fields {
		all = append(all, f.shape)
	}
	all = append(all, s.alts...)
	if s.item != nil {
		all = append(all, s.item)
	}
	if s.named != nil {
		all = append(all, s.named.body)
	}
	return all
}
