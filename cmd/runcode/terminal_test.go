package main

// This file tests what the command does on a terminal, with an app whose terminals are buffers.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// screen is a terminal that a test can read while it is written.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *screen) await(t *testing.T, text string) {
	t.Helper()
	for range 1000 {
		if strings.Contains(s.String(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q never showed up:\n%s", text, s)
}

type terminal struct {
	*app
	out, err   *screen
	interrupts chan os.Signal
	exits      chan int
	flushed    int
}

// newTerminal returns an app on a terminal. Programs run on goja, which starts at once.
func newTerminal(t *testing.T, stdin io.Reader, env map[string]string) *terminal {
	x := &terminal{out: &screen{}, err: &screen{}, interrupts: make(chan os.Signal, 2), exits: make(chan int, 1)}
	x.app = &app{
		stdin: stdin, stdout: x.out, stderr: x.err,
		stdinTerminal: true, stdoutTerminal: true, stderrTerminal: true,
		getenv:        func(name string) string { return env[name] },
		userCacheDir:  func() (string, error) { return "", errors.New("none") },
		userConfigDir: func() (string, error) { return "", errors.New("none") },
		flushInput:    func() { x.flushed++ },
		interrupts:    x.interrupts,
		exit:          func(status int) { x.exits <- status },
	}
	return x
}

// file writes a file of the test and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const slowTools = `{"tools": {
  "ok": {"description": "x", "result": "fine"},
  "slow": {"description": "x", "result": 1, "delayMs": 60000}
}}`

func TestTerminalOutput(t *testing.T) {
	t.Run("CLI-5 a string gets its newline, controls are shown escaped", func(t *testing.T) {
		x := newTerminal(t, nil, nil)
		if status := x.main([]string{"run", "--engine", "goja", file(t, "p.ts", `console.log("\x1b[2J\u202elog"); return "a\x1b]0;title\x07"`)}); status != 0 {
			t.Fatalf("status %d: %s", status, x.err)
		}
		if got := x.out.String(); got != "a\\u001b]0;title\\u0007\n" {
			t.Errorf("output %q", got)
		}
		if got := x.err.String(); got != "\\u001b[2J\\u202elog\n" {
			t.Errorf("logs %q", got)
		}
	})
	t.Run("CLI-5 JSON is indented", func(t *testing.T) {
		x := newTerminal(t, nil, nil)
		x.main([]string{"run", "--engine", "goja", file(t, "p.ts", `return {a: [1]}`)})
		if got := x.out.String(); got != "{\n  \"a\": [\n    1\n  ]\n}\n" {
			t.Errorf("output %q", got)
		}
	})
	t.Run("CLI-5 CLI-8 --json on a terminal is escaped and the same JSON", func(t *testing.T) {
		x := newTerminal(t, nil, nil)
		x.main([]string{"run", "--json", "--engine", "goja", file(t, "p.ts", `return "\x1b[2J\u009b\u202e\x7f\n\t"`)})
		got := x.out.String()
		for _, r := range strings.TrimSuffix(got, "\n") {
			if isControl(r) || r == '\n' {
				t.Errorf("%U in %q", r, got)
			}
		}
		v, err := jsonval.ParseString(got)
		if err != nil {
			t.Fatal(err)
		}
		if value, _ := v.Get("value"); value.Str() != "\x1b[2J\u009b\u202e\x7f\n\t" {
			t.Errorf("the value became %q", value.Str())
		}
	})
	t.Run("CLI-5 failures and errors are escaped too", func(t *testing.T) {
		x := newTerminal(t, nil, nil)
		x.main([]string{"run", "--engine", "goja", file(t, "p.ts", `throw "\x1b[31mred"`)})
		x.main([]string{"run", "--engine", "goja", "no\x1b[31mfile.ts"})
		if got := x.err.String(); strings.Contains(got, "\x1b") || !strings.Contains(got, `\u001b[31mred`) {
			t.Errorf("got %q", got)
		}
	})
}

func TestStatusLine(t *testing.T) {
	program := `await tools.ok({}); const p = tools.slow({}).catch(() => 0); console.log("started"); await new Promise(r => setTimeout(r, 900)); console.log("between"); return 1`
	start := func(t *testing.T, env map[string]string, flags ...string) *terminal {
		x := newTerminal(t, nil, env)
		args := append([]string{"run", "--engine", "goja", "--tools", file(t, "tools.json", slowTools), file(t, "p.ts", program)}, flags...)
		if status := x.main(args); status != 0 {
			t.Fatalf("status %d: %s", status, x.err)
		}
		return x
	}
	t.Run("CLI-5 after half a second: time, calls done and running, the current tool; erased at the end", func(t *testing.T) {
		got := start(t, nil).err.String()
		if !strings.HasPrefix(got, "started\n") {
			t.Errorf("the line came before its time: %q", got)
		}
		if !strings.Contains(got, " s · 1 done, 1 running · slow") {
			t.Errorf("no status: %q", got)
		}
		if !strings.Contains(got, eraseLine+"between\n") {
			t.Errorf("a log entry does not stand on a line of its own: %q", got)
		}
		if i := strings.LastIndex(got, " running"); i >= 0 && !strings.Contains(got[i:], eraseLine) {
			t.Errorf("not erased: %q", got)
		}
	})
	for _, c := range []struct {
		env  map[string]string
		flag string
	}{{env: map[string]string{"NO_COLOR": "1"}}, {env: map[string]string{"CI": "true"}}, {flag: "--quiet"}} {
		t.Run("CLI-5 no status line with "+c.flag+strings.Join(keys(c.env), ""), func(t *testing.T) {
			var flags []string
			if c.flag != "" {
				flags = []string{c.flag}
			}
			if got := start(t, c.env, flags...).err.String(); got != "started\nbetween\n" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func keys(m map[string]string) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	return names
}

func TestPrompt(t *testing.T) {
	const program = `try { return await tools.ok({ path: "\x1b[2Jx" }) } catch (e) { return e.message }`
	for _, c := range []struct{ name, typed, want string }{
		{"CLI-3 yes grants", "y\n", "fine\n"},
		{"CLI-3 anything else refuses", "\n", "the user refused to run tool \"ok\"\n"},
		{"CLI-3 the end of input refuses", "", "the user refused to run tool \"ok\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTerminal(t, strings.NewReader(c.typed), nil)
			x.main([]string{"run", "--engine", "goja", "--ask", "o*", "--tools", file(t, "tools.json", slowTools), file(t, "p.ts", program)})
			if got := x.out.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := x.err.String(); !strings.Contains(got, "ok wants to run with\n  {\"path\":\"\\u001b[2Jx\"}\nallow this call? [y/N] ") {
				t.Errorf("asked %q", got)
			}
			if x.flushed != 1 {
				t.Errorf("CLI-5 pending input was thrown away %d times", x.flushed)
			}
		})
	}
	t.Run("CLI-3 each call is asked about, and an answer takes one line", func(t *testing.T) {
		x := newTerminal(t, strings.NewReader("y\nno\nyes\n"), nil)
		x.main([]string{"run", "--engine", "goja", "--ask", "ok", "--tools", file(t, "tools.json", slowTools),
			file(t, "p.ts", `const out = []; for (let i = 0; i < 3; i++) out.push(await tools.ok({}).catch(() => "refused")); return out.join()`)})
		if got := x.out.String(); got != "fine,refused,fine\n" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("CLI-3 ASK-7 an interrupt withdraws the question", func(t *testing.T) {
		in, typing := io.Pipe()
		defer typing.Close()
		x := newTerminal(t, in, nil)
		done := make(chan int, 1)
		tools, p := file(t, "tools.json", slowTools), file(t, "p.ts", program)
		go func() { done <- x.main([]string{"run", "--engine", "goja", "--ask", "ok", "--tools", tools, p}) }()
		x.err.await(t, "allow this call?")
		x.interrupts <- os.Interrupt
		select {
		case status := <-done:
			if status != statusInterrupted {
				t.Errorf("status %d", status)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("still asking")
		}
	})
	t.Run("CLI-3 long arguments are cut with their length", func(t *testing.T) {
		x := newTerminal(t, strings.NewReader("y\n"), nil)
		p := &prompter{app: x.app, hold: func() func() { return func() {} }}
		outcome, err := p.ask(context.Background(), registry.ApprovalRequest{Tool: "t", Arguments: jsonval.MustOf(strings.Repeat("é", 5000)), Reason: "why\nnot"})
		if outcome != registry.AllowedOnce || err != nil {
			t.Errorf("%s, %v", outcome, err)
		}
		if got := x.err.String(); len(got) > 5000 || !strings.Contains(got, "… (10002 bytes in all)") || !strings.Contains(got, "reason: why not\n") {
			t.Errorf("asked %q", got)
		}
	})
}

func TestInterrupt(t *testing.T) {
	run := func(t *testing.T, program string, flags ...string) (*terminal, chan int) {
		x := newTerminal(t, nil, nil)
		done := make(chan int, 1)
		args := append([]string{"run", "--engine", "goja", "--quiet", "--tools", file(t, "tools.json", slowTools), file(t, "p.ts", program)}, flags...)
		go func() { done <- x.main(args) }()
		return x, done
	}
	status := func(t *testing.T, done chan int) int {
		select {
		case s := <-done:
			return s
		case <-time.After(20 * time.Second):
			t.Fatal("still running")
			return 0
		}
	}
	t.Run("CLI-7 the first interrupt aborts the run and drains its calls", func(t *testing.T) {
		x, done := run(t, `console.log("on its way"); await tools.slow({})`)
		x.err.await(t, "on its way")
		time.Sleep(20 * time.Millisecond)
		x.interrupts <- os.Interrupt
		if s := status(t, done); s != 130 {
			t.Errorf("status %d", s)
		}
		if got := x.err.String(); !strings.Contains(got, "runcode: abort: interrupted\n") || !strings.Contains(got, "1:code:1 slow cancelled: started, then aborted; its effect is unknown") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("CLI-7 CLI-8 with --json the abort is the object's", func(t *testing.T) {
		x := newTerminal(t, nil, nil)
		done := make(chan int, 1)
		p := file(t, "p.ts", `await new Promise(r => setTimeout(r, 60000))`)
		go func() { done <- x.main([]string{"run", "--engine", "goja", "--json", p}) }()
		time.Sleep(300 * time.Millisecond)
		x.interrupts <- os.Interrupt
		if s := status(t, done); s != 130 {
			t.Errorf("status %d", s)
		}
		if got := x.out.String(); !strings.HasPrefix(got, `{"ok":false,"logs":[],"error":{"kind":"abort","message":"interrupted"}`) || strings.Count(got, "\n") != 1 {
			t.Errorf("got %q", got)
		}
	})
	t.Run("CLI-7 an interrupt while servers start, and one while a tool is called", func(t *testing.T) {
		for _, args := range [][]string{
			{"run", "--quiet", "--engine", "goja", "--mcp", file(t, "m.json", `{"mcpServers": {"silent": {"command": "sleep", "args": ["60"]}}}`), file(t, "p.ts", "return 1")},
			{"tools", "call", "slow", "{}", "--tools", file(t, "tools.json", slowTools)},
		} {
			x := newTerminal(t, nil, nil)
			done := make(chan int, 1)
			go func() { done <- x.main(args) }()
			time.Sleep(300 * time.Millisecond)
			x.interrupts <- os.Interrupt
			if s := status(t, done); s != 130 {
				t.Errorf("%v: status %d: %s", args, s, x.err)
			}
			if got := x.err.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "runcode: ") {
				t.Errorf("%v says %q", args, got)
			}
		}
	})
	t.Run("CLI-7 the second interrupt ends the process", func(t *testing.T) {
		x := newTerminal(t, nil, nil)
		ctx, cancel := context.WithCancelCause(context.Background())
		stop := make(chan struct{})
		defer close(stop)
		go x.watchInterrupts(cancel, stop)
		x.interrupts <- os.Interrupt
		<-ctx.Done()
		if cause := context.Cause(ctx); cause != errInterrupted {
			t.Errorf("cause %v", cause)
		}
		select {
		case s := <-x.exits:
			t.Fatalf("the first one ended it with %d", s)
		case <-time.After(20 * time.Millisecond):
		}
		x.interrupts <- os.Interrupt
		select {
		case s := <-x.exits:
			if s != 130 {
				t.Errorf("status %d", s)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("still running")
		}
	})
}

func TestImpliedRun(t *testing.T) {
	root := newTerminal(t, nil, nil).rootCommand()
	for _, c := range []struct {
		name       string
		args, want string
	}{
		{"CLI-1 a program", "p.ts", "run p.ts"},
		{"CLI-1 a program behind flags with and without values", "--json --engine goja --tools=x p.ts -- a", "run --json --engine goja --tools=x p.ts -- a"},
		{"CLI-1 standard input", "-", "run -"},
		{"CLI-1 a path", "./p", "run ./p"},
		{"CLI-1 a command stays", "tools show x", "tools show x"},
		{"CLI-1 a command behind flags stays", "--json tools", "--json tools"},
		{"CLI-1 a word that is neither stays", "frobnicate", "frobnicate"},
		{"CLI-1 help stays", "--help", "--help"},
		{"CLI-1 a folder is run's to refuse", "testdata", "run testdata"},
		{"CLI-1 --allow-read takes no value behind a space", "--allow-read p.ts", "run --allow-read p.ts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(impliedRun(root, strings.Fields(c.args)), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLedgerText(t *testing.T) {
	t.Run("CLI-9 many calls are cut, their sums are not", func(t *testing.T) {
		calls := make([]bridge.Call, 250)
		for i := range calls {
			calls[i] = bridge.Call{ID: "1:code:1", Tool: "t", State: bridge.Done}
		}
		got := newTerminal(t, nil, nil).ledgerText(calls)
		if strings.Count(got, "\n") != ledgerLimit+2 || !strings.Contains(got, "… and 150 more") || !strings.HasSuffix(got, "  t: 250 done\n") {
			t.Errorf("got %s", got)
		}
	})
}
