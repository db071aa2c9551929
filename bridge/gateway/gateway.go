package gateway

// This file defines the gateway, its options, and its end.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/sdkgen"
)

// The defaults of [Options].
const (
	DefaultMaxDescription       = 2048             // the bytes of a description that the strictest known client shows
	DefaultMaxText        int64 = 40 << 10         // bytes of text of one result
	DefaultWall                 = 55 * time.Second // clients give up after about 60 s
)

// Options configures a [Gateway]. Only Registry is required.
type Options struct {
	// Registry has the tools and executes the calls. Its mode for Agent decides what clients see: run_code, the tools, or both.
	// It stays the caller's.
	Registry *registry.Registry
	// Agent is whose view is served and who makes the calls. Nil: an agent of the gateway's own, which has no scope and so sees
	// what everybody does.
	Agent registry.AgentKey

	// Name and Version are how the gateway introduces itself; "" is "runcode" and "dev".
	Name, Version string

	// Names says under which names clients see native tools. RawNames needs RawName.
	Names Names
	// RawName returns the name that a tool has at its own server, and false for a tool that has only the one name. Nil: no
	// tool has another.
	RawName func(public string) (raw string, ok bool)

	// Origin returns the server that a tool comes from, "" for none. It is what the index by server groups by. Nil: from none.
	Origin func(tool string) string

	// Instructions returns what the fronted servers say about themselves. It is asked for each session anew, must be safe
	// for concurrent use, and may be nil.
	Instructions func() []ServerInstructions

	// Unavailable returns the fronted servers whose tools are not there, because they are starting or have failed: models are
	// told, so that they do not take what they miss for something that nobody has. It must be safe for concurrent use and quick.
	// Nil: none.
	Unavailable func() []string

	// Image returns the bytes of an image that a result refers to, and false when there are none any more. It must be safe for
	// concurrent use. Nil: there are none.
	Image func(registry.ImageRef) (data []byte, ok bool)

	// SDK shapes the declarations. It must be what bridge.Options.SDK is, so that both know alike where programs have
	// sdk.search; see [SDKOptions].
	SDK sdkgen.Options
	// SDKs remembers declarations; that of bridge.Options saves making them twice. Nil: the gateway has one of its own.
	SDKs *sdkgen.Cache

	// MaxDescription is how many bytes run_code's description may have for the whole SDK to stand in it (GATE-3). 0 means
	// DefaultMaxDescription.
	MaxDescription int

	// MaxText is how many bytes of text one result shows; what is longer is cut in the middle, and the whole is a resource
	// (GATE-1). 0 means DefaultMaxText.
	MaxText int64

	// Wall bounds a run whose client did not ask for progress. 0 means DefaultWall; less than 0: the engine's limit alone.
	Wall time.Duration

	// Logger gets what goes wrong between the gateway and its clients. Nil is slog.Default(), which must not write to standard
	// output where that is served.
	Logger *slog.Logger
}

// Names says how native tools are called on the wire.
type Names int

const (
	// PublicNames are the names of the registry, which are those that programs use.
	PublicNames Names = iota
	// RawNames are the names that the tools have at their own servers, where no two are the same and no name is taken: clients
	// add prefixes of their own, and have limits on the length of names (GATE-1).
	RawNames
)

// ServerInstructions is what one fronted server says about itself. It is foreign text.
type ServerInstructions struct{ Server, Text string }

// ownAgent makes the calls of a gateway that was given no agent: calls that belong to nobody can be neither approved (ASK-1)
// nor watched (SUB-12).
type ownAgent struct{ *Gateway }

func (ownAgent) String() string { return "gateway" }

// Gateway serves one agent's view of a registry to any number of clients. It is safe for concurrent use.
type Gateway struct {
	o      Options
	server *mcp.Server
	board  board
	times  times

	unsubscribe func()

	mu      sync.Mutex
	clients map[any]*client // see clientOf
	closed  bool
	open    sync.WaitGroup // calls, and clients that are being served; grows only while closed is false
	ended   chan struct{}  // closed with closed
	calls   calls
}

// New returns a gateway, which must be closed. It fails on options that cannot be, on a presentation that cannot be assembled,
// and, where tools are left to a search, on a tool that is itself called search_tools (GATE-1).
func New(o Options) (*Gateway, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	g := &Gateway{o: o, times: defaultTimes, clients: make(map[any]*client), ended: make(chan struct{})}
	if o.Agent == nil {
		g.o.Agent = ownAgent{g}
	}
	g.board.gateway = g
	g.unsubscribe = o.Registry.OnChange(g.board.changed)
	first, err := g.list()
	if err == nil {
		err = first.conflict
	}
	if err != nil {
		g.unsubscribe()
		return nil, fmt.Errorf("gateway: %w", err)
	}
	g.server = g.newServer()
	g.board.start(first)
	return g, nil
}

// check fills in the defaults and reports the first option that cannot be.
func (o *Options) check() error {
	switch {
	case o.Registry == nil:
		return errors.New("gateway: Options.Registry is missing")
	case o.Names != PublicNames && o.Names != RawNames:
		return fmt.Errorf("gateway: Options.Names is %d, expected PublicNames or RawNames", o.Names)
	case o.MaxDescription < 0:
		return fmt.Errorf("gateway: Options.MaxDescription is %d, expected a number of bytes, or 0 for %d", o.MaxDescription, DefaultMaxDescription)
	case o.MaxText < 0:
		return fmt.Errorf("gateway: Options.MaxText is %d, expected a number of bytes, or 0 for %d", o.MaxText, DefaultMaxText)
	}
	if o.Name == "" {
		o.Name = "runcode"
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.RawName == nil || o.Names == PublicNames {
		o.RawName = func(string) (string, bool) { return "", false }
	}
	if o.Origin == nil {
		o.Origin = func(string) string { return "" }
	}
	if o.Instructions == nil {
		o.Instructions = func() []ServerInstructions { return nil }
	}
	if o.Unavailable == nil {
		o.Unavailable = func() []string { return nil }
	}
	if o.Image == nil {
		o.Image = func(registry.ImageRef) ([]byte, bool) { return nil, false }
	}
	if o.MaxDescription == 0 {
		o.MaxDescription = DefaultMaxDescription
	}
	if o.MaxText == 0 {
		o.MaxText = DefaultMaxText
	}
	if o.Wall == 0 {
		o.Wall = DefaultWall
	}
	if o.SDKs == nil {
		o.SDKs = new(sdkgen.Cache)
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return nil
}

// Close makes the gateway accept nothing more, aborts what runs for its clients, and returns when all of it has been drained
// and every ServeStdio has returned, or when ctx has ended, with ctx's error then. It may be called more than once.
func (g *Gateway) Close(ctx context.Context) error {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.ended)
	}
	g.mu.Unlock()
	g.unsubscribe()
	g.board.stop()
	g.calls.abort(errShutdown)
	for _, c := range g.everybody() {
		c.parked.clear()
	}
	drained := make(chan struct{})
	go func() {
		g.open.Wait()
		close(drained)
	}()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter counts something that Close waits for until leave is called. It reports false when the gateway is closed.
func (g *Gateway) enter() (leave func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, false
	}
	g.open.Add(1)
	return g.open.Done, true
}
