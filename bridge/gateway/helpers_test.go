package gateway

// This file defines a gateway over real registries and engines, and the clients that the tests speak to it with.

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojaengine"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// house is a gateway and all that is behind it.
type house struct {
	*Gateway
	t      *testing.T
	bridge *bridge.Bridge
	reg    *registry.Registry
	log    *logBuffer
}

type houseOptions struct {
	mode    registry.Mode
	engine  runtime.Engine
	tools   []registry.Definition
	gateway Options
	times   times // fields that are not zero replace the defaults
}

func open(t *testing.T, o houseOptions) *house {
	t.Helper()
	h, err := tryOpen(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func tryOpen(t *testing.T, o houseOptions) (*house, error) {
	t.Helper()
	if o.engine == nil {
		e, err := gojaengine.New(gojaengine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeWithin(t, e.Close) })
		o.engine = e
	}
	if o.mode == "" {
		o.mode = registry.Code
	}
	h := &house{t: t, log: new(logBuffer)}
	o.gateway.SDK = SDKOptions(o.gateway.SDK, o.gateway.MaxDescription)
	b, err := bridge.New(bridge.Options{Engine: o.engine, PerRun: PerRun, SDK: o.gateway.SDK})
	if err != nil {
		t.Fatal(err)
	}
	h.bridge = b
	h.reg, err = registry.New(registry.Options{Mode: o.mode, Transport: b, Approver: Approver(nil)})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range o.tools {
		h.register(d)
	}
	o.gateway.Registry = h.reg
	o.gateway.Logger = slog.New(slog.NewTextHandler(h.log, nil))
	g, err := New(o.gateway)
	if err != nil {
		return nil, err
	}
	h.Gateway = g
	shorten(&g.times, o.times)
	t.Cleanup(func() { closeWithin(t, g.Close) })
	return h, nil
}

func shorten(t *times, by times) {
	for _, f := range []struct {
		to   *time.Duration
		from time.Duration
	}{{&t.quiet, by.quiet}, {&t.settle, by.settle}, {&t.progress, by.progress}, {&t.alive, by.alive}, {&t.parked, by.parked}, {&t.notify, by.notify}} {
		if f.from != 0 {
			*f.to = f.from
		}
	}
}

func closeWithin(t *testing.T, closer func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := closer(ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func (h *house) register(d registry.Definition) (dispose func()) {
	h.t.Helper()
	dispose, err := h.reg.Register(d)
	if err != nil {
		h.t.Fatal(err)
	}
	return dispose
}

// tool makes a definition whose value is what run returns and whose rendering is that as JSON.
func tool(name string, run func(ctx context.Context, args jsonval.Value) (any, error)) registry.Definition {
	return registry.Definition{
		Name: name, Description: "The tool " + name + ".",
		Parameters: jsonval.MustOf(map[string]any{"type": "object"}),
		Output: registry.Output{
			Schema: jsonval.Object(),
			Render: func(_, value jsonval.Value) ([]registry.Block, error) {
				if value.IsString() {
					return []registry.Block{registry.Text(value.Str())}, nil
				}
				return []registry.Block{registry.Text(value.String())}, nil
			},
		},
		Execute: func(ctx context.Context, args jsonval.Value, _ *registry.Run) (any, error) { return run(ctx, args) },
	}
}

func echo(name string) registry.Definition {
	return tool(name, func(_ context.Context, args jsonval.Value) (any, error) { return args, nil })
}

// blocker is a tool that runs until it is cancelled.
func blocker(w *waiting) registry.Definition {
	return tool("block", func(ctx context.Context, _ jsonval.Value) (any, error) {
		w.began <- struct{}{}
		<-ctx.Done()
		w.ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	})
}

// stdio starts serving on pipes. The returned wait gives what ServeStdio returned.
func (h *house) stdio(ctx context.Context) (toServer *io.PipeWriter, fromServer *io.PipeReader, wait func() error) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- h.ServeStdio(ctx, in, out) }()
	wait = func() error {
		h.t.Helper()
		select {
		case err := <-served:
			served <- err
			return err
		case <-time.After(patience):
			h.t.Fatal("ServeStdio did not return")
			return nil
		}
	}
	h.t.Cleanup(func() {
		_ = toServer.Close()
		_ = fromServer.Close()
		_ = wait()
	})
	return toServer, fromServer, wait
}

// connect is a client of the official library on pipes.
func (h *house) connect(o *mcp.ClientOptions, protocol string) *mcp.ClientSession {
	h.t.Helper()
	w, r, _ := h.stdio(h.t.Context())
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	session, err := client.Connect(h.t.Context(), &mcp.IOTransport{Reader: r, Writer: w}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = session.Close() })
	return session
}

// run calls run_code.
func run(t *testing.T, s *mcp.ClientSession, program string) *mcp.CallToolResult {
	t.Helper()
	return callTool(t, s, registry.RunCode, map[string]any{"code": program, "description": "test"})
}

func callTool(t *testing.T, s *mcp.ClientSession, name string, args any) *mcp.CallToolResult {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return result
}

// text joins the texts of a result.
func text(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

func structured(r *mcp.CallToolResult) string {
	if r.StructuredContent == nil {
		return ""
	}
	v, err := jsonval.Of(r.StructuredContent)
	if err != nil {
		return err.Error()
	}
	return v.String()
}

// logBuffer keeps what is logged.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// next waits for a value of a channel.
func next[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
		panic(errors.New("unreachable"))
	}
}
