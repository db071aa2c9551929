package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/policy"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// watch is a registry with a reminder and the tools "probe" and "other".
type watch struct {
	*registry.Registry
	t        *testing.T
	reminder *policy.Reminder
}

func newWatch(t *testing.T, o policy.RepeatOptions) *watch {
	t.Helper()
	w := &watch{Registry: newRegistry(t, registry.Options{}), t: t}
	register(t, w, tool("probe", 0, nil), tool("other", 0, nil))
	var err error
	if w.reminder, err = policy.RepeatReminder(w.Registry, o); err != nil {
		t.Fatal(err)
	}
	return w
}

// text is a JSON text that is passed as arguments.
type text = json.RawMessage

// call runs a call and returns the text of its reminder, "" if there is none.
func (w *watch) call(agent any, name string, args any) string {
	w.t.Helper()
	r := w.Execute(w.t.Context(), call{ID: "1", Name: name, Agent: agent, Arguments: args})
	return reminders(r)
}

func reminders(r result) string {
	var out []string
	for _, c := range r.Contexts() {
		if p, _ := c.Source.Get("plugin"); p.Str() == "repeat-tool-reminder" {
			out = append(out, c.Content[0].Text())
		}
	}
	return strings.Join(out, "\n---\n")
}

// reminded makes n equal calls and returns at which counts there was a reminder.
func (w *watch) reminded(agent any, name string, args any, n int) string {
	w.t.Helper()
	var at []string
	for i := range n {
		if w.call(agent, name, args) != "" {
			at = append(at, fmt.Sprint(i+1))
		}
	}
	return strings.Join(at, " ")
}

func (w *watch) want(what, got, expected string) {
	w.t.Helper()
	if got != expected {
		w.t.Errorf("%s: %q, want %q", what, got, expected)
	}
}

func TestRepeatConfiguration(t *testing.T) {
	for _, row := range []struct {
		rule string
		o    policy.RepeatOptions
		want string
	}{
		{"REPEAT-2 an empty list is not left out", policy.RepeatOptions{Thresholds: []int{}}, "thresholds is an empty list"},
		{"REPEAT-2 below two", policy.RepeatOptions{Thresholds: []int{3, 1}}, "thresholds holds 1"},
		{"REPEAT-2 negative", policy.RepeatOptions{Thresholds: []int{-4}}, "thresholds holds -4"},
		{"REPEAT-2 twice", policy.RepeatOptions{Thresholds: []int{5, 3, 5}}, "thresholds holds 5 twice"},
		{"REPEAT-3 below one", policy.RepeatOptions{ArgumentsPreviewChars: -1}, "argumentsPreviewChars must be at least 1, not -1"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			r := newRegistry(t, registry.Options{})
			if _, err := policy.RepeatReminder(r, row.o); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("REPEAT-1 REPEAT-19 the defaults: reminders at 3, 5 and 8, none between or beyond", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{})
		w.want("reminded", w.reminded("a", "probe", text(`{"x":1}`), 13), "3 5 8")
	})
	t.Run("REPEAT-2 REPEAT-20 REPEAT-21 unsorted thresholds: short at the smallest, detailed at the others", func(t *testing.T) {
		thresholds := []int{4, 2}
		w := newWatch(t, policy.RepeatOptions{Thresholds: thresholds})
		thresholds[0] = 9
		var at [5]string
		for i := range at {
			at[i] = w.call("a", "probe", text(`{"x":1}`))
		}
		if at[0] != "" || at[2] != "" || at[4] != "" || at[1] == "" || at[3] == "" {
			t.Fatalf("reminders %q", at)
		}
		for _, secret := range []string{"probe", `"x"`, "{"} {
			if strings.Contains(at[1], secret) {
				t.Errorf("the short form says %q: %s", secret, at[1])
			}
		}
		for _, fact := range []string{"same tool call", "same arguments", "last result", "another approach or other arguments", "not finished"} {
			if !strings.Contains(at[1], fact) {
				t.Errorf("the short form lacks %q: %s", fact, at[1])
			}
		}
		for _, fact := range []string{"\n- tool: probe\n", "\n- consecutive_calls: 4\n", "\n- arguments: {\"x\":1}\n", "without making progress", "Do not repeat this call with these arguments", "latest result", "finish"} {
			if !strings.Contains(at[3], fact) {
				t.Errorf("the detailed form lacks %q: %s", fact, at[3])
			}
		}
	})
	t.Run("REPEAT-4 REPEAT-5 patterns", func(t *testing.T) {
		for _, row := range []struct {
			pattern, name string
			want          bool
		}{
			{"probe", "probe", true}, {"prob", "probe", false}, {"PROBE", "probe", false}, {"*", "", true}, {"*", "any", true}, {"mcp__*", "mcp__x", true},
			{"mcp__*", "mcp_x", false}, {"*be", "probe", true}, {"p*b*e", "probe", true}, {"p*e*b", "probe", false}, {"a*a", "a", false}, {"a*a", "aa", true},
			{"pr.be", "probe", false}, {"[a]+", "[a]+", true}, {"a**b", "ab", true}, {"*x*", "axb", true}, {"*x*", "ab", false}, {"", "", true}, {"", "a", false},
			{"a*bc*c", "abcc", true}, {"a*bc*c", "abc", false},
		} {
			if got := policy.MatchName(row.pattern, row.name); got != row.want {
				t.Errorf("%q on %q: %v", row.pattern, row.name, got)
			}
		}
		for _, row := range []struct {
			o    policy.RepeatOptions
			want string
		}{
			{policy.RepeatOptions{Include: []string{"pro*"}}, "3"}, {policy.RepeatOptions{Include: []string{"x", "y*"}}, ""},
			{policy.RepeatOptions{Exclude: []string{"probe"}}, ""}, {policy.RepeatOptions{Include: []string{"*"}, Exclude: []string{"*be"}}, ""},
			{policy.RepeatOptions{Include: []string{"pr.be"}}, ""}, {policy.RepeatOptions{Include: []string{}}, "3"},
		} {
			w := newWatch(t, row.o)
			w.want(fmt.Sprint(row.o), w.reminded("a", "probe", text(`1`), 4), row.want)
		}
	})
}

