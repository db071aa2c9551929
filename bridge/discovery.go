package bridge

// This file defines the second namespace that programs get where the prompt does not declare every tool: sdk.search and
// sdk.describe answer from the run's frozen view (CODE-12). Their calls are no sub-calls.

import (
	"context"
	"errors"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/sdkgen"
)

const namespaceSDK = "sdk"

// discovery returns the namespace for a view, or nil when the prompt of this view shows everything. Whether it does is decided
// by the same generator that wrote the prompt.
func (b *Bridge) discovery(language string, view []registry.Definition) ([]runtime.Namespace, error) {
	if b.o.SDK.MaxTokens == 0 {
		return nil, nil // never, and the generator need not be asked
	}
	sdk, err := b.o.SDKs.New(language, SDKTools(view), b.o.SDK)
	if err != nil {
		return nil, err
	}
	if !sdk.Discovery() {
		return nil, nil
	}
	return []runtime.Namespace{{Global: namespaceSDK, Functions: []runtime.Function{
		{Name: "search", Call: runtime.Go(func(_ context.Context, arg jsonval.Value) (any, error) {
			query, limit, err := sdkgen.Question(arg)
			if err != nil {
				return nil, err
			}
			return sdk.Index().Search(query, limit), nil
		})},
		{Name: "describe", Call: runtime.Go(func(_ context.Context, arg jsonval.Value) (any, error) {
			if !arg.IsString() {
				return nil, errors.New("sdk.describe takes the name of a tool")
			}
			return sdk.Index().Describe(arg.Str())
		})},
	}}}, nil
}
