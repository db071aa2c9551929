package runtimetest

// Section 8, as far as a program can try it. Forged traffic is tested at the host's boundary, where it can be made.

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func testHostile(t *testing.T, s *suite) {
	small := runtime.Limits{Heap: 24 << 20}
	s.checks(t, []check{
		{name: "HOSTILE-10 pending calls are charged to the heap", program: "for (;;) tools.never({})" + decl, limits: small, kind: runtime.WorkerExit, message: "heap limit reached: 24 MiB"},
		{name: "HOSTILE-10 the arguments of pending calls are charged", program: "const s = 'x'.repeat(1 << 20); for (;;) tools.never({ s })" + decl, limits: small, kind: runtime.WorkerExit, message: "heap limit reached: 24 MiB"},
		{name: "HOSTILE-10 answered calls are not", program: "for (let i = 0; i < 700; i++) await tools.echo({ s: 'x'.repeat(40000) }); return 'ok'" + decl, limits: small, want: `"ok"`},
		{name: "HOSTILE-10 calls in a loop are stopped", program: "for (;;) { try { await tools.echo(1) } catch {} }" + decl, limits: quick, kind: runtime.Timeout},
		{name: "HOSTILE-10 pending timers are charged to the heap", program: "for (;;) setTimeout(() => 1, 1e8)", limits: small, kind: runtime.WorkerExit, message: "heap limit reached: 24 MiB"},
		{name: "HOSTILE-11 a timeout cannot be caught", program: "for (;;) { try { for (;;); } catch { console.log('caught') } finally { console.log('finally') } }", limits: quick, kind: runtime.Timeout, logs: []string{}},
		{name: "HOSTILE-11 nor by recursion in a finally", program: "function f() { try { for (;;); } finally { f() } } f()", limits: quick, kind: runtime.Timeout},
		{name: "HOSTILE-11 handlers of promises do not run after it", program: "const p = (async () => { await null; for (;;); })(); p.finally(() => console.log('finally')); p.catch(() => console.log('catch')); await p", limits: quick, kind: runtime.Timeout, logs: []string{}},
		{name: "HOSTILE-5 the first completion decides", program: "setTimeout(() => console.log('later'), 0); queueMicrotask(() => {}); return 1", want: "1", logs: []string{}},
		{name: "HOSTILE-9 a result of 100,000 levels crosses back", program: "let a: any = []; for (let i = 1; i < 100000; i++) a = [a]; const r = await tools.echo(a); let n = 0; for (let x = r; x; x = x[0]) n++; return n" + decl, want: "100000"},
	})
	s.test(t, "HOSTILE-9 a value of 1,000,000 levels ends as a value or on a budget", func(t *testing.T) {
		l := runtime.Limits{Heap: 512 << 20, Compute: patience}
		r, err := s.engine(t, l).Run(t.Context(), runtime.Request{Program: "let a: any = []; for (let i = 1; i < 1000000; i++) a = [a]; return a"})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Error == nil && r.Value.Size(-1) != 2000000:
			t.Errorf("value of %d bytes", r.Value.Size(-1))
		case r.Error != nil && r.Error.Kind != runtime.Timeout && r.Error.Kind != runtime.WorkerExit:
			t.Errorf("%s: %s", r.Error.Kind, r.Error.Message)
		}
	})
}
