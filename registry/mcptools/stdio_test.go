//go:build unix

package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// journal is a log that the tests read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// rig is one server process behind a registry.
type rig struct {
	t       *testing.T
	reg     *registry.Registry
	servers *Servers
	log     *journal
	dir     string
	config  ServerConfig
	options Options
}

func newRig(t *testing.T, modes ...string) *rig {
	t.Helper()
	before := goruntime.NumGoroutine()
	r := &rig{t: t, log: &journal{}, dir: t.TempDir()}
	reg, err := registry.New(registry.Options{Logger: r.log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	r.reg, r.servers = reg, NewServers(reg)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	modes = append(modes, "pidfile="+r.path("pid"), "record="+r.path("record"))
	r.config = ServerConfig{
		Name: "srv", Transport: Stdio, Command: exe, Env: map[string]string{modeVariable: strings.Join(modes, "|")},
		Reconnect: Reconnect{InitialDelay: time.Millisecond, MaxDelay: time.Hour, MaxAttempts: 3},
	}
	r.options = Options{Logger: r.log.logger(), RequestTimeout: 10 * time.Second}
	t.Cleanup(func() { r.finish(before) })
	return r
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) connect() *Bridge {
	r.t.Helper()
	b, err := r.servers.Connect(r.t.Context(), r.config, r.options)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// finish closes everything and checks that nothing is left: no process, no goroutine.
func (r *rig) finish(before int) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.servers.Close(ctx); err != nil {
		r.t.Errorf("closing: %v", err)
	}
	for _, name := range []string{"pid", "grandchild"} {
		if pid := r.pid(name); pid != 0 && !gone(pid) {
			r.t.Errorf("process %d (%s) is left", pid, name)
		}
	}
	for deadline := time.Now().Add(5 * time.Second); goruntime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			r.t.Errorf("%d goroutines are left, %d before:\n%s", goruntime.NumGoroutine(), before, stacks[:goruntime.Stack(stacks, true)])
			break
		}
	}
}

func (r *rig) pid(name string) int {
	text, err := os.ReadFile(r.path(name))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(string(text))
	return pid
}

// gone says whether a process has ended; one that nobody has reaped counts.
func gone(pid int) bool {
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil {
			if _, state, ok := strings.Cut(string(stat), ") "); ok && (state[0] == 'Z' || state[0] == 'X') {
				return true
			}
		}
	}
	return false
}

func (r *rig) call(name, args string) registry.Result {
	r.t.Helper()
	return r.callIn(r.t.Context(), name, args)
}

func (r *rig) callIn(ctx context.Context, name, args string) registry.Result {
	return r.reg.Execute(ctx, registry.Call{ID: "1", Name: name, Arguments: json.RawMessage(args)})
}

func (r *rig) names() []string {
	var names []string
	for _, d := range r.reg.Visible(nil) {
		names = append(names, d.Name)
	}
	return names
}

func wantText(t *testing.T, res registry.Result, want string) {
	t.Helper()
	if got := res.Text(); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func wantFailure(t *testing.T, res registry.Result, parts ...string) {
	t.Helper()
	if !res.IsError() {
		t.Fatalf("succeeded with %s", res.Text())
	}
	for _, part := range parts {
		if !strings.Contains(res.Failure().Message, part) {
			t.Errorf("message %q has no %q", res.Failure().Message, part)
		}
	}
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("in vain waited for: %s", what)
		}
	}
}

