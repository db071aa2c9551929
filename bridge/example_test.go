package bridge_test

import (
	"context"
	"fmt"
	"log"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/wasmengine"
)

// A whole harness but for the model: an engine, a registry in code mode, one tool, one policy, and a program as a model would
// write it.
func Example() {
	ctx := context.Background()
	engine, err := wasmengine.New(ctx, wasmengine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close(ctx)
	b, err := bridge.New(bridge.Options{Engine: engine})
	if err != nil {
		log.Fatal(err)
	}
	reg, err := registry.New(registry.Options{Mode: registry.Code, Transport: b})
	if err != nil {
		log.Fatal(err)
	}

	// A tool is a Go function. Its schemas, and what a program sees of it, come from the types.
	type place struct {
		City string `json:"city" jsonschema:"Name of the city"`
	}
	type weather struct {
		Celsius int    `json:"celsius"`
		Sky     string `json:"sky"`
	}
	skies := map[string]weather{"Oslo": {3, "snow"}, "Rome": {21, "sun"}, "Lima": {18, "fog"}}
	forecast, err := registry.Define(registry.Spec[place, weather]{
		Name:            "forecast",
		Description:     "Tomorrow's weather.",
		ConcurrencySafe: func(place) bool { return true },
		Run: func(_ context.Context, p place, _ *registry.Run) (weather, error) {
			w, ok := skies[p.City]
			if !ok {
				return weather{}, fmt.Errorf("no forecast for %s", p.City)
			}
			return w, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := reg.Register(forecast); err != nil {
		log.Fatal(err)
	}

	// Policy holds for calls that a program makes as for any other.
	reg.Guard(func(x registry.Execution) (reason string, deny bool) {
		city, _ := x.Arguments().Get("city")
		return "the weather of Lima is a secret", city.Str() == "Lima"
	})

	// What the model gets: one function, and the SDK for its prompt.
	view, err := reg.Present("assistant")
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range view.Tools {
		fmt.Println("function:", tool.Name)
	}
	for _, section := range view.Sections {
		fmt.Println("section:", section.Name)
	}

	// What the model answers with: one program instead of four calls and their results in its context.
	program := `
const cities = ["Oslo", "Rome", "Lima", "Atlantis"];
const all = await Promise.allSettled(cities.map(city => tools.forecast({ city })));
all.forEach((r, i) => { if (r.status === "rejected") console.log(cities[i] + ": " + r.reason.message) });
const warm = cities.filter((_, i) => all[i].status === "fulfilled" && all[i].value.celsius > 10);
return { warm };`
	result := reg.Execute(ctx, registry.Call{
		ID: "call-1", Name: registry.RunCode, Agent: "assistant",
		Arguments: map[string]any{"code": program, "description": "Find warm cities"},
	})
	fmt.Println(result.Text())
	// Output:
	// function: run_code
	// section: tools:code-only
	// section: tools:sdk
	// Lima: the weather of Lima is a secret
	// Atlantis: no forecast for Atlantis
	// {
	//   "warm": [
	//     "Rome"
	//   ]
	// }
}
