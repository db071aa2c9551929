package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listen runs Serve with the given times and returns its address, what ends it, and its error.
func listen(t *testing.T, g *Gateway, times httpTimes) (url string, stop context.CancelCauseFunc, ended <-chan error) {
	t.Helper()
	h, err := g.newHTTP(options())
	if err != nil {
		t.Fatal(err)
	}
	h.times = times
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.listen(ctx, l) }()
	t.Cleanup(func() { stop(nil) })
	return "http://" + l.Addr().String() + HTTPPath, stop, done
}

func TestServe(t *testing.T) {
	t.Run("GATE-5 an end aborts the calls, delivers their results and closes the streams", func(t *testing.T) {
		w := newWaiting()
		url, stop, ended := listen(t, httpGateway(w), defaultHTTPTimes)
		c := begin(t, url, tokenA)
		answer, events := c.start(t.Context(), w), c.events()
		why := errors.New("enough")
		stop(why)
		if cause := receive(t, w.ended, "the call goes on"); cause != errShutdown {
			t.Errorf("cause %v", cause)
		}
		if text := receive(t, answer, "no answer"); !strings.Contains(text, "aborted: the server is shutting down") {
			t.Errorf("answer %q", text)
		}
		for range events {
		}
		if err := receive(t, ended, "it does not end"); err != why {
			t.Errorf("error %v", err)
		}
		if _, err := net.DialTimeout("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), HTTPPath), time.Second); err == nil {
			t.Error("it still listens")
		}
	})
	t.Run("GATE-1 other paths are nothing, and need no token", func(t *testing.T) {
		url, _, _ := listen(t, httpGateway(newWaiting()), defaultHTTPTimes)
		c := &rawClient{t: t, url: strings.TrimSuffix(url, HTTPPath) + "/.well-known/oauth-protected-resource"}
		if status, _, _ := c.do(c.request(t.Context(), http.MethodGet, "")); status != http.StatusNotFound {
			t.Errorf("status %d", status)
		}
	})
	all := func(d time.Duration) httpTimes {
		return httpTimes{headers: d, body: d, piece: d, next: d, drain: patience}
	}
	t.Run("GATE-1 a client that sends its headers or its body slowly is cut off", func(t *testing.T) {
		url, _, _ := listen(t, httpGateway(newWaiting()), all(200*time.Millisecond))
		address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), HTTPPath)
		for part, text := range map[string]string{
			"headers": "POST /mcp HTTP/1.1\r\nHost: localhost\r\n",
			"body":    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + tokenA + "\r\nContent-Length: 100\r\n\r\n{",
		} {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(patience))
			fmt.Fprint(conn, text)
			answer, err := io.ReadAll(conn)
			if err != nil {
				t.Errorf("%s: it was not cut off: %v", part, err)
			}
			if part == "body" && !strings.Contains(string(answer), "the request did not arrive whole") {
				t.Errorf("body: %q", answer)
			}
		}
	})
	t.Run("GATE-1 event streams and long calls outlive all of these times", func(t *testing.T) {
		w := newWaiting()
		g := httpGateway(w)
		const limit = 2 * time.Second // enough for the client itself on a busy machine
		url, stop, _ := listen(t, g, all(limit))
		c := begin(t, url, tokenA)
		answer, events := c.start(t.Context(), w), c.events()
		time.Sleep(2 * limit)
		g.server.RemoveTools("quick")
		if event := receive(t, events, "no event"); !strings.Contains(event, "notifications/tools/list_changed") {
			t.Errorf("event %q", event)
		}
		stop(nil)
		if text := receive(t, answer, "no answer"); !strings.Contains(text, "aborted") {
			t.Errorf("answer %q", text)
		}
	})
	t.Run("GATE-1 a client that does not take its response is cut off", func(t *testing.T) {
		g := httpGateway(newWaiting())
		released := make(chan struct{})
		g.server.AddTool(&mcp.Tool{Name: "large", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 32<<20)}}}, nil
		})
		times := defaultHTTPTimes
		times.piece = 500 * time.Millisecond
		url, stop, ended := listen(t, g, times)
		c := begin(t, url, tokenA)
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), HTTPPath))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		go func() {
			defer close(released)
			if err := c.request(t.Context(), http.MethodPost, callOf("large")).Write(conn); err != nil {
				t.Error(err)
				return
			}
			// It reads the beginning and then no more, until the other side has given up.
			in := bufio.NewReaderSize(conn, 16)
			_, _ = in.ReadByte()
			time.Sleep(4 * times.piece)
			n, err := io.Copy(io.Discard, in)
			if err == nil && n >= 32<<20 {
				t.Error("it got the whole response")
			}
		}()
		receive(t, released, "the response goes on")
		stop(nil)
		receive(t, ended, "it does not end")
	})
}

// brokenWriter is a response that nobody takes.
type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestPatientWriter(t *testing.T) {
	t.Run("GATE-1 a request ends when its response cannot be written, and not before", func(t *testing.T) {
		broken := 0
		w, end := patient(httptest.NewRecorder(), time.Second, func() { broken++ })
		_, err := w.Write([]byte("x"))
		end()
		if err != nil || broken != 0 {
			t.Errorf("error %v, broken %d times", err, broken)
		}
		w, _ = patient(brokenWriter{httptest.NewRecorder()}, time.Second, func() { broken++ })
		if _, err := w.Write([]byte("x")); err == nil || broken != 1 {
			t.Errorf("error %v, broken %d times", err, broken)
		}
	})
}

// TestHTTPClients drives the handler with the library's own client, in the protocol's revisions with and without sessions.
func TestHTTPClients(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", sessionless} {
		t.Run("GATE-1 GATE-5 "+version, func(t *testing.T) {
			w := newWaiting()
			g := httpGateway(w)
			url, stop, ended := listen(t, g, defaultHTTPTimes)
			changed := make(chan struct{}, 10)
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			})
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: url, HTTPClient: &http.Client{Transport: bearer{tokenA}},
			}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("protocol %s", got)
			}
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "quick"})
			if err != nil || result.Content[0].(*mcp.TextContent).Text != "done" {
				t.Fatalf("%v: %v", result, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "wait"})
				failed <- err
			}()
			receive(t, w.began, "the call does not begin")
			cancel()
			receive(t, w.ended, "a cancelled call goes on")
			if err := receive(t, failed, "no answer"); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			g.server.RemoveTools("quick")
			receive(t, changed, "the client does not hear of the change")
			stop(nil)
			receive(t, ended, "it does not end")
		})
	}
}

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}
