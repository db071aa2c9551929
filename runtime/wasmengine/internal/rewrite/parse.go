package rewrite

import (
	"bytes"
	"errors"
	"slices"
)

// The section numbers, in the order in which the sections stand in a module but for 12, which stands before 10.
const (
	secCustom    = 0
	secType      = 1
	secImport    = 2
	secFunction  = 3
	secTable     = 4
	secMemory    = 5
	secGlobal    = 6
	secExport    = 7
	secStart     = 8
	secElement   = 9
	secCode      = 10
	secData      = 11
	secDataCount = 12
)

// The kinds of imports and exports.
const (
	kindFunc   = 0
	kindTable  = 1
	kindMemory = 2
	kindGlobal = 3
)

var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

type funcType struct{ params, results []byte }

func (t funcType) equal(u funcType) bool {
	return bytes.Equal(t.params, u.params) && bytes.Equal(t.results, u.results)
}

type export struct {
	name  string
	kind  byte
	index uint32
}

type section struct {
	id   byte
	body []byte
	base int // offset of body in the module
}

// module is what the rewriter needs to know of a module. Byte slices are parts of the original.
type module struct {
	sections []section

	types       []funcType
	imports     map[string]uint32 // "module.name" of each imported function → its index
	importTypes []uint32          // type of each imported function
	funcs       []uint32          // type of each defined function
	globals     int               // imported and defined
	exports     []export
	bodies      []section // code of each defined function; base for messages
	data        []Segment

	hasTable  bool
	tableSize uint32
	table     []int64 // the function at each place; noElement: none
}

func parse(wasm []byte) (*module, error) {
	if len(wasm) < len(header) || !bytes.Equal(wasm[:len(header)], header) {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	m := &module{imports: map[string]uint32{}}
	r := &reader{b: wasm, p: len(header)}
	var seen [16]bool
	for r.more() {
		id := r.byte()
		size := r.u32()
		s := r.sub(size)
		if r.err != nil {
			break
		}
		if id > secDataCount {
			r.fail("unknown section %d", id)
			break
		}
		if id != secCustom && seen[id] {
			r.fail("section %d stands twice", id)
			break
		}
		seen[id] = true
		m.sections = append(m.sections, section{id, s.b, s.base})
		m.section(id, &s)
		if s.err != nil {
			return nil, s.err
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	if len(m.bodies) != len(m.funcs) {
		return nil, errors.New("declared functions and function bodies differ in number")
	}
	return m, nil
}

func (m *module) section(id byte, r *reader) {
	switch id {
	case secType:
		m.readTypes(r)
	case secImport:
		m.readImports(r)
	case secFunction:
		for n := r.count(); n > 0 && r.err == nil; n-- {
			m.funcs = append(m.funcs, m.typeIndex(r))
		}
	case secTable:
		m.readTable(r)
	case secElement:
		m.readElements(r)
	case secGlobal:
		m.globals += int(r.u32())
		return // the initialisers are copied unread
	case secExport:
		for n := r.count(); n > 0 && r.err == nil; n-- {
			m.exports = append(m.exports, export{r.name(), r.byte(), r.u32()})
		}
	case secCode:
		for n := r.count(); n > 0 && r.err == nil; n-- {
			f := r.sub(r.u32())
			m.bodies = append(m.bodies, section{secCode, f.b, f.base})
		}
	case secData:
		m.readData(r)
	default:
		return
	}
	if r.more() {
		r.fail("section %d is longer than its contents", id)
	}
}

func (m *module) readTypes(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		if r.byte() != 0x60 {
			r.fail("type %d is not a function's", len(m.types))
		}
		params := r.bytes(r.u32())
		m.types = append(m.types, funcType{params, r.bytes(r.u32())})
	}
}

func (m *module) typeIndex(r *reader) uint32 {
	t := r.u32()
	if r.err == nil && uint64(t) >= uint64(len(m.types)) {
		r.fail("no type %d", t)
	}
	return t
}

func (m *module) readImports(r *reader) {
	limits := func() {
		switch flags := r.byte(); flags {
		case 0:
			r.u32()
		case 1:
			r.u32()
			r.u32()
		default:
			r.fail("limits of kind %d are not supported", flags)
		}
	}
	for n := r.count(); n > 0 && r.err == nil; n-- {
		name := r.name() + "." + r.name()
		switch kind := r.byte(); kind {
		case kindFunc:
			if _, twice := m.imports[name]; !twice {
				m.imports[name] = uint32(len(m.importTypes))
			}
			m.importTypes = append(m.importTypes, m.typeIndex(r))
		case kindTable:
			r.fail("an imported table is not supported")
		case kindMemory:
			limits()
		case kindGlobal:
			r.byte()
			r.byte()
			m.globals++
		default:
			r.fail("import of unknown kind %d", kind)
		}
	}
}

// readData reads the data section. Only active segments of memory 0 at a constant offset are supported: the module's
// owner writes them before the first instruction runs.
func (m *module) readData(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		if flags := r.u32(); r.err == nil && flags != 0 {
			r.fail("data segment of kind %d is not supported", flags)
		}
		if r.byte() != opI32Const {
			r.fail("data segment without a constant offset is not supported")
		}
		offset := uint32(r.s32())
		if r.byte() != opEnd {
			r.fail("data segment without a constant offset is not supported")
		}
		m.data = append(m.data, Segment{offset, r.bytes(r.u32())})
	}
}

// export returns the index of the export of that name and kind.
func (m *module) export(name string, kind byte) (index uint32, ok bool) {
	i := slices.IndexFunc(m.exports, func(e export) bool { return e.name == name && e.kind == kind })
	if i < 0 {
		return 0, false
	}
	return m.exports[i].index, true
}

// funcType returns the type of a function by its index.
func (m *module) funcType(index uint32) (t funcType, ok bool) {
	if uint64(index) < uint64(len(m.importTypes)) {
		return m.types[m.importTypes[index]], true
	}
	if i := uint64(index) - uint64(len(m.importTypes)); i < uint64(len(m.funcs)) {
		return m.types[m.funcs[i]], true
	}
	return funcType{}, false
}
