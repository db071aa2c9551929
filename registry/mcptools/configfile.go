package mcptools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	// Workspace is ${workspaceFolder} and the project whose servers are read; empty: the file's folder, or its parent if the file lies
	// in an editor's own folder, or the working directory if that would be the user's home.
	Workspace string
	Inputs    map[string]string // values of ${input:ID}; they win over a default in the file
}

// LoadConfig reads the servers of an MCP configuration file (GATE-2) in the order of the file, without those that it disables.
// See [LoadConfigWith].
func LoadConfig(path string) ([]ServerConfig, error) {
	return LoadConfigWith(path, LoadOptions{})
}

// LoadConfigWith reads a configuration file in one of the forms that are in use: JSON with comments and trailing commas, with the
// servers under mcpServers, servers (also below mcp) or mcp, or TOML with mcp_servers; in a file with projects also those of the
// workspace's project, which go before others of the same key. Members that it does not know belong to other clients and are passed over.
//
// It returns the servers that are fine together with a *ConfigError that lists everything that is wrong with the others, each by file
// and key: one bad entry does not cost the rest (MCP-2). An unreadable file gives no servers.
func LoadConfigWith(path string, o LoadOptions) ([]ServerConfig, error) {
	text, err := readCapped(path, maxConfigBytes)
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

// readCapped reads a file of at most limit bytes.
func readCapped(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no file %s", path)
		}
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: name a file in it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is larger than %d KiB, which no such file is", path, limit>>10)
	}
	return text, nil
}

// readRegular is readCapped for a file that another one names: a pipe or a device could hold us up for good.
func readRegular(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return readCapped(path, limit)
}

func decodeConfig(path string, text []byte) (jsonval.Value, error) {
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		return decodeTOML(text)
	}
	if commented.Deeper(text, maxConfigDepth) {
		return jsonval.Value{}, fmt.Errorf("nests deeper than %d levels", maxConfigDepth)
	}
	plain, err := hujson.Standardize(text)
	if err != nil {
		// What is malformed may be a secret, and the library would quote it (MCP-5).
		where, _, _ := strings.Cut(err.Error(), ": invalid literal: ")
		return jsonval.Value{}, fmt.Errorf("not JSON: %s", strings.TrimPrefix(where, "hujson: "))
	}
	document, err := jsonval.Parse(plain)
	if err != nil {
		return jsonval.Value{}, fmt.Errorf("not JSON: %w", err)
	}
	return document, nil
}

// decodeTOML takes the servers out of a TOML file, in their order. The rest of such a file is none of our business and may hold dates,
// which JSON has not.
func decodeTOML(text []byte) (jsonval.Value, error) {
	var document struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	meta, err := toml.Decode(string(text), &document)
	if err != nil {
		return jsonval.Value{}, fmt.Errorf("not TOML: %s", tomlProblem(err))
	}
	var servers []jsonval.Member
	for _, key := range meta.Keys() {
		if len(key) < 2 || key[0] != "mcp_servers" || slices.ContainsFunc(servers, func(m jsonval.Member) bool { return m.Name == key[1] }) {
			continue
		}
		entry, err := jsonval.Of(document.Servers[key[1]])
		if err != nil {
			return jsonval.Value{}, fmt.Errorf("mcp_servers.%s: %w", key[1], err)
		}
		servers = append(servers, jsonval.Member{Name: key[1], Value: entry})
	}
	if document.Servers == nil {
		return jsonval.Value{}, errors.New("has no table mcp_servers")
	}
	return jsonval.Object(jsonval.Member{Name: "mcp_servers", Value: jsonval.Object(servers...)}), nil
}

// quotation is what an error of the TOML library repeats of a file.
var quotation = regexp.MustCompile(`"(\\.|[^"\\])*"`)

// tomlProblem says what is wrong and where, without a word of a value: it may be a secret (MCP-5).
func tomlProblem(err error) string {
	bad := toml.ParseError{}
	if !errors.As(err, &bad) {
		return err.Error()
	}
	where := fmt.Sprintf("line %d", bad.Position.Line)
	if bad.LastKey != "" {
		where += ", at " + bad.LastKey
	}
	return where + ": " + quotation.ReplaceAllString(bad.Message, "…")
}

func newExpander(path string, o LoadOptions) expander {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	e := expander{lookup: o.LookupEnv, folder: filepath.Dir(path), workspace: o.Workspace, inputs: o.Inputs}
	if e.lookup == nil {
		e.lookup = os.LookupEnv
	}
	if e.workspace == "" {
		e.workspace = workspaceOf(e.folder)
	}
	return e
}

// workspaceOf is the workspace that a configuration file in a folder is about.
func workspaceOf(folder string) string {
	if slices.Contains([]string{".vscode", ".cursor", ".gemini", ".codex", ".opencode"}, filepath.Base(folder)) {
		folder = filepath.Dir(folder)
	}
	if home, err := os.UserHomeDir(); err == nil && home == folder { // a file for all workspaces
		if current, err := os.Getwd(); err == nil {
			return current
		}
	}
	return folder
}
