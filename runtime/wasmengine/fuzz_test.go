package wasmengine

// This file fuzzes what the host does with what a guest hands it: pointers and lengths, the arguments of imports, and the
// ways in which a guest can die.

import (
	"bytes"
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/runtime/wasmengine/internal/rewrite"
)

// onePage is a module that has a memory of one page and nothing else.
var onePage = []byte("\x00asm\x01\x00\x00\x00\x05\x03\x01\x00\x01\x07\x05\x01\x01m\x02\x00")

// FuzzGuestMemory proves HOSTILE-1 for the reader of a guest's memory: whatever pointer and length it is given, it answers
// what a slice of that memory would, or refuses; it never panics, reads or writes outside.
func FuzzGuestMemory(f *testing.F) {
	const size = wasmPage
	for _, at := range []uint32{0, 1, size - 9, size - 8, size - 4, size - 1, size, size + 1, 1 << 31, 1<<32 - 4, 1<<32 - 1} {
		for _, n := range []uint32{0, 1, 4, 8, size, 1 << 30, 1<<32 - 1} {
			f.Add(at, n, uint64(at)<<32|uint64(n), []byte("four"))
		}
	}
	f.Add(uint32(0), uint32(maxArgs+5), uint64(0), make([]byte, 64)) // more arguments than there are
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { _ = r.Close(ctx) })
	mod, err := r.Instantiate(ctx, onePage)
	if err != nil {
		f.Fatal(err)
	}
	m := guestMemory{mod.Memory()}
	all, ok := m.Read(0, size)
	if !ok || m.Size() != size {
		f.Fatal("the module has no page of memory")
	}
	f.Fuzz(func(t *testing.T, p, n uint32, v uint64, content []byte) {
		for i := range all {
			all[i] = byte(i*7 + i>>8)
		}
		copy(all, content)
		copy(all[max(size-len(content), 0):], content)
		before := bytes.Clone(all)
		within := func(length uint64) bool { return uint64(p)+length <= size }
		agree := func(what string, err error, length uint64) (ok bool) {
			if (err == nil) != within(length) {
				t.Fatalf("HOSTILE-1 %s at %d, %d bytes: error %v", what, p, length, err)
			}
			return err == nil
		}

		if _, err := m.u32(p); agree("u32", err, 4) {
			if got, _ := m.u32(p); got != uint32(before[p])|uint32(before[p+1])<<8|uint32(before[p+2])<<16|uint32(before[p+3])<<24 {
				t.Errorf("HOSTILE-1 u32 at %d is %#x", p, got)
			}
		}
		_, err := m.value(p)
		agree("value", err, 8)
		text, err := m.text(p, n)
		if agree("text", err, uint64(n)) && text != string(before[p:p+n]) {
			t.Errorf("HOSTILE-1 text at %d, %d bytes is not the memory's", p, n)
		}
		count, args, err := m.args(p, n, maxArgs)
		if err == nil {
			if count != int(min(n, maxArgs)) {
				t.Errorf("HOSTILE-1 %d arguments of %d", count, n)
			}
			for i := range count {
				q := uint32(before[p+uint32(i)*4]) | uint32(before[p+uint32(i)*4+1])<<8 | uint32(before[p+uint32(i)*4+2])<<16 | uint32(before[p+uint32(i)*4+3])<<24
				if want, err := m.value(q); err != nil || want != args[i] {
					t.Errorf("HOSTILE-1 argument %d is %#x", i, args[i])
				}
			}
		}
		if at, err := m.find(p, n, uint32(v)); err == nil {
			if got, _ := m.u32(at); got != uint32(v) || at < p || uint64(at)+4 > uint64(p)+uint64(n) {
				t.Errorf("HOSTILE-1 found %#x at %d, which is %#x", uint32(v), at, got)
			}
		}
		if !bytes.Equal(all, before) {
			t.Fatal("HOSTILE-1 reading has changed the memory")
		}

		// What is written stands where it was to stand, and all else is as it was. A write that is refused writes nothing.
		write := func(what string, length uint64, refused bool, err error) {
			if (err == nil) == refused {
				t.Fatalf("HOSTILE-1 %s at %d, %d bytes: error %v", what, p, length, err)
			}
			if err == nil {
				copy(before[p:uint64(p)+length], all[p:])
			}
			if !bytes.Equal(all, before) {
				t.Fatalf("HOSTILE-1 %s at %d has written elsewhere", what, p)
			}
		}
		other := bytes.Clone(content) // not what stands there already
		for i := range other {
			other[i] ^= 0x55
		}
		write("putU32", 4, !within(4), m.putU32(p, uint32(v)))
		write("putU64", 8, !within(8), m.putU64(p, v))
		write("putBytes", uint64(len(content)), !within(uint64(len(content))), m.putBytes(p, content))
		write("putText", uint64(len(content))+1, !within(uint64(len(content))+1), m.putText(p, string(other)))
		if within(uint64(len(content)) + 1) {
			if got, _ := m.text(p, uint32(len(content))); got != string(other) || all[uint64(p)+uint64(len(content))] != 0 {
				t.Errorf("HOSTILE-1 the text at %d was not written", p)
			}
		}
	})
}

