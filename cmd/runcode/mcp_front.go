package main

// This file defines how the gateway starts the servers that it fronts, and what it knows of them (GATE-6).

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/runcode-go/runcode/bridge/gateway"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/mcptools"
)

// backend is what stands behind a gateway: the MCP servers, and the images in their results.
type backend struct {
	servers *mcptools.Servers
	images  *mcptools.MemoryStore
	names   []string // of all servers that there should be
	broken  []string // the keys of those that the configuration does not describe well enough
}

// front starts the MCP servers, all at once, and returns when all have started or failed, or when wait is over: clients give up
// on a server that does not answer the handshake, and the answer holds what the fronted servers say about themselves. Servers
// that are not there yet go on starting, and so do those that failed. address is where the gateway itself listens, if it does.
func (a *app) front(ctx context.Context, t *toolbox, address string, wait time.Duration) (*backend, error) {
	back := &backend{
		servers: mcptools.NewServers(t.registry), images: mcptools.NewMemoryStore(mcptools.MemoryLimits{}), broken: t.broken,
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var starting sync.WaitGroup
	t.closers = append(t.closers, func() {
		cancel(nil)
		back.servers.Close(context.WithoutCancel(ctx))
		starting.Wait()
	})
	logger := a.logger()
	o := a.serverOptions(logger)
	o.Images = back.images
	o.Route = func(context.Context, registry.AgentKey) (mcptools.Route, error) {
		return mcptools.Route{Model: "the client's", Images: true}, nil // what a client cannot show it passes over
	}
	var mu sync.Mutex
	missing := map[string]bool{}
	for _, c := range a.others(t.servers, address) {
		missing[c.Name] = true
		back.names = append(back.names, c.Name)
		starting.Go(func() {
			_, err := back.servers.Connect(ctx, c, o)
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
	return back, nil
}

// others leaves out the entry that is this gateway itself (GATE-2), for fronting itself it would start gateways without end, and all
// but the first entry of a name.
func (a *app) others(servers []mcptools.ServerConfig, address string) []mcptools.ServerConfig {
	executable, err := os.Executable()
	if err != nil {
		executable = "" // its name is left
	}
	taken := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(servers), func(c mcptools.ServerConfig) bool {
		switch {
		case c.StartsItself(executable, address):
			a.warn(fmt.Sprintf("leaving out the MCP server %q: it is this gateway itself", c.Name))
			return true
		case taken[c.Name]:
			a.warn(fmt.Sprintf("error: leaving out the second MCP server %q: names must differ", c.Name))
			return true
		}
		taken[c.Name] = true
		return false
	})
}

// instructions are what the servers that are connected say about themselves.
func (b *backend) instructions() []gateway.ServerInstructions {
	var list []gateway.ServerInstructions
	for _, server := range b.servers.Bridges() {
		if text := server.Facts().Instructions; text != "" {
			list = append(list, gateway.ServerInstructions{Server: server.Name(), Text: text})
		}
	}
	return list
}

// unavailable are the servers that are not connected, and those that cannot be.
func (b *backend) unavailable() []string {
	connected := map[string]bool{}
	for _, server := range b.servers.Bridges() {
		connected[server.Name()] = server.Connected()
	}
	return append(slices.DeleteFunc(slices.Clone(b.names), func(name string) bool { return connected[name] }), b.broken...)
}

// image returns an image that a result shows.
func (b *backend) image(ref registry.ImageRef) (data []byte, ok bool) {
	image, ok := b.images.Image(ref.Attachment)
	return image.Data, ok
}
