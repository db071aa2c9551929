//go:build unix

package mcptools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStartsItself(t *testing.T) {
	executable, err := os.Executable() // not called runcode: only the file itself tells
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(executable, link); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]bool{
		"runcode mcp --mcp .mcp.json":                                 true,
		"/usr/local/bin/runcode mcp":                                  true,
		`C:\Tools\runcode.exe mcp`:                                    true,
		"RunCode.EXE mcp":                                             true,
		executable + " mcp":                                           true,
		link + " mcp --names raw":                                     true,
		"runcode --quiet mcp":                                         true,
		"npx -y runcode mcp --mcp x":                                  true,
		"npx runcode@1.2.3 mcp":                                       true,
		"npx -y @scope/runcode@latest mcp":                            true,
		"npm exec -- runcode mcp":                                     true,
		"go run github.com/runcode-go/runcode/cmd/runcode@latest mcp": true,
		"go run ./cmd/runcode mcp":                                    true,
		"env A=b runcode mcp":                                         true,
		"sh -c|exec runcode mcp --mcp \"$HOME/x.json\"":               true,
		"bash -lc|cd /x && 'runcode' mcp":                             true,
		"cmd /c runcode mcp":                                          true,
		"sh -c|" + link + " mcp":                                      true,

		"runcode":               false,
		"runcode run server.ts": false,
		"runcode trace mcp":     false,
		executable + " run mcp": false,
		"npx -y server-filesystem /src/runcode mcp-dir": false,
		"mcp-server-filesystem /src/runcode mcp":        false,
		"npx -y other mcp":                              false,
		"sh -c|other runcode.json mcp":                  false,
		"no-such-program-anywhere mcp":                  false,
		"go run ./cmd/runcode-tools mcp":                false,
	} {
		t.Run("GATE-2 "+line, func(t *testing.T) {
			head, script, isScript := strings.Cut(line, "|")
			words := strings.Fields(head)
			if isScript {
				words = append(words, script)
			}
			c := ServerConfig{Name: "x", Transport: Stdio, Command: words[0], Args: words[1:]}
			if got := c.StartsItself(executable); got != want {
				t.Errorf("got %v", got)
			}
		})
	}
	for _, c := range []struct {
		url, own string
		want     bool
	}{
		{"http://127.0.0.1:8080/mcp", "127.0.0.1:8080", true},
		{"http://localhost:8080/", "http://127.0.0.1:8080/mcp", true},
		{"http://[::1]:8080/mcp", "localhost:8080", true},
		{"http://127.0.0.1:8080/mcp", ":8080", true},
		{"http://127.0.0.1:8080/mcp", "0.0.0.0:8080", true},
		{"https://Gate.example./mcp", "gate.example:443", true},
		{"http://127.0.0.1:8081/mcp", "127.0.0.1:8080", false},
		{"https://other.example/mcp", "gate.example:443", false},
		{"http://127.0.0.1/mcp", "", false},
	} {
		t.Run("GATE-2 "+c.url+" at "+c.own, func(t *testing.T) {
			config := ServerConfig{Name: "x", Transport: StreamableHTTP, URL: c.url}
			if got := config.StartsItself(executable, "other:1", c.own); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
