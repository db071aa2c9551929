package wasmengine

// This file is the way out of a guest: the imports behind the prelude's one native function, the fuel and the tracker of
// rejected promises. What arrives is rebuilt field by field and trusted in nothing (HOSTILE-1).

import (
	"math"

	"github.com/runcode-go/runcode/runtime/internal/loop"
)

// maxArgs is how many arguments the native function has: op, n, m, a, b.
const maxArgs = 5

// hostCall receives host(op, n, m, a, b) and answers with a new box.
func (g *guest) hostCall(stack []uint64) {
	n, args, err := g.mem.args(uint32(stack[4]), uint32(stack[3]), maxArgs)
	g.check(err)
	for i := n; i < maxArgs; i++ {
		args[i] = undefined
	}
	op, known := args[0].number()
	switch {
	case !known:
		stack[0] = g.nested(boxUndefined)
	case op == float64(loop.OpBrand):
		stack[0] = g.brand(args[3])
	case op == float64(loop.OpTarget):
		stack[0] = g.target(args[3])
	default:
		stack[0] = g.receive(op, args)
	}
}

func (g *guest) receive(op float64, args [maxArgs]value) uint64 {
	f := loop.Frame{Op: loop.Op(op)}
	written := f.Op == loop.OpCall && args[4].tag() == tagObject // by the host, from the guest's memory
	ok := float64(f.Op) == op
	ok = ok && numberOr0(args[1], &f.N) && numberOr0(args[2], &f.M)
	ok = ok && (args[3] == undefined || args[3].isString()) && (written || args[4] == undefined || args[4].isString())
	if ok && written {
		f.B, ok = g.plain(args[4])
	}
	if !ok {
		return g.nested(boxUndefined)
	}
	f.A = g.text(args[3])
	if !written {
		f.B = g.text(args[4])
	}
	reply, ok := g.host.Receive(f)
	if !ok && !written {
		return g.nested(boxUndefined)
	}
	return g.boxText(reply)
}

// numberOr0 stores a number, or 0 for a missing argument, and reports whether v is one of the two.
func numberOr0(v value, to *float64) (ok bool) {
	if v == undefined {
		return true
	}
	*to, ok = v.number()
	return ok
}

// text copies a string out of the guest; undefined gives the empty one. An unpaired surrogate comes out as three bytes
// that are no valid UTF-8.
func (g *guest) text(v value) string {
	if !v.isString() {
		return ""
	}
	if v.tag() == tagString { // most are short, and read in a tenth of the time that the guest takes to copy them
		var buf [256]byte
		if text, _, ok := g.mem.wholeText(buf[:0], uint32(v), 0); ok {
			return string(text)
		}
	}
	at := g.image.scratch + scratchLength
	p := g.nested(jsToCString, g.image.context, uint64(at), uint64(v), 0)
	if p == 0 {
		g.abort(loop.ErrString)
	}
	n, err := g.mem.u32(at)
	g.check(err)
	s, err := g.mem.text(uint32(p), n)
	g.check(err)
	g.nested(jsFreeCString, g.image.context, p)
	return s
}

func (g *guest) boxText(text string) uint64 {
	p := uint64(g.image.scratch + scratchText)
	long := len(text) > scratchTextSize
	if long {
		p = g.nested(jsMalloc, g.image.context, uint64(len(text))+1)
	}
	g.check(g.mem.putText(uint32(p), text))
	box := g.nested(boxString, p, uint64(len(text)))
	if long {
		g.nested(jsFree, g.image.context, p)
	}
	return box
}

// brand answers OpBrand: the class of an object by its internal slots.
func (g *guest) brand(v value) uint64 {
	if v.tag() != tagObject {
		return g.nested(boxUndefined)
	}
	id, err := g.mem.u16(uint32(v) + objectClass)
	g.check(err)
	name := "Object" // a class that is none of the built-in ones, and not the ordinary object
	if int(id) < len(g.image.classes) {
		name = g.image.classes[id]
	}
	if name == "" {
		return g.nested(boxUndefined)
	}
	return g.boxText(name)
}

// target answers OpTarget: what a proxy stands for.
func (g *guest) target(v value) uint64 {
	box := g.nested(boxUndefined)
	if v.tag() != tagObject || g.nested(jsGetClassID, uint64(v)) != g.image.proxyClass {
		return box
	}
	t := value(g.nested(jsGetProxyTarget, g.image.context, uint64(v)))
	if t.exception() { // revoked
		t = value(g.nested(jsGetException, g.image.context))
		g.nested(jsFreeValue, g.image.context, uint64(t))
		return box
	}
	g.check(g.mem.putU64(uint32(box), uint64(t))) // the reference moves into the box
	return box
}

// hostInterrupt is called when the fuel is used up.
func (g *guest) hostInterrupt(stack []uint64) {
	g.intervals++
	g.pace()
	if g.host.Tick() {
		g.stopped = true
		stack[0] = 1
		return
	}
	stack[0] = 0
}

// pace keeps the cycle collector ahead of the heap limit. QuickJS lets the heap grow by half before it looks for garbage
// cycles again; above two thirds of the limit that would end a program for garbage, not for its live heap (BUDGET-8).
func (g *guest) pace() {
	threshold, err := g.mem.u32(g.image.gcThreshold)
	if err != nil || threshold <= g.image.heapLimit {
		return
	}
	size, err := g.mem.u32(g.image.heapSize)
	if err != nil || size >= g.image.heapLimit {
		return
	}
	// Half of what is left, but not so little that collecting becomes all that the program does.
	step := max((g.image.heapLimit-size)/2, 64<<10)
	_ = g.mem.putU32(g.image.gcThreshold, uint32(min(uint64(size)+uint64(step), math.MaxUint32)))
}

// hostRejection receives the change of a rejected promise: it has no handler, or got one. Both boxes are the host's now.
func (g *guest) hostRejection(stack []uint64) {
	r := rejection{promiseBox: uint32(stack[0]), reasonBox: uint32(stack[1])}
	handled := uint32(stack[2]) != 0
	var err error
	r.promise, err = g.mem.value(r.promiseBox)
	g.check(err)
	if !handled {
		g.rejections.add(r)
		return
	}
	g.nested(boxFree, uint64(r.promiseBox))
	g.nested(boxFree, uint64(r.reasonBox))
	if r, ok := g.rejections.remove(r.promise); ok {
		g.nested(boxFree, uint64(r.promiseBox))
		g.nested(boxFree, uint64(r.reasonBox))
	}
}