func TestRepeatChain(t *testing.T) {
	t.Run("REPEAT-6 REPEAT-7 REPEAT-8 what counts as the same call", func(t *testing.T) {
		for _, row := range []struct {
			name string
			a, b any
			same bool
		}{
			{"member order at depth", text(`{"a":{"x":1,"y":[{"p":1,"q":2}]},"b":2}`), text(`{"b":2,"a":{"y":[{"q":2,"p":1}],"x":1}}`), true},
			{"number spelling", text(`{"n":1}`), text(`{"n":1.0e0}`), true},
			{"array order", text(`[1,2]`), text(`[2,1]`), false},
			{"string case", text(`{"s":"A"}`), text(`{"s":"a"}`), false},
			{"white space in strings", text(`{"s":"a b"}`), text(`{"s":"a  b"}`), false},
			{"null and missing", text(`{"a":null}`), text(`{}`), false},
			{"a plain string", "{oops", "{oops", true},
			{"a string and the value it spells", "5", text(`5`), false},
			{"white space between tokens", text(`{ "a" : 1 }`), text(`{"a":1}`), true},
		} {
			w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2}})
			w.call("a", "probe", row.a)
			if got := w.call("a", "probe", row.b) != ""; got != row.same {
				t.Errorf("%s: same is %v", row.name, got)
			}
		}
		w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2}})
		w.call("a", "probe", text(`1`))
		w.want("another tool", w.call("a", "other", text(`1`)), "")
		w.want("the first again", w.call("a", "probe", text(`1`)), "")
		if w.call("a", "probe", text(`1`)) == "" {
			t.Error("a new chain does not count")
		}
	})
	t.Run("REPEAT-9 REPEAT-22 the preview is cut, the comparison is not", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2, 3}, ArgumentsPreviewChars: 24})
		long := strings.Repeat("x", 411-len(`{"k":""}`))
		w.call("a", "probe", map[string]any{"k": long})
		w.call("a", "probe", map[string]any{"k": long})
		got := w.call("a", "probe", map[string]any{"k": long})
		if want := "- arguments: " + (`{"k":"` + long)[:24] + "… (+387 more chars)\n"; !strings.Contains(got, want) {
			t.Errorf("the reminder lacks %q: %s", want, got)
		}
		w.want("a difference behind the cap", w.call("a", "probe", map[string]any{"k": long[1:] + "y"}), "")
		for _, row := range []struct {
			limit int
			arg   string
			want  string
		}{{3, "äöü", "äöü\n"}, {2, "äöü", "äö… (+1 more chars)\n"}, {1, "😀😀", "😀… (+1 more chars)\n"}, {5, "", "\n"}} {
			w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2, 3}, ArgumentsPreviewChars: row.limit})
			w.call("a", "probe", row.arg)
			w.call("a", "probe", row.arg)
			if got := w.call("a", "probe", row.arg); !strings.Contains(got, "- arguments: "+row.want) {
				t.Errorf("REPEAT-22: %d of %q: %s", row.limit, row.arg, got)
			}
		}
	})
	t.Run("REPEAT-10 untracked calls neither lengthen nor reset", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2}, Exclude: []string{"other"}})
		w.call("a", "probe", 1)
		w.want("excluded", w.call("a", "other", 1), "")
		if w.call("a", "probe", 1) == "" {
			t.Error("the excluded call reset the chain")
		}
	})
	t.Run("REPEAT-11 the chain advances whatever later listeners decide", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2, 3}})
		fail := true
		w.OnPostExecute(func(_ context.Context, _ exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			if fail {
				return registry.Accept(), errors.New("raised")
			}
			return next()
		})
		w.want("lost", w.reminded("a", "probe", 1, 2), "")
		fail = false
		if w.call("a", "probe", 1) == "" {
			t.Error("the failing calls did not count")
		}
	})
	t.Run("REPEAT-12 every call that reaches post-execute counts, the others neither count nor reset", func(t *testing.T) {
		two := policy.RepeatOptions{Thresholds: []int{2}}
		counted := map[string]func(w *watch) string{
			"denied": func(w *watch) string {
				w.OnPreExecute(func(context.Context, exec, func() (registry.PreDecision, error)) (registry.PreDecision, error) {
					return registry.Deny("no"), nil
				})
				return "probe"
			},
			"denied by a guard": func(w *watch) string { w.Guard(func(exec) (string, bool) { return "no", true }); return "probe" },
			"an approval refused": func(w *watch) string {
				w.OnPreExecute(func(context.Context, exec, func() (registry.PreDecision, error)) (registry.PreDecision, error) {
					return registry.Ask(""), nil
				})
				return "probe"
			},
			"unknown": func(w *watch) string { return "nope" },
			"failing": func(w *watch) string {
				register(w.t, w, tool("fails", 0, func(context.Context, jsonval.Value, *registry.Run) (any, error) { return nil, errors.New("x") }))
				return "fails"
			},
			"timed out": func(w *watch) string {
				register(w.t, w, tool("slow", 1, func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) { <-ctx.Done(); return 1, nil }))
				policy.Timeout(w.Registry)
				return "slow"
			},
		}
		for name, setup := range counted {
			w := newWatch(t, two)
			w.want(name, w.reminded("a", setup(w), 1, 2), "2")
		}
		transparent := map[string]func(w *watch){
			"unreadable arguments": func(w *watch) { w.call("a", "probe", math.NaN()) },
			"cancelled before entry": func(w *watch) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				w.Execute(ctx, call{ID: "1", Name: "other", Agent: "a"})
			},
			"a pre-execute listener raised": func(w *watch) {
				remove := w.OnPreExecute(func(context.Context, exec, func() (registry.PreDecision, error)) (registry.PreDecision, error) {
					return registry.Allow(), errors.New("x")
				})
				w.call("a", "other", 1)
				remove()
			},
			"a guard raised": func(w *watch) {
				remove := w.Guard(func(exec) (string, bool) { panic("x") })
				w.call("a", "other", 1)
				remove()
			},
			"a wrapper raised": func(w *watch) {
				remove := w.OnExecute(func(context.Context, exec, func(context.Context) (result, error)) (result, error) {
					return result{}, errors.New("x")
				})
				w.call("a", "other", 1)
				remove()
			},
		}
		for name, between := range transparent {
			w := newWatch(t, two)
			w.call("a", "probe", 1)
			between(w)
			if w.call("a", "probe", 1) == "" {
				t.Errorf("%s reset the chain", name)
			}
		}
	})
	t.Run("REPEAT-13 REPEAT-14 calls without an agent are ignored; chains are separate", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2}})
		w.want("no agent", w.reminded(nil, "probe", 1, 5), "")
		w.call("a", "probe", 1)
		w.call("b", "probe", 1)
		w.call(nil, "other", 1)
		if w.call("a", "probe", 1) == "" || w.call("b", "probe", 1) == "" {
			t.Error("agents disturb each other")
		}
	})
	t.Run("REPEAT-15 the user's words reset, nothing else does", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2}})
		w.call("a", "probe", 1)
		w.call("b", "probe", 1)
		w.reminder.BeginStep("a", policy.Injected, policy.FromUser)
		w.reminder.BeginStep("b", policy.Injected, policy.FromTool)
		w.reminder.BeginStep("b")
		w.want("after the user spoke", w.call("a", "probe", 1), "")
		if w.call("b", "probe", 1) == "" {
			t.Error("an injected message reset the chain")
		}
	})
	t.Run("REPEAT-16 GUARDS-5 chains live in memory only: a new agent under an old name and a reinstalled plugin start empty", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2}})
		s := scope(t, w.Registry, "a")
		w.call("a", "probe", 1)
		s.Dispose()
		w.want("a new agent", w.call("a", "probe", 1), "")
		w.reminder.Dispose()
		w.reminder.Dispose()
		w.want("without the plugin", w.reminded("a", "probe", 1, 5), "")
		var err error
		if w.reminder, err = policy.RepeatReminder(w.Registry, policy.RepeatOptions{Thresholds: []int{2}}); err != nil {
			t.Fatal(err)
		}
		w.want("reinstalled", w.reminded("a", "probe", 1, 2), "2")
	})
	t.Run("REPEAT-17 a chain does not keep its agent alive, and dropped agents do not pile up", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{})
		type agent struct{ _ [1 << 10]byte }
		collected := make(chan struct{})
		func() {
			a := new(agent)
			runtime.AddCleanup(a, func(struct{}) { close(collected) }, struct{}{})
			w.call(a, "probe", 1)
		}()
		for gone := false; !gone; {
			runtime.GC()
			select {
			case <-collected:
				gone = true
			default:
			}
		}
		for range 20 {
			for range 500 {
				w.call(new(agent), "probe", 1)
			}
			runtime.GC()
		}
		for i := range 10_000 {
			w.call(fmt.Sprint("named", i), "probe", 1)
		}
		if weak, named := w.reminder.Chains(); weak > 2_000 || named > 4_096 {
			t.Errorf("%d chains of dropped agents, %d of named ones", weak, named)
		}
		var unit struct{}
		w.want("an agent that is no heap pointer", w.reminded(&unit, "probe", 1, 3), "3")
	})
	t.Run("REPEAT-18 nested calls count like direct ones, in commit order, and their reminders can be ferried", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2}})
		register(t, w, tool("outer", 0, func(ctx context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			for range 2 {
				x := run.Execution()
				sub := w.Execute(ctx, call{ID: "s", Name: "probe", Agent: x.Agent(), Parent: x.Token(), RootID: x.RootID()})
				for _, c := range sub.Contexts() {
					run.DeferContext(c)
				}
			}
			return nil, nil
		}))
		if w.call("a", "outer", 1) == "" {
			t.Error("no reminder reached the outer result")
		}
		w.want("the outer call reset the chain", w.call("a", "probe", nil), "")
	})
}

