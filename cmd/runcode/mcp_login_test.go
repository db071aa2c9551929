package main

// This file tests the login at an MCP server that wants one, with a browser that agrees to everything.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// visit is a browser: the commands "xdg-open" and "open" of the tests' PATH.
func visit() {
	response, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	response.Body.Close()
}

// loginServer is an MCP server with the tool whoami, and the authorization server that it wants tokens of.
type loginServer struct {
	*httptest.Server
	logins atomic.Int32
}

func newLoginServer(t *testing.T) *loginServer {
	t.Helper()
	const access = "access-token-of-the-tests"
	server := mcp.NewServer(&mcp.Implementation{Name: "issues", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "whoami", Description: "Says who is logged in.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "somebody"}}}, nil
		})
	tools := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	s := new(loginServer)
	reply := func(w http.ResponseWriter, v map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+access {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=%q", s.URL+"/.well-known/oauth-protected-resource/mcp"))
			http.Error(w, "log in first", http.StatusUnauthorized)
			return
		}
		tools.ServeHTTP(w, r)
	})
	mux.HandleFunc("/open", func(w http.ResponseWriter, r *http.Request) { tools.ServeHTTP(w, r) })
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
			"registration_endpoint": s.URL + "/register", "response_types_supported": []string{"code"},
			"grant_types_supported":            []string{"authorization_code", "refresh_token"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var client map[string]any
		_ = json.NewDecoder(r.Body).Decode(&client)
		client["client_id"] = "client-of-the-tests"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(client)
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		back := query.Get("redirect_uri") + "?" + url.Values{"code": {"the-code"}, "state": {query.Get("state")}, "iss": {s.URL}}.Encode()
		http.Redirect(w, r, back, http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		s.logins.Add(1)
		reply(w, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "refresh-token-of-the-tests"})
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := newLoginServer(t)
	dir := t.TempDir()
	config := file(t, "servers.json", fmt.Sprintf(`{"mcpServers": {
		"issues": {"url": %q}, "my issues": {"url": %q}, "open": {"url": %q}, "local": {"command": "mcpserver"}
	}}`, s.URL+"/mcp", s.URL+"/mcp?again", s.URL+"/open"))
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command("runcode", args...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "AppData="+dir)
		return cmd
	}
	run := func(args ...string) (stdout, stderr string, status int) {
		t.Helper()
		cmd := command(args...)
		var out, diagnostics strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &diagnostics
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return out.String(), diagnostics.String(), cmd.ProcessState.ExitCode()
	}
	only := file(t, "only.json", fmt.Sprintf(`{"mcpServers": {"issues": {"url": %q}}}`, s.URL+"/mcp"))

	t.Run("a server that wants a login says which command makes one", func(t *testing.T) {
		out, diagnostics, status := run("tools", "--mcp", only)
		if status != statusUsage || out != "" || !strings.Contains(diagnostics, "run: runcode mcp login issues") {
			t.Errorf("status %d: %s%s", status, out, diagnostics)
		}
	})
	t.Run("the address alone is on standard output, and a visit there logs in for all later commands", func(t *testing.T) {
		cmd := command("mcp", "login", "issues", "--mcp", config, "--no-browser")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var diagnostics strings.Builder
		cmd.Stderr = &diagnostics
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		address, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, diagnostics.String())
		}
		if !strings.HasPrefix(address, s.URL+"/authorize?") {
			t.Errorf("address %q", address)
		}
		response, err := http.Get(strings.TrimSpace(address))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if rest, _ := io.ReadAll(lines); len(rest) > 0 {
			t.Errorf("standard output also has %q", rest)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, diagnostics.String())
		}
		if want := "runcode: to log in at issues, visit this address:\nruncode: logged in at issues\n"; diagnostics.String() != want {
			t.Errorf("standard error %q, want %q", diagnostics.String(), want)
		}
		if out, diagnostics, status := run("tools", "--mcp", only); status != 0 || !strings.Contains(out, "mcp__issues__whoami") {
			t.Errorf("afterwards: status %d: %s%s", status, out, diagnostics)
		}
	})
	t.Run("the browser is opened, also for a server by its key in the file", func(t *testing.T) {
		before := s.logins.Load()
		out, diagnostics, status := run("mcp", "login", "my issues", "--mcp", config)
		if status != 0 || s.logins.Load() != before+1 || !strings.Contains(diagnostics, "runcode: logged in at my_issues") {
			t.Errorf("status %d: %s%s", status, out, diagnostics)
		}
	})
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"no configuration", []string{"issues"}, statusUsage, `runcode mcp login needs --mcp FILE, the configuration that "issues" is in`},
		{"no such server", []string{"nope", "--mcp", config}, statusUsage, `no MCP server "nope"; there are issues, local, my_issues_`},
		{"a server that is a command", []string{"local", "--mcp", config}, statusUsage, `MCP server "local" is a command that is started here: there is nothing to log in at`},
		{"a server that wants no login", []string{"open", "--mcp", config}, statusFailed, `MCP server "open": it asks for no login: it answered HTTP 200 OK`},
		{"no name", []string{"--mcp", config}, statusUsage, `runcode mcp login needs NAME`},
	} {
		t.Run("CLI-7 "+c.name, func(t *testing.T) {
			out, diagnostics, status := run(append([]string{"mcp", "login"}, c.args...)...)
			if status != c.status || out != "" || !strings.HasPrefix(diagnostics, "runcode: "+c.want) || strings.Count(diagnostics, "\n") != 1+strings.Count(diagnostics, "warning:") {
				t.Errorf("status %d, want %d: %s%s", status, c.status, out, diagnostics)
			}
		})
	}
	t.Run("only a web page is opened", func(t *testing.T) {
		for _, address := range []string{"file:///etc/passwd", "--help", "javascript:alert(1)", "https:nothing", ""} {
			if err := openBrowser(address); err == nil {
				t.Errorf("%q was opened", address)
			}
		}
	})
}
