package bridge

// This file defines how a run speaks to the functions of RunOptions: one at a time, and so that their faults stay theirs.

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/runcode-go/runcode/runtime"
)

type watcher struct {
	mu     sync.Mutex
	o      RunOptions
	logger *slog.Logger
}

// onLog returns the engine's log observer, nil when nobody listens.
func (w *watcher) onLog() func(text string) {
	if w.o.OnLog == nil {
		return nil
	}
	return func(text string) { w.call("OnLog", func() { w.o.OnLog(text) }) }
}

func (w *watcher) onTurn() func(runtime.Turn) {
	if w.o.OnTurn == nil {
		return nil
	}
	return func(t runtime.Turn) { w.call("OnTurn", func() { w.o.OnTurn(t) }) }
}

func (w *watcher) event(e Event) {
	if w.o.OnEvent != nil {
		w.call("OnEvent", func() { w.o.OnEvent(e) })
	}
}

func (w *watcher) outcome(o Outcome) {
	if w.o.OnOutcome != nil {
		w.call("OnOutcome", func() { w.o.OnOutcome(o) })
	}
}

func (w *watcher) call(hook string, f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			w.logger.Warn("a hook of a run panicked", "hook", hook, "error", fmt.Sprint(p))
		}
	}()
	f()
}

func (w *watcher) warn(message, tool, subCallID string, err error) {
	w.logger.Warn(message, "tool", tool, "call", subCallID, "error", runtime.ErrorText(err))
}
