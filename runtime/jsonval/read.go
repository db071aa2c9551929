package jsonval

// This file defines how Of reads a Go value that has no children, and how it calls the methods of foreign types.

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"unicode/utf8"
)

// visitValue reads v, or enters it if it is a container with children.
func (r *reader) visitValue(v reflect.Value, p *plan) (_ Value, entered bool, _ error) {
	var hare chase
	for {
		how := p.how
		if p.addr != refused && v.CanAddr() {
			v, how = v.Addr(), p.addr
		}
		if how.scalar() {
			out, what := readScalar(v, how)
			if what != "" {
				return r.lossy(what)
			}
			return out, false, nil
		}
		switch how {
		case asStruct:
			return r.enterStruct(v, p)
		case asList:
			return r.enterList(v, p)
		case asMap:
			return r.enterMap(v, p)
		case asAnyMap:
			return r.enterAnyMap(v.Interface().(map[string]any))
		case asAnyList:
			return r.enterAnyList(v.Interface().([]any))
		case asPointer, asInterface:
			if v.IsNil() {
				return Null(), false, nil
			}
			if how == asPointer {
				if hare.returns(v.UnsafePointer()) {
					return r.lossy(whatCycle)
				}
				v, p = v.Elem(), p.elem
				continue
			}
			v = v.Elem()
			p = planOf(v.Type())
		case asValue:
			return r.value(v.Interface().(Value))
		case asMarshaler:
			return r.marshaler(v)
		case asText:
			return r.textMarshaler(v)
		case asBytes:
			return text(base64.StdEncoding.EncodeToString(v.Bytes())), false, nil
		case asRaw:
			if v.IsNil() {
				return Null(), false, nil
			}
			return r.parse(v.Bytes())
		case asNumber:
			return r.jsonNumber(v.String())
		case asBigInt:
			i := v.Interface().(big.Int)
			return r.bigInt(&i)
		default:
			return r.lossy("a Go value of type " + p.t.String())
		}
	}
}

// readScalar reads a value of a basic type; what says why it is outside of the domain, "" if it is not (JSON-2 to JSON-4).
func readScalar(v reflect.Value, how how) (_ Value, what string) {
	switch how {
	case asString:
		s := v.String()
		if !utf8.ValidString(s) {
			return Value{}, whatUTF8
		}
		return text(s), ""
	case asInt:
		i := v.Int()
		if !exactInt(i) {
			return Value{}, whatInexact
		}
		return number(float64(i)), ""
	case asUint:
		u := v.Uint()
		if !exactUint(u) {
			return Value{}, whatInexact
		}
		return number(float64(u)), ""
	case asBool:
		return Bool(v.Bool()), ""
	}
	f := v.Float()
	if what := lossyFloat(f); what != "" {
		return Value{}, what
	}
	if how == asFloat32 { // the decimal that encoding/json prints for a number of 32 bits
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	}
	return number(f), ""
}

func (r *reader) value(v Value) (Value, bool, error) {
	if v.kind == KindAbsent {
		return r.lossy(whatAbsent)
	}
	return v, false, nil
}

func (r *reader) text(s string) (Value, bool, error) {
	if !utf8.ValidString(s) {
		return r.lossy(whatUTF8)
	}
	return text(s), false, nil
}

func (r *reader) bigInt(i *big.Int) (Value, bool, error) {
	if f, accuracy := i.Float64(); accuracy == big.Exact {
		return number(f), false, nil
	}
	return r.lossy(whatInexact)
}

func (r *reader) jsonNumber(s string) (Value, bool, error) {
	if s == "" {
		s = "0" // the zero json.Number, as in encoding/json
	}
	v, what := literal(s)
	if what != "" {
		return r.lossy(what)
	}
	return v, false, nil
}

// literal returns the number that all of s denotes, or why there is none.
func literal(s string) (Value, string) {
	if s != "" && (s[0] == '-' || s[0]-'0' <= 9) {
		scan := scanner{text: s, bad: len(s)}
		v, end, failed := scan.number(0)
		if failed != nil && failed.offset == 0 {
			return Value{}, failed.what
		}
		if failed == nil && end == len(s) {
			return v, ""
		}
	}
	return Value{}, "a json.Number that is no JSON number"
}

// parse reads a JSON text that is part of a Go value.
func (r *reader) parse(s []byte) (Value, bool, error) {
	v, failed := parse(string(s))
	if failed != nil {
		failed.Path = innerPath(r.path(), failed.Path)
		failed.Offset = -1
		return Value{}, false, failed
	}
	return v, false, nil
}

