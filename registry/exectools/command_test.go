//go:build unix

package exectools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// The command of these tests is the test binary itself, started again with what it is to do in its environment.
const actVariable = "EXECTOOLS_TEST_ACT"

func TestMain(m *testing.M) {
	if act, ok := os.LookupEnv(actVariable); ok {
		perform(act)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func perform(act string) {
	name, value, _ := strings.Cut(act, "=")
	switch name {
	case "report": // what the command got, as JSON
		input, _ := io.ReadAll(os.Stdin)
		folder, _ := os.Getwd()
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"args": os.Args[1:], "stdin": string(input), "folder": folder, "env": os.Environ()})
	case "print":
		fmt.Print(value)
	case "binary":
		_, _ = os.Stdout.Write([]byte{0xFF, 0xFE})
	case "fail":
		fmt.Fprint(os.Stderr, value)
		os.Exit(3)
	case "rant":
		fmt.Fprint(os.Stderr, strings.Repeat("é", 10_000)+"the end")
		os.Exit(1)
	case "flood":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				return
			}
		}
	case "hang": // tells its number and that of a grandchild, and follows no signal but the kill
		signal.Ignore(syscall.SIGTERM)
		grandchild := exec.Command("sleep", "300")
		grandchild.Stdout, grandchild.Stderr = os.Stdout, os.Stderr
		if err := grandchild.Start(); err != nil {
			panic(err)
		}
		_ = os.WriteFile(value+".tmp", []byte(fmt.Sprintf("%d %d", os.Getpid(), grandchild.Process.Pid)), 0o600)
		_ = os.Rename(value+".tmp", value)
		time.Sleep(time.Hour)
	case "leave": // leaves a grandchild with the pipe
		grandchild := exec.Command("sleep", "300")
		grandchild.Stdout = os.Stdout
		if err := grandchild.Start(); err != nil {
			panic(err)
		}
		fmt.Print(grandchild.Process.Pid)
	}
}

