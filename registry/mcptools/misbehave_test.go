//go:build unix

package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// Servers that misbehave, each as a real process. After each, rig.finish checks that no process and no goroutine is left.

func TestBanner(t *testing.T) {
	t.Run("MCP-71 MCP-75 a banner on standard output ends nothing", func(t *testing.T) {
		r := newRig(t, "banner")
		r.connect()
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		if log := r.log.String(); !strings.Contains(log, "My MCP server v1.0") || !strings.Contains(log, "skipped") {
			t.Errorf("log %s", log)
		}
	})
}

func TestFloods(t *testing.T) {
	t.Run("MCP-71 a flood of lines that are no messages fills no log", func(t *testing.T) {
		r := newRig(t, "noise")
		r.connect()
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		if n := strings.Count(r.log.String(), "it was skipped"); n != maxBadLines-1 {
			t.Errorf("%d lines", n)
		}
	})
	t.Run("MCP-19 a server that asks and does not listen holds up nothing", func(t *testing.T) {
		r := newRig(t, "pings")
		b := r.connect()
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		_ = b.Close(t.Context())
	})
}

func TestStderr(t *testing.T) {
	t.Run("MCP-71 a flood on standard error blocks nothing", func(t *testing.T) {
		r := newRig(t, "flood")
		lines := 0
		r.options.Stderr = func(server, line string) {
			if server != "srv" || len(line) != 8000 {
				t.Errorf("%s: %d bytes", server, len(line))
			}
			lines++
		}
		b := r.connect()
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		_ = b.Close(t.Context())
		if lines != 500 {
			t.Errorf("%d lines", lines)
		}
	})
}

func TestCrash(t *testing.T) {
	t.Run("MCP-30 MCP-55 MCP-57 a crash during a call", func(t *testing.T) {
		r := newRig(t)
		r.connect()
		first := r.pid("pid")
		wantFailure(t, r.call("mcp__srv__crash", `{}`), `MCP server "srv" is not connected`, "its effect is unknown")
		eventually(t, "a new process", func() bool { return r.pid("pid") != first && r.servers.Bridges()[0].Connected() })
		if !gone(first) {
			t.Error("the first process is left")
		}
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		if got := len(r.names()); got != 14 {
			t.Errorf("%d tools", got)
		}
		log := r.log.String()
		for _, want := range []string{"level=WARN", "attempt=1", "of=3", "a lost connection", "exit status 7", "level=INFO", "connected again"} {
			if !strings.Contains(log, want) {
				t.Errorf("MCP-62 the log has no %q", want)
			}
		}
	})
	t.Run("MCP-55 what was said before the end is heard", func(t *testing.T) {
		r := newRig(t)
		r.connect()
		wantText(t, r.call("mcp__srv__crash-after-reply", `{}`), "bye")
	})
	t.Run("MCP-59 a server that crashes after each start exhausts the budget; MCP-58 its tools go", func(t *testing.T) {
		r := newRig(t)
		r.connect()
		eventually(t, "the giving up", func() bool {
			_ = r.call("mcp__srv__crash", `{}`)
			return strings.Contains(r.log.String(), "giving up")
		})
		if names := r.names(); len(names) != 0 {
			t.Errorf("tools %v", names)
		}
		if n := strings.Count(r.log.String(), "reconnecting to the MCP server"); n != 3 {
			t.Errorf("%d attempts", n)
		}
	})
	t.Run("MCP-61 without reconnection the tools stay and fail", func(t *testing.T) {
		r := newRig(t)
		r.config.Reconnect.Disabled = true
		b := r.connect()
		_ = r.call("mcp__srv__crash", `{}`)
		eventually(t, "the loss", func() bool { return !b.Connected() })
		res := r.call("mcp__srv__add", `{}`)
		wantFailure(t, res, `MCP server "srv" is not connected`)
		if res.Failure().Message != `MCP server "srv" is not connected` {
			t.Errorf("MCP-56 message %q", res.Failure().Message)
		}
		eventually(t, "the advice", func() bool { return strings.Contains(r.log.String(), "reload it") })
	})
}

