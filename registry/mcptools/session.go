package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// A session is one connection to a server after its handshake: the client half of a generation. The bridge knows nothing else of
// transports, so that its timing rules can be tried with a scripted one.
type session interface {
	// list asks for one page of the tools and returns the result as it came.
	list(ctx context.Context, cursor string) (json.RawMessage, error)
	// call runs a tool and returns the result as it came.
	call(ctx context.Context, raw string, arguments jsonval.Value) (json.RawMessage, error)
	// hasTools says whether the server announced tools.
	hasTools() bool
	// changed delivers a token after notices of a changed list; notices that come while one waits are merged into it.
	changed() <-chan struct{}
	// closed is closed when the connection has ended, from whichever side.
	closed() <-chan struct{}
	// gone is closed when nothing of the connection is left, the server's process included.
	gone() <-chan struct{}
	// close begins the end of the connection and returns at once.
	close()
	// reason says in words why it has closed.
	reason() string
	// facts is what the server said about itself.
	facts() ServerFacts
}

// dial makes a session with a fresh client and transport. After an error nothing is left running, or the error is errLingers.
type dial func(ctx context.Context) (session, error)

var (
	// errClosed is what a session's methods return when the connection has ended.
	errClosed = errors.New("the connection is closed")
	// errLingers means that a server did not go although everything was done to end it (MCP-60).
	errLingers = errors.New("the server's process could not be ended")
)

// ServerFacts is what a server says about itself in the handshake. None of it is trusted, and none names anything (MCP-4).
type ServerFacts struct {
	Name, Version string
	Protocol      string // the revision in use
	Instructions  string // prose for the model
}

// link is the transport's side of a session.
type link interface {
	mcp.Transport
	ended() <-chan struct{}
	gone() <-chan struct{}
	shut()
	reason() string
	// complaint is what the server said outside of the protocol before it failed, "" if nothing.
	complaint() string
}

// clientSession is the session of a real server.
type clientSession struct {
	client  *mcp.ClientSession
	tap     *tap
	link    link
	notices chan struct{}
}

// The two ways to begin. Servers of today answer initialize, and many of them break on a request that comes before it, so the
// handshake of the newest revision is tried only where initialize was refused (MCP-74).
const (
	handshakeInitialize = "2025-11-25"
	handshakeNewest     = "" // the library's newest, with server/discover
)

// handshake connects a client over l. The client announces no capabilities and answers nothing but ping (MCP-19).
func handshake(ctx context.Context, l link, t *tap, revision string, o Options) (*clientSession, error) {
	s := &clientSession{tap: t, link: l, notices: make(chan struct{}, 1)}
	client := mcp.NewClient(&mcp.Implementation{Name: clientName, Version: o.Version}, &mcp.ClientOptions{
		Logger:                 slog.New(slog.DiscardHandler), // it would print what servers send
		Capabilities:           &mcp.ClientCapabilities{},
		MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.notice() }, // MCP-51
	})
	client.AddReceivingMiddleware(refuseRequests)
	ctx, cancel := context.WithTimeout(ctx, o.RequestTimeout)
	defer cancel()
	var err error
	s.client, err = client.Connect(ctx, l, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return nil, err
	}
	go func() {
		_ = s.client.Wait() // a session that the library ends ends here too
		l.shut()
	}()
	return s, nil
}

const clientName = "runcode"

// refuseRequests answers what a server asks of us beyond ping with method-not-found. Notices pass.
func refuseRequests(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "roots/list", "sampling/createMessage", "elicitation/create":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
		}
		return next(ctx, method, req)
	}
}

func (s *clientSession) notice() {
	select {
	case s.notices <- struct{}{}:
	default: // one is waiting already
	}
}

func (s *clientSession) list(ctx context.Context, cursor string) (json.RawMessage, error) {
	params := &mcp.ListToolsParams{Cursor: cursor}
	return s.request(ctx, func(ctx context.Context) error {
		_, err := s.client.ListTools(ctx, params)
		return err
	})
}

