package wasmengine

// This file reads small plain values out of a guest's memory and writes them as JSON, without running anything of the
// guest: most arguments of calls are of this kind, and the prelude's own serialiser, which is interpreted, takes ten times
// as long for them. It writes what it is certain of; everything else, above all what is not lossless JSON, it leaves to the
// prelude (VALUE-4), and it has read nothing by then that the program could have noticed.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// What may be written here. The work is not counted as steps, so that it has to stay small.
const (
	plainDepth = 8
	plainSlots = 64
	plainText  = 4096 // of all strings together, in code units
)

// Where the fields of QuickJS's structures are, in a build for 32 bits; boot.plain compares what they give with what was written.
const (
	objectFlags  = 8 // a byte
	objectClass  = 10
	objectShape  = 12
	objectSlots  = 16
	objectItems  = 28 // of an array: the pointer, and then how many there are
	objectSize   = 36
	flagExotic   = 1 << 3 // in objectFlags: properties of a kind of its own
	flagFastList = 1 << 4 // the items of an array lie side by side, without holes and with all attributes

	shapeMask    = 16 // of the hash table, which stands between the shape's fields and its properties
	shapeCount   = 24
	shapeDeleted = 28
	shapeProto   = 36
	shapeSize    = 40

	slotFlags      = 26 // what the word of flags is shifted by
	slotAttributes = 3  // writable, configurable: any
	slotEnumerable = 4  // and no accessor, nor anything else

	stringLength  = 0
	stringWide    = 1 << 31 // in the length
	stringKind    = 4
	stringText    = 24
	kindShift     = 28 // in the word of the kind: whole, part of another, ...
	kindWhole     = 0
	atomTypeShift = 30
	atomText      = 1

	atomInt = 1 << 31 // an atom that is an index itself

	runtimeAtoms = 0x238

	classObject = 1
	classArray  = 2
)

// plainWriter is one value on its way out.
type plainWriter struct {
	mem                     guestMemory
	atoms                   uint32
	objectProto, arrayProto uint32

	out         []byte
	slots, text int
}

// errNotPlain says that the prelude has to look at the value.
var errNotPlain = errors.New("not a small plain value")

// plain returns the JSON text of an object or array; ok is false if it must be written by the prelude.
func (g *guest) plain(v value) (text string, ok bool) {
	atoms, err := g.mem.u32(uint32(g.image.runtime) + runtimeAtoms)
	if err != nil {
		return "", false
	}
	w := plainWriter{mem: g.mem, atoms: atoms, objectProto: g.image.objectProto, arrayProto: g.image.arrayProto, out: g.plainText[:0]}
	err = w.value(v, 0)
	g.plainText = w.out
	return string(w.out), err == nil
}

func (w *plainWriter) value(v value, depth int) error {
	switch t := v.tag(); t {
	case tagObject:
		return w.object(uint32(v), depth)
	case tagString:
		return w.string(uint32(v), 0)
	case tagNull:
		w.out = append(w.out, "null"...)
		return nil
	case tagBool:
		if uint32(v) != 0 {
			w.out = append(w.out, "true"...)
		} else {
			w.out = append(w.out, "false"...)
		}
		return nil
	}
	f, ok := v.number()
	if !ok {
		return errNotPlain
	}
	n, err := jsonval.Number(f)
	if err != nil {
		return errNotPlain
	}
	w.out = n.AppendJSON(w.out)
	return nil
}

func (w *plainWriter) object(p uint32, depth int) error {
	o, ok := w.mem.Read(p, objectSize)
	if !ok || depth == plainDepth {
		return errNotPlain
	}
	word := binary.LittleEndian.Uint32
	shape, slots := word(o[objectShape:]), word(o[objectSlots:])
	s, ok := w.mem.Read(shape, shapeSize)
	if !ok {
		return errNotPlain
	}
	n, proto := word(s[shapeCount:]), word(s[shapeProto:])
	if word(s[shapeDeleted:]) != 0 {
		return errNotPlain
	}
	switch binary.LittleEndian.Uint16(o[objectClass:]) {
	case classObject:
		if proto != w.objectProto && proto != 0 || o[objectFlags]&flagExotic != 0 || n > plainSlots {
			return errNotPlain
		}
		names, ok := w.mem.Read(shape+shapeSize+4*(word(s[shapeMask:])+1), 8*n)
		if !ok {
			return errNotPlain
		}
		return w.members(names, slots, depth)
	case classArray:
		// Its length is its only other property.
		length, err := w.mem.value(slots)
		items, count := word(o[objectItems:]), word(o[objectItems+4:])
		if err != nil || proto != w.arrayProto || o[objectFlags]&flagFastList == 0 || n != 1 || length != value(count) || count > plainSlots {
			return errNotPlain
		}
		return w.items(items, count, depth)
	}
	return errNotPlain
}

