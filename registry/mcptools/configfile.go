package mcptools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/registry/internal/commented"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	maxConfigBytes = 4 << 20
	maxConfigDepth = 100
)

// LoadOptions say how a configuration file's places are filled. The zero value is what a command wants.
type LoadOptions struct {
	LookupEnv func(name string) (string, bool) // nil: the environment of the process
	Workspace string                           // ${workspaceFolder}; empty: the file's folder, or its parent if the file lies in an editor's own folder
	Inputs    map[string]string                // values of ${input:ID}; they win over a default in the file
}

// LoadConfig reads the servers of an MCP configuration file (GATE-2) in the order of the file, without those that it disables.
// See [LoadConfigWith].
func LoadConfig(path string) ([]ServerConfig, error) {
	return LoadConfigWith(path, LoadOptions{})
}

// LoadConfigWith reads a configuration file in one of the forms that are in use: JSON with comments and trailing commas, with the
// servers under mcpServers, servers (also below mcp) or mcp, or TOML with mcp_servers. Members that it does not know belong to
// other clients and are passed over.
//
// It returns the servers that are fine together with a *ConfigError that lists everything that is wrong with the others, each by file
// and key: one bad entry does not cost the rest (MCP-2). An unreadable file gives no servers.
func LoadConfigWith(path string, o LoadOptions) ([]ServerConfig, error) {
	text, err := readCapped(path)
	if err != nil {
		return nil, err
	}
	document, err := decodeConfig(path, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	reader := configReader{expander: newExpander(path, o)}
	servers := reader.read(document)
	if len(reader.bad) > 0 {
		return servers, &ConfigError{File: path, Problems: reader.bad}
	}
	return servers, nil
}

func readCapped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no MCP configuration file %s", path)
		}
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: name the configuration file in it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxConfigBytes {
		return nil, fmt.Errorf("%s is larger than %d MiB, which no configuration file is", path, maxConfigBytes>>20)
	}
	return text, nil
}

func decodeConfig(path string, text []byte) (jsonval.Value, error) {
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		var document map[string]any
		if _, err := toml.Decode(string(text), &document); err != nil {
			return jsonval.Value{}, fmt.Errorf("not TOML: %w", err)
		}
		servers, ok := document["mcp_servers"]
		if !ok {
			return jsonval.Value{}, errors.New("has no table mcp_servers")
		}
		// The rest of such a file is none of our business and may hold dates, which JSON has not.
		return jsonval.Of(map[string]any{"mcp_servers": servers})
	}
	if commented.Deeper(text, maxConfigDepth) {
		return jsonval.Value{}, fmt.Errorf("nests deeper than %d levels", maxConfigDepth)
	}
	plain, err := hujson.Standardize(text)
	if err != nil {
		return jsonval.Value{}, fmt.Errorf("not JSON: %w", err)
	}
	document, err := jsonval.Parse(plain)
	if err != nil {
		return jsonval.Value{}, fmt.Errorf("not JSON: %w", err)
	}
	return document, nil
}

func newExpander(path string, o LoadOptions) expander {
	e := expander{lookup: o.LookupEnv, workspace: o.Workspace, inputs: o.Inputs}
	if e.lookup == nil {
		e.lookup = os.LookupEnv
	}
	if e.workspace == "" {
		e.workspace = filepath.Dir(path)
		if absolute, err := filepath.Abs(path); err == nil {
			e.workspace = filepath.Dir(absolute)
		}
		if slices.Contains([]string{".vscode", ".cursor", ".gemini", ".codex"}, filepath.Base(e.workspace)) {
			e.workspace = filepath.Dir(e.workspace)
		}
	}
	return e
}

// configReader turns a document into servers and keeps what is wrong with it.
type configReader struct {
	expander
	bad   problems
	names map[string]string // server name: the key that took it
}

func (r *configReader) read(document jsonval.Value) []ServerConfig {
	where, entries := findServers(document)
	if where == "" {
		r.bad.add("file", "has no servers: expected an object under mcpServers, servers, mcp or mcp_servers")
		return nil
	}
	if !entries.IsObject() {
		r.bad.add(where, "expected an object of servers by name, got %s", entries.Kind())
		return nil
	}
	r.readInputs(document)
	r.names = map[string]string{}
	var servers []ServerConfig
	for key, entry := range entries.Members() {
		path := where + "." + key
		if !entry.IsObject() {
			r.bad.add(path, "expected an object, got %s", entry.Kind())
			continue
		}
		before := len(r.bad)
		server, enabled := r.server(path, key, entry)
		if !enabled {
			continue // what a disabled entry lacks is nobody's problem
		}
		if len(r.bad) > before {
			continue
		}
		if other, taken := r.names[server.Name]; taken {
			r.bad.add(path, "has the same server name %q as %s", server.Name, other)
			continue
		}
		r.names[server.Name] = path
		servers = append(servers, server)
	}
	return servers
}

// findServers looks for the servers where the clients in use keep them.
func findServers(document jsonval.Value) (where string, entries jsonval.Value) {
	for _, path := range [][]string{{"mcpServers"}, {"servers"}, {"mcp_servers"}, {"mcp", "servers"}, {"mcp"}} {
		at, ok := document, true
		for _, name := range path {
			if at, ok = at.Get(name); !ok {
				break
			}
		}
		if ok {
			return strings.Join(path, "."), at
		}
	}
	return "", jsonval.Value{}
}

// readInputs takes the defaults of inputs that a file declares; what the caller gave wins.
func (r *configReader) readInputs(document jsonval.Value) {
	inputs, ok := document.Get("inputs")
	if !ok || !inputs.IsArray() {
		return
	}
	known := map[string]string{}
	for _, input := range inputs.Items() {
		id, _ := input.Get("id")
		if fallback, ok := input.Get("default"); ok && id.IsString() && fallback.IsString() {
			known[id.Str()] = fallback.Str()
		}
	}
	for id, value := range r.inputs {
		known[id] = value
	}
	r.inputs = known
}