func (s *clientSession) call(ctx context.Context, raw string, arguments jsonval.Value) (json.RawMessage, error) {
	return s.request(ctx, func(ctx context.Context) error {
		_, err := s.client.CallTool(ctx, &mcp.CallToolParams{Name: raw, Arguments: arguments})
		return err
	})
}

// request runs one request of the library and returns what was captured of its answer.
func (s *clientSession) request(ctx context.Context, do func(context.Context) error) (json.RawMessage, error) {
	c := &capture{}
	defer s.tap.forget(c)
	err := do(withCapture(ctx, c))
	switch {
	case err == nil && c.result == nil:
		return nil, errors.New("the answer was lost")
	case err == nil:
		return c.result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	if isClosed(s.link.ended()) || errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) {
		return nil, errClosed
	}
	if fault := serverFault(err); fault != nil {
		return nil, errors.New(faultText(fault))
	}
	return nil, errors.New(plainCause(err))
}

// rejectedCode marks an error of the library's transport, which has the type of a server's.
const rejectedCode = -32005

// serverFault is the JSON-RPC error that a server answered with, nil if err is something else.
func serverFault(err error) *jsonrpc.Error {
	if fault, ok := err.(*jsonrpc.Error); ok && fault.Code != rejectedCode {
		return fault
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return serverFault(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if fault := serverFault(inner); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// plainCause is the text of a transport's error without the names that the library puts before it and without the address.
func plainCause(err error) string {
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		return failed.Err.Error()
	}
	text := err.Error()
	for _, prefix := range []string{"calling ", "sending "} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			if _, after, ok := strings.Cut(rest, ": "); ok {
				text = after
			}
		}
	}
	return strings.Replace(text, "rejected by transport: ", "", 1)
}

// faultText is what an error says; a code of 0 is none.
func faultText(fault *jsonrpc.Error) string {
	if fault.Code == 0 {
		return cut(fault.Message, maxFaultText)
	}
	return cut(fault.Message, maxFaultText) + " (error " + strconv.FormatInt(fault.Code, 10) + ")"
}

// maxFaultText bounds what a server's error may put into a message for the model.
const maxFaultText = 16 << 10

func (s *clientSession) hasTools() bool {
	r := s.client.InitializeResult()
	return r != nil && r.Capabilities != nil && r.Capabilities.Tools != nil
}

func (s *clientSession) facts() ServerFacts {
	var f ServerFacts
	if r := s.client.InitializeResult(); r != nil {
		f.Protocol, f.Instructions = r.ProtocolVersion, r.Instructions
		if r.ServerInfo != nil {
			f.Name, f.Version = r.ServerInfo.Name, r.ServerInfo.Version
		}
	}
	return f
}

func (s *clientSession) changed() <-chan struct{} { return s.notices }
func (s *clientSession) closed() <-chan struct{}  { return s.link.ended() }
func (s *clientSession) gone() <-chan struct{}    { return s.link.gone() }
func (s *clientSession) close()                   { s.link.shut() }
func (s *clientSession) reason() string           { return s.link.reason() }

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
func newDial(c ServerConfig, o Options, r redactor) dial {
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

func dialOnce(ctx context.Context, c ServerConfig, o Options, r redactor, revision string) (*clientSession, error) {
	t := newTap()
	l, err := open(c, t, o, r)
	if err != nil {
		return nil, err
	}
	s, err := handshake(ctx, l, t, revision, o)
	if err == nil {
		return s, nil
	}
	ended := isClosed(l.ended())
	l.shut()
	if !awaitGone(l.gone()) {
		return nil, errors.Join(errLingers, err)
	}
	return nil, explain(ctx, c, l, err, ended, o.RequestTimeout)
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
func explain(ctx context.Context, c ServerConfig, l link, err error, ended bool, limit time.Duration) error {
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
		e.text = fmt.Sprintf("%s refused initialize: %s", what, faultText(fault))
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
