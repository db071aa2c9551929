package gateway

import (
	"net/http"
	"strings"
	"testing"
)

func TestHTTPOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    HTTPOptions
		want string
	}{
		{"no token", HTTPOptions{}, "HTTPOptions.Tokens is empty"},
		{"a token that can be guessed", HTTPOptions{Tokens: []string{tokenA, "short"}}, "HTTPOptions.Tokens[1]: the token has 5 characters, expected at least 16"},
		{"padding is no length", HTTPOptions{Tokens: []string{"short==============="}}, "expected at least 16"},
		{"a token that no header carries", HTTPOptions{Tokens: []string{"white space in the middle"}}, "characters that no bearer token may have"},
		{"a line end in a token", HTTPOptions{Tokens: []string{"0123456789abcdef\n"}}, "characters that no bearer token may have"},
		{"a host with port", HTTPOptions{Tokens: []string{tokenA}, Hosts: []string{"box:80"}}, `HTTPOptions.Hosts has "box:80"`},
		{"an empty host", HTTPOptions{Tokens: []string{tokenA}, Hosts: []string{""}}, `HTTPOptions.Hosts has ""`},
		{"an origin with path", HTTPOptions{Tokens: []string{tokenA}, Origins: []string{"https://example.com/"}}, "expected an origin such as https://example.com"},
		{"an origin without scheme", HTTPOptions{Tokens: []string{tokenA}, Origins: []string{"example.com"}}, "expected an origin"},
		{"a negative size", HTTPOptions{Tokens: []string{tokenA}, MaxBody: -1}, "HTTPOptions.MaxBody is -1"},
		{"a negative number", HTTPOptions{Tokens: []string{tokenA}, MaxSessions: -1}, "HTTPOptions.MaxSessions is -1"},
		{"a negative duration", HTTPOptions{Tokens: []string{tokenA}, Idle: -1}, "HTTPOptions.Idle is -1ns"},
	} {
		t.Run("GATE-1 "+c.name, func(t *testing.T) {
			_, err := httpGateway(newWaiting()).Handler(c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			for _, token := range c.o.Tokens {
				if err != nil && strings.Contains(err.Error(), token) {
					t.Errorf("the error repeats a token: %v", err)
				}
			}
		})
	}
	t.Run("GATE-1 new tokens are good, and differ", func(t *testing.T) {
		a, b := NewToken(), NewToken()
		if a == b || CheckToken(a) != nil {
			t.Errorf("%q, %q: %v", a, b, CheckToken(a))
		}
	})
}

