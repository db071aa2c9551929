//go:build unix

package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/policy"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestNamesAtWork(t *testing.T) {
	r := newRig(t)
	r.connect()
	r.config.Name = "other"
	r.connect()
	squat(t, r.reg, "add")
	t.Run("MCP-10 the raw name is what goes on the wire", func(t *testing.T) {
		wantFailure(t, r.call("mcp__srv__admin_reset_3b185f786768", `{}`), "unknown tool admin.reset")
		if !strings.Contains(r.recorded(), `"name":"admin.reset"`) || strings.Contains(r.recorded(), "mcp__") {
			t.Error("the server got another name")
		}
	})
	t.Run("MCP-12 the same raw name elsewhere is unaffected", func(t *testing.T) {
		wantText(t, r.call("add", `{}`), "native")
		wantText(t, r.call("mcp__srv__add", `{"a":1,"b":2}`), "3")
		wantText(t, r.call("mcp__other__add", `{"a":2,"b":2}`), "4")
	})
	t.Run("MCP-23 arguments are not validated here", func(t *testing.T) {
		before := len(r.recorded())
		wantText(t, r.call("mcp__srv__add", `{"a":"one","z":null}`), "0")
		if sent := r.recorded()[before:]; !strings.Contains(sent, `"arguments":{"a":"one","z":null}`) {
			t.Errorf("sent %s", sent)
		}
	})
	t.Run("a denied call never reaches the server", func(t *testing.T) {
		defer r.reg.Guard(func(registry.Execution) (string, bool) { return "not today", true })()
		before := r.recorded()
		wantFailure(t, r.call("mcp__srv__add", `{}`), "not today")
		if r.recorded() != before {
			t.Error("it did")
		}
	})
	t.Run("MCP-21 always exclusive, whatever the server claims", func(t *testing.T) {
		if mode := r.reg.ExecutionMode(registry.Call{ID: "1", Name: "mcp__srv__admin_reset_3b185f786768", Arguments: json.RawMessage(`{}`)}); mode != registry.Exclusive {
			t.Errorf("mode %v", mode)
		}
	})
}

func TestPipelineTimeout(t *testing.T) {
	inBubble(t, "MCP-22 MCP-64 the pipeline's timeout applies", func(b *bench) {
		defer policy.Timeout(b.reg)()
		b.script.lists = []string{page("wait")}
		b.config.ToolCallTimeout = 2 * time.Second
		b.connect()
		start := time.Now()
		r := b.call("wait")
		if f := r.Failure(); f == nil || f.Info == nil || f.Info.Code != registry.CodeTimeout || f.Message != "tool call timed out after 2000ms" {
			b.Errorf("%+v", r.Failure())
		}
		if time.Since(start) != 2*time.Second {
			b.Errorf("after %v", time.Since(start))
		}
	})
}

func TestStrictness(t *testing.T) {
	inBubble(t, "MCP-15 an early notice does not use up the strictness", func(b *bench) {
		b.config.FailOnStartupError = true
		b.script.listErr = errRefused
		early := func(ctx context.Context) (session, error) {
			s, err := b.script.dial(ctx)
			if err == nil {
				s.(*scripted).notices <- struct{}{}
			}
			return s, err
		}
		_, err := b.set.connect(b.Context(), b.config, Options{Logger: b.log.logger()}, early)
		if err == nil || !strings.HasPrefix(err.Error(), `MCP server "srv": start-up failed: `) {
			b.Errorf("error %v", err)
		}
		if !b.script.last().isClosed() || b.script.asked() != 1 {
			b.Error("MCP-14 the client is open, or the list was asked for again")
		}
		b.wantNames("")
	})
}

func TestRendering(t *testing.T) {
	t.Run("MCP-33 the default rendering is pure and refuses images", func(t *testing.T) {
		value := jsonval.MustOf(map[string]any{"content": []any{map[string]any{"type": "image", "mimeType": "image/png", "data": "AA=="}}})
		for range 2 {
			blocks, err := renderContent("x", value)
			if err != nil || len(blocks) != 1 || blocks[0].Text() != "[image not shown: image/png; not stored for the model; the raw data is available to programs]" {
				t.Errorf("%v %v", blocks, err)
			}
		}
	})
}

