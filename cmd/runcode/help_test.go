package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpExamples runs what the help of each command shows, as a reader would who pastes it.
func TestHelpExamples(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the examples are written for bash")
	}
	dir := t.TempDir()
	issues := newLoginServer(t) // the examples log in before they use it, as mcp comes before sdk and tools
	for name, text := range map[string]string{
		"report.ts":                           `return (await tools.list_dir({ path: "." }))`,
		".mcp.json":                           fmt.Sprintf(`{"mcpServers": {"demo": {"command": "mcpserver"}, "issues": {"url": %q}}}`, issues.URL+"/mcp"),
		"home/.config/fish/completions/empty": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Name() == "help" {
			return
		}
		t.Run("CLI-1 "+c.CommandPath(), func(t *testing.T) {
			if c.Example == "" {
				t.Fatal("no example")
			}
			for line := range strings.Lines(c.Example) {
				cmd := exec.Command(bash, "-c", line)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", strings.TrimSpace(line), err, out)
				}
			}
		})
	}
	walk(newTerminal(t, nil, nil).rootCommand())
}
