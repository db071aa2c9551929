package main

// This file defines `runcode run`.

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// runCall is the call id of a command's program (CLI-13).
const runCall = "1"

// argsGlobal is the name by which a program has the arguments behind -- (CLI-10).
const argsGlobal = "args"

type runFlags struct {
	tools  toolFlags
	engine engineFlags
	check  checkFlags
	types  bool
	json   bool
	quiet  bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run PROGRAM [flags] [-- ARGS]",
		Short: "Run one program",
		// The flags stand in the middle of the line above.
		DisableFlagsInUseLine: true,
		Long: `Run one TypeScript program. PROGRAM is a file, or - for standard input; runcode PROGRAM.ts is short for it.

The program is the body of an async function: await and return work at its top level. What it prints goes to standard error, what it
returns to standard output. Tools are called as await tools.NAME({...}). What stands behind -- reaches the program as args.

Exit status: 0 success, 1 the program failed, 2 usage or configuration, 124 out of time, 130 interrupted.`,
		Example: `  echo 'return 6 * 7' | runcode run -
  echo 'return await tools.list_dir({ path: "." })' | runcode run --allow-read -
  echo 'return args.length' | runcode run - -- one two`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch n := cmd.ArgsLenAtDash(); {
			case len(args) == 0 || n == 0:
				return usagef("run needs a PROGRAM: a file, or - for standard input; see runcode run --help")
			case n < 0 && len(args) > 1, n > 1:
				return usagef("unexpected argument %q: arguments for the program go behind --", args[1])
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), args[0], args[1:], f)
		},
	}
	f.tools.add(cmd.Flags())
	f.engine.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.types, "check", false, "check the program's types first, where a TypeScript compiler is found; see runcode check --help")
	f.check.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object with value, logs, failure, calls and usage")
	cmd.Flags().BoolVar(&f.quiet, "quiet", false, "no status line while the program runs")
	completeChoices(cmd, "engine", engineWasm, engineGoja)
	return cmd
}

// run runs the program at path. Everything that can be wrong with the command line and the configuration is found before the
// first tool can be called.
func (a *app) run(ctx context.Context, path string, args []string, f runFlags) error {
	if err := f.engine.check(); err != nil {
		return err
	}
	if f.check.tsc != "" && !f.types {
		return usagef("--tsc names a compiler that nothing would use: add --check")
	}
	program, err := a.readProgram(path)
	if err != nil {
		return err
	}
	argsValue, err := programArgs(args)
	if err != nil {
		return err
	}
	// The engine starts while the tools are read and their servers come up.
	engine := a.startEngine(ctx, f.engine)
	defer engine.close(ctx)
	if path != "-" {
		f.tools.protect = append(f.tools.protect, path)
	}
	f.tools.noServers = !parses(ctx, program.code)

	live := a.stderrTerminal && !f.quiet && !f.json && a.getenv("NO_COLOR") == "" && a.getenv("CI") == ""
	show := newProgress(a.stderr, a.forStderr, live)
	a.show.Store(show)
	defer a.show.Store(nil)
	defer show.end()

	var checker bridge.Checker
	if f.types {
		c, _, err := a.newChecker(ctx, f.check, false)
		if err != nil {
			return err
		}
		defer c.Close()
		checker = c
	}
	var outcome *bridge.Outcome
	b, err := bridge.New(bridge.Options{
		MaxParallelSubCalls: int(f.engine.parallel),
		Check:               checker,
		Logger:              a.logger(),
		PerRun: func(context.Context, registry.Execution) bridge.RunOptions {
			o := bridge.RunOptions{
				Seed:      uint64(f.engine.seed),
				Globals:   []runtime.Global{{Name: argsGlobal, Value: argsValue}},
				OnOutcome: func(o bridge.Outcome) { outcome = &o },
			}
			if !f.json {
				o.OnLog = show.log
				o.OnEvent = show.event
			}
			return o
		},
	})
	if err != nil {
		return err
	}
	box, err := a.openTools(f.tools, registry.Options{Mode: registry.Code, Transport: b, Approver: a.approver(f.tools.yes, show.hold)})
	if err != nil {
		return err
	}
	defer box.close()
	if err := a.connect(ctx, box, f.tools); err != nil {
		return err
	}
	e, err := engine.wait()
	if err != nil {
		return err
	}
	b.SetEngine(e)

	var arguments object
	arguments.add("code", jsonval.Text(program.code))
	arguments.add("description", jsonval.Text(program.description()))
	result := box.registry.Execute(ctx, registry.Call{ID: runCall, Name: registry.RunCode, Agent: agentName, Arguments: arguments.value()})
	show.end()
	report := newReport(ctx, f.engine.engine.value, result, outcome)
	if f.json {
		err = a.printJSON(report.json())
	} else {
		err = a.printReport(report, program)
	}
	if err != nil {
		return &exitError{status: statusFailed, err: fmt.Errorf("cannot write the result: %w", err)}
	}
	if report.status != statusOK {
		return &exitError{status: report.status}
	}
	return nil
}

// parses reports whether a program is worth starting servers for. The engine says what is wrong with one that is not.
func parses(ctx context.Context, code string) bool {
	_, failure := runtime.NewTransformer(runtime.TransformOptions{}).Transform(ctx, code, true)
	return failure == nil
}

// programArgs is the global `args`: the strings behind -- (CLI-10).
func programArgs(args []string) (jsonval.Value, error) {
	items := make([]jsonval.Value, len(args))
	for i, arg := range args {
		v, err := jsonval.String(arg)
		if err != nil {
			return jsonval.Value{}, usagef("argument %q for the program is not UTF-8 text", arg)
		}
		items[i] = v
	}
	return jsonval.Array(items...), nil
}

// report is what the command says of a run.
type report struct {
	status  int
	engine  string
	outcome bridge.Outcome
	failure *runtime.Failure // nil on success
}

// newReport puts together what the engine and the registry say. The registry has the last word: a program that completed after
// the interrupt has been cut off all the same (CODE-24).
func newReport(ctx context.Context, engine string, result registry.Result, outcome *bridge.Outcome) report {
	r := report{engine: engine}
	if outcome != nil {
		r.outcome = *outcome
		r.failure = outcome.Result.Error
	}
	if result.IsError() && r.failure == nil {
		r.failure = runtime.AbortFailure(context.Cause(ctx))
		if ctx.Err() == nil {
			r.failure = &runtime.Failure{Kind: runtime.WorkerExit, Message: result.Failure().Message}
		}
	}
	switch {
	case r.failure == nil:
		r.status = statusOK
	case errors.Is(r.failure, runtime.Timeout):
		r.status = statusTimeout
	case errors.Is(r.failure, runtime.Abort):
		r.status = statusInterrupted
	default:
		r.status = statusFailed
	}
	return r
}
