package runcode_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// scratch is a folder for the built command; TestMain makes and removes it.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "runcode-examples-")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build builds the command once for all tests of this package.
var build = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(scratch, "runcode")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", binary, "./cmd/runcode").CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return binary, nil
})

// runcode runs the command in the repository's root and returns its streams.
func runcode(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatalf("the command does not build: %v", err)
	}
	cmd := exec.Command(binary, args...)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	if err := cmd.Run(); err != nil {
		t.Fatalf("runcode %s: %v\n%s", strings.Join(args, " "), err, diagnostics.String())
	}
	return out.String(), diagnostics.String()
}

type packageReport struct {
	Files, Lines int
	Largest      []struct {
		Name, File string
		Lines      int
	}
}

const reportProgram = "testdata/examples/report.ts"

// TestReport runs the main job of the README on both engines and compares it with what this test counts itself.
func TestReport(t *testing.T) {
	for _, engine := range []string{"wasm", "goja"} {
		t.Run(engine, func(t *testing.T) {
			out, _ := runcode(t, "run", "--engine", engine, "--allow-read", reportProgram)
			var report map[string]packageReport
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatalf("the report is not JSON: %v\n%s", err, out)
			}
			for _, folder := range []string{"runtime", "registry", "bridge", "cmd/runcode"} {
				files, err := filepath.Glob(filepath.Join(folder, "*.go"))
				if err != nil {
					t.Fatal(err)
				}
				lines := 0
				for _, f := range files {
					text, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					lines += strings.Count(string(text), "\n")
				}
				got := report[folder]
				if got.Files != len(files) || got.Lines != lines {
					t.Errorf("%s: the report says %d files and %d lines, there are %d and %d", folder, got.Files, got.Lines, len(files), lines)
				}
				if len(got.Largest) != 10 {
					t.Errorf("%s: the report names %d functions, expected 10", folder, len(got.Largest))
				}
				for i := 1; i < len(got.Largest); i++ {
					if got.Largest[i].Lines > got.Largest[i-1].Lines {
						t.Errorf("%s: function %d of the report is larger than the one before it", folder, i)
					}
				}
			}
		})
	}
}

// TestReportThroughServer does the same job through a real filesystem MCP server.
func TestReportThroughServer(t *testing.T) {
	const server = "testdata/servers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node.js is not installed, and the real MCP server needs it")
	}
	if _, err := os.Stat(server); err != nil {
		const what = "the real MCP server is not installed: run npm ci --prefix testdata/servers"
		if _, err := exec.LookPath("npm"); err == nil && os.Getenv("CI") == "true" { // which installs it
			t.Fatal(what)
		}
		t.Skip(what)
	}
	var own, served any
	direct, _ := runcode(t, "run", "--allow-read", reportProgram)
	if err := json.Unmarshal([]byte(direct), &own); err != nil {
		t.Fatal(err)
	}
	through, _ := runcode(t, "run", "--mcp", "testdata/examples/files.mcp.json", reportProgram)
	if err := json.Unmarshal([]byte(through), &served); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(own, served) {
		t.Errorf("the reports differ:\nfile tools: %s\nMCP server: %s", direct, through)
	}
}

// TestOrders runs the example that overlaps calls, catches a ToolCallError and goes on.
func TestOrders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its manifest runs echo, which is no executable there")
	}
	const want = `{"total":505.5,"parcels":["parcel-A-17","parcel-B-04","parcel-C-31"],` +
		`"untold":{"A-17":"notify: the mail server does not answer","B-04":"notify: the mail server does not answer",` +
		`"C-31":"notify: the mail server does not answer"}}`
	for _, engine := range []string{"wasm", "goja"} {
		t.Run(engine, func(t *testing.T) {
			out, logs := runcode(t, "run", "--engine", engine, "--tools", "testdata/examples/orders.tools.json", "testdata/examples/orders.ts")
			if strings.TrimSpace(out) != want {
				t.Errorf("it returned\n%s\nexpected\n%s", out, want)
			}
			if want := "shipped 3 orders, told 0 customers\n"; logs != want {
				t.Errorf("it logged %q, expected %q", logs, want)
			}
		})
	}
}

// TestReadme keeps the README true: its Go code is the one of the example that runs, and the files it names exist.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("bridge/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	code, ok := fenced(string(text), "go")
	if !ok || !strings.Contains(flat(string(example)), flat(code)) {
		t.Error("the Go code of the README is not that of bridge/example_test.go")
	}
	output, ok := fenced(string(text), "text")
	if !ok || !strings.Contains(flat(strings.ReplaceAll(string(example), "//", "")), flat(output)) {
		t.Error("the output in the README is not that of bridge/example_test.go")
	}
	for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \n()`", r) }) {
		if strings.HasPrefix(word, "testdata/examples/") {
			if _, err := os.Stat(word); err != nil {
				t.Errorf("the README names %s, which does not exist", word)
			}
		}
	}
}

// fenced returns the first fenced block of that language.
func fenced(text, language string) (string, bool) {
	_, rest, ok := strings.Cut(text, "\n```"+language+"\n")
	if !ok {
		return "", false
	}
	block, _, ok := strings.Cut(rest, "\n```\n")
	return block, ok
}
