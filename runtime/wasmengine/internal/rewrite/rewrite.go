package rewrite

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Options say what [Module] adds to a module.
type Options struct {
	// Interrupt is the imported function, "module.name" of type () → i32, that is called each time Interval units of
	// fuel are used up. If it returns non-zero, the module traps.
	Interrupt string
	Interval  int32

	// NonNull are exported functions that return a pointer (their only result, an i32) for a size in bytes, their last
	// parameter. When one of them returns null for a size that is not 0, the module traps and [ExportReason] is
	// [ReasonMemory].
	NonNull []string
	// NoReturn are exported functions at whose entry the module traps with [ReasonMemory].
	NoReturn []string

	// Entry are exported functions to reach through [ExportEnter], in the order of their numbers. Their parameters and
	// results may be of i32, i64 and f64.
	Entry []string

	// Keep are the exports of the result, besides those that the rewriter adds.
	Keep []string
}

// The exports that [Module] adds.
const (
	// ExportFuel is a mutable global of type i32: what is left of the interval, at first all of it.
	ExportFuel = "fuel"
	// ExportReason is a mutable global of type i32: after a trap, why the added code trapped; 0 if it did not.
	ExportReason = "trap_reason"
	// ExportEnter is the function (number i32, up to MaxParams of i64) → i64 that calls the Options.Entry function of
	// that number. An i32 travels in the low half, an f64 as its bits; the result of a function without one is 0.
	ExportEnter = "enter"

	// MaxParams is the number of parameters that an entry function can have.
	MaxParams = 5

	// ReasonMemory is the trap of an allocation that failed.
	ReasonMemory = 1
)

// Segment is one piece of the original data section.
type Segment struct {
	Offset uint32
	Bytes  []byte
}

// Result is a rewritten module.
type Result struct {
	Module []byte
	// Data are the segments that Module no longer has. They must be in memory before the first instruction runs. The
	// bytes belong to the original.
	Data []Segment
	// What was found in the code. Covered are the loops whose turns are counted by a loop inside of them.
	Loops, Covered, Copies, Fills, Grows, Indirect int
}

// writer is one rewriting at work.
type writer struct {
	*module
	opts Options
	res  Result

	nfuncs   uint32     // functions so far, the added ones included
	newTypes []funcType // appended to the type section
	newFuncs []uint32   // types of the added functions
	newCode  [][]byte   // their bodies

	dispatchers map[uint32]uint32 // type → the function that calls through the table: see indirect.go

	interrupt          uint32 // functions
	tick, cpy, fill    uint32
	grow               uint32
	fuel, reasonGlobal uint32 // globals
}

// Module returns the module wasm changed as Options say. It does not modify wasm.
func Module(wasm []byte, o Options) (*Result, error) {
	m, err := parse(wasm)
	if err != nil {
		return nil, fmt.Errorf("rewrite module: %w", err)
	}
	w := &writer{module: m, opts: o, nfuncs: uint32(len(m.importTypes) + len(m.funcs)), dispatchers: map[uint32]uint32{}}
	if err := w.rewrite(len(wasm)); err != nil {
		return nil, fmt.Errorf("rewrite module: %w", err)
	}
	return &w.res, nil
}

func (w *writer) rewrite(size int) error {
	var ok bool
	if w.interrupt, ok = w.imports[w.opts.Interrupt]; !ok {
		return fmt.Errorf("no imported function %q", w.opts.Interrupt)
	}
	if t, _ := w.funcType(w.interrupt); !t.equal(funcType{results: []byte{typeI32}}) {
		return fmt.Errorf("%q is not of type () → i32", w.opts.Interrupt)
	}
	if w.opts.Interval <= pieceUnits {
		return fmt.Errorf("interval of %d units: more than %d expected", w.opts.Interval, pieceUnits)
	}
	w.fuel, w.reasonGlobal = uint32(w.globals), uint32(w.globals)+1
	w.res.Data = w.data

	// The numbers of the added functions are needed while the code is copied.
	w.addMeters()
	exports, err := w.keptExports()
	if err != nil {
		return err
	}
	enter, err := w.addEnter()
	if err != nil {
		return err
	}
	exports = append(exports,
		export{ExportEnter, kindFunc, enter},
		export{ExportFuel, kindGlobal, w.fuel},
		export{ExportReason, kindGlobal, w.reasonGlobal})

	code, err := w.code(size)
	if err != nil {
		return err
	}
	w.emit(exports, code, size)
	return nil
}

