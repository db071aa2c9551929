package registry_test

// Post-execute, the finalizer, observers, contexts and the end of a turn.

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestPostExecute(t *testing.T) {
	run := func(t *testing.T, d registry.PostDecision, b body) result {
		t.Helper()
		s := traced(t, registry.Options{}, b)
		s.OnPostExecute(reviews(d, nil))
		return s.Execute(t.Context(), call{ID: "1", Name: "t"})
	}
	image := registry.Image(registry.ImageRef{Attachment: "a1", MediaType: "image/png", Bytes: 3})
	t.Run("POST-1 it sees the dispatch result, denials included", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		var seen result
		s.OnPostExecute(func(_ context.Context, _ exec, r result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			seen = r
			return next()
		})
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, seen, `"ok"`)
		if notes(seen) != "body" {
			t.Errorf("contexts %q", notes(seen))
		}
		s.Guard(func(exec) (string, bool) { return "no", true })
		s.Execute(t.Context(), call{ID: "2", Name: "t"})
		wantFailure(t, seen, "no", "")
	})
	t.Run("POST-2 POST-3 OUT-7 content replacement keeps value and metadata", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", returns(1))
		d.Output.PresentationMeta = func(_, v jsonval.Value) (any, error) { return v, nil }
		register(t, r, d)
		r.OnPostExecute(reviews(registry.Accept().WithContent(registry.Text("hidden")), nil))
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, out, "1")
		if out.Text() != "hidden" || out.Meta().String() != "1" {
			t.Errorf("content %q meta %s", out.Text(), out.Meta())
		}
		failed := run(t, registry.Accept().WithContent(registry.Text("calm")), fails(registry.Coded("E", "C", "loud")))
		wantFailure(t, failed, "loud", "C")
		if failed.Text() != "calm" {
			t.Errorf("content %q", failed.Text())
		}
	})
	t.Run("POST-4 a value and content together fail the call", func(t *testing.T) {
		wantFailure(t, run(t, registry.Accept().WithValue(1).WithContent(), nil), "post-execute decision sets both value and content", "")
	})
	t.Run("POST-5 a value replaces, null included; content and metadata follow", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", returns("old"))
		d.Output.PresentationMeta = func(_, v jsonval.Value) (any, error) { return []any{v}, nil }
		register(t, r, d)
		r.OnPostExecute(reviews(registry.Accept().WithValue(nil).AppendContexts(note("post")), nil))
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, out, "null")
		if out.Text() != "null" || out.Meta().String() != "[null]" || notes(out) != "post" {
			t.Errorf("got %s", out.JSON())
		}
	})
	t.Run("POST-5 a value on a failed call fails it; a vanished tool is unknown", func(t *testing.T) {
		wantFailure(t, run(t, registry.Accept().WithValue(1), fails(errors.New("x"))), "post-execute cannot set a value on a failed call", "")
		r := newRegistry(t)
		remove, err := r.Register(tool("t", nil))
		if err != nil {
			t.Fatal(err)
		}
		r.OnPostExecute(func(context.Context, exec, result, func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			remove()
			return registry.Accept().WithValue(1), nil
		})
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), `no tool named "t"`, "UNKNOWN_TOOL")
	})
	t.Run("POST-6 a block's message is the text of its feedback", func(t *testing.T) {
		for _, row := range []struct {
			feedback []registry.Block
			want     string
		}{
			{[]registry.Block{registry.Text("a"), registry.Text("b")}, "a\nb"},
			{[]registry.Block{registry.Text("see"), image, registry.Reasoning("secret")}, "see\n[image block]\n[reasoning block]"},
			{nil, "result blocked by policy"},
			{[]registry.Block{registry.Text("")}, "result blocked by policy"},
		} {
			r := run(t, registry.Blocked(row.feedback...), nil)
			wantFailure(t, r, row.want, "")
			if len(r.Content()) != len(row.feedback) || r.Meta().Exists() {
				t.Errorf("content %v", r.Content())
			}
		}
	})
	t.Run("POST-7 CTX-2 contexts: the body's, the wrapper's, the decision's; a block drops the first two", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			r, err := next(ctx)
			return r.WithContexts(note("wrapper")), err
		})
		block := false
		s.OnPostExecute(func(context.Context, exec, result, func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			d := registry.Accept()
			if block {
				d = registry.Blocked()
			}
			return d.AppendContexts(note("post")).PrependContexts(note("front")), nil
		})
		if got := notes(s.Execute(t.Context(), call{ID: "1", Name: "t"})); got != "body wrapper front post" {
			t.Errorf("contexts %q", got)
		}
		block = true
		if got := notes(s.Execute(t.Context(), call{ID: "2", Name: "t"})); got != "front post" {
			t.Errorf("contexts %q after a block", got)
		}
	})
	t.Run("POST-9 it runs once, also when it fails", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnPostExecute(reviews(registry.Accept(), errors.New("x")))
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		if s.count("post") != 1 {
			t.Errorf("ran %d times", s.count("post"))
		}
	})
}

