package wasmengine

// This file makes the boot image: the memory of an instance that has initialised QuickJS and evaluated the prelude, and in
// which no program has run (RUN-10). Each run starts from a private copy of it.

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/wasmengine/internal/rewrite"
)

// image is the boot image and what the host knows about it. Addresses and values in it are valid in each instance. It is
// immutable and safe for concurrent use.
type image struct {
	source       memorySource
	pages        uint32 // of 64 KiB
	stackPointer uint64

	runtime, context uint64 // QuickJS's JSRuntime and JSContext

	// The functions of the prelude.
	configure, start, settle, fire, unhandled value
	// recordedStack is QuickJS's getter of an error's stack, which the prelude replaces.
	recordedStack value

	scratch               uint32      // memory that is the host's, see below
	fileName, messageName uint32      // C strings
	classes               [256]string // name of each built-in class by its number; empty for the ordinary object
	proxyClass            uint64

	objectProto, arrayProto uint32 // pointers: see plain.go

	interpreted bool // by wazero's interpreter, for want of a compiler

	heapSize    uint32 // address of the count of allocated bytes
	gcThreshold uint32 // address of the size at which garbage cycles are looked for
	heapBase    uint32 // allocated bytes of the image itself
	heapLimit   uint32 // allocated bytes at which a run ends, the image's included
}

// The host's memory in the guest: the arguments of the outer call, results by pointer of outer calls and of nested ones,
// and a text in transit. While the outer call is at work its arguments stay untouched; its text has been copied by then, so
// nested calls use the same place.
const (
	scratchArgs     = 0 // maxArgs values of 8 bytes
	scratchResult   = 48
	scratchLength   = 56
	scratchText     = 64
	scratchSize     = 4096
	scratchTextSize = scratchSize - scratchText - 1
)

// guestStack is QuickJS's own limit of the guest's stack, which is 1 MiB. Beyond it, recursion is a RangeError that a
// program can catch (RUN-47).
//
// wazero's interpreter stops at 2,000 frames of compiled functions, however little they hold, with a trap that no program
// can catch. There the limit is lower, so that calls of the program end in a RangeError (after some 200); the recursion of
// a native function may still end in the trap, which is an exception too.
const (
	guestStack            = 900_000
	interpretedGuestStack = 48_000
)

// interpreted reports whether wazero interprets f, which it tells in no other way than by the kind of function it makes.
func interpreted(f api.Function) bool { return strings.Contains(fmt.Sprintf("%T", f), "interpreter") }

// bootHost answers for the run that does not exist yet. The clock stands still, so the image is the same in each process.
type bootHost struct{}

func (bootHost) Receive(loop.Frame) (string, bool) { return "", false }
func (bootHost) Tick() bool                        { return false }
func (bootHost) Ended() bool                       { return false }
func (bootHost) Clock() time.Time                  { return time.Unix(0, 0) }

// bootMemory bounds the memory of an instance while the image is made.
const bootMemory = 64 << 20

// bootImage boots an instance and returns what its memory holds then. The image is of no use before it adopts that.
func bootImage(ctx context.Context, m *module, data []rewrite.Segment) (*image, contents, error) {
	im := &image{}
	blank := newSliceSource(contents{})
	g, err := m.instance(ctx, im, blank, bootMemory, bootHost{})
	if err != nil {
		return nil, contents{}, err
	}
	defer g.Close()
	for _, s := range data {
		if err := g.mem.putBytes(s.Offset, s.Bytes); err != nil {
			return nil, contents{}, fmt.Errorf("write the data section: %w", err)
		}
	}
	b := boot{g: g, im: im}
	b.quickJS()
	b.plain()
	b.prelude()
	b.probe()
	if b.err != nil {
		return nil, contents{}, fmt.Errorf("boot QuickJS: %w", b.err)
	}

	size := g.mem.Size()
	memory, ok := g.mem.Read(0, size)
	if !ok {
		return nil, contents{}, errOutside
	}
	im.pages = size / wasmPage
	im.stackPointer = g.stackPointer.Get()
	return im, contentsOf(bytes.Clone(memory)), nil
}

// adopt makes a memory that was booted the image, with a limit of the live heap in bytes.
func (im *image) adopt(memory contents, heap int64) {
	im.heapLimit = uint32(min(int64(im.heapBase)+heap, math.MaxUint32-1))
	limit := int(im.heapSize) + limitBehindSize
	memory.parts = slices.Clone(memory.parts)
	for i, p := range memory.parts {
		if at := limit - p.offset; at >= 0 && at+4 <= len(p.bytes) {
			b := bytes.Clone(p.bytes)
			binary.LittleEndian.PutUint32(b[at:], im.heapLimit+1) // QuickJS refuses what reaches the limit
			memory.parts[i].bytes = b
		}
	}
	im.source = newMemorySource(memory)
}

