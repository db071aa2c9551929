package registry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Definition is a tool (TOOL-1). Only Name, Description and Parameters ever reach a model. Registering copies it.
type Definition struct {
	// Name is unique within its layer.
	Name string
	// Description is prose for the model.
	Description string
	// Parameters is the JSON Schema of the arguments, one JSON object. The model gets it unchanged; a tool that is not made
	// with Define checks its arguments itself (TOOL-4).
	Parameters jsonval.Value
	// Output is the contract of the result.
	Output Output
	// Execute is the body. It gets the frozen arguments and returns any Go value with a lossless JSON form; it must observe
	// ctx and must return only when everything it started has ended (BODY-2, BODY-4).
	Execute func(ctx context.Context, args jsonval.Value, run *Run) (any, error)
	// Finalize sees every settled call of this tool once, failures included, and may replace the content (FINAL-4). It must
	// be synchronous and total. The execution has no arguments if they could not be read.
	Finalize func(x Execution, r Result) (content []Block, replace bool)
	// TimeoutMs is the budget of one call in milliseconds, which the timeout policy enforces; 0 is none. Declaring one is a
	// promise to observe ctx.
	TimeoutMs int64
	// ConcurrencySafe says whether a call with these arguments may overlap others; nil says no (MODE-1). It must be pure.
	ConcurrencySafe func(args jsonval.Value) bool
	// PresentCall and PresentResult say how a UI shows a call; nil views and nil functions mean the generic way. They must be
	// pure: they run again when a log is replayed (CARD-4).
	PresentCall   func(args jsonval.Value) card.CallView
	PresentResult func(args jsonval.Value, r card.PersistedResult) card.ResultView
	// SDKOutput shapes the generated type of the result and nothing else, for tools whose enforced schema is loose (TOOL-13).
	SDKOutput jsonval.Value
}

// Output is the contract of a tool's result.
type Output struct {
	// Schema is what the canonical value must satisfy, within the subset of JSON Schema that is enforced.
	Schema jsonval.Value
	// Render makes the content that the model reads. It must be pure.
	Render func(args, value jsonval.Value) ([]Block, error)
	// PresentationMeta derives what PresentResult needs beyond the content, for direct calls only; nil derives nothing, and
	// so does a nil result. It must be pure.
	PresentationMeta func(args, value jsonval.Value) (any, error)
}

// Schema is what a model sees of a tool: exactly these three fields (TOOL-2).
type Schema struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Parameters  jsonval.Value `json:"parameters"`
}

func (d *Definition) schema() Schema { return Schema{d.Name, d.Description, d.Parameters} }

// tool is a registered definition.
type tool struct {
	Definition
	output *schema.Compiled
	layer  *layer // where it is registered, nil for run_code
	at     int    // its place in layer.order
}

// compile checks everything about d that does not depend on the layer, in the order of TOOL-3. Only the transport's tool may
// have the reserved name.
func compile(d Definition, reserved bool) (*tool, error) {
	if err := d.checkOutput(); err != nil {
		return nil, err
	}
	output, err := schema.Compile(d.Output.Schema)
	if err != nil {
		return nil, fmt.Errorf("tool %s: output schema: %w", quote(d.Name), err)
	}
	if err := checkBudget(d.TimeoutMs); err != nil {
		return nil, fmt.Errorf("tool %s: %w", quote(d.Name), err)
	}
	switch {
	case d.Name == RunCode && !reserved:
		return nil, errReserved()
	case d.Name == "":
		return nil, errors.New("a tool needs a name")
	case d.Execute == nil:
		return nil, fmt.Errorf("tool %s needs a body: set Execute", quote(d.Name))
	case !d.Parameters.IsObject():
		return nil, fmt.Errorf("tool %s: parameters must be one JSON Schema object, not %s", quote(d.Name), d.Parameters.Kind())
	}
	return &tool{Definition: d, output: output}, nil
}

func (d *Definition) checkOutput() error {
	switch {
	case !d.Output.Schema.Exists():
		return fmt.Errorf("tool %s needs an output schema: set Output.Schema", quote(d.Name))
	case d.Output.Render == nil:
		return fmt.Errorf("tool %s needs a renderer: set Output.Render", quote(d.Name))
	}
	return nil
}

func checkBudget(ms int64) error {
	if ms < 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		return fmt.Errorf("the time budget must be a positive number of milliseconds that a duration can hold, not %d", ms)
	}
	return nil
}

func errReserved() error {
	return fmt.Errorf("the name %q is reserved: it cannot be registered, shadowed, restricted or removed", RunCode)
}
