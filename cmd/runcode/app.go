package main

// This file defines the command's surroundings, its exit statuses, and how an error becomes one line and a status.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// app is everything that the command takes from its process, so that it can run more than once in one.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	stdinTerminal, stdoutTerminal, stderrTerminal bool

	getenv        func(string) string
	userCacheDir  func() (string, error)
	userConfigDir func() (string, error)
	flushInput    func() // throws away what was typed before a question was asked

	interrupts <-chan os.Signal
	exit       func(status int) // at the second interrupt

	show atomic.Pointer[progress] // what writes to stderr while a program runs
}

// The exit statuses of CLI-7.
const (
	statusOK          = 0
	statusFailed      = 1
	statusUsage       = 2
	statusTimeout     = 124
	statusInterrupted = 130
)

// exitError ends the command with a status. With an err it is reported; without, the command has said everything already.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef is a mistake in how the command was called or configured.
func usagef(format string, args ...any) error {
	return &exitError{status: statusUsage, err: fmt.Errorf(format, args...)}
}

// errInterrupted is the cause with which the first interrupt ends what is running.
var errInterrupted = errors.New("interrupted")

// main runs one command line and returns its exit status.
func (a *app) main(args []string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := make(chan struct{})
	defer close(stop)
	go a.watchInterrupts(cancel, stop)

	root := a.rootCommand()
	args = impliedRun(root, args)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return statusOK
	}
	return a.report(err, args)
}

// watchInterrupts lets the first interrupt abort what is running, which drains its calls, and the second end the process.
func (a *app) watchInterrupts(cancel context.CancelCauseFunc, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-a.interrupts:
			if n > 0 {
				a.exit(statusInterrupted)
				return
			}
			cancel(errInterrupted)
		}
	}
}

// report prints an error as one line, or as the JSON object that a caller who passed --json waits for, and returns the status.
// What cobra makes of a command line is a usage error too.
func (a *app) report(err error, args []string) int {
	status := statusUsage
	var exit *exitError
	if errors.As(err, &exit) {
		status = exit.status
		if exit.err == nil {
			return status
		}
	}
	if errors.Is(err, errInterrupted) {
		status = statusInterrupted
	}
	message := oneLine(err.Error())
	if wantsJSON(args) {
		kind := "usage"
		if status == statusInterrupted {
			kind = "abort"
		}
		a.printJSON(jsonval.Object(
			jsonval.Member{Name: "ok", Value: jsonval.Bool(false)},
			jsonval.Member{Name: "error", Value: jsonval.Object(
				jsonval.Member{Name: "kind", Value: jsonval.Text(kind)},
				jsonval.Member{Name: "message", Value: jsonval.Text(message)},
			)},
		))
		return status
	}
	fmt.Fprintln(a.stderr, "runcode: "+a.forStderr(message))
	return status
}

// oneLine keeps what an error says and drops how it was laid out: a usage error is one line.
func oneLine(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}

// wantsJSON reports whether the command line asks for JSON, also when the rest of it cannot be parsed.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// forStderr and forStdout escape foreign text where a terminal would act on it (CLI-5).
func (a *app) forStderr(text string) string {
	if a.stderrTerminal {
		return escapeControls(text)
	}
	return text
}

func (a *app) forStdout(text string) string {
	if a.stdoutTerminal {
		return escapeControls(text)
	}
	return text
}

// printJSON writes v as one line on standard output. What has to be escaped for a terminal stands in strings only, and is escaped
// as JSON would: the line stays the same JSON.
func (a *app) printJSON(v jsonval.Value) error {
	text := append(v.AppendJSON(nil), '\n')
	if a.stdoutTerminal {
		text = []byte(escapeControls(string(text)))
	}
	_, err := a.stdout.Write(text)
	return err
}
