package schema

// This file defines the enforced subset of JSON Schema: one walk that finds every violation.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Check says whether a JSON Schema lies within the enforced subset (RAW-1). The error is an *Error with every violation, in
// the order of the walk.
func Check(raw jsonval.Value) error {
	c := checker{}
	c.walk(raw)
	return c.error()
}

// CheckObject is Check for schemas that must describe an object: one violation more if the root does not say so (RAW-14).
func CheckObject(raw jsonval.Value) error {
	if err := Check(raw); err != nil {
		return err
	}
	if t, _ := raw.Get("type"); t.Str() != "object" {
		return &Error{[]string{`schema: the root must have type "object"`}}
	}
	return nil
}

type checker struct {
	stack      []spot
	violations []string
}

func (c *checker) error() error {
	if len(c.violations) == 0 {
		return nil
	}
	return &Error{c.violations}
}

// spot is one node on the walk: its head has been checked, its children are next, its tail comes after them.
type spot struct {
	node     jsonval.Value
	kids     jsonval.Value // an object of schemas, or a list of them
	single   bool          // kids is the one schema of "items"
	names    []string      // of kids, if it is an object
	next     int
	typeName string // "" for a union
}

func (c *checker) walk(root jsonval.Value) {
	c.stack = append(c.stack, spot{})
	c.head(root)
	for len(c.stack) > 0 {
		top := &c.stack[len(c.stack)-1]
		if child, ok := top.child(); ok {
			top.next++
			c.stack = append(c.stack, spot{})
			c.head(child)
			continue
		}
		c.tail(top)
		c.stack = c.stack[:len(c.stack)-1]
	}
}

func (s *spot) child() (jsonval.Value, bool) {
	switch {
	case s.single && s.next == 0:
		return s.kids, true
	case s.single || s.next >= s.kids.Len():
		return jsonval.Value{}, false
	case s.names != nil:
		v, _ := s.kids.Get(s.names[s.next])
		return v, true
	}
	return s.kids.Index(s.next), true
}

// path says where the innermost node stands (RAW-12).
func (c *checker) path() string {
	var b strings.Builder
	b.WriteString("schema")
	for _, s := range c.stack[:len(c.stack)-1] {
		switch i := s.next - 1; {
		case s.single:
			b.WriteString(".items")
		case s.names != nil:
			b.WriteString(".properties." + s.names[i])
		default:
			b.WriteString(".oneOf[" + strconv.Itoa(i) + "]")
		}
	}
	return b.String()
}

func (c *checker) say(what string) { c.violations = append(c.violations, c.path()+": "+what) }

var constraints = []string{"properties", "required", "additionalProperties", "items", "enum", "const"}

// head checks everything of a node that is reported before its children, and finds them.
func (c *checker) head(node jsonval.Value) {
	if !node.IsObject() {
		c.say("a schema must be an object, not " + node.Kind().String())
		return
	}
	for _, key := range node.Names() {
		switch key {
		case "type", "oneOf", "description", "title", "default", "examples":
		default:
			if !slices.Contains(constraints, key) {
				c.say("the keyword " + quoted(key) + " is not supported")
			}
		}
	}
	for _, key := range []string{"description", "title"} { // RAW-9
		if v, ok := node.Get(key); ok && !v.IsString() {
			c.say(quoted(key) + " must be a string")
		}
	}
	typeName, typed := node.Get("type")
	branches, union := node.Get("oneOf")
	top := &c.stack[len(c.stack)-1]
	switch {
	case typed && union: // RAW-4
		c.say(`"type" and "oneOf" exclude each other`)
	case union: // RAW-5; siblings are reported behind the branches
		top.node = node
		if !branches.IsArray() || branches.Len() < 2 {
			c.say(`"oneOf" must be a list of at least two schemas`)
			return
		}
		top.kids = branches
	case !typed: // RAW-3
		for _, key := range constraints {
			if _, ok := node.Get(key); ok {
				c.say(quoted(key) + ` needs a "type"`)
			}
		}
	case typeName.IsArray(): // RAW-2
		c.say(`"type" must be one type, not a list of types; use "oneOf"`)
	case !slices.Contains(rawTypes, typeName.Str()):
		c.say("unknown type " + typeName.String() + ": expected one of " + strings.Join(rawTypes, ", "))
	default:
		top.node, top.typeName = node, typeName.Str()
		c.structure(top)
	}
}

