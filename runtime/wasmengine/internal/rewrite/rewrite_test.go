package rewrite

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestFuel(t *testing.T) {
	t.Run("RUN-50 each turn of a loop takes one unit, and the interrupt comes once in an interval", func(t *testing.T) {
		m := run(t, sample(), sampleOptions())
		for _, turns := range []uint64{1, 10, testInterval - 11, 1, 5 * testInterval, 12345} {
			before := m.steps()
			m.must("spin", turns)
			if got := m.steps() - before; got != int64(turns) {
				t.Errorf("%d turns took %d units", turns, got)
			}
			if want := m.steps() / (testInterval + 1); m.interrupts < want {
				t.Errorf("%d interrupts after %d units", m.interrupts, m.steps())
			}
		}
	})
	t.Run("RUN-50 a non-zero answer ends the run", func(t *testing.T) {
		m := run(t, sample(), sampleOptions())
		m.stop = true
		if _, err := m.call("spin", 0); err == nil || !strings.Contains(err.Error(), "unreachable") { // 2^32 turns
			t.Fatalf("error %v, want a trap", err)
		}
		if m.interrupts != 1 || m.reason() != 0 {
			t.Errorf("%d interrupts, reason %d", m.interrupts, m.reason())
		}
	})
	t.Run("RUN-50 bulk instructions take a unit for each 64 bytes and stop in the middle", func(t *testing.T) {
		m := run(t, sample(), sampleOptions())
		for _, n := range []uint64{0, 63, 64, 6400, 64 << 10, 64<<10 + 64, 300_000} {
			for _, op := range []string{"copy", "fill"} {
				before := m.steps()
				m.must(op, 0, 1, n)
				if got, want := m.steps()-before, int64(n)/64; got != want {
					t.Errorf("%s of %d bytes took %d units, want %d", op, n, got, want)
				}
			}
		}
		m = run(t, sample(), sampleOptions())
		m.stop = true
		if _, err := m.call("fill", 0, 0xee, 600_000); err == nil {
			t.Fatal("fill was not stopped")
		}
		b, _ := m.mod.Memory().Read(0, 600_000)
		if got, want := bytes.LastIndexByte(b, 0xee)+1, testInterval/pieceUnits*pieceBytes; got != want {
			t.Errorf("fill was stopped after %d bytes, want %d", got, want)
		}
	})
}

// TestCovered: a loop goes without a check of its own only if none of its turns can avoid another's.
func TestCovered(t *testing.T) {
	const brOuter = 1 // from inside of the inner loop
	turn := []byte{opLocalGet, 0, opI32Const, 1, opI32Sub, opLocalTee, 0, opBrIf}
	for _, c := range []struct {
		name    string
		code    []byte
		covered int
	}{
		{"single", join([]byte{opLoop, blockVoid}, turn, []byte{0, opEnd}), 0},
		{"nested, turning the outer", join([]byte{opLoop, blockVoid, opLoop, blockVoid}, turn, []byte{brOuter, opEnd, opEnd}), 1},
		{"nested, turning the inner", join([]byte{opLoop, blockVoid, opLoop, blockVoid}, turn, []byte{0, opEnd, opEnd}), 1},
		{"code and blocks between", join([]byte{opLoop, blockVoid, opLocalGet, 0, 0x1a, opBlock, blockVoid, opLoop, blockVoid}, turn, []byte{2, opEnd, opEnd, opEnd}), 1},
		{"a closed if between", join([]byte{opLoop, blockVoid, opLocalGet, 0, opIf, blockVoid, opEnd, opLoop, blockVoid}, turn, []byte{brOuter, opEnd, opEnd}), 1},
		{"the inner inside of an if", join([]byte{opLoop, blockVoid, opI32Const, 0, opIf, blockVoid, opLoop, blockVoid, opEnd, opEnd}, turn, []byte{0, opEnd}), 0},
		{"a branch round the inner", join([]byte{opLoop, blockVoid, opBlock, blockVoid, opI32Const, 1, opBrIf, 0, opLoop, blockVoid, opEnd, opEnd}, turn, []byte{0, opEnd}), 0},
		{"a table round the inner", join([]byte{opLoop, blockVoid, opBlock, blockVoid, opI32Const, 0, opBrTable, 0, 0, opLoop, blockVoid, opEnd, opEnd}, turn, []byte{0, opEnd}), 0},
		{"one after the other", join([]byte{opLoop, blockVoid, opEnd, opLoop, blockVoid}, turn, []byte{0, opEnd}), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			wasm := withCode(fn(c.code...))
			r, err := Module(wasm, sampleOptions())
			if err != nil {
				t.Fatal(err)
			}
			if r.Covered != c.covered {
				t.Errorf("%d loops are covered, want %d", r.Covered, c.covered)
			}
			const turns = 5000
			m := run(t, wasm, sampleOptions())
			m.must("spin", turns)
			if m.steps() < turns {
				t.Errorf("%d turns took %d units", turns, m.steps())
			}
		})
	}
}

