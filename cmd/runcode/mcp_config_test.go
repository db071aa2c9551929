package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry/mcptools"
)

// TestPrintConfig reads what is printed for each client with the reader of the same clients' files.
func TestPrintConfig(t *testing.T) {
	servers := file(t, "it's mine.json", `{"mcpServers": {"demo": {"command": "mcpserver"}}}`)
	tools := file(t, "tools.json", `{"tools": {"ping": {"description": "Answers.", "result": "pong"}}}`)
	folder := t.TempDir()
	t.Chdir(filepath.Dir(servers))
	flags := []string{"mcp", "--mcp", filepath.Base(servers), "--tools", tools, "--allow-read", "--allow-write=" + folder, "--ask", "*,*", "--wall", "90s", "--heap", "64MiB", "--yes"}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		"mcp", "--allow-read=" + here, "--allow-write", folder, "--ask", "*,*", "--heap", "64MiB",
		"--mcp", filepath.Join(here, "it's mine.json"), "--tools", tools, "--wall", "1m30s", "--yes",
	}
	executable, err := stableExecutable()
	if err != nil || !filepath.IsAbs(executable) {
		t.Fatalf("%q: %v", executable, err)
	}
	shapes := map[string]string{ // the documents as their clients' manuals have them, with COMMAND, ARGS and WORDS for what differs
		"claude-code":    `{"mcpServers":{"runcode":{"type":"stdio","command":COMMAND,"args":ARGS}}}`,
		"claude-desktop": `{"mcpServers":{"runcode":{"command":COMMAND,"args":ARGS}}}`,
		"cursor":         `{"mcpServers":{"runcode":{"type":"stdio","command":COMMAND,"args":ARGS}}}`,
		"vscode":         `{"servers":{"runcode":{"type":"stdio","command":COMMAND,"args":ARGS}}}`,
		"windsurf":       `{"mcpServers":{"runcode":{"command":COMMAND,"args":ARGS}}}`,
		"gemini":         `{"mcpServers":{"runcode":{"command":COMMAND,"args":ARGS}}}`,
		"codex":          "[mcp_servers.runcode]\ncommand = COMMAND\nargs = ARGS\nstartup_timeout_sec = 30\n",
		"opencode":       `{"$schema":"https://opencode.ai/config.json","mcp":{"runcode":{"type":"local","command":WORDS,"enabled":true}}}`,
	}
	if len(shapes) != len(clients) {
		t.Errorf("%d shapes for %d clients", len(shapes), len(clients))
	}
	for _, c := range clients {
		t.Run("GATE-2 "+c.name, func(t *testing.T) {
			x := newTerminal(t, nil, nil)
			x.stdoutTerminal = false
			if status := x.main(append(slices.Clone(flags), "--print-config", c.name)); status != 0 {
				t.Fatalf("status %d: %s", status, x.err)
			}
			out := x.out.String()
			name := "config.json"
			if c.name == "codex" {
				name = "config.toml"
			}
			read, err := mcptools.LoadConfig(file(t, name, out))
			if err != nil || len(read) != 1 {
				t.Fatalf("%v: %v\n%s", read, err, out)
			}
			if read[0].Name != entryName || read[0].Command != executable || !slices.Equal(read[0].Args, args) {
				t.Errorf("read back as %q %q", read[0].Command, read[0].Args)
			}
			if !read[0].StartsItself(executable) {
				t.Error("the gateway does not recognise its own entry")
			}
			if want := fill(t, shapes[c.name], executable, args); flatten(out) != flatten(want) {
				t.Errorf("printed\n%s\nwant\n%s", out, want)
			}
			if !strings.Contains(x.err.String(), "runcode: this belongs in "+c.file+"\n") {
				t.Errorf("standard error: %s", x.err)
			}
			if line := "runcode: or: "; (c.also != nil) != strings.Contains(x.err.String(), line) {
				t.Errorf("standard error: %s", x.err)
			}
		})
	}
	t.Run("GATE-2 claude mcp add, as a shell reads it", func(t *testing.T) {
		sh, err := exec.LookPath("sh")
		if err != nil || goruntime.GOOS == "windows" {
			t.Skip("there is no POSIX shell")
		}
		x := newTerminal(t, nil, nil)
		x.main(append(slices.Clone(flags), "--print-config", "claude-code"))
		_, line, _ := strings.Cut(x.err.String(), "runcode: or: claude ")
		line, _, _ = strings.Cut(line, "\n")
		got, err := exec.Command(sh, "-c", `printf '%s\n' `+line).Output()
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		want := strings.Join(append([]string{"mcp", "add", "--scope", "project", "runcode", "--", executable}, args...), "\n") + "\n"
		if string(got) != want {
			t.Errorf("a shell reads\n%swant\n%s", got, want)
		}
	})
	t.Run("GATE-2 the variables that the servers use are passed on by name", func(t *testing.T) {
		t.Setenv("RUNCODE_TESTS_TOKEN", "s3cret-of-the-tests")
		config := file(t, "vars.json", `{"mcpServers": {"demo": {"command": "mcpserver", "args": ["${HOME}", "${RUNCODE_TESTS_UNSET:-x}"], "env": {"T": "${RUNCODE_TESTS_TOKEN}"}}}}`)
		shapes := map[string]string{
			"claude-code":    `"env":{"RUNCODE_TESTS_TOKEN":"${RUNCODE_TESTS_TOKEN}"}`,
			"claude-desktop": ``,
			"cursor":         `"env":{"RUNCODE_TESTS_TOKEN":"${env:RUNCODE_TESTS_TOKEN}"}`,
			"vscode":         `"env":{"RUNCODE_TESTS_TOKEN":"${env:RUNCODE_TESTS_TOKEN}"}`,
			"windsurf":       `"env":{"RUNCODE_TESTS_TOKEN":"${env:RUNCODE_TESTS_TOKEN}"}`,
			"gemini":         `"env":{"RUNCODE_TESTS_TOKEN":"${RUNCODE_TESTS_TOKEN}"}`,
			"codex":          `env_vars=["RUNCODE_TESTS_TOKEN"]`,
			"opencode":       `"environment":{"RUNCODE_TESTS_TOKEN":"{env:RUNCODE_TESTS_TOKEN}"}`,
		}
		for _, c := range clients {
			x := newTerminal(t, nil, nil)
			x.stdoutTerminal = false
			if status := x.main([]string{"mcp", "--mcp", config, "--print-config", c.name}); status != 0 {
				t.Fatalf("status %d: %s", status, x.err)
			}
			out := x.out.String()
			if shape := shapes[c.name]; !strings.Contains(flatten(out), shape) || (shape == "") == strings.Contains(out, "RUNCODE_TESTS_TOKEN") {
				t.Errorf("%s: printed\n%s", c.name, out)
			}
			if strings.Contains(out+x.err.String(), "s3cret") || strings.Contains(out, "HOME") || strings.Contains(out, "UNSET") {
				t.Errorf("MCP-5 %s: printed\n%s%s", c.name, out, x.err)
			}
			if warned := strings.Contains(x.err.String(), "under env: RUNCODE_TESTS_TOKEN\n"); warned == c.passes {
				t.Errorf("%s: standard error: %s", c.name, x.err)
			}
			if !c.passes {
				continue
			}
			name := "config.json"
			if c.name == "codex" {
				name = "config.toml"
			}
			read, err := mcptools.LoadConfig(file(t, name, out))
			if err != nil || len(read) != 1 || read[0].Env["RUNCODE_TESTS_TOKEN"] != "s3cret-of-the-tests" {
				t.Errorf("%s: read back as %v: %v", c.name, read, err)
			}
		}
	})
	t.Run("CLI-5 what a terminal would act on is escaped", func(t *testing.T) {
		if goruntime.GOOS == "windows" {
			t.Skip("such names cannot be")
		}
		odd := file(t, "\x1b[2J.json", `{"mcpServers": {}}`)
		x := newTerminal(t, nil, nil)
		if status := x.main([]string{"mcp", "--mcp", odd, "--print-config", "claude-code"}); status != 0 {
			t.Fatalf("status %d: %s", status, x.err)
		}
		if strings.Contains(x.out.String()+x.err.String(), "\x1b") {
			t.Errorf("%q %q", x.out, x.err)
		}
	})
}

// fill puts a command into a shape.
func fill(t *testing.T, shape, command string, args []string) string {
	t.Helper()
	quote := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return strings.NewReplacer("COMMAND", quote(command), "ARGS", quote(args), "WORDS", quote(append([]string{command}, args...))).Replace(shape)
}

// flatten drops what layout adds. None of the tests' values has white space that matters, but one blank.
func flatten(text string) string { return strings.Join(strings.Fields(text), "") }
