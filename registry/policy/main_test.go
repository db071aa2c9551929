package policy_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

type (
	call   = registry.Call
	result = registry.Result
	exec   = registry.Execution
)

type body func(ctx context.Context, args jsonval.Value, run *registry.Run) (any, error)

func newRegistry(t testing.TB, o registry.Options) *registry.Registry {
	t.Helper()
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	r, err := registry.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tool(name string, ms int64, f body) registry.Definition {
	if f == nil {
		f = func(context.Context, jsonval.Value, *registry.Run) (any, error) { return "done", nil }
	}
	return registry.Definition{
		Name: name, Parameters: jsonval.Object(), TimeoutMs: ms,
		Output: registry.Output{Schema: jsonval.Object(), Render: func(_, v jsonval.Value) ([]registry.Block, error) {
			return []registry.Block{registry.Text(v.String())}, nil
		}},
		Execute: f,
	}
}

func register(t testing.TB, r registry.Registrar, tools ...registry.Definition) {
	t.Helper()
	for _, d := range tools {
		if _, err := r.Register(d); err != nil {
			t.Fatal(err)
		}
	}
}

func scope(t testing.TB, r *registry.Registry, key registry.AgentKey) *registry.Scope {
	t.Helper()
	s, err := r.Scope(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// outcome is a result in one line: "ok <value>", or the code, or the message of a failure without one.
func outcome(r result) string {
	f := r.Failure()
	switch {
	case f == nil:
		return "ok " + r.Value().String()
	case f.Info != nil:
		return f.Info.Code
	}
	return f.Message
}

func want(t testing.TB, r result, expected string) {
	t.Helper()
	if got := outcome(r); got != expected {
		t.Errorf("outcome %q, want %q", got, expected)
	}
}

func contexts(r result) string {
	var out []string
	for _, c := range r.Contexts() {
		out = append(out, c.ID)
	}
	return strings.Join(out, " ")
}
