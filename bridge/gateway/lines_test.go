package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// lineClient speaks to ServeStdio without a library.
type lineClient struct {
	t     *testing.T
	to    io.WriteCloser
	from  io.Closer
	lines chan string // closed at the end of the output
	wait  func() error
}

func (h *house) raw(ctx context.Context) *lineClient {
	w, r, wait := h.stdio(ctx)
	c := &lineClient{h.t, w, r, make(chan string, 1000), wait}
	go func() {
		defer close(c.lines)
		for in := bufio.NewReader(r); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	return c
}

// greeted is a raw client after the handshake.
func (h *house) greeted() *lineClient {
	h.t.Helper()
	c := h.raw(h.t.Context())
	c.send(initialize)
	c.expect(`"id":1`, `"protocolVersion":"2025-11-25"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *lineClient) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.to, line+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

// next returns the next line of the server, which must be one JSON-RPC message.
func (c *lineClient) next() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the output has ended")
		}
		if _, err := jsonrpc.DecodeMessage([]byte(line)); err != nil && !strings.Contains(line, `"id":null`) {
			c.t.Fatalf("no message: %v: %.200s", err, line)
		}
		return line
	case <-time.After(patience):
		c.t.Fatal("the server does not answer")
		return ""
	}
}

func (c *lineClient) expect(parts ...string) string {
	c.t.Helper()
	line := c.next()
	for _, part := range parts {
		if !strings.Contains(line, part) {
			c.t.Errorf("the server answered %.300s, want %s in it", line, part)
		}
	}
	return line
}

func (c *lineClient) alive() {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"alive","method":"ping"}`)
	c.expect(`"id":"alive"`, `"result":{}`)
}

func runLine(id, program string) string {
	code := string(jsonval.AppendString(nil, program))
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"run_code","arguments":{"code":` + code + `,"description":"d"}}}`
}

func TestBadLines(t *testing.T) {
	h := open(t, houseOptions{})
	c := h.greeted()
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	bottomless := strings.Repeat("[", 1_000_000)
	for _, b := range []struct{ name, line, id, code string }{
		{"that is no JSON", "hello", "null", "-32700"},
		{"of half a message", `{"jsonrpc":"2.0","id":5,`, "null", "-32700"},
		{"with two messages", `{"jsonrpc":"2.0","id":5,"method":"ping"} {}`, "null", "-32700"},
		{"of broken UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"p\xff\"}", "null", "-32700"},
		{"that never ends nesting", bottomless, "null", "-32700"},
		{"that is a batch", `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, "null", "-32600"},
		{"that is an empty batch", `[]`, "null", "-32600"},
		{"that is a text", `"hello"`, "null", "-32600"},
		{"that is null", `null`, "null", "-32600"},
		{"without a version", `{"id":5,"method":"ping"}`, "5", "-32600"},
		{"of another version", `{"jsonrpc":"1.0","id":"a","method":"ping"}`, `"a"`, "-32600"},
		{"whose method is a number", `{"jsonrpc":"2.0","id":5,"method":7}`, "5", "-32600"},
		{"with the id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", "-32600"},
		{"with a fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null", "-32600"},
		{"with an id beyond numbers", `{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, "null", "-32600"},
		{"with an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", "-32600"},
		{"without a method", `{"jsonrpc":"2.0","id":5}`, "5", "-32600"},
		{"with result and error", `{"jsonrpc":"2.0","id":5,"result":{},"error":{"code":1,"message":"m"}}`, "5", "-32600"},
		{"of an unknown method", `{"jsonrpc":"2.0","id":5,"method":"nope"}`, "5", "-32601"},
		{"without params", `{"jsonrpc":"2.0","id":5,"method":"tools/call"}`, "5", "-32600"},
		{"with params of another kind", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[1]}`, "5", "-32602"},
		{"nested deep", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"run_code","arguments":{"x":` + deep + `}}}`, "5", "-32602"},
		{"with a cursor", `{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"x"}}`, "5", "-32602"},
		{"before a second handshake", initialize, "1", ""},
		{"of more than 16 MiB", `{"jsonrpc":"2.0","id":5,"method":"` + strings.Repeat("x", maxLine) + `"}`, "null", "-32600"},
	} {
		t.Run("GATE-5 a line "+b.name+" is answered and ends nothing", func(t *testing.T) {
			c.t = t
			c.send(b.line)
			c.expect(`"id":`+b.id, `"error":{"code":`+b.code)
			c.alive()
		})
	}
	for _, b := range []struct{ name, line string }{
		{"an empty line", ""},
		{"white space", " \t\r"},
		{"an answer that nobody waits for", `{"jsonrpc":"2.0","id":99,"result":{}}`},
		{"a notification that nobody knows", `{"jsonrpc":"2.0","method":"notifications/nope"}`},
		{"a cancellation of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`},
		{"a cancellation of nonsense", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`},
	} {
		t.Run("GATE-5 "+b.name+" is skipped", func(t *testing.T) {
			c.t = t
			c.send(b.line)
			c.alive()
		})
	}
	t.Run("GATE-5 an id that is in use is refused", func(t *testing.T) {
		c.t = t
		c.send(runLine("5", `await new Promise(r => setTimeout(r, 200)); return "first"`), runLine("5", `return "second"`))
		c.expect(`"id":null`, "-32600")
		c.expect(`"id":5`, "first")
	})
	t.Run("GATE-5 windows line ends are line ends", func(t *testing.T) {
		c.t = t
		c.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\r")
		c.expect(`"id":7`)
	})
	t.Run("GATE-5 what was wrong is logged", func(t *testing.T) {
		if !strings.Contains(h.log.String(), "no message") {
			t.Errorf("the log says %q", h.log.String())
		}
	})
}

func TestEnds(t *testing.T) {
	t.Run("GATE-5 the end of the input aborts and drains what runs", func(t *testing.T) {
		w := newWaiting()
		h := open(t, houseOptions{tools: []registry.Definition{blocker(w)}})
		c := h.greeted()
		c.send(runLine("2", "await tools.block({})"), runLine("3", "await tools.block({})"))
		next(t, w.began, "the first call")
		next(t, w.began, "the second call")
		_ = c.to.Close()
		if err := c.wait(); err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		for range 2 {
			select {
			case cause := <-w.ended:
				if !errors.Is(cause, errClientGone) {
					t.Errorf("aborted with %v", cause)
				}
			default:
				t.Error("ServeStdio returned before the call had ended")
			}
		}
	})
	t.Run("GATE-5 a last line without an end is read", func(t *testing.T) {
		h := open(t, houseOptions{})
		c := h.greeted()
		if _, err := io.WriteString(c.to, `{"jsonrpc":"2.0","id":9,"method":"nope"}`); err != nil {
			t.Fatal(err)
		}
		go c.to.Close()
		c.expect(`"id":9`)
	})
	t.Run("GATE-5 a client that no longer reads is gone", func(t *testing.T) {
		w := newWaiting()
		h := open(t, houseOptions{tools: []registry.Definition{blocker(w)}})
		c := h.greeted()
		c.send(runLine("2", "await tools.block({})"))
		next(t, w.began, "the call")
		_ = c.from.Close()
		c.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		if err := c.wait(); err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		next(t, w.ended, "the end of the call")
	})
	t.Run("GATE-5 the end of the context aborts and answers what runs", func(t *testing.T) {
		w := newWaiting()
		h := open(t, houseOptions{tools: []registry.Definition{blocker(w)}})
		ctx, cancel := context.WithCancelCause(t.Context())
		c := h.raw(ctx)
		c.send(initialize)
		c.expect(`"id":1`)
		c.send(runLine("2", "await tools.block({})"))
		next(t, w.began, "the call")
		why := errors.New("going home")
		cancel(why)
		c.expect(`"id":2`, "going home", `"isError":true`)
		if err := c.wait(); !errors.Is(err, why) {
			t.Errorf("ServeStdio: %v", err)
		}
	})
	t.Run("GATE-5 Close aborts, answers and drains what runs, and takes nothing more", func(t *testing.T) {
		w := newWaiting()
		h := open(t, houseOptions{tools: []registry.Definition{blocker(w)}})
		c := h.greeted()
		c.send(runLine("2", "await tools.block({})"))
		next(t, w.began, "the call")
		closeWithin(t, h.Close)
		next(t, w.ended, "the end of the call")
		c.expect(`"id":2`, errShutdown.Error(), `"isError":true`)
		if err := c.wait(); !errors.Is(err, errShutdown) {
			t.Errorf("ServeStdio: %v", err)
		}
		_, out := io.Pipe()
		if err := h.ServeStdio(t.Context(), io.NopCloser(strings.NewReader("")), out); !errors.Is(err, errShutdown) {
			t.Errorf("ServeStdio after Close: %v", err)
		}
	})
	t.Run("GATE-5 a cancellation of the request aborts the run", func(t *testing.T) {
		w := newWaiting()
		h := open(t, houseOptions{tools: []registry.Definition{blocker(w)}})
		c := h.greeted()
		c.send(runLine("2", "await tools.block({})"))
		next(t, w.began, "the call")
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"changed my mind"}}`)
		if cause := next(t, w.ended, "the end of the call"); !errors.Is(cause, errCancelled) {
			t.Errorf("aborted with %v", cause)
		}
		c.expect(`"id":2`, "the client cancelled the request")
		c.alive()
	})
}

