//go:build unix

package mcptools

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// FuzzConfig: whatever a configuration file holds, its servers are valid and its problems name a key.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a b": {"command": ["x"], "env": {"A": "${X:-y}"}, "reconnect": {"maxDelayMs": 1}}}} // c`))
	f.Add([]byte(`{"servers": {"a": {"url": "https://h", "headers": {"A": "${input:x}"}}}, "inputs": [{"id": "x", "default": "y"}],}`))
	f.Add([]byte(`{"mcp": {"a": {"type": "remote", "url": "${workspaceFolder}"}}}`))
	f.Add([]byte(`{"mcp": {"a": {"command": ["{env:X}", "{file:x}", "${", "{env:"], "environment": {"A": "{env:X}{env:X"}, "oauth": {"clientId": "x", "scope": "a b"}}}}`))
	f.Add([]byte(`{"mcp": {"allowed": ["a", 3]}, "projects": {"/ws": {"mcpServers": {"a": {"url": "https://h", "auth": {}}}, "disabledMcpServers": ["b"]}}, "mcpServers": {"a": 3}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		document, err := decodeConfig("x.json", text)
		if err != nil {
			return
		}
		r := configReader{expander: newExpander("x.json", environment(map[string]string{"X": "1"}))}
		for _, c := range r.read(document) {
			if err := c.Validate(); err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		}
		for _, p := range r.bad {
			if key, rest, ok := strings.Cut(p, ": "); !ok || key == "" || rest == "" {
				t.Errorf("the problem %q names no key", p)
			}
		}
	})
}

// FuzzTOML: the same for the other form of configuration files.
func FuzzTOML(f *testing.F) {
	f.Add([]byte("[mcp_servers.a]\ncommand = \"x\"\nargs = [\"${X}\"]\n[mcp_servers.a.env]\nA = 1\n[mcp_servers.\"b c\"]\nurl = 'https://h'\n"))
	f.Add([]byte("mcp_servers = {a = {command = 'x', tools = {o = {approval_mode = 'a'}}, env_vars = ['X', {name = 'Y'}]}}\nd = 1979-05-27\n"))
	f.Add([]byte("[[mcp_servers.a]]\n[mcp_servers]\na.b.c = inf\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		document, err := decodeConfig("x.toml", text)
		if err != nil {
			return
		}
		r := configReader{expander: newExpander("x.toml", environment(map[string]string{"X": "1"}))}
		for _, c := range r.read(document) {
			if err := c.Validate(); err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		}
	})
}

// FuzzEnvFile: every file of variables is read to its end or refused, and its names are names.
func FuzzEnvFile(f *testing.F) {
	f.Add("export A=1 # c\r\nB=\"x\\n\ny\" z\nC='\n'\n\n#\nD=#")
	f.Add("\ufeffA\n=\nA=\"")
	f.Fuzz(func(t *testing.T, text string) {
		env, err := parseEnvFile(text)
		for name := range env {
			if !variableName(name) {
				t.Errorf("the name %q", name)
			}
		}
		if err != nil && !strings.HasPrefix(err.Error(), "line ") {
			t.Error(err)
		}
	})
}

// FuzzEvents: every stream of events ends, and what comes out is again a stream of events.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"))
	f.Add([]byte(": c\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\nevent: x\n\n"))
	f.Add([]byte("data\n\ndata:\n\n\n\ndata: x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := io.ReadAll(newEventTap(io.NopCloser(bytes.NewReader(text)), newTap()))
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n\n")) && !bytes.Equal(out, []byte("\n")) {
			t.Errorf("%q became %q", text, out)
		}
	})
}

// FuzzNames: every public name is legal, and legal names stay.
func FuzzNames(f *testing.F) {
	f.Add("srv", "admin.reset")
	f.Add("a__b", "\xff\u0000😀")
	f.Add(strings.Repeat("x", 40), "")
	f.Fuzz(func(t *testing.T, server, raw string) {
		name := PublicName(server, raw)
		if len(name) > maxToolName || strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 || !nameByte(byte(r)) }) >= 0 {
			t.Errorf("%q", name)
		}
		if key := ServerName(raw); !legalServerName(key) || legalServerName(raw) && key != raw {
			t.Errorf("%q became %q", raw, key)
		}
	})
}
