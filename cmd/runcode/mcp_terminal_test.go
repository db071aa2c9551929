package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMCPOnTerminal starts the gateway as a person would who tries it out by hand.
func TestMCPOnTerminal(t *testing.T) {
	const messages = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"console.log('\u001b[2J'); return '\u202e'","description":"x"}}}
`
	t.Run("CLI-5 GATE-6 what the configuration says is shown escaped, and standard output is protocol all the same", func(t *testing.T) {
		config := filepath.Join(t.TempDir(), "servers.json")
		if err := os.WriteFile(config, []byte(`{"mcpServers": {"\u001b[2J\u202egone": {"command": "\u001b[2J-no-such-server"}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		x := newTerminal(t, strings.NewReader(messages), nil)
		if status := x.main([]string{"mcp", "--engine", "goja", "--no-check", "--mcp", config}); status != 0 {
			t.Fatalf("status %d: %s", status, x.err)
		}
		if !strings.HasPrefix(x.err.String(), "runcode: warning: ") || !strings.Contains(x.err.String(), `[2J\u202egone`) || strings.ContainsAny(x.err.String(), "\x1b\u202e") {
			t.Errorf("standard error %q", x.err)
		}
		if !strings.Contains(x.err.String(), "runcode: serving MCP on standard input and output, for a client that starts this command; see runcode mcp --help\n") {
			t.Errorf("standard error %q", x.err)
		}
		lines := strings.Split(strings.TrimSuffix(x.out.String(), "\n"), "\n")
		if len(lines) != 2 || !strings.Contains(lines[1], `"isError"`) && !strings.Contains(lines[1], `"logs"`) {
			t.Errorf("standard output %q", lines)
		}
		for _, line := range lines {
			if !strings.HasPrefix(line, `{"jsonrpc":"2.0"`) {
				t.Errorf("standard output has %q", line)
			}
		}
	})
	t.Run("CLI-7 an interrupt while servers start ends it", func(t *testing.T) {
		config := filepath.Join(t.TempDir(), "servers.json")
		if err := os.WriteFile(config, []byte(`{"mcpServers": {"slow": {"command": "sleep", "args": ["600"]}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		x := newTerminal(t, strings.NewReader(""), nil)
		x.interrupts <- os.Interrupt
		if status := x.main([]string{"mcp", "--engine", "goja", "--no-check", "--start-wait", "10m", "--mcp", config}); status != statusInterrupted {
			t.Errorf("status %d: %s", status, x.err)
		}
		if x.out.String() != "" {
			t.Errorf("standard output %q", x.out)
		}
	})
}
