package main

// This file defines the flags that several commands share.

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/runtime"
)

// toolFlags say which tools there are and what policy they are under (CLI-2, CLI-3).
type toolFlags struct {
	manifests  []string
	mcp        []string
	allowRead  []string
	allowWrite []string

	only, deny, ask []string
	yes             bool

	// These are no flags.
	noServers bool     // read the configuration of servers and start none
	lenient   bool     // what is wrong with one server's entry does not keep the others out
	protect   []string // further files that no write may touch: the program
}

func (f *toolFlags) add(flags *pflag.FlagSet) {
	// Arrays, not lists: a comma is part of a file's name.
	flags.StringArrayVar(&f.manifests, "tools", nil, "tools from this manifest `FILE`; may be repeated")
	flags.StringArrayVar(&f.mcp, "mcp", nil, "tools of the servers in this MCP configuration `FILE`; may be repeated")
	flags.StringArrayVar(&f.allowRead, "allow-read", nil, "tools that read files below `DIR` (default: the working directory); may be repeated")
	flags.Lookup("allow-read").NoOptDefVal = "."
	flags.StringArrayVar(&f.allowWrite, "allow-write", nil, "tools that change files below `DIR`; may be repeated")
	flags.StringArrayVar(&f.only, "only", nil, "only tools with this `NAME`, a pattern with *; may be repeated")
	flags.StringArrayVar(&f.deny, "deny", nil, "no tools with this `NAME`, a pattern with *; may be repeated")
	flags.StringArrayVar(&f.ask, "ask", nil, "ask on the terminal before each call of tools with this `NAME`, a pattern with *; may be repeated")
	flags.BoolVar(&f.yes, "yes", false, "grant what --ask would ask")
}

// The engines that can be chosen.
const (
	engineWasm = "wasm"
	engineGoja = "goja"
)

// engineFlags say how programs are run (CLI-4).
type engineFlags struct {
	engine        choiceFlag
	compute, wall durationFlag
	heap, output  sizeFlag
	seed          seedFlag
	parallel      countFlag
}

func (f *engineFlags) add(flags *pflag.FlagSet) {
	f.engine = choiceFlag{value: engineWasm, choices: []string{engineWasm, engineGoja}}
	d := runtime.Limits{}.WithDefaults()
	f.compute, f.wall = durationFlag(d.Compute), durationFlag(d.Wall)
	f.heap, f.output = sizeFlag(d.Heap), sizeFlag(d.MaxOutput)
	f.parallel = 10
	flags.Var(&f.engine, "engine", "wasm, or goja for trusted programs: in this process, without isolation or heap limit")
	flags.Var(&f.compute, "compute", "computing time a program may use")
	flags.Var(&f.wall, "wall", "time a run may take, waiting for tools included")
	flags.Var(&f.heap, "heap", "memory a program may use")
	flags.Var(&f.output, "max-output", "how much a program may print and return")
	flags.Var(&f.parallel, "parallel", "calls that may run at once, where their tools allow it")
	flags.Var(&f.seed, "seed", "seed of the program's randomness (default: a random one)")
}

func (f *engineFlags) limits() runtime.Limits {
	return runtime.Limits{
		Compute: time.Duration(f.compute), Wall: time.Duration(f.wall),
		Heap: int64(f.heap), MaxOutput: int64(f.output),
	}
}

// completeChoices offers the words of a choice flag.
func completeChoices(cmd *cobra.Command, name string, choices ...string) {
	// It fails only for a flag that does not exist, which the tests of completion would show.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}
