package gateway

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestHTTPSession(t *testing.T) {
	w := newWaiting()
	_, url := serveHTTP(t, httpGateway(w), options(), nil)
	t.Run("GATE-1 a session belongs to the token that began it", func(t *testing.T) {
		own := begin(t, url, tokenA)
		if status, _, text := own.post(callOf("quick")); status != http.StatusOK || !strings.Contains(text, "done") {
			t.Fatalf("status %d: %s", status, text)
		}
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			other := &rawClient{t: t, url: url, token: tokenB, session: own.session}
			if status, _, text := other.do(other.request(t.Context(), method, callOf("quick"))); status != http.StatusNotFound || strings.Contains(text, "done") {
				t.Errorf("%s with another token: status %d: %s", method, status, text)
			}
		}
		if status, _, text := own.post(callOf("quick")); status != http.StatusOK {
			t.Errorf("its own client afterwards: status %d: %s", status, text)
		}
	})
	t.Run("GATE-1 a session that there is not", func(t *testing.T) {
		c := &rawClient{t: t, url: url, token: tokenA, session: "made-up"}
		if status, _, text := c.post(callOf("quick")); status != http.StatusNotFound || text != "session not found\n" {
			t.Errorf("status %d: %s", status, text)
		}
	})
	t.Run("GATE-1 nothing but a handshake begins a session", func(t *testing.T) {
		c := &rawClient{t: t, url: url, token: tokenA}
		if _, header, text := c.post(callOf("quick")); header.Get(headerSession) != "" || strings.Contains(text, "done") {
			t.Errorf("session %q: %s", header.Get(headerSession), text)
		}
	})
	t.Run("GATE-5 the end of a session aborts its calls", func(t *testing.T) {
		c := begin(t, url, tokenA)
		answer := c.start(t.Context(), w)
		if status, _, text := c.do(c.request(t.Context(), http.MethodDelete, "")); status != http.StatusNoContent {
			t.Errorf("DELETE: status %d: %s", status, text)
		}
		if cause := receive(t, w.ended, "the call goes on"); cause != errSessionEnded {
			t.Errorf("cause %v", cause)
		}
		if text := receive(t, answer, "no answer"); !strings.Contains(text, "aborted: the client ended its session") {
			t.Errorf("answer %q", text)
		}
		if status, _, _ := c.post(callOf("quick")); status != http.StatusNotFound {
			t.Errorf("afterwards: status %d", status)
		}
	})
	t.Run("GATE-5 a client whose connection breaks has its call aborted, and its session stays", func(t *testing.T) {
		c := begin(t, url, tokenA)
		ctx, hangUp := context.WithCancel(t.Context())
		answer := c.start(ctx, w)
		hangUp()
		if cause := receive(t, w.ended, "the call goes on"); cause != errClientGone {
			t.Errorf("cause %v", cause)
		}
		if text, ok := <-answer; ok {
			t.Errorf("it got an answer: %s", text)
		}
		if status, _, text := c.post(callOf("quick")); status != http.StatusOK || !strings.Contains(text, "done") {
			t.Errorf("afterwards: status %d: %s", status, text)
		}
	})
	t.Run("GATE-5 one connection's break leaves the other calls of the session alone", func(t *testing.T) {
		c := begin(t, url, tokenA)
		c.start(t.Context(), w)
		ctx, hangUp := context.WithCancel(t.Context())
		second := c.request(ctx, http.MethodPost, callOf("wait"))
		go func() {
			if response, err := http.DefaultClient.Do(second); err == nil {
				response.Body.Close()
			}
		}()
		receive(t, w.began, "the second call does not begin")
		hangUp()
		receive(t, w.ended, "the second call goes on")
		select {
		case <-w.ended:
			t.Error("the first call was aborted too")
		default:
		}
		c.do(c.request(t.Context(), http.MethodDelete, ""))
		receive(t, w.ended, "the first call goes on")
	})
	t.Run("GATE-5 a client cannot claim another's request", func(t *testing.T) {
		c := begin(t, url, tokenA)
		r := c.request(t.Context(), http.MethodPost, callOf("quick"))
		r.Header.Set(headerPost, "1")
		if status, _, text := c.do(r); status != http.StatusOK || !strings.Contains(text, "done") {
			t.Errorf("status %d: %s", status, text)
		}
	})
}

