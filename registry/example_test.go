package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/registry/policy"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// A typed tool: its schemas come from the Go types, its arguments are checked before it runs.
func ExampleDefine() {
	type args struct {
		City  string `json:"city" jsonschema:"Name of the city"`
		Units string `json:"units,omitempty" enum:"metric,imperial"`
	}
	type weather struct {
		Degrees float64 `json:"degrees"`
		Sky     string  `json:"sky"`
	}
	tool, err := registry.Define(registry.Spec[args, weather]{
		Name: "weather", Description: "The weather now",
		Run: func(_ context.Context, a args, _ *registry.Run) (weather, error) {
			return weather{21.5, "clear over " + a.City}, nil
		},
		Render: func(_ args, w weather) []registry.Block {
			return []registry.Block{registry.Text(fmt.Sprintf("%g degrees, %s", w.Degrees, w.Sky))}
		},
	})
	if err != nil {
		panic(err)
	}
	r, err := registry.New(registry.Options{})
	if err != nil {
		panic(err)
	}
	if _, err := r.Register(tool); err != nil {
		panic(err)
	}
	good := r.Execute(context.Background(), registry.Call{ID: "1", Name: "weather", Arguments: map[string]any{"city": "Oslo"}})
	fmt.Println(good.Value())
	fmt.Println(good.Text())
	bad := r.Execute(context.Background(), registry.Call{ID: "2", Name: "weather", Arguments: map[string]any{"units": "kelvin"}})
	fmt.Println(bad.Text())
	// Output:
	// {"degrees":21.5,"sky":"clear over Oslo"}
	// 21.5 degrees, clear over Oslo
	// Error: arguments do not match the schema: "city": required property is missing; "units": expected one of ["metric","imperial"] (the call has units; units is the string "kelvin")
}

// shell is a tool that pretends to run a command.
func shell(name string) registry.Definition {
	type args struct {
		Command string `json:"command"`
	}
	return must(registry.Define(registry.Spec[args, string]{
		Name: name,
		Run:  func(_ context.Context, a args, _ *registry.Run) (string, error) { return "ran " + a.Command, nil },
	}))
}

// A gate decides before anything runs; what it denies still reaches the model as an ordinary failure.
func ExampleRegistry_OnPreExecute() {
	r := must(registry.New(registry.Options{}))
	must(r.Register(shell("shell")))
	r.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
		if command, _ := x.Arguments().Get("command"); strings.HasPrefix(command.Str(), "rm ") {
			return registry.Deny("deleting is not allowed here"), nil
		}
		return next()
	})
	for _, command := range []string{"ls", "rm -r x"} {
		fmt.Println(r.Execute(context.Background(), registry.Call{ID: "1", Name: "shell", Arguments: map[string]any{"command": command}}).Text())
	}
	// Output:
	// ran ls
	// Error: deleting is not allowed here
}

// A guard has the last word: no gate can turn its denial into permission.
func ExampleRegistry_Guard() {
	r := must(registry.New(registry.Options{}))
	must(r.Register(shell("shell")))
	r.Guard(func(x registry.Execution) (string, bool) {
		return "agents without a name may not use tools", x.Agent() == nil
	})
	r.OnPreExecute(func(context.Context, registry.Execution, func() (registry.PreDecision, error)) (registry.PreDecision, error) {
		return registry.Allow(), nil // in vain
	}, registry.Prepend)
	for _, agent := range []registry.AgentKey{nil, "alice"} {
		c := registry.Call{ID: "1", Name: "shell", Agent: agent, Arguments: map[string]any{"command": "ls"}}
		fmt.Println(r.Execute(context.Background(), c).Text())
	}
	// Output:
	// Error: agents without a name may not use tools
	// ran ls
}

// Wrappers stand around the body in the order of their registration: the first is outermost. Here the metrics see one call,
// however often the retry runs it.
func ExampleRegistry_OnExecute() {
	r := must(registry.New(registry.Options{}))
	attempt := 0
	must(r.Register(must(registry.Define(registry.Spec[struct{}, string]{
		Name: "flaky",
		Run: func(context.Context, struct{}, *registry.Run) (string, error) {
			if attempt++; attempt < 3 {
				return "", errors.New("try again")
			}
			return "done", nil
		},
	}))))
	metrics := func(ctx context.Context, x registry.Execution, next func(context.Context) (registry.Result, error)) (registry.Result, error) {
		fmt.Println("metrics: start of", x.Name())
		result, err := next(ctx)
		fmt.Println("metrics: failed is", result.IsError())
		return result, err
	}
	retry := func(ctx context.Context, _ registry.Execution, next func(context.Context) (registry.Result, error)) (registry.Result, error) {
		for i := 1; ; i++ {
			result, err := next(ctx)
			if err != nil || !result.IsError() || i == 3 {
				return result, err
			}
			fmt.Println("retry:", result.Failure().Message)
		}
	}
	r.OnExecute(metrics)
	r.OnExecute(retry)
	fmt.Println(r.Execute(context.Background(), registry.Call{ID: "1", Name: "flaky", Arguments: struct{}{}}).Text())
	// Output:
	// metrics: start of flaky
	// retry: try again
	// retry: try again
	// metrics: failed is false
	// done
}

