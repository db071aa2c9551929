package gateway

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/gojaengine"
)

// follower is a client that counts what it is told of changes.
type follower struct {
	*mcp.ClientSession
	tools, sdk chan struct{}
}

func (h *house) follow(protocol string) *follower {
	h.t.Helper()
	f := &follower{tools: make(chan struct{}, 1000), sdk: make(chan struct{}, 1000)}
	f.ClientSession = h.connect(&mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { f.tools <- struct{}{} },
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			if r.Params.URI == sdkURI {
				f.sdk <- struct{}{}
			}
		},
	}, protocol)
	return f
}

func (f *follower) subscribe(t *testing.T) {
	t.Helper()
	if err := f.Subscribe(t.Context(), &mcp.SubscribeParams{URI: sdkURI}); err != nil {
		t.Fatal(err)
	}
}

func (f *follower) names(t *testing.T) []string {
	t.Helper()
	list, err := f.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestChanges(t *testing.T) {
	short := times{quiet: 20 * time.Millisecond, settle: 200 * time.Millisecond}
	t.Run("GATE-3 each burst of changes is announced once, to every session", func(t *testing.T) {
		h := open(t, houseOptions{mode: registry.Both, gateway: Options{MaxDescription: 1 << 20}, times: times{quiet: 300 * time.Millisecond, settle: time.Minute}})
		followers := []*follower{h.follow(older), h.follow(older)}
		for _, f := range followers {
			f.subscribe(t)
		}
		for i := range 20 {
			h.register(echo(fmt.Sprint("t", i)))
		}
		for _, f := range followers {
			next(t, f.tools, "the announcement")
			next(t, f.sdk, "the one of the declarations")
			if names := f.names(t); len(names) != 21 {
				t.Errorf("listed %v", names)
			}
		}
		h.register(echo("more"))
		for _, f := range followers {
			next(t, f.tools, "the second announcement")
			next(t, f.sdk, "the second one of the declarations")
			if len(f.tools)+len(f.sdk) > 0 {
				t.Errorf("%d and %d announcements too many", len(f.tools), len(f.sdk))
			}
		}
	})
	t.Run("GATE-3 sessions of the newest revision are told what they listen to", func(t *testing.T) {
		h := open(t, houseOptions{mode: registry.Both, times: short})
		f := h.follow(newest)
		f.subscribe(t)
		for i := 0; len(f.tools) == 0 || len(f.sdk) == 0; i++ { // the library does not say when the server has begun to tell it
			h.register(echo(fmt.Sprint("t", i)))
			time.Sleep(50 * time.Millisecond)
			if i == 600 {
				t.Fatalf("told %d and %d times", len(f.tools), len(f.sdk))
			}
		}
	})
	revisions(t, func(t *testing.T, protocol string) {
		t.Run("GATE-3 changes without end are announced all the same", func(t *testing.T) {
			h := open(t, houseOptions{mode: registry.Native, times: times{quiet: time.Hour, settle: 200 * time.Millisecond}})
			f := h.follow(protocol)
			stop := make(chan struct{})
			changed := make(chan struct{})
			go func() {
				defer close(changed)
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					case <-time.After(5 * time.Millisecond):
						h.register(echo(fmt.Sprint("t", i)))
					}
				}
			}()
			next(t, f.tools, "an announcement")
			next(t, f.tools, "another")
			close(stop)
			<-changed
		})
		t.Run("GATE-3 the list and the description are the newest, announced or not", func(t *testing.T) {
			h := open(t, houseOptions{mode: registry.Both, times: times{quiet: time.Hour}})
			f := h.follow(protocol)
			dispose := h.register(echo("new"))
			if names := f.names(t); !slices.Equal(names, []string{"new", "run_code"}) {
				t.Errorf("listed %v", names)
			}
			list, err := f.ListTools(t.Context(), nil)
			if err != nil || !strings.Contains(list.Tools[1].Description, "new(") && !strings.Contains(list.Tools[1].Description, "new:") {
				t.Errorf("%v %s", err, list.Tools[1].Description)
			}
			dispose()
			if names := f.names(t); !slices.Equal(names, []string{"run_code"}) {
				t.Errorf("listed %v", names)
			}
		})
	})
	t.Run("GATE-3 a change that clients do not see is not announced", func(t *testing.T) {
		h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{echo("a")}, times: short})
		f := h.follow(older)
		d := echo("b")
		h.register(d)()
		time.Sleep(100 * time.Millisecond)
		f.names(t)
		h.register(d)
		next(t, f.tools, "the announcement of a change that is seen")
		if len(f.tools) > 0 {
			t.Error("announced twice")
		}
	})
	t.Run("GATE-3 a tool that takes the name of the search later is not shown", func(t *testing.T) {
		tools, _ := many(100)
		h := open(t, houseOptions{mode: registry.Both, tools: tools, times: short})
		f := h.follow(older)
		h.register(echo("search_tools"))
		n := 0
		for _, name := range f.names(t) {
			if name == "search_tools" {
				n++
			}
		}
		if n != 1 || !strings.Contains(h.log.String(), "search_tools") {
			t.Errorf("listed %d times; the log says %q", n, h.log.String())
		}
		if r := callTool(t, f.ClientSession, "search_tools", map[string]any{"query": "thing"}); r.IsError || !strings.Contains(structured(r), `"tools":[`) {
			t.Errorf("%s", text(r))
		}
	})
	t.Run("GATE-3 a change of the mode changes what is listed", func(t *testing.T) {
		h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{echo("a")}, times: short})
		f := h.follow(older)
		scope, err := h.reg.Scope(h.o.Agent, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scope.PresentAs(registry.Code); err != nil {
			t.Fatal(err)
		}
		next(t, f.tools, "the announcement")
		if names := f.names(t); !slices.Equal(names, []string{"run_code"}) {
			t.Errorf("listed %v", names)
		}
		if _, err := f.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: sdkURI}); err != nil {
			t.Error(err)
		}
	})
	t.Run("GATE-3 while tools cannot be presented clients keep those they know", func(t *testing.T) {
		e, err := gojaengine.New(gojaengine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h := open(t, houseOptions{engine: e, mode: registry.Both, tools: []registry.Definition{echo("a")}, times: short})
		f := h.follow(older)
		h.bridge.SetEngine(nil)
		h.register(echo("b"))
		if names := f.names(t); !slices.Equal(names, []string{"a", "run_code"}) || !strings.Contains(h.log.String(), "cannot be presented") {
			t.Errorf("listed %v; the log says %q", names, h.log.String())
		}
		h.bridge.SetEngine(e)
		h.register(echo("c"))
		if names := f.names(t); !slices.Equal(names, []string{"a", "b", "c", "run_code"}) {
			t.Errorf("listed %v", names)
		}
	})
}
