package jsonval

import (
	"iter"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Kind says which of the JSON types a [Value] has.
type Kind uint8

// The kinds of values. KindAbsent is the kind of the zero Value: no value at all, which is not null.
const (
	KindAbsent Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

var kindNames = [...]string{"absent", "null", "boolean", "number", "string", "array", "object"}

// String returns the name that JSON Schema has for the kind; "absent" for the kind of the zero Value.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Value is one immutable JSON value. The zero Value is absent. Values are compared with [Equal] or [Identical]; the
// operator == does not compile. A string that was parsed shares one copy of the text with its neighbours, so that keeping
// it keeps that copy in memory.
type Value struct {
	_ [0]func() // no ==: it would compare addresses

	// data is the first byte of a string, the first item of an array, the first member of a small object, or the
	// *largeObject of a large one; nil where there is none. Nothing is ever written through it.
	data  unsafe.Pointer
	bits  uint64 // a number's bits, a boolean as 0 or 1, the length of a string or a container
	kind  Kind
	plain bool // a string whose JSON form is itself between quotes
	large bool // an object that has an index

	// hint is about how many bytes the children of a container take as text, to start printing with; 0 if unknown.
	hint uint32
}

// Member is one named value of an object.
type Member struct {
	Name  string
	Value Value
}

// Null returns null.
func Null() Value { return Value{kind: KindNull} }

// Bool returns the boolean b.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, bits: 1}
	}
	return Value{kind: KindBool}
}

// Number returns the number f. It refuses NaN, the infinities and negative zero (JSON-2).
func Number(f float64) (Value, error) {
	if what := lossyFloat(f); what != "" {
		return Value{}, rootError(what)
	}
	return number(f), nil
}

// Int returns the number i. It refuses an integer that a double cannot hold exactly (JSON-3).
func Int(i int64) (Value, error) {
	if !exactInt(i) {
		return Value{}, rootError(whatInexact)
	}
	return number(float64(i)), nil
}

// String returns the string s. It refuses text that is not valid UTF-8 (JSON-4).
func String(s string) (Value, error) {
	if !utf8.ValidString(s) {
		return Value{}, rootError(whatUTF8)
	}
	return text(s), nil
}

// Text returns the string s, each run of bytes that is not UTF-8 replaced by U+FFFD. It is for texts that must always be
// deliverable, such as messages; data goes through [String].
func Text(s string) Value { return text(strings.ToValidUTF8(s, "\uFFFD")) }

// Array returns an array of items, which it copies. It panics if an item is absent.
func Array(items ...Value) Value {
	for i := range items {
		if items[i].kind == KindAbsent {
			panic("jsonval: Array: an item is absent")
		}
	}
	return sealArray(append([]Value(nil), items...))
}

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// Exists reports whether v is a value at all: whether it is not absent.
func (v Value) Exists() bool { return v.kind != KindAbsent }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == KindNull }

// IsBool reports whether v is a boolean.
func (v Value) IsBool() bool { return v.kind == KindBool }

// IsNumber reports whether v is a number.
func (v Value) IsNumber() bool { return v.kind == KindNumber }

// IsString reports whether v is a string.
func (v Value) IsString() bool { return v.kind == KindString }

// IsArray reports whether v is an array.
func (v Value) IsArray() bool { return v.kind == KindArray }

// IsObject reports whether v is an object.
func (v Value) IsObject() bool { return v.kind == KindObject }

// Bool returns the boolean that v is, false for any other kind.
func (v Value) Bool() bool { return v.kind == KindBool && v.bits == 1 }

// Float returns the number that v is, 0 for any other kind.
func (v Value) Float() float64 {
	if v.kind != KindNumber {
		return 0
	}
	return math.Float64frombits(v.bits)
}

// Str returns the string that v is, "" for any other kind.
func (v Value) Str() string {
	if v.kind != KindString {
		return ""
	}
	return v.str()
}

// Len returns the number of items of an array or of members of an object, 0 for any other kind.
func (v Value) Len() int {
	if v.kind < KindArray {
		return 0
	}
	return int(v.bits)
}

// Index returns item i of an array. It returns the absent Value if v is no array or has no such item.
func (v Value) Index(i int) Value {
	if v.kind != KindArray || uint(i) >= uint(v.bits) {
		return Value{}
	}
	return v.items()[i]
}

// Items ranges over the items of an array; over nothing if v is of another kind.
func (v Value) Items() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		for i, item := range v.items() {
			if !yield(i, item) {
				return
			}
		}
	}
}

// number, text, array and items are the unchecked ways in and out; their callers have made sure of the domain.

func number(f float64) Value { return Value{kind: KindNumber, bits: math.Float64bits(f)} }

func text(s string) Value {
	return Value{kind: KindString, data: unsafe.Pointer(unsafe.StringData(s)), bits: uint64(len(s))}
}

// array takes items over: nobody may write to them any more.
func array(items []Value) Value {
	if len(items) == 0 {
		return Value{kind: KindArray}
	}
	return Value{kind: KindArray, data: unsafe.Pointer(unsafe.SliceData(items)), bits: uint64(len(items))}
}

func (v Value) str() string { return unsafe.String((*byte)(v.data), int(v.bits)) }

func (v Value) items() []Value {
	if v.kind != KindArray {
		return nil
	}
	return unsafe.Slice((*Value)(v.data), int(v.bits))
}
