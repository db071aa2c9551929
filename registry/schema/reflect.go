package schema

// This file derives schemas from Go types (DEFINE-1).

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	// exactLevels is how many containers deep a derived schema is exact; what is deeper is any JSON.
	exactLevels = 16
	// maxDerived bounds derived schemas: a type that refers to itself twice doubles with each level.
	maxDerived = 5_000
)

// PropsOf derives the members of an object from the fields of the struct type T, under the names and embedding rules of
// encoding/json. A pointer, omitempty or omitzero makes a member optional. The tag jsonschema:"text" describes a member,
// enum:"a,b" lists its values. A map type with string keys has no declared members. The error names the field.
func PropsOf[T any]() (Props, error) {
	t := reflect.TypeFor[T]()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		return Props{}, nil
	case t.Kind() != reflect.Struct || wellKnown(t).Exists():
		return nil, &Error{[]string{fmt.Sprintf("parameters: %s is not a struct: give the parameters explicitly", t)}}
	}
	d := deriver{}
	props := d.props(t, "parameters", 1)
	return props, d.error()
}

// NodeOf derives a node from the type T, as PropsOf does for the structs within it. Structs become closed objects, maps open
// ones.
func NodeOf[T any]() (Node, error) {
	d := deriver{}
	n := d.node(reflect.TypeFor[T](), "schema", 1)
	return n, d.error()
}

type deriver struct {
	count   int
	failure string
}

func (d *deriver) error() error {
	if d.failure == "" {
		return nil
	}
	return &Error{[]string{d.failure}}
}

func (d *deriver) fail(path, format string, args ...any) Node {
	if d.failure == "" {
		d.failure = path + ": " + fmt.Sprintf(format, args...)
	}
	return JSON()
}

var (
	valueType         = reflect.TypeFor[jsonval.Value]()
	rawType           = reflect.TypeFor[json.RawMessage]()
	numberType        = reflect.TypeFor[json.Number]()
	bigIntType        = reflect.TypeFor[big.Int]()
	timeType          = reflect.TypeFor[time.Time]()
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// wellKnown returns the node of a type that writes its own JSON; the zero Node if t does not.
func wellKnown(t reflect.Type) Node {
	switch t {
	case valueType, rawType:
		return JSON()
	case numberType:
		return Number()
	case bigIntType:
		return Integer()
	case timeType:
		return String()
	}
	if t.Kind() == reflect.Interface {
		return JSON()
	}
	p := reflect.PointerTo(t)
	switch {
	case t.Implements(marshalerType) || p.Implements(marshalerType):
		return JSON()
	case t.Implements(textMarshalerType) || p.Implements(textMarshalerType):
		return String()
	}
	return Node{}
}

// node derives the node of t, which would be the level-th container if it is one.
func (d *deriver) node(t reflect.Type, path string, level int) Node {
	if d.count++; d.count > maxDerived {
		return d.fail(path, "the schema derived from Go types has more than %d nodes: give it explicitly", maxDerived)
	}
	for t.Kind() == reflect.Pointer && t.Elem() != bigIntType && t.Elem() != valueType {
		if n := wellKnown(t); n.Exists() {
			return n
		}
		t = t.Elem()
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n := wellKnown(t); n.Exists() {
		return n
	}
	switch t.Kind() {
	case reflect.Bool:
		return Boolean()
	case reflect.String:
		return String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return Integer()
	case reflect.Float32, reflect.Float64:
		return Number()
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		return d.container(t, path, level)
	}
	return d.fail(path, "the Go type %s has no JSON form", t)
}

func (d *deriver) container(t reflect.Type, path string, level int) Node {
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !wellKnown(t.Elem()).Exists():
		return String() // base64
	case level > exactLevels:
		return JSON()
	case t.Kind() == reflect.Struct:
		return Object(d.props(t, path, level))
	case t.Kind() == reflect.Map:
		if !d.mapKey(t.Key()) {
			return d.fail(path, "the Go type %s has no JSON form: its keys have no text", t)
		}
		d.node(t.Elem(), path+".*", level+1) // the subset does not constrain it, but it must have a JSON form
		return Map()
	}
	return Array(d.node(t.Elem(), path+".items", level+1))
}

func (d *deriver) mapKey(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return t.Implements(textMarshalerType)
}

// props derives the members of a struct.
func (d *deriver) props(t reflect.Type, path string, level int) Props {
	props := Props{}
	for _, f := range fieldsOf(t) {
		if d.failure != "" {
			break
		}
		at := path + "." + f.name
		if path != "parameters" {
			at = path + ".properties." + f.name
		}
		n := d.node(f.Type, at, level+1)
		if f.quoted {
			n = String()
		}
		if text := f.Tag.Get("jsonschema"); text != "" {
			n = n.Describe(text)
		}
		if list, ok := f.Tag.Lookup("enum"); ok {
			n = d.enum(n, list, at)
		}
		if d.failure != "" && !strings.Contains(d.failure, " (field ") {
			d.failure += " (field " + f.Name + " of " + t.String() + ")"
		}
		props = append(props, Prop{Name: f.name, Node: n, Required: !f.optional})
	}
	return props
}

// enum reads the tag enum:"a,b" as values of the node's type.
func (d *deriver) enum(n Node, list, path string) Node {
	typeName, _ := n.form.Get("type")
	var values []any
	for text := range strings.SplitSeq(list, ",") {
		var v any = text
		var err error
		switch typeName.Str() {
		case "string":
		case "integer":
			v, err = strconv.ParseInt(text, 10, 64)
		case "number":
			v, err = strconv.ParseFloat(text, 64)
		default:
			return d.fail(path, "the tag enum is for strings and numbers, not for type %s", typeName.Str())
		}
		if err != nil {
			return d.fail(path, "the enum value %q is not of type %s", text, typeName.Str())
		}
		values = append(values, v)
	}
	return n.Enum(values...)
}
