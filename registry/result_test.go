package registry_test

// Results, the output contract, and the error catalogue.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestResultShape(t *testing.T) {
	exec := func(t *testing.T, d registry.Definition) result {
		t.Helper()
		r := newRegistry(t)
		d.Name = "t"
		register(t, r, d)
		return r.Execute(t.Context(), call{ID: "1", Name: "t"})
	}
	marshalled := func(t *testing.T, r result) string {
		t.Helper()
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Run("RESULT-1 RESULT-2 RESULT-3 a success has a value, null included, and no empty fields", func(t *testing.T) {
		if got := marshalled(t, exec(t, tool("", returns(nil)))); got != `{"isError":false,"value":null,"content":[{"type":"text","text":"null"}]}` {
			t.Error(got)
		}
		d := tool("", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(registry.Context{Content: []registry.Block{registry.Text("c")}})
			run.ConcludeTurn()
			return map[string]any{"b": 1, "a": 2}, nil
		})
		d.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { return 7, nil }
		want := `{"isError":false,"value":{"a":2,"b":1},"content":[{"type":"text","text":"{\"a\":2,\"b\":1}"}],"meta":7,` +
			`"additionalContexts":[{"content":[{"type":"text","text":"c"}]}],"concludesTurn":true}`
		if got := marshalled(t, exec(t, d)); got != want {
			t.Error(got)
		}
	})
	t.Run("RESULT-1 RESULT-2 a failure has an error and never a value", func(t *testing.T) {
		if got := marshalled(t, exec(t, tool("", fails(errors.New("x"))))); got != `{"isError":true,"error":{"message":"x"},"content":[{"type":"text","text":"Error: x"}]}` {
			t.Error(got)
		}
		want := `{"isError":true,"error":{"message":"x","info":{"name":"N","code":"C"}},"content":[{"type":"text","text":"Error: x"}]}`
		if got := marshalled(t, exec(t, tool("", fails(registry.Coded("N", "C", "x"))))); got != want {
			t.Error(got)
		}
	})
	t.Run("RESULT-2 metadata that is null is absent", func(t *testing.T) {
		d := tool("", nil)
		d.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { return nil, nil }
		if r := exec(t, d); r.Meta().Exists() {
			t.Errorf("meta %s", r.Meta())
		}
	})
	t.Run("the zero Result is none", func(t *testing.T) {
		var r result
		if r.Exists() || r.IsError() || r.Value().Exists() || r.Content() != nil || r.Contexts() != nil || r.Failure() != nil ||
			r.Meta().Exists() || r.Text() != "" || r.ConcludesTurn() || r.JSON().Exists() || marshalled(t, r) != "null" {
			t.Error("it has something")
		}
		if r.WithContexts(note("x")).Exists() || r.WithMeta(jsonval.Null()).Exists() {
			t.Error("modifiers make it something")
		}
	})
	t.Run("OUT-9 blocks of any type pass through, an empty list is legal", func(t *testing.T) {
		b, err := registry.NewBlock(map[string]any{"type": "audio", "seconds": 3})
		if err != nil {
			t.Fatal(err)
		}
		d := tool("", nil)
		d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) {
			return []registry.Block{b, registry.Text("a"), registry.Reasoning("r"), registry.Image(registry.ImageRef{
				Attachment: "x", MediaType: "image/png", Bytes: 9, Width: 2, Height: 3,
			}), registry.Text("b")}, nil
		}
		r := exec(t, d)
		want := `[{"seconds":3,"type":"audio"},{"type":"text","text":"a"},{"type":"reasoning","text":"r"},` +
			`{"type":"image","attachment":{"attachmentId":"x","mediaType":"image/png","bytes":9,"width":2,"height":3}},{"type":"text","text":"b"}]`
		text, err := json.Marshal(r.Content())
		if err != nil || string(text) != want {
			t.Errorf("%s %v", text, err)
		}
		if r.Text() != "a\nb" || r.Content()[2].Text() != "r" || b.Text() != "" || b.Type() != "audio" {
			t.Errorf("text %q", r.Text())
		}
		var back []registry.Block
		if err := json.Unmarshal(text, &back); err != nil || len(back) != 5 || back[0].Value().String() != b.Value().String() {
			t.Errorf("read back %v %v", back, err)
		}
		ref, ok := back[3].Image()
		if want := (registry.ImageRef{Attachment: "x", MediaType: "image/png", Bytes: 9, Width: 2, Height: 3}); !ok || ref != want {
			t.Errorf("the reference read back is %+v", ref)
		}
		for _, i := range []int{0, 1} {
			if _, ok := back[i].Image(); ok {
				t.Errorf("%s is an image", back[i].Type())
			}
		}
		d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) { return nil, nil }
		if r := exec(t, d); r.IsError() || len(r.Content()) != 0 {
			t.Error("an empty list is refused")
		}
		for _, bad := range []any{nil, "text", map[string]any{"text": "x"}, map[string]any{"type": 1}, func() {}} {
			if _, err := registry.NewBlock(bad); err == nil {
				t.Errorf("%v is a block", bad)
			}
		}
		if _, err := json.Marshal(registry.Block{}); err == nil {
			t.Error("the zero block marshals")
		}
	})
	t.Run("OUT-8 RESULT-3 neither the call's identity nor its token is part of a result", func(t *testing.T) {
		if got := marshalled(t, exec(t, tool("", nil))); strings.Contains(got, "oken") || strings.Contains(got, "callId") {
			t.Error(got)
		}
	})
}

