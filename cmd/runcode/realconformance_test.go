package main

// This file runs the official conformance suite against the gateway over HTTP. The gateway fronts a server with the tools that the
// suite expects, and shows them under their own names.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	suitePackage = "@modelcontextprotocol/conformance"
	suiteProgram = "testdata/clients/node_modules/" + suitePackage + "/dist/index.js"
)

// check is one entry of a scenario's checks.json.
type check struct {
	ID, Status, ErrorMessage string
	Details                  json.RawMessage
}

func TestRealConformance(t *testing.T) {
	t.Parallel()
	needPackages(t, clientPackages, suitePackage)
	p := newPlace(t, nodeFolder(t))
	target := withToken(t, p.gatewayHTTP(t, "--mode", "both", "--names", "raw", "--ask", "*test_input_required*", "--mcp", fixtureConfig(t)))
	for revision, list := range serverScenarios {
		t.Run(revision, func(t *testing.T) {
			runSuite(t, p, "server-", list, "server", "--url", target, "--requirements", revision)
		})
	}
}

// TestRealConformanceClient runs the suite's own servers, with [suiteClient] as the client.
func TestRealConformanceClient(t *testing.T) {
	t.Parallel()
	needPackages(t, clientPackages, suitePackage)
	p := newPlace(t, nodeFolder(t))
	program := filepath.Join(t.TempDir(), "first.ts")
	if err := os.WriteFile(program, []byte("return 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.must(t, "runcode", "run", program) // compiles the engine, which the clients would do all at once otherwise
	for revision, list := range clientScenarios {
		t.Run(revision, func(t *testing.T) {
			runSuite(t, p, "", list, "client", "--command", "suiteclient", "--timeout", "300000", "--requirements", revision)
		})
	}
}

// runSuite runs the scenarios that a revision of the protocol requires, each of which is a subtest then.
func runSuite(t *testing.T, p place, prefix string, list map[string]string, args ...string) {
	t.Helper()
	folder := t.TempDir()
	// Its status says whether everything passed, which the list is the judge of.
	out, diagnostics, _ := p.run(t, "node", append(append([]string{suiteProgram}, args...), "--output-dir", folder)...)
	ran := results(t, folder, prefix)
	if len(ran) == 0 {
		t.Fatalf("the suite ran nothing:\n%s%s", out, diagnostics)
	}
	for _, scenario := range slices.Sorted(maps.Keys(ran)) {
		reason, listed := list[scenario]
		t.Run(scenario, func(t *testing.T) {
			if !listed {
				t.Error("the scenario is not in the list: say there that it applies, or why not")
			}
			judge(t, scenario, reason, ran[scenario], list)
		})
	}
	for entry := range list {
		if scenario, _, _ := strings.Cut(entry, ":"); ran[scenario] == nil {
			t.Errorf("the list has %s, which the suite did not run", entry)
		}
	}
}

// judge compares a scenario's checks with what the list says of it.
func judge(t *testing.T, scenario, reason string, checks []check, list map[string]string) {
	t.Helper()
	const wire = "wire-schema-valid" // of each message that was sent: it has to hold whether or not the scenario applies
	passed, failed := false, false
	for _, c := range checks {
		bad := c.Status == "FAILURE" || c.Status == "WARNING"
		excuse, excused := list[scenario+":"+c.ID]
		switch {
		case bad && excused:
			t.Logf("%s does not apply: %s", c.ID, excuse)
		case bad && (reason == "" || c.ID == wire):
			t.Errorf("%s: %s: %s\n%s", c.ID, c.Status, c.ErrorMessage, c.Details)
		case bad:
			failed = true
		case excused && excuse != inHaste && c.Status == "SUCCESS":
			t.Errorf("%s passes: strike it from the list", c.ID)
		case c.Status == "SUCCESS" && c.ID != wire:
			passed = true
		}
	}
	switch {
	case reason != "" && passed && !failed:
		t.Errorf("the scenario passes: strike it from the list, which says: %s", reason)
	case reason != "":
		t.Skip(reason)
	case !passed && !t.Failed():
		t.Error("nothing of the scenario was checked: say in the list why it does not apply")
	}
}

// results reads what the suite left of each scenario: a folder named prefix, SCENARIO, "-", time, with the file checks.json. The name
// of a scenario may have a slash.
func results(t *testing.T, folder, prefix string) map[string][]check {
	t.Helper()
	name := regexp.MustCompile("^" + prefix + `(.+)-\d{4}-\d\d-\d\dT[\d-]+Z/checks\.json$`)
	found := map[string][]check{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
		m := name.FindStringSubmatch(path)
		if err != nil || m == nil {
			return err
		}
		var checks []check
		if err := json.Unmarshal([]byte(read(t, folder, path)), &checks); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(checks) == 0 {
			return fmt.Errorf("%s has no checks", path)
		}
		found[m[1]] = checks
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fixtureConfig is a configuration file with the server of [mcpFixture] alone.
func fixtureConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fixture.mcp.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers": {"fixture": {"command": "mcpfixture"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// token is what the gateways of the tests want to see over HTTP.
const token = "a-token-of-the-tests-and-of-nothing-else"

// gatewayHTTP starts `runcode mcp` on a free port of the loopback and returns its address. It is interrupted at the end of the test,
// and has to end then.
func (p place) gatewayHTTP(t *testing.T, flags ...string) string {
	t.Helper()
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := p.command(t, "runcode", append([]string{"mcp", "--http", "127.0.0.1:0", "--token-file", tokens, "--start-wait", "2m"}, flags...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, done := make(chan string, 1), make(chan string)
	go func() {
		defer close(done)
		said := ""
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, at, ok := strings.Cut(lines.Text(), "serving MCP at "); ok {
				address <- at
			}
			said += lines.Text() + "\n"
		}
		done <- said
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended already
		said := <-done
		_ = cmd.Wait()
		if status := cmd.ProcessState.ExitCode(); status != statusInterrupted {
			t.Errorf("runcode mcp --http ended with %v after an interrupt, expected status %d\n%s", cmd.ProcessState, statusInterrupted, said)
		}
	})
	select {
	case at := <-address:
		return at
	case said := <-done:
		t.Fatalf("runcode mcp --http does not serve:\n%s", said)
	case <-time.After(longest):
		t.Fatal("runcode mcp --http does not say where it serves")
	}
	return ""
}

// withToken serves the gateway at target to clients that cannot be given a token, with their own Host and Origin, and returns its
// address.
func withToken(t *testing.T, target string) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
		ErrorLog: log.New(io.Discard, "", 0), // clients leave in the middle of a stream
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The whole body first: an answer that begins before the proxy has seen the end of the body breaks the connection under it.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has left
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + to.Path
}
