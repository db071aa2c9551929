package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojaengine"
	"github.com/runcode-go/runcode/runtime/wasmengine"
)

func TestManyCalls(t *testing.T) {
	revisions(t, func(t *testing.T, protocol string) {
		t.Run("GATE-5 calls of one client run at once, and each gets its own result", func(t *testing.T) {
			h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}})
			s := h.connect(nil, protocol)
			var wg sync.WaitGroup
			for n := range 30 {
				wg.Go(func() {
					r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{
						"code": fmt.Sprintf(`return (await tools.echo({ n: %d })).n`, n), "description": "d",
					}})
					if err != nil || structured(r) != fmt.Sprintf(`{"logs":[],"result":%d}`, n) {
						t.Errorf("%d: %v %v", n, err, r)
					}
				})
			}
			wg.Wait()
		})
	})
	t.Run("GATE-5 a slow call holds up no other", func(t *testing.T) {
		w := newWaiting()
		h := open(t, houseOptions{tools: []registry.Definition{blocker(w)}})
		c := h.greeted()
		c.send(runLine("2", "await tools.block({})"))
		next(t, w.began, "the slow call")
		c.send(runLine("3", "return 1"))
		c.expect(`"id":3`)
		c.alive()
	})
	t.Run("GATE-5 calls of one client are bounded in number", func(t *testing.T) {
		w := newWaiting()
		w.began, w.ended = make(chan struct{}, 2*maxCalls), make(chan error, 2*maxCalls)
		h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{blocker(w)}})
		c := h.greeted()
		for n := range maxCalls {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"block"}}`, n))
		}
		for range maxCalls {
			next(t, w.began, "a call")
		}
		c.send(`{"jsonrpc":"2.0","id":"more","method":"tools/call","params":{"name":"block"}}`)
		c.expect(`"id":"more"`, "too many calls are running", `"isError":true`)
		other := h.greeted()
		other.send(`{"jsonrpc":"2.0","id":"other","method":"tools/call","params":{"name":"block"}}`)
		next(t, w.began, "the call of another client")
	})
	t.Run("GATE-5 every call has an id of its own", func(t *testing.T) {
		h := open(t, houseOptions{})
		ids := make(chan string, 10)
		h.reg.OnResult(func(x registry.Execution, _ registry.Result) { ids <- x.CallID() })
		s := h.connect(nil, older)
		run(t, s, "return 1")
		run(t, s, "return 1")
		if a, b := next(t, ids, "an id"), next(t, ids, "another"); a == b || len(a) < 20 {
			t.Errorf("%q, %q", a, b)
		}
	})
}

// TestNothingIsLeft holds that no goroutine outlives clients that end in all ways.
func TestNothingIsLeft(t *testing.T) {
	w := newWaiting()
	engine, err := gojaengine.New(gojaengine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeWithin(t, engine.Close)
	serve := func(t *testing.T) {
		h := open(t, houseOptions{engine: engine, tools: []registry.Definition{blocker(w), echo("echo")}, times: times{progress: time.Millisecond}})
		h.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			if x.Name() == "echo" {
				return registry.Ask(""), nil
			}
			return next()
		})
		cut := h.greeted() // goes in mid-run
		cut.send(withToken("2", "1", "await tools.block({})"), runLine("3", "await tools.block({})"))
		next(t, w.began, "a call")
		next(t, w.began, "a call")
		_ = cut.to.Close()
		_ = cut.wait()
		s := rounds(h) // goes while a call waits for it
		if r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": "await tools.echo({})", "description": "d"}}); err != nil || !r.NeedsInput() {
			t.Errorf("%v %v", err, r)
		}
		_ = s.Close()
		left := h.greeted() // is there when the gateway closes
		left.send(runLine("2", "await tools.block({})"))
		next(t, w.began, "a call")
		h.register(echo("new")) // a burst is not announced yet
		closeWithin(t, h.Close)
		_ = left.to.Close()
		_ = left.from.Close()
		for range 3 {
			next(t, w.ended, "the end of a call")
		}
	}
	t.Run("warm up", serve)
	before := goruntime.NumGoroutine()
	for n := range 5 {
		t.Run(fmt.Sprint(n), serve)
	}
	for deadline := time.Now().Add(patience); goruntime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", goruntime.NumGoroutine(), before, stacks[:goruntime.Stack(stacks, true)])
		}
	}
}

// TestDeafClient holds that a client which never reads cannot keep ServeStdio from ending.
func TestDeafClient(t *testing.T) {
	t.Run("GATE-5 a client that never reads is served to its end", func(t *testing.T) {
		h := open(t, houseOptions{times: times{progress: time.Millisecond, alive: time.Millisecond}})
		w, _, wait := h.stdio(t.Context())
		for _, line := range []string{initialize, withToken("2", "1", `for (;;) await new Promise(r => setTimeout(r, 1))`), runLine("3", "return 1")} {
			if _, err := io.WriteString(w, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.Close()
		if err := wait(); err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
	})
	t.Run("GATE-5 one that only sends nonsense is given up", func(t *testing.T) {
		h := open(t, houseOptions{times: times{notify: 50 * time.Millisecond}})
		w, _, wait := h.stdio(t.Context())
		go func() {
			for {
				if _, err := io.WriteString(w, "nonsense\n"); err != nil {
					return
				}
			}
		}()
		if err := wait(); !errors.Is(err, errDeaf) {
			t.Errorf("ServeStdio: %v", err)
		}
	})
}

func TestProgressOverHTTP(t *testing.T) {
	revisions(t, func(t *testing.T, protocol string) {
		t.Run("GATE-5 progress is told over HTTP, too", func(t *testing.T) {
			h := open(t, houseOptions{times: times{progress: time.Millisecond, alive: time.Millisecond}})
			_, url := serveHTTP(t, h.Gateway, options(), nil)
			told := make(chan string, 10_000)
			s := over(t, url, tokenA, protocol, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params.Message },
			})
			params := &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": `await new Promise(r => setTimeout(r, 300))`, "description": "d"}}
			params.SetProgressToken("t")
			if _, err := s.CallTool(t.Context(), params); err != nil {
				t.Fatal(err)
			}
			next(t, told, "a report")
			next(t, told, "another")
		})
	})
}

func TestOnWasm(t *testing.T) {
	engine, err := wasmengine.New(t.Context(), wasmengine.Options{Limits: runtime.Limits{}})
	if err != nil {
		t.Fatal(err)
	}
	defer closeWithin(t, engine.Close)
	w := newWaiting()
	h := open(t, houseOptions{engine: engine, tools: []registry.Definition{echo("echo"), blocker(w)}})
	revisions(t, func(t *testing.T, protocol string) {
		s := h.connect(nil, protocol)
		t.Run("GATE-5 programs run in the sandbox", func(t *testing.T) {
			r := run(t, s, `console.log("one"); return await tools.echo({ a: 1 })`)
			if got := structured(r); got != `{"logs":["one"],"result":{"a":1}}` {
				t.Errorf("%s", text(r))
			}
		})
		t.Run("GATE-5 a cancelled loop ends", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": `for (;;);`, "description": "d"}}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			if r := run(t, s, `return 1`); r.IsError {
				t.Errorf("%s", text(r))
			}
		})
	})
	t.Run("GATE-5 the end of the input ends runs in the sandbox", func(t *testing.T) {
		c := h.greeted()
		c.send(runLine("2", "await tools.block({})"), runLine("3", "for (;;);"))
		next(t, w.began, "the call")
		_ = c.to.Close()
		if err := c.wait(); err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		if len(w.ended) != 1 {
			t.Error("the call goes on")
		}
	})
	if log := h.log.String(); strings.Contains(log, "panic") {
		t.Error(log)
	}
}
