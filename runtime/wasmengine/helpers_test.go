package wasmengine

import (
	"context"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/internal/loop"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// fakeHost stands in for a run where a test drives a guest by hand.
type fakeHost struct {
	frames  []loop.Frame
	receive func(loop.Frame) (string, bool)
	tick    func() bool
	ended   bool
}

func (h *fakeHost) Receive(f loop.Frame) (string, bool) {
	h.frames = append(h.frames, f)
	if f.Op >= loop.OpDone && f.Op <= loop.OpLimit {
		h.ended = true
	}
	if f.Op == loop.OpMapStack {
		return "0:0", true
	}
	if h.receive != nil {
		return h.receive(f)
	}
	return "", false
}

func (h *fakeHost) Tick() bool       { return h.tick != nil && h.tick() }
func (h *fakeHost) Ended() bool      { return h.ended }
func (h *fakeHost) Clock() time.Time { return time.UnixMilli(1_700_000_000_123) }

// newGuest returns a guest of e that is closed at the end of the test.
func newGuest(t testing.TB, e *Engine, h host) *guest {
	t.Helper()
	g, err := e.module.instance(context.Background(), e.image, e.image.source, e.memory, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// begin starts a program and runs it as far as it goes without an answer.
func begin(g *guest, body string) error {
	if err := g.Configure(`{"limit":1000000,"seed":[1,2],"namespaces":[{"global":"tools","members":["x"]}],"globals":[]}`); err != nil {
		return err
	}
	if err := g.Start("(async function () { 'use strict'; await 0;" + body + "\n})"); err != nil {
		return err
	}
	return g.Jobs()
}

// answering has one function, tools.x, that answers at once.
func answering(result any) []runtime.Namespace {
	return serving(func(_ context.Context, _ jsonval.Value, reply func(any, error)) { reply(result, nil) })
}

func serving(call runtime.Handler) []runtime.Namespace {
	return []runtime.Namespace{{Global: "tools", Functions: []runtime.Function{{Name: "x", Call: call}}}}
}

// silent never answers.
func silent() []runtime.Namespace {
	return serving(func(context.Context, jsonval.Value, func(any, error)) {})
}

// tryRun runs a program that may fail.
func tryRun(t testing.TB, e *Engine, req runtime.Request) runtime.Result {
	t.Helper()
	r, err := e.Run(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustRun runs a program that completes.
func mustRun(t testing.TB, e *Engine, req runtime.Request) runtime.Result {
	t.Helper()
	r := tryRun(t, e, req)
	if r.Error != nil {
		t.Fatalf("%s: %v", req.Program, r.Error)
	}
	return r
}

// wantFailure checks kind and message.
func wantFailure(t testing.TB, r runtime.Result, kind runtime.Kind, message string) {
	t.Helper()
	if r.Error == nil || r.Error.Kind != kind || r.Error.Message != message {
		t.Errorf("failure %v with value %v, want %s: %s", r.Error, r.Value, kind, message)
	}
}
