package main

// This file defines `runcode version` and `runcode completion`.

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  runcode version`,
		Args:    exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			version, revision := buildVersion()
			platform := goruntime.GOOS + "/" + goruntime.GOARCH
			if asJSON {
				var o object
				o.add("version", jsonval.Text(version))
				if revision != "" {
					o.add("revision", jsonval.Text(revision))
				}
				o.add("go", jsonval.Text(goruntime.Version()))
				o.add("platform", jsonval.Text(platform))
				return a.printJSON(o.value())
			}
			line := "runcode " + version
			if revision != "" {
				line += " (" + revision + ")"
			}
			_, err := fmt.Fprintf(a.stdout, "%s %s %s\n", line, goruntime.Version(), platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// buildVersion is what the toolchain has put into the binary.
func buildVersion() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)", ""
	}
	version = info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if len(revision) > 12 {
		revision = revision[:12]
	}
	if dirty && revision != "" {
		revision += ", modified"
	}
	return version, revision
}

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for a shell: " + strings.Join(shells, ", "),
		Example: `  source <(runcode completion bash)
  runcode completion fish > ~/.config/fish/completions/runcode.fish`,
		Args:      exactArgs("SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
			return usagef("no completion for %q: expected %s", args[0], strings.Join(shells, ", "))
		},
	}
}