// tickingHost stops a guest after some looks.
type tickingHost struct {
	bootHost
	left int
}

func (h *tickingHost) Tick() bool { h.left--; return h.left <= 0 }

// FuzzImports calls the imports as a guest would that has gone wild: with any numbers for pointers, lengths and boxes. An
// import answers or ends the guest; it never faults (HOSTILE-1, BUDGET-10) and never goes on without the guest being
// stoppable (RUN-50). Afterwards the engine runs the next program.
func FuzzImports(f *testing.F) {
	for i := range hostImports {
		f.Add(uint8(i), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0))
		f.Add(uint8(i), uint64(4), uint64(4), uint64(0), uint64(5), uint64(1<<32-4), uint64(tagString)<<32|8)
		f.Add(uint8(i), uint64(1<<32-1), uint64(1<<31), uint64(2048), uint64(3), uint64(1<<20), uint64(tagObject)<<32|16)
	}
	e := newEngine(f, Options{})
	f.Fuzz(func(t *testing.T, which uint8, a, b, c, d, p, word uint64) {
		im := hostImports[int(which)%len(hostImports)]
		g, err := e.module.instance(t.Context(), e.image, e.image.source, e.memory, &tickingHost{left: 1000})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		// A forged word, and the pointer to it, somewhere in the memory that the guest could have written.
		at := uint32(p) % (g.mem.Size() - 16) &^ 7
		if g.mem.putU64(at, word) != nil || g.mem.putU32(at+8, at) != nil {
			t.Fatal("no place for a word")
		}
		stack := []uint64{a, b, c, d, uint64(at + 8)}[:max(len(im.params), len(im.results), 1)]
		err = call(func() { im.call(g, stack) })
		var fault goruntime.Error
		switch {
		case errors.As(err, &fault):
			t.Fatalf("HOSTILE-1 %s.%s(%#x, %#x, %#x, %#x) faults: %v", im.module, im.name, a, b, c, d, err)
		case err != nil && g.fault == nil:
			t.Fatalf("HOSTILE-1 %s.%s ends the guest without a reason: %v", im.module, im.name, err)
		}
		if r := tryRun(t, e, runtime.Request{Program: "return 7"}); r.Error != nil || r.Value.Float() != 7 {
			t.Fatalf("BUDGET-8 the next run: %v, %v", r.Value, r.Error)
		}
	})
}

// call returns what f panics with, as wazero does for the functions of the host.
func call(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			var ok bool
			if err, ok = p.(error); !ok {
				panic(p)
			}
		}
	}()
	f()
	return nil
}

