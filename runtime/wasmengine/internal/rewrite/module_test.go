package rewrite

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// This file builds the module that the tests rewrite, by hand, and runs the result.

func sec(id byte, items ...[]byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(items)))
	for _, it := range items {
		body = append(body, it...)
	}
	return append(binary.AppendUvarint([]byte{id}, uint64(len(body))), body...)
}

func text(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

func fn(code ...byte) []byte {
	code = append(append([]byte{0}, code...), opEnd) // no locals
	return append(binary.AppendUvarint(nil, uint64(len(code))), code...)
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

const testPages = 10

// sample exports one function for each thing that the rewriter changes.
func sample() []byte {
	types := sec(secType,
		[]byte{0x60, 0, 1, typeI32},
		[]byte{0x60, 1, typeI32, 0},
		[]byte{0x60, 3, typeI32, typeI32, typeI32, 0},
		[]byte{0x60, 1, typeI32, 1, typeI32},
		[]byte{0x60, 2, typeI32, typeI32, 1, typeI32},
		[]byte{0x60, 2, typeF64, typeI64, 1, typeF64},
	)
	imports := sec(secImport, join(text("env"), text("interrupt"), []byte{kindFunc, 0}))
	funcs := sec(secFunction, []byte{1}, []byte{2}, []byte{2}, []byte{3}, []byte{4}, []byte{1}, []byte{5})
	memory := sec(secMemory, []byte{1, testPages, testPages + 2})
	names := []string{"spin", "copy", "fill", "grow", "alloc", "oom", "add"}
	exports := [][]byte{join(text("memory"), []byte{kindMemory, 0})}
	for i, n := range names {
		exports = append(exports, join(text(n), []byte{kindFunc, byte(i + 1)}))
	}
	code := sec(secCode,
		fn(opLoop, blockVoid, opLocalGet, 0, opI32Const, 1, opI32Sub, opLocalTee, 0, opBrIf, 0, opEnd),
		fn(opLocalGet, 0, opLocalGet, 1, opLocalGet, 2, opPrefix, subMemoryCopy, 0, 0),
		fn(opLocalGet, 0, opLocalGet, 1, opLocalGet, 2, opPrefix, subMemoryFill, 0),
		fn(opLocalGet, 0, opMemoryGrow, 0),
		// alloc(_, size): 8, or null for sizes above 50 and for 0.
		fn(opI32Const, 8, opI32Const, 0, opLocalGet, 1, opI32Const, 1, opI32Sub, opI32Const, 50, 0x49 /* lt_u */, 0x1b /* select */),
		fn(),
		fn(opLocalGet, 0, opLocalGet, 1, 0xb9 /* f64.convert_i64_s */, 0xa0 /* f64.add */),
	)
	data := sec(secData,
		join([]byte{0, opI32Const, 16, opEnd}, text("hello")),
		join([]byte{0, opI32Const, 0xc0, 0, opEnd}, text("world")))
	return join(header, types, imports, funcs, memory, sec(secExport, exports...), code, data)
}

func sampleOptions() Options {
	return Options{
		Interrupt: "env.interrupt",
		Interval:  testInterval,
		NonNull:   []string{"alloc"},
		NoReturn:  []string{"oom"},
		Entry:     []string{"spin", "copy", "fill", "grow", "alloc", "oom", "add"},
		Keep:      []string{"memory"},
	}
}

const testInterval = 2000

// machine is an instance of a rewritten module.
type machine struct {
	t          testing.TB
	mod        api.Module
	enter      api.Function
	interrupts int64
	stop       bool
}

func run(t testing.TB, wasm []byte, o Options) *machine {
	t.Helper()
	r, err := Module(wasm, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	t.Cleanup(func() { rt.Close(ctx) })
	m := &machine{t: t}
	_, err = rt.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(func() uint32 {
		m.interrupts++
		if m.stop {
			return 1
		}
		return 0
	}).Export("interrupt").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if m.mod, err = rt.Instantiate(ctx, r.Module); err != nil {
		t.Fatal(err)
	}
	m.enter = m.mod.ExportedFunction(ExportEnter)
	return m
}

func (m *machine) call(name string, args ...uint64) (uint64, error) {
	m.t.Helper()
	stack := make([]uint64, 1+MaxParams)
	for i, n := range sampleOptions().Entry {
		if n == name {
			stack[0] = uint64(i)
		}
	}
	copy(stack[1:], args)
	err := m.enter.CallWithStack(context.Background(), stack)
	return stack[0], err
}

func (m *machine) must(name string, args ...uint64) uint64 {
	m.t.Helper()
	r, err := m.call(name, args...)
	if err != nil {
		m.t.Fatalf("%s%v: %v", name, args, err)
	}
	return r
}

// steps is the fuel used so far.
func (m *machine) steps() int64 {
	left := int32(m.mod.ExportedGlobal(ExportFuel).Get())
	return m.interrupts*testInterval + testInterval - int64(left)
}

func (m *machine) reason() uint64 { return m.mod.ExportedGlobal(ExportReason).Get() }