// addFunc adds a function and returns its index.
func (w *writer) addFunc(t funcType, body []byte) uint32 {
	w.newFuncs = append(w.newFuncs, w.addType(t))
	w.newCode = append(w.newCode, body)
	w.nfuncs++
	return w.nfuncs - 1
}

func (w *writer) addType(t funcType) uint32 {
	if i := slices.IndexFunc(w.types, t.equal); i >= 0 {
		return uint32(i)
	}
	if i := slices.IndexFunc(w.newTypes, t.equal); i >= 0 {
		return uint32(len(w.types) + i)
	}
	w.newTypes = append(w.newTypes, t)
	return uint32(len(w.types) + len(w.newTypes) - 1)
}

func (w *writer) keptExports() ([]export, error) {
	var kept []export
	for _, name := range w.opts.Keep {
		i := slices.IndexFunc(w.exports, func(e export) bool { return e.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no export %q", name)
		}
		kept = append(kept, w.exports[i])
	}
	return kept, nil
}

// code returns the bodies of all functions of the module, old and added.
func (w *writer) code(size int) ([][]byte, error) {
	bodies := make([][]byte, 0, len(w.bodies)+len(w.newCode)+len(w.opts.NonNull))
	buf := make([]byte, 0, size+size/8) // one allocation; the bodies are parts of it
	for _, f := range w.bodies {
		start := len(buf)
		var err error
		if buf, err = w.body(buf, f); err != nil {
			return nil, err
		}
		bodies = append(bodies, buf[start:len(buf):len(buf)])
	}
	if err := w.wrapAllocators(bodies); err != nil {
		return nil, err
	}
	return append(bodies, w.newCode...), nil
}

// body appends the code of one function to out, with what Options ask for put in.
func (w *writer) body(out []byte, f section) ([]byte, error) {
	r := &reader{b: f.body, base: f.base}
	for n := r.count(); n > 0 && r.err == nil; n-- { // locals: how many of which type
		r.u32()
		r.byte()
	}
	copied := 0 // everything before it has been written to out
	var op byte
	for r.more() {
		at := r.p
		var sub uint32
		op, sub = r.instr()
		switch {
		case op == opLoop:
			w.res.Loops++
			if covered(*r) {
				w.res.Covered++
				break
			}
			out = append(out, f.body[copied:r.p]...)
			copied = r.p
			out = w.check(out)
		case op == opCallIndirect:
			w.res.Indirect++
			out = append(out, f.body[copied:at]...)
			copied = r.p
			operands := &reader{b: f.body[:r.p], p: at + 1, base: f.base}
			t := w.typeIndex(operands)
			if table := operands.u32(); operands.err == nil && (table != 0 || !w.hasTable) {
				operands.fail("no table %d", table)
			}
			if operands.err != nil {
				return nil, operands.err
			}
			out = call(out, w.indirect(t))
		case op == opTableGet, op == opTableSet, op == opRefFunc, op == opPrefix && sub >= subTableInit:
			r.fail("instruction 0x%02x %d is not supported: the table is taken out", op, sub)
		case op == opMemoryGrow:
			w.res.Grows++
			out = append(out, f.body[copied:at]...)
			copied = r.p
			out = call(out, w.grow)
		case op == opPrefix && sub == subMemoryCopy:
			w.res.Copies++
			out = append(out, f.body[copied:at]...)
			copied = r.p
			out = call(out, w.cpy)
		case op == opPrefix && sub == subMemoryFill:
			w.res.Fills++
			out = append(out, f.body[copied:at]...)
			copied = r.p
			out = call(out, w.fill)
		case op == opPrefix && (sub == subMemoryInit || sub == subDataDrop):
			r.fail("memory.init and data.drop are not supported: the data section is taken out")
		}
	}
	if r.err == nil && op != opEnd {
		r.fail("function does not end")
	}
	return append(out, f.body[copied:]...), r.err
}

// covered reports whether every turn of the loop whose header r stands behind comes to the header of another loop in it: then
// that one's check is enough. It is so when no branch lies between the two and the second is not inside of an if. (The
// interpreter's dispatch loop is of this kind; a check for each instruction is felt, two even more.)
func covered(r reader) bool {
	var opened []byte // block or if, since the header
	ifs := 0
	for r.more() {
		switch op, _ := r.instr(); op {
		case opLoop:
			return r.err == nil && ifs == 0
		case opBlock:
			opened = append(opened, op)
		case opIf:
			opened = append(opened, op)
			ifs++
		case opEnd:
			last := len(opened) - 1
			if last < 0 {
				return false
			}
			if opened[last] == opIf {
				ifs--
			}
			opened = opened[:last]
		case opBr, opBrIf, opBrTable:
			return false
		}
	}
	return false
}

// emit puts the sections together.
func (w *writer) emit(exports []export, code [][]byte, size int) {
	out := make([]byte, 0, size+size/8)
	out = append(out, header...)
	sections := map[byte][]byte{secExport: exportSection(exports), secCode: codeSection(code, size)}
	empty := []byte{0}
	old := map[byte][]byte{secType: empty, secFunction: empty, secGlobal: empty}
	for _, s := range w.sections {
		switch s.id {
		case secType, secFunction, secGlobal:
			old[s.id] = s.body
		case secCustom, secTable, secElement, secData, secDataCount, secExport, secCode:
		default:
			sections[s.id] = s.body
		}
	}
	sections[secType] = vector(old[secType], len(w.newTypes), w.typeBytes())
	sections[secFunction] = vector(old[secFunction], len(w.newFuncs), w.functionBytes())
	sections[secGlobal] = vector(old[secGlobal], 2, w.globalBytes())
	for id := byte(secType); id <= secCode; id++ {
		body, ok := sections[id]
		if !ok {
			continue
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	w.res.Module = out
}

// vector returns a vector with added elements behind its own.
func vector(old []byte, n int, added []byte) []byte {
	r := &reader{b: old}
	count := r.u32()
	out := binary.AppendUvarint(make([]byte, 0, len(old)+len(added)+4), uint64(count)+uint64(n))
	out = append(out, old[r.p:]...)
	return append(out, added...)
}

func (w *writer) typeBytes() (out []byte) {
	for _, t := range w.newTypes {
		out = append(out, 0x60)
		out = append(binary.AppendUvarint(out, uint64(len(t.params))), t.params...)
		out = append(binary.AppendUvarint(out, uint64(len(t.results))), t.results...)
	}
	return out
}

func (w *writer) functionBytes() (out []byte) {
	for _, t := range w.newFuncs {
		out = binary.AppendUvarint(out, uint64(t))
	}
	return out
}

// globalBytes are the added globals: the fuel, and the reason of a trap.
func (w *writer) globalBytes() []byte {
	out := []byte{typeI32, 1}
	out = append(i32Const(out, w.opts.Interval), opEnd)
	out = append(out, typeI32, 1)
	return append(i32Const(out, 0), opEnd)
}

func exportSection(exports []export) []byte {
	out := binary.AppendUvarint(nil, uint64(len(exports)))
	for _, e := range exports {
		out = append(binary.AppendUvarint(out, uint64(len(e.name))), e.name...)
		out = append(out, e.kind)
		out = binary.AppendUvarint(out, uint64(e.index))
	}
	return out
}

func codeSection(code [][]byte, size int) []byte {
	out := binary.AppendUvarint(make([]byte, 0, size+size/8), uint64(len(code)))
	for _, body := range code {
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out
}
