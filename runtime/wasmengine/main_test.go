package wasmengine

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// cacheDir holds the compiled engine for all tests of the package, which would otherwise spend their time compiling.
var cacheDir string

func TestMain(m *testing.M) {
	var err error
	if cacheDir, err = os.MkdirTemp("", "wasmengine"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(cacheDir)
	os.Exit(code)
}

// newEngine returns an engine that is closed at the end of the test.
func newEngine(t testing.TB, o Options) *Engine {
	t.Helper()
	if o.CacheDir == "" {
		o.CacheDir = cacheDir
	}
	e, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}
