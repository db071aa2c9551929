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
	s.mu.Lock()
	_, taken := s.live[c.Name]
	if !taken {
		s.live[c.Name] = nil
	}
	s.mu.Unlock()
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, reserved := s.live[c.Name]; reserved { // not disposed meanwhile
		s.live[c.Name] = b
	}
	return b, nil
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

// Close closes all bridges at the same time: see [Bridge.Close].
func (s *Servers) Close(ctx context.Context) error {
	bridges := s.Bridges()
	errs := make([]error, len(bridges))
	var wait sync.WaitGroup
	for i, b := range bridges {
		wait.Go(func() { errs[i] = b.Close(ctx) })
	}
	wait.Wait()
	return errors.Join(errs...)
}
