package mcptools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Servers are the bridges of one registry; no two of them have the same name (MCP-3). It is safe for concurrent use: servers may be
// connected at the same time.
type Servers struct {
	registrar Registrar
	mu        sync.Mutex
	live      map[string]*Bridge // nil while it is starting
	closed    bool
}

// NewServers returns an empty set for what is registered with reg.
func NewServers(reg Registrar) *Servers {
	return &Servers{registrar: reg, live: map[string]*Bridge{}}
}

// Connect adds one server: see the function [Connect]. A name that is taken by a live bridge of this set is an error, and that bridge is
// untouched; the name is free again when the bridge is closed.
func (s *Servers) Connect(ctx context.Context, c ServerConfig, o Options) (*Bridge, error) {
	return s.connect(ctx, c, o, nil)
}

func (s *Servers) connect(ctx context.Context, c ServerConfig, o Options, d dial) (*Bridge, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("MCP server %q: %w", c.Name, err)
	}
	c = c.withDefaults()
	taken, closed := s.reserve(c.Name)
	if closed {
		return nil, errSetClosed
	}
	if taken {
		return nil, fmt.Errorf("MCP server %q: another server of this name is configured already: names must differ", c.Name)
	}
	release := sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.live, c.Name)
	})
	b, err := connect(ctx, s.registrar, c, o, d, release)
	if err != nil {
		release()
		return nil, err
	}
	if !s.keep(c.Name, b) {
		_ = b.Close(context.WithoutCancel(ctx))
		return nil, errSetClosed
	}
	return b, nil
}

var errSetClosed = errors.New("mcptools: the set of MCP servers has been closed")

func (s *Servers) reserve(name string) (taken, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken = s.live[name]; !taken && !s.closed {
		s.live[name] = nil
	}
	return taken, s.closed
}

// keep says whether a started bridge may stay.
func (s *Servers) keep(name string, b *Bridge) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, reserved := s.live[name]; reserved { // not disposed meanwhile
		s.live[name] = b
	}
	return !s.closed
}

// Bridges returns the live bridges, sorted by name.
func (s *Servers) Bridges() []*Bridge {
	s.mu.Lock()
	defer s.mu.Unlock()
	var bridges []*Bridge
	for _, name := range slices.Sorted(maps.Keys(s.live)) {
		if b := s.live[name]; b != nil {
			bridges = append(bridges, b)
		}
	}
	return bridges
}

// RawName is [Bridge.RawName] over all live bridges.
func (s *Servers) RawName(public string) (raw string, ok bool) {
	_, raw, ok = s.find(public)
	return raw, ok
}

// Origin is the name of the server that a registered tool comes from, "" if it comes from none of this set.
func (s *Servers) Origin(public string) string {
	if b, _, ok := s.find(public); ok {
		return b.Name()
	}
	return ""
}

func (s *Servers) find(public string) (b *Bridge, raw string, ok bool) {
	for _, b := range s.Bridges() {
		if raw, ok := b.RawName(public); ok {
			return b, raw, true
		}
	}
	return nil, "", false
}

// Close closes all bridges at the same time: see [Bridge.Close]. A bridge that is starting is closed as soon as it has started, and
// later ones are refused.
func (s *Servers) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	bridges := s.Bridges()
	errs := make([]error, len(bridges))
	var wait sync.WaitGroup
	for i, b := range bridges {
		wait.Go(func() { errs[i] = b.Close(ctx) })
	}
	wait.Wait()
	return errors.Join(errs...)
}
