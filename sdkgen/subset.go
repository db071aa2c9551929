// This file defines how a schema of the enforced subset (RAW-1 to RAW-11) becomes a shape: exactly, and however deep it nests.

package sdkgen

import (
	"math"
	"slices"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// scalarKinds are the types that may carry literals.
func scalarKind(name string) (kind, bool) {
	switch name {
	case "string":
		return stringKind, true
	case "number":
		return numberKind, true
	case "integer":
		return integerKind, true
	case "boolean":
		return booleanKind, true
	case "null":
		return nullKind, true
	}
	return anyKind, false
}

// fits reports whether v is a value of the scalar kind k (RAW-8).
func fits(k kind, v jsonval.Value) bool {
	switch v.Kind() {
	case jsonval.KindString:
		return k == stringKind
	case jsonval.KindBool:
		return k == booleanKind
	case jsonval.KindNull:
		return k == nullKind
	case jsonval.KindNumber:
		return k == numberKind || k == integerKind && v.Float() == math.Trunc(v.Float())
	}
	return false
}

// inSubset reports whether schema lies in the enforced subset as a whole. The registry's own assertion collects what is wrong and where;
// this is asked for every foreign schema at every assembly and only needs to know whether.
func inSubset(schema jsonval.Value) bool {
	todo := []jsonval.Value{schema}
	for len(todo) > 0 {
		node := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !node.IsObject() {
			return false
		}
		var ok bool
		if todo, ok = checkNode(node, todo); !ok {
			return false
		}
	}
	return true
}

// checkNode checks one node and appends its children to todo.
func checkNode(node jsonval.Value, todo []jsonval.Value) ([]jsonval.Value, bool) {
	name, hasType := node.Get("type")
	branches, isUnion := node.Get("oneOf")
	if hasType && (isUnion || !name.IsString()) {
		return nil, false
	}
	scalar, isScalar := scalarKind(name.Str())
	isArray, isObject := name.Str() == "array", name.Str() == "object"
	if hasType && !isScalar && !isArray && !isObject {
		return nil, false
	}
	for key, v := range node.Members() {
		ok := false
		switch key {
		case "type":
			ok = true
		case "description", "title":
			ok = v.IsString()
		case "default", "examples":
			ok = true
		case "oneOf":
			ok = branches.IsArray() && branches.Len() >= 2
			for _, b := range branches.Items() {
				todo = append(todo, b)
			}
		case "items":
			ok = isArray
			todo = append(todo, v)
		case "properties":
			ok = isObject && v.IsObject()
			for _, p := range v.Members() {
				todo = append(todo, p)
			}
		case "required":
			properties, _ := node.Get("properties")
			ok = isObject && v.IsArray()
			for _, r := range v.Items() {
				_, declared := properties.Get(r.Str())
				ok = ok && r.IsString() && declared
			}
		case "additionalProperties":
			ok = isObject && v.IsBool()
		case "enum":
			ok = isScalar && v.IsArray() && v.Len() > 0
			for _, e := range v.Items() {
				ok = ok && fits(scalar, e)
			}
		case "const":
			list, hasEnum := node.Get("enum")
			ok = isScalar && fits(scalar, v) && (!hasEnum || containsValue(list, v))
		}
		if !ok {
			return nil, false
		}
	}
	return todo, true
}

func containsValue(list, v jsonval.Value) bool {
	for _, e := range list.Items() {
		if jsonval.Equal(e, v) {
			return true
		}
	}
	return false
}

// builder is a node whose children are being built.
type builder struct {
	schema jsonval.Value
	names  []string
	kids   []jsonval.Value
	shapes []*shape
}

// exact returns the shape of a schema of the subset.
func (p *pool) exact(schema jsonval.Value) *shape {
	stack := []*builder{newBuilder(schema)}
	for {
		top := stack[len(stack)-1]
		if n := len(top.shapes); n < len(top.kids) {
			stack = append(stack, newBuilder(top.kids[n]))
			continue
		}
		s := top.finish(p)
		stack = stack[:len(stack)-1]
		if len(stack) == 0 {
			return s
		}
		parent := stack[len(stack)-1]
		parent.shapes = append(parent.shapes, s)
	}
}

func newBuilder(schema jsonval.Value) *builder {
	b := &builder{schema: schema}
	properties, _ := schema.Get("properties")
	for name, v := range properties.Members() {
		b.names = append(b.names, name)
		b.kids = append(b.kids, v)
	}
	if items, ok := schema.Get("items"); ok {
		b.kids = append(b.kids, items)
	}
	branches, _ := schema.Get("oneOf")
	for _, v := range branches.Items() {
		b.kids = append(b.kids, v)
	}
	return b
}

func (b *builder) finish(p *pool) *shape {
	name, hasType := b.schema.Get("type")
	if !hasType {
		if len(b.shapes) == 0 {
			return anything
		}
		return p.union(b.shapes)
	}
	switch name.Str() {
	case "array":
		if len(b.shapes) == 0 {
			return p.array(anything)
		}
		return p.array(b.shapes[0])
	case "object":
		required := requiredNames(b.schema)
		fields := make([]field, len(b.names))
		for i, name := range b.names {
			fields[i] = field{name, description(b.kids[i]), !required[name], b.shapes[i]}
		}
		return p.object(fields, additional(b.schema))
	}
	k, _ := scalarKind(name.Str())
	if v, ok := b.schema.Get("const"); ok {
		return p.scalar(k, v)
	}
	enum, _ := b.schema.Get("enum")
	return p.scalar(k, slices.Collect(values(enum))...)
}
