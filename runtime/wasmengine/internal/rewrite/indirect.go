package rewrite

// This file does away with the table of functions. Filling it takes most of an instantiation: for each of its elements
// wazero allocates three objects. Since nothing changes the table, each call through it becomes a call of an added function,
// one for each type, that branches to a direct call of what stands at the index.

import (
	"encoding/binary"
	"slices"
)

// noElement is an empty place of the table.
const noElement = -1

// readTable reads the table section. Any number of tables other than one, and what is not of functions, is refused.
func (m *module) readTable(r *reader) {
	switch n := r.count(); {
	case n == 0 || r.err != nil:
		return
	case n > 1:
		r.fail("%d tables are not supported", n)
	case r.byte() != typeFuncref:
		r.fail("a table of anything but functions is not supported")
	}
	m.hasTable = true
	switch flags := r.byte(); flags {
	case 0:
		m.tableSize = r.u32()
	case 1:
		m.tableSize = r.u32()
		r.u32()
	default:
		r.fail("limits of kind %d are not supported", flags)
	}
}

// readElements fills the table. Only active segments of functions' numbers at a constant offset are supported.
func (m *module) readElements(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		if flags := r.u32(); r.err == nil && flags != 0 {
			r.fail("element segment of kind %d is not supported", flags)
		}
		if r.byte() != opI32Const {
			r.fail("element segment without a constant offset is not supported")
		}
		offset := uint32(r.s32())
		if r.byte() != opEnd {
			r.fail("element segment without a constant offset is not supported")
		}
		count := r.count()
		end := uint64(offset) + uint64(count)
		if r.err == nil && (end > uint64(m.tableSize) || end > maxElements) {
			r.fail("element segment beyond the table")
			return
		}
		for uint64(len(m.table)) < end && r.err == nil {
			m.table = append(m.table, noElement)
		}
		for i := range count {
			f := r.u32()
			if r.err != nil {
				return
			}
			m.table[int(offset)+i] = int64(f)
		}
	}
}

// maxElements bounds the memory that a forged offset can have allocated.
const maxElements = 1 << 16

// indirect returns the function that stands for call_indirect with a type: it takes the parameters and then the index.
func (w *writer) indirect(typeIndex uint32) uint32 {
	if f, ok := w.dispatchers[typeIndex]; ok {
		return f
	}
	t := w.types[typeIndex]
	index := uint32(len(t.params))

	// The functions of that type, and where they stand.
	var targets []uint32
	first, last := 0, -1
	for i, f := range w.table {
		ft, ok := w.funcType(uint32(f))
		if f == noElement || !ok || !ft.equal(t) {
			continue
		}
		if last < 0 {
			first = i
		}
		last = i
		if !slices.Contains(targets, uint32(f)) {
			targets = append(targets, uint32(f))
		}
	}

	// One block for each function inside of the next one's, as in addEnter; whatever is no function of the type leads out of
	// all of them.
	b := []byte{0}
	for range len(targets) + 1 {
		b = append(b, opBlock, blockVoid)
	}
	b = binary.AppendUvarint(append(b, opLocalGet), uint64(index))
	b = append(i32Const(b, int32(first)), opI32Sub, opBrTable)
	b = binary.AppendUvarint(b, uint64(last-first+1))
	for i := first; i <= last; i++ {
		to := slices.Index(targets, uint32(w.table[i]))
		if to < 0 || w.table[i] == noElement {
			to = len(targets)
		}
		b = binary.AppendUvarint(b, uint64(to))
	}
	b = append(binary.AppendUvarint(b, uint64(len(targets))), opEnd)
	for _, f := range targets {
		for p := range t.params {
			b = binary.AppendUvarint(append(b, opLocalGet), uint64(p))
		}
		b = append(call(b, f), opReturn, opEnd)
	}
	b = append(b, opUnreachable, opEnd)

	f := w.addFunc(funcType{append(slices.Clip(t.params), typeI32), t.results}, b)
	w.dispatchers[typeIndex] = f
	return f
}
