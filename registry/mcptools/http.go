package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// byeTimeout is for the request that ends a session on the server.
const byeTimeout = time.Second

// httpLink is a server behind streamable HTTP (MCP-73). The library's transport does the protocol; a round tripper under it adds the
// headers, takes the results (the library would lose the session if its connection were wrapped), caps sizes and refuses redirects.
type httpLink struct {
	transport *mcp.StreamableClientTransport
	base      *http.Transport
	over      chan struct{}
	buried    chan struct{}
	shutOnce  sync.Once
	mu        sync.Mutex
	conn      mcp.Connection
}

func openHTTP(c ServerConfig, t *tap, o Options, r *redactor) *httpLink {
	l := &httpLink{over: make(chan struct{}), buried: make(chan struct{})}
	l.base = http.DefaultTransport.(*http.Transport).Clone()
	l.transport = &mcp.StreamableClientTransport{
		Endpoint:     c.URL,
		MaxEventSize: maxLine,
		HTTPClient: &http.Client{
			Transport:     &tripper{base: l.base, tap: t, redact: r, bearer: newBearer(c, o, r), agent: clientName + "/" + o.Version, headers: c.Headers, over: l.over},
			CheckRedirect: sameOrigin,
		},
	}
	return l
}

func (l *httpLink) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := l.transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = conn
	return conn, nil
}

func (l *httpLink) ended() <-chan struct{} { return l.over }
func (l *httpLink) gone() <-chan struct{}  { return l.buried }
func (l *httpLink) reason() string         { return "the session ended" }
func (l *httpLink) fault() error           { return nil }
func (l *httpLink) complaint() string      { return "" }

func (l *httpLink) shut() {
	l.shutOnce.Do(func() {
		close(l.over) // ends every request that is under way
		l.mu.Lock()
		conn := l.conn
		l.mu.Unlock()
		go func() {
			defer close(l.buried)
			if conn != nil {
				_ = conn.Close()
			}
			l.base.CloseIdleConnections()
		}()
	})
}

// sameOrigin refuses to follow a server elsewhere: the configured headers would travel along (MCP-77).
func sameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return fmt.Errorf("it redirects to another origin, %s, which is not followed", plainAddress(req.URL.String()))
	}
	if len(via) >= 10 {
		return errors.New("it redirects too often")
	}
	return nil
}

// plainAddress is an address without what may be secret in it.
func plainAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	segments := strings.Split(u.Path, "/")
	for i, segment := range segments {
		if secretSegment(segment) {
			segments[i] = "redacted"
		}
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.Join(segments, "/")}).String()
}

// tripper is one server's round tripper.
type tripper struct {
	base    *http.Transport
	tap     *tap
	redact  *redactor
	bearer  *bearer // nil: the configuration has the credentials
	agent   string  // who asks, unless the configuration says so
	headers map[string]string
	over    <-chan struct{}
}

func (t *tripper) RoundTrip(req *http.Request) (*http.Response, error) {
	call, drop, err := t.outgoing(req)
	if err != nil {
		return nil, err
	}
	if drop {
		return &http.Response{
			Status: "202 Accepted", StatusCode: http.StatusAccepted, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{}, Body: http.NoBody, Request: req,
		}, nil
	}
	ctx, cancel := t.bounded(req)
	req = req.Clone(ctx)
	for name, value := range t.headers {
		if _, protocol := req.Header[http.CanonicalHeaderKey(name)]; protocol {
			continue // what the protocol itself sends cannot be configured
		}
		if strings.EqualFold(name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", t.agent)
	}
	resp, err := t.bearer.roundTrip(t.base, req)
	if err != nil {
		t.finished(cancel)
		if login := (*LoginNeededError)(nil); call != "" && errors.As(err, &login) {
			return answered(req, faultAnswer(call, login.Error())), nil
		}
		return nil, err
	}
	if err := t.incoming(req, resp, call); err != nil {
		_ = resp.Body.Close()
		t.finished(cancel)
		return nil, err
	}
	resp.Body = &endingBody{resp.Body, func() { t.finished(cancel) }}
	return resp, nil
}

// finished ends a request. One that ends after the link leaves its connection to nobody, nor one that is still being dialled for it.
func (t *tripper) finished(cancel func()) {
	cancel()
	if isClosed(t.over) {
		t.base.CloseIdleConnections()
	}
}

// bounded is the context of one request: it ends with the link, except for the farewell, which gets a moment.
func (t *tripper) bounded(req *http.Request) (context.Context, context.CancelFunc) {
	if req.Method == http.MethodDelete {
		return context.WithTimeout(req.Context(), byeTimeout)
	}
	ctx, cancel := context.WithCancel(req.Context())
	go func() {
		select {
		case <-t.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// outgoing gives the message of a request to the tap. call is the id of a call of a tool or of a list, "" for everything else.
func (t *tripper) outgoing(req *http.Request) (call string, drop bool, err error) {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return "", false, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return "", false, err
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return "", false, err
	}
	frames, err := parseFrames(text)
	if err != nil || len(frames) != 1 {
		return "", false, nil // the library's own message: it is one
	}
	f := frames[0]
	if f.method == methodCallTool || f.method == methodListTools {
		call = f.rawID
	}
	return call, t.tap.outgoing(req.Context(), f.message()), nil
}

// limited is a body that ends after n bytes.
func limited(body io.ReadCloser, n int64) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, n), body}
}

// endingBody ends its request when it is closed.
type endingBody struct {
	io.ReadCloser
	end func()
}

func (b *endingBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}
