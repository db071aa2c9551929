package main

// This file defines `runcode check`, and how the commands that check types find a compiler (GATE-7).

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/bridge/tscheck"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/sdkgen"
)

// checkFlags say which compiler checks types.
type checkFlags struct {
	tsc string
}

func (f *checkFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.tsc, "tsc", "", "the TypeScript compiler at this `PATH` (default: $"+tscheck.Variable+", node_modules, PATH)")
}

// newChecker returns a type checker, and whether it has a compiler: without one it checks nothing. warm keeps the compiler running.
func (a *app) newChecker(ctx context.Context, f checkFlags, warm bool) (c *tscheck.Checker, found bool, err error) {
	folder, err := os.Getwd()
	if err != nil {
		folder = "" // it may be gone; the PATH is left
	}
	compiler, err := tscheck.Find(ctx, tscheck.Search{Path: f.tsc, Folder: folder, Getenv: a.getenv})
	switch {
	case ctx.Err() != nil:
		return nil, false, context.Cause(ctx)
	case err != nil && f.tsc != "":
		return nil, false, usagef("--tsc: %w", err)
	case err != nil:
		return nil, false, usagef("%w", err) // it names the variable
	}
	c, err = tscheck.New(tscheck.Options{Compiler: compiler, Warm: warm, Logger: a.logger()})
	return c, compiler != nil, err
}

func (a *app) checkCommand() *cobra.Command {
	var f struct {
		tools     toolFlags
		check     checkFlags
		off, json bool
	}
	cmd := &cobra.Command{
		Use:   "check PROGRAM",
		Short: "Check one program without running it",
		Long: `Check one TypeScript program without running it or calling a tool. PROGRAM is a file, or - for standard input.

It is parsed and, where a TypeScript compiler is found, checked against the declarations of the tools: names that do not exist, tools
that do not exist, arguments that do not fit. Other mistakes in types are no reason for a complaint, as they are none for the run. The
compiler is found by --tsc, $` + tscheck.Variable + `, in a node_modules folder here or above, or on the PATH; npm install typescript@7 brings one.

Exit status: 0 nothing is wrong, 1 something is, 2 usage or configuration.`,
		Example: `  runcode check report.ts --allow-read
  echo 'return await tools.list_dir({ path: "." })' | runcode check --allow-read -`,
		Args:              exactArgs("PROGRAM"),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := a.readProgram(args[0])
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			_, failure := runtime.NewTransformer(runtime.TransformOptions{}).Transform(ctx, program.code, true)
			types := false
			f.tools.noServers = failure != nil || f.off // they are asked for their tools only
			err = a.withTools(ctx, f.tools, func(reg *registry.Registry) error {
				if failure != nil || f.off {
					return nil
				}
				var err error
				failure, types, err = a.checkTypes(ctx, program, f.check, bridge.SDKTools(reg.Visible(agentName)))
				return err
			})
			if err != nil {
				return err
			}
			return a.printCheck(program, failure, types, f.json)
		},
	}
	f.tools.add(cmd.Flags())
	f.check.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.off, "no-check", false, "parse the program only")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object with the failure, and whether types were checked")
	return cmd
}

// checkTypes checks a program that parses, once. types says whether it could be.
func (a *app) checkTypes(ctx context.Context, program source, f checkFlags, tools []sdkgen.Tool) (failure *runtime.Failure, types bool, err error) {
	checker, found, err := a.newChecker(ctx, f, false)
	if err != nil {
		return nil, false, err
	}
	defer checker.Close()
	if !found {
		a.warn("no TypeScript compiler was found: only the parse was checked; npm install typescript@7 brings one")
		return nil, false, nil
	}
	functions := make([]runtime.Function, len(tools))
	for i, t := range tools {
		functions[i].Name = t.Name
	}
	failure, err = checker.Try(ctx, runtime.Request{
		Program: program.code, Unwrap: true,
		Namespaces: []runtime.Namespace{{Global: "tools", Functions: functions}},
		Globals:    []runtime.Global{{Name: argsGlobal}},
	}, tools)
	switch {
	case ctx.Err() != nil:
		return nil, false, context.Cause(ctx)
	case err != nil:
		a.warn(fmt.Sprintf("only the parse was checked: %v", err))
	}
	return failure, err == nil, nil
}

// printCheck reports like a run that ended before its first statement.
func (a *app) printCheck(program source, failure *runtime.Failure, types, asJSON bool) error {
	var err error
	switch {
	case asJSON:
		var o object
		o.add("ok", jsonval.Bool(failure == nil))
		if failure != nil {
			o.add("error", failureJSON(failure))
		}
		o.add("types", jsonval.Bool(types))
		err = a.printJSON(o.value())
	case failure != nil:
		err = a.printReport(report{failure: failure}, program)
	}
	if err != nil {
		return &exitError{status: statusFailed, err: fmt.Errorf("cannot write the result: %w", err)}
	}
	if failure != nil {
		return &exitError{status: statusFailed}
	}
	return nil
}