func (w *plainWriter) members(names []byte, slots uint32, depth int) error {
	open := byte('{')
	for i := 0; i < len(names); i += 8 {
		flags, atom := binary.LittleEndian.Uint32(names[i:])>>slotFlags, binary.LittleEndian.Uint32(names[i+4:])
		if flags&^slotAttributes != slotEnumerable || atom&atomInt != 0 {
			return errNotPlain
		}
		w.out = append(w.out, open)
		open = ','
		p, err := w.mem.u32(w.atoms + 4*atom)
		if err != nil {
			return errNotPlain
		}
		if err := w.string(p, atomText); err != nil {
			return err
		}
		w.out = append(w.out, ':')
		if err := w.slot(slots+uint32(i), depth); err != nil {
			return err
		}
	}
	if open == '{' {
		w.out = append(w.out, open)
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *plainWriter) items(p, n uint32, depth int) error {
	w.out = append(w.out, '[')
	for i := range n {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.slot(p+8*i, depth); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *plainWriter) slot(p uint32, depth int) error {
	v, err := w.mem.value(p)
	if err != nil {
		return errNotPlain
	}
	if w.slots++; w.slots > plainSlots {
		return errNotPlain
	}
	return w.value(v, depth+1)
}

// string writes a whole string. atomType is that of a property's name, 0 for any text.
func (w *plainWriter) string(p uint32, atomType uint32) error {
	var buf [256]byte
	text, units, ok := w.mem.wholeText(buf[:0], p, atomType)
	// Names that are indices stand in an order of their own.
	if !ok || atomType != 0 && len(text) > 0 && text[0] >= '0' && text[0] <= '9' {
		return errNotPlain
	}
	if w.text += units; w.text > plainText {
		return errNotPlain
	}
	w.out = jsonval.AppendString(w.out, string(text))
	return nil
}

// wholeText appends a short string that lies in one piece, and says how many code units it has. atomType as for string.
func (m guestMemory) wholeText(to []byte, p, atomType uint32) (text []byte, units int, ok bool) {
	s, ok := m.Read(p, stringText)
	if !ok {
		return to, 0, false
	}
	length, kind := binary.LittleEndian.Uint32(s[stringLength:]), binary.LittleEndian.Uint32(s[stringKind:])
	n := length &^ stringWide
	if kind>>kindShift&3 != kindWhole || atomType != 0 && kind>>atomTypeShift != atomType || n > plainText {
		return to, 0, false
	}
	unit := uint32(1)
	if length&stringWide != 0 {
		unit = 2
	}
	b, ok := m.Read(p+stringText, n*unit)
	if !ok {
		return to, 0, false
	}
	if unit == 1 {
		for _, c := range b { // Latin-1
			to = utf8.AppendRune(to, rune(c))
		}
		return to, int(n), true
	}
	for i := 0; i < len(b); i += 2 {
		r := rune(binary.LittleEndian.Uint16(b[i:]))
		if utf16.IsSurrogate(r) {
			if i += 2; i == len(b) {
				return to, 0, false
			}
			if r = utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(b[i:]))); r == utf8.RuneError {
				return to, 0, false
			}
		}
		to = utf8.AppendRune(to, r)
	}
	return to, int(n), true
}

// plain learns where the two prototypes are, and compares what the host reads with what was written.
func (b *boot) plain() {
	for _, p := range []struct {
		of string
		to *uint32
	}{{"Object", &b.im.objectProto}, {"Array", &b.im.arrayProto}} {
		v := b.eval(p.of+".prototype", loop.PreludeName)
		*p.to = uint32(v)
		b.call(jsFreeValue, b.im.context, uint64(v)) // the context keeps it
	}
	for _, c := range []struct{ source, text string }{
		{`({})`, `{}`},
		{`({z: 1, a: -2147483648, 'ü€': 'é€😀', q: '"\\\n', t: true, f: false, n: null, d: 1.5, l: [], m: [1, ['x', {}]], length: 1e300})`,
			`{"z":1,"a":-2147483648,"ü€":"é€😀","q":"\"\\\n","t":true,"f":false,"n":null,"d":1.5,"l":[],"m":[1,["x",{}]],"length":1e+300}`},
		{`Object.freeze({__proto__: null, a: 1})`, `{"a":1}`},
		{`({get a() { return 1; }})`, ``},
		{`({[Symbol.iterator]: 1})`, ``},
		{`Object.defineProperty({}, 'a', {value: 1})`, ``},
		{`({b: 1, 1: 2})`, ``},
		{`({a: undefined})`, ``},
		{`({a: -0})`, ``},
		{`({a: NaN})`, ``},
		{`({a: '\ud800'})`, ``},
		{`Object.create({})`, ``},
		{`new Proxy({}, {})`, ``},
		{`new Map`, ``},
		{`[1,,2]`, ``},
		{`Object.assign([1], {a: 1})`, ``},
		{`(() => { const a = [1]; a.length = 2; return a; })()`, ``},
		{`Object.setPrototypeOf([1], Object.prototype)`, ``},
		{`(function () { return arguments; })(1)`, ``},
	} {
		v := b.eval(c.source, loop.PreludeName)
		if b.err != nil {
			return
		}
		if text, ok := b.g.plain(v); ok != (c.text != "") || ok && text != c.text {
			b.fail(fmt.Errorf("QuickJS does not keep its values as expected: %s is read as %q", c.source, text))
		}
		b.call(jsFreeValue, b.im.context, uint64(v))
	}
}