// commandTool is a manifest with one tool t.
func commandTool(t *testing.T, act, args, more string) *registry.Registry {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"tools": {"t": {"description": "d", "command": [%q%s], "env": {%q: %q}%s}}}`, exe, args, actVariable, act, more)
	return load(t, t.TempDir(), text)
}

const someParameters = `, "parameters": {"type": "object", "properties": {"name": {}, "opt": {}, "n": {}, "o": {}}}`

func TestCommandLine(t *testing.T) {
	type report struct {
		Args          []string
		Stdin, Folder string
		Env           []string
	}
	run := func(t *testing.T, args, given string) (report, registry.Result) {
		t.Helper()
		r := call(t, commandTool(t, "report", args, someParameters), "t", given)
		var got report
		if !r.IsError() {
			if err := json.Unmarshal(r.Value().JSON(), &got); err != nil {
				t.Fatal(err)
			}
		}
		return got, r
	}
	for _, c := range []struct{ name, elements, given, want string }{
		{"a place is never split", `, "{name}"`, `{"name": "a b;$(c) *"}`, `["a b;$(c) *"]`},
		{"places within an element", `, "x{name}y{n}"`, `{"name": "1", "n": 2}`, `["x1y2"]`},
		{"substitution is one pass", `, "{name}"`, `{"name": "{n}", "n": "no"}`, `["{n}"]`},
		{"non-strings are compact JSON", `, "{n}", "{o}"`, `{"n": true, "o": {"a": [1, 2]}}`, `["true","{\"a\":[1,2]}"]`},
		{"null is JSON", `, "{n}"`, `{"n": null}`, `["null"]`},
		{"a missing optional member drops its element", `, "--opt={opt}", "end"`, `{}`, `["end"]`},
		{"other braces are text", `, "{print $1}", "{", "{}", "{{name}}"`, `{"name": "x"}`, `["{print $1}","{","{}","{x}"]`},
		{"an option with a value", `, "--opt={opt}"`, `{"opt": "-x"}`, `["--opt=-x"]`},
		{"behind -- values may begin with -", `, "--", "{name}"`, `{"name": "-rf"}`, `["--","-rf"]`},
	} {
		t.Run("TOOLS-3 "+c.name, func(t *testing.T) {
			got, r := run(t, c.elements, c.given)
			if r.IsError() {
				t.Fatal(r.Failure().Message)
			}
			if text, _ := json.Marshal(got.Args); string(text) != c.want {
				t.Errorf("arguments %s, want %s", text, c.want)
			}
		})
	}
	for _, c := range []struct{ name, elements, given, want string }{
		{"a value that looks like an option", `, "{name}"`, `{"name": "-rf"}`, `"name": expected a value that does not begin with "-"`},
		{"also a number", `, "{n}"`, `{"n": -5}`, `"n": expected a value that does not begin with "-"`},
		{"also through an empty first place", `, "{name}{n}"`, `{"name": "", "n": "-x"}`, `does not begin with "-"`},
		{"also before a later --", `, "{name}", "--"`, `{"name": "-x"}`, `does not begin with "-"`},
		{"NUL", `, "x{name}"`, `{"name": "a\u0000b"}`, `"name": expected text without NUL characters`},
	} {
		t.Run("TOOLS-3 refused: "+c.name, func(t *testing.T) {
			_, r := run(t, c.elements, c.given)
			wantFailure(t, r, registry.CodeInvalidArgs, c.want)
		})
	}
	t.Run("TOOLS-3 standard input, folder, environment", func(t *testing.T) {
		t.Setenv("SOME_TOKEN", "s3cret")
		t.Setenv("RUNCODE_STATE_KEY", "s3cret")
		t.Setenv("HARMLESS", "yes")
		got, r := run(t, "", `{"name": "x", "n": 1.50}`)
		if r.IsError() {
			t.Fatal(r.Failure().Message)
		}
		if got.Stdin != `{"name":"x","n":1.5}` {
			t.Errorf("standard input %s", got.Stdin)
		}
		if _, err := os.Stat(filepath.Join(got.Folder, "tools.json")); err != nil {
			t.Errorf("the folder %s is not the manifest's", got.Folder)
		}
		env := strings.Join(got.Env, "\n")
		if strings.Contains(env, "s3cret") || !strings.Contains(env, "HARMLESS=yes") || !strings.Contains(env, actVariable) {
			t.Errorf("environment %s", env)
		}
	})
	t.Run("MCP-70 env may take a variable of ours", func(t *testing.T) {
		t.Setenv("SOME_TOKEN", "s3cret")
		exe, _ := os.Executable()
		reg := load(t, t.TempDir(), fmt.Sprintf(`{"tools": {"t": {"description": "d", "command": [%q], "env": {%q: "report", "PASS": "x${SOME_TOKEN}"}}}}`, exe, actVariable))
		if r := call(t, reg, "t", `{}`); !strings.Contains(r.Value().String(), `"PASS=xs3cret"`) {
			t.Error(r.Value().String())
		}
	})
}

func TestCommandResult(t *testing.T) {
	t.Run("TOOLS-3 JSON", func(t *testing.T) {
		wantValue(t, call(t, commandTool(t, "print= {\"b\":1,\"a\":[true]}\n", "", ""), "t", `{}`), `{"b":1,"a":[true]}`)
	})
	t.Run("TOOLS-3 text only where the manifest says so", func(t *testing.T) {
		wantFailure(t, call(t, commandTool(t, "print=hello\n", "", ""), "t", `{}`), "", "not one JSON document", `"text": true`)
		wantValue(t, call(t, commandTool(t, "print=hello\n", "", `, "text": true`), "t", `{}`), `"hello\n"`)
		wantValue(t, call(t, commandTool(t, "print=[1] ", "", `, "text": true`), "t", `{}`), `[1]`)
		wantFailure(t, call(t, commandTool(t, "print=", "", ""), "t", `{}`), "", "not one JSON document")
		wantFailure(t, call(t, commandTool(t, "binary", "", `, "text": true`), "t", `{}`), "", "neither JSON nor UTF-8")
	})
	t.Run("TOOLS-2 the output schema holds", func(t *testing.T) {
		wantFailure(t, call(t, commandTool(t, "print=[1]", "", `, "output": {"type": "string"}`), "t", `{}`), registry.CodeInvalidOutput)
	})
	t.Run("TOOLS-3 exit status: the end of standard error", func(t *testing.T) {
		wantFailure(t, call(t, commandTool(t, "fail=no such thing\n", "", ""), "t", `{}`), "", "(exit status 3): no such thing")
		wantFailure(t, call(t, commandTool(t, "fail=", "", ""), "t", `{}`), "", "exit status 3", "nothing to standard error")
		r := call(t, commandTool(t, "rant", "", ""), "t", `{}`)
		wantFailure(t, r, "", "éthe end")
		if n := len(r.Failure().Message); n > stderrTail+100 || strings.Contains(r.Failure().Message, "\uFFFD") {
			t.Errorf("message of %d bytes", n)
		}
	})
	t.Run("TOOLS-3 an executable that is not there", func(t *testing.T) {
		reg := load(t, t.TempDir(), `{"tools": {"t": {"description": "d", "command": ["no-such-program-here"]}, "u": {"description": "d", "command": ["./nothing.sh"]}}}`)
		wantFailure(t, call(t, reg, "t", `{}`), "", `no executable "no-such-program-here" in PATH`)
		wantFailure(t, call(t, reg, "u", `{}`), "", `"./nothing.sh" cannot be run`)
	})
	t.Run("TOOLS-3 a flood is cut off", func(t *testing.T) {
		wantFailure(t, call(t, commandTool(t, "flood", "", ""), "t", `{}`), "", "printed more than 8 MiB")
	})
	t.Run("TOOLS-3 what a command leaves behind is ended", func(t *testing.T) {
		start := time.Now()
		r := call(t, commandTool(t, "leave", "", ""), "t", `{}`)
		if r.IsError() || time.Since(start) > 20*time.Second {
			t.Fatalf("%s after %v", r.Text(), time.Since(start))
		}
		if pid := int(r.Value().Float()); !gone(pid) {
			t.Errorf("process %d is left", pid)
		}
	})
}

func TestCommandCancellation(t *testing.T) {
	before := goruntime.NumGoroutine()
	note := filepath.Join(t.TempDir(), "pids")
	reg := commandTool(t, "hang="+note, "", "")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan registry.Result, 1)
	go func() { done <- reg.Execute(ctx, registry.Call{ID: "1", Name: "t", Arguments: json.RawMessage(`{}`)}) }()
	var pids []string
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(note); err == nil {
			pids = strings.Fields(string(text))
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command did not start")
		}
	}
	cancel()
	t.Run("TOOLS-3 cancellation: the whole group, quiescent", func(t *testing.T) {
		wantFailure(t, <-done, registry.CodeAborted, "the call was cancelled")
		for _, p := range pids {
			if pid, _ := strconv.Atoi(p); !gone(pid) {
				t.Errorf("process %d is left", pid)
			}
		}
	})
	for deadline := time.Now().Add(3 * time.Second); goruntime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", goruntime.NumGoroutine(), before)
		}
	}
}

// gone says whether a process has ended; one that nobody has reaped counts.
func gone(pid int) bool {
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil {
			if _, state, ok := strings.Cut(string(stat), ") "); ok && (state[0] == 'Z' || state[0] == 'X') {
				return true
			}
		}
	}
	return false
}
