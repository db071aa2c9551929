package registry_test

// Registration, disposal and groups.

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// full is a definition that sets every field.
func full(name string) registry.Definition {
	d := tool(name, nil)
	d.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { return 1, nil }
	d.Finalize = func(exec, result) ([]registry.Block, bool) { return nil, false }
	d.TimeoutMs = 1000
	d.ConcurrencySafe = func(jsonval.Value) bool { return true }
	d.PresentCall = func(jsonval.Value) card.CallView { return nil }
	d.PresentResult = func(jsonval.Value, card.PersistedResult) card.ResultView { return nil }
	d.SDKOutput = jsonval.Object()
	return d
}

func TestRegistration(t *testing.T) {
	t.Run("TOOL-1 TOOL-13 a definition comes back as it was registered", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, full("t"))
		d, ok := r.Get("t", nil)
		if !ok || d.Name != "t" || d.Description != "does t" || d.TimeoutMs != 1000 || d.Finalize == nil || d.ConcurrencySafe == nil ||
			d.PresentCall == nil || d.PresentResult == nil || d.Execute == nil || d.Output.Render == nil || d.Output.PresentationMeta == nil ||
			d.SDKOutput.String() != "{}" || d.Parameters.String() != anyObject.String() {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("TOOL-2 TIMEOUT-2 MODE-2 a model sees exactly name, description and parameters", func(t *testing.T) {
		r := newRegistry(t, registry.Options{Mode: registry.Both, Transport: fakeTransport{}})
		register(t, r, full("t"))
		p, err := r.Present(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range append(p.Tools, r.Schemas(nil)...) {
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var fields map[string]any
			if err := json.Unmarshal(text, &fields); err != nil {
				t.Fatal(err)
			}
			if keys := slices.Sorted(maps.Keys(fields)); !slices.Equal(keys, []string{"description", "name", "parameters"}) {
				t.Errorf("%s has the keys %v", s.Name, keys)
			}
		}
	})
	// Each author error, in the order of precedence; every pair of neighbours shows that the earlier one is reported.
	mistakes := []struct {
		rule, name string
		break_     func(d *registry.Definition)
		want       string
	}{
		{"TOOL-3a", "no output schema", func(d *registry.Definition) { d.Output.Schema = jsonval.Value{} }, "needs an output schema"},
		{"TOOL-3a", "no renderer", func(d *registry.Definition) { d.Output.Render = nil }, "needs a renderer"},
		{"TOOL-3b", "output schema outside of the subset", func(d *registry.Definition) {
			d.Output.Schema = jsonval.MustOf(map[string]any{"type": "string", "pattern": "x"})
		}, `unsupported JSON schema: schema: the keyword "pattern" is not supported`},
		{"TOOL-3c", "negative budget", func(d *registry.Definition) { d.TimeoutMs = -1 }, "the time budget must be a positive number"},
		{"TOOL-3d", "reserved name", func(d *registry.Definition) { d.Name = "run_code" }, `the name "run_code" is reserved`},
		{"TOOL-3", "no name", func(d *registry.Definition) { d.Name = "" }, "a tool needs a name"},
		{"TOOL-3", "no body", func(d *registry.Definition) { d.Execute = nil }, "needs a body"},
		{"TOOL-3", "no parameters", func(d *registry.Definition) { d.Parameters = jsonval.Value{} }, "parameters must be one JSON Schema object, not absent"},
		{"TOOL-3", "parameters that are no object", func(d *registry.Definition) { d.Parameters = jsonval.Array() }, "parameters must be one JSON Schema object, not array"},
		{"TOOL-3e", "name taken", func(d *registry.Definition) {
			if d.Name == "t" {
				d.Name = "taken"
			}
		}, `a tool named "taken" is already registered`},
	}
	for i, first := range mistakes {
		for _, second := range mistakes[i:] {
			t.Run(first.rule+" "+first.name+" before "+second.name, func(t *testing.T) {
				r := newRegistry(t)
				register(t, r, tool("taken", nil))
				changes := 0
				r.OnChange(func() { changes++ })
				d := tool("t", nil)
				second.break_(&d)
				first.break_(&d)
				dispose, err := r.Register(d)
				if err == nil || !strings.Contains(err.Error(), first.want) || dispose != nil {
					t.Fatalf("got %v, want %q", err, first.want)
				}
				if len(r.Visible(nil)) != 1 || changes != 0 {
					t.Error("TOOL-7: something of it is visible")
				}
				if _, err := r.Register(tool("t", nil)); err != nil {
					t.Errorf("TOOL-7: the name is blocked: %v", err)
				}
			})
		}
	}
	t.Run("TOOL-3 a budget that overflows a duration is refused, the largest is not", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", nil)
		d.TimeoutMs = math.MaxInt64
		if _, err := r.Register(d); err == nil {
			t.Error("accepted")
		}
		d.TimeoutMs = math.MaxInt64 / 1_000_000
		if _, err := r.Register(d); err != nil {
			t.Error(err)
		}
	})
	t.Run("TOOL-4 parameters are not restricted to the subset and reach the model unchanged", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", func(_ context.Context, args jsonval.Value, _ *registry.Run) (any, error) { return args, nil })
		d.Parameters = parse(t, `{"type":"object","anyOf":[{"required":["a"]}],"$defs":{"x":{}},"minProperties":1e2}`)
		register(t, r, d)
		if got := r.Schemas(nil)[0].Parameters.String(); got != `{"type":"object","anyOf":[{"required":["a"]}],"$defs":{"x":{}},"minProperties":100}` {
			t.Error(got)
		}
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t", Arguments: 5}), "5") // it validates its own input
	})
	t.Run("TOOL-5 the duplicate error tells the layers apart", func(t *testing.T) {
		r := newRegistry(t)
		s := scope(t, r, "a", nil)
		register(t, r, tool("t", nil))
		register(t, s, tool("t", nil)) // SCOPE-4: another layer
		if _, err := r.Register(tool("t", nil)); err == nil || !strings.Contains(err.Error(), "through that agent's scope") {
			t.Errorf("global: %v", err)
		}
		if _, err := s.Register(tool("t", nil)); err == nil || !strings.Contains(err.Error(), "in this scope") {
			t.Errorf("scoped: %v", err)
		}
	})
	t.Run("TOOL-6 a disposer removes its registration only, any number of times, from any goroutine", func(t *testing.T) {
		r := newRegistry(t)
		dispose := must(r.Register(tool("t", returns(1))))
		dispose()
		dispose()
		register(t, r, tool("t", returns(2)))
		dispose()
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "2")
		second := must(r.Register(tool("u", nil)))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(second)
		}
		wg.Wait()
		if _, ok := r.Get("u", nil); ok {
			t.Error("it is still there")
		}
	})
	t.Run("TOOL-8 each change of the visible set is told, guards are not", func(t *testing.T) {
		var log bytes.Buffer
		r := newRegistry(t, registry.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Transport: fakeTransport{}})
		s := scope(t, r, "a", nil)
		n := 0
		unsubscribe := r.OnChange(func() { n++ })
		r.OnChange(func() { panic("subscriber broke") })
		step := func(what string, want int, f func()) {
			t.Helper()
			n = 0
			if f(); n != want {
				t.Errorf("%s: told %d times, want %d", what, n, want)
			}
		}
		var dispose, lift, native func()
		step("register", 1, func() { dispose = must(r.Register(tool("t", nil))) })
		step("scoped register", 1, func() { must(s.Register(tool("s", nil))) })
		step("restrict", 1, func() { lift = must(s.Restrict(registry.Restriction{Deny: []string{"t"}})) })
		step("lift", 1, func() { lift(); lift() })
		step("presentAs", 1, func() { native = must(s.PresentAs(registry.Code)) })
		step("its disposal", 1, func() { native(); native() })
		step("guard and listeners", 0, func() { s.Guard(func(exec) (string, bool) { return "", false })(); r.OnResult(func(exec, result) {})() })
		step("a failed registration", 0, func() { _, _ = r.Register(tool("t", nil)) })
		step("unregister", 1, func() { dispose(); dispose() })
		step("scope disposal", 1, func() { s.Dispose(); s.Dispose() })
		step("an empty scope's disposal", 0, func() { scope(t, r, "b", nil).Dispose() })
		if _, ok := r.Get("t", nil); ok || !strings.Contains(log.String(), "subscriber broke") {
			t.Error("the panic of a subscriber was not contained and logged")
		}
		unsubscribe()
		step("after unsubscribing", 0, func() { must(r.Register(tool("t", nil))) })
	})
	t.Run("TOOL-9 changing a definition after registering it has no effect", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", returns(1))
		register(t, r, d)
		d.Execute, d.Description = returns(2), "changed"
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "1")
		got, _ := r.Get("t", nil)
		got.Execute = returns(3)
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "1")
	})
	t.Run("TOOL-10 get resolves shadowing and restrictions and ignores the collapse", func(t *testing.T) {
		r := newRegistry(t, registry.Options{Mode: registry.Code, Transport: fakeTransport{}})
		s := scope(t, r, "a", nil)
		register(t, r, tool("t", nil), tool("u", nil))
		shadow := tool("t", nil)
		shadow.Description = "shadow"
		register(t, s, shadow)
		must(s.Restrict(registry.Restriction{Deny: []string{"u"}}))
		if d, ok := r.Get("t", "a"); !ok || d.Description != "shadow" {
			t.Errorf("got %q %v", d.Description, ok)
		}
		if _, ok := r.Get("u", "a"); ok {
			t.Error("a restricted tool is found")
		}
		if d, ok := r.Get("t", nil); !ok || d.Description != "does t" {
			t.Error("the global view is wrong")
		}
	})
	t.Run("TOOL-11 schemas are detached and report run_code in a code mode", func(t *testing.T) {
		r := newRegistry(t, registry.Options{Mode: registry.Code, Transport: fakeTransport{}})
		register(t, r, tool("t", nil))
		got := r.Schemas(nil)
		got[0].Name = "changed"
		if names := schemaNames(r.Schemas(nil)); names != "t run_code" {
			t.Errorf("schemas %q", names)
		}
	})
	t.Run("TOOL-12 view order: inherited by first appearance, shadows in place, own ones behind, run_code last", func(t *testing.T) {
		r := newRegistry(t, registry.Options{Transport: fakeTransport{}})
		grand := scope(t, r, "grand", nil)
		parent := scope(t, r, "parent", grand)
		agent := scope(t, r, "agent", parent)
		register(t, agent, tool("own2", nil), tool("g1", nil), tool("masked", nil), tool("own1", nil), tool("p1", nil))
		register(t, parent, tool("p1", nil), tool("g2", nil))
		register(t, grand, tool("x1", nil), tool("masked", nil))
		register(t, r, tool("g1", nil), tool("g2", nil), tool("g3", nil))
		must(agent.Restrict(registry.Restriction{Deny: []string{"masked", "g3"}}))
		must(agent.PresentAs(registry.Both))
		if got := schemaNames(r.Schemas("agent")); got != "g1 g2 x1 p1 own2 masked own1 run_code" {
			t.Errorf("order %q", got)
		}
		if got := schemaNames(r.Schemas("parent")); got != "g1 g2 g3 x1 masked p1" {
			t.Errorf("order %q", got)
		}
		if got := names(r.Visible("agent")); got != "g1 g2 x1 p1 own2 masked own1" {
			t.Errorf("visible %q", got)
		}
	})
}

