package mcptools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// Registrar is where a bridge registers its tools: a *registry.Registry, for everybody, or a *registry.Scope.
type Registrar interface {
	Group() *registry.Group
}

// Bridge is one configured server and its tools (section 3 of the rules). One goroutine owns the connection: it makes every attempt,
// every synchronisation and the disposal, one after another, so that none of them can interleave (MCP-52).
type Bridge struct {
	config  ServerConfig
	options Options
	redact  *redactor
	log     *slog.Logger
	dial    dial
	images  *gallery
	release func() // frees the name

	stop func()        // ends the owner; any number of calls
	done chan struct{} // the owner has ended

	// The owner's own state.
	tools     *registry.Group
	published []remoteTool // what is registered

	mu       sync.Mutex
	current  session // nil in an outage
	disposed bool
	facts    ServerFacts
	raw      map[string]string // the server's own name of each registered tool
}

// Connect makes a bridge of its own for one server: it validates c, starts or reaches the server, asks for its tools and registers them
// with reg before it returns (MCP-13). Use [Servers] for several: it also sees that their names differ.
//
// A bad configuration fails at once. A failed start fails Connect only with c.FailOnStartupError; otherwise it is logged and the bridge
// goes on to try (MCP-14). ctx bounds the start alone; it ending is a failure of Connect in both cases.
func Connect(ctx context.Context, reg Registrar, c ServerConfig, o Options) (*Bridge, error) {
	return NewServers(reg).Connect(ctx, c, o)
}

// connect is Connect with the way to the server given; nil takes the configured one.
func connect(ctx context.Context, reg Registrar, c ServerConfig, o Options, d dial, release func()) (*Bridge, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if c.StartupTimeout != 0 {
		o.RequestTimeout = c.StartupTimeout
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	b := &Bridge{
		config: c, options: o, redact: newRedactor(c), log: o.Logger.With("server", c.Name), dial: d, release: release,
		stop: stop, done: make(chan struct{}), tools: reg.Group(),
	}
	b.images = newGallery(o, b.log)
	if b.dial == nil {
		b.dial = newDial(c, o, b.redact)
	}
	for _, note := range c.Notes {
		b.log.Warn(note)
	}
	started := make(chan error, 1)
	go b.own(life, started)
	select {
	case err := <-started:
		if err != nil && c.FailOnStartupError {
			<-b.done
			return nil, b.startError(err)
		}
		return b, nil
	case <-ctx.Done():
		b.stop()
		<-b.done
		return nil, b.startError(context.Cause(ctx))
	}
}

// startError is one line, whatever a server put into its errors, and without secrets.
func (b *Bridge) startError(err error) error {
	text := oneLine(b.redact.clean(err.Error()))
	return fmt.Errorf("MCP server %q: start-up failed: %w", b.config.Name, redacted{err, text})
}

// Name is the server's name in the configuration.
func (b *Bridge) Name() string { return b.config.Name }

// Connected says whether there is a connection now.
func (b *Bridge) Connected() bool { return b.session() != nil }

// Facts is what the server said about itself at the last successful handshake.
func (b *Bridge) Facts() ServerFacts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.facts
}

// RawName returns the name that the server itself has for a registered tool (MCP-10), false for what is no tool of this bridge.
func (b *Bridge) RawName(public string) (raw string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	raw, ok = b.raw[public]
	return raw, ok
}

// Close disposes the bridge (MCP-68): no further attempt is made, the server is ended, the tools are removed, calls that are under way
// fail as not connected. It returns when all that is done, within some seconds even for a server that will not go, or when ctx ends;
// the disposal then goes on. It may be called more than once.
func (b *Bridge) Close(ctx context.Context) error {
	b.mu.Lock()
	b.disposed = true
	b.mu.Unlock()
	b.stop()
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *Bridge) session() session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current
}

func (b *Bridge) closing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.disposed
}

func (b *Bridge) setSession(s session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = s
	if s != nil {
		b.facts = s.facts()
	}
}

