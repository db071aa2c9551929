package jsonval

// This file defines what Of knows of a Go type, worked out once for each: how its values are read.

import (
	"encoding"
	"encoding/json"
	"math/big"
	"reflect"
	"sync"
)

// how says how the values of a type are read.
type how uint8

const (
	refused     how = iota // no JSON form
	asValue                // Value
	asRaw                  // json.RawMessage
	asNumber               // json.Number
	asBigInt               // big.Int
	asMarshaler            // by its method MarshalJSON
	asText                 // by its method MarshalText
	asPointer
	asInterface
	asBool // from here to asString the basic types
	asInt
	asUint
	asFloat32
	asFloat64
	asString
	asBytes  // []byte: base64
	asList   // a slice or an array
	asMap    // any map but map[string]any
	asStruct // its exported fields
	asAnyList
	asAnyMap
)

// scalar reports whether the values are of a basic type.
func (h how) scalar() bool { return asBool <= h && h <= asString }

// plan is how the values of one type are read. It does not change once it can be reached through plans.
type plan struct {
	t    reflect.Type
	how  how
	addr how // asMarshaler or asText if a pointer to the type has the method and values with an address use it; else refused

	elem   *plan   // of what a pointer points to, of the items of a list, of the values of a map
	key    how     // of the keys of a map: asString, asInt, asUint, asText or refused
	fields []field // of a struct
	opaque bool    // a struct that has fields, none of them exported: its JSON form would drop everything
	flat   bool    // a list or a struct whose children are all of basic types, without methods or special options
}

// plans remembers the plan of each type that was ever taken in. It is the memory of a function's results, and has as many
// entries as there are types in the program.
var plans sync.Map // reflect.Type to *plan

var (
	valueType         = reflect.TypeFor[Value]()
	rawType           = reflect.TypeFor[json.RawMessage]()
	jsonNumberType    = reflect.TypeFor[json.Number]()
	bigIntType        = reflect.TypeFor[big.Int]()
	anyListType       = reflect.TypeFor[[]any]()
	anyMapType        = reflect.TypeFor[map[string]any]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	fresh := map[reflect.Type]*plan{}
	p := newPlan(t, fresh)
	for t, p := range fresh { // complete now: types may refer to each other
		plans.LoadOrStore(t, p)
	}
	return p
}

// newPlan returns the plan of t; fresh has those that are being made, for types that contain themselves.
func newPlan(t reflect.Type, fresh map[reflect.Type]*plan) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p, ok := fresh[t]; ok {
		return p
	}
	p := &plan{t: t}
	fresh[t] = p
	switch t {
	case valueType:
		p.how = asValue
	case rawType:
		p.how = asRaw
	case jsonNumberType:
		p.how = asNumber
	case bigIntType:
		p.how = asBigInt
	case anyListType:
		p.how = asAnyList
	case anyMapType:
		p.how = asAnyMap
	default:
		p.fill(fresh)
	}
	return p
}

func (p *plan) fill(fresh map[reflect.Type]*plan) {
	t := p.t
	if kind := t.Kind(); kind == reflect.Pointer {
		switch t.Elem() {
		case valueType, rawType, bigIntType: // their methods would take a detour over text
			p.how, p.elem = asPointer, newPlan(t.Elem(), fresh)
			return
		}
	} else if byMethod := methodOf(reflect.PointerTo(t)); byMethod != refused && kind != reflect.Interface {
		p.addr = byMethod
	}
	if p.how = methodOf(t); p.how != refused {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		p.how, p.elem = asPointer, newPlan(t.Elem(), fresh)
	case reflect.Interface:
		p.how = asInterface
	case reflect.Bool:
		p.how = asBool
	case reflect.Float32:
		p.how = asFloat32
	case reflect.Float64:
		p.how = asFloat64
	case reflect.Slice:
		if e := t.Elem(); e.Kind() == reflect.Uint8 && methodOf(reflect.PointerTo(e)) == refused {
			p.how = asBytes
			return
		}
		p.how, p.elem = asList, newPlan(t.Elem(), fresh)
		p.flat = p.elem.basic()
	case reflect.Array:
		p.how, p.elem = asList, newPlan(t.Elem(), fresh)
		p.flat = p.elem.basic()
	case reflect.Map:
		p.how, p.elem = asMap, newPlan(t.Elem(), fresh)
		p.key = keyOf(t.Key())
	case reflect.Struct:
		p.how = asStruct
		p.fields, p.opaque = fieldsOf(t)
		p.flat = true
		for i := range p.fields {
			f := &p.fields[i]
			f.plan = newPlan(f.t, fresh)
			p.flat = p.flat && f.plan.basic() && !f.quoted && !f.zeroer
		}
	default:
		p.how = basic(t.Kind())
	}
}

func (p *plan) basic() bool { return p.how.scalar() && p.addr == refused }

func methodOf(t reflect.Type) how {
	switch {
	case t.Implements(marshalerType):
		return asMarshaler
	case t.Implements(textMarshalerType):
		return asText
	}
	return refused
}

func keyOf(t reflect.Type) how {
	switch {
	case t.Kind() == reflect.String: // before its method, as in encoding/json
		return asString
	case t.Implements(textMarshalerType):
		return asText
	}
	return basic(t.Kind())
}

func basic(k reflect.Kind) how {
	switch k {
	case reflect.String:
		return asString
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return asInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return asUint
	}
	return refused
}
