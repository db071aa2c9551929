// This file defines the names of the named types of one text (MCP-41, SDK-13).

package sdkgen

import (
	"slices"
	"strconv"
	"strings"
)

// typeNames gives each named type of a text its name. Definitions of different documents that say the same share one.
type typeNames struct {
	allocate func(base string) string // returns a name that is free and takes it

	of    map[*namedType]string
	order []*namedType // those that have to be declared, in the order in which they were met

	twin   map[*namedType]*namedType   // the declared type that says the same
	bySign map[string]*namedType       // declared types by base name and text
	refs   map[*namedType][]*namedType // what the text of a declared type refers to, in order
}

func newTypeNames(allocate func(base string) string) *typeNames {
	return &typeNames{
		allocate: allocate,
		of:       map[*namedType]string{},
		twin:     map[*namedType]*namedType{},
		bySign:   map[string]*namedType{},
		refs:     map[*namedType][]*namedType{},
	}
}

// canonical returns the type that is declared for n.
func (t *typeNames) canonical(n *namedType) *namedType {
	if twin, ok := t.twin[n]; ok {
		return twin
	}
	return n
}

// add gives names to the named types that s reaches.
func (t *typeNames) add(s *shape) {
	if !s.names {
		return
	}
	var fresh []*namedType
	s.walk(func(s *shape) []*shape {
		if n := s.named; n != nil && !n.isAnything() && t.of[t.canonical(n)] == "" {
			fresh = append(fresh, n)
		}
		return s.parts()
	})
	if len(fresh) == 0 {
		return
	}
	signs := t.findTwins(fresh)
	for _, n := range fresh {
		if t.twin[n] != nil {
			continue
		}
		t.of[n] = t.allocate(n.base)
		t.order = append(t.order, n)
		for i, r := range t.refs[n] {
			t.refs[n][i] = t.canonical(r)
		}
		if t.bySign[signs[n]] == nil {
			t.bySign[signs[n]] = n
		}
	}
}

// findTwins finds the types among fresh that say the same as one that is declared already: equal names, equal texts, and references to
// the same types. It takes every pair with equal texts for twins and takes back what turns out wrong until nothing does. It returns what
// the types are found by.
func (t *typeNames) findTwins(fresh []*namedType) map[*namedType]string {
	signs := map[*namedType]string{}
	users := map[*namedType][]*namedType{}
	for _, n := range fresh {
		var refs []*namedType
		w := tsWriter{top: "JsonValue", ref: func(r *namedType) string {
			refs = append(refs, r)
			users[r] = append(users[r], n)
			return r.base + "\x00" // no type's text holds a zero byte
		}}
		w.write(n.body, 0)
		signs[n] = n.base + "\x00" + string(w.buf)
		t.refs[n] = refs
		if twin := t.bySign[signs[n]]; twin != nil {
			t.twin[n] = twin
		}
	}
	todo := slices.Clone(fresh)
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		twin := t.twin[n]
		if twin == nil {
			continue
		}
		for i, r := range t.refs[n] {
			if t.twin[r] != t.refs[twin][i] {
				delete(t.twin, n)
				todo = append(todo, users[n]...)
				break
			}
		}
	}
	return signs
}

// allocator hands out names that are unique in one text.
type allocator struct {
	taken map[string]bool
	count map[string]int // the last number tried for a base
}

func newAllocator(taken []string) *allocator {
	a := &allocator{taken: make(map[string]bool, len(taken)), count: map[string]int{}}
	for _, name := range taken {
		a.taken[name] = true
	}
	return a
}

// allocate returns base, or base with the first number from 2 that makes it free, and takes it.
func (a *allocator) allocate(base string) string {
	name := base
	for a.taken[name] {
		n := max(a.count[base], 1) + 1
		a.count[base] = n
		name = base + strconv.Itoa(n)
	}
	a.taken[name] = true
	return name
}

// takenTypeScript are the names of the text itself, and the types and values of the language that a declaration would hide or clash with.
var takenTypeScript = strings.Fields(`
	JsonValue ToolArgsMap ToolOutputMap ToolName ToolCallError McpResult
	AggregateError Array ArrayBuffer ArrayBufferLike ArrayBufferTypes ArrayBufferView ArrayLike AsyncDisposable AsyncDisposableStack
	AsyncFunction AsyncGenerator AsyncGeneratorFunction AsyncIterable AsyncIterableIterator AsyncIterator AsyncIteratorObject Atomics Awaited
	BigInt BigInt64Array BigUint64Array Boolean BuiltinIteratorReturn CallableFunction Capitalize ClassDecorator Console ConcatArray DataView
	Date DateConstructor Disposable DisposableStack Error ErrorConstructor ErrorOptions EvalError Exclude Extract FinalizationRegistry
	FlatArray Float16Array Float32Array Float64Array Function Generator GeneratorFunction IArguments ImportMeta InstanceType Int16Array
	Int32Array Int8Array Intl Iterable IterableIterator Iterator IteratorObject IteratorResult JSON Lowercase Map MapIterator Math
	MethodDecorator NewableFunction NoInfer NonNullable Number Object Omit OmitThisParameter Parameters Partial Pick Process Promise
	PromiseLike PromiseSettledResult PropertyDescriptor PropertyKey Proxy RangeError Readonly ReadonlyArray ReadonlyMap ReadonlySet Record
	ReferenceError Reflect RegExp RegExpExecArray RegExpMatchArray Required ReturnType Set SetIterator SharedArrayBuffer String
	StringIterator SuppressedError Symbol SyntaxError TemplateStringsArray TextDecoder TextEncoder ThisType TypeError TypedPropertyDescriptor
	URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray Uncapitalize Uppercase WeakKey WeakMap WeakRef WeakSet
	WebAssembly`)

// maxTypeName bounds the name of a type, in bytes: names come from foreign servers.
const maxTypeName = 60

// typeScriptName makes the name of a definition one of a type.
func typeScriptName(definition string) string {
	var b []byte
	up := true
	for _, c := range []byte(definition) {
		lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
		if !lower && !upper && !digit {
			up = true
			continue
		}
		if len(b) == 0 && digit {
			b = append(b, "Type"...)
		}
		if up && lower {
			c -= 'a' - 'A'
		}
		if b = append(b, c); len(b) >= maxTypeName {
			break
		}
		up = false
	}
	if len(b) == 0 {
		return "Type"
	}
	return string(b)
}
