package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// remembered is how many entries there are.
func remembered(t *Transformer) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries)
}

func TestTransformer(t *testing.T) {
	ctx := context.Background()
	t.Run("the same text is transformed once", func(t *testing.T) {
		tr := NewTransformer(TransformOptions{})
		a, _ := tr.Transform(ctx, "return 1", false)
		b, _ := tr.Transform(ctx, "return 1", false)
		if a == nil || a != b {
			t.Error("the second answer is another code")
		}
	})
	t.Run("CODE-33 unwrapping is part of the key", func(t *testing.T) {
		tr := NewTransformer(TransformOptions{})
		a, _ := tr.Transform(ctx, "() => 1", false)
		b, _ := tr.Transform(ctx, "() => 1", true)
		if a.JS == b.JS {
			t.Error("one code for both")
		}
	})
	t.Run("the cache is bounded, the least recently used goes first", func(t *testing.T) {
		tr := NewTransformer(TransformOptions{CacheBytes: 8 << 10})
		first, _ := tr.Transform(ctx, "return 'first'", false)
		for i := range 50 {
			tr.Transform(ctx, fmt.Sprintf("return %d + '%s'", i, strings.Repeat("x", 100)), false)
			if again, _ := tr.Transform(ctx, "return 'first'", false); again != first {
				t.Fatal("what is used often was dropped")
			}
			if tr.bytes > tr.maxBytes || remembered(tr) != tr.order.Len() {
				t.Fatalf("%d bytes in %d entries, %d in order", tr.bytes, remembered(tr), tr.order.Len())
			}
		}
		if n := remembered(tr); n < 2 || n > 20 {
			t.Errorf("%d entries", n)
		}
	})
	t.Run("nothing is remembered when asked so", func(t *testing.T) {
		tr := NewTransformer(TransformOptions{CacheBytes: -1})
		a, _ := tr.Transform(ctx, "return 1", false)
		b, _ := tr.Transform(ctx, "return 1", false)
		if a == nil || a == b || remembered(tr) != 0 {
			t.Error("remembered")
		}
	})
	t.Run("a caller cannot change a remembered failure", func(t *testing.T) {
		tr := NewTransformer(TransformOptions{})
		_, a := tr.Transform(ctx, "(", false)
		a.Message = "changed"
		if _, b := tr.Transform(ctx, "(", false); b == nil || b.Message == "changed" {
			t.Errorf("got %v", b)
		}
	})
	t.Run("RUN-8 a cancelled context is an abort before the text is read", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(errors.New("stop"))
		_, f := NewTransformer(TransformOptions{}).Transform(ctx, "(", false)
		if f == nil || f.Kind != Abort || f.Message != "stop" {
			t.Errorf("got %+v", f)
		}
	})
	t.Run("HOSTILE-9 an abort answers while the parser works", func(t *testing.T) {
		tr := NewTransformer(TransformOptions{})
		// No slot is free: the work cannot end before the abort.
		for range cap(tr.slots) {
			tr.slots <- struct{}{}
		}
		ctx, cancel := context.WithCancelCause(ctx)
		answer := make(chan *Failure)
		go func() {
			_, f := tr.Transform(ctx, "return 1", false)
			answer <- f
		}()
		cancel(errors.New("stop"))
		if f := <-answer; f == nil || f.Kind != Abort || f.Message != "stop" {
			t.Errorf("got %+v", f)
		}
		for range cap(tr.slots) {
			<-tr.slots
		}
		if c, f := tr.Transform(context.Background(), "return 1", false); c == nil {
			t.Error(f)
		}
	})
	t.Run("HOSTILE-9 callers that give up leave no work behind", func(t *testing.T) {
		tr := NewTransformer(TransformOptions{})
		var worked atomic.Int64
		tr.transform = func(program string, unwrap bool, target Target) (*Code, *Failure) {
			worked.Add(1)
			return transform(program, unwrap, target)
		}
		for range cap(tr.slots) {
			tr.slots <- struct{}{}
		}
		before := goruntime.NumGoroutine()
		ctx, cancel := context.WithCancelCause(ctx)
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				if _, f := tr.Transform(ctx, fmt.Sprintf("return %d", i%100), false); f == nil || f.Kind != Abort {
					t.Errorf("got %+v", f)
				}
			})
		}
		patient := make(chan *Failure)
		go func() {
			_, f := tr.Transform(context.Background(), "return 7", false)
			patient <- f
		}()
		queued := func() (n int) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			for _, e := range tr.entries {
				n += e.waiting
			}
			return n
		}
		for queued() < 201 {
			time.Sleep(time.Millisecond)
		}
		cancel(errors.New("stop"))
		wg.Wait()
		for range cap(tr.slots) {
			<-tr.slots
		}
		if f := <-patient; f != nil {
			t.Errorf("who waits still gets no answer: %v", f)
		}
		for range 30_000 {
			if goruntime.NumGoroutine() <= before {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if n := goruntime.NumGoroutine(); worked.Load() != 1 || n > before || remembered(tr) != 1 {
			t.Errorf("%d transforms for one that waits, %d goroutines of %d, %d entries", worked.Load(), n, before, remembered(tr))
		}
	})
	t.Run("BUDGET-10 a fault of the transform is a failure of the run", func(t *testing.T) {
		tr := NewTransformer(TransformOptions{})
		tr.transform = func(string, bool, Target) (*Code, *Failure) { panic("index out of range") }
		for range 2 {
			if _, f := tr.Transform(ctx, "return 1", false); f == nil || f.Kind != WorkerExit || f.Message != "engine stopped: internal fault: index out of range" {
				t.Errorf("got %+v", f)
			}
		}
	})
	t.Run("concurrent use", func(t *testing.T) {
		tr := NewTransformer(TransformOptions{CacheBytes: 4 << 10})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 20 {
					c, f := tr.Transform(ctx, fmt.Sprintf("const a: number = %d\nthrow a", (i+j)%7), false)
					if f != nil {
						t.Error(f)
						return
					}
					if l, _, ok := c.Position(1, strings.Index(c.JS, "throw a")+1); !ok || l != 2 {
						t.Errorf("line %d %v", l, ok)
					}
				}
			})
		}
		wg.Wait()
	})
	t.Run("RUN-35 what goja lacks is lowered for it alone", func(t *testing.T) {
		src := "async function* g() { yield 1 }\nfor await (const x of g()) return x"
		lowered, _ := transform(src, false, Target{AsyncGenerators: true})
		kept, _ := transform(src, false, Target{})
		if strings.Contains(lowered.JS, "for await") || !strings.Contains(kept.JS, "for await") || !strings.Contains(kept.JS, "async function*g") {
			t.Errorf("lowered: %s\nkept: %s", lowered.JS, kept.JS)
		}
	})
	t.Run("RUN-36 the code is one expression", func(t *testing.T) {
		for _, src := range []string{"", "return 1", "namespace N {}\nreturn 1", "class A { accessor a = 1 }"} {
			c, f := transform(src, false, Target{})
			if f != nil {
				t.Fatal(f)
			}
			if !strings.HasPrefix(c.JS, "(function(){") || !strings.HasSuffix(c.JS, "})()") {
				t.Errorf("%q: %s", src, c.JS)
			}
		}
	})
	t.Run("RUN-30 the first thing it does is to wait", func(t *testing.T) {
		for _, src := range []string{"log.push(1)", "namespace N {}\nlog.push(1)"} {
			c, _ := transform(src, false, Target{})
			if at := strings.Index(c.JS, "await 0;"); at < 0 || at > strings.Index(c.JS, "log.push") {
				t.Errorf("%q: %s", src, c.JS)
			}
		}
	})
}

