package mcptools

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

const (
	callbackPath     = "/callback"
	callbackFarewell = 2 * time.Second // for the page that the browser still reads
)

// callback is where the browser comes back to after a login: an address of this machine that exists for one login and takes one answer.
type callback struct {
	listener net.Listener
}

// listenCallback opens the address; a port of 0 is any that is free.
func listenCallback(port int) (*callback, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("the address for the browser's return is not free: %w", err)
	}
	return &callback{listener}, nil
}

func (c *callback) address() string { return "http://" + c.listener.Addr().String() + callbackPath }

func (c *callback) close() { _ = c.listener.Close() }

// arrival is what the browser brought.
type arrival struct {
	result *auth.AuthorizationResult
	err    error
}

// wait serves the address until an answer with this state has come, and returns it. What has another state is no answer to this login,
// and does not end it.
func (c *callback) wait(ctx context.Context, state string) (*auth.AuthorizationResult, error) {
	arrived := make(chan arrival, 1)
	var once sync.Once
	server := &http.Server{
		ReadHeaderTimeout: authTimeout, MaxHeaderBytes: maxAuthHeader,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			query, refusal := c.read(r, state)
			if refusal != 0 {
				tellBrowser(w, refusal, "This is not the answer that is waited for.")
				return
			}
			fresh := false
			once.Do(func() {
				fresh = true
				arrived <- outcomeOf(query)
			})
			switch {
			case !fresh:
				tellBrowser(w, http.StatusGone, "This login is over.")
			case query.Get("error") != "":
				tellBrowser(w, http.StatusOK, "The login was refused. You can close this window.")
			default:
				tellBrowser(w, http.StatusOK, "You can close this window and go back to the terminal.")
			}
		}),
	}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(c.listener) }()
	defer func() {
		farewell, cancel := context.WithTimeout(context.WithoutCancel(ctx), callbackFarewell)
		defer cancel()
		if server.Shutdown(farewell) != nil {
			_ = server.Close()
		}
	}()
	select {
	case a := <-arrived:
		return a.result, a.err
	case err := <-serving:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// read returns the parameters of a request that is an answer to this login, or the status that refuses it.
func (c *callback) read(r *http.Request, state string) (query url.Values, refusal int) {
	query = r.URL.Query()
	switch {
	case r.URL.Path != callbackPath:
		return nil, http.StatusNotFound
	case r.Method != http.MethodGet:
		return nil, http.StatusMethodNotAllowed
	case r.Host != c.listener.Addr().String(): // a name that was made to point here
		return nil, http.StatusForbidden
	case len(query["state"]) != 1 || len(query["code"]) > 1 || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(state)) != 1:
		return nil, http.StatusBadRequest
	case query.Get("error") == "" && query.Get("code") == "":
		return nil, http.StatusBadRequest
	}
	return query, 0
}

func outcomeOf(query url.Values) arrival {
	if code := query.Get("error"); code != "" {
		text := "the login was refused: " + printable(code)
		if description := query.Get("error_description"); description != "" {
			text += " (" + printable(description) + ")"
		}
		return arrival{err: errors.New(text)}
	}
	return arrival{result: &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}}
}

// printable is foreign text that is safe to show: one short line.
func printable(text string) string { return cut(oneLine(text), shownBadLine) }

// tellBrowser answers the browser with a sentence of our own; nothing of the request is repeated.
func tellBrowser(w http.ResponseWriter, status int, sentence string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer") // the address holds the code
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!doctype html><title>runcode</title><p>"+sentence+"</p>\n")
}
