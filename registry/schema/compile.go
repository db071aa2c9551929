package schema

// This file turns the author's vocabulary into plain JSON Schema.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// ParseNode reads a node from any Go value with a JSON form. It is not checked before Schema is called, but for being
// lossless JSON; a cyclic Go value is an error that says so (SCHEMA-11).
func ParseNode(v any) (Node, error) {
	form, err := jsonval.Of(v)
	if err != nil {
		return Node{}, &Error{[]string{"schema: " + err.Error()}}
	}
	return Node{form: form}, nil
}

// ParseProps reads the members of an object, with "required": true on those that must be there, from any Go value with a
// JSON form.
func ParseProps(v any) (Props, error) {
	form, err := jsonval.Of(v)
	if err != nil {
		return nil, &Error{[]string{"parameters: " + err.Error()}}
	}
	if !form.IsObject() {
		return nil, &Error{[]string{"parameters: a property map must be an object"}}
	}
	props := make(Props, 0, form.Len())
	for name, node := range form.Members() {
		required := false
		if mark, ok := node.Get("required"); ok {
			if !mark.Bool() {
				return nil, &Error{[]string{"parameters." + name + `: "required" can only be true; leave it out for an optional member`}}
			}
			required, node = true, node.Without("required")
		}
		props = append(props, Prop{Name: name, Node: Node{form: node}, Required: required})
	}
	return props, nil
}

// Schema compiles the node to plain JSON Schema within the enforced subset. It stops at the first author error.
func (n Node) Schema() (jsonval.Value, error) {
	if n.err != nil {
		return jsonval.Value{}, n.err
	}
	raw, err := compile(n.formOrNull(), "schema")
	if err != nil {
		return jsonval.Value{}, err
	}
	return raw, Check(raw)
}

// Schema compiles the members to the JSON Schema of an open object, as a tool's parameters have it (SCHEMA-5).
func (p Props) Schema() (jsonval.Value, error) {
	if err := p.firstError("parameters"); err != nil {
		return jsonval.Value{}, err
	}
	members := make([]jsonval.Member, 0, len(p))
	var required []jsonval.Value
	for _, m := range p {
		raw, err := compile(m.Node.formOrNull(), "parameters."+m.Name)
		if err != nil {
			return jsonval.Value{}, err
		}
		members = append(members, jsonval.Member{Name: m.Name, Value: raw})
		if m.Required {
			required = append(required, jsonval.Text(m.Name))
		}
	}
	root := []jsonval.Member{
		{Name: "type", Value: jsonval.Text("object")},
		{Name: "properties", Value: jsonval.Object(members...)},
	}
	if len(required) > 0 {
		root = append(root, jsonval.Member{Name: "required", Value: jsonval.Array(required...)})
	}
	raw := jsonval.Object(root...)
	return raw, Check(raw)
}

// unit is one node on its way through compile: its own keys have been checked, its children are compiled one by one.
type unit struct {
	form     jsonval.Value
	kids     []kid
	next     int
	built    []jsonval.Value // the compiled children, in the order of kids
	property string          // "properties", "items" or "oneOf": where the kids stand
}

// kid is one child of a node.
type kid struct {
	name     string // of a property
	form     jsonval.Value
	required bool
}

// compile walks the form depth-first with a stack of its own.
func compile(form jsonval.Value, path string) (jsonval.Value, error) {
	root, complaint := open(form)
	stack := []*unit{root}
	for complaint == "" {
		top := stack[len(stack)-1]
		if top.next < len(top.kids) {
			var child *unit
			child, complaint = open(top.kids[top.next].form)
			top.next++
			stack = append(stack, child)
			continue
		}
		raw := top.build()
		if stack = stack[:len(stack)-1]; len(stack) == 0 {
			return raw, nil
		}
		parent := stack[len(stack)-1]
		parent.built = append(parent.built, raw)
	}
	for _, u := range stack[:len(stack)-1] {
		path += u.step()
	}
	return jsonval.Value{}, &Error{[]string{path + ": " + complaint}}
}

// step returns the step of the path to the child that was opened last.
func (u *unit) step() string {
	switch i := u.next - 1; u.property {
	case "properties":
		return ".properties." + u.kids[i].name
	case "oneOf":
		return ".oneOf[" + strconv.Itoa(i) + "]"
	}
	return ".items"
}

