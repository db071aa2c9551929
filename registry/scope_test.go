package registry_test

// Scopes, restrictions, presentAs and presentation.

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got the error %v, want one with %q", err, part)
	}
}

func TestScopes(t *testing.T) {
	t.Run("SCOPE-1 one parent, no cycles", func(t *testing.T) {
		r, other := newRegistry(t), newRegistry(t)
		a := scope(t, r, "a", nil)
		b := scope(t, r, "b", a)
		if got := scope(t, r, "b", a); got != b {
			t.Error("the same binding gives another scope")
		}
		if got := scope(t, r, "b", nil); got != b || b.Agent() != "b" {
			t.Error("a nil parent does not find the scope")
		}
		c := scope(t, r, "c", nil)
		_, err := r.Scope("b", c)
		wantError(t, err, "has another parent already")
		_, err = r.Scope("a", b)
		wantError(t, err, "would be nested in itself")
		_, err = r.Scope("a", a)
		wantError(t, err, "would be nested in itself")
		_, err = r.Scope(nil, nil)
		wantError(t, err, "a scope needs an agent")
		_, err = r.Scope([]int{}, nil)
		wantError(t, err, "is not comparable")
		_, err = r.Scope("d", scope(t, other, "a", nil))
		wantError(t, err, "belongs to another registry")
		late := scope(t, r, "a", c) // a had none
		if late != a {
			t.Error("binding a parent later makes another scope")
		}
		c.Dispose()
		_, err = r.Scope("d", c)
		wantError(t, err, "has been disposed")
	})
	t.Run("SCOPE-2 SCOPE-5 views inherit downward, and nothing leaks sideways or up", func(t *testing.T) {
		r := newRegistry(t)
		parent := scope(t, r, "parent", nil)
		child := scope(t, r, "child", parent)
		scope(t, r, "sibling", parent)
		register(t, r, tool("g", nil))
		register(t, parent, tool("p", nil))
		register(t, child, tool("c", nil))
		for _, row := range []struct {
			agent any
			want  string
		}{{nil, "g"}, {"parent", "g p"}, {"child", "g p c"}, {"sibling", "g p"}, {"never seen", "g"}} {
			if got := names(r.Visible(row.agent)); got != row.want {
				t.Errorf("%v sees %q, want %q", row.agent, got, row.want)
			}
		}
	})
	t.Run("SCOPE-3 SCOPE-4 a nearer definition shadows, whatever was registered first", func(t *testing.T) {
		for _, scopedFirst := range []bool{true, false} {
			r := newRegistry(t)
			s := scope(t, r, "a", nil)
			steps := []func(){func() { register(t, r, tool("t", returns("global"))) }, func() { register(t, s, tool("t", returns("own"))) }}
			if scopedFirst {
				steps[0], steps[1] = steps[1], steps[0]
			}
			steps[0]()
			steps[1]()
			wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t", Agent: "a"}), `"own"`)
			wantValue(t, r.Execute(t.Context(), call{ID: "2", Name: "t"}), `"global"`)
			if got := names(r.Visible("a")); got != "t" {
				t.Errorf("the view is %q", got)
			}
		}
	})
	t.Run("SCOPE-6 disposal removes everything, calls in flight keep what they captured", func(t *testing.T) {
		r := newRegistry(t, registry.Options{Transport: fakeTransport{}})
		s := scope(t, r, "a", nil)
		n := 0
		hit := func() { n++ }
		register(t, r, tool("t", nil))
		register(t, s, tool("own", nil))
		s.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			hit()
			return next()
		})
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			hit()
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(s.Dispose) // racing disposers
			}
			wg.Wait()
			return next(ctx)
		})
		s.OnPostExecute(func(_ context.Context, _ exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			hit()
			return next()
		})
		s.OnResult(func(exec, result) { hit() })
		s.Guard(func(exec) (string, bool) { hit(); return "", false })
		must(s.Restrict(registry.Restriction{Match: func(string) bool { return true }}))
		must(s.PresentAs(registry.Both))
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t", Agent: "a"}), `"done"`)
		if n != 3 { // pre, guard, around; the rest was gone
			t.Errorf("%d stages reached the scope", n)
		}
		n = 0
		r.Execute(t.Context(), call{ID: "2", Name: "t", Agent: "a"})
		if n != 0 || names(r.Visible("a")) != "t" || r.Mode("a") != registry.Native {
			t.Errorf("%d hits, visible %q, mode %s", n, names(r.Visible("a")), r.Mode("a"))
		}
		_, err := s.Register(tool("x", nil))
		wantError(t, err, "has been disposed")
		_, err = s.Restrict(registry.Restriction{Allow: []string{}})
		wantError(t, err, "has been disposed")
		_, err = s.PresentAs(registry.Native)
		wantError(t, err, "has been disposed")
		s.Guard(func(exec) (string, bool) { return "", true })()
		fresh := scope(t, r, "a", nil)
		if fresh == s {
			t.Error("the key still names the disposed scope")
		}
		register(t, fresh, tool("own", nil))
	})
	t.Run("SCOPE-6 a subscriber learns of disposals", func(t *testing.T) {
		r := newRegistry(t)
		var gone []any
		r.OnScopeDisposed(func(registry.AgentKey) { panic("contained") })
		stop := r.OnScopeDisposed(func(k registry.AgentKey) { gone = append(gone, k) })
		scope(t, r, "a", nil).Dispose()
		stop()
		scope(t, r, "b", nil).Dispose()
		if len(gone) != 1 || gone[0] != "a" {
			t.Errorf("told of %v", gone)
		}
	})
	t.Run("SCOPE-7 scoping is visibility: a call that names another agent sees that agent's tools", func(t *testing.T) {
		r := newRegistry(t)
		register(t, scope(t, r, "a", nil), tool("own", nil))
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "own", Agent: "a"}), `"done"`)
	})
}

