package main

// This file defines who answers --ask: the person at the terminal, or nobody (CLI-3).

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/policy"
)

// approver answers with yes where --yes says so, with a question where there is a terminal, and otherwise with nothing, which
// denies the call.
func (a *app) approver(yes bool, hold func() (release func())) registry.Approver {
	approver := &policy.Approver{}
	switch {
	case yes:
		approver.OnAsk(func(context.Context, registry.ApprovalRequest) (registry.Outcome, error) {
			return registry.AllowedOnce, nil
		})
	case a.stdinTerminal && a.stderrTerminal:
		if hold == nil {
			hold = func() func() { return func() {} }
		}
		approver.OnAsk((&prompter{app: a, hold: hold}).ask)
	}
	return approver
}

// prompter asks on the terminal. Calls of one program ask one after another, because gates never overlap.
type prompter struct {
	app  *app
	hold func() (release func())
}

// shownArguments is how much of a call's arguments a question shows.
const shownArguments = 4096

func (p *prompter) ask(ctx context.Context, q registry.ApprovalRequest) (registry.Outcome, error) {
	defer p.hold()()
	arguments := q.Arguments.String()
	if len(arguments) > shownArguments {
		arguments = strings.ToValidUTF8(arguments[:shownArguments], "") + fmt.Sprintf("… (%d bytes in all)", len(arguments))
	}
	fmt.Fprintf(p.app.stderr, "%s wants to run with\n  %s\n", escapeInvisible(oneLine(q.Tool)), escapeInvisible(arguments))
	if q.Reason != "" {
		fmt.Fprintf(p.app.stderr, "reason: %s\n", escapeInvisible(oneLine(q.Reason)))
	}
	fmt.Fprint(p.app.stderr, "allow this call? [y/N] ")
	p.app.flushInput() // a key pressed before the question was there is no answer to it

	answers := make(chan string, 1)
	go func() { answers <- readLine(p.app.stdin) }()
	select {
	case <-ctx.Done():
		fmt.Fprintln(p.app.stderr)
		return registry.Cancelled, nil // what is typed now answers nothing
	case answer := <-answers:
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return registry.AllowedOnce, nil
		}
		return registry.Rejected, nil
	}
}

// readLine reads up to the end of one line and not a byte further: what follows is for the next question. A line that never
// ends is no answer.
func readLine(r io.Reader) string {
	var line []byte
	var one [1]byte
	for len(line) < 1024 {
		n, err := r.Read(one[:])
		if n == 1 {
			if one[0] == '\n' {
				return string(line)
			}
			line = append(line, one[0])
		}
		if err != nil {
			return ""
		}
	}
	return ""
}