func TestStartFailures(t *testing.T) {
	strict := func(t *testing.T, change func(*rig), modes ...string) error {
		t.Helper()
		r := newRig(t, modes...)
		r.config.FailOnStartupError = true
		if change != nil {
			change(r)
		}
		_, err := r.servers.Connect(t.Context(), r.config, r.options)
		if err == nil {
			t.Fatal("it started")
		}
		if !strings.HasPrefix(err.Error(), `MCP server "srv": start-up failed: `) {
			t.Errorf("MCP-14 error %q", err)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
		if names := r.names(); len(names) != 0 {
			t.Errorf("tools %v", names)
		}
		return err
	}
	want := func(t *testing.T, err error, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q has no %q", err, part)
			}
		}
	}
	t.Run("MCP-14 no such program", func(t *testing.T) {
		err := strict(t, func(r *rig) { r.config.Command = "no-such-server-program" })
		want(t, err, `there is no executable "no-such-server-program" in PATH: install it, or give its full path`)
	})
	t.Run("MCP-14 it exits, and what it said", func(t *testing.T) {
		err := strict(t, nil, "exit", "complain=Cannot find module x")
		want(t, err, "gave no answer to initialize", "exit status 3", "it said: Cannot find module x")
	})
	t.Run("MCP-66 it hangs at start", func(t *testing.T) {
		err := strict(t, func(r *rig) { r.options.RequestTimeout = 100 * time.Millisecond }, "hang", "ignore-term")
		want(t, err, "did not answer initialize within 100ms")
	})
	t.Run("MCP-66 the entry's own limit of the start", func(t *testing.T) {
		err := strict(t, func(r *rig) { r.config.StartupTimeout = 100 * time.Millisecond }, "mute")
		want(t, err, "did not answer initialize within 100ms")
	})
	t.Run("MCP-63 a handshake that is given up is not cancelled by a notice", func(t *testing.T) {
		r := newRig(t, "mute")
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := r.servers.Connect(ctx, r.config, r.options)
			failed <- err
		}()
		eventually(t, "the handshake", func() bool { return strings.Contains(r.recorded(), `"initialize"`) })
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if sent := r.recorded(); strings.Contains(sent, noticeCancelled) {
			t.Errorf("sent %s", sent)
		}
	})
	t.Run("MCP-14 the list fails", func(t *testing.T) {
		err := strict(t, nil, "list-fails")
		want(t, err, "page 1 of the list of tools: no list today (error -32000)")
	})
	t.Run("MCP-66 the list hangs", func(t *testing.T) {
		err := strict(t, func(r *rig) { r.options.RequestTimeout = 2 * time.Second }, "list-hangs")
		want(t, err, "no answer within 2s")
	})
	t.Run("MCP-74 an unsupported revision", func(t *testing.T) {
		err := strict(t, nil, "protocol=1999-01-01")
		want(t, err, "1999-01-01")
	})
	t.Run("MCP-20 a conflict is raised on a strict start", func(t *testing.T) {
		r := newRig(t)
		r.config.FailOnStartupError = true
		squat(t, r.reg, "mcp__srv__echo")
		if _, err := r.servers.Connect(t.Context(), r.config, r.options); err == nil || !strings.Contains(err.Error(), "mcp__srv__echo") {
			t.Errorf("error %v", err)
		}
		if names := r.names(); len(names) != 1 {
			t.Errorf("tools %v", names)
		}
	})
	t.Run("MCP-14 not strict: the load succeeds without tools and goes on trying", func(t *testing.T) {
		r := newRig(t, "exit")
		b := r.connect()
		if b.Connected() || len(r.names()) != 0 {
			t.Error("connected")
		}
		eventually(t, "the giving up", func() bool { return strings.Contains(r.log.String(), "giving up") })
		if !strings.Contains(r.log.String(), "a failed connect") {
			t.Error("MCP-62 the log does not say what failed")
		}
	})
	t.Run("MCP-13 the caller's context bounds the start", func(t *testing.T) {
		r := newRig(t, "hang")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := r.servers.Connect(ctx, r.config, r.options); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		// The name is free again.
		r.config.Env[modeVariable] = "pidfile=" + r.path("pid")
		r.connect()
	})
}

