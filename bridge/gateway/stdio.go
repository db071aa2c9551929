package gateway

// This file defines the gateway on a pair of streams.

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client over a pair of streams, one JSON-RPC message a line. It returns nil when the client goes, which
// it may do by closing either stream; ctx's cause when ctx ends first; or the error of a stream that breaks. By then every run
// of the client has been aborted and drained, what could still be answered has been, and both streams are closed. Nothing but
// protocol is written to out.
func (g *Gateway) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	conn := newLineConn(in, out, g.times.notify, g.o.Logger)
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
	cause := errClientGone
	select {
	case err = <-over:
		over <- nil
		if isGone(err) {
			err = nil
		}
	case <-conn.ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
		cause = err
	case <-g.ended:
		err, cause = errShutdown, errShutdown
	}
	client.end(cause)
	conn.open.wait(lastWrite)
	_ = conn.Close() // now the library gives up what it still wants to send
	<-over
	g.forget(session)
	return err
}

// connector is the transport of a connection that there is already.
type connector struct{ conn *lineConn }

func (c connector) Connect(context.Context) (mcp.Connection, error) { return c.conn, nil }
