package gateway

// This file defines the gateway on a pair of streams.

import (
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client over a pair of streams, one JSON-RPC message a line. It returns nil when the client goes, and
// ctx's cause when ctx ends first, or the error of a stream that breaks; by then every run of the client has been aborted and
// drained, and both streams are closed. When ctx ends, what runs is still answered. Nothing but protocol is written to out.
func (g *Gateway) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	conn := newLineConn(in, out, g.o.Logger)
	defer conn.finish()
	leave, ok := g.enter()
	if !ok {
		return errShutdown
	}
	defer leave()
	session, err := g.server.Connect(context.WithoutCancel(ctx), connector{conn}, nil)
	if err != nil {
		return err
	}
	over := make(chan error, 1)
	go func() { over <- session.Wait() }()
	client := g.clientBy(session, nil)
	select {
	case err = <-over:
	case <-ctx.Done():
		err = conn.dismiss(session, client, context.Cause(ctx), over)
	case <-g.ended:
		err = conn.dismiss(session, client, errShutdown, over)
	}
	client.end(errClientGone)
	g.forget(session)
	if errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) {
		return nil // a client may go by closing either stream
	}
	return err
}

// dismiss ends a session that its client has not ended: first what runs, so that it is answered, then the session.
func (c *lineConn) dismiss(session *mcp.ServerSession, client *client, cause error, over <-chan error) error {
	client.end(cause)
	c.open.wait(lastWrite) // the library answers nothing any more once it closes
	_ = session.Close()
	<-over
	return cause
}

// connector is the transport of a connection that there is already.
type connector struct{ conn *lineConn }

func (c connector) Connect(context.Context) (mcp.Connection, error) { return c.conn, nil }
