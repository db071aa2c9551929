package schema

// This file finds the members of a struct: its exported fields by the rules of encoding/json, those of embedded structs
// promoted.

import (
	"reflect"
	"slices"
	"strings"
)

// field is one member of a struct.
type field struct {
	reflect.StructField
	name     string
	tagged   bool
	quoted   bool // `json:",string"`
	optional bool
	depth    int   // of embedding
	path     []int // of indexes, its identity
}

// fieldsOf returns the members in the order of their declaration. Of fields with one name the least embedded wins, among
// those a tagged one; where that leaves two, there is none.
func fieldsOf(t reflect.Type) []field {
	var found []field
	collect(t, nil, nil, &found)
	return slices.DeleteFunc(slices.Clone(found), func(f field) bool {
		return slices.ContainsFunc(found, func(other field) bool { return f.hiddenBy(other) })
	})
}

// hiddenBy reports whether f is no member because of another field of its name.
func (f field) hiddenBy(other field) bool {
	switch {
	case f.name != other.name || slices.Equal(f.path, other.path):
		return false
	case f.depth != other.depth:
		return f.depth > other.depth
	}
	return !f.tagged || other.tagged
}

// collect appends the fields of t and of the structs embedded in it. The types in outer are being collected: a struct that
// embeds a pointer to itself adds nothing.
func collect(t reflect.Type, path []int, outer []reflect.Type, found *[]field) {
	if slices.Contains(outer, t) {
		return
	}
	outer = append(slices.Clip(outer), t)
	for i := range t.NumField() {
		f := field{StructField: t.Field(i), depth: len(path), path: append(slices.Clip(path), i)}
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		inner := f.Type
		pointer := inner.Kind() == reflect.Pointer
		if pointer {
			inner = inner.Elem()
		}
		if f.Anonymous && name == "" && inner.Kind() == reflect.Struct && !wellKnown(inner).Exists() {
			from := len(*found)
			collect(inner, f.path, outer, found)
			for j := from; pointer && j < len(*found); j++ {
				(*found)[j].optional = true // it may be nil
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		f.name, f.tagged, f.optional = name, name != "", pointer
		if name == "" {
			f.name = f.Name
		}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty", "omitzero":
				f.optional = true
			case "string":
				f.quoted = true
			}
		}
		*found = append(*found, f)
	}
}