func TestFinalizer(t *testing.T) {
	finalizing := func(t *testing.T, b body, f func(exec, result) ([]registry.Block, bool)) (*registry.Registry, *int) {
		t.Helper()
		n := 0
		r := newRegistry(t)
		d := tool("t", b)
		d.Finalize = func(x exec, r result) ([]registry.Block, bool) { n++; return f(x, r) }
		register(t, r, d)
		return r, &n
	}
	t.Run("FINAL-1 the finalizer of the definition that was visible at the start is used", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", nil)
		d.Finalize = func(exec, result) ([]registry.Block, bool) { return []registry.Block{registry.Text("old")}, true }
		remove, err := r.Register(d)
		if err != nil {
			t.Fatal(err)
		}
		r.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			remove()
			d.Finalize = func(exec, result) ([]registry.Block, bool) { return []registry.Block{registry.Text("new")}, true }
			register(t, r, d)
			return next()
		})
		if got := r.Execute(t.Context(), call{ID: "1", Name: "t"}).Text(); got != "old" {
			t.Errorf("content %q", got)
		}
	})
	t.Run("EXEC-6 it is captured before the arguments are read", func(t *testing.T) {
		r := newRegistry(t)
		d := tool("t", nil)
		d.Finalize = func(exec, result) ([]registry.Block, bool) { return []registry.Block{registry.Text("seen")}, true }
		remove, err := r.Register(d)
		if err != nil {
			t.Fatal(err)
		}
		out := r.Execute(t.Context(), call{ID: "1", Name: "t", Arguments: reader(remove)})
		wantFailure(t, out, `no tool named "t"`, "UNKNOWN_TOOL")
		if out.Text() != "seen" {
			t.Errorf("content %q", out.Text())
		}
	})
	t.Run("FINAL-4 it replaces the content of successes and failures and nothing else", func(t *testing.T) {
		replace := func(x exec, r result) ([]registry.Block, bool) {
			return []registry.Block{registry.Text("final " + r.Text())}, true
		}
		r, _ := finalizing(t, returns(1), replace)
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantValue(t, out, "1")
		if out.Text() != "final 1" {
			t.Errorf("content %q", out.Text())
		}
		r, _ = finalizing(t, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(note("kept"))
			return nil, registry.Coded("E", "C", "x")
		}, replace)
		out = r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantFailure(t, out, "x", "C")
		if out.Text() != "final Error: x" || notes(out) != "kept" {
			t.Errorf("content %q contexts %q", out.Text(), notes(out))
		}
	})
	t.Run("FINAL-5 CTX-4 one that raises fails the call, once, and drops everything else", func(t *testing.T) {
		r, n := finalizing(t, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(note("lost"))
			return nil, errors.New("earlier")
		}, func(exec, result) ([]registry.Block, bool) { panic(registry.Coded("E", "FIN", "finalizer")) })
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		wantFailure(t, out, "finalizer", "FIN")
		if *n != 1 || notes(out) != "" || out.Text() != "Error: finalizer" {
			t.Errorf("called %d times, contexts %q, content %q", *n, notes(out), out.Text())
		}
	})
	t.Run("FINAL-5 lossy content fails the call", func(t *testing.T) {
		r, n := finalizing(t, nil, func(exec, result) ([]registry.Block, bool) { return []registry.Block{{}}, true })
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "tool result is not lossless JSON", "")
		if *n != 1 {
			t.Errorf("called %d times", *n)
		}
	})
	t.Run("FINAL-3 lossy content or contexts become an ordinary failure, which the finalizer sees", func(t *testing.T) {
		for _, d := range []registry.PostDecision{
			registry.Accept().WithContent(registry.Block{}),
			registry.Accept().AppendContexts(registry.Context{Content: []registry.Block{{}}}),
			registry.Blocked(registry.Block{}),
		} {
			var seen result
			r, _ := finalizing(t, nil, func(_ exec, r result) ([]registry.Block, bool) { seen = r; return nil, false })
			r.OnPostExecute(reviews(d, nil))
			out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
			wantFailure(t, out, "tool result is not lossless JSON", "")
			wantFailure(t, seen, "tool result is not lossless JSON", "")
		}
	})
	t.Run("FINAL-6 what is published is what is returned", func(t *testing.T) {
		r, _ := finalizing(t, nil, func(exec, result) ([]registry.Block, bool) { return []registry.Block{}, true })
		var seen result
		r.OnResult(func(_ exec, r result) { seen = r })
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		if len(out.Content()) != 0 || !same(out, seen) {
			t.Errorf("OUT-9: content %v, observed %s", out.Content(), seen.JSON())
		}
	})
}

