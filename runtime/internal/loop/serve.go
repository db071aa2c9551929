package loop

// This file defines what comes before a run: the checks in their order (RUN-8), and the life of an engine (RUN-40).

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// Service is what both engines' Run is made of. All fields are set once and not changed.
type Service struct {
	Life        *Life
	Limits      runtime.Limits // no field is zero
	Transformer *runtime.Transformer

	NewGuest func(ctx context.Context, host *Run) (Guest, error) // as Spec.NewGuest
	Detach   bool                                                // as Spec.Detach
}

// Run is runtime.Engine's Run.
func (s *Service) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	began := time.Now()
	ctx, leave, err := s.Life.Enter(ctx)
	if err != nil {
		return runtime.Result{}, err
	}
	defer leave()
	if err := runtime.CheckNamespaces(req.Namespaces, req.Globals); err != nil {
		return runtime.Result{}, err
	}
	if req.Wall < 0 {
		return runtime.Result{}, runtime.Misuse("the wall-clock budget must not be negative, got %v", req.Wall)
	}
	limits := s.Limits
	if req.Wall > 0 {
		limits.Wall = min(limits.Wall, req.Wall)
	}
	if req.Seed == 0 {
		req.Seed = 1 + rand.Uint64N(1<<53-1) // a number that JSON can name
	}
	if req.Start.IsZero() {
		req.Start = began
	}
	req.Start = req.Start.Round(0)
	if ctx.Err() != nil {
		return s.without(req, began, abortFailure(ctx)), nil
	}
	code, failure := s.transform(ctx, &req, began, limits.Wall)
	if failure != nil {
		return s.without(req, began, failure), nil
	}
	spec := Spec{Request: req, Limits: limits, Code: code, Began: began, NewGuest: s.NewGuest}
	if s.Detach {
		spec.Detach = s.Life.Go
	}
	return Do(ctx, spec), nil
}

// transform is bounded by the run's context and by its wall ceiling (HOSTILE-9).
func (s *Service) transform(ctx context.Context, req *runtime.Request, began time.Time, wall time.Duration) (*runtime.Code, *runtime.Failure) {
	bounded, cancel := context.WithDeadline(ctx, began.Add(wall))
	defer cancel()
	code, failure := s.Transformer.Transform(bounded, req.Program, req.Unwrap)
	switch {
	case failure == nil || failure.Kind != runtime.Abort:
		return code, failure
	case ctx.Err() != nil:
		return nil, abortFailure(ctx)
	}
	return nil, runtime.WallFailure(wall)
}

// without is the result of a run that ended before there was an instance (LOG-14).
func (s *Service) without(req runtime.Request, began time.Time, failure *runtime.Failure) runtime.Result {
	l := newLedger(s.Limits.MaxOutput)
	result := conclude(&l, outcome{failure: failure})
	result.Seed = req.Seed
	result.Usage.Wall = time.Since(began)
	return result
}

// Life counts what lives in an engine, so that closing the engine ends it all and can wait for it. The zero value is an
// open engine's; it is safe for concurrent use.
type Life struct {
	mu     sync.Mutex
	closed bool
	runs   map[*context.CancelCauseFunc]struct{}
	live   int           // runs and goroutines
	idle   chan struct{} // closed when live is 0 and closed is set
}

// Enter begins a run: its context ends with ErrClosed when the engine is closed. leave must be called. After Close the
// error is a *runtime.MisuseError.
func (l *Life) Enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, runtime.ErrorClosed()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if l.runs == nil {
		l.runs = map[*context.CancelCauseFunc]struct{}{}
	}
	l.runs[&cancel] = struct{}{}
	l.live++
	return ctx, func() {
		cancel(context.Canceled)
		l.mu.Lock()
		delete(l.runs, &cancel)
		l.mu.Unlock()
		l.done()
	}, nil
}

// Go runs f on a goroutine that Close waits for. It may be called only between Enter and leave.
func (l *Life) Go(f func()) {
	l.mu.Lock()
	l.live++
	l.mu.Unlock()
	go func() {
		defer l.done()
		f()
	}()
}

func (l *Life) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live--
	if l.live == 0 && l.closed {
		close(l.idle)
	}
}

// Close ends all runs, lets none begin, and waits until nothing lives or ctx ends, with ctx's error then.
func (l *Life) Close(ctx context.Context) error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		l.idle = make(chan struct{})
		if l.live == 0 {
			close(l.idle)
		}
		for cancel := range l.runs {
			(*cancel)(ErrClosed)
		}
	}
	idle := l.idle
	l.mu.Unlock()
	select {
	case <-idle:
		return nil
	default:
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
