package main

// This file defines how the gateway starts the servers that it fronts, and what it knows of them (GATE-6).

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/runcode-go/runcode/bridge/gateway"
	"github.com/runcode-go/runcode/registry/mcptools"
)

// front starts the MCP servers, all at once, and returns when all have started or failed, or when wait is over: clients give up
// on a server that does not answer the handshake, and the answer holds what the fronted servers say about themselves. Servers
// that are not there yet go on starting, and so do those that failed.
func (a *app) front(ctx context.Context, t *toolbox, wait time.Duration) (*mcptools.Servers, error) {
	servers := mcptools.NewServers(t.registry)
	ctx, cancel := context.WithCancelCause(ctx)
	var starting sync.WaitGroup
	t.closers = append(t.closers, func() {
		cancel(nil)
		servers.Close(context.WithoutCancel(ctx))
		starting.Wait()
	})
	logger := a.logger()
	o := a.serverOptions(logger)
	var mu sync.Mutex
	missing := map[string]bool{}
	for _, c := range t.servers {
		missing[c.Name] = true
	}
	for _, c := range t.servers {
		starting.Go(func() {
			_, err := servers.Connect(ctx, c, o)
			if err != nil && ctx.Err() == nil {
				logger.Error(err.Error()) // it names the server
			}
			mu.Lock()
			defer mu.Unlock()
			delete(missing, c.Name)
		})
	}
	started := make(chan struct{})
	go func() {
		starting.Wait()
		close(started)
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-started:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-timer.C:
		mu.Lock()
		defer mu.Unlock()
		logger.Warn("not waiting any longer for MCP servers that are starting: their tools follow", "servers", strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
	}
	return servers, nil
}

// instructions are what the servers that are connected say about themselves.
func instructions(servers *mcptools.Servers) []gateway.ServerInstructions {
	var list []gateway.ServerInstructions
	for _, b := range servers.Bridges() {
		if text := b.Facts().Instructions; text != "" {
			list = append(list, gateway.ServerInstructions{Server: b.Name(), Text: text})
		}
	}
	return list
}