func FuzzTransform(f *testing.F) {
	for _, s := range []string{
		"return 1", "namespace N { export const a = 1 }\nreturn await N.a", "```ts\nasync () => { return `a${1}` }\n```", "enum E { A = 'x', B = A + 1 }",
		"x = {}\n/}, {/1", "const f = (a): b => a ? (b) : c => d\n", "class A { @d accessor #x = 1; static { this.y = /[/]/ } }", "<T>/}/,{`${", "}, {",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, src string, unwrap bool) {
		code, failure := transform(src, unwrap, Target{AsyncGenerators: len(src)%2 == 0})
		if (code == nil) == (failure == nil) {
			t.Fatal("not one outcome")
		}
		if failure != nil {
			if failure.Kind != Exception || failure.Line < 0 || failure.Column < 0 {
				t.Fatalf("%+v", failure)
			}
			return
		}
		// RUN-36, by a parser that knows nothing of ours: the code is one expression.
		if !isExpression(code.JS) {
			t.Fatalf("no expression: %q", code.JS)
		}
		for i := 0; i < len(code.JS); i += 1 + len(code.JS)/64 {
			line := 1 + strings.Count(code.JS[:i], "\n")
			column := i - strings.LastIndexByte(code.JS[:i], '\n')
			if l, c, ok := code.Position(line, column); ok && (l < 1 || c < 1 || l > 1+strings.Count(src, "\n")+strings.Count(src, "\r")+strings.Count(src, "\u2028")+strings.Count(src, "\u2029")) {
				t.Fatalf("%d:%d is %d:%d", line, column, l, c)
			}
		}
	})
}

const smallProgram = `interface Row { id: number; name: string }
const rows: Row[] = await tools.query({ sql: "select * from t" });
const seen = new Map<number, Row>();
for (const row of rows) {
  if (!seen.has(row.id)) seen.set(row.id, row);
}
console.log("rows", seen.size);
return [...seen.values()].map((r) => r.name.toUpperCase()).filter(Boolean);
`

func BenchmarkTransformCold(b *testing.B) {
	for name, src := range map[string]string{"small": smallProgram, "50 lines": "{" + strings.Repeat(smallProgram+"}\n{", 6) + "}", "namespace": "namespace N { export const a = 1 }\n" + smallProgram} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, f := transform(src, true, Target{}); f != nil {
					b.Fatal(f)
				}
			}
		})
	}
}

func BenchmarkTransformCached(b *testing.B) {
	tr := NewTransformer(TransformOptions{})
	b.ReportAllocs()
	for b.Loop() {
		if _, f := tr.Transform(context.Background(), smallProgram, true); f != nil {
			b.Fatal(f)
		}
	}
}

func BenchmarkGuard(b *testing.B) {
	b.SetBytes(int64(len(smallProgram)))
	b.ReportAllocs()
	for b.Loop() {
		if f := checkSource(smallProgram); f != nil {
			b.Fatal(f)
		}
	}
}
