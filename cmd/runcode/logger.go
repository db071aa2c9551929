package main

// This file defines how log records of the packages below look on standard error: one line, without a time stamp.

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
)

// lineHandler prints records from warnings up.
type lineHandler struct {
	app *app
	// returned, while true, drops errors: what is starting up returns them too, and then they are the command's to report.
	returned *atomic.Bool
	attrs    []slog.Attr
	group    string
}

func (h *lineHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError && h.returned != nil && h.returned.Load() {
		return nil
	}
	var b strings.Builder
	severity := "warning"
	if r.Level >= slog.LevelError {
		severity = "error"
	}
	b.WriteString(severity + ": " + r.Message)
	add := func(a slog.Attr) bool {
		if !a.Equal(slog.Attr{}) {
			b.WriteString(" " + a.Key + "=" + a.Value.Resolve().String())
		}
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(func(a slog.Attr) bool { a.Key = h.group + a.Key; return add(a) })
	h.app.warn(b.String())
	return nil
}

func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.attrs = append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)
	for i := len(h.attrs); i < len(next.attrs); i++ {
		next.attrs[i].Key = h.group + next.attrs[i].Key
	}
	return &next
}

func (h *lineHandler) WithGroup(name string) slog.Handler {
	next := *h
	next.group += name + "."
	return &next
}
