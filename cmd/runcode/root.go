package main

// This file defines the command tree.

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "runcode",
		Short: "Run programs that call tools, in a sandbox",
		Long: `runcode runs one TypeScript program in a fresh sandbox. The program has no file system, network or environment of its own: all it can
do is compute, print, and call the tools that you give it. Tools come from manifest files, from MCP servers, and from flags such as
--allow-read; every call passes the same policy.`,
		Example: `  runcode run report.ts --allow-read
  echo 'return 6 * 7' | runcode run -
  runcode tools --allow-read
  runcode sdk --allow-read`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q: see runcode --help; a program is run by runcode run FILE", args[0])
			}
			return cmd.Help()
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetIn(a.stdin)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%s; see %s --help", flagProblem(err), cmd.CommandPath())
	})
	root.AddCommand(a.runCommand(), a.checkCommand(), a.toolsCommand(), a.sdkCommand(), a.mcpCommand(), a.versionCommand(), a.completionCommand())
	return root
}

// flagProblem words the complaints of the flag library as ours: the flag's name first, then what it accepts.
func flagProblem(err error) string {
	text := err.Error()
	if rest, ok := strings.CutPrefix(text, "invalid argument "); ok { // invalid argument "x" for "--compute" flag: expected …
		value, rest, _ := strings.Cut(rest, " for \"")
		name, reason, found := strings.Cut(rest, "\" flag: ")
		if found {
			return name[max(0, strings.LastIndex(name, "--")):] + " " + value + ": " + reason
		}
	}
	return text
}

// impliedRun puts "run" in front of a command line that begins with a program instead of a command: runcode report.ts.
func impliedRun(root *cobra.Command, args []string) []string {
	run, _, err := root.Find([]string{"run"})
	if err != nil {
		return args
	}
	first, ok := firstArgument(run.Flags(), args)
	if !ok {
		return args
	}
	for _, c := range root.Commands() {
		if c.Name() == first || c.HasAlias(first) {
			return args
		}
	}
	if first == "help" || strings.HasPrefix(first, "__complete") || !looksLikeProgram(first) {
		return args
	}
	return append([]string{"run"}, args...)
}

// firstArgument returns the first argument that is neither a flag nor a flag's value.
func firstArgument(flags *pflag.FlagSet, args []string) (string, bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return "", false
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			return arg, true
		case strings.Contains(arg, "="):
		default:
			if f := flags.Lookup(strings.TrimLeft(arg, "-")); f != nil && f.NoOptDefVal == "" {
				i++
			}
		}
	}
	return "", false
}

func looksLikeProgram(arg string) bool {
	switch filepath.Ext(arg) {
	case ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs":
		return true
	}
	if arg == "-" || strings.ContainsRune(arg, filepath.Separator) {
		return true
	}
	_, err := os.Stat(arg)
	return err == nil
}
