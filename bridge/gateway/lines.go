package gateway

// This file defines a connection to a client over a pair of streams.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is how long a line of a client may be.
const maxLine = 16 << 20

// lastWrite is how long the end of a connection waits for a client to take what is being written.
const lastWrite = time.Second

// lineConn is a [mcp.Connection] that bad lines do not end. Reading and writing have goroutines of their own, because a stream
// that nobody feeds or drains may block beyond its closing; these are the only ones that such a stream leaves behind.
type lineConn struct {
	id     string
	in     io.ReadCloser
	out    io.WriteCloser
	log    *slog.Logger
	lines  chan line
	writes chan write

	deaf    time.Duration // how long a refusal waits for the client to take it
	bad     int           // lines that were no message; Read's own
	open    unanswered
	ended   chan struct{} // closed at the end of the input
	close   func() error  // of both streams, once
	closed  chan struct{}
	written chan struct{} // closed when the writing goroutine has ended
}

type line struct {
	text []byte
	err  error
}

// write is one message on its way out.
type write struct {
	text []byte
	done chan error // holds one
}

func newLineConn(in io.ReadCloser, out io.WriteCloser, deaf time.Duration, log *slog.Logger) *lineConn {
	c := &lineConn{
		id: "stdio-" + rand.Text(), in: in, out: out, deaf: deaf, log: log,
		lines: make(chan line), writes: make(chan write), ended: make(chan struct{}), closed: make(chan struct{}), written: make(chan struct{}),
	}
	c.close = sync.OnceValue(func() error {
		close(c.closed)
		return errors.Join(in.Close(), out.Close())
	})
	go c.readLines()
	go c.writeLines()
	return c
}

// SessionID tells this session from others.
func (c *lineConn) SessionID() string { return c.id }

// Read returns the next message. Lines that are none are answered and logged. It must not be called again once ended is closed.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case l := <-c.lines:
			msg, answer, err := l.message()
			if msg != nil && !c.open.add(msg) {
				msg, answer = nil, refusal(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the id of the request is that of another one, which has not been answered")
			}
			switch {
			case isGone(err):
				close(c.ended) // whoever serves this connection answers what there is, and closes it
				<-c.closed
				return nil, io.EOF
			case err != nil:
				return nil, err
			case msg != nil:
				return msg, nil
			case answer != nil:
				c.warn(answer.Error, len(l.text))
				if err := c.refuse(ctx, answer); err != nil {
					return nil, err
				}
			}
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// warn logs a bad line, and of many ever fewer: a client must not fill the log.
func (c *lineConn) warn(err error, size int) {
	if c.bad++; c.bad&(c.bad-1) == 0 {
		c.log.Warn("the client sent a line that is no message", "error", err, "bytes", size, "so far", c.bad)
	}
}

// refuse answers a bad line. A client that sends such lines and takes no answers ends its session: nothing else is read
// meanwhile, not even the end of the input.
func (c *lineConn) refuse(ctx context.Context, answer *jsonrpc.Response) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.deaf, errDeaf)
	defer cancel()
	err := c.Write(ctx, answer)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

var errDeaf = errors.New("the client sends lines that are no messages, and does not read what it is answered")

// message reads the line as a message, or says what to answer. An empty line is neither.
func (l line) message() (jsonrpc.Message, *jsonrpc.Response, error) {
	switch {
	case errors.Is(l.err, errLongLine):
		return nil, refusal(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, l.err.Error()), nil
	case l.err != nil:
		return nil, nil, l.err
	case len(l.text) == 0:
		return nil, nil, nil
	}
	msg, answer := decodeMessage(l.text)
	return msg, answer, nil
}

// Write sends a message. Messages are sent whole, in the order of the calls; one whose context ends before its turn is not.
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	text, err := encodeMessage(msg)
	if err != nil {
		return err
	}
	defer c.open.sending(msg)()
	w := write{text, make(chan error, 1)}
	select {
	case c.writes <- w:
	case <-c.closed:
		return mcp.ErrConnectionClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-c.closed:
		return mcp.ErrConnectionClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes both streams.
func (c *lineConn) Close() error { return c.close() }

// finish closes the connection and waits for what is being written, but not for ever.
func (c *lineConn) finish() {
	_ = c.close()
	timer := time.NewTimer(lastWrite)
	defer timer.Stop()
	select {
	case <-c.written:
	case <-timer.C:
	}
}

func (c *lineConn) writeLines() {
	defer close(c.written)
	for {
		select {
		case w := <-c.writes:
			_, err := c.out.Write(w.text)
			w.done <- err
		case <-c.closed:
			return
		}
	}
}

func (c *lineConn) readLines() {
	r := bufio.NewReaderSize(c.in, 64<<10)
	for {
		text, err := readLine(r, maxLine)
		select {
		case c.lines <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return
		}
	}
}

var errLongLine = fmt.Errorf("a message must not be longer than %d MiB", maxLine>>20)

// readLine returns the next line without its end and the white space around it. The last one need not have an end. Of a line
// beyond limit bytes nothing is kept: it is read to its end, and errLongLine returned.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > limit; long {
			text = nil
		} else {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && (len(text) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		case long:
			return nil, errLongLine
		default:
			return bytes.TrimSpace(text), nil
		}
	}
}

// isGone reports whether a stream ended because the client has gone.
func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE)
}
