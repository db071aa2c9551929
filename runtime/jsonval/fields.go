package jsonval

// This file defines which members a Go struct has: its exported fields under the names, options and embedding rules of
// encoding/json.

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// field is one member of a struct type.
type field struct {
	name      string
	path      []int // the field's index at each level of embedding
	t         reflect.Type
	plan      *plan
	tagged    bool // the name is from a tag
	omitEmpty bool
	omitZero  bool
	zeroer    bool // the type, or a pointer to it, has a method IsZero
	quoted    bool // the option "string", where it means something
}

var zeroerType = reflect.TypeFor[interface{ IsZero() bool }]()

// embedded is a struct whose fields count as those of the struct that embeds it.
type embedded struct {
	t    reflect.Type
	path []int
}

// fieldsOf returns the members of the struct type t in the order of its fields; opaque says that there are fields, but
// none that is exported or left out by a tag.
func fieldsOf(t reflect.Type) (fields []field, opaque bool) {
	var found []field
	hidden, chosen := false, false
	seen := map[reflect.Type]bool{}
	for level := []embedded{{t: t}}; len(level) > 0; {
		var deeper []embedded
		times := map[reflect.Type]int{}
		for _, e := range level {
			times[e.t]++
		}
		for _, e := range level {
			if seen[e.t] {
				continue
			}
			seen[e.t] = true
			for i := range e.t.NumField() {
				sf := e.t.Field(i)
				inner := sf.Type
				if inner.Kind() == reflect.Pointer && inner.Name() == "" {
					inner = inner.Elem()
				}
				isStruct := inner.Kind() == reflect.Struct
				if !sf.IsExported() && !(sf.Anonymous && isStruct) {
					hidden = true
					continue
				}
				tag := sf.Tag.Get("json")
				if tag == "-" {
					chosen = true
					continue
				}
				name, options, _ := strings.Cut(tag, ",")
				if !validName(name) {
					name = ""
				}
				path := append(slices.Clone(e.path), i)
				if sf.Anonymous && isStruct && name == "" {
					deeper = append(deeper, embedded{t: inner, path: path})
					continue
				}
				f := newField(sf, name, options, inner.Kind())
				f.path = path
				found = append(found, f)
				if times[e.t] > 1 {
					found = append(found, f) // embedded twice at one level: the fields hide each other
				}
			}
		}
		level = deeper
	}
	fields = dominant(found)
	return fields, len(fields) == 0 && hidden && !chosen
}

func newField(sf reflect.StructField, name, options string, inner reflect.Kind) field {
	f := field{name: cmp.Or(name, sf.Name), t: sf.Type, tagged: name != ""}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
			f.zeroer = sf.Type.Implements(zeroerType) || reflect.PointerTo(sf.Type).Implements(zeroerType)
		case "string":
			f.quoted = basic(inner) != refused || inner == reflect.Bool || inner == reflect.Float32 || inner == reflect.Float64
		}
	}
	return f
}

// dominant picks, of the fields with the same name, the one that Go's embedding rules and then a tag prefer; none if
// there are two of those. It returns the fields in the order of the struct.
func dominant(found []field) []field {
	untagged := func(f field) int {
		if f.tagged {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b field) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(len(a.path), len(b.path)), untagged(a)-untagged(b))
	})
	var kept []field
	for i, end := 0, 0; i < len(found); i = end {
		for end = i + 1; end < len(found) && found[end].name == found[i].name; end++ {
		}
		if end == i+1 || len(found[i+1].path) > len(found[i].path) || found[i+1].tagged != found[i].tagged {
			kept = append(kept, found[i])
		}
	}
	slices.SortFunc(kept, func(a, b field) int { return slices.Compare(a.path, b.path) })
	return kept
}

// validName reports whether a tag may call a member so; if not, the member has the field's name.
func validName(name string) bool {
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return name != ""
}

// of returns the field of the struct v; none if it is in an embedded struct behind a nil pointer.
func (f *field) of(v reflect.Value) (reflect.Value, bool) {
	v = v.Field(f.path[0])
	for _, at := range f.path[1:] {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}
	return v, true
}

// empty reports whether the option omitempty leaves v out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Bool, reflect.Pointer, reflect.Interface, reflect.Float32, reflect.Float64:
		return v.IsZero()
	}
	return basic(v.Kind()) != refused && v.IsZero()
}