func TestReminder(t *testing.T) {
	t.Run("REPEAT-23 one text block and a source that names the plugin", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2}})
		w.call("a", "probe", 1)
		r := w.Execute(t.Context(), call{ID: "1", Name: "probe", Agent: "a", Arguments: 1})
		c := r.Contexts()
		if len(c) != 1 || len(c[0].Content) != 1 || c[0].Content[0].Type() != "text" ||
			c[0].Source.String() != `{"kind":"plugin","plugin":"repeat-tool-reminder","form":"notice","summary":"probe × 2"}` {
			t.Errorf("got %v", c[0].JSON())
		}
	})
	t.Run("REPEAT-24 REPEAT-25 REPEAT-26 REPEAT-27 the decision passes unchanged, with the reminder in front", func(t *testing.T) {
		inner := registry.Context{ID: "inner", Content: []registry.Block{registry.Text("i")}, Source: registry.PluginSource("p"), Meta: jsonval.MustOf(1)}
		for name, row := range map[string]struct {
			decision registry.PostDecision
			want     string
			content  string
		}{
			"accept":         {registry.Accept(), `ok "done"`, `"done"`},
			"content":        {registry.Accept().WithContent(registry.Text("shown")), `ok "done"`, "shown"},
			"value":          {registry.Accept().WithValue(5), "ok 5", "5"},
			"block":          {registry.Blocked(registry.Text("stop")), "stop", "stop"},
			"an invalid one": {registry.PostDecision{}, "invalid post-execute decision", "Error: invalid post-execute decision"},
		} {
			w := newWatch(t, policy.RepeatOptions{Thresholds: []int{2}})
			w.OnPostExecute(func(context.Context, exec, result, func() (registry.PostDecision, error)) (registry.PostDecision, error) {
				return row.decision.AppendContexts(inner), nil
			})
			w.call("a", "probe", 1)
			r := w.Execute(t.Context(), call{ID: "2", Name: "probe", Agent: "a", Arguments: 1})
			want(t, r, row.want)
			if r.Text() != row.content {
				t.Errorf("%s: content %q", name, r.Text())
			}
			c := r.Contexts()
			if name == "an invalid one" {
				continue
			}
			if len(c) != 2 || reminders(r) == "" || c[1].JSON().String() != inner.JSON().String() {
				t.Errorf("%s: contexts %v", name, c)
			}
		}
	})
	t.Run("REPEAT-28 below the first threshold nothing is added", func(t *testing.T) {
		w := newWatch(t, policy.RepeatOptions{})
		for range 2 {
			r := w.Execute(t.Context(), call{ID: "1", Name: "probe", Agent: "a"})
			if r.JSON().String() != `{"isError":false,"value":"done","content":[{"type":"text","text":"\"done\""}]}` {
				t.Errorf("got %s", r.JSON())
			}
		}
	})
}
