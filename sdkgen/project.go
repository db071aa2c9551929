// This file defines the projection of foreign schemas (MCP-39 to MCP-50): what any JSON Schema says that a type can say.

package sdkgen

import (
	"math"
	"slices"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	maxNodes = 10_000 // of one projection (MCP-49)
	maxRefs  = 64     // references expanded inside of one another (MCP-49)
)

// projector projects one document. Its methods call themselves along the document's nesting: each level takes a node of the budget, which
// keeps the call stack within some megabytes.
type projector struct {
	pool  *pool
	root  *place
	left  int // nodes that may still be made
	depth int
	refs  int
	lost  []Loss
}

// project returns the shape of any schema. Inside of the subset it is exact and has no limits (MCP-39). rootName is what the document's
// root is called if it refers to itself.
func project(p *pool, schema jsonval.Value, rootName string) (*shape, []Loss) {
	if inSubset(schema) {
		return p.exact(schema), nil
	}
	root := &place{value: schema}
	root.countUses(p, rootName)
	j := &projector{pool: p, root: root, left: maxNodes}
	s := j.shape(root)
	if j.straighten(s) {
		j.lose(root, lossCircular)
	}
	return s, j.lost
}

// shape returns the shape of the schema at a place: a reference if it is a named type's.
func (j *projector) shape(at *place) *shape {
	if at.named == nil {
		return j.body(at)
	}
	n := at.named
	if n.body == nil && !n.busy {
		n.busy = true
		refs := j.refs
		j.refs = 0
		body := j.body(at)
		j.refs = refs
		if end := opened(body); end.kind == namedKind && end.named == n {
			body = j.lose(at, lossCircular) // names that stand for one another: nothing could be opened
		}
		n.body, n.busy = body, false
	}
	if n.body != nil && n.body.kind == anyKind {
		return anything
	}
	return j.pool.reference(n)
}

// body projects the schema at a place, whether or not it has a name.
func (j *projector) body(at *place) *shape {
	if j.left <= 0 || j.depth >= maxNodes {
		return j.lose(at, lossSize)
	}
	j.left--
	j.depth++
	defer func() { j.depth-- }()
	if !at.value.IsObject() {
		if at.value.IsBool() {
			return j.lose(at, lossBoolean)
		}
		return j.lose(at, lossNoSchema)
	}
	s := j.own(at)
	if ref, ok := at.value.Get("$ref"); ok {
		s = j.both(s, j.expand(at, ref))
	}
	for _, part := range at.list("allOf") {
		s = j.both(s, j.shape(part))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if branches := at.list(key); len(branches) > 0 {
			s = j.within(at, s, j.branches(branches))
		}
	}
	if s == nil {
		return j.lose(at, lossUnsaid)
	}
	if nullable, _ := at.value.Get("nullable"); nullable.Bool() {
		s = j.pool.simple([]*shape{s, j.pool.scalar(nullKind)})
	}
	return s
}

// expand returns what a reference stands for.
func (j *projector) expand(at *place, ref jsonval.Value) *shape {
	target := j.root.resolve(ref.Str())
	switch {
	case target == nil || !ref.IsString():
		return j.lose(at, lossReference)
	case target.named != nil:
		return j.shape(target)
	case j.refs >= maxRefs:
		return j.lose(at, lossDepth)
	}
	j.refs++
	defer func() { j.refs-- }()
	return j.body(target)
}

// own returns what the schema at a place says by itself, without references and combinations; nil if nothing.
func (j *projector) own(at *place) *shape {
	admitted, listed := admits(at.value)
	name, hasType := at.value.Get("type")
	switch {
	case name.IsString():
		return j.typed(at, name.Str(), admitted)
	case name.IsArray() && name.Len() > 0:
		return j.listedTypes(at, name, admitted)
	case hasType:
		return j.lose(at, lossType)
	case listed:
		return j.literals(at, admitted)
	}
	has := func(key string) bool { _, ok := at.value.Get(key); return ok }
	switch {
	case has("properties"), has("required"), has("additionalProperties"), has("patternProperties"):
		return j.object(at)
	case has("items"), has("prefixItems"):
		return j.array(at)
	}
	return nil
}

// admits returns the values that const or enum admit, and whether there is either. Const wins.
func admits(schema jsonval.Value) ([]jsonval.Value, bool) {
	if v, ok := schema.Get("const"); ok {
		return []jsonval.Value{v}, true
	}
	enum, _ := schema.Get("enum")
	return slices.Collect(values(enum)), enum.Len() > 0 && enum.IsArray()
}

// typed returns the shape of a schema for one of its types, with the keywords that fit it.
func (j *projector) typed(at *place, name string, admitted []jsonval.Value) *shape {
	switch name {
	case "object":
		return j.object(at)
	case "array":
		return j.array(at)
	}
	k, ok := scalarKind(name)
	if !ok {
		return j.lose(at, lossType)
	}
	if k == nullKind {
		return j.pool.scalar(k)
	}
	return j.pool.scalar(k, fitting(k, admitted)...)
}

