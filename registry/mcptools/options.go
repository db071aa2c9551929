package mcptools

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options configures a bridge. The zero value works: diagnostics go to the default logger.
type Options struct {
	// Logger gets what MCP-62 and MCP-71 want to be known: retries, recoveries, failures, skipped lines. nil is slog.Default().
	// Secrets of the configuration are taken out before (MCP-5).
	Logger *slog.Logger
	// Stderr gets each line that the server writes to its standard error, without its end, from one goroutine for each server
	// process. nil sends them to Logger at debug level.
	Stderr func(server, line string)
	// RequestTimeout bounds the handshake and each page of the list; 0 is a minute (MCP-66).
	RequestTimeout time.Duration
	// Images and Route let models see the images of results: the one keeps them, the other says whether the calling agent's model takes
	// them. Both must be there; what is missing is a reason to show none (MCP-36).
	Images ImageStore
	Route  RouteProbe
	// TokenDir is the folder that keeps logins (see [Login]); "" keeps and uses none. It holds one file for each server's address.
	TokenDir string
	// Version is what the client says its version is. "" is "dev".
	Version string
}

func (o *Options) check() error {
	if o.RequestTimeout < 0 {
		return fmt.Errorf("mcptools: Options.RequestTimeout must not be negative, got %s", o.RequestTimeout)
	}
	if o.RequestTimeout == 0 {
		o.RequestTimeout = time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	return nil
}

var errTransport = errors.New("unknown transport")

// open starts or prepares the transport of a server.
func open(c ServerConfig, t *tap, o Options, r *redactor) (link, error) {
	log := o.Logger.With("server", c.Name)
	switch c.Transport {
	case Stdio:
		stderr := func(line string) { log.Debug("the server wrote to its standard error", "line", line) }
		if o.Stderr != nil {
			stderr = func(line string) { o.Stderr(c.Name, line) }
		}
		return startStdio(c, t, r, stderr, log.Warn)
	case StreamableHTTP:
		return openHTTP(c, t, o, r), nil
	}
	return nil, errTransport
}