func TestRestrictions(t *testing.T) {
	type R = registry.Restriction
	setup := func(t *testing.T) (*registry.Registry, *registry.Scope, *registry.Scope) {
		t.Helper()
		r := newRegistry(t)
		parent := scope(t, r, "parent", nil)
		child := scope(t, r, "child", parent)
		register(t, r, tool("a", nil), tool("b", nil), tool("c", nil))
		return r, parent, child
	}
	see := func(t *testing.T, r *registry.Registry, agent, want string) {
		t.Helper()
		if got := names(r.Visible(agent)); got != want {
			t.Errorf("%s sees %q, want %q", agent, got, want)
		}
		for _, n := range strings.Fields("a b c own p") {
			_, got := r.Get(n, agent)
			if want := strings.Contains(" "+want+" ", " "+n+" "); got != want {
				t.Errorf("SCOPE-3: %s: get(%s) is %v, the view says %v", agent, n, got, want)
			}
		}
	}
	t.Run("RESTRICT-1 RESTRICT-3 allow, deny, both, or a live predicate", func(t *testing.T) {
		r, _, child := setup(t)
		for _, row := range []struct {
			o    R
			want string
		}{
			{R{Allow: []string{"a", "b"}}, "a b"}, {R{Deny: []string{"b"}}, "a c"}, {R{Allow: []string{"a", "b"}, Deny: []string{"b"}}, "a"},
			{R{Match: func(n string) bool { return n > "a" }}, "b c"}, {R{Match: func(string) bool { panic("x") }}, ""},
		} {
			lift := must(child.Restrict(row.o))
			see(t, r, "child", row.want)
			lift()
		}
		see(t, r, "child", "a b c")
		_, err := (*registry.Scope)(nil).Restrict(R{Allow: []string{}})
		wantError(t, err, "a restriction needs a scope")
	})
	t.Run("RESTRICT-2 the scope's own tools are exempt, registered before or after", func(t *testing.T) {
		r, _, child := setup(t)
		register(t, child, tool("own", nil))
		must(child.Restrict(R{Allow: []string{"b"}}))
		register(t, child, tool("c", nil))
		see(t, r, "child", "b own c")
	})
	t.Run("RESTRICT-4 RESTRICT-11 masks intersect, and lifting one leaves the others", func(t *testing.T) {
		r, parent, child := setup(t)
		first := must(parent.Restrict(R{Deny: []string{"a"}}))
		second := must(child.Restrict(R{Allow: []string{"a", "b"}}))
		see(t, r, "child", "b")
		first()
		first()
		see(t, r, "child", "a b")
		second()
		see(t, r, "child", "a b c")
	})
	t.Run("RESTRICT-5 an ancestor's mask reaches nested scopes, and there also its own tools", func(t *testing.T) {
		r, parent, child := setup(t)
		register(t, parent, tool("p", nil))
		register(t, child, tool("own", nil))
		must(parent.Restrict(R{Allow: []string{"a"}}))
		see(t, r, "parent", "a p")
		see(t, r, "child", "a own")
	})
	t.Run("RESTRICT-6 a child's mask does not affect its parent or siblings", func(t *testing.T) {
		r, parent, child := setup(t)
		scope(t, r, "sibling", parent)
		must(child.Restrict(R{Allow: []string{}}))
		see(t, r, "parent", "a b c")
		see(t, r, "sibling", "a b c")
		see(t, r, "child", "")
	})
	t.Run("RESTRICT-7 filtering is live: a deny list lets later tools through, an allow list keeps them out", func(t *testing.T) {
		r, parent, child := setup(t)
		must(parent.Restrict(R{Deny: []string{"b"}}))
		register(t, r, tool("d", nil))
		if got := names(r.Visible("parent")); got != "a c d" {
			t.Errorf("sees %q", got)
		}
		must(child.Restrict(R{Allow: []string{"a"}}))
		register(t, r, tool("e", nil))
		if got := names(r.Visible("child")); got != "a" {
			t.Errorf("sees %q", got)
		}
	})
	t.Run("RESTRICT-8 the lists are copied", func(t *testing.T) {
		r, _, child := setup(t)
		deny := []string{"a"}
		must(child.Restrict(R{Deny: deny}))
		deny[0] = "b"
		see(t, r, "child", "b c")
	})
	t.Run("RESTRICT-9 author errors in their order", func(t *testing.T) {
		r, _, child := setup(t)
		register(t, child, tool("own", nil))
		_, err := child.Restrict(R{})
		wantError(t, err, "needs an allow list, a deny list or a predicate")
		_, err = child.Restrict(R{Allow: []string{"nope"}, Deny: []string{"run_code"}})
		wantError(t, err, `the name "run_code" is reserved`)
		_, err = child.Restrict(R{Allow: []string{"zzz", "a"}, Deny: []string{"own", "zzz"}})
		wantError(t, err, "the scope does not inherit: zzz, own (it inherits: a, b, c)")
		empty := newRegistry(t)
		_, err = scope(t, empty, "x", nil).Restrict(R{Deny: []string{"a"}})
		wantError(t, err, "the scope does not inherit: a (it inherits no tools)")
		register(t, child, tool("a", nil)) // inherited and shadowed: it may be named
		must(child.Restrict(R{Deny: []string{"a"}}))
		see(t, r, "child", "b c own a")
	})
	t.Run("RESTRICT-10 an empty list is not an absent one", func(t *testing.T) {
		r, _, child := setup(t)
		lift := must(child.Restrict(R{Allow: []string{}}))
		see(t, r, "child", "")
		lift()
		must(child.Restrict(R{Deny: []string{}}))
		see(t, r, "child", "a b c")
	})
	t.Run("RESTRICT-12 a restricted tool is absent everywhere, the transport is outside of all restrictions", func(t *testing.T) {
		r := newRegistry(t, registry.Options{Mode: registry.Both, Transport: fakeTransport{}})
		d := tool("a", nil)
		d.ConcurrencySafe = func(jsonval.Value) bool { return true }
		register(t, r, d)
		s := scope(t, r, "x", nil)
		must(s.Restrict(R{Allow: []string{}}))
		if p := must(r.Present("x")); schemaNames(p.Tools) != "run_code" || p.Sections[0].Text != "" {
			t.Errorf("presented %v", p)
		}
		if got := r.ExecutionMode(call{Name: "a", Agent: "x"}); got != registry.Exclusive {
			t.Errorf("it is %s", got)
		}
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "a", Agent: "x"}), `no tool named "a"`, "UNKNOWN_TOOL")
		wantValue(t, r.Execute(t.Context(), call{ID: "2", Name: "run_code", Agent: "x"}), `"done"`)
	})
}