// revive is adopt for an image of an earlier process, which it tries: it must be one for this machine.
func (im *image) revive(ctx context.Context, m *module, memory contents, most uint64, heap int64) error {
	im.adopt(memory, heap)
	g, err := m.instance(ctx, im, im.source, most, bootHost{})
	if err == nil {
		defer g.Close()
		if interpreted(g.outer) == im.interpreted {
			return nil
		}
		err = errors.New("the image is of a machine where wazero has a compiler, or of one where it has none")
	}
	im.source.close()
	return err
}

const wasmPage = 64 << 10

// instance returns a guest over a fresh memory from source.
func (m *module) instance(ctx context.Context, im *image, source memorySource, max uint64, h host) (*guest, error) {
	memory, err := source.memory(max)
	if err != nil {
		return nil, err
	}
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return memory }))
	mod, err := m.runtime.InstantiateModule(ctx, m.compiled, instanceConfig)
	if err != nil {
		memory.Free()
		return nil, fmt.Errorf("instantiate QuickJS: %w", err)
	}
	g := &guest{
		image:        im,
		host:         h,
		mod:          mod,
		mem:          guestMemory{mod.Memory()},
		outer:        mod.ExportedFunction(rewrite.ExportEnter),
		fuel:         mod.ExportedGlobal(rewrite.ExportFuel),
		reason:       mod.ExportedGlobal(rewrite.ExportReason),
		stackPointer: mod.ExportedGlobal("__stack_pointer"),
	}
	g.ctx = context.WithValue(context.Background(), guestKey{}, g)
	if have := g.mem.Size() / wasmPage; im.pages > have {
		if _, ok := g.mem.Grow(im.pages - have); !ok {
			g.Close()
			return nil, errors.New("instantiate QuickJS: no memory for the boot image")
		}
	}
	if im.stackPointer != 0 {
		g.stackPointer.(api.MutableGlobal).Set(im.stackPointer)
	}
	return g, nil
}

// instanceConfig: no name, so that any number can live side by side, and no start function, for the image has started. The
// source of randomness is never read; without one, wazero seeds one for each instance.
var instanceConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(noRandomness{})

type noRandomness struct{}

func (noRandomness) Read([]byte) (int, error) { return 0, errors.New("there is no randomness here") }

// boot makes an image in a fresh instance. The first error sticks.
type boot struct {
	g   *guest
	im  *image
	err error
}

func (b *boot) call(f entry, args ...uint64) uint64 {
	if b.err != nil {
		return 0
	}
	r, err := b.g.call(f, args...)
	if err != nil {
		b.err = fmt.Errorf("%s: %w", entryNames[f], err)
	}
	return r
}

func (b *boot) fail(err error) {
	if b.err == nil && err != nil {
		b.err = err
	}
}

// cString returns a C string that is never freed.
func (b *boot) cString(s string) uint32 {
	p := uint32(b.call(malloc, uint64(len(s))+1))
	if b.err == nil {
		b.fail(b.g.mem.putText(p, s))
	}
	return p
}

// quickJS initialises the engine.
func (b *boot) quickJS() {
	b.call(initWASI)
	if r := b.call(initQuickJS); r != 0 {
		b.fail(errors.New("QuickJS does not initialise"))
	}
	im := b.im
	im.runtime = b.call(runtimePtr)
	im.context = b.call(contextPtr)
	im.scratch = uint32(b.call(malloc, scratchSize))
	im.fileName = b.cString(loop.FileName)
	im.messageName = b.cString("message")
	im.interpreted = interpreted(b.g.outer)
	stack := uint64(guestStack)
	if im.interpreted {
		stack = interpretedGuestStack
	}
	b.call(jsSetMaxStackSize, im.runtime, stack)
	b.call(trackRejections, 1)
	b.readClasses()
}

