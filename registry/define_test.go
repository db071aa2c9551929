package registry_test

// Typed tools.

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

type searchArgs struct {
	Query string `json:"query" jsonschema:"What to look for"`
	Limit *int   `json:"limit"`
	Order string `json:"order,omitempty" enum:"asc,desc"`
}

type searchOut struct {
	Hits  []string          `json:"hits"`
	More  *bool             `json:"more"`
	Notes map[string]string `json:"notes"`
}

func search(f func(searchArgs, *registry.Run) (searchOut, error)) registry.Spec[searchArgs, searchOut] {
	return registry.Spec[searchArgs, searchOut]{
		Name: "search", Description: "Finds things",
		Run: func(_ context.Context, a searchArgs, run *registry.Run) (searchOut, error) { return f(a, run) },
	}
}

func TestDefine(t *testing.T) {
	ok := func(searchArgs, *registry.Run) (searchOut, error) { return searchOut{}, nil }
	t.Run("DEFINE-1 an ordinary definition, with schemas of the Go types", func(t *testing.T) {
		d := must(registry.Define(search(ok)))
		if got := d.Parameters.String(); got != `{"type":"object","properties":{"query":{"type":"string","description":"What to look for"},"limit":{"type":"integer"},"order":{"type":"string","enum":["asc","desc"]}},"required":["query"]}` {
			t.Error(got)
		}
		if got := d.Output.Schema.String(); got != `{"type":"object","additionalProperties":false,"properties":{"hits":{"type":"array","items":{"type":"string"}},"more":{"type":"boolean"},"notes":{"type":"object","additionalProperties":true}},"required":["hits","notes"]}` {
			t.Error(got)
		}
		r := newRegistry(t)
		if _, found := r.Get("search", nil); found {
			t.Error("it registers itself")
		}
		register(t, r, d)
	})
	t.Run("DEFINE-9 nil slices and maps are empty containers, a nil pointer is left out", func(t *testing.T) {
		r := newRegistry(t)
		yes := true
		out := searchOut{}
		register(t, r, must(registry.Define(search(func(searchArgs, *registry.Run) (searchOut, error) { return out, nil }))))
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "search", Arguments: map[string]any{"query": "x"}}), `{"hits":[],"notes":{}}`)
		out = searchOut{Hits: []string{"a"}, More: &yes, Notes: map[string]string{"k": "v"}}
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "search", Arguments: map[string]any{"query": "x"}}), `{"hits":["a"],"more":true,"notes":{"k":"v"}}`)
		type row struct{ P *int }
		register(t, r, must(registry.Define(registry.Spec[struct{}, []row]{Name: "rows", Run: func(context.Context, struct{}, *registry.Run) ([]row, error) {
			n := 1
			return []row{{}, {&n}}, nil
		}})))
		wantValue(t, r.Execute(t.Context(), call{ID: "2", Name: "rows", Arguments: struct{}{}}), `[{},{"P":1}]`)
	})
	t.Run("DEFINE-1 without a renderer a string is shown raw and anything else as compact JSON", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r,
			must(registry.Define(registry.Spec[struct{}, string]{Name: "s", Run: func(context.Context, struct{}, *registry.Run) (string, error) { return "a \"b\"\n", nil }})),
			must(registry.Define(registry.Spec[struct{}, map[string]any]{Name: "m", Run: func(context.Context, struct{}, *registry.Run) (map[string]any, error) {
				return map[string]any{"b": []int{1}, "a": nil}, nil
			}})))
		for name, want := range map[string]string{"s": "a \"b\"\n", "m": `{"a":null,"b":[1]}`} {
			if got := r.Execute(t.Context(), call{ID: "1", Name: name, Arguments: struct{}{}}).Text(); got != want {
				t.Errorf("%s renders %q", name, got)
			}
		}
	})
	t.Run("DEFINE-1 the schemas may be given", func(t *testing.T) {
		d := must(registry.Define(registry.Spec[map[string]any, any]{
			Name: "t", Parameters: schema.Props{schema.Required("n", schema.Integer())}, Output: schema.OneOf(schema.Integer(), schema.Null()),
			Run: func(_ context.Context, a map[string]any, _ *registry.Run) (any, error) { return a["n"], nil },
		}))
		r := newRegistry(t)
		register(t, r, d)
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t", Arguments: map[string]any{"n": 3}}), "3")
		if got := d.Parameters.String(); got != `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}` {
			t.Error(got)
		}
	})
	t.Run("DEFINE-2 author errors are returned at once and name the tool", func(t *testing.T) {
		fine := search(ok)
		for want, change := range map[string]func(s *registry.Spec[searchArgs, searchOut]){
			"needs a body": func(s *registry.Spec[searchArgs, searchOut]) { s.Run = nil },
			"the time budget must be a positive number": func(s *registry.Spec[searchArgs, searchOut]) { s.TimeoutMs = -5 },
			`schema.properties.a: "enum" must be a list`: func(s *registry.Spec[searchArgs, searchOut]) {
				s.Parameters = schema.Props{schema.Required("a", schema.Enum())}
			},
			"schema: a node must be an object": func(s *registry.Spec[searchArgs, searchOut]) { s.Output, _ = schema.ParseNode("x") },
			`parameters: the member "a" is declared twice`: func(s *registry.Spec[searchArgs, searchOut]) {
				s.Parameters = schema.Props{schema.Required("a", schema.String()), schema.Required("a", schema.String())}
			},
		} {
			s := fine
			change(&s)
			_, err := registry.Define(s)
			wantError(t, err, want)
			wantError(t, err, `tool "search"`)
		}
		_, err := registry.Define(registry.Spec[struct{ C chan int }, int]{Name: "t", Run: func(context.Context, struct{ C chan int }, *registry.Run) (int, error) { return 0, nil }})
		wantError(t, err, "parameters.C: the Go type chan int has no JSON form (field C of")
		var coded registry.CodedError
		if !errors.As(err, &coded) || coded.Code() != "UNSUPPORTED_SCHEMA" {
			t.Errorf("the code is lost: %v", err)
		}
		_, err = registry.Define(registry.Spec[struct{}, func()]{Name: "t", Run: func(context.Context, struct{}, *registry.Run) (func(), error) { return nil, nil }})
		wantError(t, err, "schema: the Go type func() has no JSON form")
	})
	t.Run("DEFINE-3 invalid arguments: the body is not entered, post-execute sees the failure", func(t *testing.T) {
		r := newRegistry(t)
		entered, posted := false, 0
		register(t, r, must(registry.Define(search(func(searchArgs, *registry.Run) (searchOut, error) { entered = true; return searchOut{}, nil }))))
		r.OnPostExecute(func(_ context.Context, _ exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			posted++
			return next()
		})
		out := r.Execute(t.Context(), call{ID: "1", Name: "search", Arguments: map[string]any{"limit": "5", "order": "up"}})
		wantFailure(t, out, `arguments do not match the schema: "query": required property is missing; "limit": expected integer; "order": expected one of ["asc","desc"] (the call has limit, order; limit is the string "5"; order is the string "up")`, "INVALID_ARGS")
		if entered || posted != 1 || out.Failure().Info.Name != "ToolArgsError" {
			t.Errorf("entered %v, posted %d, name %s", entered, posted, out.Failure().Info.Name)
		}
		_, err := must(registry.Define(search(ok))).Execute(t.Context(), parse(t, `{}`), nil)
		var list *registry.ArgsError
		if !errors.As(err, &list) || len(list.Violations) != 1 {
			t.Errorf("the error carries no list: %v", err)
		}
	})
	t.Run("DEFINE-4 extra members are allowed and reach the body", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, must(registry.Define(registry.Spec[map[string]any, int]{
			Name: "t", Parameters: schema.Props{schema.Required("a", schema.JSON())},
			Run: func(_ context.Context, a map[string]any, _ *registry.Run) (int, error) { return len(a), nil },
		})))
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t", Arguments: map[string]any{"a": 1, "b": 2}}), "2")
	})
	t.Run("DEFINE-6 CARD-38 presenters are silent on arguments that do not fit", func(t *testing.T) {
		s := search(ok)
		calls := 0
		s.PresentCall = func(a searchArgs) card.CallView { calls++; return card.GenericCall{Title: a.Query} }
		s.PresentResult = func(a searchArgs, _ card.PersistedResult) card.ResultView {
			calls++
			return card.GenericResult{Title: a.Query}
		}
		d := must(registry.Define(s))
		good, bad := parse(t, `{"query":"q"}`), parse(t, `{"query":1}`)
		if d.PresentCall(bad) != nil || d.PresentResult(bad, card.PersistedResult{}) != nil || calls != 0 {
			t.Error("there is a view")
		}
		if v := d.PresentCall(good); v == nil || v.JSON().String() != `{"card":"generic","title":"q"}` || calls != 1 {
			t.Error("there is no view")
		}
		if d.PresentResult(good, card.PersistedResult{}) == nil || calls != 2 {
			t.Error("there is no view of the result")
		}
	})
	t.Run("DEFINE-7 the finalizer gets the untyped execution, also for invalid arguments", func(t *testing.T) {
		s := search(ok)
		var seen string
		s.Finalize = func(x exec, r result) ([]registry.Block, bool) { seen = x.Arguments().String(); return nil, false }
		r := newRegistry(t)
		register(t, r, must(registry.Define(s)))
		r.Execute(t.Context(), call{ID: "1", Name: "search", Arguments: []any{1}})
		if seen != "[1]" {
			t.Errorf("it saw %s", seen)
		}
	})
	t.Run("DEFINE-8 arguments that fit and do not decode are one violation; a missing member is told from a zero one", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, must(registry.Define(registry.Spec[struct {
			N int8 `json:"n"`
		}, int]{Name: "small", Run: func(_ context.Context, a struct {
			N int8 `json:"n"`
		}, _ *registry.Run) (int, error) {
			return int(a.N), nil
		}})), must(registry.Define(registry.Spec[struct{ P *int }, string]{Name: "opt", Run: func(_ context.Context, a struct{ P *int }, _ *registry.Run) (string, error) {
			if a.P == nil {
				return "missing", nil
			}
			return "sent", nil
		}})))
		out := r.Execute(t.Context(), call{ID: "1", Name: "small", Arguments: map[string]any{"n": 300}})
		if f := out.Failure(); f == nil || f.Info.Code != "INVALID_ARGS" || !strings.Contains(f.Message, "300") {
			t.Errorf("got %s", out.JSON())
		}
		wantValue(t, r.Execute(t.Context(), call{ID: "2", Name: "opt", Arguments: struct{}{}}), `"missing"`)
		wantValue(t, r.Execute(t.Context(), call{ID: "3", Name: "opt", Arguments: map[string]any{"P": 0}}), `"sent"`)
	})
	t.Run("DEFINE-9 OUT-5 a projector reached with arguments that do not decode fails the call", func(t *testing.T) {
		s := search(ok)
		s.Render = func(a searchArgs, o searchOut) []registry.Block {
			return []registry.Block{registry.Text(a.Query + strings.Join(o.Hits, ","))}
		}
		meta := false
		s.PresentationMeta = func(a searchArgs, o searchOut) any { meta = true; return len(o.Hits) }
		r := newRegistry(t)
		register(t, r, must(registry.Define(s)))
		r.OnExecute(authors(registry.Success(map[string]any{"hits": []string{"h"}, "notes": map[string]any{}}), nil))
		out := r.Execute(t.Context(), call{ID: "1", Name: "search", Arguments: map[string]any{"query": "q:"}})
		if out.Text() != "q:h" || !meta || out.Meta().String() != "1" {
			t.Errorf("got %s", out.JSON())
		}
		out = r.Execute(t.Context(), call{ID: "2", Name: "search", Arguments: "text"})
		if f := out.Failure(); f == nil || f.Info == nil || f.Info.Code != "INVALID_TOOL_OUTPUT" || !strings.HasPrefix(f.Message, `tool "search" produced an invalid result: render: `) {
			t.Errorf("got %s", out.JSON())
		}
	})
	t.Run("DEFINE-10 what is not declared stays absent", func(t *testing.T) {
		d := must(registry.Define(search(ok)))
		if d.TimeoutMs != 0 || d.PresentCall != nil || d.PresentResult != nil || d.ConcurrencySafe != nil || d.Finalize != nil ||
			d.Output.PresentationMeta != nil || d.SDKOutput.Exists() {
			t.Errorf("got %+v", d)
		}
		s := search(ok)
		s.TimeoutMs, s.SDKOutput = 5, jsonval.Object()
		s.ConcurrencySafe = func(searchArgs) bool { return true }
		d = must(registry.Define(s))
		if d.TimeoutMs != 5 || d.ConcurrencySafe == nil || !d.SDKOutput.Exists() {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("OUT-5 JSON-8 a result that cannot be read is read once", func(t *testing.T) {
		r := newRegistry(t)
		c := &counting{}
		register(t, r, must(registry.Define(registry.Spec[struct{}, any]{Name: "t", Run: func(context.Context, struct{}, *registry.Run) (any, error) { return c, nil }})))
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t", Arguments: struct{}{}}), "1")
		register(t, r, must(registry.Define(registry.Spec[struct{}, any]{Name: "u", Run: func(context.Context, struct{}, *registry.Run) (any, error) { return broken{}, nil }})))
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "u", Arguments: struct{}{}}), `tool "u" produced an invalid result: "value": could not be read: disk on fire`, "INVALID_TOOL_OUTPUT")
	})
}
