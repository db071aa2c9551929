package registry_test

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// This file holds what the tests share.

type (
	call   = registry.Call
	result = registry.Result
	exec   = registry.Execution
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// newRegistry returns an empty registry whose log goes nowhere.
func newRegistry(t testing.TB, o ...registry.Options) *registry.Registry {
	t.Helper()
	var options registry.Options
	if len(o) > 0 {
		options = o[0]
	}
	if options.Logger == nil {
		options.Logger = quiet()
	}
	r, err := registry.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parse(t testing.TB, text string) jsonval.Value {
	t.Helper()
	v, err := jsonval.ParseString(text)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return v
}

func raw(t testing.TB, n schema.Node) jsonval.Value {
	t.Helper()
	v, err := n.Schema()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var anyObject = jsonval.MustOf(map[string]any{"type": "object"})

// body is what a test tool does.
type body func(ctx context.Context, args jsonval.Value, run *registry.Run) (any, error)

// tool returns a bare tool that accepts any arguments and any output, and renders its value as compact JSON.
func tool(name string, f body) registry.Definition {
	if f == nil {
		f = func(context.Context, jsonval.Value, *registry.Run) (any, error) { return "done", nil }
	}
	return registry.Definition{
		Name: name, Description: "does " + name, Parameters: anyObject,
		Output: registry.Output{
			Schema: jsonval.Object(),
			Render: func(_, value jsonval.Value) ([]registry.Block, error) {
				return []registry.Block{registry.Text(value.String())}, nil
			},
		},
		Execute: f,
	}
}

// returns is a body that returns v.
func returns(v any) body {
	return func(context.Context, jsonval.Value, *registry.Run) (any, error) { return v, nil }
}

// fails is a body that returns err.
func fails(err error) body {
	return func(context.Context, jsonval.Value, *registry.Run) (any, error) { return nil, err }
}

func register(t testing.TB, r registry.Registrar, tools ...registry.Definition) {
	t.Helper()
	for _, d := range tools {
		if _, err := r.Register(d); err != nil {
			t.Fatal(err)
		}
	}
}

// wantFailure checks message and code of a failure; code "" means that there must be no info.
func wantFailure(t testing.TB, r result, message, code string) {
	t.Helper()
	f := r.Failure()
	if f == nil {
		t.Fatalf("got a success with value %s, want the failure %q", r.Value(), message)
	}
	if f.Message != message {
		t.Errorf("message %q, want %q", f.Message, message)
	}
	switch {
	case code == "" && f.Info != nil:
		t.Errorf("info %+v, want none", *f.Info)
	case code != "" && f.Info == nil:
		t.Errorf("no info, want code %s", code)
	case code != "" && f.Info.Code != code:
		t.Errorf("code %s, want %s", f.Info.Code, code)
	}
	if r.Value().Exists() || r.ConcludesTurn() {
		t.Errorf("a failure with value %s, concludesTurn %v", r.Value(), r.ConcludesTurn())
	}
}

// wantValue checks the value of a success.
func wantValue(t testing.TB, r result, json string) {
	t.Helper()
	if r.IsError() {
		t.Fatalf("failed with %q, want the value %s", r.Failure().Message, json)
	}
	if got := r.Value().String(); got != json {
		t.Errorf("value %s, want %s", got, json)
	}
}

const (
	cancelledText = "the call was cancelled"
	beforeText    = "the call was cancelled before it started"
)