func TestWire(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"a result", `{"jsonrpc":"2.0","id":1,"result":{"b":1,"a":2}}`, `1 "" {"b":1,"a":2}`},
		{"spaces and order", ` { "result" : [ 1 ] , "id" : "x" , "jsonrpc" : "2.0" } `, `x "" [ 1 ]`},
		{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}`, `1 "" error m`},
		{"an error without a message", `{"jsonrpc":"2.0","id":1,"error":{}}`, `1 "" error the server reported an error without a message`},
		{"neither", `{"jsonrpc":"2.0","id":1}`, `1 "" error the answer has neither a result nor an error`},
		{"a notice", `{"jsonrpc":"2.0","method":"n"}`, `<nil> "n" `},
		{"a request", `{"jsonrpc":"2.0","id":2,"method":"ping"}`, `2 "ping" `},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"result":1},7,{"jsonrpc":"2.0","method":"n"}]`, `1 "" 1|<nil> "n" `},
		{"too deep for the checker", `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}`, `1 "" error the answer nests deeper than 10000 levels`},
		{"deep, but not too deep", `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `}`, `1 "" ` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999)},
	} {
		t.Run("MCP-71 MCP-75 "+c.name, func(t *testing.T) {
			frames, err := parseFrames([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range frames {
				text := fmt.Sprintf("%v %q %s", f.id.Raw(), f.method, f.result)
				if f.fault != nil {
					text = fmt.Sprintf("%v %q error %s", f.id.Raw(), f.method, f.fault.Message)
				}
				got = append(got, text)
			}
			if text := strings.Join(got, "|"); text != c.want {
				t.Errorf("got  %.200s\nwant %.200s", text, c.want)
			}
		})
	}
	for _, text := range []string{"", "hello", "{", `{"jsonrpc":"2.0"}`, `{"id":1,"result":1}`, `{"jsonrpc":"1.0","id":1,"result":1}`, "7", `"x"`, "null", "[]", "[1]", `{"jsonrpc":"2.0","id":1,"result":1} x`, strings.Repeat("[", 20_000), `{"jsonrpc":"2.0","id":null,"result":1}`} {
		t.Run(fmt.Sprintf("MCP-71 no message: %.20q", text), func(t *testing.T) {
			if frames, err := parseFrames([]byte(text)); err == nil {
				t.Errorf("%+v", frames)
			}
		})
	}
}

func TestLongLine(t *testing.T) {
	t.Run("MCP-71 a line beyond the limit closes the connection", func(t *testing.T) {
		r := newRig(t, "long-line")
		r.config.Reconnect.Disabled = true
		b := r.connect()
		res := r.call("mcp__srv__deaf", `{}`)
		if want := `MCP server "srv" is not connected: the connection was lost during the call, so its effect is unknown; the server printed a line of more than 64 MiB`; !res.IsError() || res.Failure().Message != want {
			t.Errorf("MCP-30 the caller is told %s", res.Text())
		}
		eventually(t, "the loss", func() bool { return !b.Connected() })
		eventually(t, "the reason", func() bool { return strings.Contains(r.log.String(), "more than 64 MiB") })
	})
	t.Run("MCP-71 MCP-14 a list beyond the limit", func(t *testing.T) {
		r := newRig(t, "long-list")
		r.config.FailOnStartupError = true
		_, err := r.servers.Connect(t.Context(), r.config, r.options)
		if err == nil || !strings.Contains(err.Error(), "page 1 of the list of tools: the connection is closed: the server printed a line of more than 64 MiB") {
			t.Errorf("error %v", err)
		}
	})
}

func FuzzParseFrames(f *testing.F) {
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"result":{"a":[1,"\u00e9"]}}`, `[{"jsonrpc":"2.0","method":"x"}]`, `{"jsonrpc":"2.0","id":"a","error":{"code":1e9,"message":3,"data":[[]]}}`, "{\"a\":\"\x00\"}", `{"jsonrpc":"2.0","id":1.5,"result":null,"result":2}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		frames, err := parseFrames(text)
		if err == nil && len(frames) == 0 {
			t.Fatal("neither frames nor an error")
		}
		tap := newTap()
		for i := range frames {
			if frames[i].method == "" && frames[i].result == nil && frames[i].fault == nil {
				t.Fatalf("an answer without an outcome: %+v", frames[i])
			}
			tap.incoming(&frames[i])
			_ = frames[i].message()
			if frames[i].result != nil {
				if value, err := canonical("x", frames[i].result); err == nil && !json.Valid(value) {
					t.Fatalf("canonical made %s of %s", value, frames[i].result)
				}
			}
		}
		_ = tapMessage(tap, text)
	})
}

func FuzzRoundNumbers(f *testing.F) {
	for _, text := range []string{`{"a":-0}`, `[1e999,"1e999"]`, `9007199254740993`, `"\\\""`, `-`, `[1.0e-400]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rounded := roundNumbers(text)
		if json.Valid(text) && !json.Valid(rounded) {
			t.Fatalf("%s became %s", text, rounded)
		}
		if v, err := jsonval.Parse(text); err == nil {
			after, err := jsonval.Parse(rounded)
			if err != nil || !jsonval.Identical(v, after) {
				t.Fatalf("%s became %s", text, rounded)
			}
		}
	})
}

func FuzzListSubstitute(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"a","inputSchema":{"properties":{"p":{"type":"string","x-mcp-header":"P","properties":{"q":{"x-mcp-header":1}}}}}}]}`))
	f.Add([]byte(`{"tools":[{"name":"\ud800","inputSchema":{"properties":{"":{"x-mcp-header":null,"x-mcp-header":"a\"b"}}}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if json.Valid(text) && !json.Valid(listSubstitute(text)) {
			t.Fatalf("%s became %s", text, listSubstitute(text))
		}
	})
}
