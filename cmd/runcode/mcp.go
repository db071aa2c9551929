package main

// This file defines `runcode mcp`: its flags, and how the parts of a gateway are put together (GATE-1).

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/bridge/gateway"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/sdkgen"
)

type mcpFlags struct {
	tools  toolFlags
	engine engineFlags
	check  checkFlags
	http   httpFlags

	mode, names       choiceFlag
	describe, maxText sizeFlag
	wait              durationFlag
	noCheck           bool
	wallSet           bool // --wall was given
	printConfig       string
}

// The words of --mode and --names.
var (
	gatewayModes = map[string]registry.Mode{"code": registry.Code, "native": registry.Native, "both": registry.Both}
	gatewayNames = map[string]gateway.Names{"public": gateway.PublicNames, "raw": gateway.RawNames}
)

func (a *app) mcpCommand() *cobra.Command {
	f := mcpFlags{
		mode:     choiceFlag{value: "code", choices: []string{"code", "native", "both"}},
		names:    choiceFlag{value: "public", choices: []string{"public", "raw"}},
		describe: gateway.DefaultMaxDescription,
		maxText:  sizeFlag(gateway.DefaultMaxText),
		wait:     durationFlag(8 * time.Second),
	}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to MCP clients as one tool that runs programs",
		Long: `Serve MCP over standard input and output, or over HTTP, for a client such as Claude Code, Cursor or VS Code. The client sees one tool,
run_code, whose programs call all tools that the flags give, those of your MCP servers among them; every call passes the same policy.

The client starts this command itself: --print-config prints the entry for its configuration. Servers that fail to start do not keep the
others from working. Calls that --ask names are put to the person at the client, where the client can ask; otherwise they are denied.

Over HTTP clients need the bearer token that is printed at the start, or one of those in --token-file.`,
		Example: `  runcode mcp --mcp .mcp.json
  runcode mcp --mcp .mcp.json --print-config claude-code
  runcode mcp --mcp .mcp.json --ask '*delete*' --print-config cursor`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unexpected argument %q: mcp serves the tools of its flags, mcp login NAME logs in at a server", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.wallSet = cmd.Flags().Changed("wall")
			if cmd.Flags().Changed("print-config") {
				return a.printClientConfig(cmd.Flags(), f)
			}
			return a.serveMCP(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	f.tools.add(flags)
	flags.Lookup("ask").Usage = "ask the person at the client before each call of tools with this `NAME`, a pattern with *; may be repeated"
	f.engine.add(flags)
	flags.Lookup("wall").Usage = "time a run may take, waiting for tools included; without the flag 55s where the client did not ask for progress"
	f.check.add(flags)
	flags.BoolVar(&f.noCheck, "no-check", false, "do not check the types of programs before they run")
	flags.Var(&f.mode, "mode", "what clients see: run_code, the tools themselves, or both")
	flags.Var(&f.names, "names", "names of tools that clients see: with their server's, or, where they are unique, the server's own")
	flags.Var(&f.describe, "describe", "how long run_code's description may be for all declarations to stand in it; others are searched for")
	flags.Var(&f.maxText, "max-text", "how much text of one result a client gets; the whole is a resource")
	flags.Var(&f.wait, "start-wait", "how long a client that connects waits for servers that are starting; their tools follow")
	f.http.add(flags)
	flags.StringVar(&f.printConfig, "print-config", "", "print the entry for the configuration of `CLIENT` and exit: "+clientNames())
	completeChoices(cmd, "engine", engineWasm, engineGoja)
	completeChoices(cmd, "mode", f.mode.choices...)
	completeChoices(cmd, "names", f.names.choices...)
	completeChoices(cmd, "print-config", clientList()...)
	cmd.AddCommand(a.mcpLoginCommand())
	return cmd
}

// serveMCP serves until the client or an interrupt ends it. Everything that can be wrong with the command line and the
// configuration is found before a client is answered.
func (a *app) serveMCP(ctx context.Context, f mcpFlags) error {
	if err := f.engine.check(); err != nil {
		return err
	}
	// A client that has gone is no reason to die before the servers have been ended. Ignoring the signal would be inherited.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	serve, err := a.openTransport(f.http)
	if err != nil {
		return err
	}
	defer serve.close()
	mode := gatewayModes[f.mode.value]
	o := bridge.Options{
		MaxParallelSubCalls: int(f.engine.parallel),
		SDK:                 gateway.SDKOptions(sdkgen.Options{MaxDescription: sdkDescription}, int(f.describe)),
		Logger:              a.logger(),
		PerRun: func(ctx context.Context, x registry.Execution) bridge.RunOptions {
			run := gateway.PerRun(ctx, x)
			run.Seed = uint64(f.engine.seed)
			return run
		},
	}
	var engine *starting
	if mode != registry.Native {
		engine = a.startEngine(ctx, f.engine)
		defer engine.close(ctx)
		if !f.noCheck {
			checker, found, err := a.newChecker(ctx, f.check, true)
			if err != nil {
				return err
			}
			defer checker.Close()
			if found {
				o.Check = checker
			}
		}
	}
	b, err := bridge.New(o)
	if err != nil {
		return err
	}

	approver := gateway.Approver(nil)
	if f.tools.yes {
		approver = a.approver(true, nil)
	}
	f.tools.lenient = true
	f.tools.protect = append(f.tools.protect, f.http.files()...)
	box, err := a.openTools(f.tools, registry.Options{Mode: mode, Transport: b, Approver: approver})
	if err != nil {
		return err
	}
	defer box.close()
	back, err := a.front(ctx, box, serve.address, time.Duration(f.wait))
	if err != nil {
		return err
	}
	if engine != nil {
		e, err := engine.wait()
		if err != nil {
			return err
		}
		b.SetEngine(e)
	}

	version, _ := buildVersion()
	g, err := gateway.New(gateway.Options{
		Registry: box.registry, Agent: agentName, Version: version,
		Names: gatewayNames[f.names.value], RawName: back.servers.RawName, Origin: back.servers.Origin,
		Instructions: back.instructions, Image: back.image,
		SDK: o.SDK, MaxDescription: int(f.describe), MaxText: int64(f.maxText), Wall: gatewayWall(f),
		Logger: o.Logger,
	})
	if err != nil {
		return configuration(err)
	}
	defer g.Close(context.WithoutCancel(ctx))
	return serve.run(ctx, g)
}

// gatewayWall is the budget of a run whose client did not ask for progress: what the flag says, or else what clients wait for.
func gatewayWall(f mcpFlags) time.Duration {
	if f.wallSet {
		return -1 // the engine's limit is the flag's
	}
	return 0
}

// openStdio is the transport over standard input and output.
func (a *app) openStdio() *transport {
	return &transport{
		close: func() {},
		run: func(ctx context.Context, g *gateway.Gateway) error {
			if a.stdinTerminal {
				a.warn("serving MCP on standard input and output, for a client that starts this command; see runcode mcp --help")
			}
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer watchParent(os.Getppid, parentEvery, cancel)()
			err := g.ServeStdio(ctx, closable(a.stdin), closableOut(a.stdout))
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

func closable(r io.Reader) io.ReadCloser {
	if c, ok := r.(io.ReadCloser); ok {
		return c
	}
	return io.NopCloser(r)
}

func closableOut(w io.Writer) io.WriteCloser {
	if c, ok := w.(io.WriteCloser); ok {
		return c
	}
	return struct {
		io.Writer
		io.Closer
	}{w, io.NopCloser(nil)}
}
