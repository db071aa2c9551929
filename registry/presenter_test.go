package registry_test

// Cards of registered tools.

import (
	"context"
	"fmt"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// titled returns a tool whose cards carry its own title, and counts how often they are asked for.
func titled(name, title string, asked *int) registry.Definition {
	d := tool(name, nil)
	d.Output.PresentationMeta = func(_, v jsonval.Value) (any, error) { return v, nil }
	d.PresentCall = func(args jsonval.Value) card.CallView {
		*asked++
		return card.GenericCall{Title: title, RawInput: args}
	}
	d.PresentResult = func(_ jsonval.Value, r card.PersistedResult) card.ResultView {
		*asked++
		return card.GenericResult{Title: title + fmt.Sprint(r.Meta.Exists()), Content: r.Content}
	}
	return d
}

func lookup(r *registry.Registry, agent registry.AgentKey, calls ...card.CallEvent) card.Lookup {
	return card.Lookup{
		Presenter: func(name string) (card.Presenter, bool) { return r.Presenter(name, agent) },
		Call: func(id string) (card.CallEvent, bool) {
			for _, c := range calls {
				if c.CallID == id {
					return c, true
				}
			}
			return card.CallEvent{}, false
		},
	}
}

func TestPresenters(t *testing.T) {
	view := func(r *registry.Registry, agent any, name string) string {
		v := card.ViewForEvent(card.CallEvent{CallID: "1", Name: name, Arguments: `{"a":1}`}, lookup(r, agent)).Call
		if v == nil {
			return "none"
		}
		title, _ := v.JSON().Get("title")
		return title.Str()
	}
	t.Run("CARD-6 CARD-39 presenters run neither in a call nor for the model, and nothing of them reaches it", func(t *testing.T) {
		asked := 0
		r := newRegistry(t)
		register(t, r, titled("t", "T", &asked))
		out := r.Execute(t.Context(), call{ID: "1", Name: "t"})
		p := must(r.Present(nil))
		r.Schemas(nil)
		if asked != 0 || jsonval.MustOf(p.Tools).String() != `[{"name":"t","description":"does t","parameters":{"type":"object"}}]` {
			t.Errorf("asked %d times, presented %v", asked, p.Tools)
		}
		wantValue(t, out, `"done"`)
	})
	t.Run("CARD-36 each agent has the cards of the definition that it sees; an unknown agent has the global view", func(t *testing.T) {
		var n int
		r := newRegistry(t)
		register(t, r, titled("t", "global", &n))
		a, b := scope(t, r, "a", nil), scope(t, r, "b", nil)
		register(t, a, titled("t", "a's", &n))
		register(t, b, titled("t", "b's", &n), titled("own", "own", &n))
		for _, row := range []struct {
			agent      any
			name, want string
		}{{nil, "t", "global"}, {"a", "t", "a's"}, {"b", "t", "b's"}, {"gone", "t", "global"}, {"a", "own", "none"}, {"b", "own", "own"}, {nil, "nope", "none"}} {
			if got := view(r, row.agent, row.name); got != row.want {
				t.Errorf("%v's %s is %q, want %q", row.agent, row.name, got, row.want)
			}
		}
		a.Dispose()
		if got := view(r, "a", "t"); got != "global" {
			t.Errorf("after disposal %q", got)
		}
	})
	t.Run("CARD-7 CARD-11 CARD-40 a result is presented from what is logged; a nested one has no metadata", func(t *testing.T) {
		var n int
		r := newRegistry(t)
		register(t, r, titled("t", "T", &n))
		r.OnPostExecute(reviews(registry.Accept().WithContent(registry.Text("final")), nil))
		event := card.CallEvent{CallID: "1", Name: "t", Arguments: "null"}
		for _, parent := range []*registry.Token{nil, {}} {
			out := r.Execute(t.Context(), call{ID: "1", Name: "t", Parent: parent})
			// What a log keeps of it, written and read back.
			logged := parse(t, jsonval.MustOf(registry.ResultRecord{Content: out.Content(), Meta: out.Meta()}).String())
			meta, _ := logged.Get("meta")
			content, _ := logged.Get("content")
			p := card.PersistedResult{Meta: meta}
			for _, b := range content.Items() {
				p.Content = append(p.Content, b)
			}
			for _, persisted := range []card.PersistedResult{registry.CardResult(out), p} {
				v := card.ViewForEvent(card.ResultEvent{CallID: "1", Result: persisted}, lookup(r, nil, event))
				want := fmt.Sprintf(`{"card":"generic","title":"T%v","content":[{"type":"text","text":"final"}]}`, parent == nil)
				if v.Result == nil || v.Result.JSON().String() != want {
					t.Errorf("got %v, want %s", v.Result, want)
				}
			}
		}
	})
	t.Run("CARD-49 run_code presents its calls where a code mode applies", func(t *testing.T) {
		r := newRegistry(t, registry.Options{Transport: cardTransport{}})
		must(scope(t, r, "coder", nil).PresentAs(registry.Code))
		if got := view(r, "coder", "run_code"); got != "a program" {
			t.Errorf("got %q", got)
		}
		if got := view(r, nil, "run_code"); got != "none" {
			t.Errorf("a native view has %q", got)
		}
	})
	t.Run("CARD-50 CARD-34 a tool without presenters has the fallback", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("mcp__srv__t", nil))
		if got := view(r, nil, "mcp__srv__t"); got != "none" {
			t.Errorf("got %q", got)
		}
	})
}

type cardTransport struct{ fakeTransport }

func (cardTransport) Definition(r *registry.Registry) (registry.Definition, error) {
	d := tool(registry.RunCode, func(context.Context, jsonval.Value, *registry.Run) (any, error) { return nil, nil })
	d.PresentCall = func(jsonval.Value) card.CallView { return card.GenericCall{Title: "a program", Kind: card.Execute} }
	return d, nil
}