func schemaNames(schemas []registry.Schema) string {
	out := make([]string, len(schemas))
	for i, s := range schemas {
		out[i] = s.Name
	}
	return strings.Join(out, " ")
}

func names(tools []registry.Definition) string {
	out := make([]string, len(tools))
	for i, d := range tools {
		out[i] = d.Name
	}
	return strings.Join(out, " ")
}

func TestGroups(t *testing.T) {
	t.Run("a generation replaces the one before at once, or not at all", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("mine", nil))
		g := r.Group()
		changes := 0
		r.OnChange(func() { changes++ })
		step := func(want string, next ...registry.Definition) error {
			t.Helper()
			err := g.Replace(next)
			if got := names(r.Visible(nil)); got != want {
				t.Errorf("visible %q, want %q", got, want)
			}
			return err
		}
		if err := step("mine a b", tool("a", returns(1)), tool("b", nil)); err != nil {
			t.Error(err)
		}
		if err := step("mine a c", tool("a", returns(2)), tool("c", nil)); err != nil {
			t.Error(err)
		}
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "a"}), "2")
		if changes != 2 {
			t.Errorf("%d changes", changes)
		}
		bad := tool("bad", nil)
		bad.Execute = nil
		for _, next := range [][]registry.Definition{
			{tool("x", nil), tool("mine", nil)}, {tool("x", nil), tool("x", nil)}, {tool("x", nil), bad}, {tool("run_code", nil)},
		} {
			if err := step("mine a c", next...); err == nil {
				t.Errorf("%s was accepted", names(next))
			}
		}
		if _, err := r.Register(tool("a", nil)); err == nil {
			t.Error("a name of the group is free")
		}
		if changes != 2 {
			t.Errorf("%d changes after failures", changes)
		}
		g.Dispose()
		g.Dispose()
		if got := names(r.Visible(nil)); got != "mine" || changes != 3 {
			t.Errorf("visible %q, %d changes", got, changes)
		}
		if err := g.Replace(nil); err == nil {
			t.Error("a disposed group takes tools")
		}
	})
	t.Run("a group of a scope goes with it", func(t *testing.T) {
		r := newRegistry(t)
		s := scope(t, r, "a", nil)
		g := s.Group()
		if err := g.Replace([]registry.Definition{tool("x", nil)}); err != nil {
			t.Fatal(err)
		}
		if got := names(r.Visible("a")); got != "x" {
			t.Errorf("visible %q", got)
		}
		s.Dispose()
		if err := g.Replace([]registry.Definition{tool("y", nil)}); err == nil {
			t.Error("a group of a disposed scope takes tools")
		}
		g.Dispose()
	})
	t.Run("no reader sees a mixture", func(t *testing.T) {
		r := newRegistry(t)
		g := r.Group()
		generation := func(tag string) (out []registry.Definition) {
			for _, n := range []string{"a", "b", "c"} {
				d := tool(n, nil)
				d.Description = tag
				out = append(out, d)
			}
			return out
		}
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := g.Replace(generation([]string{"odd", "even"}[i%2])); err != nil {
					t.Error(err)
				}
			}
		})
		for range 2000 {
			seen := r.Visible(nil)
			for _, d := range seen {
				if len(seen) != 3 || d.Description != seen[0].Description {
					t.Fatalf("half a generation: %v", names(seen))
				}
			}
		}
		close(stop)
		wg.Wait()
	})
}
