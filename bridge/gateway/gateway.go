package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// Agent is whose view is served and who makes the calls; nil is the global view.
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

	// SDK shapes the declarations in resources and answers of a search. It must be what bridge.Options.SDK is.
	SDK sdkgen.Options

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

// Gateway serves one agent's view of a registry to any number of clients. It is safe for concurrent use.
type Gateway struct {
	o      Options
	server *mcp.Server
}

// New returns a gateway. It fails on options that cannot be, on a presentation that cannot be assembled, and, where tools are
// left to a search, on a tool that is itself called search_tools (GATE-1).
func New(o Options) (*Gateway, error) {
	switch {
	case o.Registry == nil:
		return nil, errors.New("gateway: Options.Registry is missing")
	case o.Names != PublicNames && o.Names != RawNames:
		return nil, fmt.Errorf("gateway: Options.Names is %d, expected PublicNames or RawNames", o.Names)
	case o.MaxDescription < 0:
		return nil, fmt.Errorf("gateway: Options.MaxDescription is %d, expected a number of bytes, or 0 for %d", o.MaxDescription, DefaultMaxDescription)
	case o.MaxText < 0:
		return nil, fmt.Errorf("gateway: Options.MaxText is %d, expected a number of bytes, or 0 for %d", o.MaxText, DefaultMaxText)
	}
	g := &Gateway{o: o}
	g.server = mcp.NewServer(&mcp.Implementation{Name: o.Name, Version: o.Version}, nil)
	return g, nil
}

// Close makes the gateway accept nothing more, aborts what runs for its clients, and returns when all of it has been drained
// or ctx has ended, with ctx's error then.
func (g *Gateway) Close(ctx context.Context) error { return ctx.Err() }
