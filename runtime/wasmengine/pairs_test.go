package wasmengine

// This file runs programs in pairs: the first leaves whatever marks it can, the second looks for them, and so does the host
// in the memory of the second.

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/runtimetest"
)

// fingerprint walks everything that a program can reach, through properties, symbols, prototypes and accessors, and returns
// all their names, flags, connections and primitive values.
const fingerprint = `
	const parts: any[] = [];
	const seen = new Map<any, number>(), queue: any[] = [globalThis, tools, console, process, (async () => {}).constructor, (function* () {}).constructor,
		(async function* () {}).constructor, [][Symbol.iterator](), new Map().entries(), 'x'.matchAll(/x/g), (() => { try { (null as any).x } catch (e) { return e } })()];
	for (const o of queue) seen.set(o, seen.size);
	const visit = (v: any): string | number => {
		if (v === null || typeof v !== 'object' && typeof v !== 'function') return typeof v + ':' + String(v);
		if (!seen.has(v)) { seen.set(v, seen.size); queue.push(v) }
		return seen.get(v)!;
	};
	for (const o of queue) {
		parts.push('object', visit(Object.getPrototypeOf(o)), Object.isExtensible(o));
		for (const key of Reflect.ownKeys(o)) {
			const d: any = Object.getOwnPropertyDescriptor(o, key);
			parts.push(String(key), d.writable, d.enumerable, d.configurable, visit(d.get), visit(d.set), visit(d.value));
		}
	}
	return [seen.size, parts.join(' '), Symbol.keyFor(Symbol.for('mark')), Math.random(), Date.now(), /a/.exec('a')!.index]`

// witness checks each new instance: its memory is the image's to the byte, its globals are as at the start, and what its
// memory grows by is zero.
type witness struct {
	memorySource
	image []byte
	fault error
}

func (w *witness) fail(text string) {
	if w.fault == nil {
		w.fault = errors.New(text)
	}
}

func (w *witness) memory(most uint64) (experimental.LinearMemory, error) {
	m, err := w.memorySource.memory(most)
	return &witnessed{m, w, uint64(len(w.image))}, err
}

type witnessed struct {
	experimental.LinearMemory
	w    *witness
	size uint64
}

func (m *witnessed) Reallocate(size uint64) []byte {
	b := m.LinearMemory.Reallocate(size)
	if b != nil && size > m.size {
		if !allZero(b[m.size:size]) {
			m.w.fail("memory beyond the image is not zero")
		}
		m.size = size
	}
	return b
}

// watch puts the witness between e and its guests.
func watch(t *testing.T, e *Engine) *witness {
	t.Helper()
	m, err := e.image.source.memory(e.memory)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Free()
	w := &witness{memorySource: e.image.source, image: bytes.Clone(m.Reallocate(uint64(e.image.pages) * wasmPage))}
	var fuel, reason, stack uint64
	first := true
	e.service.NewGuest = func(ctx context.Context, run *loop.Run) (loop.Guest, error) {
		g, err := e.module.instance(ctx, e.image, w, e.memory, run)
		if err != nil {
			return nil, err
		}
		if first {
			fuel, reason, stack, first = g.fuel.Get(), g.reason.Get(), g.stackPointer.Get(), false
		}
		if g.fuel.Get() != fuel || g.reason.Get() != reason || g.stackPointer.Get() != stack {
			w.fail("a global is not as it was at the start")
		}
		if text, err := g.mem.text(0, g.mem.Size()); err != nil || text != string(w.image) {
			w.fail("the memory of a new instance is not the image")
		}
		return g, nil
	}
	return w
}

// TestPairs proves RUN-10: nothing that one program did is there for the next.
func TestPairs(t *testing.T) {
	pairs := scaled(30, 100, 10_000)
	e := newEngine(t, Options{Limits: runtime.Limits{Compute: time.Minute, Heap: 16 << 20, MaxOutput: 4 << 20}})
	w := watch(t, e)
	// The second has all the time that it needs.
	const little, enough = 30 * time.Millisecond, time.Minute

	look := runtime.Request{Program: fingerprint, Namespaces: runtimetest.GeneratedTools(), Seed: 9, Start: time.UnixMilli(1_700_000_000_000)}
	clean := mustRun(t, e, look)
	if objects := clean.Value.Index(0).Float(); objects < 500 {
		t.Fatalf("the look has found %v objects only", objects)
	}

	programs := leaving(t)
	for i := range pairs {
		program := runtimetest.Wild(material(1<<41 + uint64(i)))
		if i%2 == 0 {
			program = programs[(i/2*7)%len(programs)]
		}
		e.service.Limits.Compute = little
		tryRun(t, e, runtime.Request{Program: program, Namespaces: runtimetest.GeneratedTools()})
		e.service.Limits.Compute = enough
		r := tryRun(t, e, look)
		if r.Error != nil || r.Value.String() != clean.Value.String() || r.Usage.Steps != clean.Usage.Steps || r.Usage.HeapBytes != clean.Usage.HeapBytes {
			t.Fatalf("RUN-10 after the program below the next sees %.500v, %v in %d steps and %d bytes; a clean one %.500v in %d and %d\n%.2000s",
				r.Value, r.Error, r.Usage.Steps, r.Usage.HeapBytes, clean.Value, clean.Usage.Steps, clean.Usage.HeapBytes, program)
		}
		if w.fault != nil {
			t.Fatalf("RUN-10 %v, after\n%.2000s", w.fault, program)
		}
	}
}

// TestFingerprint: the look of TestPairs would see a mark, wherever it is left.
func TestFingerprint(t *testing.T) {
	e := newEngine(t, Options{})
	look := func(before string) string {
		t.Helper()
		return mustRun(t, e, runtime.Request{Program: before + fingerprint, Namespaces: runtimetest.GeneratedTools(), Seed: 9, Start: time.UnixMilli(1)}).Value.String()
	}
	clean := look("")
	if clean != look("") {
		t.Fatal("RUN-10 two looks differ")
	}
	for _, mark := range []string{
		"(globalThis as any).mark = 1;",
		"(Array.prototype as any).mark = 1;",
		"Array.prototype.map = (() => 1) as any;",
		"Object.freeze(Map.prototype);",
		"Object.setPrototypeOf(Set.prototype, null);",
		"(async () => {}).constructor.prototype.mark = 1;",
		"Object.defineProperty(globalThis, 'Map', { enumerable: true });",
		"(Symbol.for('other') as any).constructor.mark = 1;",
		"Object.preventExtensions(console);",
		"(tools.echo as any).mark = 1;",
		"delete (JSON as any).parse;",
		"Math.random();",
		"Object.getPrototypeOf([][Symbol.iterator]()).mark = 1;",
	} {
		if look(mark+"\n") == clean {
			t.Errorf("RUN-10 the look does not see %s", mark)
		}
	}
}

// leaving are programs of the hostile corpus that change their world.
func leaving(t *testing.T) (programs []string) {
	t.Helper()
	for _, kind := range []string{"leaks", "poison", "lies", "memory", "storms", "recursion"} {
		_, list := readCorpus(t, filepath.Join(corpusFolder, kind+".txt"))
		for _, p := range list {
			programs = append(programs, p.program(t))
		}
	}
	return programs
}
