package jsonval

// This file defines which members a Go struct has: its exported fields under the names, options and embedding rules of
// encoding/json.

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// field is one member of a struct type.
type field struct {
	name      string
	path      []int // the field's index at each level of embedding
	tagged    bool
	omitEmpty bool
	omitZero  bool
	zeroer    bool // it has a method IsZero
	quoted    bool // the option "string"
}

// structPlan is what Of needs to know of a struct type.
type structPlan struct {
	fields []field
	opaque bool // it has fields, all of them unexported: its JSON form would say nothing
}

// plans remembers the plan of each struct type that was ever taken in: a function's results, of which there are as many
// as types in the program.
var plans sync.Map // reflect.Type to *structPlan

func planOf(t reflect.Type) *structPlan {
	if p, ok := plans.Load(t); ok {
		return p.(*structPlan)
	}
	p, _ := plans.LoadOrStore(t, newPlan(t))
	return p.(*structPlan)
}

var zeroerType = reflect.TypeFor[interface{ IsZero() bool }]()

func newPlan(t reflect.Type) *structPlan {
	type embedded struct {
		t    reflect.Type
		path []int
	}
	var found []field
	unexported := 0
	visited := map[reflect.Type]bool{}
	level := []embedded{{t: t}}
	for len(level) > 0 {
		times := map[reflect.Type]int{}
		for _, e := range level {
			times[e.t]++
		}
		var next []embedded
		done := map[reflect.Type]bool{}
		for _, e := range level {
			if visited[e.t] || done[e.t] {
				continue
			}
			done[e.t] = true
			for i := range e.t.NumField() {
				sf := e.t.Field(i)
				inner := sf.Type
				if inner.Kind() == reflect.Pointer && inner.Name() == "" {
					inner = inner.Elem()
				}
				tag := sf.Tag.Get("json")
				if sf.Anonymous && !sf.IsExported() && inner.Kind() != reflect.Struct || !sf.Anonymous && !sf.IsExported() {
					unexported++
					continue
				}
				if tag == "-" {
					unexported = -1 << 30 // left out by intention
					continue
				}
				name, options, _ := strings.Cut(tag, ",")
				if !validName(name) {
					name = ""
				}
				path := append(slices.Clip(e.path), i)
				if name == "" && sf.Anonymous && inner.Kind() == reflect.Struct {
					next = append(next, embedded{t: inner, path: path})
					continue
				}
				f := field{name: cmp.Or(name, sf.Name), path: path, tagged: name != ""}
				for option := range strings.SplitSeq(options, ",") {
					switch option {
					case "omitempty":
						f.omitEmpty = true
					case "omitzero":
						f.omitZero = true
						f.zeroer = sf.Type.Implements(zeroerType) || reflect.PointerTo(sf.Type).Implements(zeroerType)
					case "string":
						f.quoted = quotable(inner.Kind())
					}
				}
				found = append(found, f)
				if times[e.t] > 1 {
					found = append(found, f) // the type is embedded twice at this level: its fields hide each other
				}
			}
		}
		for t := range done {
			visited[t] = true
		}
		level = next
	}
	p := &structPlan{fields: dominant(found)}
	p.opaque = len(p.fields) == 0 && unexported > 0
	return p
}

// dominant picks, of the fields with the same name, the one that Go's embedding rules and then a tag prefer; none if
// there are two. It returns the fields in the order of the struct.
func dominant(found []field) []field {
	slices.SortStableFunc(found, func(a, b field) int {
		tags := 0
		if a.tagged != b.tagged {
			tags = 1
			if a.tagged {
				tags = -1
			}
		}
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(len(a.path), len(b.path)), tags)
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

// quotable reports whether the option "string" concerns fields of this kind.
func quotable(k reflect.Kind) bool {
	switch k {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return false
}

// validName reports whether a tag may call a member so.
func validName(name string) bool {
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return name != ""
}

// value returns the field of the struct v; none if it is in an embedded nil pointer.
func (f *field) value(v reflect.Value) (reflect.Value, bool) {
	for i, at := range f.path {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}
	return v, true
}
