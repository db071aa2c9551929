package jsonval

import (
	"hash/maphash"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// indexFrom is the number of members from which an object has an index; below, comparing the names one by one is faster.
const indexFrom = 17

// largeObject is an object with an index: a hash table of open addressing from names to positions. Its slots hold a
// position plus one, 0 for a free slot; there are at least twice as many as members, a power of two.
type largeObject struct {
	members []Member
	slots   []uint32
}

// indexSeed makes the slots unpredictable: no choice of names makes a lookup slow.
var indexSeed = maphash.MakeSeed()

// Object returns an object of members, which it copies. Of a repeated name the last value counts and the first position
// (JSON-6). Bytes of a name that are not UTF-8 become U+FFFD, as by [Text]; [Of] refuses them. It panics if a value is
// absent.
func Object(members ...Member) Value {
	own := make([]Member, len(members))
	for i, m := range members {
		own[i] = hostMember("Object", m.Name, m.Value)
	}
	return sealObject(own)
}

// hostMember returns a member that host code made.
func hostMember(function, name string, v Value) Member {
	if v.kind == KindAbsent {
		panic("jsonval: " + function + ": the value of " + strconv.Quote(cut(name, maxName)) + " is absent")
	}
	return Member{Name: strings.ToValidUTF8(name, "\uFFFD"), Value: v}
}

// Members ranges over the members of an object in their order; over nothing if v is of another kind.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, m := range v.members() {
			if !yield(m.Name, m.Value) {
				return
			}
		}
	}
}

// Names returns the names of an object's members in their order, in a slice of the caller's own.
func (v Value) Names() []string {
	members := v.members()
	names := make([]string, len(members))
	for i := range members {
		names[i] = members[i].Name
	}
	return names
}

// Get returns the member called name, and whether v is an object that has one.
func (v Value) Get(name string) (Value, bool) {
	if i := v.find(name); i >= 0 {
		return v.members()[i].Value, true
	}
	return Value{}, false
}

// With returns a copy of the object v in which the member name has the value m: at its place if there is one already, else
// at the end. An absent v counts as an empty object. It panics if v is of another kind or m is absent; of the name it holds
// what [Object] says.
func (v Value) With(name string, m Value) Value {
	if v.kind != KindObject && v.kind != KindAbsent {
		panic("jsonval: With: called on " + v.kind.String())
	}
	set := hostMember("With", name, m)
	old := v.members()
	members := make([]Member, len(old), len(old)+1)
	copy(members, old)
	if i := v.find(set.Name); i >= 0 {
		members[i] = set
	} else {
		members = append(members, set)
	}
	return sealDistinct(members)
}

// Without returns a copy of v that has no member called name; v itself if it has none.
func (v Value) Without(name string) Value {
	i := v.find(name)
	if i < 0 {
		return v
	}
	old := v.members()
	members := make([]Member, 0, len(old)-1)
	members = append(append(members, old[:i]...), old[i+1:]...)
	return sealDistinct(members)
}

func (v Value) members() []Member {
	if v.kind != KindObject {
		return nil
	}
	if v.large {
		return (*largeObject)(v.data).members
	}
	return unsafe.Slice((*Member)(v.data), int(v.bits))
}

// find returns the position of the member called name, -1 if there is none.
func (v Value) find(name string) int {
	if v.large {
		o := (*largeObject)(v.data)
		_, at := o.slot(o.members, name)
		return at
	}
	members := v.members()
	for i := range members {
		if members[i].Name == name {
			return i
		}
	}
	return -1
}

// object resolves repeated names within members, which it takes over, and returns the object.
func object(members []Member) Value {
	if len(members) < indexFrom {
		return distinctObject(distinctFew(members))
	}
	o := newLarge(len(members))
	kept := 0
	for i := range members {
		slot, at := o.slot(members, members[i].Name)
		if at >= 0 {
			members[at].Value = members[i].Value
			continue
		}
		members[kept] = members[i]
		kept++
		o.slots[slot] = uint32(kept)
	}
	if kept < len(members)/2 {
		return distinctObject(slices.Clone(members[:kept])) // give back what the repetitions took
	}
	o.members = members[:kept:kept]
	return Value{kind: KindObject, large: true, data: unsafe.Pointer(o), bits: uint64(kept)}
}

// distinctFew resolves repeated names by comparing each name with those before it.
func distinctFew(members []Member) []Member {
	kept := 0
next:
	for i := range members {
		for j := range kept {
			if members[j].Name == members[i].Name {
				members[j].Value = members[i].Value
				continue next
			}
		}
		if kept != i { // without a repetition nothing is written
			members[kept] = members[i]
		}
		kept++
	}
	return members[:kept]
}

// distinctObject is object for members whose names are known to differ.
func distinctObject(members []Member) Value {
	switch {
	case len(members) == 0:
		return Value{kind: KindObject}
	case len(members) < indexFrom:
		return Value{kind: KindObject, data: unsafe.Pointer(unsafe.SliceData(members)), bits: uint64(len(members))}
	}
	return object(members)
}

func newLarge(members int) *largeObject {
	size := 32
	for size < 2*members {
		size *= 2
	}
	return &largeObject{slots: make([]uint32, size)}
}

// slot returns where name is in the table, or where it goes, and its position among members, -1 if it is new.
func (o *largeObject) slot(members []Member, name string) (slot uint64, at int) {
	mask := uint64(len(o.slots) - 1)
	for h := maphash.String(indexSeed, name); ; h++ {
		p := o.slots[h&mask]
		if p == 0 {
			return h & mask, -1
		}
		if members[p-1].Name == name {
			return h & mask, int(p - 1)
		}
	}
}
