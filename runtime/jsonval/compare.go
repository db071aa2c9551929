package jsonval

// This file defines when two values are the same.

// Equal reports whether a and b are the same value. The order of members does not count; two absent values are equal.
func Equal(a, b Value) bool { return same(a, b, false) }

// Identical reports whether a and b are the same value with the same order of members: whether their texts are the same.
func Identical(a, b Value) bool { return same(a, b, true) }

func same(a, b Value, ordered bool) bool {
	var roomA, roomB [12]cursor
	as, bs := roomA[:0], roomB[:0] // the containers that are being compared; the positions are in as
	for {
		// Numbers too: the domain has one zero and no NaN.
		if a.kind != b.kind || a.bits != b.bits {
			return false
		}
		if a.kind == KindString && a.str() != b.str() {
			return false
		}
		if a.branch() && a.data != b.data { // values that share their children are the same
			as, bs = append(as, cursor{in: a}), append(bs, cursor{in: b})
		}
		as = ascend(as)
		if bs = bs[:len(as)]; len(as) == 0 {
			return true
		}
		top, other := &as[len(as)-1], bs[len(as)-1].in
		i := top.next
		name, child := top.child()
		if a = child; other.kind == KindArray {
			b = other.items()[i]
			continue
		}
		members := other.members()
		if members[i].Name != name {
			if i = other.find(name); ordered || i < 0 {
				return false
			}
		}
		b = members[i].Value
	}
}