func TestHTTPSessionBound(t *testing.T) {
	w := newWaiting()
	o := options()
	o.MaxSessions = 2
	_, url := serveHTTP(t, httpGateway(w), o, nil)
	full := func(t *testing.T) {
		t.Helper()
		c := &rawClient{t: t, url: url, token: tokenA}
		if status, header, text := c.post(initialize); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || text != "too many sessions: end one first\n" {
			t.Errorf("status %d: %s", status, text)
		}
	}
	parent := t // sessions outlive the test that began them
	first, second := begin(parent, url, tokenA), begin(parent, url, tokenB)
	t.Run("GATE-1 the session that nothing has used for longest makes room", func(t *testing.T) {
		first.post(callOf("quick"))
		third := begin(parent, url, tokenA)
		if status, _, _ := second.post(callOf("quick")); status != http.StatusNotFound {
			t.Errorf("the second session: status %d", status)
		}
		if status, _, _ := first.post(callOf("quick")); status != http.StatusOK {
			t.Errorf("the first session: status %d", status)
		}
		second = third
	})
	t.Run("GATE-1 sessions in use make no room", func(t *testing.T) {
		first.start(parent.Context(), w)
		events := second.events()
		full(t)
		second.do(second.request(t.Context(), http.MethodDelete, ""))
		if _, open := <-events; open {
			t.Error("the stream of a session that ended is still open")
		}
		begin(parent, url, tokenA)
	})
	t.Run("GATE-1 requests that come to no session keep no place", func(t *testing.T) {
		for range 5 {
			(&rawClient{t: t, url: url, token: tokenA}).post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			(&rawClient{t: t, url: url, token: tokenA}).post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}`)
			(&rawClient{t: t, url: url, token: tokenA}).post(`not JSON`)
		}
		begin(t, url, tokenA)
	})
}

// TestHTTPSessionIdle runs the book-keeping on a clock of its own, with sessions whose requests it plays itself.
func TestHTTPSessionIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := httpGateway(newWaiting())
		set := newHTTPSessions(10, time.Minute)
		open := func(id string) *httpSession {
			s, ok := set.reserve(0)
			if !ok {
				t.Fatal("no place")
			}
			session, err := g.server.Connect(t.Context(), &mcp.StreamableServerTransport{SessionID: id}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.adopt(session)
			s.settle()
			return s
		}
		known := func(id string) bool {
			_, leave, ok := set.enter(id, 0, true)
			if ok {
				leave()
			}
			return ok
		}
		places := func() int {
			set.mu.Lock()
			defer set.mu.Unlock()
			return set.held
		}
		open("idle")
		open("used")
		busy := open("busy")
		busy.begin()
		for range 4 {
			time.Sleep(20 * time.Second)
			if !known("used") {
				t.Error("GATE-1 a session that is used ended")
			}
		}
		if known("idle") {
			t.Error("GATE-1 an idle session is still there")
		}
		if n := places(); n != 2 {
			t.Errorf("GATE-1 %d places are taken, want 2", n)
		}
		time.Sleep(time.Hour)
		if known("used") {
			t.Error("GATE-1 a session is still there after an idle hour")
		}
		busy.leave()
		if !known("busy") {
			t.Error("GATE-1 a session with a call of an hour ended in it")
		}
		before := places()
		gone, _ := set.reserve(0)
		gone.settle() // its client hung up in the handshake
		unknown, err := g.server.Connect(t.Context(), &mcp.StreamableServerTransport{SessionID: "gone"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		gone.adopt(unknown)
		if known("gone") || places() != before {
			t.Errorf("GATE-1 a session that its client cannot know of was kept; %d places, want %d", places(), before)
		}
		if err := set.close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, ok := set.reserve(0); ok {
			t.Error("GATE-1 a closed set takes sessions")
		}
		late := &httpSession{set: set}
		session, err := g.server.Connect(t.Context(), &mcp.StreamableServerTransport{SessionID: "late"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		late.adopt(session)
		synctest.Wait()
		if known("late") || places() != 0 {
			t.Errorf("GATE-1 a session that came late was taken; %d places", places())
		}
	})
}
