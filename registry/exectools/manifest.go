package exectools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/runcode-go/runcode/registry/internal/commented"

	"github.com/tailscale/hujson"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	maxManifestBytes = 16 << 20
	maxManifestDepth = 1000 // the parser of commented JSON calls itself for each level
)

// Manifest is a file of tools that has been read and found right as a whole.
type Manifest struct {
	// Deny and Ask are the patterns of the manifest's policy: tools that are never called, and tools whose calls are asked about.
	// They are the caller's to enforce.
	Deny, Ask []string

	tools []registry.Definition
}

// LoadManifest reads a manifest (TOOLS-1): JSON with comments and trailing commas. Commands will run in the file's folder. If anything
// is wrong, the error is a *ManifestError that lists all of it.
func LoadManifest(path string) (*Manifest, error) {
	text, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return parseManifest(path, folder, text)
}

// Tools returns the tools in the order of the file.
func (m *Manifest) Tools() []registry.Definition {
	return append([]registry.Definition(nil), m.tools...)
}

// Register registers all tools of the manifest or, after an error, none. dispose takes them back; it may be called more than once.
func (m *Manifest) Register(reg registry.Registrar) (dispose func(), err error) {
	return registerAll(reg, m.tools)
}

func registerAll(reg registry.Registrar, tools []registry.Definition) (dispose func(), err error) {
	disposers := make([]func(), 0, len(tools))
	dispose = func() {
		for _, d := range disposers {
			d()
		}
	}
	for _, t := range tools {
		d, err := reg.Register(t)
		if err != nil {
			dispose()
			return nil, err
		}
		disposers = append(disposers, d)
	}
	return dispose, nil
}

func readManifest(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no manifest %s", path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: name the manifest file in it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxManifestBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxManifestBytes {
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxManifestBytes>>20)
	}
	return text, nil
}

func parseManifest(file, folder string, text []byte) (*Manifest, error) {
	var list []string
	bad := problems{&list}
	m := &Manifest{}
	if document, ok := decodeManifest(bad, text); ok {
		m.read(document, folder, bad)
	}
	if len(list) > 0 {
		return nil, &ManifestError{File: file, Problems: list}
	}
	return m, nil
}

func decodeManifest(bad problems, text []byte) (jsonval.Value, bool) {
	if commented.Deeper(text, maxManifestDepth) {
		bad.add("file", "nests deeper than %d levels", maxManifestDepth)
		return jsonval.Value{}, false
	}
	tree, err := hujson.Parse(text)
	if err != nil {
		bad.add("file", "is not JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
		return jsonval.Value{}, false
	}
	noteRepeats(bad, "", tree)
	tree.Standardize()
	document, err := jsonval.Parse(tree.Pack())
	if err != nil {
		bad.add("file", "is not lossless JSON: %v", err)
		return jsonval.Value{}, false
	}
	if !document.IsObject() {
		bad.add("file", `must be an object {"tools": {NAME: …}}, got %s`, document.Kind())
		return jsonval.Value{}, false
	}
	return document, true
}

// noteRepeats reports names that an object holds twice: one of the two would be lost without a word.
func noteRepeats(bad problems, path string, v hujson.Value) {
	switch v := v.Value.(type) {
	case *hujson.Object:
		seen := map[string]bool{}
		for _, m := range v.Members {
			literal, _ := m.Name.Value.(hujson.Literal)
			name := literal.String()
			if seen[name] {
				bad.add(join(path, name), "is given twice")
			}
			seen[name] = true
			noteRepeats(bad, join(path, name), m.Value)
		}
	case *hujson.Array:
		for i, item := range v.Elements {
			noteRepeats(bad, fmt.Sprintf("%s[%d]", path, i), item)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (m *Manifest) read(document jsonval.Value, folder string, bad problems) {
	for name := range document.Members() {
		switch name {
		case "tools", "policy", "$schema":
		default:
			bad.add(name, "is unknown: a manifest has tools and policy")
		}
	}
	tools, _ := document.Get("tools")
	if !tools.IsObject() {
		bad.add("tools", "must be an object of tools by name")
		return
	}
	for name, entry := range tools.Members() {
		if definition, ok := readTool(name, entry, folder, bad); ok {
			m.tools = append(m.tools, definition)
		}
	}
	if policy, ok := document.Get("policy"); ok {
		m.readPolicy(policy, bad)
	}
}

func (m *Manifest) readPolicy(policy jsonval.Value, bad problems) {
	if !policy.IsObject() {
		bad.add("policy", "must be an object, got %s", policy.Kind())
		return
	}
	for name, v := range policy.Members() {
		switch name {
		case "deny":
			m.Deny = stringList(v, "policy.deny", bad)
		case "ask":
			m.Ask = stringList(v, "policy.ask", bad)
		default:
			bad.add("policy."+name, "is unknown: a policy has deny and ask")
		}
	}
}

func stringList(v jsonval.Value, key string, bad problems) []string {
	if !v.IsArray() {
		bad.add(key, "must be a list of strings, got %s", v.Kind())
		return nil
	}
	list := make([]string, 0, v.Len())
	for i, item := range v.Items() {
		if !item.IsString() {
			bad.add(fmt.Sprintf("%s[%d]", key, i), "must be a string, got %s", item.Kind())
			continue
		}
		list = append(list, item.Str())
	}
	return list
}