// reader runs when it is read as JSON.
type reader func()

func (r reader) MarshalJSON() ([]byte, error) { r(); return []byte("1"), nil }

func TestObservers(t *testing.T) {
	t.Run("NOTIFY-1 in registration order, filtered by scope, once a call", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("t", nil))
		s := scope(t, r, "a", nil)
		var log []string
		s.OnResult(func(exec, result) { log = append(log, "scoped") })
		r.OnResult(func(exec, result) { log = append(log, "global") })
		r.Execute(t.Context(), call{ID: "1", Name: "t", Agent: "a"})
		r.Execute(t.Context(), call{ID: "2", Name: "t"})
		if got := strings.Join(log, " "); got != "scoped global global" {
			t.Errorf("observed %q", got)
		}
	})
	t.Run("NOTIFY-2 one that panics is logged, and neither the others nor the caller notice", func(t *testing.T) {
		var log bytes.Buffer
		r := newRegistry(t, registry.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		register(t, r, tool("t", nil))
		seen := 0
		r.OnResult(func(exec, result) { panic("observer broke") })
		r.OnResult(func(exec, result) { seen++ })
		wantValue(t, r.Execute(t.Context(), call{ID: "c7", Name: "t"}), `"done"`)
		if seen != 1 {
			t.Error("the other observer did not run")
		}
		for _, part := range []string{"level=WARN", "tool=t", "call=c7", "observer broke"} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the log lacks %q: %s", part, log.String())
			}
		}
	})
	t.Run("JSON-9 EXEC-7 nothing that is handed out leads back into the result", func(t *testing.T) {
		r := newRegistry(t)
		content := []registry.Block{registry.Text("fine")}
		d := tool("t", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			c := note("n")
			run.DeferContext(c)
			c.Content[0] = registry.Text("changed")
			return nil, nil
		})
		d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) { return content, nil }
		d.Finalize = func(_ exec, r result) ([]registry.Block, bool) {
			r.Content()[0] = registry.Text("changed")
			return nil, false
		}
		register(t, r, d)
		r.OnResult(func(_ exec, r result) {
			content[0] = registry.Text("changed")
			r.Content()[0] = registry.Text("changed")
			c := r.Contexts()
			c[0].Content[0] = registry.Text("changed")
			c[0].ID = "changed"
		})
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		if out.Text() != "fine" || notes(out) != "n" || out.Contexts()[0].Content[0].Text() != "n" {
			t.Errorf("somebody changed the result: %s", out.JSON())
		}
		failed := registry.Fail(registry.Coded("N", "C", "m"))
		failed.Failure().Info.Code = "changed"
		if failed.Failure().Info.Code != "C" {
			t.Error("the failure was changed")
		}
	})
}

