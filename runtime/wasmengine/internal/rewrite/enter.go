package rewrite

import (
	"encoding/binary"
	"fmt"
)

// addEnter adds the function behind [ExportEnter]: one block for each entry inside of the next one's, and a table of
// branches in the innermost that leaves as many of them as the number says.
func (w *writer) addEnter() (uint32, error) {
	t := funcType{params: []byte{typeI32}, results: []byte{typeI64}}
	for range MaxParams {
		t.params = append(t.params, typeI64)
	}
	n := len(w.opts.Entry)
	b := []byte{0}
	for range n + 1 {
		b = append(b, opBlock, blockVoid)
	}
	b = append(b, opLocalGet, 0, opBrTable)
	b = binary.AppendUvarint(b, uint64(n))
	for i := range n + 1 {
		b = binary.AppendUvarint(b, uint64(i)) // the last is the default: no such entry
	}
	b = append(b, opEnd)
	for _, name := range w.opts.Entry {
		f, ok := w.export(name, kindFunc)
		ft, known := w.funcType(f)
		if !ok || !known {
			return 0, fmt.Errorf("no exported function %q", name)
		}
		var err error
		if b, err = enterOne(b, name, f, ft); err != nil {
			return 0, err
		}
		b = append(b, opReturn, opEnd)
	}
	b = append(b, opUnreachable, opEnd)
	return w.addFunc(t, b), nil
}

// enterOne appends the call of one entry function with its parameters converted from i64 and its result to it.
func enterOne(b []byte, name string, f uint32, t funcType) ([]byte, error) {
	if len(t.params) > MaxParams || len(t.results) > 1 {
		return nil, fmt.Errorf("%q has more than %d parameters or 1 result", name, MaxParams)
	}
	for i, p := range t.params {
		b = append(b, opLocalGet, byte(1+i))
		switch p {
		case typeI32:
			b = append(b, opI32WrapI64)
		case typeI64:
		case typeF64:
			b = append(b, opF64ReintI64)
		default:
			return nil, fmt.Errorf("%q has a parameter of type 0x%02x", name, p)
		}
	}
	b = call(b, f)
	if len(t.results) == 0 {
		return append(b, opI64Const, 0), nil
	}
	switch r := t.results[0]; r {
	case typeI32:
		b = append(b, opI64ExtendU)
	case typeI64:
	case typeF64:
		b = append(b, opI64ReintF64)
	default:
		return nil, fmt.Errorf("%q has a result of type 0x%02x", name, r)
	}
	return b, nil
}