// FuzzDeath proves BUDGET-10, BUDGET-8 and RUN-47 for the classifier: from any error of the compiled code and any state in
// which the guest was left, death names one end, and in an order that a guest cannot turn round.
func FuzzDeath(f *testing.F) {
	for _, text := range []string{
		"", "\n", "wasm error: unreachable\nwasm stack trace:\n\t.qjs(i32)", "wasm error: stack overflow", "stack overflow",
		"wasm error: out of bounds memory access\nwasm stack trace", "out of bounds memory access", "wasm error: wasm error: x", "\xff\xfe", "heap limit reached",
	} {
		for reason := range uint32(3) {
			f.Add(text, reason, uint64(1<<20), false, false)
			f.Add(text, reason, uint64(0), true, false)
			f.Add(text, reason, uint64(1<<32-64), false, true)
		}
	}
	e := newEngine(f, Options{})
	f.Fuzz(func(t *testing.T, text string, reason uint32, sp uint64, stopped, fault bool) {
		g := &guest{image: e.image, reason: fixedGlobal{number: uint64(reason)}, stackPointer: fixedGlobal{number: sp}, stopped: stopped}
		if fault {
			g.fault = errOutside
		}
		got := g.death(errors.New(text))
		first, _, _ := strings.Cut(text, "\n")
		switch {
		case got == nil:
			t.Fatal("BUDGET-10 a death without an error")
		case stopped && got != loop.ErrStopped:
			t.Errorf("RUN-9 the host has stopped the guest, which ended as %v", got)
		case stopped:
		case fault && got != errOutside:
			t.Errorf("HOSTILE-1 an import has ended the guest, which ended as %v", got)
		case fault:
		case reason == rewrite.ReasonMemory && got != loop.ErrHeap:
			t.Errorf("BUDGET-8 an allocation failed, but the guest ended as %v", got)
		case reason == rewrite.ReasonMemory:
		case got == loop.ErrStack:
			if !strings.Contains(first, "stack overflow") && !strings.Contains(first, "out of bounds memory access") {
				t.Errorf("RUN-47 %q is taken for the end of the stack", text)
			}
		case got == loop.ErrHeap || got == loop.ErrStopped || got == loop.ErrString:
			t.Errorf("BUDGET-10 %q is taken for %v", text, got)
		case strings.Contains(got.Error(), "\n"):
			t.Errorf("BUDGET-10 the detail has the engine's own stack: %q", got)
		}
	})
}

// fixedGlobal is a global of a module that holds one number.
type fixedGlobal struct {
	api.Global
	number uint64
}

func (g fixedGlobal) Get() uint64 { return g.number }

// FuzzThrown lets programs throw and reject with any text, stack and name: one known outcome, a text that is valid UTF-8 and
// within the cap, and nothing of the engine's own files in it (RUN-7, RUN-38, RUN-39, LOG-14).
func FuzzThrown(f *testing.F) {
	for _, text := range []string{"", "x", "    at f (program.ts:1:1)", "Error: x\n    at prelude.js:1:1", "string too long", "\x00\xff", "€\U0001f600"} {
		for how := range uint8(7) {
			f.Add(text, text, how)
		}
	}
	const most = 2000
	e := newEngine(f, Options{Limits: runtime.Limits{MaxOutput: most}})
	f.Fuzz(func(t *testing.T, text, stack string, how uint8) {
		given := jsonval.Text(text)
		request := runtime.Request{Globals: []runtime.Global{{Name: "given", Value: jsonval.Object(
			jsonval.Member{Name: "text", Value: given}, jsonval.Member{Name: "stack", Value: jsonval.Text(stack)})}}}
		request.Program = []string{
			"throw given.text",
			"throw new Error(given.text)",
			"throw Object.assign(new Error(given.text), { stack: given.stack })",
			"throw Object.assign(new TypeError(given.text), { name: given.stack })",
			"setTimeout(() => { throw Object.assign(new Error(given.text), { stack: given.stack }) }); await new Promise(() => {})",
			"Promise.reject(Object.assign(new Error(given.text), { name: given.stack })); await new Promise(() => {})",
			"throw { __proto__: Error.prototype, message: given.text, stack: given.stack }",
		}[how%7]
		r := tryRun(t, e, request)
		switch {
		case r.Error == nil:
			t.Fatalf("RUN-38 completed with %v", r.Value)
		case r.Error.Kind != runtime.Exception && r.Error.Kind != runtime.WorkerExit && r.Error.Kind != runtime.OutputLimit:
			t.Errorf("RUN-7 ended as %v", r.Error)
		case strings.HasPrefix(r.Error.Message, "engine stopped"):
			t.Errorf("BUDGET-10 %q stopped the engine: %v", text, r.Error)
		case !utf8.ValidString(r.Error.Message):
			t.Errorf("VALUE-9 the message is not UTF-8: %q", r.Error.Message)
		case r.Usage.OutputBytes > most:
			t.Errorf("LOG-14 %d bytes charged", r.Usage.OutputBytes)
		case r.Error.Kind == runtime.Exception && how%7 == 1 && !strings.HasPrefix(r.Error.Message, strings.TrimSuffix("Error: "+given.Str(), ": ")):
			t.Errorf("RUN-38 %q was thrown, the message is %q", text, r.Error.Message)
		}
	})
}