// open checks the keys of one node and finds its children. The complaint is the first thing that is wrong, "" if nothing is.
func open(form jsonval.Value) (u *unit, complaint string) {
	u = &unit{form: form}
	if !form.IsObject() {
		return u, "a node must be an object, not " + form.Kind().String()
	}
	typeName, typed := form.Get("type")
	branches, union := form.Get("oneOf")
	switch {
	case typed && union:
		return u, `"type" and "oneOf" exclude each other`
	case !typed && !union:
		return u, `a node needs "type" or "oneOf"`
	case typed && !slices.Contains(authorTypes, typeName.Str()):
		return u, "unknown type " + typeName.String() + ": expected one of " + strings.Join(authorTypes, ", ")
	}
	for _, key := range form.Names() {
		if !authorKey(typeName.Str(), key) {
			return u, "unknown key " + quoted(key) + onType(typeName.Str())
		}
	}
	switch {
	case union:
		return u, u.openUnion(branches)
	case typeName.Str() == "object":
		return u, u.openObject()
	case typeName.Str() == "array":
		if items, ok := form.Get("items"); ok {
			u.property, u.kids = "items", []kid{{form: items}}
		}
	}
	return u, ""
}

var authorTypes = []string{"string", "number", "integer", "boolean", "null", "array", "object", "json"}

// authorKey says which keys a node accepts (SCHEMA-1). The type is "" for a union.
func authorKey(typeName, key string) bool {
	switch key {
	case "description", "title", "default", "examples":
		return true
	case "type":
		return typeName != ""
	case "oneOf":
		return typeName == ""
	case "enum", "const":
		return scalar(typeName)
	case "items":
		return typeName == "array"
	case "properties", "additionalProperties":
		return typeName == "object"
	}
	return false
}

func onType(typeName string) string {
	if typeName == "" {
		return " beside oneOf"
	}
	return " on type " + typeName
}

func scalar(typeName string) bool {
	switch typeName {
	case "string", "number", "integer", "boolean", "null":
		return true
	}
	return false
}

func (u *unit) openUnion(branches jsonval.Value) (complaint string) {
	if !branches.IsArray() || branches.Len() < 2 {
		return `"oneOf" must be a list of at least two nodes`
	}
	u.property = "oneOf"
	for _, b := range branches.Items() {
		u.kids = append(u.kids, kid{form: b})
	}
	return ""
}

func (u *unit) openObject() (complaint string) {
	switch open, ok := u.form.Get("additionalProperties"); {
	case !ok:
		return `an object must state "additionalProperties" as true or false`
	case !open.IsBool():
		return `"additionalProperties" must be true or false`
	}
	properties, ok := u.form.Get("properties")
	if !ok {
		return ""
	}
	if !properties.IsObject() {
		return `"properties" must be an object of nodes`
	}
	u.property = "properties"
	for name, node := range properties.Members() {
		k := kid{name: name, form: node}
		if mark, ok := node.Get("required"); ok { // SCHEMA-4: legal here and nowhere else
			if !mark.Bool() {
				return `"required" of the member ` + quoted(name) + " can only be true; leave it out for an optional member"
			}
			k.required, k.form = true, node.Without("required")
		}
		u.kids = append(u.kids, k)
	}
	return ""
}

// build makes the plain schema of a node whose children are compiled. Keys stay in the author's order; required comes last.
func (u *unit) build() jsonval.Value {
	members := make([]jsonval.Member, 0, u.form.Len()+1)
	for key, v := range u.form.Members() {
		switch {
		case key == "type" && v.Str() == "json": // SCHEMA-7
			continue
		case key == u.property && key == "properties":
			properties := make([]jsonval.Member, len(u.kids))
			for i, k := range u.kids {
				properties[i] = jsonval.Member{Name: k.name, Value: u.built[i]}
			}
			v = jsonval.Object(properties...)
		case key == u.property && key == "items":
			v = u.built[0]
		case key == u.property && key == "oneOf":
			v = jsonval.Array(u.built...)
		}
		members = append(members, jsonval.Member{Name: key, Value: v})
	}
	var required []jsonval.Value
	for _, k := range u.kids {
		if k.required {
			required = append(required, jsonval.Text(k.name))
		}
	}
	if len(required) > 0 {
		members = append(members, jsonval.Member{Name: "required", Value: jsonval.Array(required...)})
	}
	return jsonval.Object(members...)
}
