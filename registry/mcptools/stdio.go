package mcptools

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry/internal/child"
)

const (
	maxLine        = 64 << 20        // MCP-71
	stopPatience   = 2 * time.Second // MCP-72: after the input was closed, and again after the termination signal
	pipePatience   = time.Second / 2 // for the rest of a dead server's output, which something outside of its group may hold open
	maxBadLines    = 20              // that are logged
	maxReplies     = 16              // to requests of the server at the same time
	replyTimeout   = 10 * time.Second
	shownBadLine   = 200      // bytes of a skipped line in a log
	stderrTail     = 4 << 10  // bytes of standard error kept for messages
	maxStderrLine  = 16 << 10 // longer lines of standard error are delivered in pieces
	shownComplaint = 500      // bytes of standard error in the message about a failed start
)

// stdioConn is a server that is our child process: one message a line over its standard streams. It stands where the library's own
// transport would, which ends a session at the first line that is not JSON, knows no process groups and blocks in Close.
type stdioConn struct {
	tap     *tap
	process *child.Process
	stdin   *os.File
	redact  *redactor
	log     func(text string, args ...any) // warnings, already clean
	errors  *tail                          // the end of standard error

	turn     chan struct{} // held by the one write that is going on
	replies  chan struct{} // one token for each answer that is being written
	bad      int           // lines that were skipped
	incoming chan jsonrpc.Message
	eof      chan struct{} // the server's output has ended and all of it was taken
	shutting chan struct{} // we are ending it
	over     chan struct{} // eof or shutting, whichever came first
	buried   chan struct{} // the process, its group and all goroutines are gone
	shutOnce sync.Once
	endOnce  sync.Once
	mu       sync.Mutex
	broken   error // why the reading ended, nil for a plain end
}

// startStdio starts the server of c. stderr receives the lines of its standard error; warn what the log should say, both without
// secrets.
func startStdio(c ServerConfig, t *tap, r *redactor, stderr func(line string), warn func(text string, args ...any)) (*stdioConn, error) {
	cmd, err := child.Command(c.Command, c.Args, c.Cwd, child.Environ(os.Environ(), c.Env))
	if err != nil {
		return nil, err
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.theirs[0], pipes.theirs[1], pipes.theirs[2]
	process, err := child.Start(cmd)
	pipes.closeTheirs()
	if err != nil {
		pipes.closeOurs()
		return nil, fmt.Errorf("%q could not be started: %w", c.Command, err)
	}
	conn := &stdioConn{
		tap: t, process: process, stdin: pipes.ours[0], redact: r, log: warn, errors: &tail{limit: stderrTail},
		turn: make(chan struct{}, 1), replies: make(chan struct{}, maxReplies), incoming: make(chan jsonrpc.Message),
		eof: make(chan struct{}), shutting: make(chan struct{}), over: make(chan struct{}), buried: make(chan struct{}),
	}
	stderrDone := make(chan struct{})
	go func() {
		defer close(stderrDone)
		readLines(pipes.ours[2], r, func(line string) {
			conn.errors.add(line)
			stderr(line)
		})
	}()
	go conn.read(pipes.ours[1])
	go conn.bury(pipes, stderrDone)
	return conn, nil
}

// bury waits for the end of the process and then for the readers, whose pipes an escaped grandchild may still hold open.
func (c *stdioConn) bury(pipes *pipes, stderrDone <-chan struct{}) {
	<-c.process.Gone()
	patience := time.NewTimer(pipePatience)
	defer patience.Stop()
	for _, done := range []<-chan struct{}{c.eof, stderrDone} {
		select {
		case <-done:
		case <-patience.C:
			patience.Reset(0)
		}
	}
	pipes.closeOurs()
	<-c.eof
	<-stderrDone
	close(c.buried)
}

// read takes the lines of standard output apart until they end.
func (c *stdioConn) read(stdout io.Reader) {
	defer c.end()
	defer close(c.eof)
	reader := bufio.NewReaderSize(stdout, 64<<10)
	for {
		line, err := readLine(reader, maxLine)
		if len(line) > 0 && err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
			c.line(line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				c.mu.Lock()
				c.broken = err
				c.mu.Unlock()
			}
			// Whatever the server still has to say, nobody listens: its writes must not block its end.
			c.shut()
			return
		}
	}
}

