package registry

// This file defines typed tools: the step from Go types to an ordinary definition.

import (
	"context"
	"fmt"
	"slices"

	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Spec is a tool whose arguments and result are Go types. Args must be a struct (or a map with string keys); its fields are
// the parameters, named by their json tags:
//
//	Path  string  `json:"path" jsonschema:"Absolute path of the file"`
//	Order string  `json:"order,omitempty" enum:"asc,desc"`
//	Limit *int    `json:"limit"`
//
// A pointer, omitempty or omitzero makes a member optional; take a pointer where a missing member means something else than
// the zero value.
type Spec[Args, Out any] struct {
	Name, Description string
	// Parameters replaces the parameters that are derived from Args; nil derives them.
	Parameters schema.Props
	// Output replaces the schema that is derived from Out; the zero Node derives it.
	Output schema.Node
	// Run is the body. It is entered only with arguments that fit.
	Run func(ctx context.Context, args Args, run *Run) (Out, error)
	// Render makes the content that the model reads; nil shows a string raw and anything else as compact JSON. It must be
	// pure.
	Render func(args Args, out Out) []Block
	// PresentationMeta derives what PresentResult needs beyond the content; nil derives nothing. It must be pure.
	PresentationMeta func(args Args, out Out) any

	// The following are as in Definition. Arguments that do not fit are not concurrency-safe and have no view (DEFINE-5,
	// DEFINE-6).
	Finalize        func(x Execution, r Result) (content []Block, replace bool)
	TimeoutMs       int64
	ConcurrencySafe func(args Args) bool
	PresentCall     func(args Args) card.CallView
	PresentResult   func(args Args, r card.PersistedResult) card.ResultView
	SDKOutput       jsonval.Value
}

// Define makes a definition, which is then registered like any other. The error names the field or the place in the schema
// that is wrong.
func Define[Args, Out any](s Spec[Args, Out]) (Definition, error) {
	fail := func(err error) (Definition, error) {
		return Definition{}, fmt.Errorf("registry: tool %s: %w", quote(s.Name), err)
	}
	if s.Run == nil {
		return fail(fmt.Errorf("a tool needs a body: set Run"))
	}
	if err := checkBudget(s.TimeoutMs); err != nil {
		return fail(err)
	}
	parameters, err := parametersOf[Args](s.Parameters)
	if err != nil {
		return fail(err)
	}
	output, err := outputOf[Out](s.Output)
	if err != nil {
		return fail(err)
	}
	args, err := schema.Compile(parameters)
	if err != nil {
		return fail(err)
	}
	d := Definition{
		Name: s.Name, Description: s.Description, Parameters: parameters,
		Output:   Output{Schema: output, Render: renderAny},
		Finalize: s.Finalize, TimeoutMs: s.TimeoutMs, SDKOutput: s.SDKOutput,
		Execute: func(ctx context.Context, raw jsonval.Value, run *Run) (any, error) {
			typed, violations := decodeArgs[Args](args, raw)
			if len(violations) > 0 {
				_, came := args.Explain(raw, "arguments")
				return nil, &ArgsError{Violations: violations, Came: came}
			}
			out, err := s.Run(ctx, typed, run)
			if err != nil || s.Output.Exists() {
				return out, err
			}
			return canonical(output, out), nil
		},
	}
	if s.Render != nil {
		d.Output.Render = func(rawArgs, rawOut jsonval.Value) ([]Block, error) {
			typed, out, err := decodeBoth[Args, Out](rawArgs, rawOut)
			if err != nil {
				return nil, err
			}
			return s.Render(typed, out), nil
		}
	}
	if s.PresentationMeta != nil {
		d.Output.PresentationMeta = func(rawArgs, rawOut jsonval.Value) (any, error) {
			typed, out, err := decodeBoth[Args, Out](rawArgs, rawOut)
			if err != nil {
				return nil, err
			}
			return s.PresentationMeta(typed, out), nil
		}
	}
	if s.ConcurrencySafe != nil {
		d.ConcurrencySafe = func(raw jsonval.Value) bool {
			typed, violations := decodeArgs[Args](args, raw)
			return len(violations) == 0 && s.ConcurrencySafe(typed)
		}
	}
	if s.PresentCall != nil {
		d.PresentCall = func(raw jsonval.Value) card.CallView {
			typed, violations := decodeArgs[Args](args, raw)
			if len(violations) > 0 {
				return nil
			}
			return s.PresentCall(typed)
		}
	}
	if s.PresentResult != nil {
		d.PresentResult = func(raw jsonval.Value, r card.PersistedResult) card.ResultView {
			typed, violations := decodeArgs[Args](args, raw)
			if len(violations) > 0 {
				return nil
			}
			return s.PresentResult(typed, r)
		}
	}
	return d, nil
}

// decodeArgs checks arguments and decodes them. A decoder that fails on arguments that fit is the author's mismatch; its
// text is the one violation (DEFINE-8).
func decodeArgs[Args any](c *schema.Compiled, raw jsonval.Value) (args Args, violations []string) {
	if violations = c.Validate(raw, "arguments"); len(violations) > 0 {
		return args, violations
	}
	if err := raw.Decode(&args); err != nil {
		return args, []string{err.Error()}
	}
	return args, nil
}

func decodeBoth[Args, Out any](rawArgs, rawOut jsonval.Value) (args Args, out Out, err error) {
	if err = rawArgs.Decode(&args); err == nil {
		err = rawOut.Decode(&out)
	}
	return args, out, err
}

// canonical takes the result of a body in. A nil pointer is a member that is left out, as the derived schema says, although
// encoding/json would write null for it.
func canonical(output jsonval.Value, out any) taken {
	v, err := jsonval.Of(out)
	if err == nil {
		v = withoutNulls(output, v)
	}
	return taken{v, err}
}

// withoutNulls leaves out members of v that are null where the schema has an optional member of another type. A derived
// schema is at most 16 containers deep, and so is the recursion.
func withoutNulls(s, v jsonval.Value) jsonval.Value {
	if items, ok := s.Get("items"); ok && v.IsArray() && nests(items) {
		all, differ := make([]jsonval.Value, 0, v.Len()), false
		for _, item := range v.Items() {
			changed := withoutNulls(items, item)
			differ = differ || !jsonval.Identical(changed, item)
			all = append(all, changed)
		}
		if !differ {
			return v
		}
		return jsonval.Array(all...)
	}
	properties, ok := s.Get("properties")
	if !ok || !v.IsObject() {
		return v
	}
	required, _ := s.Get("required")
	for name, member := range v.Members() {
		p, _ := properties.Get(name)
		if _, typed := p.Get("type"); typed && member.IsNull() && !listed(required, name) {
			v = v.Without(name)
		} else if changed := withoutNulls(p, member); !jsonval.Identical(changed, member) {
			v = v.With(name, changed)
		}
	}
	return v
}

// nests reports whether values under the schema s can hold members that it describes.
func nests(s jsonval.Value) bool {
	_, properties := s.Get("properties")
	_, items := s.Get("items")
	return properties || items
}

func listed(list jsonval.Value, name string) bool {
	for _, item := range list.Items() {
		if item.Str() == name {
			return true
		}
	}
	return false
}

// renderAny is the renderer of a tool that has none of its own.
func renderAny(_, value jsonval.Value) ([]Block, error) {
	if value.IsString() {
		return []Block{textOf(value)}, nil
	}
	return []Block{Text(value.String())}, nil
}

func parametersOf[Args any](given schema.Props) (jsonval.Value, error) {
	if given != nil {
		return slices.Clone(given).Schema()
	}
	props, err := schema.PropsOf[Args]()
	if err != nil {
		return jsonval.Value{}, err
	}
	return props.Schema()
}

func outputOf[Out any](given schema.Node) (jsonval.Value, error) {
	if given.Exists() {
		return given.Schema()
	}
	node, err := schema.NodeOf[Out]()
	if err != nil {
		return jsonval.Value{}, err
	}
	return node.Schema()
}
