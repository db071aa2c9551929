package main

// This file defines `runcode sdk`.

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/sdkgen"
)

// sdkDescription is how many characters of a description a model gets: some servers write manuals.
const sdkDescription = 400

func (a *app) sdkCommand() *cobra.Command {
	var f toolFlags
	lang := choiceFlag{value: "ts", choices: []string{"ts", "py"}}
	var declarations bool
	cut := lengthFlag(sdkDescription)
	cmd := &cobra.Command{
		Use:   "sdk",
		Short: "Print what a model is told about the tools",
		Long: `Print the section that tells a model how to write programs and which tools there are: instructions and typed declarations.
Declarations alone are what an editor or a compiler wants.`,
		Example: `  runcode sdk --allow-read
  runcode sdk --declarations --allow-read > tools.d.ts
  runcode sdk --lang py --mcp .mcp.json`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withTools(cmd.Context(), f, func(reg *registry.Registry) error {
				language := map[string]string{"ts": "typescript", "py": "python"}[lang.value]
				generate := sdkgen.Section
				if declarations {
					generate = sdkgen.Declarations
				}
				text, err := generate(language, bridge.SDKTools(reg.Visible(agentName)), sdkgen.Options{MaxDescription: int(cut)})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(a.stdout, strings.TrimRight(a.forStdout(text), "\n"))
				return err
			})
		},
	}
	f.add(cmd.Flags())
	cmd.Flags().Var(&lang, "lang", "language of the declarations")
	cmd.Flags().BoolVar(&declarations, "declarations", false, "only the declarations, without instructions and fence")
	cmd.Flags().Var(&cut, "max-description", "characters of each description that are shown; 0 for all")
	completeChoices(cmd, "lang", lang.choices...)
	return cmd
}