func TestCopyAndFill(t *testing.T) {
	m := run(t, sample(), sampleOptions())
	size := m.mod.Memory().Size()
	mem, _ := m.mod.Memory().Read(0, size)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range mem {
		mem[i] = byte(rnd.Uint32())
	}
	pick := func() uint32 {
		switch rnd.IntN(3) {
		case 0:
			return rnd.Uint32N(300)
		case 1:
			return pieceBytes + rnd.Uint32N(5) - 2
		}
		return rnd.Uint32N(size / 2)
	}
	for range 300 {
		n := pick()
		to, from := rnd.Uint32N(size-n), rnd.Uint32N(size-n)
		if rnd.IntN(2) == 0 && to+300 < size-n { // overlap closely
			from = to + rnd.Uint32N(300)
			if rnd.IntN(2) == 0 {
				to, from = from, to
			}
		}
		want := slices.Clone(mem)
		copy(want[to:to+n], want[from:from+n])
		m.must("copy", uint64(to), uint64(from), uint64(n))
		if !bytes.Equal(mem, want) {
			t.Fatalf("copy(%d, %d, %d) differs from memmove", to, from, n)
		}
		c := byte(rnd.Uint32())
		for i := range want[to : to+n] {
			want[int(to)+i] = c
		}
		m.must("fill", uint64(to), uint64(c), uint64(n))
		if !bytes.Equal(mem, want) {
			t.Fatalf("fill(%d, %d, %d) differs", to, c, n)
		}
	}
	for _, args := range [][3]uint64{
		{uint64(size) - 10, 0, 11}, {0, uint64(size) - 10, 11}, {uint64(size), 0, 1}, {0, 0, uint64(size) + 1},
		{math.MaxUint32, 0, 2}, {0, 0, math.MaxUint32}, {math.MaxUint32 - 5, math.MaxUint32 - 9, 100_000},
	} {
		if _, err := run(t, sample(), sampleOptions()).call("copy", args[:]...); err == nil {
			t.Errorf("copy%v outside of the memory did not trap", args)
		}
	}
	for _, args := range [][3]uint64{{uint64(size) - 10, 0, 11}, {0, 0, uint64(size) + 1}, {5, 0, math.MaxUint32}} {
		if _, err := run(t, sample(), sampleOptions()).call("fill", args[:]...); err == nil {
			t.Errorf("fill%v outside of the memory did not trap", args)
		}
	}
}

