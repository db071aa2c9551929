//go:build unix

package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEnviron(t *testing.T) {
	parent := []string{"PATH=/bin", "HOME=/h", "LANG=C", "https_proxy=p", "API_KEY=x", "my_password=x", "Secret=x", "GITHUB_TOKEN=x", "TOKENS=x", "MONKEY=x", "RUNCODE_X=x", "runcode_y=x", "EMPTY=", "BROKEN", "A=b=c"}
	for _, c := range []struct {
		name  string
		extra map[string]string
		want  []string
	}{
		{"scrubbed", nil, []string{"PATH=/bin", "HOME=/h", "LANG=C", "https_proxy=p", "EMPTY=", "A=b=c"}},
		{"explicit entries survive", map[string]string{"API_KEY": "mine", "RUNCODE_X": "1"}, []string{"PATH=/bin", "HOME=/h", "LANG=C", "https_proxy=p", "EMPTY=", "A=b=c", "API_KEY=mine", "RUNCODE_X=1"}},
		{"and win", map[string]string{"PATH": "/x"}, []string{"HOME=/h", "LANG=C", "https_proxy=p", "EMPTY=", "A=b=c", "PATH=/x"}},
	} {
		t.Run("MCP-70 "+c.name, func(t *testing.T) {
			if got := Environ(parent, c.extra); !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "bin", "tool")
	if err := os.MkdirAll(filepath.Dir(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "bin", "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=relative:" + filepath.Dir(script)}
	for _, c := range []struct{ name, want, wrong string }{
		{"tool", script, ""}, {"bin/tool", script, ""}, {"./bin/tool", script, ""}, {script, script, ""},
		{"nothing", "", `there is no executable "nothing" in PATH: install it, or give its full path`},
		{"plain", "", `"plain" was found in PATH but cannot be run: permission denied`},
		{"bin/plain", "", `"bin/plain" cannot be run: permission denied`},
		{"bin/none", "", `"bin/none" cannot be run: no such file or directory`},
		{"", "", `"" is no executable's name`}, {"a\x00", "", "is no executable's name"},
	} {
		t.Run("MCP-1 "+c.name, func(t *testing.T) {
			cmd, err := Command(c.name, []string{"x"}, dir, env)
			switch {
			case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
				t.Errorf("error %v", err)
			case c.wrong == "" && (err != nil || cmd.Path != c.want || cmd.Dir != dir || cmd.Args[0] != c.name || cmd.Args[1] != "x"):
				t.Errorf("%+v %v", cmd, err)
			}
		})
	}
}

func shell(script string) *exec.Cmd { return exec.Command("/bin/sh", "-c", script) }

func TestRun(t *testing.T) {
	limits := Limits{Input: []byte("in"), MaxOutput: 1000, StderrTail: 10, Grace: 100 * time.Millisecond}
	t.Run("TOOLS-3 streams and status", func(t *testing.T) {
		out, err := Run(t.Context(), shell("cat; echo 0123456789abc >&2; exit 3"), limits)
		if err != nil || string(out.Stdout) != "in" || out.Stderr != "456789abc\n" || out.State.ExitCode() != 3 {
			t.Errorf("%q %q %v %v", out.Stdout, out.Stderr, out.State, err)
		}
	})
	t.Run("TOOLS-3 input that nobody reads", func(t *testing.T) {
		l := limits
		l.Input = bytes.Repeat([]byte("x"), 1<<20)
		if out, err := Run(t.Context(), shell("echo done"), l); err != nil || string(out.Stdout) != "done\n" {
			t.Errorf("%q %v", out.Stdout, err)
		}
	})
	t.Run("TOOLS-3 just enough, and one byte too much", func(t *testing.T) {
		if out, err := Run(t.Context(), shell("head -c 1000 /dev/zero"), limits); err != nil || len(out.Stdout) != 1000 {
			t.Errorf("%d %v", len(out.Stdout), err)
		}
		if _, err := Run(t.Context(), shell("head -c 1001 /dev/zero; sleep 100"), limits); !errors.Is(err, ErrOutput) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("TOOLS-3 terminated, with time to clean up", func(t *testing.T) {
		note := filepath.Join(t.TempDir(), "note")
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		l := limits
		l.Grace = 5 * time.Second
		_, err := Run(ctx, shell("trap 'echo clean > "+note+"; exit' TERM; while :; do sleep 0.02; done"), l)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if text, _ := os.ReadFile(note); string(text) != "clean\n" {
			t.Error("it had no time")
		}
	})
	t.Run("TOOLS-3 killed when it does not follow", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := Run(ctx, shell("trap '' TERM; while :; do sleep 0.02; done"), limits)
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
	t.Run("TOOLS-3 a context that has ended starts nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		note := filepath.Join(t.TempDir(), "note")
		if _, err := Run(ctx, shell("touch "+note), limits); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if _, err := os.Stat(note); err == nil {
			t.Error("it was started")
		}
	})
	t.Run("TOOLS-3 an escaped grandchild holds the pipe, but not us", func(t *testing.T) {
		if _, err := exec.LookPath("setsid"); err != nil {
			t.Skip("no setsid")
		}
		start := time.Now()
		out, err := Run(t.Context(), shell("setsid sleep 20 & echo out"), limits)
		if took := time.Since(start); err != nil || string(out.Stdout) != "out\n" || took > 10*time.Second {
			t.Errorf("%q %v after %v", out.Stdout, err, took)
		}
	})
	t.Run("TOOLS-3 a cut character is not shown in part", func(t *testing.T) {
		if out, err := Run(t.Context(), shell("printf 'éééééééx' >&2"), limits); err != nil || out.Stderr != "ééééx" {
			t.Errorf("%q %v", out.Stderr, err)
		}
	})
}

func TestStop(t *testing.T) {
	start := func(t *testing.T, script string) *Process {
		t.Helper()
		cmd := shell(script)
		p, err := Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("MCP-72 it leaves by itself in time", func(t *testing.T) {
		p := start(t, "sleep 0.1")
		p.Stop(5*time.Second, time.Second)
		if !p.State().Success() {
			t.Errorf("state %v", p.State())
		}
	})
	t.Run("MCP-72 terminated, then killed", func(t *testing.T) {
		p := start(t, "trap '' TERM; while :; do sleep 0.02; done")
		if p.State() != nil {
			t.Error("a state before the end")
		}
		began := time.Now()
		p.Stop(50*time.Millisecond, 200*time.Millisecond)
		if took := time.Since(began); took < 250*time.Millisecond || p.State().Success() {
			t.Errorf("%v after %v", p.State(), took)
		}
		p.Stop(time.Hour, time.Hour) // again: returns at once
	})
	t.Run("MCP-14 a program that cannot be started", func(t *testing.T) {
		if _, err := Start(&exec.Cmd{Path: "/nothing/here"}); err == nil || err.Error() != "no such file or directory" {
			t.Errorf("error %v", err)
		}
	})
}
