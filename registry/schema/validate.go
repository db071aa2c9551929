package schema

// This file validates values. A schema is compiled once into a table of nodes; a validation is one walk over value and
// schema together, whose stack is also the path to where it is.

import (
	"math"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Compiled is a schema that is ready for validating. It is immutable and safe for concurrent use.
type Compiled struct {
	raw   jsonval.Value
	nodes []node
}

type kind uint8

const (
	anything kind = iota
	isString
	isNumber
	isInteger
	isBoolean
	isNull
	isArray
	isObject
	isUnion
)

var kinds = map[string]kind{
	"string": isString, "number": isNumber, "integer": isInteger, "boolean": isBoolean, "null": isNull,
	"array": isArray, "object": isObject,
}

var kindNames = [...]string{
	isString: "string", isNumber: "number", isInteger: "integer", isBoolean: "boolean", isNull: "null",
	isArray: "array", isObject: "object",
}

// node is one schema node. Children are positions in Compiled.nodes.
type node struct {
	kind     kind
	closed   bool // undeclared members are violations
	items    int32
	members  []member         // of an object, in schema order
	index    map[string]int32 // of members, where there are many
	required []string
	branches []int32 // of a union
	enum     jsonval.Value
	fixed    jsonval.Value // const
}

type member struct {
	name string
	node int32
}

// noItems marks an array whose items are not described.
const noItems = -1

// Compile checks a JSON Schema against the enforced subset and makes it ready for validating. The error is Check's.
func Compile(raw jsonval.Value) (*Compiled, error) {
	if err := Check(raw); err != nil {
		return nil, err
	}
	c := &Compiled{raw: raw}
	type work struct {
		raw jsonval.Value
		at  int32
	}
	queue := []work{{raw, 0}}
	c.nodes = append(c.nodes, node{})
	place := func(raw jsonval.Value) int32 {
		at := int32(len(c.nodes))
		c.nodes = append(c.nodes, node{})
		queue = append(queue, work{raw, at})
		return at
	}
	for len(queue) > 0 {
		w := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		n := node{items: noItems}
		if typeName, ok := w.raw.Get("type"); ok {
			n.kind = kinds[typeName.Str()]
		}
		if branches, ok := w.raw.Get("oneOf"); ok {
			n.kind = isUnion
			for _, b := range branches.Items() {
				n.branches = append(n.branches, place(b))
			}
		}
		if properties, ok := w.raw.Get("properties"); ok {
			for name, p := range properties.Members() {
				n.members = append(n.members, member{name, place(p)})
			}
		}
		if required, ok := w.raw.Get("required"); ok {
			for _, name := range required.Items() {
				n.required = append(n.required, name.Str())
			}
		}
		if items, ok := w.raw.Get("items"); ok {
			n.items = place(items)
		}
		if open, ok := w.raw.Get("additionalProperties"); ok {
			n.closed = !open.Bool()
		}
		n.enum, _ = w.raw.Get("enum")
		n.fixed, _ = w.raw.Get("const")
		n.makeIndex()
		c.nodes[w.at] = n
	}
	return c, nil
}

// makeIndex gives objects with many members a table for the search of undeclared ones.
func (n *node) makeIndex() {
	if !n.closed || len(n.members) < 9 {
		return
	}
	n.index = make(map[string]int32, len(n.members))
	for i, m := range n.members {
		n.index[m.name] = int32(i)
	}
}

// undeclared returns the members of v that n does not declare.
func (n *node) undeclared(v jsonval.Value) (names []string) {
	for name := range v.Members() {
		if !n.declares(name) {
			names = append(names, name)
		}
	}
	return names
}

func (n *node) declares(name string) bool {
	if n.index != nil {
		_, ok := n.index[name]
		return ok
	}
	for i := range n.members {
		if n.members[i].name == name {
			return true
		}
	}
	return false
}

// Schema returns the schema that was compiled.
func (c *Compiled) Schema() jsonval.Value { return c.raw }

// Validate returns everything that is wrong with v, in order; nothing if it is valid (VALID-1). The root is how violations
// call the value itself: "value", or "arguments", whose members are named without it (VALID-2).
func (c *Compiled) Validate(v jsonval.Value, root string) []string { return Validate(c, v, root) }

// Validate is the function behind the method.
func Validate(c *Compiled, v jsonval.Value, root string) []string {
	w := walker{nodes: c.nodes, root: root, union: -1}
	w.walk(v)
	return w.violations
}

func (w *walker) walk(v jsonval.Value) {
	if w.nodes[0].kind >= isArray {
		w.stack = make([]frame, 0, 8)
	}
	w.enter(0, v, step{})
	for len(w.stack) > 0 {
		w.advance()
	}
}

// walker is one validation.
type walker struct {
	nodes      []node
	root       string
	stack      []frame
	union      int // the innermost union on the stack, -1 outside of any
	violations []string
	explains   bool
	came       []string // for each violation what came instead, if explains
}

// frame is one container or union that the walk is inside of.
type frame struct {
	node    *node
	value   jsonval.Value
	step    step // from the container around it
	next    int
	phase   phase
	matched int // branches of a union
	outer   int // the union around a union
}

// step is one step of a path. Unions make none.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	noStep stepKind = iota
	nameStep
	indexStep
)