func squat(t *testing.T, reg *registry.Registry, name string) (dispose func()) {
	t.Helper()
	d, err := registry.Define(registry.Spec[struct{}, string]{Name: name, Description: "native", Run: func(context.Context, struct{}, *registry.Run) (string, error) { return "native", nil }})
	if err != nil {
		t.Fatal(err)
	}
	dispose, err = reg.Register(d)
	if err != nil {
		t.Fatal(err)
	}
	return dispose
}

func TestStubbornServers(t *testing.T) {
	closing := func(t *testing.T, least, most time.Duration, modes ...string) {
		t.Helper()
		r := newRig(t, modes...)
		b := r.connect()
		start := time.Now()
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < least || took > most {
			t.Errorf("closing took %v", took)
		}
		if !gone(r.pid("pid")) {
			t.Error("the process is left")
		}
		if len(r.names()) != 0 {
			t.Errorf("MCP-68 tools %v", r.names())
		}
	}
	t.Run("MCP-72 it leaves when its input closes", func(t *testing.T) { closing(t, 0, 1500*time.Millisecond) })
	t.Run("MCP-72 it is terminated after 2 s", func(t *testing.T) { closing(t, 1900*time.Millisecond, 3800*time.Millisecond, "ignore-eof") })
	t.Run("MCP-72 it is killed after 4 s", func(t *testing.T) { closing(t, 3900*time.Millisecond, 5*time.Second, "ignore-eof", "ignore-term") })
	t.Run("MCP-72 the grandchild goes too", func(t *testing.T) {
		r := newRig(t)
		r.config.Env[modeVariable] += "|grandchild=" + r.path("grandchild")
		b := r.connect()
		pid := r.pid("grandchild")
		if pid == 0 {
			t.Fatal("no grandchild")
		}
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !gone(pid) {
			t.Error("the grandchild is left")
		}
	})
	t.Run("MCP-55 a crash is noticed although a grandchild holds the pipe", func(t *testing.T) {
		r := newRig(t)
		r.config.Env[modeVariable] += "|grandchild=" + r.path("grandchild")
		b := r.connect()
		first := r.pid("pid")
		wantFailure(t, r.call("mcp__srv__crash", `{}`), "not connected")
		eventually(t, "a new process", func() bool { return r.pid("pid") != first && b.Connected() })
	})
	t.Run("MCP-69 calls under way fail as not connected at disposal", func(t *testing.T) {
		r := newRig(t)
		b := r.connect()
		done := make(chan registry.Result, 1)
		go func() { done <- r.call("mcp__srv__deaf", `{}`) }()
		eventually(t, "the call at the server", func() bool { return strings.Contains(r.recorded(), `"name":"deaf"`) })
		_ = b.Close(t.Context())
		if res := <-done; res.Failure() == nil || res.Failure().Message != `MCP server "srv" is not connected` {
			t.Errorf("%s", res.Text())
		}
	})
	t.Run("MCP-68 closing twice, and at the same time", func(t *testing.T) {
		r := newRig(t)
		b := r.connect()
		errs := make(chan error, 3)
		for range 3 {
			go func() { errs <- b.Close(t.Context()) }()
		}
		for range 3 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestServerRequests(t *testing.T) {
	t.Run("MCP-19 no capabilities; ping is answered, everything else is method-not-found", func(t *testing.T) {
		r := newRig(t, "ask")
		r.connect()
		eventually(t, "five answers", func() bool { return strings.Count(r.recorded(), `"id":"s`) == 5 })
		for line := range strings.Lines(r.recorded()) {
			var m struct {
				ID     any
				Method string
				Params struct {
					Capabilities map[string]any
					ClientInfo   struct{ Name string }
				}
				Result json.RawMessage
				Error  struct{ Code int }
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			switch {
			case m.Method == "initialize":
				if len(m.Params.Capabilities) != 0 || m.Params.ClientInfo.Name != "runcode" {
					t.Errorf("MCP-74 initialize %s", line)
				}
			case m.ID == "s0":
				if string(m.Result) != "{}" {
					t.Errorf("ping was answered by %s", line)
				}
			case m.Method == "" && m.Error.Code != -32601:
				t.Errorf("answered by %s", line)
			}
		}
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
	})
	t.Run("MCP-18 a server without tools", func(t *testing.T) {
		r := newRig(t, "toolless")
		b := r.connect()
		if !b.Connected() || len(r.names()) != 0 || strings.Contains(r.recorded(), "tools/list") {
			t.Errorf("tools %v", r.names())
		}
	})
	t.Run("MCP-74 a server of the newest revision alone", func(t *testing.T) {
		r := newRig(t, "modern-only")
		b := r.connect()
		if f := b.Facts(); f.Protocol != "2026-07-28" {
			t.Errorf("facts %+v", f)
		}
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		if len(r.names()) != 14 {
			t.Errorf("tools %v", r.names())
		}
	})
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18"} {
		t.Run("MCP-74 revision "+revision, func(t *testing.T) {
			r := newRig(t, "protocol="+revision)
			b := r.connect()
			if f := b.Facts(); f.Protocol != revision {
				t.Errorf("facts %+v", f)
			}
			wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		})
	}
}

func TestSecrets(t *testing.T) {
	t.Run("MCP-5 secrets of env reach no log and no error; MCP-70 but they reach the server", func(t *testing.T) {
		t.Setenv("OUR_API_KEY", "ours-s3cret")
		r := newRig(t, "exit", "complain=the key is top-s3cret and I am leaving")
		r.config.Env["API_KEY"] = "top-s3cret"
		r.config.FailOnStartupError = true
		_, err := r.servers.Connect(t.Context(), r.config, r.options)
		if err == nil || !strings.Contains(err.Error(), "the key is [redacted]") {
			t.Errorf("error %v", err)
		}
		if strings.Contains(err.Error()+r.log.String(), "s3cret") {
			t.Errorf("log %s", r.log)
		}
	})
	t.Run("MCP-70 the environment of the server", func(t *testing.T) {
		t.Setenv("OUR_API_KEY", "ours-s3cret")
		t.Setenv("RUNCODE_STATE_KEY", "state-s3cret")
		t.Setenv("HARMLESS", "fine")
		r := newRig(t)
		r.config.Env["MY_TOKEN"] = "explicit"
		r.connect()
		env := r.call("mcp__srv__environment", `{}`).Text()
		if strings.Contains(env, "s3cret") || !strings.Contains(env, "HARMLESS=fine") || !strings.Contains(env, "MY_TOKEN=explicit") {
			t.Errorf("environment %s", env)
		}
	})
}

func TestResults(t *testing.T) {
	r := newRig(t)
	r.connect()
	echo := func(t *testing.T, answer string) registry.Result {
		t.Helper()
		return r.call("mcp__srv__echo", `{"answer":`+answer+`}`)
	}
	for _, c := range []struct{ name, answer, text, value string }{
		{"MCP-26 every field of every block", `{"content":[{"type":"text","text":"a","_meta":{"z":1,"a":2}},7,{"type":"new","x":[]}],"other":1,"structuredContent":{"b":1,"a":2}}`,
			"a\n[MCP content block not supported: not an object]\n[MCP content type not supported: new]",
			`{"content":[{"type":"text","text":"a","_meta":{"z":1,"a":2}},7,{"type":"new","x":[]}],"structuredContent":{"b":1,"a":2}}`},
		{"MCP-31 blocks", `{"content":[{"type":"text"},{"type":"text","text":"x"},{"type":"resource_link","name":"n","uri":"u://1"},{"type":"resource_link","name":"n"},{"type":"image","mimeType":"image/png","data":"AA=="},{"type":"image"},{"type":"audio","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"x"}},{"no":"type"},{"type":3}]}`,
			"x\nResource link: n (u://1)\n[resource link incomplete: name or URI missing]\n[image not shown: image/png; another image of this result is invalid; the raw data is available to programs]\n[image not shown: unknown type; only PNG, JPEG, WebP and GIF are accepted; the raw data is available to programs]\n[audio not supported: audio/wav; the raw data is available to programs]\n[embedded resource not supported; the raw data is available to programs]\n[MCP content block not supported: not an object]\n[MCP content block not supported: not an object]", ""},
		{"MCP-31 nothing to show", `{"content":[]}`, "(echo returned nothing to show)", `{"content":[]}`},
		{"MCP-31 only empty text", `{"content":[{"type":"text","text":""}]}`, "(echo returned nothing to show)", ""},
		{"MCP-32 structured content is not rendered", `{"content":[],"structuredContent":{"a":1}}`, "(echo returned nothing to show)", `{"content":[],"structuredContent":{"a":1}}`},
		{"MCP-29 toolResult", `{"toolResult":{"b":1,"a":[2]}}`, `{"b":1,"a":[2]}`, `{"content":[{"type":"text","text":"{\"b\":1,\"a\":[2]}"}]}`},
		{"MCP-29 a string as toolResult", `{"toolResult":"x"}`, `"x"`, ""},
		{"MCP-29 neither", `{}`, "(no output)", `{"content":[{"type":"text","text":"(no output)"}]}`},
		{"MCP-29 with structured content", `{"structuredContent":[1]}`, "(no output)", `{"content":[{"type":"text","text":"(no output)"}],"structuredContent":[1]}`},
		{"MCP-29 no object at all", `[1]`, "(no output)", ""},
		{"MCP-75 deep content, which the library would end the connection for", `{"content":[],"structuredContent":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "(echo returned nothing to show)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := echo(t, c.answer)
			if res.IsError() {
				t.Fatal(res.Failure().Message)
			}
			wantText(t, res, c.text)
			if c.value != "" && res.Value().String() != c.value {
				t.Errorf("value %s, want %s", res.Value(), c.value)
			}
		})
	}
	for _, c := range []struct{ name, answer, message, code string }{
		{"MCP-28 flagged as error", `{"isError":true,"content":[{"type":"text","text":"no"},{"type":"image"}]}`, "no\n[image not shown: unknown type; not stored for the model; the raw data is available to programs]", ""},
		{"MCP-29 the old shape, flagged", `{"isError":true,"toolResult":5}`, "5", ""},
		{"MCP-19 asking for input", `{"resultType":"input_required","inputRequests":{}}`, `tool "echo" asks for input from the client, which is not supported`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := echo(t, c.answer)
			if !res.IsError() || res.Failure().Message != c.message {
				t.Errorf("message %q, want %q", res.Text(), c.message)
			}
		})
	}
	// The arguments cannot carry what is lossy, so that the server has to be told by another way: see TestLossyResults.
	t.Run("MCP-27 structured output", func(t *testing.T) {
		if res := r.call("mcp__srv__structured", `{}`); res.IsError() {
			t.Error(res.Failure().Message)
		}
		if res := r.call("mcp__srv__loose", `{}`); res.IsError() {
			t.Error(res.Failure().Message)
		}
	})
}

func TestListChanged(t *testing.T) {
	t.Run("MCP-51 MCP-52 notices during and right after the start", func(t *testing.T) {
		r := newRig(t, "early-notice", "burst")
		changes := 0
		r.reg.OnChange(func() { changes++ })
		r.connect()
		eventually(t, "a second list", func() bool { return strings.Count(r.recorded(), "tools/list") >= 4 })
		if len(r.names()) != 14 {
			t.Errorf("tools %v", r.names())
		}
		time.Sleep(100 * time.Millisecond)
		if n := strings.Count(r.recorded(), "tools/list"); n > 12 {
			t.Errorf("MCP-52 51 notices were merged into %d requests", n)
		}
		if changes != 1 {
			t.Errorf("MCP-54 an unchanged list changed the registry %d times", changes)
		}
	})
}
