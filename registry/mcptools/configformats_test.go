//go:build unix

package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what the configuration files of the clients are read as")

// TestFormats reads a file of each client as its documentation has it, and compares with what is recorded beside it.
func TestFormats(t *testing.T) {
	root, err := filepath.Abs("testdata/configs")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err == nil && !d.IsDir() && (ext == ".json" || ext == ".jsonc" || ext == ".toml") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	vars := map[string]string{"TOKEN": "t-123456", "HOME_DIR": "/home/me"}
	options := LoadOptions{
		LookupEnv: func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		Inputs:    map[string]string{"perplexity-key": "p-123456"},
	}
	for _, file := range files {
		name := strings.TrimPrefix(file, root+"/")
		t.Run("GATE-2 "+name, func(t *testing.T) {
			o := options
			if name == "claude-code-user.json" {
				o.Workspace = "/ws/deep/inside"
			}
			servers, err := LoadConfigWith(file, o)
			got := strings.ReplaceAll(describe(t, servers, err), root, "ROOT")
			golden := file + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// describe is what was read, without fields that are empty, and everything that is wrong.
func describe(t *testing.T, servers []ServerConfig, err error) string {
	t.Helper()
	var out bytes.Buffer
	for _, s := range servers {
		text, marshalErr := json.Marshal(s)
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		prune(fields)
		for name, d := range map[string]string{"ToolCallTimeout": s.ToolCallTimeout.String(), "StartupTimeout": s.StartupTimeout.String()} {
			if _, ok := fields[name]; ok {
				fields[name] = d
			}
		}
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(fields); err != nil {
			t.Fatal(err)
		}
	}
	if bad := (*ConfigError)(nil); errors.As(err, &bad) {
		for _, p := range bad.Problems {
			out.WriteString("error: " + p + "\n")
		}
	} else if err != nil {
		out.WriteString("error: " + err.Error() + "\n")
	}
	return out.String()
}

func prune(fields map[string]any) {
	for name, v := range fields {
		switch v := v.(type) {
		case map[string]any:
			if prune(v); len(v) == 0 {
				delete(fields, name)
			}
		case nil:
			delete(fields, name)
		case string:
			if v == "" {
				delete(fields, name)
			}
		case float64:
			if v == 0 {
				delete(fields, name)
			}
		case bool:
			if !v {
				delete(fields, name)
			}
		}
	}
}
