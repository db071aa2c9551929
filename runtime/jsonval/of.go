package jsonval

// This file defines Of: the walk over a Go value.

import (
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Of takes a Go value in: it returns one detached copy (JSON-7), made as encoding/json would print v, in one reading
// (JSON-8). Unlike there, a nil slice or map is an empty container, the members of a map are in the bytewise order of
// their names, and nothing is repaired: what the domain cannot hold at any depth is an [*Error], among it functions,
// channels, complex numbers, cycles of pointers, NaN and integers that a double cannot hold. A Value within v is kept as
// it is, json.RawMessage is parsed. A json.Marshaler or encoding.TextMarshaler is called once; the error that it returns
// or panics with is a [*ReadError].
func Of(v any) (Value, error) {
	var items [8]Value
	var members [8]Member
	var open [8]opened
	r := reader{b: builder{items: items[:0], members: members[:0], open: open[:0]}}
	out, err := r.read(v)
	if err != nil {
		return Value{}, err
	}
	return out, nil
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
	b     builder
	stack []source
	seen  map[identity]struct{} // the identities on the stack, once it is deep
}

// source is one Go container that the walk is inside of, and the position of its next child.
type source struct {
	next    int
	list    []any         // a []any
	entries []entry       // a map
	value   reflect.Value // another slice or array, or a struct
	plan    *structPlan   // of a struct
	id      identity
}

// entry is one member of a map.
type entry struct {
	name  string
	plain any           // of a map[string]any
	value reflect.Value // of any other map
}

// identity tells containers apart that might contain themselves.
type identity struct {
	address uintptr
	length  int
	t       reflect.Type
}

func (r *reader) read(root any) (Value, error) {
	v, done, err := r.visit(root)
	for {
		if err != nil {
			return Value{}, err
		}
		if done {
			if len(r.stack) == 0 {
				return v, nil
			}
			if r.b.open[len(r.b.open)-1].object() {
				r.b.members[len(r.b.members)-1].Value = v
			} else {
				r.b.items = append(r.b.items, v)
			}
		}
		v, done, err = r.step()
	}
}

// step reads the next child of the innermost container, or closes it.
func (r *reader) step() (v Value, done bool, err error) {
	top := &r.stack[len(r.stack)-1]
	i := top.next
	top.next++
	switch {
	case top.plan != nil:
		for ; i < len(top.plan.fields); i++ {
			f := &top.plan.fields[i]
			top.next = i + 1
			x, ok := f.value(top.value)
			if !ok || f.omitEmpty && empty(x) {
				continue
			}
			if f.omitZero {
				zero, err := r.isZero(f, x)
				if err != nil {
					return Value{}, false, err
				}
				if zero {
					continue
				}
			}
			r.b.members = append(r.b.members, Member{Name: f.name})
			if f.quoted {
				return r.quoted(x)
			}
			return r.visitValue(x)
		}
	case top.entries != nil:
		if i < len(top.entries) {
			e := &top.entries[i]
			r.b.members = append(r.b.members, Member{Name: e.name})
			if e.value.IsValid() {
				return r.visitValue(e.value)
			}
			return r.visit(e.plain)
		}
	case top.list != nil:
		if i < len(top.list) {
			return r.visit(top.list[i])
		}
	default:
		if i < top.value.Len() {
			return r.visitValue(top.value.Index(i))
		}
	}
	if r.seen != nil {
		delete(r.seen, top.id)
	}
	*top = source{}
	r.stack = r.stack[:len(r.stack)-1]
	if r.b.open[len(r.b.open)-1].object() {
		return r.b.closeObject(), true, nil
	}
	return r.b.closeArray(), true, nil
}

// visit reads v if it is no container, else it enters it.
func (r *reader) visit(v any) (Value, bool, error) {
	switch v := v.(type) {
	case nil:
		return Null(), true, nil
	case Value:
		return r.value(v)
	case bool:
		return Bool(v), true, nil
	case string:
		return r.text(v)
	case float64:
		return r.float(v)
	case int:
		return r.int(int64(v))
	case int64:
		return r.int(v)
	case []any:
		if len(v) == 0 {
			return Value{kind: KindArray}, true, nil
		}
		return r.enter(source{list: v, id: identity{reflect.ValueOf(v).Pointer(), len(v), nil}}, false)
	case map[string]any:
		if len(v) == 0 {
			return Value{kind: KindObject}, true, nil
		}
		entries := make([]entry, 0, len(v))
		for name, x := range v {
			entries = append(entries, entry{name: name, plain: x})
		}
		return r.enterMap(entries, identity{reflect.ValueOf(v).Pointer(), 0, nil})
	}
	return r.visitValue(reflect.ValueOf(v))
}

var (
	valueType         = reflect.TypeFor[Value]()
	rawType           = reflect.TypeFor[json.RawMessage]()
	jsonNumberType    = reflect.TypeFor[json.Number]()
	bigIntType        = reflect.TypeFor[big.Int]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

func (r *reader) visitValue(v reflect.Value) (Value, bool, error) {
	for {
		if !v.IsValid() {
			return Null(), true, nil
		}
		t := v.Type()
		switch t {
		case valueType:
			return r.value(v.Interface().(Value))
		case rawType:
			if raw := v.Bytes(); raw != nil {
				return r.parse(string(raw))
			}
			return Null(), true, nil
		case jsonNumberType:
			return r.jsonNumber(v.String())
		case bigIntType:
			i := v.Interface().(big.Int)
			return r.bigInt(&i)
		}
		kind := v.Kind()
		if kind != reflect.Pointer || t.Elem() != bigIntType && t.Elem() != valueType {
			m := v
			if kind != reflect.Pointer && v.CanAddr() && reflect.PointerTo(t).Implements(marshalerType) {
				m = v.Addr()
			}
			if m.Type().Implements(marshalerType) {
				return r.marshal(m)
			}
			m = v
			if kind != reflect.Pointer && v.CanAddr() && reflect.PointerTo(t).Implements(textMarshalerType) {
				m = v.Addr()
			}
			if m.Type().Implements(textMarshalerType) {
				return r.marshalText(m)
			}
		}
		switch kind {
		case reflect.Pointer, reflect.Interface:
			if v.IsNil() {
				return Null(), true, nil
			}
			v = v.Elem()
			continue
		case reflect.Bool:
			return Bool(v.Bool()), true, nil
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			return r.int(v.Int())
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
			if !exactUint(v.Uint()) {
				return r.lossy(whatInexact)
			}
			return number(float64(v.Uint())), true, nil
		case reflect.Float32:
			return r.float32(v.Float())
		case reflect.Float64:
			return r.float(v.Float())
		case reflect.String:
			return r.text(v.String())
		case reflect.Slice:
			if e := t.Elem(); e.Kind() == reflect.Uint8 {
				p := reflect.PointerTo(e)
				if !p.Implements(marshalerType) && !p.Implements(textMarshalerType) {
					return text(base64.StdEncoding.EncodeToString(v.Bytes())), true, nil
				}
			}
			if v.Len() == 0 {
				return Value{kind: KindArray}, true, nil
			}
			return r.enter(source{value: v, id: identity{v.Pointer(), v.Len(), t}}, false)
		case reflect.Array:
			if v.Len() == 0 {
				return Value{kind: KindArray}, true, nil
			}
			return r.enter(source{value: v, id: addressOf(v)}, false)
		case reflect.Map:
			return r.visitMap(v)
		case reflect.Struct:
			plan := planOf(t)
			if plan.opaque {
				return r.lossy("a " + t.String() + ", which has no exported field")
			}
			return r.enter(source{value: v, plan: plan, id: addressOf(v)}, true)
		}
		return r.lossy("a Go value of type " + t.String())
	}
}

func addressOf(v reflect.Value) identity {
	if !v.CanAddr() {
		return identity{}
	}
	return identity{v.Addr().Pointer(), -1, v.Type()}
}

func (r *reader) visitMap(v reflect.Value) (Value, bool, error) {
	if v.Len() == 0 {
		return Value{kind: KindObject}, true, nil
	}
	entries := make([]entry, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		name, err := r.mapKey(it.Key())
		if err != nil {
			return Value{}, false, err
		}
		entries = append(entries, entry{name: name, value: it.Value()})
	}
	return r.enterMap(entries, identity{v.Pointer(), 0, v.Type()})
}

func (r *reader) mapKey(k reflect.Value) (string, error) {
	if k.Kind() == reflect.String {
		return k.String(), nil
	}
	if m, ok := k.Interface().(encoding.TextMarshaler); ok {
		if k.Kind() == reflect.Pointer && k.IsNil() {
			return "", nil
		}
		text, err := r.call(m.MarshalText)
		return string(text), err
	}
	switch k.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(k.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(k.Uint(), 10), nil
	}
	_, _, err := r.lossy("a map with keys of type " + k.Type().String())
	return "", err
}

func (r *reader) enterMap(entries []entry, id identity) (Value, bool, error) {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	for i := range entries {
		if !utf8.ValidString(entries[i].name) {
			return r.lossy("a name that is not valid UTF-8")
		}
		if i > 0 && entries[i].name == entries[i-1].name {
			return r.lossy("a map with two keys of the same text")
		}
	}
	return r.enter(source{entries: entries, id: id}, true)
}

// fewLevels is how deep cycles are looked for by comparing with each level; from there on the levels are in a map.
const fewLevels = 32

func (r *reader) enter(s source, object bool) (Value, bool, error) {
	if s.id != (identity{}) {
		found := false
		if r.seen != nil {
			_, found = r.seen[s.id]
		} else {
			for i := range r.stack {
				found = found || r.stack[i].id == s.id
			}
		}
		if found {
			return r.lossy(whatCycle)
		}
	}
	if r.seen == nil && len(r.stack) == fewLevels {
		r.seen = make(map[identity]struct{})
		for i := range r.stack {
			r.seen[r.stack[i].id] = struct{}{}
		}
	}
	if r.seen != nil {
		r.seen[s.id] = struct{}{}
	}
	r.stack = append(r.stack, s)
	if object {
		r.b.openObject()
	} else {
		r.b.openArray()
	}
	return Value{}, false, nil
}

func (r *reader) value(v Value) (Value, bool, error) {
	if v.kind == KindAbsent {
		return r.lossy(whatAbsent)
	}
	return v, true, nil
}

func (r *reader) text(s string) (Value, bool, error) {
	if !utf8.ValidString(s) {
		return r.lossy(whatUTF8)
	}
	return text(s), true, nil
}

func (r *reader) float(f float64) (Value, bool, error) {
	if what := lossyFloat(f); what != "" {
		return r.lossy(what)
	}
	return number(f), true, nil
}

// float32 reads a number that has the precision of 32 bits: as the decimal that encoding/json prints for it.
func (r *reader) float32(f float64) (Value, bool, error) {
	if lossyFloat(f) == "" {
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	}
	return r.float(f)
}

func (r *reader) int(i int64) (Value, bool, error) {
	if !exactInt(i) {
		return r.lossy(whatInexact)
	}
	return number(float64(i)), true, nil
}

func (r *reader) bigInt(i *big.Int) (Value, bool, error) {
	if f, accuracy := i.Float64(); accuracy == big.Exact {
		return number(f), true, nil
	}
	return r.lossy(whatInexact)
}

func (r *reader) jsonNumber(s string) (Value, bool, error) {
	if s == "" {
		s = "0" // the zero json.Number, as encoding/json has it
	}
	p := parser{text: s, bad: len(s)}
	if s[0] != '-' && s[0]-'0' > 9 {
		return r.lossy("a json.Number that is no number")
	}
	f, err := p.number()
	switch {
	case err != nil && p.pos > 0 && err.What[0] != 'i':
		return r.lossy(err.What)
	case err != nil || p.pos != len(s):
		return r.lossy("a json.Number that is no number")
	}
	return number(f), true, nil
}

func (r *reader) parse(s string) (Value, bool, error) {
	v, err := ParseString(s)
	if err != nil {
		inner := err.(*Error)
		path := r.path()
		return Value{}, false, &Error{Path: joinPath(1, func(int) string { return path[1:] + inner.Path[1:] }), What: inner.What, Offset: -1}
	}
	return v, true, nil
}

func (r *reader) path() string { return r.b.path(false) }

func (r *reader) lossy(what string) (Value, bool, error) {
	return Value{}, false, &Error{Path: r.path(), What: what, Offset: -1}
}

func (r *reader) marshal(v reflect.Value) (Value, bool, error) {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return Null(), true, nil
	}
	text, err := r.call(v.Interface().(json.Marshaler).MarshalJSON)
	if err != nil {
		return Value{}, false, err
	}
	return r.parse(string(text))
}

func (r *reader) marshalText(v reflect.Value) (Value, bool, error) {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return Null(), true, nil
	}
	text, err := r.call(v.Interface().(encoding.TextMarshaler).MarshalText)
	if err != nil {
		return Value{}, false, err
	}
	return r.text(string(text))
}

