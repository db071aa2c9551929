package rewrite

// This file writes the added functions that take fuel and that watch allocations.

import (
	"encoding/binary"
	"fmt"
)

const (
	// pieceBytes is the most that one memory.copy or memory.fill moves before the fuel is looked at again.
	pieceBytes = 64 << 10
	// unitShift: one unit of fuel for every 64 bytes moved.
	unitShift  = 6
	pieceUnits = pieceBytes >> unitShift
)

func call(out []byte, f uint32) []byte {
	return binary.AppendUvarint(append(out, opCall), uint64(f))
}

func i32Const(out []byte, v int32) []byte {
	out = append(out, opI32Const)
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(out, c)
		}
		out = append(out, c|0x80)
	}
}

func globalGet(out []byte, g uint32) []byte {
	return binary.AppendUvarint(append(out, opGlobalGet), uint64(g))
}

func globalSet(out []byte, g uint32) []byte {
	return binary.AppendUvarint(append(out, opGlobalSet), uint64(g))
}

// check appends what stands at each loop header: one unit of fuel less, and the tick when none is left.
func (w *writer) check(out []byte) []byte {
	out = globalGet(out, w.fuel)
	out = append(i32Const(out, 1), opI32Sub)
	out = globalSet(out, w.fuel)
	return w.tickIfEmpty(out)
}

func (w *writer) tickIfEmpty(out []byte) []byte {
	out = globalGet(out, w.fuel)
	out = append(i32Const(out, 0), opI32LtS, opIf, blockVoid)
	out = call(out, w.tick)
	return append(out, opEnd)
}

// charge appends code that takes one unit for every 64 bytes of the size in a local.
func (w *writer) charge(out []byte, local byte) []byte {
	out = globalGet(out, w.fuel)
	out = append(out, opLocalGet, local)
	out = append(i32Const(out, unitShift), opI32ShrU, opI32Sub)
	out = globalSet(out, w.fuel)
	return w.tickIfEmpty(out)
}

// trap appends the end of the run for want of memory.
func (w *writer) trap(out []byte) []byte {
	out = i32Const(out, ReasonMemory)
	out = globalSet(out, w.reasonGlobal)
	return append(out, opUnreachable)
}

// addMeters adds the functions that the changed code calls.
func (w *writer) addMeters() {
	i32x3 := funcType{params: []byte{typeI32, typeI32, typeI32}}

	// tick: ask the host, then fill up. What a bulk instruction took too much stays owed.
	b := call([]byte{0}, w.interrupt)
	b = append(b, opIf, blockVoid, opUnreachable, opEnd)
	b = append(i32Const(globalGet(b, w.fuel), w.opts.Interval), opI32Add)
	b = append(globalSet(b, w.fuel), opEnd)
	w.tick = w.addFunc(funcType{}, b)

	w.cpy = w.addFunc(i32x3, w.copyBody())
	w.fill = w.addFunc(i32x3, w.fillBody())

	// grow(pages) → old size; a failure is the end, even where the caller would have coped: what it does next may well
	// write through the null.
	b = []byte{1, 1, typeI32, opLocalGet, 0, opMemoryGrow, 0, opLocalTee, 1}
	b = append(i32Const(b, -1), opI32Eq, opIf, blockVoid)
	b = append(w.trap(b), opEnd, opLocalGet, 1, opEnd)
	w.grow = w.addFunc(funcType{params: []byte{typeI32}, results: []byte{typeI32}}, b)
}

