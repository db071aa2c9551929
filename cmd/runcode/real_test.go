package main

// This file finds the real MCP servers and clients of testdata/servers and testdata/clients, the Node.js that they want, and the
// surroundings in which the tests of real*_test.go run the command.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	repository = "../.." // from the folder of this package

	serverPackages = repository + "/testdata/servers/node_modules"
	clientPackages = repository + "/testdata/clients/node_modules"
	examples       = "testdata/examples/"
)

// longest is how long one process of a test may take: it is never what a test measures. A dozen Node.js processes that start at once on
// a loaded machine need a while, and the conformance suite starts several times as many of the command.
const longest = 8 * time.Minute

// missing ends a test that lacks something of npm's. Where CI could have installed it, that is a failure: a green run must have talked
// to the real servers.
func missing(t *testing.T, what string) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err == nil && os.Getenv("CI") == "true" {
		t.Fatalf("%s: .ci/run installs it with npm, which is there", what)
	}
	t.Skip(what)
}

// needPackages wants npm packages in a folder of testdata, each named as under node_modules.
func needPackages(t *testing.T, modules string, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(modules, name, "package.json")); err != nil {
			missing(t, "the npm package "+name+" is not installed: npm ci --prefix "+strings.TrimPrefix(filepath.Dir(modules), repository+"/"))
		}
	}
}

// needServers wants those packages of testdata/servers, and returns the folder of a Node.js that can run them all.
func needServers(t *testing.T, names ...string) (node string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the servers' paths are compared as they are written elsewhere")
	}
	needPackages(t, serverPackages, names...)
	return nodeFolder(t)
}

// nodeFolder returns the folder of a Node.js of version 22.19 or later, as an absolute path: the one on the PATH, or the npm package
// for this platform.
func nodeFolder(t *testing.T) string {
	t.Helper()
	var candidates []string
	if found, err := exec.LookPath("node"); err == nil {
		candidates = append(candidates, filepath.Dir(found))
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	candidates = append(candidates, filepath.Join(serverPackages, "node-"+runtime.GOOS+"-"+arch, "bin"))
	for _, folder := range candidates {
		out, err := exec.CommandContext(t.Context(), filepath.Join(folder, "node"), "--version").Output()
		if err != nil {
			continue
		}
		version := strings.Split(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
		if len(version) < 2 {
			continue
		}
		major, _ := strconv.Atoi(version[0])
		minor, _ := strconv.Atoi(version[1])
		if major > 22 || major == 22 && minor >= 19 {
			abs, err := filepath.Abs(folder)
			if err != nil {
				t.Fatal(err)
			}
			return abs
		}
	}
	missing(t, "no Node.js 22.19 or later: npm ci --prefix testdata/servers brings one for Linux on amd64 and arm64")
	return ""
}

// place is the surroundings of a process that a test starts: the repository's root as working directory, a home of its own, no
// configuration of this machine.
type place struct {
	env []string
}

// newPlace returns surroundings with that Node.js first on the PATH, and variables as NAME=VALUE.
func newPlace(t *testing.T, node string, variables ...string) place {
	t.Helper()
	home := t.TempDir()
	runcode, err := exec.LookPath("runcode")
	if err != nil {
		t.Fatal(err)
	}
	return place{env: append([]string{
		"PATH=" + node + string(filepath.ListSeparator) + os.Getenv("PATH"),
		// Where the tests' commands lie, which is removed after the last test: so the engine is compiled once.
		"XDG_CACHE_HOME=" + filepath.Join(filepath.Dir(runcode), "cache"),
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"TMPDIR=" + os.TempDir(), "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	}, variables...)}
}

// with returns the place with more variables.
func (p place) with(variables ...string) place {
	return place{env: append(p.env[:len(p.env):len(p.env)], variables...)}
}

// command is a process of this place. It is killed if it is still there after all that the test's end does, or after too long a time.
func (p place) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), longest)
	t.Cleanup(cancel)
	if !strings.ContainsRune(name, filepath.Separator) { // exec looks in this process's PATH, not in that of the place
		for _, folder := range filepath.SplitList(strings.TrimPrefix(p.env[0], "PATH=")) {
			if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				name = found
				break
			}
		}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = repository, p.env, 10*time.Second
	return cmd
}

// run runs a process to its end and returns its streams and its exit status.
func (p place) run(t *testing.T, name string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := p.command(t, name, args...)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, diagnostics.String())
	}
	return out.String(), diagnostics.String(), cmd.ProcessState.ExitCode()
}