// hostile is an error whose methods panic.
type hostile struct{ nilPointer *int }

func (h hostile) Error() string { return fmt.Sprint(*h.nilPointer) }

func nilMap() map[string]int { return nil }

type hostileAs struct{ error }

func (hostileAs) As(any) bool { panic("As") }

type stringer struct{ panics bool }

func (s stringer) String() string {
	if s.panics {
		panic("no text")
	}
	return "as text"
}

func TestThrownValues(t *testing.T) {
	panicking := func(v any) body {
		return func(context.Context, jsonval.Value, *registry.Run) (any, error) { panic(v) }
	}
	coded := registry.Coded("MyError", "MINE", "inner")
	for _, row := range []struct {
		rule, name    string
		body          body
		message, code string
		class         string
	}{
		{"RESULT-5 ERR-2", "coded", fails(coded), "inner", "MINE", "MyError"},
		{"RESULT-5 ERR-2", "wrapped: the outer message, the inner code", fails(fmt.Errorf("outer: %w", coded)), "outer: inner", "MINE", "MyError"},
		{"RESULT-5", "coded without a name", fails(registry.Coded("", "X", "m")), "m", "X", "HarnessError"},
		{"RESULT-5", "coded without a code", fails(registry.Coded("N", "", "m")), "m", "", ""},
		{"RESULT-6 ERR-2", "uncoded", fails(errors.New("plain")), "plain", "", ""},
		{"RESULT-6", "a panic with an error", panicking(coded), "inner", "MINE", "MyError"},
		{"RESULT-6", "a panic with a string", panicking("text"), "text", "", ""},
		{"RESULT-6", "a panic with a number", panicking(42), "42", "", ""},
		{"RESULT-6", "a panic with a Stringer", panicking(stringer{}), "as text", "", ""},
		{"RESULT-6", "a panic with a Stringer that panics", panicking(stringer{panics: true}), "<unprintable error>", "", ""},
		{"RESULT-6", "an error whose message panics", fails(hostile{}), "<unprintable error>", "", ""},
		{"RESULT-6", "a panic with such an error", panicking(hostile{}), "<unprintable error>", "", ""},
		{"RESULT-6", "an error whose As panics", fails(hostileAs{io.EOF}), "EOF", "", ""},
		{"RESULT-6", "a nil map write", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
			nilMap()["x"] = 1
			return nil, nil
		}, "assignment to entry in nil map", "", ""},
		{"RESULT-6", "a message that is not UTF-8", fails(errors.New("a\xffb")), "a\uFFFDb", "", ""},
	} {
		t.Run("RESULT-7 "+row.rule+" "+row.name, func(t *testing.T) {
			r := newRegistry(t)
			register(t, r, tool("t", row.body))
			out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
			wantFailure(t, out, row.message, row.code)
			if row.class != "" && out.Failure().Info.Name != row.class {
				t.Errorf("name %s, want %s", out.Failure().Info.Name, row.class)
			}
		})
	}
	t.Run("RESULT-6 the stack goes to the log and not to the model", func(t *testing.T) {
		var log bytes.Buffer
		r := newRegistry(t, registry.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		register(t, r, tool("t", panicking("kaboom")))
		out := r.Execute(t.Context(), call{ID: "c1", Name: "t"})
		if !strings.Contains(log.String(), "result_test.go") || !strings.Contains(log.String(), "call=c1") {
			t.Errorf("the log lacks the stack: %s", log.String())
		}
		if strings.Contains(out.JSON().String(), "goroutine") {
			t.Error("the stack reached the result")
		}
	})
}

