package rewrite

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// The functions of sample by their numbers, and the numbers of two types.
const (
	fnCopy, fnFill, fnGrow      = 2, 3, 4
	typeSpin, typeThree, typeII = 1, 2, 3
)

// withTable is sample with a table and a first body that passes (0, 65, 8) and its parameter as the index.
func withTable(table, elements []byte, code ...byte) []byte {
	s := withCode(fn(code...))
	m, err := parse(s)
	if err != nil {
		panic(err)
	}
	start := func(id byte) int { // of the section: its bodies are short or long, the number before them is not
		b := m.sections[slices.IndexFunc(m.sections, func(s section) bool { return s.id == id })]
		at := b.base - 2
		if len(b.body) > 127 {
			at--
		}
		return at
	}
	memory, code0 := start(secMemory), start(secCode)
	return join(s[:memory], table, s[memory:code0], elements, s[code0:])
}

var (
	indirectThree = []byte{opI32Const, 0, opI32Const, 0xc1, 0, opI32Const, 8, opLocalGet, 0, opCallIndirect, typeThree, 0}
	sampleTable   = sec(secTable, []byte{typeFuncref, 1, 6, 6})
)

func segment(offset byte, functions ...byte) []byte {
	return join([]byte{0, opI32Const, offset, opEnd, byte(len(functions))}, functions)
}

func TestIndirect(t *testing.T) {
	wasm := withTable(sampleTable, sec(secElement, segment(1, fnGrow, fnFill, fnGrow), segment(3, fnCopy, fnFill)), indirectThree...)
	r, err := Module(wasm, sampleOptions())
	if err != nil {
		t.Fatal(err)
	}
	if r.Indirect != 1 {
		t.Errorf("%d calls through the table", r.Indirect)
	}
	if m, err := parse(r.Module); err != nil || m.hasTable || slices.ContainsFunc(m.sections, func(s section) bool { return s.id == secElement }) {
		t.Errorf("the table is still there (%v)", err)
	}
	filled, copied := bytes.Repeat([]byte{65}, 8), []byte("ABCDEFGH")
	for index, want := range map[uint64][]byte{
		0: nil, 1: nil, // nothing there; a function of another type
		2: filled, 3: copied, 4: filled, // 3 is written twice
		5: nil, 6: nil, 1 << 31: nil, 1<<32 - 1: nil, // nothing there, and beyond the table
	} {
		m := run(t, wasm, sampleOptions())
		m.mod.Memory().WriteString(65, string(copied))
		_, err := m.call("spin", index)
		got, _ := m.mod.Memory().Read(0, 8)
		switch {
		case want == nil && (err == nil || !strings.Contains(err.Error(), "unreachable")):
			t.Errorf("place %d: error %v, want a trap", index, err)
		case want != nil && (err != nil || !bytes.Equal(got, want)):
			t.Errorf("place %d: %q, %v, want %q", index, got, err, want)
		}
	}
}

func TestIndirectRefused(t *testing.T) {
	elements := sec(secElement, segment(1, fnGrow))
	for _, c := range []struct {
		name string
		wasm []byte
		want string
	}{
		{"no table", withTable(nil, nil, indirectThree...), "no table 0"},
		{"another table", withTable(sampleTable, elements, opI32Const, 0, opCallIndirect, typeSpin, 1), "no table 1"},
		{"no such type", withTable(sampleTable, elements, opI32Const, 0, opCallIndirect, 99, 0), "no type 99"},
		{"two tables", withTable(sec(secTable, []byte{typeFuncref, 0, 1}, []byte{typeFuncref, 0, 1}), nil), "2 tables"},
		{"a table of other things", withTable(sec(secTable, []byte{0x6f, 0, 1}), nil), "anything but functions"},
		{"imported table", join(header, sec(secImport, join(text("env"), text("t"), []byte{kindTable, typeFuncref, 0, 1}))), "imported table"},
		{"passive elements", withTable(sampleTable, sec(secElement, []byte{1, 0, 0})), "element segment of kind 1"},
		{"computed offset", withTable(sampleTable, sec(secElement, []byte{0, opGlobalGet, 0, opEnd, 0})), "without a constant offset"},
		{"beyond the table", withTable(sampleTable, sec(secElement, segment(6, fnGrow))), "beyond the table"},
		{"forged offset", withTable(sec(secTable, []byte{typeFuncref, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}),
			sec(secElement, join([]byte{0, opI32Const, 0xff, 0xff, 0xff, 0xff, 0x07, opEnd, 1, fnGrow}))), "beyond the table"},
		{"table.set", withTable(sampleTable, elements, opLocalGet, 0, 0xd0, typeFuncref, opTableSet, 0), "the table is taken out"},
		{"table.copy", withTable(sampleTable, elements, opPrefix, 14, 0, 0), "the table is taken out"},
		{"ref.func", withTable(sampleTable, elements, opRefFunc, 0, 0x1a), "the table is taken out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Module(c.wasm, sampleOptions()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}
