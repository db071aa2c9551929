package wasmengine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/runcode-go/runcode/runtime/internal/loop"
)

// TestInterpreter runs the engine on wazero's interpreter, as machines without its compiler do: slower, and as safe.
func TestInterpreter(t *testing.T) {
	ctx := context.Background()
	r, err := instrument()
	if err != nil {
		t.Fatal(err)
	}
	const heap = 8 << 20
	m, err := compile(ctx, configure(wazero.NewRuntimeConfigInterpreter(), uint32(memoryLimit(heap)/wasmPage)), r.Module)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close(ctx)
	im, contents, err := bootImage(ctx, m, r.Data)
	if err != nil {
		t.Fatal(err)
	}
	im.adopt(contents, heap)
	defer im.source.close()
	e := &Engine{module: m, image: im, memory: memoryLimit(heap)}
	compiled := newEngine(t, Options{})
	for _, c := range []struct {
		name, program string
		want          error
		op            loop.Op
	}{
		{"completes", "return [1, 'two', { three: 3 }]", nil, loop.OpDone},
		{"throws", "throw new Error('x')", nil, loop.OpFail},
		{"BUDGET-4 is stopped", "for (;;);", loop.ErrStopped, 0},
		{"RUN-50 is stopped in a native loop", "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", loop.ErrStopped, 0},
		{"BUDGET-8 ends at the heap limit", "try { new ArrayBuffer(9 << 20) } catch { }", loop.ErrHeap, 0},
		{"RUN-47 recurses", "function f() { f() } try { f() } catch (e) { return e instanceof RangeError }", nil, loop.OpDone},
		{"RUN-47 recurses through getters", "const o = { get x() { return this.x } }; try { o.x } catch (e) { return e instanceof RangeError }", nil, loop.OpDone},
		{"RUN-47 nests source", "eval('['.repeat(1e4))", loop.ErrStack, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &fakeHost{}
			if c.want == loop.ErrStopped {
				looks := 0
				h.tick = func() bool { looks++; return looks > 100 }
			}
			g := newGuest(t, e, h)
			if err := begin(g, c.program); !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if c.op != 0 && h.frames[len(h.frames)-1].Op != c.op {
				t.Errorf("frames %v", h.frames)
			}
			if c.want != nil {
				return
			}
			if strings.HasPrefix(c.name, "RUN-47") {
				return // the limits of the stack differ
			}
			other := newGuest(t, compiled, &fakeHost{})
			if err := begin(other, c.program); err != nil || other.Steps() != g.Steps() {
				t.Errorf("%d steps, the compiler's code takes %d, %v", g.Steps(), other.Steps(), err)
			}
		})
	}
	t.Run("VALUE-5 5,000 levels come in", func(t *testing.T) {
		h := &fakeHost{}
		g := newGuest(t, e, h)
		if err := begin(g, "let depth = 0; for (let x = await tools.x({}); Array.isArray(x); x = x[0]) depth++; return depth"); err != nil {
			t.Fatal(err)
		}
		if err := g.Settle(1, true, strings.Repeat("[", 5000)+strings.Repeat("]", 5000)); err != nil {
			t.Fatal(err)
		}
		if err := g.Jobs(); err != nil {
			t.Fatal(err)
		}
		if last := h.frames[len(h.frames)-1]; last.Op != loop.OpDone || last.A != "5000" {
			t.Errorf("frame %v", last)
		}
	})
}

func TestDeeper(t *testing.T) {
	for text, want := range map[string]bool{
		"1": false, `"[[[["`: false, `"\"[[[["`: false, "[[]]": false, "[[[]]]": true, `{"a":{"b":[]}}`: true, "[[],[],[]]": false, `["]",[["["]]]`: true,
	} {
		if got := deeper(text, 2); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
