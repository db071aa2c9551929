package wasmengine

// This file turns the embedded binary into compiled code, from a cache on disk where there is one.

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/runcode-go/runcode/runtime/wasmengine/internal/rewrite"
)

// quickJS is the engine's binary; engine/README.md says where it comes from.
//
//go:embed engine/quickjs.wasm
var quickJS []byte

// instrument rewrites the binary.
func instrument() (*rewrite.Result, error) {
	return rewrite.Module(quickJS, rewrite.Options{
		Interrupt: interruptImport,
		Interval:  interval,
		NonNull:   allocators,
		NoReturn:  outOfMemory,
		Entry:     entryNames[:],
		Keep:      []string{"memory", "__stack_pointer"},
	})
}

// newModule compiles the rewritten binary; where wazero has no compiler for the machine, its interpreter runs it, slower and
// as safe. Memories of the module's instances are limited to pages.
func newModule(ctx context.Context, rewritten []byte, pages uint32, cacheDir string) (*module, error) {
	config := configure(wazero.NewRuntimeConfig(), pages)
	if cache := openCache(cacheDir, rewritten); cache != nil {
		m, err := compile(ctx, config.WithCompilationCache(cache), rewritten)
		if err == nil {
			m.cache = cache
			return m, nil
		}
		// A full disk, or an entry that is no longer readable, must not keep an engine from starting.
		_ = cache.Close(ctx)
		if ctx.Err() != nil {
			return nil, err
		}
	}
	return compile(ctx, config, rewritten)
}

func configure(c wazero.RuntimeConfig, pages uint32) wazero.RuntimeConfig {
	return c.WithCoreFeatures(api.CoreFeaturesV2).WithMemoryLimitPages(pages).WithDebugInfoEnabled(false)
}

// module is the compiled engine. It is shared by all instances of an Engine and safe for concurrent use.
type module struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	cache    wazero.CompilationCache // nil: none
}

func compile(ctx context.Context, config wazero.RuntimeConfig, rewritten []byte) (*module, error) {
	m := &module{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if err := instantiateImports(ctx, m.runtime); err != nil {
		return nil, errors.Join(err, m.close(ctx))
	}
	// Without compiled code at hand this is half a second of work, spread over the processors.
	ctx = experimental.WithCompilationWorkers(ctx, min(goruntime.GOMAXPROCS(0), 8))
	var err error
	if m.compiled, err = m.runtime.CompileModule(ctx, rewritten); err != nil {
		return nil, errors.Join(fmt.Errorf("compile QuickJS: %w", err), m.close(ctx))
	}
	return m, nil
}

// close releases the compiled code. No instance may be left.
func (m *module) close(ctx context.Context) error {
	err := m.runtime.Close(ctx)
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close(ctx))
	}
	return err
}

// openCache opens the cache of compiled code for one rewritten module, each in a folder of its own, so that old ones can be
// told apart and removed. nil means that there is no cache to be had, which only costs time (CLI-12).
func openCache(dir string, module []byte) wazero.CompilationCache {
	if dir == "" {
		return nil
	}
	sum := sha256.Sum256(module)
	dir = filepath.Join(dir, "engine-"+hex.EncodeToString(sum[:8]))
	if !makePrivate(dir) {
		return nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil
	}
	return cache
}

// makePrivate makes a folder for what will be run as it lies there, which must be the user's alone.
func makePrivate(dir string) bool { return os.MkdirAll(dir, 0o700) == nil && private(dir) }