func TestMemory(t *testing.T) {
	t.Run("BUDGET-8 memory.grow works up to the limit and traps beyond", func(t *testing.T) {
		m := run(t, sample(), sampleOptions())
		if got := m.must("grow", 2); got != testPages {
			t.Errorf("grow answered %d, want the old size %d", got, testPages)
		}
		if _, err := m.call("grow", 1); err == nil || m.reason() != ReasonMemory {
			t.Errorf("error %v, reason %d", err, m.reason())
		}
	})
	t.Run("BUDGET-8 an allocator that returns null traps", func(t *testing.T) {
		m := run(t, sample(), sampleOptions())
		if got := m.must("alloc", 0, 50); got != 8 {
			t.Errorf("alloc answered %d", got)
		}
		if got := m.must("alloc", 0, 0); got != 0 {
			t.Errorf("alloc of nothing answered %d", got)
		}
		if _, err := m.call("alloc", 0, 51); err == nil || m.reason() != ReasonMemory {
			t.Errorf("error %v, reason %d", err, m.reason())
		}
	})
	t.Run("BUDGET-8 throwing out-of-memory traps", func(t *testing.T) {
		m := run(t, sample(), sampleOptions())
		if _, err := m.call("oom", 1); err == nil || m.reason() != ReasonMemory {
			t.Errorf("error %v, reason %d", err, m.reason())
		}
	})
	t.Run("the data section is handed out, not written", func(t *testing.T) {
		r, err := Module(sample(), sampleOptions())
		if err != nil {
			t.Fatal(err)
		}
		want := []Segment{{16, []byte("hello")}, {64, []byte("world")}}
		if !slices.EqualFunc(r.Data, want, func(a, b Segment) bool { return a.Offset == b.Offset && string(a.Bytes) == string(b.Bytes) }) {
			t.Errorf("segments %v", r.Data)
		}
		mem, _ := run(t, sample(), sampleOptions()).mod.Memory().Read(0, 100)
		if bytes.ContainsAny(mem, "hw") {
			t.Error("the segments were written")
		}
	})
}

func TestEnter(t *testing.T) {
	m := run(t, sample(), sampleOptions())
	if got := math.Float64frombits(m.must("add", math.Float64bits(1.5), math.MaxUint64)); got != 0.5 {
		t.Errorf("add(1.5, -1) = %v", got)
	}
	if got := m.must("spin", 0xffff_ffff_0000_0003); got != 0 { // only the low half is the i32
		t.Errorf("spin answered %d", got)
	}
	if m.steps() != 3 {
		t.Errorf("spin turned %d times", m.steps())
	}
	stack := make([]uint64, 1+MaxParams)
	stack[0] = uint64(len(sampleOptions().Entry))
	if err := m.enter.CallWithStack(t.Context(), stack); err == nil {
		t.Error("a number beyond the list did not trap")
	}
	if m.mod.ExportedFunction("spin") != nil {
		t.Error("an export that was not to be kept is still there")
	}
}

