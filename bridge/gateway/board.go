package gateway

// This file defines how changes of the registry reach clients: the list is always the newest, and each burst of changes is
// announced once, when it has settled (GATE-3).

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// board has the listing that clients see. It must be given its gateway, and then be started.
type board struct {
	gateway *Gateway

	making sync.Mutex // held while a listing is made, so that an older one never replaces a newer one

	mu        sync.Mutex
	now       *listing
	stale     bool        // the registry has changed since now was made
	announced *listing    // what clients were told of last
	timer     *time.Timer // of the burst that is going on, nil when there is none
	since     time.Time   // when it began
	stopped   bool
}

// start begins with the first listing. What has changed since it was made is announced like any later change.
func (b *board) start(first *listing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now, b.announced = first, first
	b.gateway.listSDK(first)
	if b.stale {
		b.startTimer()
	}
}

// current returns the newest listing. While the presentation cannot be assembled, that is the last one that could.
func (b *board) current() *listing {
	if l, stale := b.look(); !stale {
		return l
	}
	b.making.Lock()
	defer b.making.Unlock()
	last, stale := b.look()
	if !stale {
		return last
	}
	b.mu.Lock()
	b.stale = false // what changes from here on is seen by the next
	b.mu.Unlock()
	log := b.gateway.o.Logger
	l, err := b.gateway.list()
	if err != nil {
		log.Warn("clients keep the tools they know: the new ones cannot be presented", "error", err)
		return last
	}
	if l.conflict != nil {
		log.Warn("a tool is not shown to clients", "error", l.conflict)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = l
	return l
}

// look returns the last listing and whether a newer one can be made.
func (b *board) look() (l *listing, stale bool) {
	missing := b.gateway.o.Unavailable()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now, b.stale || !slices.Equal(b.now.missing, missing)
}

// changed notes a change of the registry. It is quick, for the one who made the change waits.
func (b *board) changed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = true
	switch {
	case b.stopped || b.now == nil:
		return
	case b.timer == nil:
		b.startTimer()
		return
	}
	t := b.gateway.times
	// A server that changes its tools without end must not keep the others' changes from being told.
	b.timer.Reset(min(t.quiet, time.Until(b.since.Add(t.settle))))
}

func (b *board) startTimer() {
	b.since = time.Now()
	b.timer = time.AfterFunc(b.gateway.times.quiet, b.announce)
}

// announce tells every session what is new.
func (b *board) announce() {
	leave, ok := b.gateway.enter()
	if !ok {
		return
	}
	defer leave()
	b.mu.Lock()
	b.timer = nil
	b.mu.Unlock()
	l := b.current()
	b.mu.Lock()
	before := b.announced
	b.announced = l
	b.mu.Unlock()
	g := b.gateway
	if l.digest != before.digest {
		g.addRelay(g.server)
	}
	if (l.sdk == nil) != (before.sdk == nil) {
		g.listSDK(l)
	}
	if l.sdk != before.sdk {
		ctx, cancel := context.WithTimeout(context.Background(), g.times.notify)
		defer cancel()
		if err := g.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: sdkURI}); err != nil {
			g.o.Logger.Warn("subscribers were not told of the new declarations", "error", err)
		}
	}
}

// stop ends the announcing.
func (b *board) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}
