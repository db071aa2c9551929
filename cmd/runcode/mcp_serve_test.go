package main

// This file drives the real command with the client of the MCP library, over both transports, and with the lines of the README.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry/mcptools"
)

// mcpFolder is a folder with the configuration of a server, for commands that run there.
func mcpFolder(t *testing.T) (dir string, environment []string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"servers.mcp.json": `{"mcpServers": {"demo": {"command": "mcpserver"}}}`,
		"tools.json":       `{"tools": {"ping": {"description": "Answers.", "result": "pong"}, "remove": {"description": "Removes.", "result": "gone"}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
}

// program runs a program by run_code and returns the JSON of its result.
func program(t *testing.T, session *mcp.ClientSession, code string) string {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": code, "description": "A test"}})
	if err != nil {
		t.Fatal(err)
	}
	if result.IsError {
		t.Fatalf("it failed: %s", result.Content[0].(*mcp.TextContent).Text)
	}
	structured, err := json.Marshal(result.StructuredContent.(map[string]any)["result"])
	if err != nil {
		t.Fatal(err)
	}
	return string(structured)
}

const sumProgram = `const r = await tools.mcp__demo__add({ a: 19, b: 23 }); return r.structuredContent.sum`

// httpServer is the command serving over HTTP.
type httpServer struct {
	*exec.Cmd
	url   string
	said  *screen
	ended chan struct{}
}

// startHTTP starts the command in dir and waits until it serves.
func startHTTP(t *testing.T, dir string, environment []string, flags ...string) *httpServer {
	t.Helper()
	s := &httpServer{Cmd: exec.Command("runcode", append([]string{"mcp", "--http", "127.0.0.1:0"}, flags...)...), said: &screen{}, ended: make(chan struct{})}
	s.Dir, s.Env = dir, environment
	var out bytes.Buffer
	s.Stdout = &out
	diagnostics, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(diagnostics); lines.Scan(); {
			s.said.Write([]byte(lines.Text() + "\n"))
		}
		_ = s.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = s.Process.Kill() // it may have ended
		<-s.ended
		if out.Len() > 0 {
			t.Errorf("GATE-6 standard output has %q", out.String())
		}
	})
	s.await(t, "/mcp\n")
	_, rest, _ := strings.Cut(s.said.String(), "runcode: serving MCP at ")
	s.url, _, _ = strings.Cut(rest, "\n")
	return s
}

// await waits until the command has said something.
func (s *httpServer) await(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(mcpPatience); !strings.Contains(s.said.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never said %q:\n%s", text, s.said)
		}
	}
}

// connect connects a client that shows a token.
func (s *httpServer) connect(t *testing.T, token string, o *mcp.ClientOptions) (*mcp.ClientSession, error) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.url, HTTPClient: &http.Client{Transport: showing{token}},
	}, nil)
	if err == nil {
		t.Cleanup(func() { session.Close() })
	}
	return session, err
}

// showing adds a bearer token to requests.
type showing struct{ token string }

func (s showing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	return http.DefaultTransport.RoundTrip(r)
}

func TestMCPHTTP(t *testing.T) {
	t.Parallel()
	dir, environment := mcpFolder(t)
	t.Run("GATE-1 the address and a token of its own are printed once, and the token admits", func(t *testing.T) {
		s := startHTTP(t, dir, environment, "--mcp", "servers.mcp.json", "--tools", "tools.json", "--ask", "remove")
		s.await(t, "bearer token, for this start: ")
		_, rest, _ := strings.Cut(s.said.String(), "bearer token, for this start: ")
		token, _, _ := strings.Cut(rest, "\n")
		if len(token) < 26 || strings.Count(s.said.String(), token) != 1 {
			t.Errorf("it said\n%s", s.said)
		}
		for _, wrong := range []string{"", "x" + token[1:]} {
			if _, err := s.connect(t, wrong, nil); err == nil {
				t.Errorf("the token %q admits", wrong)
			}
		}
		var asked []string
		session, err := s.connect(t, token, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := program(t, session, sumProgram); got != "42" {
			t.Errorf("the program returned %s", got)
		}
		if got := program(t, session, `return await tools.remove({ all: true })`); got != `"gone"` || !slices.Equal(asked, []string{"remove\n{\"all\":true}"}) {
			t.Errorf("GATE-4 the program returned %s, the person was asked %q", got, asked)
		}
	})
	t.Run("GATE-1 the tokens of a file admit, and nothing is printed of them", func(t *testing.T) {
		const token = "the-token-of-this-file"
		if err := os.WriteFile(filepath.Join(dir, "tokens"), []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := startHTTP(t, dir, environment, "--mcp", "servers.mcp.json", "--token-file", "tokens")
		session, err := s.connect(t, token, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := program(t, session, sumProgram); got != "42" {
			t.Errorf("the program returned %s", got)
		}
		if strings.Contains(s.said.String(), "token") {
			t.Errorf("it said\n%s", s.said)
		}
	})
	t.Run("GATE-1 an address that others reach is taken, with a warning", func(t *testing.T) {
		s := startHTTP(t, dir, environment, "--http", "0.0.0.0:0")
		if !strings.HasPrefix(s.said.String(), "runcode: warning: ") || !strings.Contains(s.said.String(), "can be reached from other machines, and nothing is encrypted") {
			t.Errorf("it said\n%s", s.said)
		}
		if !strings.HasPrefix(s.url, "http://127.0.0.1:") {
			t.Errorf("the address to connect to is %s", s.url)
		}
	})
	t.Run("GATE-5 an interrupt ends it, and what runs is answered", func(t *testing.T) {
		if goruntime.GOOS == "windows" {
			t.Skip("no signals")
		}
		if err := os.WriteFile(filepath.Join(dir, "slow.json"), []byte(`{"tools": {"slow": {"description": "x", "result": 1, "delayMs": 600000}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tokens"), []byte("the-token-of-this-file\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := startHTTP(t, dir, environment, "--tools", "slow.json", "--token-file", "tokens")
		progress := make(chan struct{}, 100)
		session, err := s.connect(t, "the-token-of-this-file", &mcp.ClientOptions{
			ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress <- struct{}{} },
		})
		if err != nil {
			t.Fatal(err)
		}
		answer := make(chan string, 1)
		go func() {
			params := &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": "await tools.slow({})", "description": "Wait"}}
			params.SetProgressToken("p")
			result, err := session.CallTool(context.WithoutCancel(t.Context()), params)
			if err != nil {
				answer <- err.Error()
				return
			}
			answer <- result.Content[0].(*mcp.TextContent).Text
		}()
		select {
		case <-progress: // it runs
		case <-time.After(mcpPatience):
			t.Fatal("no progress")
		}
		if err := s.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		select {
		case text := <-answer:
			if !strings.Contains(text, "abort") {
				t.Errorf("answer %q", text)
			}
		case <-time.After(mcpPatience):
			t.Fatal("no answer")
		}
		select {
		case <-s.ended:
		case <-time.After(mcpPatience):
			t.Fatal("it does not end")
		}
		if status := s.ProcessState.ExitCode(); status != statusInterrupted {
			t.Errorf("status %d", status)
		}
	})
}