// readClasses learns the names of the built-in classes. Several numbers can share one name, and proxies are called Object
// although they are anything but.
func (b *boot) readClasses() {
	const last = 255
	const ordinary = 1
	for id := uint64(0); id <= last && b.err == nil; id++ {
		name := "Object"
		if atom := b.call(jsGetClassName, b.im.runtime, id); atom != 0 {
			at := b.im.scratch + scratchLength
			p := b.call(jsAtomToCString, b.im.context, uint64(at), atom)
			n, err := b.g.mem.u32(at)
			b.fail(err)
			name, err = b.g.mem.text(uint32(p), n)
			b.fail(err)
		}
		b.im.classes[id] = name
	}
	if b.err == nil && (b.im.classes[ordinary] != "Object" || b.im.classes[ordinary+1] != "Array") {
		b.fail(errors.New("the built-in classes are not numbered as expected"))
	}
	b.im.classes[ordinary] = ""
	proxy := b.eval("new Proxy({}, {})", loop.PreludeName)
	b.im.proxyClass = b.call(jsGetClassID, uint64(proxy))
	b.im.classes[b.im.proxyClass&last] = "Proxy"
	b.call(jsFreeValue, b.im.context, uint64(proxy))
}

// eval returns the value of an expression.
func (b *boot) eval(source, file string) value {
	p, f := b.cString(source), b.cString(file)
	v := value(b.call(jsEval, b.im.context, uint64(p), uint64(len(source)), uint64(f), 0))
	b.call(free, uint64(p))
	b.call(free, uint64(f))
	return b.value(uint64(v))
}

// prelude evaluates the prelude, hands it the native function and keeps what it returns.
func (b *boot) prelude() {
	name := "host"
	p := b.cString(name)
	box := b.call(newHostFunction, uint64(p), uint64(len(name)), maxArgs)
	if b.err != nil {
		return
	}
	native, err := b.g.mem.value(uint32(box))
	b.fail(err)

	b.im.recordedStack = b.eval("Object.getOwnPropertyDescriptor(Error.prototype, 'stack').get", loop.PreludeName)
	make := b.eval(loop.Prelude, loop.PreludeName)
	argv := b.im.scratch + scratchArgs
	b.fail(b.g.mem.putU64(argv, uint64(native)))
	object := b.value(b.call(jsCall, b.im.context, uint64(make), uint64(undefined), 1, uint64(argv)))
	for _, f := range []struct {
		name string
		to   *value
	}{
		{"configure", &b.im.configure},
		{"start", &b.im.start},
		{"settle", &b.im.settle},
		{"fire", &b.im.fire},
		{"unhandled", &b.im.unhandled},
	} {
		*f.to = b.value(b.call(jsGetPropertyStr, b.im.context, uint64(object), uint64(b.cString(f.name))))
		if b.err == nil && f.to.tag() != tagObject {
			b.fail(fmt.Errorf("the prelude has no function %s", f.name))
		}
	}
	b.call(jsRunGC, b.im.runtime)
}

// value passes a value on unless it is an exception.
func (b *boot) value(v uint64) value {
	if b.err == nil && value(v).exception() {
		b.fail(b.g.thrown())
	}
	return value(v)
}

// probe finds the fields of the JSRuntime that the host reads and writes. It looks for what a setter has written rather than
// trusting offsets.
func (b *boot) probe() {
	const structSize = 1024
	im := b.im
	find := func(set entry, sentinel uint32) uint32 {
		b.call(set, im.runtime, uint64(sentinel))
		if b.err != nil {
			return 0
		}
		at, err := b.g.mem.find(uint32(im.runtime), structSize, sentinel)
		if err != nil {
			b.fail(fmt.Errorf("find what %s sets: %w", entryNames[set], err))
		}
		return at
	}
	read := func(at uint32) uint32 {
		v, err := b.g.mem.u32(at)
		b.fail(err)
		return v
	}
	limit := find(jsSetMemoryLimit, 0x3a1c_95e7)
	im.gcThreshold = find(jsSetGCThreshold, 0x3b8e_41d3)

	// The count of allocated bytes stands before the limit.
	im.heapSize = limit - limitBehindSize
	const piece = 32 << 10
	before := read(im.heapSize)
	p := b.call(jsMalloc, im.context, piece)
	during := read(im.heapSize)
	b.call(jsFree, im.context, p)
	if d := during - before; b.err == nil && (d < piece || d > piece+1024 || read(im.heapSize) != before) {
		b.fail(errors.New("the count of allocated bytes is not where it was expected"))
	}

	im.heapBase = before
	b.call(jsSetMemoryLimit, im.runtime, 0) // until an image adopts it
	b.call(jsSetGCThreshold, im.runtime, uint64(before)+gcThreshold)
}

// limitBehindSize is where the limit of allocated bytes stands, seen from their count.
const limitBehindSize = 4

// gcThreshold is how much a program allocates before garbage cycles are looked for the first time.
const gcThreshold = 256 << 10
