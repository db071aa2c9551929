package runtimetest

// DESIGN section 6: a run depends on its program, seed, start, and the results and order of its calls, and on nothing else.

import (
	"context"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func testReproducible(t *testing.T, s *suite) {
	start := time.Date(2031, 5, 6, 7, 8, 9, 123e6, time.UTC)
	const program = "return [Array.from({ length: 20 }, () => Math.random()), Date.now(), new Date().toISOString()]"
	run := func(t *testing.T, seed uint64) runtime.Result {
		t.Helper()
		r, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{Program: program, Seed: seed, Start: start})
		if err != nil {
			t.Fatal(err)
		}
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		return r
	}
	s.test(t, "RUN-4 the same seed and start give the same run", func(t *testing.T) {
		a, b := run(t, 42), run(t, 42)
		if !jsonval.Identical(a.Value, b.Value) {
			t.Errorf("%s\n%s", a.Value, b.Value)
		}
		if a.Seed != 42 {
			t.Errorf("seed %d", a.Seed)
		}
		if ms := a.Value.Index(1).Float(); ms != float64(start.UnixMilli()) {
			t.Errorf("Date.now() is %v, want %v", ms, start.UnixMilli())
		}
		if iso := a.Value.Index(2).Str(); iso != "2031-05-06T07:08:09.123Z" {
			t.Errorf("new Date() is %s", iso)
		}
	})
	s.test(t, "RUN-4 another seed gives another run", func(t *testing.T) {
		seen := map[string]uint64{}
		for _, seed := range []uint64{1, 2, 3, 1 << 32, 1<<32 + 1, 1<<64 - 1} {
			text := run(t, seed).Value.Index(0).String()
			if other, ok := seen[text]; ok {
				t.Errorf("seeds %d and %d give the same numbers", seed, other)
			}
			seen[text] = seed
		}
	})
	s.test(t, "RUN-4 a run without a seed reports the one it used", func(t *testing.T) {
		a := run(t, 0)
		if a.Seed == 0 {
			t.Fatal("seed 0")
		}
		if b := run(t, a.Seed); !jsonval.Identical(a.Value, b.Value) {
			t.Errorf("%s\n%s", a.Value, b.Value)
		}
	})
	s.test(t, "RUN-4 random numbers are spread", func(t *testing.T) {
		r, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{Seed: 7, Program: `
			const bins = new Array(16).fill(0); let out = 0;
			for (let i = 0; i < 16000; i++) { const x = Math.random(); if (x < 0 || x >= 1) out++; bins[Math.floor(x * 16)]++ }
			return [out, Math.min(...bins) > 850, Math.max(...bins) < 1150]`})
		if err != nil {
			t.Fatal(err)
		}
		(&check{want: "[0,true,true]"}).verify(t, r)
	})
	s.test(t, "RUN-4 the clock moves only when the loop turns", func(t *testing.T) {
		h := newHost()
		defer h.close()
		var turns []runtime.Turn
		r, err := s.engine(t, runtime.Limits{}).Run(context.Background(), runtime.Request{
			Namespaces: h.namespaces(), Start: start, OnTurn: func(turn runtime.Turn) { turns = append(turns, turn) },
			Program: `
				const a = Date.now(); let n = 0; for (let i = 0; i < 300000; i++) n += i; await null; const b = Date.now();
				await tools.wait({ ms: 30 }); const c = Date.now();
				await new Promise(r => setTimeout(r, 20)); const d = Date.now();
				return [b - a, c - b >= 25, d - c >= 15]` + decl,
		})
		if err != nil {
			t.Fatal(err)
		}
		(&check{want: "[0,true,true]"}).verify(t, r)
		if len(turns) != 2 || turns[0].Kind != runtime.TurnReply || turns[0].ID != 1 || turns[1].Kind != runtime.TurnTimer || turns[1].ID != 1 {
			t.Fatalf("turns %v", turns)
		}
		if !turns[0].Clock.After(start) || !turns[1].Clock.After(turns[0].Clock) {
			t.Errorf("clocks %v", turns)
		}
	})
}
