//go:build unix

package mcptools

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry/internal/wildcard"
)

func TestValidate(t *testing.T) {
	stdio := func(change func(*ServerConfig)) ServerConfig {
		c := ServerConfig{Name: "srv", Transport: Stdio, Command: "x"}
		change(&c)
		return c
	}
	web := func(change func(*ServerConfig)) ServerConfig {
		c := ServerConfig{Name: "srv", Transport: StreamableHTTP, URL: "https://example.com/mcp"}
		change(&c)
		return c
	}
	good := map[string]ServerConfig{
		"stdio": stdio(func(*ServerConfig) {}), "http": web(func(*ServerConfig) {}),
		"all set": stdio(func(c *ServerConfig) {
			c.ToolCallTimeout = time.Second
			c.Reconnect = Reconnect{InitialDelay: time.Second, MaxDelay: time.Second, MaxAttempts: 1}
		}),
		"a short ceiling": stdio(func(c *ServerConfig) { c.Reconnect.MaxDelay = time.Millisecond }),
		"longest name":    stdio(func(c *ServerConfig) { c.Name = strings.Repeat("x", 32) }),
	}
	for name, c := range good {
		t.Run("MCP-2 fine: "+name, func(t *testing.T) {
			if err := c.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
	for _, c := range []struct {
		field  string
		config ServerConfig
	}{
		{"serverName", stdio(func(c *ServerConfig) { c.Name = "" })},
		{"serverName", stdio(func(c *ServerConfig) { c.Name = "a b" })},
		{"serverName", stdio(func(c *ServerConfig) { c.Name = strings.Repeat("x", 33) })},
		{"transport", stdio(func(c *ServerConfig) { c.Transport = "sse" })},
		{"command", stdio(func(c *ServerConfig) { c.Command = " " })},
		{"args", stdio(func(c *ServerConfig) { c.Args = []string{"a\x00"} })},
		{"env.A=B", stdio(func(c *ServerConfig) { c.Env = map[string]string{"A=B": "s3cret"} })},
		{"url", web(func(c *ServerConfig) { c.URL = "" })},
		{"url", web(func(c *ServerConfig) { c.URL = "ftp://example.com" })},
		{"url", web(func(c *ServerConfig) { c.URL = "https://" })},
		{"oauth.clientSecret", web(func(c *ServerConfig) { c.OAuth.ClientSecret = "s3cret" })},
		{"oauth.callbackPort", web(func(c *ServerConfig) { c.OAuth.RedirectPort = 65536 })},
		{"startupTimeout", stdio(func(c *ServerConfig) { c.StartupTimeout = -1 })},
		{"headers.A", web(func(c *ServerConfig) { c.Headers = map[string]string{"A": "s3cret\r\nB: c"} })},
		{"headers.a b", web(func(c *ServerConfig) { c.Headers = map[string]string{"a b": "s3cret"} })},
		{"toolCallTimeoutMs", stdio(func(c *ServerConfig) { c.ToolCallTimeout = -1 })},
		{"toolCallTimeoutMs", stdio(func(c *ServerConfig) { c.ToolCallTimeout = math.MaxInt64 })},
		{"reconnect.initialDelayMs", stdio(func(c *ServerConfig) { c.Reconnect.InitialDelay = -time.Second })},
		{"reconnect.initialDelayMs", stdio(func(c *ServerConfig) { c.Reconnect.InitialDelay = time.Minute })},
		{"reconnect.maxDelayMs", stdio(func(c *ServerConfig) { c.Reconnect.MaxDelay = longestDelay + 1 })},
		{"reconnect.maxAttempts", stdio(func(c *ServerConfig) { c.Reconnect.MaxAttempts = -1 })},
	} {
		t.Run("MCP-2 bad "+c.field, func(t *testing.T) {
			err := c.config.Validate()
			if err == nil || !strings.Contains(err.Error(), c.field+": ") {
				t.Errorf("error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("MCP-5 error %v", err)
			}
		})
	}
}

func configFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func environment(vars map[string]string) LoadOptions {
	return LoadOptions{Workspace: "/ws", LookupEnv: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
}

func TestLoadConfig(t *testing.T) {
	vars := environment(map[string]string{"HOST": "h.example", "TOKEN": "s3cret", "EMPTY": ""})
	for _, c := range []struct {
		name, file, text string
		want             []ServerConfig
	}{
		{"mcpServers, with comments and trailing commas", ".mcp.json", `{
			// a comment
			"mcpServers": {
				"fs": {"command": "npx", "args": ["-y", "server", "${workspaceFolder}"], "env": {"A": "1", "N": 2, "B": true, "GONE": null,},},
				"web": {"type": "http", "url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
			},
		}`, []ServerConfig{
			{Name: "fs", Transport: Stdio, Command: "npx", Args: []string{"-y", "server", "/ws"}, Env: map[string]string{"A": "1", "N": "2", "B": "true"}},
			{Name: "web", Transport: StreamableHTTP, URL: "https://h.example/mcp", Headers: map[string]string{"Authorization": "Bearer s3cret"}},
		}},
		{"serverUrl and httpUrl", "mcp_config.json", `{"mcpServers": {"w": {"serverUrl": "https://a/x"}, "g": {"httpUrl": "https://b/x"}}}`, []ServerConfig{
			{Name: "w", Transport: StreamableHTTP, URL: "https://a/x", Headers: map[string]string{}},
			{Name: "g", Transport: StreamableHTTP, URL: "https://b/x", Headers: map[string]string{}},
		}},
		{"servers with inputs", "mcp.json", `{"inputs": [{"id": "key", "type": "promptString", "default": "d"}], "servers": {"a": {"type": "stdio", "command": "x", "args": ["${input:key}"]}}}`,
			[]ServerConfig{{Name: "a", Transport: Stdio, Command: "x", Args: []string{"d"}, Env: map[string]string{}}}},
		{"servers below mcp", "settings.json", `{"editor": 1, "mcp": {"servers": {"a": {"command": "x"}}}}`, []ServerConfig{{Name: "a", Transport: Stdio, Command: "x", Env: map[string]string{}}}},
		{"mcp with a command list", "opencode.json", `{"mcp": {"a": {"type": "local", "command": ["x", "-y"], "environment": {"E": "v"}, "enabled": true}, "b": {"type": "remote", "url": "https://c"}}}`, []ServerConfig{
			{Name: "a", Transport: Stdio, Command: "x", Args: []string{"-y"}, Env: map[string]string{"E": "v"}},
			{Name: "b", Transport: StreamableHTTP, URL: "https://c", Headers: map[string]string{}},
		}},
		{"TOML", "config.toml", "when = 2020-01-01\n[mcp_servers.a]\ncommand = \"x\"\nargs = [\"1\"]\ntool_timeout_sec = 2.5\nenabled_tools = [\"r\"]\n[mcp_servers.a.env]\nE = \"v\"\n", []ServerConfig{
			{Name: "a", Transport: Stdio, Command: "x", Args: []string{"1"}, Env: map[string]string{"E": "v"}, Allow: []string{"r"}, ToolCallTimeout: 2500 * time.Millisecond},
		}},
		{"TOML with http", "config.toml", "[mcp_servers.a]\nurl = \"https://a\"\nbearer_token_env_var = \"TOKEN\"\nhttp_headers = {X = \"1\"}\nenv_http_headers = {Y = \"HOST\"}\n", []ServerConfig{
			{Name: "a", Transport: StreamableHTTP, URL: "https://a", Headers: map[string]string{"Authorization": "Bearer s3cret", "X": "1", "Y": "h.example"}},
		}},
		{"disabled entries", "m.json", `{"mcpServers": {"a": {"disabled": true}, "b": {"enabled": false, "command": 3}, "c": {"command": "x"}}}`, []ServerConfig{{Name: "c", Transport: Stdio, Command: "x", Env: map[string]string{}}}},
		{"allow and deny lists", "m.json", `{"mcpServers": {"a": {"command": "x", "includeTools": ["r*"], "excludeTools": ["rm"], "disabledTools": ["q"]}}}`,
			[]ServerConfig{{Name: "a", Transport: Stdio, Command: "x", Env: map[string]string{}, Allow: []string{"r*"}, Deny: []string{"rm", "q"}}}},
		{"our own members", "m.json", `{"mcpServers": {"a": {"command": "x", "toolCallTimeoutMs": 5, "failOnStartupError": true, "reconnect": {"enabled": false, "initialDelayMs": 1, "maxDelayMs": 2, "maxAttempts": 3}}}}`,
			[]ServerConfig{{Name: "a", Transport: Stdio, Command: "x", Env: map[string]string{}, ToolCallTimeout: 5 * time.Millisecond, FailOnStartupError: true, Reconnect: Reconnect{true, time.Millisecond, 2 * time.Millisecond, 3}}}},
		{"members of other clients", "m.json", `{"mcpServers": {"a": {"command": "x", "autoApprove": ["y"], "timeout": "long", "icon": {}}}}`, []ServerConfig{{Name: "a", Transport: Stdio, Command: "x", Env: map[string]string{}}}},
		{"places", "m.json", `{"mcpServers": {"a": {"command": "${CMD:-fallback}", "args": ["$HOST", "${env:HOST}", "${HOST:-no}", "${EMPTY:-d}", "${EMPTY}", "$(x)", "${not closed", "${1}", "${a b}", "{}", "${workspaceFolderBasename}", "x${HOST}y${HOST}"], "cwd": "sub"}}}`,
			[]ServerConfig{{Name: "a", Transport: Stdio, Command: "fallback", Cwd: "/ws/sub", Env: map[string]string{}, Args: []string{"$HOST", "h.example", "h.example", "d", "", "$(x)", "${not closed", "${1}", "${a b}", "{}", "ws", "xh.exampleyh.example"}}}},
	} {
		t.Run("GATE-2 "+c.name, func(t *testing.T) {
			got, err := LoadConfigWith(configFile(t, c.file, c.text), vars)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
	t.Run("CLI-14 a key that is no legal name, and MCP-11 two underscores", func(t *testing.T) {
		got, err := LoadConfigWith(configFile(t, "m.json", `{"mcpServers": {"my server": {"command": "x"}, "a__b": {"command": "y"}}}`), vars)
		if err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		if want := ServerName("my server"); got[0].Name != want || len(got[0].Notes) != 1 || !strings.Contains(got[0].Notes[0], `"my server"`) || !strings.Contains(got[0].Notes[0], want) {
			t.Errorf("%+v", got[0])
		}
		if len(got[1].Notes) != 1 || !strings.Contains(got[1].Notes[0], `"__"`) {
			t.Errorf("%+v", got[1])
		}
	})
	t.Run("GATE-2 the workspace is the file's folder, or the parent of an editor's", func(t *testing.T) {
		for file, up := range map[string]int{".mcp.json": 1, ".vscode/mcp.json": 2} {
			path := configFile(t, file, `{"servers": {"a": {"command": "${workspaceFolder}"}}}`)
			want := path
			for range up {
				want = filepath.Dir(want)
			}
			got, err := LoadConfig(path)
			if err != nil || got[0].Command != want {
				t.Errorf("%s: %v %v, want %s", file, got, err, want)
			}
		}
	})
}

func TestConfigErrors(t *testing.T) {
	vars := environment(map[string]string{"TOKEN": "s3cret"})
	for _, c := range []struct{ name, text, want string }{
		{"a place in a default", `{"servers": {"a": {"command": "x", "args": ["${TOKEN:-${B}}"]}}}`, "servers.a.args[0]: the default of ${TOKEN:-…} holds another place, and such are not filled: write a value there, or set TOKEN and leave the default out"},
		{"an input without a value", `{"servers": {"a": {"command": "x", "args": ["${input:api-key}"]}}}`, "servers.a.args[0]: ${input:api-key} asks for a value that cannot be asked for here: write it as ${API_KEY}"},
		{"an unset variable", `{"mcpServers": {"a": {"command": "x", "env": {"K": "${NOPE}"}}}}`, "mcpServers.a.env.K: the environment variable NOPE is not set"},
		{"an unset variable by env:", `{"mcpServers": {"a": {"command": "${env:NOPE}"}}}`, "mcpServers.a.command: the environment variable NOPE is not set"},
		{"an editor's command", `{"servers": {"a": {"command": "x", "args": ["${command:pick}"]}}}`, "servers.a.args[0]: ${command:pick} can only be filled by an editor"},
		{"neither command nor url", `{"mcpServers": {"a": {}}}`, "mcpServers.a: has neither command nor url"},
		{"both", `{"mcpServers": {"a": {"command": "x", "url": "https://a"}}}`, "mcpServers.a.command: stands beside an address"},
		{"sse", `{"mcpServers": {"a": {"type": "sse", "url": "https://a"}}}`, "mcpServers.a.type: the sse transport is not supported"},
		{"unknown type", `{"mcpServers": {"a": {"type": "websocket", "url": "https://a"}}}`, `mcpServers.a.type: "websocket" is not supported`},
		{"args of another type", `{"mcpServers": {"a": {"command": "x", "args": "y"}}}`, "mcpServers.a.args: expected a list of strings, got string"},
		{"an argument of another type", `{"mcpServers": {"a": {"command": "x", "args": [{}]}}}`, "mcpServers.a.args[0]: expected a string, got object"},
		{"command of another type", `{"mcpServers": {"a": {"command": 3}}}`, "mcpServers.a.command: expected a string, got number"},
		{"env of another type", `{"mcpServers": {"a": {"command": "x", "env": []}}}`, "mcpServers.a.env: expected an object of strings, got array"},
		{"a bad address", `{"mcpServers": {"a": {"url": "nowhere"}}}`, "mcpServers.a.url: must be an http or https address"},
		{"an entry of another type", `{"mcpServers": {"a": 3}}`, "mcpServers.a: expected an object, got number"},
		{"servers of another type", `{"mcpServers": []}`, "mcpServers: expected an object of servers by name, got array"},
		{"no servers", `{"other": 1}`, "has no servers"},
		{"an unknown reconnect key", `{"mcpServers": {"a": {"command": "x", "reconnect": {"delay": 1}}}}`, "MCP-2 mcpServers.a.reconnect.delay: is unknown"},
		{"a bad delay", `{"mcpServers": {"a": {"command": "x", "reconnect": {"initialDelayMs": 0}}}}`, "mcpServers.a.reconnect.initialDelayMs: must be above 0"},
		{"a delay of another type", `{"mcpServers": {"a": {"command": "x", "reconnect": {"maxDelayMs": "1"}}}}`, "mcpServers.a.reconnect.maxDelayMs: expected a number, got string"},
		{"a huge delay", `{"mcpServers": {"a": {"command": "x", "reconnect": {"maxDelayMs": 2147483648}}}}`, "mcpServers.a.reconnect.maxDelayMs: must be above 0 and at most 2147483647"},
		{"initial above max", `{"mcpServers": {"a": {"command": "x", "reconnect": {"initialDelayMs": 5, "maxDelayMs": 4}}}}`, "mcpServers.a.reconnect.initialDelayMs: 5 must not exceed"},
		{"half an attempt", `{"mcpServers": {"a": {"command": "x", "reconnect": {"maxAttempts": 1.5}}}}`, "mcpServers.a.reconnect.maxAttempts: must be a whole number above 0"},
		{"a budget of zero", `{"mcpServers": {"a": {"command": "x", "toolCallTimeoutMs": 0}}}`, "mcpServers.a.toolCallTimeoutMs: must be above 0"},
		{"a flag of another type", `{"mcpServers": {"a": {"command": "x", "failOnStartupError": 1}}}`, "mcpServers.a.failOnStartupError: expected true or false"},
		{"not JSON", `{"mcpServers": `, "not JSON"},
		{"too deep", `{"mcpServers": /* " */ ` + strings.Repeat("[", 200) + `}`, "nests deeper than 100 levels"},
		{"a secret", `{"mcpServers": {"a": {"url": "https://a", "headers": {"bad name": "${TOKEN}"}}}}`, "mcpServers.a.headers.bad name: is no legal HTTP header"},
	} {
		t.Run("GATE-2 "+c.name, func(t *testing.T) {
			path := configFile(t, "mcp.json", c.text)
			_, err := LoadConfigWith(path, vars)
			if want := strings.TrimPrefix(c.want, "MCP-2 "); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("error %v\nwant  %s", err, want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("MCP-5 error %v", err)
			}
		})
	}
	t.Run("MCP-2 one bad entry does not cost the others; all of a file are reported", func(t *testing.T) {
		path := configFile(t, "mcp.json", `{"mcpServers": {"a": {"command": 3, "args": 4}, "good": {"command": "x"}, "b": {"url": "nowhere"}, "go od": {"command": "y"}}}`)
		got, err := LoadConfigWith(path, vars)
		if len(got) != 2 || got[0].Name != "good" {
			t.Errorf("servers %+v", got)
		}
		list := (*ConfigError)(nil)
		if !errors.As(err, &list) || len(list.Problems) != 3 {
			t.Fatalf("error %v", err)
		}
		for i, key := range []string{"mcpServers.a.command", "mcpServers.a.args", "mcpServers.b.url"} {
			if !strings.HasPrefix(list.Problems[i], key+": ") {
				t.Errorf("problem %d is %q, want %s", i, list.Problems[i], key)
			}
		}
		if lines := strings.Count(err.Error(), path+": "); lines != 3 {
			t.Errorf("the file is named %d times", lines)
		}
	})
	t.Run("GATE-2 a file that is not there, a folder", func(t *testing.T) {
		if _, err := LoadConfig(filepath.Join(t.TempDir(), "no.json")); err == nil || !strings.Contains(err.Error(), "there is no file") {
			t.Error(err)
		}
		if _, err := LoadConfig(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder") {
			t.Error(err)
		}
	})
}

func TestMalformedFiles(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"bare word.toml":        {"[mcp_servers.a]\nurl = \"https://x\"\n[mcp_servers.a.http_headers]\nA = s3cretQXZ\n", "not TOML: line 4, at mcp_servers.a.http_headers.A: "},
		"open string.toml":      {"[mcp_servers.a]\nenv = { A = \"s3cretQXZ\nx\" }\n", "not TOML: line 2, at mcp_servers.a.env.A: "},
		"bad escape.toml":       {"[mcp_servers.a]\nenv = { A = \"s3cretQXZ\\q\" }\n", "not TOML: line 2"},
		"half a date.toml":      {"[mcp_servers.a]\nenv = { A = 2020-s3cretQXZ }\n", "not TOML: line 2"},
		"twice.toml":            {"[mcp_servers.a]\ncommand = \"s3cretQXZ\"\ncommand = \"s3cretQXZ\"\n", "not TOML: line 3"},
		"no table.toml":         {"mcp_servers = \"s3cretQXZ\"\n", "has no table mcp_servers"},
		"an entry of text.toml": {"[mcp_servers]\na = \"s3cretQXZ\"\n", "mcp_servers.a: expected an object, got string"},
		"bare word.json":        {`{"mcpServers": {"a": {"command": "x", "env": {"A": s3cretQXZ}}}}`, "not JSON: line 1, column 52"},
		"bad escape.json":       {`{"mcpServers": {"a": {"command": "x", "env": {"A": "s3cretQXZ\q"}}}}`, "not JSON: line 1, column 52"},
		"open string.json":      {"{\"mcpServers\": {\"a\": {\"env\": {\"A\": \"s3cretQXZ\n\"}}}}", "not JSON: line 1, column"},
		"half a character.json": {`{"mcpServers": {"a": {"command": "x", "env": {"A": "s3cretQXZ\ud800"}}}}`, "at $.mcpServers.a.env.A"},
		"half a file.json":      {`{"mcpServers": {"a": {"env": {"A": "s3cretQXZ`, "not JSON: line 1"},
		"an address.json":       {`{"mcpServers": {"a": {"url": "https://u:s3cretQXZ@h:x/s3cretQXZ?s3cretQXZ"}}}`, "mcpServers.a.url: is no URL"},
	} {
		t.Run("MCP-5 GATE-2 "+name, func(t *testing.T) {
			_, err := LoadConfig(configFile(t, name, c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if text := fmt.Sprint(err); strings.Contains(text, "3cret") || strings.Contains(text, "QXZ") {
				t.Errorf("a secret in %s", text)
			}
		})
	}
}

func TestEnvFile(t *testing.T) {
	for _, c := range []struct {
		text, want string // want: the variables, or what is wrong
	}{
		{"", "map[]"}, {"A=1", "map[A:1]"}, {"A=1\nB=2\n", "map[A:1 B:2]"}, {"\ufeffA=1\r\nB=2\r\n", "map[A:1 B:2]"},
		{"# c\n\n  \nexport A = 1 2 \n", "map[A:1 2]"}, {"A=x#y # z", "map[A:x#y]"}, {"A=#x", "map[A:]"}, {"A=a=b", "map[A:a=b]"},
		{`A="x # y" # z`, "map[A:x # y]"}, {`A="\"\\\n\t\r\q"`, "map[A:\"\\\n\t\r\\q]"}, {`A='\n"'`, `map[A:\n"]`}, {"A=$B ${C}", "map[A:$B ${C}]"},
		{"A=\"1\n2\"\nB=3", "map[A:1\n2 B:3]"}, {"A='1\n2' x\nB='3'", "map[A:1\n2 B:3]"}, {"A=1\nA=2", "map[A:2]"},
		{"A", "line 1: expected NAME=value"}, {"\nA=1\n=2", "line 3: expected NAME=value"}, {"A B=s3cret", "line 1: expected NAME=value"}, {"A='1\n2'\n9=3", "line 3: expected NAME=value"},
		{"\nA='s3cret\n", "line 2: the quotes of A are not closed"}, {`A="s3cret\"`, "line 1: the quotes of A are not closed"},
	} {
		t.Run(fmt.Sprintf("GATE-2 %q", c.text), func(t *testing.T) {
			env, err := parseEnvFile(c.text)
			got := fmt.Sprint(env)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestProjects(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(project)
	project, err := os.Getwd() // as the system spells it
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) string {
		path := filepath.Join(home, ".claude.json")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "PROJECT", project)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Run("GATE-2 a file of the user's home is about the working directory", func(t *testing.T) {
		got, err := LoadConfig(write(`{"projects": {"PROJECT": {"mcpServers": {"a": {"command": "${workspaceFolder}"}}}}}`))
		if err != nil || len(got) != 1 || got[0].Command != project {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("GATE-2 errors of both places are reported, by their keys", func(t *testing.T) {
		_, err := LoadConfig(write(`{"mcpServers": {"b": {"url": 3}}, "projects": {"PROJECT": {"mcpServers": {"a": {}}}}}`))
		list := (*ConfigError)(nil)
		if !errors.As(err, &list) || len(list.Problems) != 2 || !strings.HasPrefix(list.Problems[0], "projects."+project+".mcpServers.a: ") || !strings.HasPrefix(list.Problems[1], "mcpServers.b.url: ") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("GATE-2 no servers for this project", func(t *testing.T) {
		_, err := LoadConfig(write(`{"projects": {"/elsewhere": {"mcpServers": {"a": {"command": "x"}}}}}`))
		if err == nil || !strings.Contains(err.Error(), "or under projects."+project+".mcpServers") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("GATE-2 places that are files", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(home, "secret"), []byte(" s \n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := LoadConfig(write(`{"mcpServers": {"a": {"command": "${file:~/secret}", "args": ["${file:secret}", "{file:secret}"]}}}`))
		if err != nil || got[0].Command != "s" || got[0].Args[0] != "s" || got[0].Args[1] != "{file:secret}" {
			t.Errorf("%+v %v", got, err)
		}
		for place, want := range map[string]string{"${file:.}": "is a folder", "${file:/dev/zero}": "is no regular file", "${file:none}": "there is no file"} {
			if _, err := LoadConfig(write(`{"mcpServers": {"a": {"command": "` + place + `"}}}`)); err == nil || !strings.Contains(err.Error(), "mcpServers.a.command: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", place, err)
			}
		}
	})
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "a", true}, {"a*b", "ab", true}, {"a*b", "aXbXb", true}, {"a*b", "aXbX", false},
		{"*.*", "a.b", true}, {"a*a", "a", false}, {"*a*b*", "xaxbx", true}, {"*a*b*", "xbxax", false}, {"[a]", "a", false}, {"a?", "ab", false},
	} {
		t.Run(fmt.Sprintf("GATE-2 %s %s", c.pattern, c.name), func(t *testing.T) {
			if got := wildcard.Match(c.pattern, c.name); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestRoundNumbers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":1}`, `{"a":1}`}, {`9223372036854775807`, `9223372036854776000`}, {`[-0, 1.0, "9223372036854775807 -0", 1e999, -1e999]`, `[0, 1.0, "9223372036854775807 -0", 1.7976931348623157e+308, -1.7976931348623157e+308]`},
		{`"a\"-0"`, `"a\"-0"`}, {`{"x":18446744073709551615,"y":2}`, `{"x":18446744073709552000,"y":2}`},
	} {
		t.Run("MCP-21 "+c.text, func(t *testing.T) {
			if got := string(roundNumbers([]byte(c.text))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