// fitting returns the distinct values of the kind k.
func fitting(k kind, admitted []jsonval.Value) []jsonval.Value {
	var literals []jsonval.Value
	seen := map[string]bool{}
	for _, v := range admitted {
		if text := v.String(); fits(k, v) && !seen[text] {
			seen[text] = true
			literals = append(literals, v)
		}
	}
	return literals
}

// listedTypes makes a list of types a union (MCP-44). Where values are listed, a type that none of them has cannot occur.
func (j *projector) listedTypes(at *place, names jsonval.Value, admitted []jsonval.Value) *shape {
	var alts []*shape
	for _, name := range names.Items() {
		k, scalar := scalarKind(name.Str())
		if scalar && len(admitted) > 0 && len(fitting(k, admitted)) == 0 {
			continue
		}
		alts = append(alts, j.typed(at, name.Str(), admitted))
	}
	if len(alts) == 0 {
		return j.literals(at, admitted)
	}
	return j.pool.simple(alts)
}

// literals returns the union of the listed values, each of its own type (MCP-45).
func (j *projector) literals(at *place, admitted []jsonval.Value) *shape {
	var alts []*shape
	for _, v := range admitted {
		switch v.Kind() {
		case jsonval.KindString:
			alts = append(alts, j.pool.scalar(stringKind, v))
		case jsonval.KindBool:
			alts = append(alts, j.pool.scalar(booleanKind, v))
		case jsonval.KindNull:
			alts = append(alts, j.pool.scalar(nullKind))
		case jsonval.KindNumber:
			k := numberKind
			if v.Float() == math.Trunc(v.Float()) {
				k = integerKind
			}
			alts = append(alts, j.pool.scalar(k, v))
		default:
			return j.lose(at, lossLiteral)
		}
	}
	return j.pool.simple(alts)
}

// array returns the shape of an array; a tuple is an array of any of its elements (MCP-46).
func (j *projector) array(at *place) *shape {
	elements := at.list("prefixItems")
	items := at.at("items")
	switch {
	case items == nil:
		if len(elements) > 0 {
			items = at.at("additionalItems")
		}
	case items.value.IsArray():
		elements = append(elements, at.list("items")...)
		items = at.at("additionalItems")
	}
	if items != nil && (items.value.IsObject() || len(elements) == 0) {
		elements = append(elements, items)
	}
	if len(elements) == 0 {
		return j.pool.array(anything)
	}
	return j.pool.array(j.branches(elements))
}

// object returns the shape of an object by its members (MCP-47).
func (j *projector) object(at *place) *shape {
	required := requiredNames(at.value)
	var fields []field
	declared, _ := at.value.Get("properties")
	if properties := at.at("properties"); properties != nil && declared.IsObject() {
		fields = make([]field, 0, declared.Len())
		for name := range declared.Members() {
			member := properties.at(name)
			fields = append(fields, field{name, j.describe(member), !required[name], j.shape(member)})
		}
	}
	list, _ := at.value.Get("required")
	for _, name := range list.Items() {
		if _, ok := declared.Get(name.Str()); !ok && required[name.Str()] {
			fields = append(fields, field{name: name.Str(), shape: anything})
			delete(required, name.Str())
		}
	}
	o := additional(at.value)
	for _, key := range []string{"patternProperties", "unevaluatedProperties"} {
		if _, ok := at.value.Get(key); ok {
			o = openSaid
		}
	}
	return j.pool.object(fields, o)
}

// describe returns the description of a member: its own, or else that of the definition it refers to (MCP-41).
func (j *projector) describe(at *place) string {
	for range maxRefs {
		if text := description(at.value); text != "" {
			return text
		}
		ref, _ := at.value.Get("$ref")
		target := j.root.resolve(ref.Str())
		if !ref.IsString() || target == nil {
			break
		}
		at = target
	}
	return ""
}

// requiredNames returns the names that are required, as a set.
func requiredNames(schema jsonval.Value) map[string]bool {
	list, _ := schema.Get("required")
	names := make(map[string]bool, list.Len())
	for _, name := range list.Items() {
		if name.IsString() {
			names[name.Str()] = true
		}
	}
	return names
}

// additional returns what a schema says about further members; a schema for them counts as true (MCP-47).
func additional(schema jsonval.Value) openness {
	v, ok := schema.Get("additionalProperties")
	switch {
	case v.IsBool() && !v.Bool():
		return closed
	case ok:
		return openSaid
	}
	return openUnsaid
}

func description(schema jsonval.Value) string {
	text, _ := schema.Get("description")
	return text.Str()
}

// values ranges over the items of an array without their positions.
func values(list jsonval.Value) func(func(jsonval.Value) bool) {
	return func(yield func(jsonval.Value) bool) {
		for _, v := range list.Items() {
			if !yield(v) {
				return
			}
		}
	}
}
