package mcptools

// The way to a server: one attempt, what it falls back on, and one sentence about its failure.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goneWithin is how long a server may take to be gone once its end has begun (MCP-60, MCP-68).
const goneWithin = 5 * time.Second

// awaitGone reports whether ch is closed in time.
func awaitGone(ch <-chan struct{}) bool {
	timer := time.NewTimer(goneWithin)
	defer timer.Stop()
	select {
	case <-ch:
		return true
	case <-timer.C:
		return false
	}
}

// newDial returns the way to a configured server. It is not safe for concurrent use: attempts never overlap (MCP-60).
func newDial(c ServerConfig, o Options, r *redactor) dial {
	revision := handshakeInitialize // the one that worked is kept for later attempts
	return func(ctx context.Context) (session, error) {
		s, err := dialOnce(ctx, c, o, r, revision)
		if serverFault(err) != nil && revision == handshakeInitialize && ctx.Err() == nil {
			if newer, newErr := dialOnce(ctx, c, o, r, handshakeNewest); newErr == nil {
				revision, s, err = handshakeNewest, newer, nil
			}
		}
		if err != nil {
			return nil, r.error(err)
		}
		return s, nil
	}
}

func dialOnce(ctx context.Context, c ServerConfig, o Options, r *redactor, revision string) (*clientSession, error) {
	t := newTap()
	l, err := open(c, t, o, r)
	if err != nil {
		return nil, err
	}
	s, err := handshake(ctx, l, t, r, revision, o)
	if err == nil {
		return s, nil
	}
	ended := isClosed(l.ended())
	l.shut()
	if !awaitGone(l.gone()) {
		return nil, errors.Join(errLingers, err)
	}
	return nil, explain(ctx, c, l, r, err, ended, o.RequestTimeout)
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// explain makes one sentence of a failed handshake: what was tried, what happened, what the server said.
func explain(ctx context.Context, c ServerConfig, l link, r *redactor, err error, ended bool, limit time.Duration) error {
	what := fmt.Sprintf("the command %q", c.Command)
	if c.Transport == StreamableHTTP {
		what = plainAddress(c.URL)
	}
	e := &startError{cause: err}
	fault := serverFault(err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		e.text = fmt.Sprintf("%s did not answer initialize within %s", what, limit)
	case ended && (errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed)):
		e.text = fmt.Sprintf("%s gave no answer to initialize: %s", what, l.reason())
	case fault != nil:
		e.text = fmt.Sprintf("%s refused initialize: %s", what, faultText(fault, r))
	default:
		e.text = what + ": " + plainCause(err)
	}
	if said := l.complaint(); said != "" {
		e.text += "; it said: " + said
	}
	return e
}

// startError is one sentence about a start that failed.
type startError struct {
	text  string
	cause error
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.cause }
