// Package runcode_test checks the house as a whole: which package may import which, and that the examples of the README run.
package runcode_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/runcode-go/runcode"

// arrows says for each package which packages of this module it may import. A package that is missing here fails the test: a new room
// of the house is a decision, and this is where it is written down.
var arrows = map[string][]string{
	"runtime/jsonval":       {},
	"runtime":               {"runtime/jsonval"},
	"runtime/internal/loop": {"internal/spelling", "runtime", "runtime/jsonval"},
	"runtime/wasmengine":    {"runtime", "runtime/internal/loop", "runtime/jsonval", "runtime/wasmengine/internal/rewrite"},
	"runtime/gojaengine":    {"runtime", "runtime/internal/loop", "runtime/jsonval"},
	"runtime/runtimetest":   {"runtime", "runtime/jsonval"},

	"runtime/wasmengine/internal/rewrite": {},

	"registry/schema":    {"runtime/jsonval"},
	"registry/card":      {"runtime/jsonval"},
	"registry":           {"registry/card", "registry/schema", "runtime/jsonval"},
	"registry/policy":    {"registry", "registry/internal/wildcard", "runtime/jsonval"},
	"registry/mcptools":  {"registry", "registry/card", "registry/schema", "registry/internal/child", "registry/internal/commented", "registry/internal/wildcard", "runtime/jsonval"},
	"registry/exectools": {"registry", "registry/card", "registry/schema", "registry/internal/child", "registry/internal/commented", "runtime/jsonval"},

	"registry/internal/child":     {},
	"registry/internal/commented": {},
	"registry/internal/wildcard":  {},

	"internal/spelling": {},

	"sdkgen": {"internal/spelling", "registry/schema", "runtime/jsonval"},

	"bridge":         {"registry", "registry/card", "registry/schema", "runtime", "runtime/jsonval", "sdkgen"},
	"bridge/trace":   {"runtime", "runtime/jsonval"},
	"bridge/gateway": {"bridge", "registry", "registry/schema", "runtime", "runtime/jsonval", "sdkgen"},
	"bridge/tscheck": {"internal/spelling", "runtime", "runtime/jsonval", "sdkgen"},
}

// keepers says which packages alone may import a module from outside.
var keepers = map[string][]string{
	"github.com/tetratelabs/wazero":              {"runtime/wasmengine"},
	"github.com/dop251/goja":                     {"runtime/gojaengine"},
	"github.com/evanw/esbuild":                   {"runtime"},
	"github.com/modelcontextprotocol/go-sdk":     {"registry/mcptools", "bridge/gateway"},
	"github.com/santhosh-tekuri/jsonschema":      {"registry/exectools", "bridge/gateway"},
	"github.com/spf13/cobra":                     {"cmd/runcode"},
	"github.com/rogpeppe/go-internal/testscript": {},
}

type listed struct {
	ImportPath string
	Doc        string
	Imports    []string
}

// TestArrows reads the imports of all packages for each operating system that has files of its own.
func TestArrows(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		t.Run(goos, func(t *testing.T) {
			for _, p := range list(t, goos) {
				path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
				if path == "" {
					continue
				}
				if p.Doc == "" {
					t.Errorf("%s has no package comment", path)
				}
				allowed, known := arrows[path]
				if command := strings.HasPrefix(path, "cmd/"); !known && !command {
					t.Errorf("%s is not in the list of packages: say there what it may import", path)
				}
				for _, imported := range p.Imports {
					checkImport(t, path, imported, allowed)
				}
			}
		})
	}
}

func checkImport(t *testing.T, path, imported string, allowed []string) {
	t.Helper()
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		if !strings.HasPrefix(path, "cmd/") && !slices.Contains(allowed, own) {
			t.Errorf("%s imports %s: the arrow does not run that way", path, own)
		}
		return
	}
	for prefix, by := range keepers {
		if (imported == prefix || strings.HasPrefix(imported, prefix+"/")) && !slices.Contains(by, path) {
			t.Errorf("%s imports %s, which only %v may", path, imported, by)
		}
	}
}

func list(t *testing.T, goos string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports", "./...")
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list printed something else than JSON: %v", err)
		}
		all = append(all, p)
	}
}
