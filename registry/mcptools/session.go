package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"

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

// brokenError is errClosed where the server did something that a connection does not survive.
type brokenError struct{ fault error }

func (e *brokenError) Error() string        { return errClosed.Error() + ": " + e.fault.Error() }
func (e *brokenError) Is(target error) bool { return target == errClosed }

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
	// fault is what the server did that we ended the connection for, nil if nothing.
	fault() error
	// complaint is what the server said outside of the protocol before it failed, "" if nothing.
	complaint() string
}

// clientSession is the session of a real server.
type clientSession struct {
	client  *mcp.ClientSession
	tap     *tap
	link    link
	redact  *redactor
	notices chan struct{}
}

// The two ways to begin. Servers of today answer initialize, and many of them break on a request that comes before it, so the
// handshake of the newest revision is tried only where initialize was refused (MCP-74).
const (
	handshakeInitialize = "2025-11-25"
	handshakeNewest     = "" // the library's newest, with server/discover
)

// handshake connects a client over l. The client announces no capabilities and answers nothing but ping (MCP-19).
func handshake(ctx context.Context, l link, t *tap, r *redactor, revision string, o Options) (*clientSession, error) {
	s := &clientSession{tap: t, link: l, redact: r, notices: make(chan struct{}, 1)}
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
		_ = s.client.Close() // else the library goes on to wait for notices of a session that has none any more
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
		if fault := s.link.fault(); fault != nil {
			return nil, &brokenError{fault}
		}
		return nil, errClosed
	}
	if fault := serverFault(err); fault != nil {
		return nil, errors.New(faultText(fault, s.redact))
	}
	return nil, errors.New(plainCause(err))
}

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
