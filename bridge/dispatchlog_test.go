package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
)

func contentOf(e bridge.Event) string {
	d, ok := e.(*bridge.Dispatch)
	if !ok || len(d.Content) != 1 {
		return fmt.Sprintf("%T", e)
	}
	return d.Content[0].Text()
}

// next is the end of a log chain's signature, to keep the tests readable.
type next = func() ([]registry.Block, error)

func TestDispatchLog(t *testing.T) {
	once := func(_ context.Context, p *program) (runtime.Result, error) {
		v, err := p.call("echo", n(1)).wait(t)
		if err != nil {
			return runtime.Result{}, err
		}
		return done(v)
	}
	t.Run("SUB-13 the recorded copy only, with everything the rule names as input", func(t *testing.T) {
		w := newWorld(t, once)
		w.echo("echo")
		var got bridge.LogEntry
		w.bridge.OnDispatchLog(nil, func(_ context.Context, e bridge.LogEntry, next next) ([]registry.Block, error) {
			got = e
			inner, err := next()
			return []registry.Block{registry.Text("preview of " + inner[0].Text())}, err
		})
		r := w.run()
		if r.Value().String() != `{"logs":[],"result":{"n":1}}` {
			t.Errorf("the program's value is %s", r.Value())
		}
		if text := contentOf(w.events[1]); text != `preview of {"n":1}` {
			t.Errorf("recorded %s", text)
		}
		if w.events[1].(*bridge.Dispatch).Result.Text() != `{"n":1}` {
			t.Error("the result itself was changed")
		}
		if got.Outer.CallID() != "c" || got.Agent != agent || got.SubCallID != "c:code:1" || got.Name != "echo" || got.IsError || got.Content[0].Text() != `{"n":1}` {
			t.Errorf("input %+v", got)
		}
	})
	t.Run("SUB-13 the first listener is the outermost, disposed ones are gone", func(t *testing.T) {
		w := newWorld(t, once)
		w.echo("echo")
		wrap := func(name string) bridge.LogMiddleware {
			return func(_ context.Context, _ bridge.LogEntry, next next) ([]registry.Block, error) {
				inner, err := next()
				return []registry.Block{registry.Text(name + "(" + inner[0].Text() + ")")}, err
			}
		}
		w.bridge.OnDispatchLog(nil, wrap("a"))
		dispose := w.bridge.OnDispatchLog(nil, wrap("gone"))
		w.bridge.OnDispatchLog(nil, wrap("b"))
		dispose()
		dispose()
		w.run()
		if text := contentOf(w.events[1]); text != `a(b({"n":1}))` {
			t.Errorf("recorded %s", text)
		}
	})
	t.Run("SUB-13 listeners of the agent's scope and its ancestors only", func(t *testing.T) {
		w := newWorld(t, once)
		w.echo("echo")
		mark := func(name string) bridge.LogMiddleware {
			return func(_ context.Context, _ bridge.LogEntry, next next) ([]registry.Block, error) {
				inner, err := next()
				return append(inner, registry.Text(name)), err
			}
		}
		parent, _ := w.reg.Scope("parent", nil)
		own, err := w.reg.Scope("child", parent)
		if err != nil {
			t.Fatal(err)
		}
		other, _ := w.reg.Scope("other", nil)
		w.bridge.OnDispatchLog(own, mark("own"))
		w.bridge.OnDispatchLog(parent, mark("parent"))
		w.bridge.OnDispatchLog(other, mark("other"))
		w.reg.Execute(context.Background(), runCall("child"))
		var texts []string
		for _, b := range w.events[1].(*bridge.Dispatch).Content[1:] {
			texts = append(texts, b.Text())
		}
		equal(t, "listeners reached", texts, []string{"parent", "own"})
	})
	for name, m := range map[string]bridge.LogMiddleware{
		"raises": func(context.Context, bridge.LogEntry, next) ([]registry.Block, error) {
			return nil, errors.New("disk full")
		},
		"panics": func(context.Context, bridge.LogEntry, next) ([]registry.Block, error) { panic("disk full") },
	} {
		t.Run("SUB-13 a listener that "+name+" is contained", func(t *testing.T) {
			w := newWorld(t, once)
			w.echo("echo")
			w.bridge.OnDispatchLog(nil, m)
			if r := w.run(); r.IsError() {
				t.Error(r.Text())
			}
			if text := contentOf(w.events[1]); text != `{"n":1}` {
				t.Errorf("recorded %s", text)
			}
			if log := w.warnings.String(); !strings.Contains(log, "disk full") || !strings.Contains(log, "level=WARN") {
				t.Errorf("logged %q", log)
			}
		})
	}
	t.Run("SUB-13 a slow listener does not delay the program's value; back-pressure begins beyond the cap", func(t *testing.T) {
		slow := make(chan struct{})
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			for i := 1; i <= 3; i++ { // the third one's value is delivered before the lane waits
				if _, err := p.call("echo", n(i)).wait(t); err != nil {
					return runtime.Result{}, err
				}
			}
			fourth := p.call("echo", n(4))
			time.Sleep(20 * time.Millisecond)
			if fourth.isSettled() {
				t.Error("two pieces of log work are outstanding and the lane goes on")
			}
			close(slow)
			_, err := fourth.wait(t)
			return runtime.Result{Logs: []string{}}, err
		}, parallel(2))
		w.echo("echo")
		w.bridge.OnDispatchLog(nil, func(_ context.Context, e bridge.LogEntry, next next) ([]registry.Block, error) {
			<-slow
			return next()
		})
		if r := w.run(); r.IsError() {
			t.Fatal(r.Text())
		}
	})
	t.Run("CODE-17 run_code returns only when the last record is there, however slow its listener", func(t *testing.T) {
		w := newWorld(t, once)
		w.echo("echo")
		w.bridge.OnDispatchLog(nil, func(_ context.Context, _ bridge.LogEntry, next next) ([]registry.Block, error) {
			time.Sleep(30 * time.Millisecond)
			return next()
		})
		w.run()
		equal(t, "events at the return", w.eventLines(), []string{"start c:code:1", "end c:code:1"})
		if len(w.outcomes) != 1 {
			t.Error("no outcome")
		}
	})
	t.Run("SUB-12 CODE-17 records stand in commit order and before the outer result, whichever listener is faster", func(t *testing.T) {
		first := make(chan struct{})
		w := newWorld(t, func(_ context.Context, p *program) (runtime.Result, error) {
			waitAll(t, all(t, p, "echo", 3))
			return done(nil)
		})
		w.echo("echo")
		w.bridge.OnDispatchLog(nil, func(_ context.Context, e bridge.LogEntry, next next) ([]registry.Block, error) {
			switch e.SubCallID {
			case "c:code:1":
				await(t, "the third listener", first)
			case "c:code:3":
				close(first)
			}
			return next()
		})
		w.reg.OnResult(func(x registry.Execution, _ registry.Result) {
			if x.Name() == registry.RunCode && len(w.eventLines()) != 6 {
				t.Error("CODE-17 an event is missing at the outer result")
			}
		})
		w.run()
		equal(t, "events", w.eventLines(), []string{"start c:code:1", "start c:code:2", "start c:code:3", "end c:code:1", "end c:code:2", "end c:code:3"})
	})
}
