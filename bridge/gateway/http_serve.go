package gateway

// This file defines the HTTP server around the handler: time limits that let event streams live, and an orderly end.

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// HTTPPath is where [Gateway.Serve] serves MCP.
const HTTPPath = "/mcp"

const maxHeaders = 32 << 10

// httpTimes are the times that a client has. A whole response has no limit, for it may be a stream.
type httpTimes struct {
	headers time.Duration // to send the headers of a request
	body    time.Duration // to send its body
	piece   time.Duration // to take each piece of a response
	next    time.Duration // until the next request on a connection
	drain   time.Duration // at the end, to take what is left
}

var defaultHTTPTimes = httpTimes{headers: 10 * time.Second, body: 30 * time.Second, piece: 30 * time.Second, next: 2 * time.Minute, drain: 15 * time.Second}

// Serve serves the clients that connect to l at [HTTPPath] until ctx ends, and closes l. At the end it takes no new requests,
// aborts what runs for its clients, sends them the results of that, and ends their sessions. It returns ctx's error then, or the
// listener's when that breaks.
func (g *Gateway) Serve(ctx context.Context, l net.Listener, o HTTPOptions) error {
	handler, err := g.newHTTP(o)
	if err != nil {
		_ = l.Close()
		return err
	}
	return handler.listen(ctx, l)
}

func (h *httpHandler) listen(ctx context.Context, l net.Listener) (err error) {
	mux := http.NewServeMux()
	mux.Handle(HTTPPath, h)
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: h.times.headers,
		IdleTimeout:       h.times.next,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          slog.NewLogLogger(h.log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.times.drain)
	defer cancel()
	// Shutdown closes the listener and waits for responses, which wait for calls and for sessions to end.
	down := make(chan error, 1)
	go func() { down <- server.Shutdown(end) }()
	drained := h.close(end)
	if errors.Join(drained, <-down) != nil {
		_ = server.Close()
	}
	return err
}

// close aborts the calls of all clients, ends their sessions, and returns when all that is done or ctx has ended.
func (h *httpHandler) close(ctx context.Context) error {
	h.loose.abort(errShutdown)
	return h.sessions.close(ctx)
}

// patientWriter gives a client a while for each piece of a response. When the client does not take it, its request ends.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
	broken  func()
}

// patient wraps w, gives the client that long for each piece, and calls broken when nothing more can be written. end must be
// called when the response is complete: what is still in the server's buffers has a while from then.
func patient(w http.ResponseWriter, within time.Duration, broken func()) (_ http.ResponseWriter, end func()) {
	p := &patientWriter{w, http.NewResponseController(w), within, broken}
	p.extend()
	return p, p.extend
}

func (p *patientWriter) extend() { _ = p.control.SetWriteDeadline(time.Now().Add(p.within)) } // not every server can

func (p *patientWriter) Write(b []byte) (int, error) {
	p.extend()
	n, err := p.ResponseWriter.Write(b)
	if err != nil {
		p.broken()
	}
	return n, err
}

// Unwrap lets http.ResponseController reach what is inside.
func (p *patientWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