// must runs a process that has to succeed.
func (p place) must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, diagnostics, status := p.run(t, name, args...)
	if status != 0 {
		t.Fatalf("%s %s: exit status %d\n%s%s", name, strings.Join(args, " "), status, out, diagnostics)
	}
	return out
}

// outcome is what a program did, by whichever way it ran.
type outcome struct {
	Value any
	Logs  []string
	Error string // "" where the program succeeded
}

// runCommand runs a program by `runcode run --json`, and returns its outcome and how often each tool was called.
func (p place) runCommand(t *testing.T, config, program string, flags ...string) (outcome, map[string]int) {
	t.Helper()
	args := append([]string{"run", "--json", "--mcp", config}, flags...)
	out, diagnostics, _ := p.run(t, "runcode", append(args, program)...)
	var report struct {
		OK    bool
		Value any
		Logs  []string
		Error struct{ Message string }
		Calls []struct{ Tool, State string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("runcode %s: %v\n%s\n%s", strings.Join(args, " "), err, out, diagnostics)
	}
	if report.OK != (report.Error.Message == "") {
		t.Errorf("the report says ok: %v, and the error %q", report.OK, report.Error.Message)
	}
	calls := map[string]int{}
	for _, call := range report.Calls {
		calls[call.Tool]++
	}
	return outcome{report.Value, report.Logs, report.Error.Message}, calls
}

// gateway starts `runcode mcp` and returns a session of the Go SDK's client with it, which ends with the test.
func (p place) gateway(t *testing.T, flags ...string) *mcp.ClientSession {
	t.Helper()
	cmd := p.command(t, "runcode", append([]string{"mcp", "--start-wait", "2m"}, flags...)...)
	var diagnostics bytes.Buffer
	cmd.Stderr = &diagnostics
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.WithoutCancel(t.Context()), &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Minute}, nil)
	if err != nil {
		t.Fatalf("runcode mcp %s: %v\n%s", strings.Join(flags, " "), err, diagnostics.String())
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("runcode mcp %s did not end well: %v\n%s", strings.Join(flags, " "), err, diagnostics.String())
		}
	})
	return session
}

// callRunCode runs a program by the gateway's run_code.
func callRunCode(t *testing.T, session *mcp.ClientSession, code string) *mcp.CallToolResult {
	t.Helper()
	params := &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": code, "description": "A program of the tests"}}
	params.SetProgressToken(t.Name()) // who asks for progress is not bound to the time that clients usually wait
	result, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("run_code: %v", err)
	}
	return result
}

// runGateway runs a program by the gateway's run_code, and returns what stands in its structured content.
func runGateway(t *testing.T, session *mcp.ClientSession, code string) (outcome, *mcp.CallToolResult) {
	t.Helper()
	result := callRunCode(t, session, code)
	text := ""
	for _, block := range result.Content {
		if b, ok := block.(*mcp.TextContent); ok {
			text += b.Text
		}
	}
	if result.IsError {
		return outcome{Error: text}, result
	}
	structured, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Logs   []string
		Result any
	}
	if err := json.Unmarshal(structured, &report); err != nil || report.Logs == nil {
		t.Fatalf("run_code's structured content is %s; its text is\n%s", structured, text)
	}
	return outcome{report.Result, report.Logs, ""}, result
}