// copyBody is memory.copy(to 0, from 1, n 2) in pieces. Pieces go upwards when the target lies below the source and
// downwards when it lies above, so that overlapping ranges come out as if copied at once. (A range that leaves the
// memory traps at the piece that does, not before the first: the trap ends the run, so nobody can see the difference.)
func (w *writer) copyBody() []byte {
	const to, from, n = 0, 1, 2
	memcopy := []byte{opPrefix, subMemoryCopy, 0, 0}

	b := []byte{0}
	// Most copies fit in one piece.
	b = append(b, opLocalGet, n)
	b = append(i32Const(b, pieceBytes), opI32LeU, opIf, blockVoid)
	b = w.charge(b, n)
	b = append(b, opLocalGet, to, opLocalGet, from, opLocalGet, n)
	b = append(b, memcopy...)
	b = append(b, opReturn, opEnd)

	// Upwards.
	b = append(b, opLocalGet, to, opLocalGet, from, opI32LeU, opIf, blockVoid)
	b = append(b, opLoop, blockVoid)
	b = w.chargePiece(b)
	b = append(b, opLocalGet, to, opLocalGet, from)
	b = append(i32Const(b, pieceBytes), memcopy...)
	b = addLocal(b, to, pieceBytes)
	b = addLocal(b, from, pieceBytes)
	b = addLocal(b, n, -pieceBytes)
	b = append(b, opLocalGet, n)
	b = append(i32Const(b, pieceBytes), opI32GtU, opBrIf, 0, opEnd)
	// The rest, at most one piece.
	b = w.charge(b, n)
	b = append(b, opLocalGet, to, opLocalGet, from, opLocalGet, n)
	b = append(b, memcopy...)
	b = append(b, opReturn, opEnd)

	// Downwards: n falls, and is the offset of the piece.
	b = append(b, opLoop, blockVoid)
	b = w.chargePiece(b)
	b = addLocal(b, n, -pieceBytes)
	b = append(b, opLocalGet, to, opLocalGet, n, opI32Add, opLocalGet, from, opLocalGet, n, opI32Add)
	b = append(i32Const(b, pieceBytes), memcopy...)
	b = append(b, opLocalGet, n)
	b = append(i32Const(b, pieceBytes), opI32GtU, opBrIf, 0, opEnd)
	b = w.charge(b, n)
	b = append(b, opLocalGet, to, opLocalGet, from, opLocalGet, n)
	b = append(b, memcopy...)
	return append(b, opEnd)
}

// fillBody is memory.fill(to 0, value 1, n 2) in pieces.
func (w *writer) fillBody() []byte {
	const to, value, n = 0, 1, 2
	b := []byte{0}
	b = append(b, opLocalGet, n)
	b = append(i32Const(b, pieceBytes), opI32GtU, opIf, blockVoid)
	b = append(b, opLoop, blockVoid)
	b = w.chargePiece(b)
	b = append(b, opLocalGet, to, opLocalGet, value)
	b = append(i32Const(b, pieceBytes), opPrefix, subMemoryFill, 0)
	b = addLocal(b, to, pieceBytes)
	b = addLocal(b, n, -pieceBytes)
	b = append(b, opLocalGet, n)
	b = append(i32Const(b, pieceBytes), opI32GtU, opBrIf, 0, opEnd)
	b = append(b, opEnd)
	b = w.charge(b, n)
	b = append(b, opLocalGet, to, opLocalGet, value, opLocalGet, n, opPrefix, subMemoryFill, 0)
	return append(b, opEnd)
}

func (w *writer) chargePiece(out []byte) []byte {
	out = globalGet(out, w.fuel)
	out = append(i32Const(out, pieceUnits), opI32Sub)
	out = globalSet(out, w.fuel)
	return w.tickIfEmpty(out)
}

func addLocal(out []byte, local byte, v int32) []byte {
	out = append(out, opLocalGet, local)
	out = append(i32Const(out, v), opI32Add)
	return append(out, opLocalSet, local)
}

// wrapAllocators moves the body of each watched function behind the others and puts a wrapper in its place, so that
// every caller, table entries included, goes through it.
func (w *writer) wrapAllocators(bodies [][]byte) error {
	wrap := func(name string, body func(t funcType, index int) ([]byte, error)) error {
		f, ok := w.export(name, kindFunc)
		t, known := w.funcType(f)
		i := int(f) - len(w.importTypes)
		if !ok || !known || i < 0 {
			return fmt.Errorf("no exported function %q of the module's own", name)
		}
		b, err := body(t, i)
		if err != nil {
			return err
		}
		bodies[i] = b
		return nil
	}
	for _, name := range w.opts.NonNull {
		err := wrap(name, func(t funcType, i int) ([]byte, error) {
			last := len(t.params) - 1
			if last < 0 || last > 0x7f || t.params[last] != typeI32 || len(t.results) != 1 || t.results[0] != typeI32 {
				return nil, fmt.Errorf("%q is not of type (…, i32) → i32", name)
			}
			inner := w.addFunc(t, bodies[i])
			b := []byte{1, 1, typeI32}
			for p := range t.params {
				b = append(b, opLocalGet, byte(p))
			}
			result := byte(len(t.params))
			b = append(call(b, inner), opLocalTee, result, opI32Eqz, opIf, blockVoid)
			b = append(b, opLocalGet, byte(last), opIf, blockVoid)
			b = append(w.trap(b), opEnd, opEnd)
			return append(b, opLocalGet, result, opEnd), nil
		})
		if err != nil {
			return err
		}
	}
	for _, name := range w.opts.NoReturn {
		err := wrap(name, func(funcType, int) ([]byte, error) { return append(w.trap([]byte{0}), opEnd), nil })
		if err != nil {
			return err
		}
	}
	return nil
}