func TestOutputContract(t *testing.T) {
	boom := errors.New("boom")
	for _, row := range []struct {
		name   string
		value  any
		change func(d *registry.Definition)
		want   string // violations
	}{
		{"NaN", math.NaN(), nil, `"value": not a lossless JSON value`},
		{"a function inside", map[string]any{"f": func() {}}, nil, `"value": not a lossless JSON value`},
		{"an absent value", jsonval.Value{}, nil, `"value": not a lossless JSON value`},
		{"an inexact integer", big.NewInt(1<<53 + 1), nil, `"value": not a lossless JSON value`},
		{"a value that cannot be read", []any{broken{}}, nil, `"value": could not be read: disk on fire`},
		{"schema violations", map[string]any{"extra": 1}, func(d *registry.Definition) {
			d.Output.Schema = raw(t, schema.Object(schema.Props{schema.Required("file", schema.String())}))
		}, `"value.file": required property is missing; "value.extra": undeclared property`},
		{"render raised", 1, func(d *registry.Definition) {
			d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) { return nil, boom }
		}, "render: boom"},
		{"render panicked", 1, func(d *registry.Definition) {
			d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) { panic("bang") }
		}, "render: bang"},
		{"render returned something lossy", 1, func(d *registry.Definition) {
			d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) { return []registry.Block{{}}, nil }
		}, "render: not lossless JSON"},
		{"CARD-16 the metadata projector raised", 1, func(d *registry.Definition) {
			d.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { return nil, boom }
		}, "presentationMeta: boom"},
		{"CARD-16 the metadata projector returned something lossy", 1, func(d *registry.Definition) {
			d.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { return math.Inf(1), nil }
		}, "presentationMeta: not lossless JSON"},
		{"the metadata cannot be read", 1, func(d *registry.Definition) {
			d.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { return broken{}, nil }
		}, "presentationMeta: disk on fire"},
	} {
		t.Run("OUT-2 OUT-5 "+row.name, func(t *testing.T) {
			r := newRegistry(t)
			d := tool("t", returns(row.value))
			finalized := 0
			d.Finalize = func(exec, result) ([]registry.Block, bool) { finalized++; return nil, false }
			if row.change != nil {
				row.change(&d)
			}
			register(t, r, d)
			out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
			wantFailure(t, out, `tool "t" produced an invalid result: `+row.want, "INVALID_TOOL_OUTPUT")
			if out.Failure().Info.Name != "ToolOutputError" || finalized != 1 {
				t.Errorf("name %s, finalized %d times", out.Failure().Info.Name, finalized)
			}
		})
	}
	t.Run("OUT-1 any JSON root is allowed", func(t *testing.T) {
		for _, v := range []any{nil, true, 1.5, "s", []any{1}, map[string]any{"a": nil}, json.RawMessage(`{"z":1,"a":2}`)} {
			r := newRegistry(t)
			register(t, r, tool("t", returns(v)))
			wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), jsonval.MustOf(v).String())
		}
	})
	t.Run("OUT-2 OUT-3 the projectors get the frozen arguments and value, and may run again", func(t *testing.T) {
		r := newRegistry(t)
		shared := []any{1, 2}
		d := tool("t", returns(shared))
		renders := 0
		d.Output.Render = func(args, value jsonval.Value) ([]registry.Block, error) {
			renders++
			shared[0] = "changed" // the body's own data: no effect on the value
			return []registry.Block{registry.Text(args.String() + value.String())}, nil
		}
		d.Output.PresentationMeta = func(_, value jsonval.Value) (any, error) { return value, nil }
		register(t, r, d)
		r.OnPostExecute(reviews(registry.Accept().WithValue(5), nil))
		out := r.Execute(t.Context(), call{ID: "1", Name: "t", Arguments: "a"})
		if out.Text() != `"a"5` || out.Meta().String() != "5" || renders != 2 {
			t.Errorf("content %q, meta %s, rendered %d times", out.Text(), out.Meta(), renders)
		}
	})
	t.Run("OUT-4 CARD-12 metadata for direct calls only", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", nil)
		d.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { return 1, nil }
		register(t, r, d, tool("plain", nil))
		var token *registry.Token
		r.OnResult(func(x exec, _ result) { token = x.Token() })
		if out := r.Execute(t.Context(), call{ID: "1", Name: "t"}); out.Meta().String() != "1" {
			t.Errorf("meta %s", out.Meta())
		}
		if out := r.Execute(t.Context(), call{ID: "2", Name: "t", Parent: token}); out.Meta().Exists() {
			t.Errorf("a nested call has meta %s", out.Meta())
		}
		if out := r.Execute(t.Context(), call{ID: "3", Name: "plain"}); out.Meta().Exists() {
			t.Error("meta without a projector")
		}
	})
	t.Run("CARD-13 metadata stays under a content replacement, follows a value, and goes with a block", func(t *testing.T) {
		for _, row := range []struct {
			d    registry.PostDecision
			want string
		}{
			{registry.Accept().WithContent(registry.Text("x")), "1"}, {registry.Accept().WithValue(2), "2"}, {registry.Blocked(), ""},
		} {
			r := newRegistry(t)
			d := tool("t", returns(1))
			d.Output.PresentationMeta = func(_, v jsonval.Value) (any, error) { return v, nil }
			register(t, r, d)
			r.OnPostExecute(reviews(row.d, nil))
			if got := r.Execute(t.Context(), call{ID: "1", Name: "t"}).Meta().String(); got != row.want {
				t.Errorf("meta %q, want %q", got, row.want)
			}
		}
	})
}

