package bridge

// This file defines run_code as the registry and the model see it: its schema, its texts, its card, and the prompt sections
// that come with it (CODE-1 to CODE-7).

import (
	"context"
	"fmt"
	"slices"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/sdkgen"
)

// The prompt sections that a code mode brings.
const (
	SectionCodeOnly = "tools:code-only"
	SectionSDK      = "tools:sdk"

	orderCodeOnly = 99
	orderSDK      = 150
)

// runArgs are the arguments of run_code.
type runArgs struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

// Definition returns run_code in the words of the engine's language at this moment; without an engine in those of TypeScript. It
// fails when nobody has written those words for the language (CODE-4).
func (b *Bridge) Definition(r *registry.Registry) (registry.Definition, error) {
	language := runtime.LanguageTypeScript
	if e := b.currentEngine(); e != nil {
		language = e.Language()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.definitionRegistry == r && b.definitionLanguage == language {
		return b.definition, nil
	}
	d, err := b.define(r, language)
	if err != nil {
		return registry.Definition{}, err
	}
	b.definition, b.definitionRegistry, b.definitionLanguage = d, r, language
	return d, nil
}

func (b *Bridge) define(r *registry.Registry, language string) (registry.Definition, error) {
	description, err := sdkgen.RunCodeDescription(language)
	if err != nil {
		return registry.Definition{}, err
	}
	code, err := sdkgen.CodeDescription(language)
	if err != nil {
		return registry.Definition{}, err
	}
	what, err := sdkgen.DescriptionDescription(language)
	if err != nil {
		return registry.Definition{}, err
	}
	return registry.Define(registry.Spec[runArgs, jsonval.Value]{
		Name:        registry.RunCode,
		Description: description,
		Parameters: schema.Props{
			schema.Required("code", schema.String().Describe(code)),
			schema.Required("description", schema.String().Describe(what)),
		},
		Output: schema.Object(schema.Props{
			schema.Required("logs", schema.Array(schema.String())),
			schema.Optional("result", schema.JSON()),
		}),
		Run: func(ctx context.Context, args runArgs, run *registry.Run) (jsonval.Value, error) {
			return b.execute(ctx, r, args, run)
		},
		Render: func(_ runArgs, value jsonval.Value) []registry.Block { return renderRun(value) },
		PresentCall: func(args runArgs) card.CallView {
			return card.GenericCall{Title: args.Description, Kind: card.Execute, RawInput: jsonval.Text(args.Code)}
		},
	})
}

// Sections returns what a prompt says about programs in a view: the SDK, and in mode "code" the rule that nothing else can be
// called directly. It fails without an engine and for a language without texts; native views have no sections and need neither.
func (b *Bridge) Sections(r *registry.Registry, v registry.View) ([]registry.Section, error) {
	if v.Mode == registry.Native {
		return nil, nil
	}
	engine, err := b.engineFor(v.Mode)
	if err != nil {
		return nil, err
	}
	language := engine.Language()
	sdk, err := b.o.SDKs.New(language, SDKTools(v.Tools), b.o.SDK)
	if err != nil {
		return nil, err
	}
	sections := []registry.Section{{Name: SectionSDK, Order: orderSDK, Text: sdk.Section()}}
	if v.Mode == registry.Code {
		rule := registry.Section{Name: SectionCodeOnly, Order: orderCodeOnly, Text: sdkgen.CodeOnlyRule}
		sections = append([]registry.Section{rule}, sections...)
	}
	b.rememberPrompt(v.Agent, language)
	return sections, nil
}

// engineFor returns the engine for an agent whose effective mode is mode, or why there is none (CODE-10).
func (b *Bridge) engineFor(mode registry.Mode) (runtime.Engine, error) {
	engine := b.currentEngine()
	if engine == nil {
		return nil, fmt.Errorf("mode %q needs a code runtime", string(mode))
	}
	if language := engine.Language(); !slices.Contains(sdkgen.Languages(), language) {
		return nil, &sdkgen.UnknownLanguageError{Language: language}
	}
	return engine, nil
}
