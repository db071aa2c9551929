// Package wasmengine runs programs in QuickJS-NG, compiled to WebAssembly and run by wazero: the default engine.
//
// Each run is an instance of its own, over a private copy-on-write mapping of one boot image (image.go) in which QuickJS and
// the prelude are ready and no program has ever run. The module is rewritten before it is compiled (internal/rewrite), so that
// it can be stopped within a fraction of a millisecond wherever it is, counts its work, and cannot survive a failed
// allocation. What an instance can ask of its host stands in one table (imports.go); what the host reads of an instance's
// memory goes through one file (guest_memory.go).
package wasmengine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
)

// Options configure an Engine. The zero value is useful.
type Options struct {
	// Limits are the budgets of each run.
	Limits runtime.Limits

	// CacheDir is where compiled code and the boot image are kept for later processes, in a folder for each version of the
	// engine and one for images, readable by the user alone. Starting with it takes some milliseconds instead of some hundred.
	// Empty, or not writable: no cache.
	CacheDir string

	// MaxLive bounds how many instances exist at the same time; 0 is without bound. A run that waits for its turn spends its
	// wall-clock budget and can be aborted (RUN-41).
	MaxLive int
}

// Engine implements runtime.Engine.
type Engine struct {
	service loop.Service
	life    loop.Life

	module *module
	image  *image
	memory uint64        // bytes an instance can grow to
	places chan struct{} // a token for each live instance; nil: without bound

	release  sync.Once
	released error
}

var _ runtime.Engine = (*Engine)(nil)

// New compiles the engine, or loads it from o.CacheDir, and boots it once. ctx bounds this work, not the engine's life. The
// caller closes the engine.
func New(ctx context.Context, o Options) (*Engine, error) {
	if err := o.Limits.Validate(); err != nil {
		return nil, err
	}
	if o.MaxLive < 0 {
		return nil, fmt.Errorf("MaxLive must be 0 (without bound) or positive, got %d", o.MaxLive)
	}
	limits := o.Limits.WithDefaults()
	memory := memoryLimit(limits.Heap)
	m, im, err := start(ctx, memory, limits.Heap, o.CacheDir)
	if err != nil {
		return nil, fmt.Errorf("start the wasm engine: %w", err)
	}
	e := &Engine{module: m, image: im, memory: memory}
	if o.MaxLive > 0 {
		e.places = make(chan struct{}, o.MaxLive)
	}
	e.service = loop.Service{
		Life:        &e.life,
		Limits:      limits,
		Transformer: runtime.NewTransformer(runtime.TransformOptions{}),
		NewGuest:    e.newGuest,
	}
	return e, nil
}

// start returns what all runs share. What an earlier process has kept is not made again.
func start(ctx context.Context, memory uint64, heap int64, cacheDir string) (*module, *image, error) {
	store := openStore(cacheDir)
	if k := store.load(); k != nil {
		m, err := newModule(ctx, k.module, uint32(memory/wasmPage), cacheDir)
		if err != nil {
			return nil, nil, err
		}
		if im := k.image; im.revive(ctx, m, k.memory, memory, heap) == nil {
			return m, im, nil
		}
		if err := m.close(ctx); err != nil {
			return nil, nil, err
		}
	}
	rewritten, err := instrument()
	if err != nil {
		return nil, nil, err
	}
	m, err := newModule(ctx, rewritten.Module, uint32(memory/wasmPage), cacheDir)
	if err != nil {
		return nil, nil, err
	}
	im, contents, err := bootImage(ctx, m, rewritten.Data)
	if err != nil {
		return nil, nil, errors.Join(err, m.close(ctx))
	}
	store.save(&kept{rewritten.Module, im, contents})
	im.adopt(contents, heap)
	return m, im, nil
}

// memoryLimit is how large the memory of an instance can grow. The live heap is limited to the byte by the allocator's own
// count (image.go); this bounds what surrounds it: the image, fragmentation, and the old copy of a block that is being
// moved to a larger place.
func memoryLimit(heap int64) uint64 {
	const (
		imageSpace = 8 << 20
		most       = 4<<30 - wasmPage // what 32-bit pointers reach, but for the last page
	)
	if heap > most {
		return most
	}
	n := imageSpace + uint64(heap) + uint64(heap)/2
	return min((n+wasmPage-1)/wasmPage*wasmPage, most)
}

// Run implements runtime.Engine.
func (e *Engine) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	return e.service.Run(ctx, req)
}

// Language implements runtime.Engine.
func (e *Engine) Language() string { return runtime.LanguageTypeScript }

// Isolation implements runtime.Engine.
func (e *Engine) Isolation() string { return runtime.IsolationWasm }

// Close implements runtime.Engine. When ctx ends first, what still runs keeps its resources; a later Close waits again.
func (e *Engine) Close(ctx context.Context) error {
	if err := e.life.Close(ctx); err != nil {
		return err
	}
	e.release.Do(func() {
		e.image.source.close()
		e.released = e.module.close(context.WithoutCancel(ctx))
	})
	return e.released
}

// newGuest makes the instance of one run, once there is a place for it.
func (e *Engine) newGuest(ctx context.Context, host *loop.Run) (loop.Guest, error) {
	if e.places == nil {
		return e.module.instance(ctx, e.image, e.image.source, e.memory, host)
	}
	select {
	case e.places <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	leave := func() { <-e.places }
	g, err := e.module.instance(ctx, e.image, e.image.source, e.memory, host)
	if err != nil {
		leave()
		return nil, err
	}
	return &placed{g, leave}, nil
}

// placed is a guest that gives its place back when it is closed.
type placed struct {
	*guest
	leave func()
}

func (p *placed) Close() {
	p.guest.Close()
	p.leave()
}
