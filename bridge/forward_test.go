package bridge_test

import (
	"context"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

var picture = registry.Image(registry.ImageRef{Attachment: "att-1", MediaType: "image/png", Bytes: 67, Width: 1, Height: 1})

// image makes a tool show a picture between two texts.
func image(d *registry.Definition) {
	d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) {
		return []registry.Block{registry.Text("before"), picture, registry.Text("after")}, nil
	}
}

// note makes a body defer one context with this id.
func note(id string) func(context.Context, jsonval.Value, *registry.Run) (any, error) {
	return func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
		run.DeferContext(registry.Context{ID: id, Content: []registry.Block{registry.Text(id)}, Source: registry.PluginSource("p-" + id), Meta: jsonval.MustOf(id)})
		return id, nil
	}
}

// summary is one context as tests compare it.
func summary(c registry.Context) string {
	var parts []string
	for _, b := range c.Content {
		if b.Type() == "text" {
			parts = append(parts, b.Text())
		} else {
			parts = append(parts, "["+b.Type()+"]")
		}
	}
	plugin, _ := c.Source.Get("plugin")
	return plugin.Str() + ": " + strings.Join(parts, " ")
}

func summaries(r registry.Result) []string {
	var all []string
	for _, c := range r.Contexts() {
		all = append(all, summary(c))
	}
	return all
}

const shown = "tools-code-mode: before [image] after"