// own is the life of a bridge.
func (b *Bridge) own(ctx context.Context, started chan<- error) {
	defer close(b.done)
	defer b.release()
	defer b.setNames(nil)
	defer b.tools.Dispose()
	defer b.stop()

	s, err := b.attempt(ctx)
	if err != nil && ctx.Err() == nil {
		b.log.Error("the MCP server could not be started", "error", b.startError(err))
	}
	started <- err
	if err != nil && b.config.FailOnStartupError {
		return
	}
	for failures := 0; ; {
		lost := s != nil
		if lost {
			uptime, gone := b.serve(ctx, s)
			if ctx.Err() != nil {
				return
			}
			if !gone {
				b.log.Error("the MCP server has not ended, so it is not started again: reload it when it has", "reason", errLingers)
				b.idle(ctx)
				return
			}
			if uptime >= b.config.Reconnect.MaxDelay { // MCP-59
				failures = 0
			}
		}
		reason := b.why(s, err)
		if ctx.Err() != nil || !b.mayRetry(ctx, err, failures, lost, reason) {
			return
		}
		failures++
		delay := b.delay(failures)
		b.log.Warn("reconnecting to the MCP server", "attempt", failures, "of", b.config.Reconnect.MaxAttempts, "delay", delay, "after", outage(lost), "reason", reason)
		if !sleep(ctx, delay) {
			return
		}
		s, err = b.attempt(ctx)
		if err == nil {
			b.log.Info("the MCP server is connected again", "attempt", failures)
		}
	}
}

// mayRetry decides what follows a lost connection or a failed attempt. If nothing does, it waits for the disposal, or the tools of a
// bridge that gave up would come back with the next notice.
func (b *Bridge) mayRetry(ctx context.Context, err error, failures int, lost bool, reason string) bool {
	switch {
	case errors.Is(err, errLingers): // MCP-60
		b.log.Error("the MCP server's process could not be ended, so it is not started again: reload it when it has", "reason", reason)
	case b.config.Reconnect.Disabled: // MCP-61
		b.log.Error("the MCP server is not connected and reconnection is off: reload it to use its tools", "after", outage(lost), "reason", reason)
	case failures >= b.config.Reconnect.MaxAttempts: // MCP-58
		b.register(nil)
		b.log.Error("giving up on the MCP server: reload it to use its tools", "attempts", failures, "reason", reason)
	default:
		return true
	}
	b.idle(ctx)
	return false
}

// idle waits for the disposal. It costs a parked goroutine and nothing else.
func (b *Bridge) idle(ctx context.Context) { <-ctx.Done() }

func outage(lost bool) string {
	if lost {
		return "a lost connection"
	}
	return "a failed connect"
}

func (b *Bridge) why(s session, err error) string {
	if err != nil {
		return b.redact.clean(err.Error())
	}
	return b.redact.clean(s.reason())
}

// delay is the wait before attempt n of an outage (MCP-57).
func (b *Bridge) delay(n int) time.Duration {
	d := b.config.Reconnect.InitialDelay
	for ; n > 1 && d < b.config.Reconnect.MaxDelay; n-- {
		d *= 2
	}
	return min(d, b.config.Reconnect.MaxDelay)
}

// sleep waits and says whether it was left in peace.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt makes one connection and brings its tools into the registry; only both together are a success (MCP-57).
func (b *Bridge) attempt(ctx context.Context) (session, error) {
	s, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	if err = b.synchronise(ctx, s); err != nil {
		s.close()
		if !b.end(s) {
			err = errors.Join(err, errLingers)
		}
		return nil, err
	}
	b.setSession(s)
	return s, nil
}

// end waits for a closed session to be gone.
func (b *Bridge) end(s session) bool {
	s.close()
	if awaitGone(s.gone()) {
		return true
	}
	b.log.Error("the MCP server may still be running: it did not end in time", "within", goneWithin)
	return false
}

// serve follows the notices of a connected server until the connection or the bridge ends. It says how long the connection was up, and
// whether the server is gone then.
func (b *Bridge) serve(ctx context.Context, s session) (uptime time.Duration, gone bool) {
	since := time.Now()
	for {
		select {
		case <-ctx.Done():
			b.setSession(nil)
			return time.Since(since), b.end(s)
		case <-s.closed():
			b.setSession(nil) // MCP-56: calls fail from here on
			uptime = time.Since(since)
			return uptime, b.end(s)
		case <-s.changed():
			if isClosed(s.closed()) {
				continue
			}
			began := time.Now()
			err := b.synchronise(ctx, s)
			took := time.Since(began)
			if err != nil && ctx.Err() == nil && !isClosed(s.closed()) { // MCP-53
				b.log.Error("the tools of the MCP server changed, but could not be taken over", "error", b.redact.error(err))
			}
			// A server that answers each list with a notice must not keep us busy, least of all with a long list.
			if !sleep(ctx, min(max(syncPause, syncShare*took), maxSyncPause)) {
				continue
			}
		}
	}
}

// The pause between two synchronisations of one connection.
const (
	syncPause    = 20 * time.Millisecond // at least
	syncShare    = 9                     // times what the first of the two took
	maxSyncPause = 2 * time.Second
)
