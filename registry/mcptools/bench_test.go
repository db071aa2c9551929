//go:build unix

package mcptools

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/runcode-go/runcode/registry"
)

// BenchmarkCall is one call through the whole pipeline to a server process and back.
func BenchmarkCall(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	reg, err := registry.New(registry.Options{})
	if err != nil {
		b.Fatal(err)
	}
	bridge, err := Connect(b.Context(), reg, ServerConfig{Name: "srv", Transport: Stdio, Command: exe, Env: map[string]string{modeVariable: "plain"}, FailOnStartupError: true}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = bridge.Close(b.Context()) }()
	for b.Loop() {
		r := reg.Execute(b.Context(), registry.Call{ID: "1", Name: "mcp__srv__add", Arguments: json.RawMessage(`{"a":1,"b":2}`)})
		if r.IsError() {
			b.Fatal(r.Failure().Message)
		}
	}
}