func (c *stdioConn) line(line []byte) {
	frames, err := parseFrames(line)
	if err != nil {
		c.skipped(line, err)
		return
	}
	for i := range frames {
		if frames[i].method != "" && !c.passes(frames[i]) {
			continue
		}
		c.tap.incoming(&frames[i])
		select {
		case c.incoming <- frames[i].message():
		case <-c.shutting:
			return
		}
	}
}

// skipped logs a line that is no message, but not every one of a server that prints nothing else. Only the reader calls it.
func (c *stdioConn) skipped(line []byte, reason error) {
	switch c.bad++; {
	case c.bad < maxBadLines:
		c.log("the server printed a line that is no message of the protocol; it was skipped", "line", c.redact.excerpt(string(line), shownBadLine), "reason", reason.Error())
	case c.bad == maxBadLines:
		c.log("the server goes on to print lines that are no messages; they are skipped and not logged any more")
	}
}

// passes says whether a request or notice goes on to the library. Requests are answered here, a bounded number at the same time: the library
// would queue without end what a server sends that does not read the answers.
func (c *stdioConn) passes(f frame) bool {
	if !f.id.IsValid() {
		return f.method == noticeListChanged || strings.HasPrefix(f.method, "notifications/subscriptions/")
	}
	select {
	case c.replies <- struct{}{}:
	default:
		return false
	}
	go func() {
		defer func() { <-c.replies }()
		ctx, cancel := context.WithTimeout(context.Background(), replyTimeout)
		defer cancel()
		_ = c.Write(ctx, reply(f))
	}()
	return false
}

// reply answers a server's request: ping is known, nothing else is (MCP-19).
func reply(f frame) *jsonrpc.Response {
	if f.method == "ping" {
		return &jsonrpc.Response{ID: f.id, Result: json.RawMessage(`{}`)}
	}
	return &jsonrpc.Response{ID: f.id, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + cut(f.method, shownBadLine)}}
}

func (c *stdioConn) end() { c.endOnce.Do(func() { close(c.over) }) }

// shut begins the end of the server by closing its input and returns at once; gone tells when it is over.
func (c *stdioConn) shut() {
	c.shutOnce.Do(func() {
		c.end() // before anybody can see an error of the ending
		close(c.shutting)
		_ = c.stdin.Close()
		go c.process.Stop(stopPatience, stopPatience)
	})
}

// reason says in words why the server is gone, for messages.
func (c *stdioConn) reason() string {
	if fault := c.fault(); fault != nil {
		return fault.Error()
	}
	if state := c.process.State(); state != nil {
		return "the server ended (" + state.String() + ")"
	}
	return "the server closed its output"
}

func (c *stdioConn) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// The rest of link.

func (c *stdioConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }
func (c *stdioConn) gone() <-chan struct{}                           { return c.buried }
func (c *stdioConn) ended() <-chan struct{}                          { return c.over }
func (c *stdioConn) complaint() string                               { return c.errors.last(shownComplaint) }

// The methods of mcp.Connection.

func (c *stdioConn) SessionID() string { return "" }

func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.eof:
	case <-c.shutting:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return nil, io.EOF
}

// Write sends one message. A server that does not read its input blocks the message but not its sender beyond ctx; a message that was
// begun is always completed, or the stream would be broken for all that follow.
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if c.tap.outgoing(ctx, msg) {
		return nil
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
	case <-c.shutting:
		return mcp.ErrConnectionClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	written := make(chan error, 1)
	go func() {
		_, err := c.stdin.Write(append(data, '\n'))
		<-c.turn
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close returns at once: the library calls it under a lock that its other calls need.
func (c *stdioConn) Close() error {
	c.shut()
	return nil
}

// pipes are the three streams of a child; ours and theirs are the two ends of each.
type pipes struct {
	ours, theirs [3]*os.File
	once         sync.Once
}

func openPipes() (*pipes, error) {
	p := &pipes{}
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeTheirs()
			p.closeOurs()
			return nil, err
		}
		if i == 0 {
			p.theirs[i], p.ours[i] = r, w
		} else {
			p.ours[i], p.theirs[i] = r, w
		}
	}
	return p, nil
}

func (p *pipes) closeTheirs() { closeAll(p.theirs[:]) }
func (p *pipes) closeOurs()   { p.once.Do(func() { closeAll(p.ours[:]) }) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
