package gateway

// This file defines how the calls of HTTP clients end early: the library detaches a call from the request that brought it, so
// that nothing would stop the run of a client that ended its session or whose connection broke.

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The causes with which calls end early.
var (
	errSessionEnded = errors.New("the client ended its session")
	errClientGone   = errors.New("the client closed the connection")
	errShutdown     = errors.New("the server is shutting down")
)

// calls are running calls that end together. The zero value is ready.
type calls struct {
	mu      sync.Mutex
	running map[*context.CancelCauseFunc]struct{}
	cause   error // set once they have been ended: later ones end at once
}

// add makes cancel be called when the calls are ended, unless done is called before.
func (c *calls) add(cancel context.CancelCauseFunc) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		cancel(c.cause)
		return func() {}
	}
	if c.running == nil {
		c.running = map[*context.CancelCauseFunc]struct{}{}
	}
	c.running[&cancel] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, &cancel)
	}
}

func (c *calls) abort(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
	}
	for cancel := range c.running {
		(*cancel)(cause)
	}
	c.running = nil
}

// headerPost carries the number of a POST to the calls in it. What a client sends under this name is overwritten.
const headerPost = "X-Runcode-Post"

// posts are the requests that are being served, by number.
type posts struct {
	mu   sync.Mutex
	last uint64
	live map[string]*calls
}

// begin gives r a number and ends its calls when its connection breaks: nobody could be given their results.
func (p *posts) begin(r *http.Request) (end func()) {
	c := new(calls)
	p.mu.Lock()
	p.last++
	number := strconv.FormatUint(p.last, 10)
	if p.live == nil {
		p.live = map[string]*calls{}
	}
	p.live[number] = c
	p.mu.Unlock()
	r.Header.Set(headerPost, number)
	stop := context.AfterFunc(r.Context(), func() { c.abort(errClientGone) })
	return func() {
		stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.live, number)
	}
}

// of returns the calls of the POST that brought a request. A POST that is over although its request is not has lost its
// connection.
func (p *posts) of(req mcp.Request) *calls {
	p.mu.Lock()
	defer p.mu.Unlock()
	if extra := req.GetExtra(); extra != nil {
		if c := p.live[extra.Header.Get(headerPost)]; c != nil {
			return c
		}
	}
	return &calls{cause: errClientGone}
}

// httpRequests is what the context of an HTTP client's requests carries.
type httpRequests struct {
	posts   *posts
	calls   *calls       // those of the session
	session *httpSession // nil where there are none
}

type httpKey struct{}

// followHTTP is the middleware that ends the calls of HTTP clients, and that notes a session as soon as there is one.
func followHTTP(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		from, ok := ctx.Value(httpKey{}).(*httpRequests)
		if !ok {
			return next(ctx, method, req)
		}
		switch method {
		case "initialize":
			result, err := next(ctx, method, req)
			if session, ok := req.GetSession().(*mcp.ServerSession); ok && err == nil && from.session != nil {
				from.session.adopt(session)
			}
			return result, err
		case "tools/call", "subscriptions/listen": // what may take long
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer from.calls.add(cancel)()
			defer from.posts.of(req).add(cancel)()
			if from.session != nil {
				from.session.begin()
				defer from.session.leave()
			}
			return next(ctx, method, req)
		}
		return next(ctx, method, req)
	}
}