var rawTypes = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// structure checks the constraints of a node that has a type.
func (c *checker) structure(top *spot) {
	for _, key := range constraints { // RAW-6
		if _, ok := top.node.Get(key); ok && !placed(top.typeName, key) {
			c.say(quoted(key) + " is not allowed on type " + top.typeName)
		}
	}
	switch {
	case top.typeName == "object":
		properties, ok := top.node.Get("properties")
		switch {
		case ok && !properties.IsObject():
			c.say(`"properties" must be an object of schemas`)
		case properties.Len() > 0:
			top.kids, top.names = properties, properties.Names()
		}
	case top.typeName == "array":
		top.kids, top.single = top.node.Get("items")
	default:
		c.literals(top)
	}
}

func placed(typeName, key string) bool {
	switch key {
	case "properties", "required", "additionalProperties":
		return typeName == "object"
	case "items":
		return typeName == "array"
	}
	return scalar(typeName)
}

// literals checks enum and const of a scalar (RAW-8).
func (c *checker) literals(top *spot) {
	enum, listed := top.node.Get("enum")
	switch {
	case listed && (!enum.IsArray() || enum.Len() == 0):
		c.say(`"enum" must be a list of at least one value`)
	case listed:
		for i, v := range enum.Items() {
			if !fits(top.typeName, v) {
				c.say(`"enum" item ` + strconv.Itoa(i) + " is not of type " + top.typeName)
			}
		}
	}
	fixed, ok := top.node.Get("const")
	switch {
	case !ok:
	case !fits(top.typeName, fixed):
		c.say(`"const" is not of type ` + top.typeName)
	case listed && enum.IsArray() && !contains(enum, fixed):
		c.say(`"const" is not one of "enum"`)
	}
}

func contains(list, v jsonval.Value) bool {
	for i := range list.Len() {
		if jsonval.Equal(list.Index(i), v) {
			return true
		}
	}
	return false
}

// tail checks what is reported behind the children.
func (c *checker) tail(top *spot) {
	switch {
	case !top.node.Exists():
	case top.typeName == "": // of a union
		for _, key := range top.node.Names() {
			if slices.Contains(constraints, key) {
				c.say(quoted(key) + ` is not allowed beside "oneOf"`)
			}
		}
	case top.typeName == "object":
		c.required(top)
		if closed, ok := top.node.Get("additionalProperties"); ok && !closed.IsBool() {
			c.say(`"additionalProperties" must be true or false`)
		}
	}
}

func (c *checker) required(top *spot) {
	required, ok := top.node.Get("required")
	if !ok {
		return
	}
	if !required.IsArray() {
		c.say(`"required" must be a list of strings`)
		return
	}
	properties, _ := top.node.Get("properties")
	for i, name := range required.Items() {
		if !name.IsString() {
			c.say(`"required" item ` + strconv.Itoa(i) + " is not a string")
		} else if _, ok := properties.Get(name.Str()); !ok { // an own member (JSON-5)
			c.say(`"required" names ` + quoted(name.Str()) + `, which is not in "properties"`)
		}
	}
}

// fits reports whether v is of a scalar type, without coercion (VALID-7).
func fits(typeName string, v jsonval.Value) bool {
	switch typeName {
	case "string":
		return v.IsString()
	case "number":
		return v.IsNumber()
	case "integer":
		return v.IsNumber() && whole(v.Float())
	case "boolean":
		return v.IsBool()
	case "null":
		return v.IsNull()
	}
	return false
}