type phase uint8

const (
	inRequired phase = iota
	inMembers
	inUndeclared
)

// enter checks v against a node; a container or a union is put on the stack.
func (w *walker) enter(at int32, v jsonval.Value, s step) {
	n := &w.nodes[at]
	ok := true
	switch n.kind {
	case anything:
		if !v.Exists() {
			w.fail(s, "not a lossless JSON value", v)
		}
		return
	case isUnion:
		w.stack = append(w.stack, frame{node: n, value: v, step: s, outer: w.union})
		w.union = len(w.stack) - 1
		return
	case isObject:
		ok = v.IsObject()
	case isArray:
		ok = v.IsArray()
	case isString:
		ok = v.IsString()
	case isNumber:
		ok = v.IsNumber()
	case isInteger:
		ok = v.IsNumber() && whole(v.Float())
	case isBoolean:
		ok = v.IsBool()
	case isNull:
		ok = v.IsNull()
	}
	switch {
	case !ok:
		w.fail(s, "expected "+kindNames[n.kind], v)
	case n.kind == isArray && n.items == noItems:
	case n.kind == isArray, n.kind == isObject && (len(n.members) > 0 || n.closed):
		w.stack = append(w.stack, frame{node: n, value: v, step: s})
	case n.enum.Exists() && !contains(n.enum, v): // VALID-5: the enum comes first
		w.fail(s, "expected one of "+n.enum.String(), v)
	case n.fixed.Exists() && !jsonval.Equal(n.fixed, v):
		w.fail(s, "expected "+n.fixed.String(), v)
	}
}

// advance takes the innermost frame one step further.
func (w *walker) advance() {
	top := &w.stack[len(w.stack)-1]
	i := top.next
	top.next++
	switch top.node.kind {
	case isUnion:
		w.branch(top, i)
	case isArray:
		if i == top.value.Len() {
			w.leave()
			return
		}
		w.enter(top.node.items, top.value.Index(i), step{index: i, kind: indexStep})
	default:
		w.object(top, i)
	}
}

// object does one phase after the other: missing members, present ones in schema order, undeclared ones (VALID-3).
func (w *walker) object(top *frame, i int) {
	switch top.phase {
	case inRequired:
		if i == len(top.node.required) {
			top.phase, top.next = inMembers, 0
			return
		}
		if _, ok := top.value.Get(top.node.required[i]); !ok {
			w.fail(step{name: top.node.required[i], kind: nameStep}, "required property is missing", jsonval.Value{})
		}
	case inMembers:
		if i == len(top.node.members) {
			if top.phase, top.next = inUndeclared, 0; !top.node.closed {
				w.leave()
			}
			return
		}
		m := &top.node.members[i]
		if v, ok := top.value.Get(m.name); ok {
			w.enter(m.node, v, step{name: m.name, kind: nameStep})
		}
	case inUndeclared:
		depth := len(w.stack)
		for _, name := range top.node.undeclared(top.value) {
			w.fail(step{name: name, kind: nameStep}, "undeclared property", jsonval.Value{})
			if len(w.stack) < depth { // it ended a branch of a union
				return
			}
		}
		w.leave()
	}
}

// branch counts the branch before, which has matched if the walk comes back here with i > 0 and no failure, and enters the
// next one.
func (w *walker) branch(top *frame, i int) {
	if i > 0 {
		top.matched++
	}
	w.nextBranch(top, i)
}

func (w *walker) nextBranch(top *frame, i int) {
	if i < len(top.node.branches) {
		w.enter(top.node.branches[i], top.value, step{})
		return
	}
	matched, s, v := top.matched, top.step, top.value
	w.union = top.outer
	w.stack = w.stack[:len(w.stack)-1]
	if matched != 1 {
		w.fail(s, "expected exactly one oneOf branch to match, "+strconv.Itoa(matched)+" matched", v)
	}
}

// leave ends the innermost container.
func (w *walker) leave() { w.stack = w.stack[:len(w.stack)-1] }

// fail reports a violation of v at the step s from the innermost container; v is absent if a member is the matter. Within a union it ends the branch instead, and its
// own violations are not shown (VALID-6).
func (w *walker) fail(s step, reason string, v jsonval.Value) {
	if w.union >= 0 {
		w.stack = w.stack[:w.union+1]
		top := &w.stack[w.union]
		top.matched-- // undoes what branch counts when the walk comes back
		return
	}
	w.violations = append(w.violations, `"`+w.path(s)+`": `+reason)
	if w.explains {
		w.came = append(w.came, w.describe(s, v))
	}
}

// path writes where the walk is (VALID-2).
func (w *walker) path(last step) string {
	var b strings.Builder
	begun := false
	write := func(s step) {
		if s.kind == noStep {
			return
		}
		if !begun && (w.root != "arguments" || s.kind == indexStep) { // members of the arguments do without the label
			b.WriteString(w.root)
			begun = true
		}
		if s.kind == indexStep {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			return
		}
		if begun {
			b.WriteByte('.')
		}
		begun = true
		b.WriteString(s.name)
	}
	for i := range w.stack {
		write(w.stack[i].step)
	}
	if write(last); !begun {
		return w.root
	}
	return b.String()
}

func whole(f float64) bool { return f == math.Trunc(f) }
