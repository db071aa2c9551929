// Package runtimetest is the one test suite that every runtime.Engine passes. Its tests are named after the rules that they
// prove.
//
// An engine's own test calls Run. What an engine legitimately does not do is listed in Options, each with its reason.
package runtimetest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Options says what is particular to an engine.
type Options struct {
	// Isolation is what the engine must report (RUN-3).
	Isolation string

	// Exceptions are the tests that the engine is excused from: the name of the test, and the reason. A name that is no
	// test's fails the suite, so that the list cannot outlive what it excuses.
	Exceptions map[string]string
}

// Run runs the whole suite against engines that newEngine makes. The suite closes them.
func Run(t *testing.T, newEngine func(t testing.TB, l runtime.Limits) runtime.Engine, o Options) {
	s := &suite{newEngine: newEngine, options: o, engines: map[runtime.Limits]runtime.Engine{}, known: map[string]bool{}}
	t.Cleanup(func() {
		for _, e := range s.engines {
			if err := e.Close(context.Background()); err != nil {
				t.Errorf("closing an engine: %v", err)
			}
		}
	})
	groups := []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"contract", testContract},
		{"form", testForm},
		{"failure", testFailure},
		{"positions", testPositions},
		{"bindings", testBindings},
		{"poison", testPoison},
		{"globals", testGlobals},
		{"web", testWeb},
		{"values", testValues},
		{"logs", testLogs},
		{"output", testOutput},
		{"budgets", testBudgets},
		{"hostile", testHostile},
		{"reproducible", testReproducible},
		{"life", testLife},
		{"cases", testSharedCases},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) { g.run(t, s) })
	}
	for name, reason := range o.Exceptions {
		if reason == "" {
			t.Errorf("the exception %q has no reason", name)
		}
		if !s.known[name] && testsAll() {
			t.Errorf("the exception %q names no test", name)
		}
	}
}

// testsAll reports whether no -run pattern leaves tests out.
func testsAll() bool {
	f := flagValue("test.run")
	return !strings.Contains(f, "/") && flagValue("test.skip") == ""
}

type suite struct {
	newEngine func(t testing.TB, l runtime.Limits) runtime.Engine
	options   Options
	engines   map[runtime.Limits]runtime.Engine
	known     map[string]bool
}

// limits are those of a test that has no wish of its own: enough for a slow machine, and short enough to fail.
var limits = runtime.Limits{Compute: patience, Wall: 2 * patience, MaxOutput: 64 << 20, Heap: 256 << 20}

// engine returns an engine with l over the suite's own limits; one that another test has asked for already, if it can.
func (s *suite) engine(t testing.TB, l runtime.Limits) runtime.Engine {
	t.Helper()
	if l.Compute == 0 {
		l.Compute = limits.Compute
	}
	if l.Wall == 0 {
		l.Wall = limits.Wall
	}
	if l.MaxOutput == 0 {
		l.MaxOutput = limits.MaxOutput
	}
	if l.Heap == 0 {
		l.Heap = limits.Heap
	}
	e, ok := s.engines[l]
	if !ok {
		e = s.newEngine(t, l)
		s.engines[l] = e
	}
	return e
}

// test runs one named test, unless the engine is excused from it.
func (s *suite) test(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	s.known[name] = true
	t.Run(name, func(t *testing.T) {
		if reason, ok := s.options.Exceptions[name]; ok {
			t.Skip(reason)
		}
		f(t)
	})
}

// A check is one program and what must become of it.
type check struct {
	name    string // begins with the rule
	program string
	limits  runtime.Limits
	request func(*runtime.Request) // changes the request, which has the host's tools

	// Exactly one of these: the value as JSON; nothing; or a failure.
	want string
	none bool
	kind runtime.Kind

	message string // of the failure, exact
	match   string // of the failure, a regular expression
	line    int    // of the failure, if not 0
	column  int
	logs    []string // exact; nil = whatever
	calls   string   // the names of the functions called, in order, if not ""; "-" = none

	also func(t *testing.T, r runtime.Result, h *host)
}

func (s *suite) checks(t *testing.T, list []check) {
	t.Helper()
	for _, c := range list {
		s.test(t, c.name, func(t *testing.T) {
			h := newHost()
			defer h.close()
			req := runtime.Request{Program: c.program, Namespaces: h.namespaces()}
			if c.request != nil {
				c.request(&req)
			}
			r, err := s.engine(t, c.limits).Run(context.Background(), req)
			if err != nil {
				t.Fatalf("Run failed as misuse: %v", err)
			}
			c.verify(t, r)
			if c.calls != "" {
				if got := strings.Join(h.called(), " "); got != strings.TrimPrefix(c.calls, "-") {
					t.Errorf("functions called: %q, want %q", got, c.calls)
				}
			}
			if c.also != nil {
				c.also(t, r, h)
			}
		})
	}
}

func (c *check) verify(t *testing.T, r runtime.Result) {
	t.Helper()
	if r.Logs == nil {
		t.Error("Logs is nil (RUN-5)")
	}
	if r.Error != nil && r.Value.Exists() {
		t.Error("value and error are both present (RUN-5)")
	}
	if c.logs != nil && !slices.Equal(r.Logs, c.logs) {
		t.Errorf("logs %q, want %q", r.Logs, c.logs)
	}
	if c.kind != "" {
		if r.Error == nil {
			t.Fatalf("completed with %s, want a failure of kind %s", short(r.Value.String()), c.kind)
		}
		if r.Error.Kind != c.kind {
			t.Fatalf("kind %s (%s), want %s", r.Error.Kind, short(r.Error.Message), c.kind)
		}
		if c.message != "" && r.Error.Message != c.message {
			t.Errorf("message %q, want %q", short(r.Error.Message), c.message)
		}
		if c.match != "" && !regexp.MustCompile(c.match).MatchString(r.Error.Message) {
			t.Errorf("message %q does not match %q", short(r.Error.Message), c.match)
		}
		if c.line != 0 && r.Error.Line != c.line {
			t.Errorf("line %d, want %d: %s", r.Error.Line, c.line, short(r.Error.Message))
		}
		if c.column != 0 && r.Error.Column != c.column {
			t.Errorf("column %d, want %d: %s", r.Error.Column, c.column, short(r.Error.Message))
		}
		return
	}
	if r.Error != nil {
		t.Fatalf("failed (%s): %s", r.Error.Kind, short(r.Error.Message))
	}
	if c.none {
		if r.Value.Exists() {
			t.Errorf("value %s, want none", short(r.Value.String()))
		}
		return
	}
	if c.want == "" {
		return
	}
	want, err := jsonval.ParseString(c.want)
	if err != nil {
		t.Fatalf("the test's own value: %v", err)
	}
	if !jsonval.Identical(r.Value, want) {
		t.Errorf("value %s, want %s", short(r.Value.String()), short(c.want))
	}
}

// short cuts a text for a test's message.
func short(s string) string {
	const most = 600
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
