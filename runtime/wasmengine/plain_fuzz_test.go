package wasmengine

// This file fuzzes the reader of plain values: whatever a guest has made of its memory, the host writes JSON that its codec
// takes, or leaves the value alone.

import (
	"encoding/binary"
	"testing"

	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// plainValues are what is there before it is forged, and its JSON.
var plainValues = []struct{ source, text string }{
	{`({a: 1, b: 'text', c: [true, null, {d: 0.5}]})`, `{"a":1,"b":"text","c":[true,null,{"d":0.5}]}`},
	{`[1, 'é€😀', [[]], {}]`, `[1,"é€😀",[[]],{}]`},
	{`({__proto__: null, 'wide €': {x: [1, 2, 3], y: 'z'.repeat(200)}})`, ``},
	{`({a: {b: {c: {d: {e: {f: [1]}}}}}})`, `{"a":{"b":{"c":{"d":{"e":{"f":[1]}}}}}}`},
	{`(() => { const o = {}; for (let i = 0; i < 20; i++) o['k' + i] = [i, String(i)]; return o })()`, ``},
}

// forgery changes words of a guest's memory: edits are triples of a place, a distance from it in bytes, and four bytes of a
// word. The places are what plain reads, found as it finds them.
func forgery(m guestMemory, v value, atoms uint32, edits []byte) {
	at := func(p uint32) uint32 { w, _ := m.u32(p); return w }
	object := uint32(v)
	shape, slots, items := at(object+objectShape), at(object+objectSlots), at(object+objectItems)
	names := shape + shapeSize + 4*(at(shape+shapeMask)+1)
	inner := at(slots) // of an object's first slot, or an array's
	if items != 0 {
		inner = at(items)
	}
	places := []uint32{
		object, shape, slots, items, names, inner, at(inner + objectShape), at(inner + objectSlots),
		atoms + 4*at(names+4), at(atoms + 4*at(names+4)), m.Size() - 64, 0,
	}
	for ; len(edits) >= 6; edits = edits[6:] {
		p := places[int(edits[0])%len(places)] + uint32(int8(edits[1]))
		word := binary.LittleEndian.Uint32(edits[2:])
		switch edits[0] >> 6 { // pointers that lead somewhere
		case 1:
			word = places[word%uint32(len(places))] + word>>24
		case 2:
			word = m.Size() - word>>24
		}
		_ = m.putU32(p, word) // outside of the memory there is nothing to forge
	}
}

// FuzzPlain proves HOSTILE-1 and VALUE-1 for the reader of plain values.
func FuzzPlain(f *testing.F) {
	edit := func(place, distance byte, word uint32) []byte {
		return binary.LittleEndian.AppendUint32([]byte{place, distance}, word)
	}
	for which := range plainValues {
		f.Add(uint8(which), []byte{})
		for place := range byte(12) {
			for _, word := range []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff8, 1 << 16} {
				f.Add(uint8(which), edit(place, 0, word))
			}
			f.Add(uint8(which), edit(place|1<<6, 0, uint32(place)))
			f.Add(uint8(which), edit(place|2<<6, 4, 8<<24))
		}
		for _, field := range []byte{objectFlags, objectShape, objectSlots, objectItems, objectItems + 4} {
			f.Add(uint8(which), edit(0, field, 0xffffffff))
			f.Add(uint8(which), edit(0|1<<6, field, 0))
		}
		for _, field := range []byte{shapeMask, shapeCount, shapeDeleted, shapeProto} {
			f.Add(uint8(which), edit(1, field, 0xffffffff))
			f.Add(uint8(which), edit(1, field, 64))
		}
		f.Add(uint8(which), append(edit(3|1<<6, 0, 0), edit(3, 4, 0xffffffff)...)) // an array that holds itself
	}
	e := newEngine(f, Options{})
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		c := plainValues[int(which)%len(plainValues)]
		g, err := e.module.instance(t.Context(), e.image, e.image.source, e.memory, bootHost{})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		b := boot{g: g, im: e.image}
		v := b.eval(c.source, loop.FileName)
		if b.err != nil {
			t.Fatal(b.err)
		}
		if text, ok := g.plain(v); c.text != "" && (!ok || text != c.text) {
			t.Fatalf("VALUE-1 %s is read as %q, %v", c.source, text, ok)
		}
		atoms, err := g.mem.u32(uint32(e.image.runtime) + runtimeAtoms)
		if err != nil {
			t.Fatal(err)
		}
		forgery(g.mem, v, atoms, edits)
		before, _ := g.mem.text(0, g.mem.Size())
		text, ok := g.plain(v)
		if after, _ := g.mem.text(0, g.mem.Size()); after != before {
			t.Fatal("HOSTILE-1 reading has changed the memory")
		}
		if max := plainSlots*40 + plainText*6; len(text) > max {
			t.Fatalf("HOSTILE-1 %d bytes were written, more than %d", len(text), max)
		}
		if !ok {
			return
		}
		parsed, err := jsonval.ParseString(text)
		switch {
		case err != nil:
			t.Fatalf("VALUE-1 %q was written, which is no JSON: %v", text, err)
		case parsed.String() != text && len(parsed.String()) >= len(text): // the codec takes the last of two members of one name
			t.Fatalf("VALUE-1 %q was written, which reads as %v", text, parsed)
		}
	})
}