// TestErrorCatalogue has one row for each line of the catalogue.
func TestErrorCatalogue(t *testing.T) {
	typed := must(registry.Define(registry.Spec[struct {
		N int `json:"n"`
	}, string]{Name: "typed", Run: func(context.Context, struct {
		N int `json:"n"`
	}, *registry.Run) (string, error) {
		return "", nil
	}}))
	for _, row := range []struct {
		rule          string
		setup         func(r *registry.Registry)
		call          call
		cancelled     bool
		message, code string
		class         string
	}{
		{"ERR-1", nil, call{Name: "nope"}, false, `no tool named "nope"`, "UNKNOWN_TOOL", "ToolNotFoundError"},
		{"DEFINE-3", nil, call{Name: "typed", Arguments: map[string]any{"n": "x"}}, false,
			`arguments do not match the schema: "n": expected integer (n is the string "x")`, "INVALID_ARGS", "ToolArgsError"},
		{"OUT-5", nil, call{Name: "nan"}, false, `tool "nan" produced an invalid result: "value": not a lossless JSON value`, "INVALID_TOOL_OUTPUT", "ToolOutputError"},
		{"CANCEL-1", nil, call{Name: "typed"}, true, beforeText, "ABORTED_BEFORE_DISPATCH", "AbortError"},
		{"JSON-2", nil, call{Name: "typed", Arguments: math.NaN()}, false, "arguments are not lossless JSON: NaN at $", "", ""},
		{"JSON-8", nil, call{Name: "typed", Arguments: broken{}}, false, "disk on fire", "", ""},
		{"PRE-3", func(r *registry.Registry) { r.OnPreExecute(decides(registry.Deny("because"))) }, call{Name: "typed"}, false, "because", "", ""},
		{"POST-6", func(r *registry.Registry) { r.OnPostExecute(reviews(registry.Blocked(registry.Text("b")), nil)) }, call{Name: "typed"}, false, "b", "", ""},
	} {
		t.Run("ERR-2 "+row.rule+" "+row.message, func(t *testing.T) {
			r := newRegistry(t)
			register(t, r, typed, tool("nan", returns(math.NaN())))
			if row.setup != nil {
				row.setup(r)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if row.cancelled {
				cancel()
			}
			c := row.call
			c.ID = "1"
			out := r.Execute(ctx, c)
			wantFailure(t, out, row.message, row.code)
			if row.class != "" && out.Failure().Info.Name != row.class {
				t.Errorf("name %s", out.Failure().Info.Name)
			}
		})
	}
	t.Run("ERR-1 a restricted or foreign tool is as unknown as one that does not exist", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("hidden", nil))
		a, b := scope(t, r, "a", nil), scope(t, r, "b", nil)
		register(t, b, tool("foreign", nil))
		if _, err := a.Restrict(registry.Restriction{Deny: []string{"hidden"}}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"hidden", "foreign", "nothing"} {
			wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: name, Agent: "a"}), `no tool named "`+name+`"`, "UNKNOWN_TOOL")
		}
	})
	t.Run("a hostile name cannot write a message of its own", func(t *testing.T) {
		r := newRegistry(t)
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "a\"\nIgnore"}), `no tool named "a\"\nIgnore"`, "UNKNOWN_TOOL")
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestLosslessArguments is the table of JSON-1 to JSON-6 on arguments: what is accepted reaches the body byte-equal.
func TestLosslessArguments(t *testing.T) {
	entered := 0
	r := newRegistry(t)
	register(t, r, tool("echo", func(_ context.Context, args jsonval.Value, _ *registry.Run) (any, error) {
		entered++
		return args, nil
	}))
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	for _, bad := range []any{
		math.NaN(), math.Inf(1), math.Copysign(0, -1), func() {}, make(chan int), complex(1, 1), cyclic, "\xff",
		int64(1<<53 + 1), json.RawMessage(`-0`), json.RawMessage(`1e999`), json.RawMessage(`"\ud800"`), json.RawMessage(`{`),
		[]any{map[string]any{"deep": math.NaN()}}, jsonval.Value{},
	} {
		out := r.Execute(t.Context(), call{ID: "1", Name: "echo", Arguments: bad})
		if f := out.Failure(); f == nil || !strings.HasPrefix(f.Message, "arguments are not lossless JSON: ") || f.Info != nil {
			t.Errorf("JSON-2 JSON-3 JSON-4: %v gave %s", bad, out.JSON())
		}
	}
	if entered != 0 {
		t.Errorf("the body ran %d times", entered)
	}
	for _, good := range []string{
		`null`, `true`, `1.5`, `"é😀"`, `[]`, `{}`, `{"z":1,"a":{"__proto__":[],"":0,"constructor":null}}`, `[[[[1]]]]`, `1e+21`, `9007199254740992`,
	} {
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "echo", Arguments: json.RawMessage(good)}), good)
	}
	wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "echo", Arguments: json.RawMessage(`{"a":1,"b":2,"a":3}`)}), `{"a":3,"b":2}`)
}

// TestDepth is JSON-10 end to end: 5,000 levels of value and schemas work, a million levels end in a result.
func TestDepth(t *testing.T) {
	const deep = 5_000
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	node := schema.List()
	for range deep - 1 {
		node = schema.Array(node)
	}
	d := tool("echo", func(_ context.Context, args jsonval.Value, _ *registry.Run) (any, error) { return args, nil })
	d.Output.Schema = raw(t, node)
	d.Parameters = must(schema.Props{schema.Optional("x", node)}.Schema())
	r := newRegistry(t)
	register(t, r, d)
	if p, err := r.Present(nil); err != nil || p.Tools[0].Parameters.String() != d.Parameters.String() {
		t.Error("the schema was changed in the projection")
	}
	wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "echo", Arguments: json.RawMessage(nest(deep))}), nest(deep))
	out := r.Execute(t.Context(), call{ID: "2", Name: "echo", Arguments: json.RawMessage(nest(1_000_000))})
	if !out.Exists() {
		t.Error("no result")
	}
}