// An agent's scope narrows what it inherits. Its own tools are exempt.
func ExampleScope_Restrict() {
	r := must(registry.New(registry.Options{}))
	for _, name := range []string{"read", "write", "shell"} {
		must(r.Register(shell(name)))
	}
	helper := must(r.Scope("helper", nil))
	must(helper.Register(shell("report")))
	lift := must(helper.Restrict(registry.Restriction{Allow: []string{"read"}}))
	print := func() {
		var names []string
		for _, d := range r.Visible("helper") {
			names = append(names, d.Name)
		}
		fmt.Println(strings.Join(names, " "))
	}
	print()
	fmt.Println(r.Execute(context.Background(), registry.Call{ID: "1", Name: "shell", Agent: "helper"}).Text())
	lift()
	print()
	// Output:
	// read report
	// Error: no tool named "shell"
	// read write shell report
}

// The driver runs the calls of one message. Reads overlap; the write waits for them and holds back what follows. Records are
// in model order whatever settles first.
func ExampleDriver() {
	var reading sync.WaitGroup
	reading.Add(2)
	r := must(registry.New(registry.Options{}))
	must(r.Register(must(registry.Define(registry.Spec[struct{}, string]{
		Name:            "read",
		ConcurrencySafe: func(struct{}) bool { return true },
		Run: func(context.Context, struct{}, *registry.Run) (string, error) {
			reading.Done()
			reading.Wait() // both reads are running
			return "text", nil
		},
	}))))
	must(r.Register(must(registry.Define(registry.Spec[struct{}, string]{
		Name: "write",
		Run: func(context.Context, struct{}, *registry.Run) (string, error) {
			reading.Add(1) // for the read that follows
			return "written", nil
		},
	}))))
	d := must(r.NewDriver(registry.DriverOptions{
		OnCall:   func(c registry.CallRecord) error { fmt.Println(c.Type, c.CallID, c.Name); return nil },
		OnResult: func(c registry.ResultRecord) error { fmt.Println(c.Type, c.CallID, c.Content[0].Text()); return nil },
	}))
	batch, err := d.Run(context.Background(), "agent", []registry.ToolUse{
		{ID: "1", Name: "read"}, {ID: "2", Name: "read"}, {ID: "3", Name: "write"}, {ID: "4", Name: "read"},
	})
	fmt.Println(len(batch.Results), err)
	// Output:
	// tool/call 1 read
	// tool/call 2 read
	// tool/result 1 text
	// tool/result 2 text
	// tool/call 3 write
	// tool/result 3 written
	// tool/call 4 read
	// tool/result 4 text
	// 4 <nil>
}

// A card says how a UI shows a call. Its host gets it from the log, live or replayed, and never fails because of it.
func ExampleRegistry_Presenter() {
	type args struct {
		Path string `json:"path"`
	}
	r := must(registry.New(registry.Options{}))
	must(r.Register(must(registry.Define(registry.Spec[args, string]{
		Name:        "read_file",
		Run:         func(context.Context, args, *registry.Run) (string, error) { return "package main\n", nil },
		PresentCall: func(a args) card.CallView { return card.ReadCall(a.Path, 0, 0) },
	}))))
	lookup := card.Lookup{Presenter: func(name string) (card.Presenter, bool) { return r.Presenter(name, "agent") }}
	for _, event := range []card.CallEvent{
		{CallID: "1", Name: "read_file", Arguments: `{"path": "main.go"}`},
		{CallID: "2", Name: "read_file", Arguments: `{"file": "of an older version"}`},
	} {
		if view := card.ViewForEvent(event, lookup).Call; view != nil {
			fmt.Println(view.JSON())
		} else {
			fmt.Println(card.FallbackCall(event).JSON())
		}
	}
	// Output:
	// {"card":"generic","title":"Read main.go","kind":"read","locations":[{"path":"main.go","line":1}]}
	// {"card":"generic","title":"read_file","rawInput":{"file":"of an older version"}}
}

// A time budget is declared by the tool and enforced by a policy; the reminder tells a model that repeats itself.
func Example_policies() {
	r := must(registry.New(registry.Options{}))
	policy.Timeout(r)
	must(policy.RepeatReminder(r, policy.RepeatOptions{Thresholds: []int{2}}))
	must(r.Register(must(registry.Define(registry.Spec[struct{}, jsonval.Value]{
		Name: "slow", TimeoutMs: 5,
		Run: func(ctx context.Context, _ struct{}, _ *registry.Run) (jsonval.Value, error) {
			select {
			case <-ctx.Done():
				return jsonval.Value{}, ctx.Err()
			case <-time.After(time.Minute):
				return jsonval.Null(), nil
			}
		},
	}))))
	for range 2 {
		result := r.Execute(context.Background(), registry.Call{ID: "1", Name: "slow", Agent: "agent", Arguments: struct{}{}})
		fmt.Println(result.Failure().Info.Code, len(result.Contexts()))
	}
	// Output:
	// TOOL_TIMEOUT 0
	// TOOL_TIMEOUT 1
}