func TestRealServer(t *testing.T) {
	r := newRig(t)
	b := r.connect()
	t.Run("MCP-13 tools are there when the load returns; MCP-16 all pages", func(t *testing.T) {
		want := "mcp__srv__add mcp__srv__fail mcp__srv__crash mcp__srv__slow mcp__srv__deaf mcp__srv__admin_reset_3b185f786768 mcp__srv__structured mcp__srv__loose mcp__srv__task mcp__srv__echo mcp__srv__crash-after-reply mcp__srv__garbage mcp__srv__environment mcp__srv__leave"
		if got := strings.Join(r.names(), " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("MCP-4 the server's own name names nothing", func(t *testing.T) {
		if f := b.Facts(); f.Name != "fake" || f.Instructions != "be nice" || f.Protocol != "2025-11-25" {
			t.Errorf("facts %+v", f)
		}
	})
	t.Run("MCP-21 the definition: schema as sent, no classifier, no cards, the budget", func(t *testing.T) {
		d, ok := r.reg.Get("mcp__srv__admin_reset_3b185f786768", nil)
		if !ok {
			t.Fatal("not there")
		}
		// The one number that no double holds is the nearest one; all else is byte-equal.
		want := strings.Replace(oddSchema, "9223372036854775807", "9223372036854776000", 1)
		if got := d.Parameters.String(); got != want {
			t.Errorf("schema %s\nwant   %s", got, want)
		}
		if d.Description != "does admin.reset" || d.ConcurrencySafe != nil || d.PresentCall != nil || d.PresentResult != nil || d.TimeoutMs != 60000 {
			t.Errorf("definition %+v", d)
		}
	})
	t.Run("MCP-24 MCP-26 a call", func(t *testing.T) {
		res := r.call("mcp__srv__add", `{"a":2,"b":3}`)
		wantText(t, res, "5")
		v := res.Value()
		if got := v.String(); got != `{"content":[{"type":"text","text":"5"}]}` {
			t.Errorf("value %s", got)
		}
	})
	t.Run("MCP-24 arguments that are no object", func(t *testing.T) {
		for _, args := range []string{`[1,2]`, `null`, `"x"`, `7`} {
			before := len(r.recorded())
			wantText(t, r.call("mcp__srv__add", args), "0")
			if sent := r.recorded()[before:]; !strings.Contains(sent, `"arguments":{}`) {
				t.Errorf("for %s, sent %s", args, sent)
			}
		}
	})
	t.Run("MCP-25 a task-only tool never reaches the server", func(t *testing.T) {
		wantFailure(t, r.call("mcp__srv__task", `{}`), `tool "task" needs task-based execution, which is not supported`)
		if strings.Contains(r.recorded(), `"name":"task"`) {
			t.Error("the server saw it")
		}
	})
	t.Run("MCP-28 an answer flagged as error", func(t *testing.T) {
		res := r.call("mcp__srv__fail", `{}`)
		wantFailure(t, res, "it went wrong")
		wantText(t, res, "Error: it went wrong")
	})
	t.Run("MCP-30 a protocol error names the server", func(t *testing.T) {
		wantFailure(t, r.call("mcp__srv__leave", `{}`), `MCP server "srv"`, "unknown tool leave")
	})
	t.Run("MCP-71 lines that are no messages are skipped and logged", func(t *testing.T) {
		wantText(t, r.call("mcp__srv__garbage", `{}`), "fine")
		if !strings.Contains(r.log.String(), "this is no JSON") {
			t.Error("not logged")
		}
	})
	t.Run("MCP-67 a slow call does not hold up another", func(t *testing.T) {
		slow := make(chan registry.Result, 1)
		go func() { slow <- r.call("mcp__srv__slow", `{}`) }()
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":1}`), "2")
		select {
		case <-slow:
			t.Error("the slow call was already over")
		default:
		}
		wantText(t, <-slow, "late")
	})
	t.Run("MCP-63 MCP-64 cancellation: notice with the id, ABORTED, next call works", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan registry.Result, 1)
		go func() { done <- r.callIn(ctx, "mcp__srv__deaf", `{}`) }()
		eventually(t, "the call at the server", func() bool { return strings.Contains(r.recorded(), `"name":"deaf"`) })
		cancel()
		res := <-done
		if f := res.Failure(); f == nil || f.Info == nil || f.Info.Code != registry.CodeAborted {
			t.Errorf("failure %+v", f)
		}
		eventually(t, "the notice", func() bool { return strings.Contains(r.recorded(), "notifications/cancelled") })
		callID, noticeID := "", ""
		for line := range strings.Lines(r.recorded()) {
			var m struct {
				ID     json.Number
				Method string
				Params struct {
					RequestID json.Number
					Name      string
					Reason    string
				}
			}
			_ = json.Unmarshal([]byte(line), &m)
			if m.Params.Name == "deaf" {
				callID = m.ID.String()
			}
			if m.Method == noticeCancelled {
				noticeID = m.Params.RequestID.String()
				if m.Params.Reason == "" {
					t.Error("the notice has no reason")
				}
			}
		}
		if callID == "" || callID != noticeID {
			t.Errorf("call %q, notice %q", callID, noticeID)
		}
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":1}`), "2")
	})
	t.Run("MCP-65 the bridge's own budget", func(t *testing.T) {
		r.config.Name = "short"
		r.config.ToolCallTimeout = 50 * time.Millisecond
		b := r.connect()
		wantFailure(t, r.call("mcp__short__deaf", `{}`), `MCP server "short" did not answer within 50 ms`)
		_ = b.Close(t.Context())
	})
}

func (r *rig) recorded() string {
	text, _ := os.ReadFile(r.path("record"))
	return string(text)
}
