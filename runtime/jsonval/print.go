package jsonval

// This file defines the text of values: compact, indented, and its length.

import (
	"bytes"
	"errors"
	"unsafe"
)

// AppendJSON appends the compact JSON text of v: members in order, numbers as ECMAScript writes them (VALUE-6), no escape
// but those that JSON demands. An absent value appends nothing.
func (v Value) AppendJSON(dst []byte) []byte { return v.print(dst, appendNumber) }

func (v Value) print(dst []byte, number numberFormat) []byte {
	if !v.branch() {
		return appendLeaf(dst, v, number)
	}
	var room [16]cursor
	stack := append(room[:0], cursor{in: v})
	dst = append(dst, opening(v))
walk:
	for {
		top := &stack[len(stack)-1]
		if top.in.kind == KindArray {
			items := top.in.items()
			for i := top.next; i < len(items); i++ {
				if i > 0 {
					dst = append(dst, ',')
				}
				item := items[i]
				if item.branch() {
					dst = append(dst, opening(item))
					top.next = i + 1
					stack = append(stack, cursor{in: item})
					continue walk
				}
				dst = appendLeaf(dst, item, number)
			}
			dst = append(dst, ']')
		} else {
			members := top.in.members()
			for i := top.next; i < len(members); i++ {
				if i > 0 {
					dst = append(dst, ',')
				}
				m := &members[i]
				dst = append(dst, '"')
				dst = appendEscaped(dst, m.Name)
				dst = append(dst, '"', ':')
				if m.Value.branch() {
					dst = append(dst, opening(m.Value))
					top.next = i + 1
					stack = append(stack, cursor{in: m.Value})
					continue walk
				}
				dst = appendLeaf(dst, m.Value, number)
			}
			dst = append(dst, '}')
		}
		stack = stack[:len(stack)-1]
		if len(stack) == 0 {
			return dst
		}
	}
}

// AppendIndentJSON appends the JSON text of v with one member or item a line, each level behind one more indent; the root
// has none. Containers at depth and deeper are compact, the root's depth being 0 (CODE-21); a negative depth means no limit.
// The text of n levels without a limit takes n² indents.
func (v Value) AppendIndentJSON(dst []byte, indent string, depth int) []byte {
	if !v.branch() || depth == 0 {
		return v.AppendJSON(dst)
	}
	var room [16]cursor
	stack := append(room[:0], cursor{in: v})
	dst = append(dst, opening(v))
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.done() {
			stack = stack[:len(stack)-1]
			dst = append(appendLine(dst, indent, len(stack)), closing(top.in))
			continue
		}
		if top.next > 0 {
			dst = append(dst, ',')
		}
		dst = appendLine(dst, indent, len(stack))
		name, child := top.child()
		if top.in.kind == KindObject {
			dst = append(AppendString(dst, name), ':', ' ')
		}
		if !child.branch() || len(stack) == depth {
			dst = child.AppendJSON(dst)
			continue
		}
		dst = append(dst, opening(child))
		stack = append(stack, cursor{in: child})
	}
	return dst
}

// JSON returns the compact JSON text of v in a slice of the caller's own; an empty one if v is absent.
func (v Value) JSON() []byte {
	text := v.AppendJSON(make([]byte, 0, v.room()))
	if len(text) < cap(text)/2 {
		return bytes.Clone(text) // the guess was far too high: hold no more than needed
	}
	return text
}

// String returns the compact JSON text of v, also of a string; "" if v is absent. For the text of a string see Str.
func (v Value) String() string {
	text := v.JSON()
	return unsafe.String(unsafe.SliceData(text), len(text))
}

// MarshalJSON returns the compact JSON text of v for encoding/json, which refuses to go deeper than 10,000 levels. An
// absent value is an error; a struct's field of this type is left out by the option omitzero.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.kind == KindAbsent {
		return nil, errors.New("jsonval: an absent value has no JSON form")
	}
	return v.JSON(), nil
}

// Size returns how many bytes the compact JSON text of v has, without building it. Once it is past limit, the measuring
// stops and the result is limit+1 (LOG-11); a negative limit is none.
func (v Value) Size(limit int64) int64 {
	var room [16]cursor
	stack := room[:0]
	size := int64(0)
	for {
		size += ownSize(v)
		if limit >= 0 && size > limit {
			return limit + 1
		}
		if v.branch() {
			stack = append(stack, cursor{in: v})
		}
		if stack = ascend(stack); len(stack) == 0 {
			return size
		}
		top := &stack[len(stack)-1]
		var name string
		name, v = top.child()
		if top.in.kind == KindObject {
			size += StringSize(name) + 1
		}
	}
}

// ownSize is what v costs without its children: the whole of a scalar, the brackets and commas of a container (LOG-9).
func ownSize(v Value) int64 {
	switch v.kind {
	case KindNull:
		return 4
	case KindBool:
		return 5 - int64(v.bits)
	case KindNumber:
		return numberSize(v.Float())
	case KindString:
		if v.plain {
			return int64(v.bits) + 2
		}
		return StringSize(v.str())
	case KindArray, KindObject:
		return 2 + max(0, int64(v.bits)-1)
	}
	return 0
}

// numberFormat appends the text of a number.
type numberFormat func(dst []byte, f float64) []byte

// appendLeaf appends a scalar or an empty container.
func appendLeaf(dst []byte, v Value, number numberFormat) []byte {
	switch v.kind {
	case KindNull:
		return append(dst, "null"...)
	case KindBool:
		if v.bits == 1 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case KindNumber:
		return number(dst, v.Float())
	case KindString:
		dst = append(dst, '"')
		if v.plain {
			dst = append(dst, v.str()...)
		} else {
			dst = appendEscaped(dst, v.str())
		}
		return append(dst, '"')
	case KindArray:
		return append(dst, '[', ']')
	case KindObject:
		return append(dst, '{', '}')
	}
	return dst
}

func opening(v Value) byte {
	if v.kind == KindArray {
		return '['
	}
	return '{'
}

func closing(v Value) byte {
	if v.kind == KindArray {
		return ']'
	}
	return '}'
}

func appendLine(dst []byte, indent string, depth int) []byte {
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, indent...)
	}
	return dst
}
