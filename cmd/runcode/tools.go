package main

// This file defines `runcode tools`, `tools show` and `tools call`.

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func (a *app) toolsCommand() *cobra.Command {
	var f toolFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools, show one, call one",
		Example: `  runcode tools --allow-read
  runcode tools --mcp .mcp.json --json
  runcode tools show read_file --allow-read
  runcode tools call list_dir '{"path": "."}' --allow-read`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown argument %q: tools lists, tools show NAME shows one, tools call NAME JSON calls one", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withTools(cmd.Context(), f, func(reg *registry.Registry) error { return a.listTools(reg, asJSON) })
		},
	}
	f.add(cmd.PersistentFlags())
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		&cobra.Command{
			Use:     "show NAME",
			Short:   "Show one tool with its schemas",
			Example: `  runcode tools show read_file --allow-read`,
			Args:    exactArgs("NAME"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.withTools(cmd.Context(), f, func(reg *registry.Registry) error { return a.showTool(reg, args[0], asJSON) })
			},
		},
		&cobra.Command{
			Use:   "call NAME JSON",
			Short: "Call one tool through the whole pipeline",
			Long:  "Call one tool through the whole pipeline and print its value. JSON is the arguments; - reads them from standard input.",
			Example: `  runcode tools call list_dir '{"path": "."}' --allow-read
  echo '{"path": "."}' | runcode tools call list_dir - --allow-read`,
			Args: exactArgs("NAME", "JSON"),
			RunE: func(cmd *cobra.Command, args []string) error {
				arguments, err := a.readArguments(args[1])
				if err != nil {
					return err
				}
				return a.withTools(cmd.Context(), f, func(reg *registry.Registry) error {
					return a.callTool(cmd.Context(), reg, args[0], arguments, asJSON)
				})
			},
		},
	)
	return cmd
}

// exactArgs wants one argument for each name, and names the first one that is missing.
func exactArgs(wanted ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(wanted):
			return usagef("%s needs %s; see %s --help", cmd.CommandPath(), strings.Join(wanted[len(args):], " and "), cmd.CommandPath())
		case len(args) > len(wanted):
			return usagef("unexpected argument %q; see %s --help", args[len(wanted)], cmd.CommandPath())
		}
		return nil
	}
}

// withTools opens the tools for a command that calls them natively or not at all.
func (a *app) withTools(ctx context.Context, f toolFlags, use func(*registry.Registry) error) error {
	box, err := a.openTools(f, registry.Options{Approver: a.approver(f.yes, nil)})
	if err != nil {
		return err
	}
	defer box.close()
	if err := a.connect(ctx, box, f); err != nil {
		return err
	}
	return use(box.registry)
}

// visible returns the tools that the agent sees, by name.
func visible(reg *registry.Registry) []registry.Definition {
	tools := reg.Visible(agentName)
	slices.SortFunc(tools, func(x, y registry.Definition) int { return strings.Compare(x.Name, y.Name) })
	return tools
}