func TestPresentAs(t *testing.T) {
	setup := func(t *testing.T, mode registry.Mode) (*registry.Registry, *registry.Scope, *registry.Scope) {
		t.Helper()
		r := newRegistry(t, registry.Options{Mode: mode, Transport: fakeTransport{}})
		parent := scope(t, r, "parent", nil)
		register(t, r, tool("a", nil))
		return r, parent, scope(t, r, "child", parent)
	}
	modes := func(t *testing.T, r *registry.Registry, global, parent, child registry.Mode) {
		t.Helper()
		if a, b, c := r.Mode(nil), r.Mode("parent"), r.Mode("child"); a != global || b != parent || c != child {
			t.Errorf("modes %s %s %s, want %s %s %s", a, b, c, global, parent, child)
		}
		for agent, mode := range map[string]registry.Mode{"parent": parent, "child": child} {
			out := r.Execute(t.Context(), call{ID: "1", Name: "a", Agent: agent})
			if collapsed := out.IsError(); collapsed != (mode == registry.Code) {
				t.Errorf("PRESENTAS-6: %s in mode %s: executor says %v", agent, mode, out.JSON())
			}
		}
	}
	t.Run("PRESENTAS-1 it needs a scope, and points at the setting", func(t *testing.T) {
		_, err := (*registry.Scope)(nil).PresentAs(registry.Code)
		wantError(t, err, "Options.Mode")
		_, s, _ := setup(t, registry.Native)
		_, err = s.PresentAs("fancy")
		wantError(t, err, `unknown mode "fancy"`)
		bare := scope(t, newRegistry(t), "x", nil)
		_, err = bare.PresentAs(registry.Code)
		wantError(t, err, `mode "code" needs Options.Transport`)
	})
	t.Run("PRESENTAS-2 PRESENTAS-4 PRESENTAS-5 the nearest declaration decides, in both directions", func(t *testing.T) {
		r, parent, child := setup(t, registry.Native)
		undo := must(parent.PresentAs(registry.Code))
		modes(t, r, "native", "code", "code")
		must(child.PresentAs(registry.Native))
		modes(t, r, "native", "code", "native")
		undo()
		modes(t, r, "native", "native", "native")
		r, parent, child = setup(t, registry.Code)
		must(parent.PresentAs(registry.Native))
		modes(t, r, "code", "native", "native")
		must(child.PresentAs(registry.Both))
		modes(t, r, "code", "native", "both")
		parent.Dispose()
		modes(t, r, "code", "code", "both")
	})
	t.Run("PRESENTAS-3 one declaration a scope, a new one after disposal", func(t *testing.T) {
		_, s, _ := setup(t, registry.Native)
		undo := must(s.PresentAs(registry.Code))
		_, err := s.PresentAs(registry.Code)
		wantError(t, err, `presents as "code" already`)
		undo()
		must(s.PresentAs(registry.Both))
		undo() // the old disposer leaves the new declaration alone
		if _, err := s.PresentAs(registry.Code); err == nil {
			t.Error("the old disposer removed the new declaration")
		}
	})
	t.Run("PRESENTAS-6 the catalogue of tools does not change", func(t *testing.T) {
		r, s, _ := setup(t, registry.Native)
		before := names(r.Visible("parent"))
		must(s.PresentAs(registry.Code))
		if got := names(r.Visible("parent")); got != before {
			t.Errorf("visible %q", got)
		}
	})
	t.Run("PRESENTAS-7 a preset that unwinds takes its declaration with it", func(t *testing.T) {
		r, s, _ := setup(t, registry.Native)
		must(s.PresentAs(registry.Code))
		s.Dispose()
		modes(t, r, "native", "native", "native")
	})
}