func TestForwarding(t *testing.T) {
	// callAll calls these tools in order and then ends the way that end says.
	callAll := func(end func() (runtime.Result, error), names ...string) func(context.Context, *program) (runtime.Result, error) {
		return func(_ context.Context, p *program) (runtime.Result, error) {
			for _, name := range names {
				_, _ = p.call(name, n(1)).wait(t)
			}
			return end()
		}
	}
	fine := func() (runtime.Result, error) { return done("ok") }
	broken := func() (runtime.Result, error) { return failed(runtime.Exception, "Error: late") }

	t.Run("SUB-27 contexts of two sub-calls in commit order, identity and source kept", func(t *testing.T) {
		w := newWorld(t, callAll(fine, "a", "b"))
		w.tool("a", note("one"))
		w.tool("b", note("two"))
		r := w.run()
		equal(t, "contexts", summaries(r), []string{"p-one: one", "p-two: two"})
		c := r.Contexts()[0]
		if c.ID != "one" || c.Meta.Str() != "one" {
			t.Errorf("got %+v", c)
		}
	})
	t.Run("SUB-27 contexts of a failed sub-call", func(t *testing.T) {
		w := newWorld(t, callAll(fine, "a"))
		w.tool("a", func(ctx context.Context, v jsonval.Value, run *registry.Run) (any, error) {
			_, _ = note("kept")(ctx, v, run)
			panic("no")
		})
		equal(t, "contexts", summaries(w.run()), []string{"p-kept: kept"})
	})
	t.Run("SUB-28 they survive a failure of the program", func(t *testing.T) {
		w := newWorld(t, callAll(broken, "a"))
		w.tool("a", note("one"))
		r := w.run()
		if !r.IsError() {
			t.Fatal("no failure")
		}
		equal(t, "contexts", summaries(r), []string{"p-one: one"})
	})
	t.Run("SUB-28 an outer block drops them", func(t *testing.T) {
		w := newWorld(t, callAll(fine, "a"))
		w.tool("a", note("one"))
		w.reg.OnPostExecute(func(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			if x.Name() == registry.RunCode {
				return registry.Blocked(registry.Text("no")), nil
			}
			return next()
		})
		equal(t, "contexts", summaries(w.run()), nil)
	})
	t.Run("SUB-29 the turn marker of a success is forwarded", func(t *testing.T) {
		conclude := func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.ConcludeTurn()
			return nil, nil
		}
		w := newWorld(t, callAll(fine, "last"))
		w.tool("last", conclude)
		if r := w.run(); !r.ConcludesTurn() {
			t.Error("not forwarded")
		}
		w = newWorld(t, callAll(broken, "last"))
		w.tool("last", conclude)
		if r := w.run(); r.ConcludesTurn() {
			t.Error("shown on a failure")
		}
		w = newWorld(t, callAll(fine, "last"))
		w.tool("last", conclude)
		w.reg.OnPostExecute(func(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			if x.Name() == "last" {
				return registry.Blocked(registry.Text("vetoed")), nil
			}
			return next()
		})
		if r := w.run(); r.IsError() || r.ConcludesTurn() {
			t.Error("forwarded after a veto")
		}
	})

	t.Run("IMG-1 the whole content, before the sub-call's own contexts, once for each sub-call", func(t *testing.T) {
		w := newWorld(t, callAll(fine, "a", "b", "plain"))
		w.tool("a", note("one"), image)
		w.tool("b", note("two"), image)
		w.echo("plain")
		r := w.run()
		equal(t, "contexts", summaries(r), []string{shown, "p-one: one", shown, "p-two: two"})
		if kind, _ := r.Contexts()[0].Source.Get("kind"); kind.Str() != "plugin" {
			t.Errorf("source %s", r.Contexts()[0].Source)
		}
	})
	t.Run("IMG-2 the program's value has no image", func(t *testing.T) {
		var got jsonval.Value
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			got, _ = p.call("a", n(1)).wait(t)
			return done(nil)
		})
		w.echo("a", image)
		if r := w.run(); got.String() != `{"n":1}` || len(r.Contexts()) != 1 || strings.Contains(r.Text(), "att-1") {
			t.Errorf("value %s, result %s", got, r.JSON())
		}
	})
	post := func(w *world, decide func(registry.PostDecision) registry.PostDecision) {
		w.reg.OnPostExecute(func(_ context.Context, x registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			d, err := next()
			if x.Name() == "a" {
				d = decide(d)
			}
			return d, err
		})
	}
	t.Run("IMG-3 nothing after a block, a replacement or a failure", func(t *testing.T) {
		w := newWorld(t, callAll(fine, "a"))
		w.echo("a", image)
		post(w, func(registry.PostDecision) registry.PostDecision {
			return registry.Blocked(registry.Text("no"), picture)
		})
		equal(t, "after a block", summaries(w.run()), nil)

		w = newWorld(t, callAll(fine, "a"))
		w.echo("a", image)
		post(w, func(d registry.PostDecision) registry.PostDecision { return d.WithContent(registry.Text("text only")) })
		equal(t, "after a replacement", summaries(w.run()), nil)

		w = newWorld(t, callAll(fine, "a"))
		w.tool("a", func(context.Context, jsonval.Value, *registry.Run) (any, error) { panic("no") }, image,
			func(d *registry.Definition) {
				d.Finalize = func(registry.Execution, registry.Result) ([]registry.Block, bool) {
					return []registry.Block{picture}, true
				}
			})
		equal(t, "after a failure", summaries(w.run()), nil)
	})
	t.Run("IMG-3 IMG-6 content added by a replacement or a finalizer counts", func(t *testing.T) {
		w := newWorld(t, callAll(fine, "a"))
		w.echo("a")
		post(w, func(d registry.PostDecision) registry.PostDecision {
			return d.WithContent(registry.Text("before"), picture, registry.Text("after"))
		})
		equal(t, "by a replacement", summaries(w.run()), []string{shown})

		w = newWorld(t, callAll(fine, "a"))
		w.echo("a", func(d *registry.Definition) {
			d.Finalize = func(registry.Execution, registry.Result) ([]registry.Block, bool) {
				return []registry.Block{registry.Text("before"), picture, registry.Text("after")}, true
			}
		})
		equal(t, "by a finalizer", summaries(w.run()), []string{shown})
	})
	t.Run("IMG-4 images committed before a failure are attached to it", func(t *testing.T) {
		w := newWorld(t, callAll(broken, "a"))
		w.echo("a", image)
		r := w.run()
		if !r.IsError() {
			t.Fatal("no failure")
		}
		equal(t, "contexts", summaries(r), []string{shown})
	})
	t.Run("IMG-5 references only", func(t *testing.T) {
		w := newWorld(t, callAll(fine, "a"))
		w.echo("a", image)
		r := w.run()
		block := r.Contexts()[0].Content[1].Value()
		if !jsonval.Equal(block, picture.Value()) || len(block.String()) > 200 {
			t.Errorf("the block is %s", block)
		}
		if content, _ := w.events[1].Value().Get("content"); !jsonval.Equal(content.Index(1), picture.Value()) {
			t.Errorf("the event has %s", content)
		}
	})
	t.Run("SUB-24 an un-awaited call that committed as a success counts", func(t *testing.T) {
		var w *world
		w = newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			p.call("a", n(1))
			w.trail.await(t, "settled")
			return done("ok")
		})
		w.echo("a", image)
		w.reg.OnResult(func(x registry.Execution, _ registry.Result) {
			if x.Name() == "a" {
				w.trail.add("settled") // the commit's hook comes right after, before the lane is drained
			}
		})
		equal(t, "contexts", summaries(w.run()), []string{shown})
	})
}
