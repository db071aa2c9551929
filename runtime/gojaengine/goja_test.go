package gojaengine_test

// What is particular to goja.

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojaengine"
)

func newEngine(t *testing.T, l runtime.Limits) *gojaengine.Engine {
	t.Helper()
	e, err := gojaengine.New(gojaengine.Options{Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func run(t *testing.T, e runtime.Engine, program string) runtime.Result {
	t.Helper()
	r, err := e.Run(context.Background(), runtime.Request{Program: program})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNew(t *testing.T) {
	t.Run("BUDGET-1 and BUDGET-2 limits are validated by name", func(t *testing.T) {
		for _, c := range []struct {
			limits runtime.Limits
			name   string
		}{
			{runtime.Limits{Compute: -1}, "computeMs"},
			{runtime.Limits{Wall: -1}, "maxWallMs"},
			{runtime.Limits{Wall: 2147483648 * time.Millisecond}, "maxWallMs"},
			{runtime.Limits{MaxOutput: 3}, "maxOutputBytes"},
			{runtime.Limits{Heap: -1}, "maxOldGenerationSizeMb"},
		} {
			if _, err := gojaengine.New(gojaengine.Options{Limits: c.limits}); err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%+v: %v", c.limits, err)
			}
		}
		if _, err := gojaengine.New(gojaengine.Options{Limits: runtime.Limits{MaxOutput: 4, Wall: 2147483647 * time.Millisecond}}); err != nil {
			t.Error(err)
		}
	})
}

func TestStuck(t *testing.T) {
	t.Run("RUN-51 the result comes in time though a built-in cannot be stopped", func(t *testing.T) {
		e := newEngine(t, runtime.Limits{Compute: 50 * time.Millisecond})
		began := time.Now()
		// Ten budgets inside of one regular expression.
		r := run(t, e, "console.log('before'); /^(a+)+\\1?$/.test('a'.repeat(22) + 'b'); console.log('after')")
		if !errors.Is(r.Error, runtime.Timeout) || len(r.Logs) != 1 {
			t.Errorf("%v, logs %q", r.Error, r.Logs)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("delivered after %v", took)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestRefused(t *testing.T) {
	e := newEngine(t, runtime.Limits{Compute: 10 * time.Minute})
	for name, program := range map[string]string{
		"RUN-48 eval":                     "return eval('1')",
		"RUN-48 Function":                 "return new Function('return 1')()",
		"RUN-48 Function by the back way": "return (() => {}).constructor('return 1')()",
		"RUN-48 AsyncFunction":            "return (async () => {}).constructor('return 1')()",
		"RUN-51 JSON that nests deeply":   "return JSON.parse('['.repeat(1e6) + ']'.repeat(1e6))",
		"RUN-51 a string without measure": "return 'x'.repeat(2 ** 40)",
		"RUN-51 padding without measure":  "return 'x'.padEnd(2 ** 53)",
		"RUN-52 syntax that goja lacks":   "return /a/v.test('a')",
	} {
		t.Run(name, func(t *testing.T) {
			if r := run(t, e, program); !errors.Is(r.Error, runtime.Exception) {
				t.Errorf("%v %v", r.Value, r.Error)
			}
		})
	}
	t.Run("RUN-48 functions are still functions", func(t *testing.T) {
		if r := run(t, e, "return [(() => 1) instanceof Function, JSON.parse('[1]', (k, v) => v), 'ab'.repeat(2), 'a'.padStart(3, 'x')]"); r.Value.String() != `[true,[1],"abab","xxa"]` {
			t.Errorf("%v %v", r.Value, r.Error)
		}
	})
	t.Run("RUN-52 a class of Unicode properties is refused, for goja would read its spelling", func(t *testing.T) {
		if r := run(t, e, "const a = /[\\w\\p]/;\nreturn /^\\p{L}+$/u.test('é')"); r.Error == nil || r.Error.Kind != runtime.Exception || r.Error.Line != 2 || r.Error.Column != 8 {
			t.Errorf("%v %v", r.Value, r.Error)
		}
	})
	t.Run("RUN-51 a list that holds itself is flattened only so far", func(t *testing.T) {
		if r := run(t, e, "const a: any[] = [1]; a[1] = a; return [[[1]], [2]].flat().length + a.flat(Infinity).length"); r.Value.String() != "2004" {
			t.Errorf("%v %v", r.Value, r.Error)
		}
	})
	t.Run("RUN-43 a source map comment opens no file", func(t *testing.T) {
		if r := run(t, e, "return 1\n//# sourceMappingURL=file:///etc/hostname"); r.Value.String() != "1" {
			t.Errorf("%v %v", r.Value, r.Error)
		}
	})
}

// The process's time zone is fixed when it starts, so that these programs run in a child.
func TestTimeZone(t *testing.T) {
	const marker = "RUNCODE_TEST_ZONE"
	if os.Getenv(marker) == "" {
		for _, zone := range []string{"Asia/Kolkata", "America/New_York", "UTC"} {
			c := exec.Command(os.Args[0], "-test.run=TestTimeZone", "-test.v")
			c.Env = append(os.Environ(), marker+"=1", "TZ="+zone)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", zone, err, out)
			}
		}
		return
	}
	e := newEngine(t, runtime.Limits{})
	for program, want := range map[string]string{
		"const d = new Date(2024, 0, 31, 23, 30, 15, 5); return [d.toISOString(), d.getTimezoneOffset(), d.getDate(), d.getHours(), d.getDay(), d.getMonth(), d.getFullYear()]": `["2024-01-31T23:30:15.005Z",0,31,23,3,0,2024]`,
		"return ['2024-07-01T12:30:00', '2024-07-01', '2024-07-01T12:30:00+02:00', 'Mon, 01 Jul 2024 12:30:00 GMT'].map(s => new Date(s).toISOString())":                        `["2024-07-01T12:30:00.000Z","2024-07-01T00:00:00.000Z","2024-07-01T10:30:00.000Z","2024-07-01T12:30:00.000Z"]`,
		"return Date.parse('2024-07-01T12:30:00') === Date.UTC(2024, 6, 1, 12, 30)":                                                                                             "true",
		"const d = new Date(0); d.setHours(5, 6, 7); d.setDate(9); return d.toISOString()":                                                                                      `"1970-01-09T05:06:07.000Z"`,
		"return [new Date(0).toString(), new Date(0).toDateString(), new Date(0).toTimeString()].map(s => s.slice(0, 24))":                                                      `["Thu Jan 01 1970 00:00:00","Thu Jan 01 1970","00:00:00 GMT+0000"]`,
		"class D extends Date { x() { return this.getHours() } } const d = new D(3600e3); return [d instanceof Date, d.x(), new Date(d).getTime(), typeof Date(), Date.name]":   `[true,1,3600000,"string","Date"]`,
		"return [new Date(1e12).toLocaleString(), new Date(1e12).toLocaleDateString('en-US'), new Date(1e12).toLocaleTimeString(), Date().slice(-9)]":                           `["09/09/2001, 01:46:40 AM","09/09/2001","01:46:40 AM"," GMT+0000"]`,
		"return [String(new Date(NaN)), new Date('nonsense').getTime() !== new Date('nonsense').getTime()]":                                                                     `["Invalid Date",true]`,
	} {
		t.Run("RUN-43 "+program, func(t *testing.T) {
			r := run(t, e, program)
			if r.Value.String() != want {
				t.Errorf("%v %v, want %s", r.Value, r.Error, want)
			}
		})
	}
}