// name returns the text of a map's key.
func (r *reader) name(key reflect.Value, how how) (name string, err error) {
	switch how {
	case asString:
		name = key.String()
	case asInt:
		return strconv.FormatInt(key.Int(), 10), nil
	case asUint:
		return strconv.FormatUint(key.Uint(), 10), nil
	case asText:
		if key.Kind() == reflect.Pointer && key.IsNil() {
			return "", nil
		}
		m, ok := key.Interface().(encoding.TextMarshaler)
		if !ok {
			_, _, err = r.lossy("a map with a nil key")
			return "", err
		}
		text, err := r.call(m.MarshalText)
		if err != nil {
			return "", err
		}
		name = string(text)
	default:
		_, _, err = r.lossy("a map with keys of type " + key.Type().String())
		return "", err
	}
	if !utf8.ValidString(name) {
		_, _, err = r.lossy(whatName)
	}
	return name, err
}

// quoted reads a field that has the option "string": the text of its JSON form, in which integers keep all their digits.
func (r *reader) quoted(v reflect.Value, p *plan) (Value, bool, error) {
	for p.how == asPointer {
		if v.IsNil() {
			return Null(), false, nil
		}
		v, p = v.Elem(), p.elem
	}
	if p.addr != refused && v.CanAddr() {
		return r.visitValue(v, p)
	}
	switch p.how {
	case asInt:
		return text(strconv.FormatInt(v.Int(), 10)), false, nil
	case asUint:
		return text(strconv.FormatUint(v.Uint(), 10)), false, nil
	case asNumber:
		if _, what := literal(v.String()); what != "" && what != whatInexact {
			return r.lossy(what)
		}
		return text(v.String()), false, nil
	case asBool, asFloat32, asFloat64, asString:
		inner, _, err := r.visitValue(v, p)
		if err != nil {
			return Value{}, false, err
		}
		return text(inner.String()), false, nil
	}
	return r.visitValue(v, p)
}

func (r *reader) marshaler(v reflect.Value) (Value, bool, error) {
	m, ok := implementation(v).(json.Marshaler)
	if !ok {
		return Null(), false, nil
	}
	if inner, ok := m.(Value); ok {
		return r.value(inner)
	}
	text, err := r.call(m.MarshalJSON)
	if err != nil {
		return Value{}, false, err
	}
	return r.parse(text)
}

func (r *reader) textMarshaler(v reflect.Value) (Value, bool, error) {
	m, ok := implementation(v).(encoding.TextMarshaler)
	if !ok {
		return Null(), false, nil
	}
	text, err := r.call(m.MarshalText)
	if err != nil {
		return Value{}, false, err
	}
	return r.text(string(text))
}

// implementation returns what has the methods of v; nil if v is a nil pointer or interface, which is null.
func implementation(v reflect.Value) any {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return nil
	}
	return v.Interface()
}

// isZero reports whether the option omitzero leaves the field v out.
func (r *reader) isZero(f *field, v reflect.Value) (zero bool, err error) {
	if !f.zeroer {
		return v.IsZero(), nil
	}
	for inner := v; inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Interface; inner = inner.Elem() {
		if inner.IsNil() {
			return true, nil
		}
		if inner.Kind() == reflect.Pointer {
			break
		}
	}
	z, ok := v.Interface().(interface{ IsZero() bool })
	if !ok {
		if !v.CanAddr() {
			addressable := reflect.New(v.Type()).Elem()
			addressable.Set(v)
			v = addressable
		}
		z = v.Addr().Interface().(interface{ IsZero() bool })
	}
	_, err = r.call(func() ([]byte, error) {
		zero = z.IsZero()
		return nil, nil
	})
	return zero, err
}

// call runs a method of a foreign type, once; what it returns as an error or panics with becomes a ReadError (JSON-8).
func (r *reader) call(method func() ([]byte, error)) (text []byte, err error) {
	defer func() {
		if raised := recover(); raised != nil {
			text, err = nil, r.failure(raised)
		}
	}()
	if text, err = method(); err != nil {
		return nil, r.failure(err)
	}
	return text, nil
}

func (r *reader) failure(raised any) (failed *ReadError) {
	failed = &ReadError{Path: r.path()}
	defer func() {
		if recover() != nil { // the error's own method failed
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