func TestContexts(t *testing.T) {
	t.Run("CTX-1 contexts keep identity, source and metadata and are never merged", func(t *testing.T) {
		c := registry.Context{ID: "x", Content: []registry.Block{registry.Text("same")}, Source: registry.PluginSource("p"), Meta: jsonval.MustOf(1)}
		s := traced(t, registry.Options{}, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(c)
			run.DeferContext(c)
			return nil, nil
		})
		got := s.Execute(t.Context(), call{ID: "1", Name: "t"}).Contexts()
		if len(got) != 3 || got[1].JSON().String() != `{"id":"x","content":[{"type":"text","text":"same"}],"source":{"kind":"plugin","plugin":"p"},"meta":1}` {
			t.Errorf("got %v", got)
		}
	})
	t.Run("CTX-3 CTX-5 a nested call injects nothing; its composite forwards what it wants", func(t *testing.T) {
		r := newRegistry(t)
		inner := tool("inner", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.DeferContext(note("inner"))
			run.ConcludeTurn()
			return nil, nil
		})
		outer := tool("outer", func(ctx context.Context, args jsonval.Value, run *registry.Run) (any, error) {
			x := run.Execution()
			sub := r.Execute(ctx, call{ID: "s", Name: "inner", RootID: x.RootID(), Parent: x.Token()})
			if args.Bool() {
				for _, c := range sub.Contexts() {
					run.DeferContext(c)
				}
				if sub.ConcludesTurn() {
					run.ConcludeTurn()
				}
			}
			return nil, nil
		})
		register(t, r, inner, outer)
		plain := r.Execute(t.Context(), call{ID: "1", Name: "outer", Arguments: false})
		forwarded := r.Execute(t.Context(), call{ID: "2", Name: "outer", Arguments: true})
		if notes(plain) != "" || plain.ConcludesTurn() || notes(forwarded) != "inner" || !forwarded.ConcludesTurn() {
			t.Errorf("TURN-2: plain %q %v, forwarded %q %v", notes(plain), plain.ConcludesTurn(), notes(forwarded), forwarded.ConcludesTurn())
		}
	})
	t.Run("TURN-1 TURN-2 the marker is on successes only, and idempotent", func(t *testing.T) {
		concluding := func(v any, err error) body {
			return func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
				run.ConcludeTurn()
				run.ConcludeTurn()
				return v, err
			}
		}
		for _, row := range []struct {
			name string
			body body
			post registry.PostDecision
			want bool
		}{
			{"success", concluding(1, nil), registry.Accept(), true},
			{"replaced value", concluding(1, nil), registry.Accept().WithValue(2), true},
			{"failure", concluding(nil, errors.New("x")), registry.Accept(), false},
			{"invalid output", concluding(math.NaN(), nil), registry.Accept(), false},
			{"block", concluding(1, nil), registry.Blocked(), false},
			{"none", returns(1), registry.Accept(), false},
		} {
			s := traced(t, registry.Options{}, row.body)
			s.OnPostExecute(reviews(row.post, nil))
			if got := s.Execute(t.Context(), call{ID: "1", Name: "t"}); got.ConcludesTurn() != row.want {
				t.Errorf("%s: concludes %v", row.name, got.ConcludesTurn())
			}
		}
	})
	t.Run("TURN-3 a wrapper can neither invent nor remove the marker", func(t *testing.T) {
		s := traced(t, registry.Options{}, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.ConcludeTurn()
			return 1, nil
		})
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			_, err := next(ctx)
			return registry.Success(2), err
		})
		if r := s.Execute(t.Context(), call{ID: "1", Name: "t"}); !r.ConcludesTurn() || r.Value().Float() != 2 {
			t.Errorf("got %s", r.JSON())
		}
	})
	t.Run("TURN-3 a mark of any attempt counts, whichever attempt's result comes back", func(t *testing.T) {
		attempt := 0
		s := traced(t, registry.Options{}, func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			if attempt++; attempt == 2 {
				run.ConcludeTurn()
			}
			return attempt, nil
		})
		s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
			first, err := next(ctx)
			if err == nil {
				_, err = next(ctx)
			}
			return first, err
		})
		if r := s.Execute(t.Context(), call{ID: "1", Name: "t"}); !r.ConcludesTurn() || r.Value().Float() != 1 {
			t.Errorf("got %s", r.JSON())
		}
	})
	t.Run("PIPE-4 the notification is no record: the registry appends nothing to a log", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		if slices.Contains(s.stages, "tool/result") || s.count("result") != 1 {
			t.Errorf("stages %v", s.stages)
		}
	})
}
