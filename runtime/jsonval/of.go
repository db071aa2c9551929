package jsonval

// This file defines Of: the walk over a Go value. How a value without children is read is in read.go.

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Of takes a Go value in: it returns one detached copy (JSON-7), made as encoding/json would print v, in one reading
// (JSON-8). Unlike there, a nil slice or map is an empty container, the members of a map are in the bytewise order of
// their names, and nothing is repaired or dropped: what the domain cannot hold at any depth is an [*Error], among it
// functions, channels, complex numbers, cycles of pointers, NaN, absent Values, integers that a double cannot hold and
// structs none of whose fields is exported. A Value within v is kept as it is, json.RawMessage is parsed. A json.Marshaler
// or encoding.TextMarshaler is called once; the error that it returns or panics with is a [*ReadError].
func Of(v any) (Value, error) {
	if v, ok := v.(Value); ok && v.Exists() {
		return v, nil // without the memory for a walk
	}
	var r reader
	return r.read(v)
}

// MustOf is [Of] for values that are written in Go code; it panics where Of has an error.
func MustOf(v any) Value {
	out, err := Of(v)
	if err != nil {
		panic("jsonval: MustOf: " + err.Error())
	}
	return out
}

// reader is the state of one walk over Go data.
type reader struct {
	stack      scratch[source]
	seen       map[identity]struct{} // the identities on the stack, once it is deep
	pairs      []pair                // the members of the map[string]any on the stack that are still to be read
	entries    []entry               // the same for other maps
	itemSlab   slab[Value]
	memberSlab slab[Member]
}

// source is one Go container that the walk is inside of, and what has been read of it.
type source struct {
	plan    *plan
	value   reflect.Value // a struct, or a list of any type but []any
	list    []any         // a []any
	next    int           // the child to be read next; of a map its position in pairs or entries
	end     int           // one past the last child
	items   []Value
	members []Member
	id      identity
}

// pair is one member of a map[string]any.
type pair struct {
	name  string
	value any
}

// entry is one member of another map.
type entry struct {
	name  string
	value reflect.Value
}

// identity tells apart the containers that might contain themselves. The zero identity is of one that can't.
type identity struct {
	t       reflect.Type
	address uintptr
	length  int
}

func (r *reader) read(root any) (Value, error) {
	v, entered, err := r.visit(root)
	if err != nil || !entered {
		return v, err
	}
	for {
		entered, err := r.children(r.stack.last())
		if err != nil {
			return Value{}, err
		}
		if entered {
			continue
		}
		top := r.stack.last()
		v := top.seal()
		if r.seen != nil {
			delete(r.seen, top.id)
		}
		*top = source{}
		r.stack.cut(r.stack.len() - 1)
		if r.stack.len() == 0 {
			return v, nil
		}
		r.stack.last().set(v)
	}
}

// children reads the children of top up to the first that is a container, which it enters.
func (r *reader) children(top *source) (entered bool, err error) {
	var v Value
	for top.next < top.end {
		i := top.next
		top.next++
		switch top.plan.how {
		case asAnyList:
			v, entered, err = r.visit(top.list[i])
		case asList:
			v, entered, err = r.visitValue(top.value.Index(i), top.plan.elem)
		case asAnyMap:
			p := r.pairs[i]
			r.pairs[i].value = nil
			top.members = append(top.members, Member{Name: p.name})
			v, entered, err = r.visit(p.value)
		case asMap:
			e := r.entries[i]
			r.entries[i].value = reflect.Value{}
			top.members = append(top.members, Member{Name: e.name})
			v, entered, err = r.visitValue(e.value, top.plan.elem)
		case asStruct:
			f := &top.plan.fields[i]
			x, ok := f.of(top.value)
			if !ok || f.omitEmpty && empty(x) {
				continue
			}
			top.members = append(top.members, Member{Name: f.name})
			if f.omitZero {
				zero, err := r.isZero(f, x)
				if err != nil {
					return false, err
				}
				if zero {
					top.members = top.members[:len(top.members)-1]
					continue
				}
			}
			if f.quoted {
				v, entered, err = r.quoted(x, f.plan)
			} else {
				v, entered, err = r.visitValue(x, f.plan)
			}
		}
		if err != nil || entered {
			return entered, err
		}
		top.set(v)
	}
	switch top.plan.how { // the members of a map are at the end of all that are still to be read
	case asAnyMap:
		r.pairs = r.pairs[:top.end-len(top.members)]
	case asMap:
		r.entries = r.entries[:top.end-len(top.members)]
	}
	return false, nil
}

// set stores the child that was read last.
func (s *source) set(v Value) {
	if s.object() {
		s.members[len(s.members)-1].Value = v
	} else {
		s.items = append(s.items, v)
	}
}

func (s *source) object() bool {
	return s.plan.how == asStruct || s.plan.how == asMap || s.plan.how == asAnyMap
}

func (s *source) seal() Value {
	if !s.object() {
		return sealArray(s.items)
	}
	if len(s.members) < cap(s.members)/2 {
		s.members = slices.Clone(s.members) // most fields were left out
	}
	return sealDistinct(s.members)
}

// visit is visitValue for the types that need no reflection.
func (r *reader) visit(v any) (_ Value, entered bool, _ error) {
	switch v := v.(type) {
	case nil:
		return Null(), false, nil
	case string:
		return r.text(v)
	case float64:
		if what := lossyFloat(v); what != "" {
			return r.lossy(what)
		}
		return number(v), false, nil
	case bool:
		return Bool(v), false, nil
	case Value:
		return r.value(v)
	case map[string]any:
		return r.enterAnyMap(v)
	case []any:
		return r.enterAnyList(v)
	}
	value := reflect.ValueOf(v)
	return r.visitValue(value, planOf(value.Type()))
}

