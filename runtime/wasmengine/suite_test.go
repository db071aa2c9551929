package wasmengine_test

import (
	"context"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/runtimetest"
	"github.com/runcode-go/runcode/runtime/wasmengine"
)

// TestSuite: the wasm engine is excused from nothing.
func TestSuite(t *testing.T) {
	dir := t.TempDir()
	runtimetest.Run(t, func(t testing.TB, l runtime.Limits) runtime.Engine {
		e, err := wasmengine.New(context.Background(), wasmengine.Options{Limits: l, CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}, runtimetest.Options{Isolation: runtime.IsolationWasm})
}