// FuzzReadLine reads lines of whatever a client sends, in pieces of any size.
func FuzzReadLine(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n c"), 4)
	f.Add([]byte(strings.Repeat("x", 100)+"\ny"), 10)
	f.Fuzz(func(t *testing.T, stream []byte, limit int) {
		limit = 1 + abs(limit)%200
		r := bufio.NewReaderSize(bytes.NewReader(stream), 16)
		want := bytes.Split(stream, []byte("\n"))
		for i, line := range want {
			got, err := readLine(r, limit)
			last := i == len(want)-1
			switch size := len(line) + 1; {
			case last && (len(line) == 0 || len(line) > limit):
				if !errors.Is(err, io.EOF) {
					t.Fatalf("line %d: %q, %v, want the end", i, got, err)
				}
			case !last && size > limit:
				if !errors.Is(err, errLongLine) || got != nil {
					t.Fatalf("line %d of %d bytes: %q, %v", i, size, got, err)
				}
			case err != nil || !bytes.Equal(got, bytes.TrimSpace(line)):
				t.Fatalf("line %d: %q, %v, want %q", i, got, err, line)
			}
		}
		if got, err := readLine(r, limit); !errors.Is(err, io.EOF) {
			t.Fatalf("after the end: %q, %v", got, err)
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

// FuzzDecodeMessage holds that a line is a message or has an answer, and that the answer is valid.
func FuzzDecodeMessage(f *testing.F) {
	for _, line := range []string{initialize, `[]`, `{`, `{"jsonrpc":"2.0","id":1.5,"method":"x"}`, `{"jsonrpc":"2.0","id":"a","result":1}`, "\xff"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		msg, answer := decodeMessage(line)
		if (msg == nil) == (answer == nil) {
			t.Fatalf("message %v, answer %v", msg, answer)
		}
		if answer != nil {
			text, err := encodeMessage(answer)
			if err != nil || !json.Valid(text) || bytes.Count(text, []byte("\n")) != 1 {
				t.Fatalf("answer %q, %v", text, err)
			}
		}
	})
}
