package main

// This file defines the command line of `runcode mcp`.

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/bridge/gateway"
	"github.com/runcode-go/runcode/registry"
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

Over HTTP clients need the bearer token that is printed at the start, or one of those in --token-file. Nothing else than this machine
can connect, unless --http names an address that others reach.

Exit status: 0 the client has gone, 1 a stream broke, 2 usage or configuration, 130 interrupted.`,
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
	flags.Var(&f.names, "names", "names of tools that clients see: public ones such as mcp__SERVER__TOOL, or raw ones, as their servers have them, where they are unique")
	flags.Var(&f.describe, "describe", "longest description of run_code that holds the declarations of all tools; beyond it they are searched for")
	flags.Var(&f.maxText, "max-text", "text of one result that a client gets; what is longer is cut, and the whole is a resource")
	flags.Var(&f.wait, "start-wait", "how long the first answer waits for servers that are starting; the tools of later ones follow")
	f.http.add(flags)
	flags.StringVar(&f.printConfig, "print-config", "", "print the entry for the configuration of `CLIENT` and exit: "+clientNames())
	completeChoices(cmd, "engine", engineWasm, engineGoja)
	completeChoices(cmd, "mode", f.mode.choices...)
	completeChoices(cmd, "names", f.names.choices...)
	completeChoices(cmd, "print-config", clientList()...)
	cmd.AddCommand(a.mcpLoginCommand())
	return cmd
}