// TestMCPClientGone has a client that closes one stream after the other while a tool runs.
func TestMCPClientGone(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("no shell for the tool")
	}
	for _, streams := range []string{"its standard input", "the command's standard output", "the command's standard error and output"} {
		t.Run("GATE-5 a client that closes "+streams+" in mid-run ends the command in good order", func(t *testing.T) {
			dir, environment := mcpFolder(t)
			if err := os.WriteFile(filepath.Join(dir, "long.json"), []byte(`{"tools": {"long": {"description": "x", "command":
				["sh", "-c", "echo $$ > starting; mv starting started; sleep 600"]}}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("runcode", "mcp", "--tools", "long.json")
			cmd.Dir, cmd.Env = dir, environment
			in, err1 := cmd.StdinPipe()
			out, err2 := cmd.StdoutPipe()
			diagnostics, err3 := cmd.StderrPipe()
			if err := errors.Join(err1, err2, err3, cmd.Start()); err != nil {
				t.Fatal(err)
			}
			messages := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"run_code","arguments":{"description":"Wait","code":"await tools.long({})"}}}
`
			if _, err := in.Write([]byte(messages)); err != nil {
				t.Fatal(err)
			}
			if err := awaitFile(filepath.Join(dir, "started")); err != nil {
				t.Fatal(err)
			}
			switch streams {
			case "its standard input":
				in.Close()
			case "the command's standard output":
				out.Close() // the next report of progress finds that out
			default:
				diagnostics.Close()
				out.Close()
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(mcpPatience):
				_ = cmd.Process.Kill()
				t.Fatal("it does not end")
			}
			text, err := os.ReadFile(filepath.Join(dir, "started"))
			if err != nil {
				t.Fatal(err)
			}
			if err := exec.Command("kill", "-0", strings.TrimSpace(string(text))).Run(); err == nil {
				t.Error("the tool's process goes on")
			}
		})
	}
}

// TestReadmeMCP runs the lines of the README for the users of MCP clients, and then does what their clients do with the files.
func TestReadmeMCP(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the lines are written for a shell")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## In front of your MCP servers\n")
	_, section, _ = strings.Cut(section, "\n```sh\n")
	lines, _, ok := strings.Cut(section, "\n```\n")
	if !ok {
		t.Fatal("the README has no such section")
	}
	dir, environment := mcpFolder(t)
	files := map[string]string{"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json"}
	for _, folder := range []string{".cursor", ".vscode"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(lines, "\n") + 1; n != len(files) {
		t.Errorf("%d lines for %d clients", n, len(files))
	}
	cmd := exec.Command(bash, "-ec", lines)
	cmd.Dir, cmd.Env = dir, environment
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for client, name := range files {
		t.Run("GATE-2 "+client, func(t *testing.T) {
			servers, err := mcptools.LoadConfig(filepath.Join(dir, name))
			if err != nil || len(servers) != 1 {
				t.Fatalf("%v: %v", servers, err)
			}
			cmd := exec.Command(servers[0].Command, servers[0].Args...)
			cmd.Dir, cmd.Env = t.TempDir(), environment // a client's folder is its own
			var diagnostics bytes.Buffer
			cmd.Stderr = &diagnostics
			session, err := mcp.NewClient(&mcp.Implementation{Name: client, Version: "1"}, nil).
				Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: mcpPatience}, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, diagnostics.String())
			}
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) == 0 || list.Tools[0].Name != "run_code" {
				t.Errorf("tools %v: %v", list, err)
			}
			if got := program(t, session, sumProgram); got != "42" {
				t.Errorf("the program returned %s", got)
			}
			if err := session.Close(); err != nil {
				t.Errorf("it does not end well: %v", err)
			}
			if diagnostics.Len() > 0 {
				t.Errorf("it said %s", diagnostics.String())
			}
		})
	}
}