func TestRefused(t *testing.T) {
	s := sample()
	change := func(f func(o *Options)) Options {
		o := sampleOptions()
		f(&o)
		return o
	}
	for _, c := range []struct {
		name string
		wasm []byte
		o    Options
		want string
	}{
		{"empty", nil, sampleOptions(), "not a WebAssembly module"},
		{"header only", header, sampleOptions(), "no imported function"},
		{"cut", s[:len(s)-3], sampleOptions(), "bytes expected"},
		{"no such import", s, change(func(o *Options) { o.Interrupt = "env.nothing" }), `no imported function "env.nothing"`},
		{"interval too small", s, change(func(o *Options) { o.Interval = pieceUnits }), "interval of 1024 units"},
		{"no such entry", s, change(func(o *Options) { o.Entry = []string{"nothing"} }), `no exported function "nothing"`},
		{"no such allocator", s, change(func(o *Options) { o.NonNull = []string{"nothing"} }), `no exported function "nothing"`},
		{"allocator of another type", s, change(func(o *Options) { o.NonNull = []string{"spin"} }), `"spin" is not of type`},
		{"no such export", s, change(func(o *Options) { o.Keep = []string{"nothing"} }), `no export "nothing"`},
		{"section twice", append(slices.Clone(s), sec(secType)...), sampleOptions(), "stands twice"},
		{"unknown section", append(slices.Clone(s), 13, 0), sampleOptions(), "unknown section"},
		{"passive segment", join(header, sec(secData, []byte{1, 0})), sampleOptions(), "data segment of kind 1"},
		{"bodies without functions", join(header, sec(secCode, fn())), sampleOptions(), "differ in number"},
		{"forged length", join(header, []byte{secCode, 5, 0xff, 0xff, 0xff, 0xff, 0x0f}), sampleOptions(), "do not fit"},
		{"vector instruction", withCode(fn(0xfd, 0)), sampleOptions(), "instruction 0xfd is not supported"},
		{"memory.init", withCode(fn(opPrefix, subMemoryInit, 0, 0)), sampleOptions(), "memory.init"},
		{"unended function", withCode([]byte{2, 0, 1}), sampleOptions(), "does not end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Module(c.wasm, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

// withCode is sample with the first body replaced.
func withCode(body []byte) []byte {
	m, err := parse(sample())
	if err != nil {
		panic(err)
	}
	var bodies [][]byte
	for i, f := range m.bodies {
		b := append([]byte{byte(len(f.body))}, f.body...)
		if i == 0 {
			b = body
		}
		bodies = append(bodies, b)
	}
	s := sample()
	at := m.sections[slices.IndexFunc(m.sections, func(s section) bool { return s.id == secCode })].base - 2
	return append(slices.Clone(s[:at]), sec(secCode, bodies...)...)
}

// TestEngineBinary counts what DESIGN knows of the binary that is embedded.
func TestEngineBinary(t *testing.T) {
	r, err := Module(engineBinary(t), engineOptions())
	if err != nil {
		t.Fatal(err)
	}
	if r.Loops != 1278 || r.Covered != 33 || r.Copies != 89 || r.Fills != 54 || r.Grows != 2 || r.Indirect != 255 || len(r.Data) != 234 {
		t.Errorf("%d loops, %d covered, %d copies, %d fills, %d grows, %d calls through the table, %d segments", r.Loops, r.Covered, r.Copies, r.Fills, r.Grows, r.Indirect, len(r.Data))
	}
	again, err := Module(engineBinary(t), engineOptions())
	if err != nil || !bytes.Equal(r.Module, again.Module) {
		t.Error("rewriting is not deterministic")
	}
}

func engineBinary(t testing.TB) []byte {
	b, err := os.ReadFile("../../engine/quickjs.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func engineOptions() Options {
	return Options{Interrupt: "env.host_interrupt", Interval: 20000, NonNull: []string{"js_malloc_rt"}, Entry: []string{"JS_Call"}, Keep: []string{"memory"}}
}

func BenchmarkModule(b *testing.B) {
	wasm := engineBinary(b)
	b.SetBytes(int64(len(wasm)))
	for b.Loop() {
		if _, err := Module(wasm, engineOptions()); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzModule: whatever the bytes, an error or a module that can be read again, never a panic.
func FuzzModule(f *testing.F) {
	f.Add(sample())
	f.Add(join(header, sec(secType, []byte{0x60, 0, 1, typeI32}), sec(secImport, join(text("env"), text("interrupt"), []byte{kindFunc, 0}))))
	f.Add(withCode(fn(opBlock, blockVoid, opBrTable, 1, 0, 0, opEnd)))
	f.Add(withTable(sampleTable, sec(secElement, segment(1, fnGrow, fnFill)), indirectThree...))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		o := sampleOptions()
		for _, o := range []Options{o, {Interrupt: o.Interrupt, Interval: o.Interval}} {
			r, err := Module(wasm, o)
			if err != nil {
				continue
			}
			if _, err := parse(r.Module); err != nil {
				t.Fatalf("the result cannot be read: %v", err)
			}
		}
	})
}
