package runtimetest

// Section 6: what logs, value and failure message may cost together.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// charged is what the ledger charges for a result (LOG-8).
func charged(r runtime.Result) int64 {
	logs := int64(2)
	for i, text := range r.Logs {
		logs += jsonval.StringSize(text)
		if i > 0 {
			logs++
		}
	}
	switch {
	case r.Error != nil:
		return logs + jsonval.StringSize(r.Error.Message)
	case r.Value.Exists():
		return logs + int64(len(r.Value.JSON()))
	}
	return logs
}

func testOutput(t *testing.T, s *suite) {
	capped := func(n int64) runtime.Limits { return runtime.Limits{MaxOutput: n} }
	within := func(n int64) func(*testing.T, runtime.Result, *host) {
		return func(t *testing.T, r runtime.Result, _ *host) {
			if got := charged(r); got > n || r.Usage.OutputBytes != got {
				t.Errorf("charged %d of %d bytes, reported %d: %q %v", got, n, r.Usage.OutputBytes, r.Logs, r.Error)
			}
		}
	}
	s.checks(t, []check{
		{name: "LOG-15 a cap of 7 holds an accented value", program: "return '€'", limits: capped(7), want: `"€"`, also: within(7)},
		{name: "LOG-15 a cap of 6 does not", program: "return '€'", limits: capped(6), kind: runtime.OutputLimit, also: within(6)},
		{name: "LOG-15 a cap of 11 holds a log and a value", program: "console.log('abc'); return 'xy'", limits: capped(11), want: `"xy"`, logs: []string{"abc"}, also: within(11)},
		{name: "LOG-15 a cap of 10 does not", program: "console.log('abc'); return 'xy'", limits: capped(10), kind: runtime.OutputLimit, also: within(10)},
		{name: "LOG-15 a cap of 11 holds a log and a message", program: "console.log('abc'); throw 'xy'", limits: capped(11), kind: runtime.Exception, message: "xy", logs: []string{"abc"}, also: within(11)},
		{name: "LOG-15 a cap of 10 does not hold the message", program: "console.log('abc'); throw 'xy'", limits: capped(10), kind: runtime.OutputLimit, also: within(10)},
		{name: "LOG-15 a cap of 4 and a parse failure", program: "this is not", limits: capped(4), kind: runtime.OutputLimit, also: within(4)},
		{name: "LOG-9 what characters cost", program: `return "\"\\\b\t\n\f\r\u0001/<\u2028"`, limits: capped(2 + 2 + 7*2 + 6 + 2 + 3), want: `"\"\\\b\t\n\f\r\u0001/<\u2028"`, also: within(29)},
		{name: "LOG-9 one byte less", program: `return "\"\\\b\t\n\f\r\u0001/<\u2028"`, limits: capped(28), kind: runtime.OutputLimit},
		{name: "LOG-9 what containers cost", program: "return { a: [1, true], b: null }", limits: capped(2 + int64(len(`{"a":[1,true],"b":null}`))), want: `{"a":[1,true],"b":null}`, also: within(25)},
		{name: "LOG-9 one byte less for containers", program: "return { a: [1, true], b: null }", limits: capped(24), kind: runtime.OutputLimit},
		{name: "LOG-10 the cap itself is allowed", program: "return 'x'.repeat(996)", limits: capped(1000), want: `"` + strings.Repeat("x", 996) + `"`, also: within(1000)},
		{name: "LOG-10 one byte more is not", program: "return 'x'.repeat(997)", limits: capped(1000), kind: runtime.OutputLimit, message: "output larger than 1000 bytes", logs: []string{}, also: within(1000)},
		{name: "LOG-11 a message of a million characters", program: "throw 'x'.repeat(1e6)", limits: capped(1000), kind: runtime.OutputLimit, message: "output larger than 1000 bytes"},
		{name: "LOG-11 a stack of a million characters", program: "const e = new Error('m'); e.stack = 'y'.repeat(1e6); throw e", limits: capped(1000), kind: runtime.OutputLimit, message: "output larger than 1000 bytes"},
		{name: "LOG-11 measuring stops at the cap", program: "let a: any = ['x'.repeat(1000)]; for (let i = 0; i < 60; i++) a = [a, a]; return a", limits: capped(5000), kind: runtime.OutputLimit, message: "output larger than 5000 bytes"},
		{name: "LOG-12 whole entries while they fit, then a prefix", program: "console.log('aaaa'); console.log('bbbb'); return 'x'.repeat(100)", limits: capped(50), kind: runtime.OutputLimit,
			message: "output larger than 50 bytes", logs: []string{"aaaa", "bbbb"}, also: within(50)},
		{name: "LOG-12 the prefix is cut between code points", program: "console.log('aa'); console.log('é€\U0001F600zzzz'); return 'x'.repeat(100)", limits: capped(29 + 2 + 4 + 3 + 2 + 3 + 2), kind: runtime.OutputLimit,
			message: "output larger than 45 bytes", logs: []string{"aa", "é€"}, also: within(45)},
		{name: "LOG-12 an empty prefix is omitted", program: "console.log('aa'); console.log('\U0001F600'); return 'x'.repeat(100)", limits: capped(29 + 2 + 4 + 3 + 3), kind: runtime.OutputLimit,
			message: "output larger than 41 bytes", logs: []string{"aa"}, also: within(41)},
		{name: "LOG-12 the diagnostic is cut if it must", program: "console.log('abc'); return 'x'.repeat(100)", limits: capped(10), kind: runtime.OutputLimit, message: "output", logs: []string{}, also: within(10)},
		{name: "LOG-12 down to the empty string", program: "console.log('abc')", limits: capped(4), kind: runtime.OutputLimit, also: func(t *testing.T, r runtime.Result, _ *host) {
			if r.Error.Message != "" || len(r.Logs) != 0 {
				t.Errorf("message %q, logs %q", r.Error.Message, r.Logs)
			}
		}},
		{name: "LOG-13 a first entry that is too large keeps a prefix", program: "console.log('x'.repeat(1000)); for (;;);", limits: capped(96), kind: runtime.OutputLimit, message: "output larger than 96 bytes", also: func(t *testing.T, r runtime.Result, h *host) {
			within(96)(t, r, h)
			if len(r.Logs) != 1 || len(r.Logs[0]) < 50 {
				t.Errorf("logs %q", r.Logs)
			}
		}},
		{name: "LOG-13 runaway logging", program: "for (let i = 0; ; i++) console.log('entry', i)", limits: capped(300), kind: runtime.OutputLimit, message: "output larger than 300 bytes", also: func(t *testing.T, r runtime.Result, h *host) {
			within(300)(t, r, h)
			if len(r.Logs) < 15 || r.Logs[0] != "entry 0" || r.Logs[1] != "entry 1" {
				t.Errorf("logs %q", r.Logs)
			}
		}},
		{name: "LOG-13 an overflow cannot be caught", program: "try { console.log('x'.repeat(1000)) } catch {} finally { tools.echo({}) } return 1" + decl, limits: capped(96), kind: runtime.OutputLimit, calls: "-"},
		{name: "LOG-14 a message that does not fit beside the log", program: "console.log('x'.repeat(60)); process.exit(7); declare const process: any", limits: capped(96), kind: runtime.OutputLimit, also: within(96)},
		{name: "LOG-14 a parse failure", program: "const = 1", limits: capped(20), kind: runtime.OutputLimit, also: within(20)},
		{name: "LOG-8 binding traffic is not charged", program: "const r = await tools.echo({ s: 'x'.repeat(1e5) }); return r.s.length" + decl, limits: capped(100), want: "100000"},
	})
	s.test(t, "LOG-14 an abort before there is an engine", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New(strings.Repeat("why ", 250)))
		r, err := s.engine(t, capped(100)).Run(ctx, runtime.Request{Program: "return 1"})
		if err != nil {
			t.Fatal(err)
		}
		(&check{kind: runtime.OutputLimit, message: "output larger than 100 bytes"}).verify(t, r)
		within(100)(t, r, nil)
	})
	if testing.Short() || raceDetector {
		return // each takes some hundred megabytes, and with the detector minutes
	}
	for _, n := range []int{67108860, 67108861} {
		kind, want := runtime.Kind(""), ""
		if n > 67108860 {
			kind = runtime.OutputLimit
		}
		s.checks(t, []check{{name: fmt.Sprintf("LOG-15 the default cap and %d characters", n), program: fmt.Sprintf("return 'x'.repeat(%d)", n), limits: runtime.Limits{Heap: 512 << 20, Compute: 5 * patience, Wall: 10 * patience}, kind: kind, want: want,
			also: func(t *testing.T, r runtime.Result, _ *host) {
				if kind == "" && len(r.Value.Str()) != n {
					t.Errorf("%d characters", len(r.Value.Str()))
				}
			}}})
	}
}
