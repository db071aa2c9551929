package gateway

// This file defines what the gateway keeps of one client: all of it bounded, and gone when the client is.

import (
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxCalls is how many calls of one client run at once.
const maxCalls = 256

var errBusy = errors.New("too many calls are running for this client: wait until some have ended")

// client is the keeper of a session, or of all requests without a session that show the same credentials.
type client struct {
	calls  calls
	texts  texts
	parked parking

	mu      sync.Mutex
	running int
	over    error          // why no more calls begin, nil while they do
	drained sync.WaitGroup // of the running ones; grows only while over is nil
}

// ownerless is the key of the requests that belong to no session: the hash of their credentials.
type ownerless [sha256.Size]byte

// clientOf returns the client that a request comes from. Sessions are known by their ids: in the newest revision of the
// protocol HTTP requests stand for themselves, and what they share is the token that admits them.
func (g *Gateway) clientOf(r *mcp.CallToolRequest) *client { return g.clientBy(r.Session, r.Extra) }

func (g *Gateway) clientBy(session *mcp.ServerSession, extra *mcp.RequestExtra) *client {
	var key any = session
	persistent := session.ID() != ""
	if !persistent {
		token := ""
		if extra != nil {
			token = extra.Header.Get("Authorization")
		}
		key = ownerless(sha256.Sum256([]byte(token)))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.clients[key]
	if !ok {
		c = new(client)
		g.clients[key] = c
		if persistent {
			go func() {
				_ = session.Wait() // how it ended is of no concern
				g.forget(session)
			}()
		}
	}
	return c
}

// forget drops what is kept for a session that is over.
func (g *Gateway) forget(session *mcp.ServerSession) {
	g.mu.Lock()
	c := g.clients[session]
	delete(g.clients, session)
	g.mu.Unlock()
	if c != nil {
		c.end(errClientGone)
	}
}

// end lets no more calls begin, aborts those that run, and returns when they have been drained.
func (c *client) end(cause error) {
	c.mu.Lock()
	if c.over == nil {
		c.over = cause
	}
	c.mu.Unlock()
	c.calls.abort(cause)
	c.parked.clear()
	c.drained.Wait()
}

// enter counts a call that runs for the client until leave is called. The error says why none can.
func (c *client) enter() (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over != nil:
		return nil, c.over
	case c.running >= maxCalls:
		return nil, errBusy
	}
	c.running++
	c.drained.Add(1)
	return func() {
		c.mu.Lock()
		c.running--
		c.mu.Unlock()
		c.drained.Done()
	}, nil
}

// everybody returns all clients that something is kept for.
func (g *Gateway) everybody() []*client {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Values(g.clients))
}