// call runs foreign code once; what it returns as an error or panics with becomes a ReadError.
func (r *reader) call(read func() ([]byte, error)) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = nil, r.failure(p)
		}
	}()
	if text, err = read(); err != nil {
		return nil, r.failure(err)
	}
	return text, nil
}

func (r *reader) failure(raised any) (failed *ReadError) {
	failed = &ReadError{Path: r.path()}
	defer func() {
		if recover() != nil {
			failed.Message = fmt.Sprintf("a %T without a message", raised)
		}
	}()
	if err, ok := raised.(error); ok {
		failed.cause = err
		failed.Message = err.Error()
	} else {
		failed.Message = fmt.Sprint(raised)
	}
	return failed
}

func (r *reader) isZero(f *field, v reflect.Value) (zero bool, err error) {
	if !f.zeroer {
		return v.IsZero(), nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = r.failure(p)
		}
	}()
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return true, nil
	}
	if z, ok := v.Interface().(interface{ IsZero() bool }); ok {
		return z.IsZero(), nil
	}
	if !v.CanAddr() {
		addressable := reflect.New(v.Type()).Elem()
		addressable.Set(v)
		v = addressable
	}
	return v.Addr().Interface().(interface{ IsZero() bool }).IsZero(), nil
}

// empty reports whether the option omitempty leaves v out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// quoted reads a field with the option "string": the text of its JSON form. Integers keep all of their digits so.
func (r *reader) quoted(v reflect.Value) (Value, bool, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return Null(), true, nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return text(strconv.FormatInt(v.Int(), 10)), true, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return text(strconv.FormatUint(v.Uint(), 10)), true, nil
	}
	inner, done, err := r.visitValue(v)
	if err != nil || v.Type() == jsonNumberType && inner.kind == KindString {
		return inner, done, err
	}
	return text(inner.String()), true, nil
}