func (r *reader) enterAnyList(list []any) (Value, bool, error) {
	if len(list) == 0 {
		return Value{kind: KindArray}, false, nil
	}
	return r.enter(source{plan: planOf(anyListType), list: list, end: len(list), items: r.itemSlab.take(len(list))[:0],
		id: identity{anyListType, uintptr(unsafe.Pointer(unsafe.SliceData(list))), len(list)}})
}

func (r *reader) enterAnyMap(m map[string]any) (Value, bool, error) {
	start := len(r.pairs)
	for name, v := range m {
		if !utf8.ValidString(name) {
			return r.lossy(whatName)
		}
		r.pairs = append(r.pairs, pair{name, v})
	}
	n := len(r.pairs) - start
	if n == 0 {
		return Value{kind: KindObject}, false, nil
	}
	slices.SortFunc(r.pairs[start:], func(a, b pair) int { return strings.Compare(a.name, b.name) })
	return r.enter(source{plan: planOf(anyMapType), next: start, end: start + n, members: r.memberSlab.take(n)[:0],
		id: identity{anyMapType, reflect.ValueOf(m).Pointer(), 0}})
}

func (r *reader) enterMap(v reflect.Value, p *plan) (Value, bool, error) {
	start := len(r.entries)
	key := reflect.New(p.t.Key()).Elem()
	for it := v.MapRange(); it.Next(); {
		key.SetIterKey(it)
		name, err := r.name(key, p.key)
		if err != nil {
			return Value{}, false, err
		}
		r.entries = append(r.entries, entry{name, it.Value()})
	}
	n := len(r.entries) - start
	if n == 0 {
		return Value{kind: KindObject}, false, nil
	}
	own := r.entries[start:]
	slices.SortFunc(own, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < n; i++ {
		if own[i].name == own[i-1].name { // one of the two would be dropped
			return r.lossy("a map with two keys of the same text")
		}
	}
	return r.enter(source{plan: p, next: start, end: start + n, members: r.memberSlab.take(n)[:0],
		id: identity{p.t, v.Pointer(), 0}})
}

func (r *reader) enterList(v reflect.Value, p *plan) (Value, bool, error) {
	n := v.Len()
	if n == 0 {
		return Value{kind: KindArray}, false, nil
	}
	items := r.itemSlab.take(n)
	if p.flat {
		if readFlatList(items, v, p.elem.how) {
			return sealArray(items), false, nil
		} // else there is an error, of which the longer way knows the place
	}
	id := addressOf(v)
	if v.Kind() == reflect.Slice {
		id = identity{p.t, v.Pointer(), n}
	}
	return r.enter(source{plan: p, value: v, end: n, items: items[:0], id: id})
}

// readFlatList reads a list of basic values; it reports whether all of them are in the domain.
func readFlatList(items []Value, v reflect.Value, how how) bool {
	for i := range items {
		x, what := readScalar(v.Index(i), how)
		if what != "" {
			return false
		}
		items[i] = x
	}
	return true
}

func (r *reader) enterStruct(v reflect.Value, p *plan) (Value, bool, error) {
	if p.opaque {
		return r.lossy("a Go value of type " + p.t.String() + ", which has no exported field")
	}
	n := len(p.fields)
	if n == 0 {
		return Value{kind: KindObject}, false, nil
	}
	s := source{plan: p, members: r.memberSlab.take(n)[:0]}
	if p.flat {
		if members, ok := readFlatStruct(s.members, v, p); ok {
			s.members = members
			return s.seal(), false, nil
		}
	}
	s.value, s.end, s.id = v, n, addressOf(v)
	return r.enter(s)
}

// readFlatStruct reads a struct of basic values; it reports whether all of them are in the domain.
func readFlatStruct(members []Member, v reflect.Value, p *plan) ([]Member, bool) {
	for i := range p.fields {
		f := &p.fields[i]
		x, ok := f.of(v)
		if !ok || f.omitEmpty && empty(x) || f.omitZero && x.IsZero() {
			continue
		}
		out, what := readScalar(x, f.plan.how)
		if what != "" {
			return nil, false
		}
		members = append(members, Member{Name: f.name, Value: out})
	}
	return members, true
}

// addressOf identifies a value that a pointer could lead back to.
func addressOf(v reflect.Value) identity {
	if !v.CanAddr() {
		return identity{}
	}
	return identity{v.Type(), v.UnsafeAddr(), 0}
}

// Down to fewLevels a container is compared with each that it is in; from there on these are in a map.
const fewLevels = 32

// enter goes into a container, unless it is inside of itself.
func (r *reader) enter(s source) (Value, bool, error) {
	if s.id != (identity{}) {
		cyclic := false
		if r.seen != nil {
			_, cyclic = r.seen[s.id]
			r.seen[s.id] = struct{}{}
		} else {
			above := r.stack.from(0)
			for i := range above {
				cyclic = cyclic || above[i].id == s.id
			}
		}
		if cyclic {
			return r.lossy(whatCycle)
		}
	}
	r.stack.push(s)
	if r.seen == nil && r.stack.len() == fewLevels {
		r.seen = make(map[identity]struct{})
		for _, above := range r.stack.from(0) {
			r.seen[above.id] = struct{}{}
		}
	}
	return Value{}, true, nil
}

// path returns where the value that is being read goes.
func (r *reader) path() string {
	stack := r.stack.from(0)
	return joinPath(len(stack), func(i int) string {
		s := &stack[i]
		if s.object() {
			return nameStep(s.members[len(s.members)-1].Name)
		}
		return indexStep(len(s.items))
	})
}

func (r *reader) lossy(what string) (Value, bool, error) {
	return Value{}, false, &Error{Path: r.path(), What: what, Offset: -1}
}
