package registry

// This file calls foreign code: every panic becomes an error, and every error has a message and perhaps a code (RESULT-6).

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

const unprintable = "<unprintable error>"

// panicked is the error of a panic whose value was no error.
type panicked struct{ message string }

func (p *panicked) Error() string { return p.message }

// raised turns what recover returned into an error. A panic with an error value counts as that error.
func raised(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return &panicked{printed(p)}
}

func printed(p any) (text string) {
	defer func() {
		if recover() != nil {
			text = unprintable
		}
	}()
	switch p := p.(type) {
	case string:
		return p
	case fmt.Stringer:
		return p.String()
	}
	return fmt.Sprint(p)
}

// guarded calls f and returns what it panicked with as an error.
func guarded(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = raised(p)
		}
	}()
	f()
	return nil
}

// caught is deferred around foreign code of a call: it stores a panic in err and its stack in the log, never in a result.
func (c *call) caught(where string, err *error) {
	if p := recover(); p != nil {
		*err = raised(p)
		c.registry.log.LogAttrs(context.Background(), slog.LevelWarn, where+" panicked",
			slog.String("tool", c.Name()), slog.String("call", c.CallID()),
			slog.String("panic", printed(p)), slog.String("stack", string(debug.Stack())))
	}
}

// describe returns the message of err and, if it carries a code, its class. It trusts none of the methods it calls.
func describe(err error) (message string, info *Info) {
	if c, ok := err.(*codedError); ok {
		return c.message, infoOf(c)
	}
	return messageOf(err), classOf(err)
}

func messageOf(err error) (message string) {
	defer func() {
		if recover() != nil {
			message = unprintable
		}
	}()
	return err.Error()
}

func classOf(err error) (info *Info) {
	defer func() {
		if recover() != nil {
			info = nil
		}
	}()
	var coded CodedError
	if errors.As(err, &coded) {
		return infoOf(coded)
	}
	return nil
}

func infoOf(coded CodedError) *Info {
	code := coded.Code()
	if code == "" {
		return nil
	}
	name := coded.Name()
	if name == "" {
		name = "HarnessError"
	}
	return &Info{Name: name, Code: code}
}

// isCancellation reports whether err says that a context ended (CANCEL-8).
func isCancellation(err error) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// snapshot takes a Go value in. Its errors are those of jsonval.Of; what panics in spite of it is a *jsonval.ReadError.
func snapshot(v any) (value jsonval.Value, err error) {
	switch v := v.(type) {
	case taken:
		return v.value, v.err
	case jsonval.Value:
		if v.Exists() {
			return v, nil
		}
	}
	defer func() {
		if p := recover(); p != nil {
			value, err = jsonval.Value{}, &jsonval.ReadError{Path: "$", Message: printed(p)}
		}
	}()
	return jsonval.Of(v)
}

// unread returns the message of the failure to read a value, and whether that was it; otherwise the value is lossy.
func unread(err error) (message string, yes bool) {
	var failed *jsonval.ReadError
	if errors.As(err, &failed) {
		return failed.Message, true
	}
	return "", false
}
