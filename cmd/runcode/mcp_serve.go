package main

// This file defines how the parts of a gateway are put together, and the transport over standard input and output (GATE-1).

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/bridge/gateway"
	"github.com/runcode-go/runcode/bridge/tscheck"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/sdkgen"
)

// serveMCP serves until the client or an interrupt ends it. Everything that can be wrong with the command line and the
// configuration is found before a client is answered.
func (a *app) serveMCP(ctx context.Context, f mcpFlags) error {
	if err := f.engine.check(); err != nil {
		return err
	}
	// A client that has gone is no reason to die before the servers have been ended. Ignoring the signal would be inherited.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	clients, err := a.openTransport(f.http)
	if err != nil {
		return err
	}
	defer clients.close()
	code, err := a.openCode(ctx, f)
	if err != nil {
		return err
	}
	defer code.close(ctx)
	box, err := a.openGatewayTools(f, code.bridge)
	if err != nil {
		return err
	}
	defer box.close()
	back, err := a.front(ctx, box, clients.address, time.Duration(f.wait))
	if err != nil {
		return err
	}
	if err := code.ready(); err != nil {
		return err
	}
	version, _ := buildVersion()
	g, err := gateway.New(gateway.Options{
		Registry: box.registry, Agent: agentName, Version: version,
		Names: gatewayNames[f.names.value], RawName: back.servers.RawName, Origin: back.servers.Origin,
		Instructions: back.instructions, Unavailable: back.unavailable, Image: back.image,
		SDK: code.sdk, SDKs: code.sdks, MaxDescription: int(f.describe), MaxText: int64(f.maxText), Wall: f.gatewayWall(),
		Logger: a.logger(),
	})
	if err != nil {
		return configuration(err)
	}
	defer g.Close(context.WithoutCancel(ctx))
	return clients.serve(ctx, g)
}

// code is what runs the programs of a gateway: a bridge whose engine is on its way, and the type checker.
type code struct {
	bridge  *bridge.Bridge
	sdk     sdkgen.Options
	sdks    *sdkgen.Cache    // of the bridge and the gateway
	engine  *starting        // nil where no programs are run
	checker *tscheck.Checker // nil where none are checked
}

func (a *app) openCode(ctx context.Context, f mcpFlags) (_ *code, err error) {
	c := &code{sdk: gateway.SDKOptions(sdkgen.Options{MaxDescription: sdkDescription}, int(f.describe)), sdks: new(sdkgen.Cache)}
	defer func() {
		if err != nil {
			c.close(ctx)
		}
	}()
	o := bridge.Options{
		MaxParallelSubCalls: int(f.engine.parallel),
		SDK:                 c.sdk,
		SDKs:                c.sdks,
		Logger:              a.logger(),
		PerRun: func(ctx context.Context, x registry.Execution) bridge.RunOptions {
			run := gateway.PerRun(ctx, x)
			run.Seed = uint64(f.engine.seed)
			return run
		},
	}
	if gatewayModes[f.mode.value] != registry.Native {
		c.engine = a.startEngine(ctx, f.engine)
		if !f.noCheck {
			var found bool
			if c.checker, found, err = a.newChecker(ctx, f.check, true); err != nil {
				return nil, err
			}
			if found {
				o.Check = c.checker
			}
		}
	}
	c.bridge, err = bridge.New(o)
	return c, err
}

// ready waits for the engine.
func (c *code) ready() error {
	if c.engine == nil {
		return nil
	}
	e, err := c.engine.wait()
	if err == nil {
		c.bridge.SetEngine(e)
	}
	return err
}

func (c *code) close(ctx context.Context) {
	if c.checker != nil {
		c.checker.Close()
	}
	if c.engine != nil {
		c.engine.close(ctx)
	}
}

// openGatewayTools opens the tools, without those of MCP servers. What --ask names is put to the person at the client (GATE-4).
func (a *app) openGatewayTools(f mcpFlags, b *bridge.Bridge) (*toolbox, error) {
	f.tools.lenient = true
	f.tools.protect = append(f.tools.protect, f.http.files()...)
	approver := gateway.Approver(nil)
	if f.tools.yes {
		approver = a.approver(true, nil)
	}
	return a.openTools(f.tools, registry.Options{Mode: gatewayModes[f.mode.value], Transport: b, Approver: approver})
}

// gatewayWall is the budget of a run whose client did not ask for progress: what the flag says, or else what clients wait for.
func (f mcpFlags) gatewayWall() time.Duration {
	if f.wallSet {
		return -1 // the engine's limit is the flag's
	}
	return gateway.DefaultWall
}

// transport is how clients reach the gateway.
type transport struct {
	address string // host:port; "" for standard input and output
	serve   func(context.Context, *gateway.Gateway) error
	close   func() // of what serve did not get to
}

// openStdio is the transport over standard input and output.
func (a *app) openStdio() *transport {
	return &transport{
		close: func() {},
		serve: func(ctx context.Context, g *gateway.Gateway) error {
			if a.stdinTerminal {
				a.warn("serving MCP on standard input and output, for a client that starts this command; see runcode mcp --help")
			}
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer watchParent(os.Getppid, parentEvery, cancel)()
			err := g.ServeStdio(ctx, closingReader(a.stdin), closingWriter(a.stdout))
			if context.Cause(ctx) == errOrphaned {
				return nil
			}
			return serveError(ctx, err)
		},
	}
}

// serveError is what an end means: an interrupt, a breakdown, or nothing.
func serveError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &exitError{status: statusFailed, err: err}
	}
	return nil
}

// closingReader and closingWriter give streams a Close, those of this process their own.
func closingReader(r io.Reader) io.ReadCloser {
	if c, ok := r.(io.ReadCloser); ok {
		return c
	}
	return io.NopCloser(r)
}

func closingWriter(w io.Writer) io.WriteCloser {
	if c, ok := w.(io.WriteCloser); ok {
		return c
	}
	return openWriter{w}
}

type openWriter struct{ io.Writer }

func (openWriter) Close() error { return nil }
