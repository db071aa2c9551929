package gateway

// This file defines the gateway as an HTTP handler: what it takes, and the way of one request through the checks to the MCP
// library (GATE-1).

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The defaults of [HTTPOptions].
const (
	DefaultMaxBody     int64 = 8 << 20 // a program of the largest size, every character of it escaped
	DefaultMaxSessions       = 64
	DefaultIdle              = 30 * time.Minute
)

// HTTPOptions configures a [Gateway.Handler]. Only Tokens is required.
type HTTPOptions struct {
	// Tokens are the secrets that clients show as bearer tokens; each is enough. A session belongs to the token that began it.
	// See [NewToken] and [CheckToken].
	Tokens []string

	// Hosts are the names and addresses, without port, under which clients may address the server besides those of the loopback
	// interface. A web page whose name somebody has pointed at this machine has another.
	Hosts []string
	// Origins are the web origins, such as https://example.com, whose pages may talk to the server besides those of this machine.
	Origins []string

	MaxBody     int64         // bytes of one request; 0: DefaultMaxBody
	MaxSessions int           // sessions at the same time; 0: DefaultMaxSessions
	Idle        time.Duration // after which a session without requests and calls ends; 0: DefaultIdle
}

// NewToken returns a new secret for [HTTPOptions].
func NewToken() string { return rand.Text() }

// Handler returns the gateway as an HTTP handler that speaks the streamable HTTP transport, at whatever path it is mounted. It
// demands a bearer token and checks Host and Origin before it reads a body, bounds bodies and sessions, and cancels the calls of
// a client that ended its session or went away. The server around it must not have a WriteTimeout or ReadTimeout, which would cut
// event streams; [Gateway.Serve] is such a server.
func (g *Gateway) Handler(o HTTPOptions) (http.Handler, error) { return g.newHTTP(o) }

// httpHandler serves one set of HTTPOptions.
type httpHandler struct {
	admission
	maxBody  int64
	times    httpTimes
	log      *slog.Logger
	sessions *httpSessions

	// The newest revision of the protocol has no sessions: each of its requests stands for itself.
	stateful, stateless http.Handler
	loose               *calls // those of requests without a session
	posts               posts
}

// Validate checks options before anything listens, and names each field that is wrong.
func (o HTTPOptions) Validate() error {
	_, err := o.admission()
	return err
}

// admission is what options say of who is let in.
type admission struct {
	tokens  tokens
	hosts   hosts
	origins origins
}

func (o HTTPOptions) admission() (admission, error) {
	var a admission
	var bad [4]error
	a.tokens, bad[0] = newTokens(o.Tokens)
	a.hosts, bad[1] = newHosts(o.Hosts)
	a.origins, bad[2] = newOrigins(o.Origins)
	switch {
	case o.MaxBody < 0:
		bad[3] = fmt.Errorf("HTTPOptions.MaxBody is %d, expected a number of bytes, or 0 for %d", o.MaxBody, DefaultMaxBody)
	case o.MaxSessions < 0:
		bad[3] = fmt.Errorf("HTTPOptions.MaxSessions is %d, expected a number from 1 up, or 0 for %d", o.MaxSessions, DefaultMaxSessions)
	case o.Idle < 0:
		bad[3] = fmt.Errorf("HTTPOptions.Idle is %s, expected a duration above 0, or 0 for %s", o.Idle, DefaultIdle)
	}
	return a, errors.Join(bad[:]...)
}

func (g *Gateway) newHTTP(o HTTPOptions) (*httpHandler, error) {
	admission, err := o.admission()
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	h := &httpHandler{
		admission: admission, maxBody: cmp.Or(o.MaxBody, DefaultMaxBody), times: defaultHTTPTimes, log: g.o.Logger,
		sessions: newHTTPSessions(o.MaxSessions, o.Idle), loose: new(calls),
	}
	server := func(*http.Request) *mcp.Server { return g.server }
	// Its own checks of Host and of the body's size are off: ours come first and are stricter.
	h.stateful = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: libraryLogger(h.log), DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	})
	h.stateless = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: libraryLogger(h.log), DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, Stateless: true, PropagateRequestCancellation: true,
	})
	return h, nil
}

// The headers of the transport that matter here.
const (
	headerSession  = "Mcp-Session-Id"
	headerProtocol = "Mcp-Protocol-Version"
)

// sessionless is the first protocol revision without sessions.
const sessionless = "2026-07-28"

func (h *httpHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	w, end := patient(w, h.times.piece, cancel)
	defer end()
	r = r.WithContext(ctx)
	if !h.hosts.admit(r.Host) {
		refuse(w, http.StatusForbidden, "the Host header names neither this machine's loopback interface nor an allowed host")
		return
	}
	origin, ok := h.origins.admit(r.Header.Values("Origin"))
	if !ok {
		refuse(w, http.StatusForbidden, "the Origin header names neither a page of this machine nor an allowed origin")
		return
	}
	if origin != "" {
		allowOrigin(w.Header(), origin)
		if r.Method == http.MethodOptions { // a browser's question, which carries no token
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	client, ok := h.tokens.admit(r.Header.Values("Authorization"))
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="runcode"`)
		refuse(w, http.StatusUnauthorized, "a bearer token is missing or wrong: send the header Authorization: Bearer TOKEN")
		return
	}
	if !h.readBody(w, r) {
		return
	}
	h.serve(w, r, client)
}

// readBody reads the whole body before anything waits for the request, so that a slow sender is cut off and a slow answer is not.
func (h *httpHandler) readBody(w http.ResponseWriter, r *http.Request) bool {
	if r.Body == nil || r.Body == http.NoBody {
		return true
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(h.times.body)) // not every server can
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.maxBody))
	if err != nil {
		// The limit stays, for the server reads on to the end of the request before it closes the connection.
		w.Header().Set("Connection", "close")
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d bytes", h.maxBody))
		} else {
			refuse(w, http.StatusBadRequest, "the request did not arrive whole")
		}
		return false
	}
	_ = control.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

// serve hands an admitted request of a client, which is the number of its token, to the MCP library.
func (h *httpHandler) serve(w http.ResponseWriter, r *http.Request, client int) {
	end := h.posts.begin(r)
	defer end()
	id := r.Header.Get(headerSession)
	switch {
	case r.Header.Get(headerProtocol) >= sessionless:
		h.stateless.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), httpKey{}, &httpRequests{posts: &h.posts, calls: h.loose})))
	case id != "":
		s, leave, ok := h.sessions.enter(id, client, r.Method == http.MethodPost)
		if !ok {
			// The client is told to begin anew, and not whether the session is another's.
			refuse(w, http.StatusNotFound, "session not found")
			return
		}
		defer leave()
		if r.Method == http.MethodDelete {
			s.delete()
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.stateful.ServeHTTP(w, r)
	case r.Method != http.MethodPost:
		h.stateful.ServeHTTP(w, r) // says what is missing
	default:
		s, ok := h.sessions.reserve(client)
		if !ok {
			w.Header().Set("Retry-After", "5")
			refuse(w, http.StatusServiceUnavailable, "too many sessions: end one first")
			return
		}
		defer s.settle()
		h.stateful.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), httpKey{}, &httpRequests{posts: &h.posts, calls: &s.calls, session: s})))
	}
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, status)
}