func (a *app) listTools(reg *registry.Registry, asJSON bool) error {
	tools := visible(reg)
	if asJSON {
		items := make([]jsonval.Value, len(tools))
		for i, d := range tools {
			items[i] = toolJSON(d)
		}
		return a.printJSON(jsonval.Array(items...))
	}
	if len(tools) == 0 {
		a.warn("there are no tools: give some with --tools, --mcp or --allow-read")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, d := range tools {
		fmt.Fprintf(w, "%s\t%s\n", escapeInvisible(oneLine(d.Name)), summary(d.Description))
	}
	return w.Flush()
}

// summary is the first line of a description, short enough for a list, with everything marked that could trick a reader.
func summary(description string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	runes := []rune(escapeInvisible(strings.ReplaceAll(strings.TrimSpace(line), "\t", " ")))
	const width = 90
	if len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return string(runes)
}

func (a *app) showTool(reg *registry.Registry, name string, asJSON bool) error {
	d, err := find(reg, name)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(toolJSON(d))
	}
	var b strings.Builder
	fmt.Fprintln(&b, d.Name)
	if text := strings.TrimSpace(d.Description); text != "" {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	for _, part := range []struct {
		title  string
		schema jsonval.Value
	}{{"arguments", d.Parameters}, {"result", d.Output.Schema}, {"result as declared to programs", d.SDKOutput}} {
		if part.schema.Exists() {
			fmt.Fprintf(&b, "\n%s:\n%s\n", part.title, part.schema.AppendIndentJSON(nil, "  ", -1))
		}
	}
	if d.TimeoutMs > 0 {
		fmt.Fprintf(&b, "\ntime budget: %d ms\n", d.TimeoutMs)
	}
	_, err = a.stdout.Write([]byte(escapeInvisible(b.String())))
	return err
}

func toolJSON(d registry.Definition) jsonval.Value {
	var o object
	o.add("name", jsonval.Text(d.Name))
	o.add("description", jsonval.Text(d.Description))
	o.add("parameters", d.Parameters)
	o.add("output", d.Output.Schema)
	return o.value()
}

// find returns a visible tool, or an error that says what there is.
func find(reg *registry.Registry, name string) (registry.Definition, error) {
	if d, ok := reg.Get(name, agentName); ok {
		return d, nil
	}
	return registry.Definition{}, unknownTool(reg, name)
}

// unknownTool names what there is instead, at most ten names.
func unknownTool(reg *registry.Registry, name string) error {
	tools := visible(reg)
	if len(tools) == 0 {
		return usagef("no tool named %q: there are no tools; give some with --tools, --mcp or --allow-read", name)
	}
	const most = 10
	var list []string
	for _, d := range tools[:min(len(tools), most)] {
		list = append(list, escapeInvisible(oneLine(d.Name)))
	}
	more := ""
	if len(tools) > most {
		more = fmt.Sprintf(" and %d more", len(tools)-most)
	}
	return usagef("no tool named %q; there are %s%s", name, strings.Join(list, ", "), more)
}

// readArguments parses the arguments of tools call.
func (a *app) readArguments(text string) (jsonval.Value, error) {
	raw := []byte(text)
	if text == "-" {
		var err error
		if raw, err = io.ReadAll(a.stdin); err != nil {
			return jsonval.Value{}, usagef("cannot read the arguments: %w", err)
		}
	}
	v, err := jsonval.Parse(raw)
	if err != nil {
		return jsonval.Value{}, usagef("the arguments are not JSON: %w", err)
	}
	return v, nil
}

func (a *app) callTool(ctx context.Context, reg *registry.Registry, name string, arguments jsonval.Value, asJSON bool) error {
	if _, err := find(reg, name); err != nil {
		return err
	}
	result := reg.Execute(ctx, registry.Call{ID: runCall, Name: name, Agent: agentName, Arguments: arguments})
	status := statusOK
	if result.IsError() {
		status = statusFailed
		if ctx.Err() != nil {
			status = statusInterrupted
		}
	}
	var err error
	switch {
	case asJSON:
		err = a.printJSON(callResultJSON(result))
	case result.IsError():
		_, err = fmt.Fprintf(a.stderr, "runcode: %s failed: %s\n", a.forStderr(name), a.forStderr(result.Failure().Message))
	default:
		err = a.printValue(result.Value())
	}
	if err != nil {
		return &exitError{status: statusFailed, err: fmt.Errorf("cannot write the result: %w", err)}
	}
	if status != statusOK {
		return &exitError{status: status}
	}
	return nil
}

// callResultJSON is the object of tools call --json: the value, or what failed, and what a model would have read.
func callResultJSON(r registry.Result) jsonval.Value {
	var o object
	o.add("ok", jsonval.Bool(!r.IsError()))
	if v := r.Value(); v.Exists() {
		o.add("value", v)
	}
	if f := r.Failure(); f != nil {
		var e object
		e.add("kind", jsonval.Text("tool"))
		e.add("message", jsonval.Text(f.Message))
		if f.Info != nil {
			e.add("name", jsonval.Text(f.Info.Name))
			e.add("code", jsonval.Text(f.Info.Code))
		}
		o.add("error", e.value())
	}
	content := make([]jsonval.Value, 0)
	for _, b := range r.Content() {
		content = append(content, b.Value())
	}
	o.add("content", jsonval.Array(content...))
	return o.value()
}