// TestHTTPAdmission asks with everything that a client, a web page or another program may send.
func TestHTTPAdmission(t *testing.T) {
	o := options()
	o.Hosts, o.Origins = []string{"Box.Example", "192.0.2.7"}, []string{"https://App.example"}
	o.MaxBody = 1000
	_, url := serveHTTP(t, httpGateway(newWaiting()), o, nil)
	auth := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Authorization"] = values }
	}
	origin := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Origin"] = values }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		status int
		text   string
	}{
		{"a token is enough", func(*http.Request) {}, 200, ""},
		{"another of the tokens", auth("Bearer " + tokenB), 200, ""},
		{"the scheme in any case", auth("bEARER " + tokenA), 200, ""},
		{"no token", auth(), 401, "a bearer token is missing or wrong"},
		{"a wrong token", auth("Bearer " + tokenA + "x"), 401, "a bearer token is missing or wrong"},
		{"the start of a token", auth("Bearer " + tokenA[:20]), 401, "a bearer token is missing or wrong"},
		{"an empty token", auth("Bearer "), 401, "missing or wrong"},
		{"another scheme", auth("Basic " + tokenA), 401, "missing or wrong"},
		{"a token without scheme", auth(tokenA), 401, "missing or wrong"},
		{"two tokens", auth("Bearer "+tokenA, "Bearer "+tokenA), 401, "missing or wrong"},

		{"a loopback name", host("localhost:99"), 200, ""},
		{"a loopback name with its dot", host("LOCALHOST."), 200, ""},
		{"another loopback address", host("127.1.2.3"), 200, ""},
		{"the IPv6 loopback address", host("[::1]:80"), 200, ""},
		{"an allowed name", host("box.example:8080"), 200, ""},
		{"an allowed address", host("192.0.2.7"), 200, ""},
		{"a name that was pointed here", host("evil.example"), 403, "the Host header names neither"},
		{"a name that begins like a loopback one", host("localhost.evil.example"), 403, "the Host header names neither"},
		{"a name that begins like a loopback address", host("127.0.0.1.evil.example"), 403, "the Host header names neither"},
		{"an address of another machine", host("192.0.2.8"), 403, "the Host header names neither"},

		{"a page of this machine", origin("http://localhost:5173"), 200, ""},
		{"a page of this machine by address", origin("http://[::1]"), 200, ""},
		{"a page of an allowed origin", origin("https://app.EXAMPLE"), 200, ""},
		{"the allowed origin without encryption", origin("http://app.example"), 403, "the Origin header names neither"},
		{"another port of the allowed origin", origin("https://app.example:444"), 403, "the Origin header names neither"},
		{"a page of elsewhere", origin("https://evil.example"), 403, "the Origin header names neither"},
		{"a page that hides where it is from", origin("null"), 403, "the Origin header names neither"},
		{"a page of a file", origin("file://"), 403, "the Origin header names neither"},
		{"an allowed host is no allowed origin", origin("http://box.example"), 403, "the Origin header names neither"},
		{"an origin with a user", origin("http://localhost@evil.example"), 403, "the Origin header names neither"},
		{"two origins", origin("http://localhost", "https://evil.example"), 403, "the Origin header names neither"},
	} {
		t.Run("GATE-1 "+c.name, func(t *testing.T) {
			client := &rawClient{t: t, url: url, token: tokenA}
			r := client.request(t.Context(), http.MethodPost, initialize)
			c.change(r)
			status, header, text := client.do(r)
			if status != c.status || !strings.Contains(text, c.text) {
				t.Errorf("status %d, want %d; text %q, want %q in it", status, c.status, text, c.text)
			}
			if challenge := header.Get("WWW-Authenticate"); (challenge != "") != (status == 401) {
				t.Errorf("status %d with WWW-Authenticate %q", status, challenge)
			}
			if status != 200 && header.Get(headerSession) != "" {
				t.Error("a refused client got a session")
			}
		})
	}
	t.Run("GATE-1 a large body is refused, also one of unknown length", func(t *testing.T) {
		client := &rawClient{t: t, url: url, token: tokenA}
		for _, length := range []int64{1001, -1} {
			r := client.request(t.Context(), http.MethodPost, strings.Repeat(" ", 1001))
			r.ContentLength = length
			if status, _, text := client.do(r); status != http.StatusRequestEntityTooLarge || !strings.Contains(text, "larger than 1000 bytes") {
				t.Errorf("length %d: status %d: %s", length, status, text)
			}
		}
	})
	t.Run("GATE-1 a body is not read before the token", func(t *testing.T) {
		client := &rawClient{t: t, url: url, token: "no-such-token-at-all"}
		if status, _, _ := client.post(strings.Repeat(" ", 1001)); status != http.StatusUnauthorized {
			t.Errorf("status %d", status)
		}
	})
	t.Run("GATE-1 a browser is told what a local page may send, and no other page", func(t *testing.T) {
		client := &rawClient{t: t, url: url}
		r := client.request(t.Context(), http.MethodOptions, "")
		r.Header.Set("Origin", "http://localhost:6274")
		status, header, _ := client.do(r)
		if status != http.StatusNoContent || header.Get("Access-Control-Allow-Origin") != "http://localhost:6274" ||
			!strings.Contains(header.Get("Access-Control-Allow-Headers"), "Authorization") || header.Get("Access-Control-Expose-Headers") != headerSession {
			t.Errorf("status %d, headers %v", status, header)
		}
		r = client.request(t.Context(), http.MethodOptions, "")
		r.Header.Set("Origin", "https://evil.example")
		if status, header, _ := client.do(r); status != http.StatusForbidden || header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("status %d, headers %v", status, header)
		}
		if status, header, _ := client.do(client.request(t.Context(), http.MethodOptions, "")); status != http.StatusUnauthorized || header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("without an origin: status %d, headers %v", status, header)
		}
	})
}
