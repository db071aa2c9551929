package main

// This file defines which engine runs programs, and where its compiled form is kept (CLI-4, CLI-12).

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojaengine"
	"github.com/runcode-go/runcode/runtime/wasmengine"
)

// starting is an engine on its way up.
type starting struct {
	done   chan struct{}
	engine runtime.Engine
	err    error
}

func (a *app) startEngine(ctx context.Context, f engineFlags) *starting {
	s := &starting{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer spareCollections()()
		s.engine, s.err = a.newEngine(ctx, f)
		switch {
		case s.err == nil:
		case ctx.Err() != nil:
			s.err = context.Cause(ctx)
		default:
			s.err = usagef("cannot start the %s engine: %w", f.engine.value, s.err)
		}
	}()
	return s
}

// spareCollections has the heap grow further before garbage is collected, until the function that it returns is called. What a
// start allocates is small and mostly stays; four collections during it were a tenth of the processor time of a short command.
func spareCollections() (restore func()) {
	const rarely = 400
	was := debug.SetGCPercent(rarely)
	if was < 0 || was > rarely { // the user's choice
		debug.SetGCPercent(was)
	}
	return func() { debug.SetGCPercent(was) }
}

func (s *starting) wait() (runtime.Engine, error) {
	<-s.done
	return s.engine, s.err
}

func (s *starting) close(ctx context.Context) {
	if e, err := s.wait(); err == nil {
		e.Close(context.WithoutCancel(ctx))
	}
}

func (a *app) newEngine(ctx context.Context, f engineFlags) (runtime.Engine, error) {
	if f.engine.value == engineGoja {
		e, err := gojaengine.New(gojaengine.Options{Limits: f.limits()})
		if err != nil {
			return nil, err // not e: a nil pointer is no nil engine
		}
		return e, nil
	}
	// Without a cache directory a start costs half a second more, and works.
	cache := ""
	if dir, err := a.userCacheDir(); err == nil {
		cache = filepath.Join(dir, "runcode")
	}
	e, err := wasmengine.New(ctx, wasmengine.Options{Limits: f.limits(), CacheDir: cache})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// check finds values that are well-formed but that no engine takes, and names the flag.
func (f engineFlags) check() error {
	err := f.limits().Validate()
	if err == nil {
		return nil
	}
	text := err.Error()
	for field, flag := range map[string]string{
		"computeMs": "--compute", "maxWallMs": "--wall", "maxOutputBytes": "--max-output", "maxOldGenerationSizeMb": "--heap",
	} {
		text = strings.Replace(text, field, flag, 1)
	}
	return usagef("%s", text)
}