func TestPresent(t *testing.T) {
	t.Run("PRESENT-1 any other mode is a configuration error, and so is a code mode without a transport", func(t *testing.T) {
		_, err := registry.New(registry.Options{Mode: "auto"})
		wantError(t, err, `unknown mode "auto"`)
		_, err = registry.New(registry.Options{Mode: registry.Both})
		wantError(t, err, `mode "both" needs Options.Transport`)
		_, err = registry.New(registry.Options{ToolOrder: []string{"a", "a"}})
		wantError(t, err, `the tool order names "a" twice`)
		if r := newRegistry(t); r.Mode(nil) != registry.Native {
			t.Error("the default is not native")
		}
	})
	t.Run("PRESENT-2 PRESENT-3 PRESENT-4 PRESENT-5 PRESENT-11 wire list and sections of each mode", func(t *testing.T) {
		for _, row := range []struct {
			mode  registry.Mode
			wire  string
			parts string
		}{
			{registry.Native, "B a z", ""},
			{registry.Code, "run_code", "tools:code-only=only run_code|tools:sdk=B a z"},
			{registry.Both, "B a run_code z", "tools:sdk=B a z"},
		} {
			r := newRegistry(t, registry.Options{Mode: row.mode, Transport: fakeTransport{}})
			register(t, r, tool("z", nil), tool("a", nil), tool("B", nil))
			var first string
			for range 2 {
				p, err := r.Present(nil)
				if err != nil {
					t.Fatal(err)
				}
				var parts []string
				for _, s := range p.Sections {
					parts = append(parts, s.Name+"="+s.Text)
				}
				if got := strings.Join(parts, "|"); schemaNames(p.Tools) != row.wire || got != row.parts || p.Mode != row.mode {
					t.Errorf("%s: wire %q, sections %q", row.mode, schemaNames(p.Tools), got)
				}
				text := jsonval.MustOf(p).String()
				if first != "" && first != text {
					t.Error("a second assembly differs")
				}
				first = text
			}
		}
	})
	t.Run("PRESENT-4 the section is what the calling scope can see, and nothing for a native agent", func(t *testing.T) {
		r := newRegistry(t, registry.Options{Mode: registry.Code, Transport: fakeTransport{}})
		register(t, r, tool("a", nil), tool("b", nil))
		s, n := scope(t, r, "s", nil), scope(t, r, "n", nil)
		register(t, s, tool("own", nil))
		must(s.Restrict(registry.Restriction{Deny: []string{"a"}}))
		must(n.PresentAs(registry.Native))
		if p := must(r.Present("s")); p.Sections[1].Text != "b own" {
			t.Errorf("sections %v", p.Sections)
		}
		if p := must(r.Present("n")); len(p.Sections) != 0 || schemaNames(p.Tools) != "a b" {
			t.Errorf("presented %v", p)
		}
	})
	t.Run("PRESENT-6 the collapse: direct calls only, before any policy, by the effective mode", func(t *testing.T) {
		s := traced(t, registry.Options{Mode: registry.Code, Transport: fakeTransport{}}, nil)
		direct := s.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantFailure(t, direct, `no tool named "t" can be called directly: call it from inside a run_code program`, "UNKNOWN_TOOL")
		if len(s.results) != 1 || s.count("pre") != 0 {
			t.Errorf("stages %v", s.stages)
		}
		wantValue(t, s.Execute(t.Context(), call{ID: "2", Name: "t", Parent: s.execs[0].Token()}), `"ok"`)
		wantFailure(t, s.Execute(t.Context(), call{ID: "3", Name: "t", Arguments: func() {}}), "arguments are not lossless JSON: a Go value of type func() at $", "")
		wantFailure(t, s.Execute(t.Context(), call{ID: "4", Name: "nope"}), `no tool named "nope"`, "UNKNOWN_TOOL")
		if s.count("pre") != 2 {
			t.Error("an invisible name did not take the ordinary path")
		}
		must(scope(t, s.Registry, "n", nil).PresentAs(registry.Native))
		wantValue(t, s.Execute(t.Context(), call{ID: "5", Name: "t", Agent: "n"}), `"ok"`)
	})
	t.Run("PRESENT-7 without a runtime the assembly and run_code fail; everything else works", func(t *testing.T) {
		broken := errors.New(`mode "code" needs a code runtime`)
		r := newRegistry(t, registry.Options{Mode: registry.Code, Transport: fakeTransport{sectionsErr: broken, execute: fails(broken)}})
		register(t, r, tool("a", nil))
		_, err := r.Present(nil)
		wantError(t, err, broken.Error())
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "run_code"}), broken.Error(), "")
		must(scope(t, r, "n", nil).PresentAs(registry.Native))
		wantValue(t, r.Execute(t.Context(), call{ID: "2", Name: "a", Agent: "n"}), `"done"`)
		if p := must(r.Present("n")); schemaNames(p.Tools) != "a" {
			t.Errorf("presented %v", p)
		}
		nameless := errors.New("unknown language")
		r = newRegistry(t, registry.Options{Mode: registry.Both, Transport: fakeTransport{definitionErr: nameless}})
		register(t, r, tool("a", nil))
		_, err = r.Present(nil)
		wantError(t, err, "unknown language")
		wantFailure(t, r.Execute(t.Context(), call{ID: "3", Name: "run_code"}), "unknown language", "")
		if got := schemaNames(r.Schemas(nil)); got != "a" {
			t.Errorf("schemas %q", got)
		}
		r = newRegistry(t, registry.Options{Mode: registry.Both, Transport: panickingTransport{}})
		_, err = r.Present(nil)
		wantError(t, err, "transport broke")
	})
	t.Run("PRESENT-8 run_code is reserved in every mode and form", func(t *testing.T) {
		for _, mode := range []registry.Mode{registry.Native, registry.Code, registry.Both} {
			r := newRegistry(t, registry.Options{Mode: mode, Transport: fakeTransport{}})
			s := scope(t, r, "a", nil)
			_, err := r.Register(tool("run_code", nil))
			wantError(t, err, "reserved")
			_, err = s.Register(tool("run_code", nil))
			wantError(t, err, "reserved")
			wantError(t, r.Group().Replace([]registry.Definition{tool("run_code", nil)}), "reserved")
			_, err = s.Restrict(registry.Restriction{Deny: []string{"run_code"}})
			wantError(t, err, "reserved")
			_, err = s.Restrict(registry.Restriction{Allow: []string{"run_code"}})
			wantError(t, err, "reserved")
		}
	})
	t.Run("PRESENT-9 run_code exists only where a code mode applies, and is never among the tools", func(t *testing.T) {
		r := newRegistry(t, registry.Options{Transport: fakeTransport{}})
		must(scope(t, r, "coder", nil).PresentAs(registry.Both))
		if _, ok := r.Get("run_code", nil); ok {
			t.Error("a native view has it")
		}
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "run_code"}), `no tool named "run_code"`, "UNKNOWN_TOOL")
		d, ok := r.Get("run_code", "coder")
		if !ok || d.Name != "run_code" || names(r.Visible("coder")) != "" {
			t.Errorf("got %v %q", ok, names(r.Visible("coder")))
		}
		wantValue(t, r.Execute(t.Context(), call{ID: "2", Name: "run_code", Agent: "coder"}), `"done"`)
	})
	t.Run("PRESENT-10 a configured order comes first; a name that cannot be on the wire fails the assembly", func(t *testing.T) {
		r := newRegistry(t, registry.Options{ToolOrder: []string{"z", "b"}, Transport: fakeTransport{}})
		register(t, r, tool("a", nil), tool("b", nil), tool("z", nil))
		if p := must(r.Present(nil)); schemaNames(p.Tools) != "z b a" {
			t.Errorf("wire %q", schemaNames(p.Tools))
		}
		s := scope(t, r, "s", nil)
		must(s.Restrict(registry.Restriction{Deny: []string{"z"}})) // only restricted away: still a legal name
		if p := must(r.Present("s")); schemaNames(p.Tools) != "b a" {
			t.Errorf("wire %q", schemaNames(p.Tools))
		}
		must(s.PresentAs(registry.Code))
		_, err := r.Present("s")
		wantError(t, err, `the tool order names "z", which is not on the wire in mode "code"`)
		r = newRegistry(t, registry.Options{ToolOrder: []string{"run_code"}, Mode: registry.Code, Transport: fakeTransport{}})
		if p := must(r.Present(nil)); schemaNames(p.Tools) != "run_code" {
			t.Errorf("wire %q", schemaNames(p.Tools))
		}
	})
}

type panickingTransport struct{ fakeTransport }

func (panickingTransport) Definition(*registry.Registry) (registry.Definition, error) {
	panic("transport broke")
}
