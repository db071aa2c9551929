//go:build unix

package exectools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// echoServer answers with what it was asked.
func echoServer(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/status/", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(418)
		_, _ = io.WriteString(w, "short and stout "+r.Header.Get("Authorization")+strings.Repeat("x", 10_000))
	})
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "plain") })
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
	mux.HandleFunc("/binary", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0xFF, 0}) })
	mux.HandleFunc("/lossy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "[9007199254740993]")
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 2000)) })
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("where"), http.StatusFound)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "uri": r.RequestURI, "body": string(body), "type": r.Header.Get("Content-Type"), "auth": r.Header.Get("Authorization")})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

const httpParameters = `"parameters": {"type": "object", "properties": {"id": {}, "q": {}, "opt": {}, "where": {}}}`

func httpTool(t *testing.T, body string) *registry.Registry {
	t.Helper()
	return load(t, t.TempDir(), `{"tools": {"t": {"description": "d", `+httpParameters+`, "http": `+body+`}}}`)
}

func TestHTTPTool(t *testing.T) {
	s := echoServer(t)
	for _, c := range []struct{ name, body, given, uri, sent, kind string }{
		{"path and query are encoded", `{"url": "%s/a/{id}/b?q={q}&fixed=1"}`, `{"id": "x/../y?z#1 é", "q": "a&b=c+d é"}`, "/a/x%2F..%2Fy%3Fz%231%20%C3%A9/b?q=a%26b%3Dc%2Bd+%C3%A9&fixed=1", "", ""},
		{"a missing optional member drops its pair", `{"url": "%s/x?a={opt}&b={q}", "query": {"c": "{opt}", "d": "v{q}", "e": 1, "f": true}}`, `{"q": "1"}`, "/x?b=1&d=v1&e=1&f=true", "", ""},
		{"no path", `{"url": "%s"}`, `{}`, "/", "", ""},
		{"substitution is one pass", `{"url": "%s/{id}"}`, `{"id": "{q}", "q": "no"}`, "/%7Bq%7D", "", ""},
		{"all arguments as the body", `{"method": "post", "url": "%s/x", "body": true}`, `{"id": 1, "q": {"b": 1, "a": 2}}`, "/x", `{"id":1,"q":{"b":1,"a":2}}`, "application/json"},
		{"a body of JSON", `{"method": "PUT", "url": "%s/x", "body": {"a": "{id}", "b": ["{q}", "{opt}", "no {id} place {", {"c": "{opt}"}], "d": null}}`, `{"id": {"x": "{q}"}, "q": "\"}, \"admin\": true"}`, "/x", `{"a":{"x":"{q}"},"b":["\"}, \"admin\": true","no {\"x\":\"{q}\"} place {",{}],"d":null}`, "application/json"},
		{"a body that is one argument", `{"method": "POST", "url": "%s/x", "body": "{q}"}`, `{"q": [1]}`, "/x", `[1]`, "application/json"},
		{"a body of text", `{"method": "POST", "url": "%s/x", "body": "q={q}&{opt}"}`, `{"q": "1"}`, "/x", "q=1&", "text/plain; charset=utf-8"},
		{"a redirect within the origin", `{"url": "%s/to?where={where}"}`, `{"where": "/there"}`, "/there", "", ""},
	} {
		t.Run("TOOLS-4 "+c.name, func(t *testing.T) {
			r := call(t, httpTool(t, strings.ReplaceAll(c.body, "%s", s.URL)), "t", c.given)
			if r.IsError() {
				t.Fatal(r.Failure().Message)
			}
			var got struct{ URI, Body, Type string }
			if err := json.Unmarshal(r.Value().JSON(), &got); err != nil {
				t.Fatal(err)
			}
			if got.URI != c.uri || got.Body != c.sent || got.Type != c.kind {
				t.Errorf("got  %+v\nwant %s %s %s", got, c.uri, c.sent, c.kind)
			}
		})
	}
	for _, c := range []struct{ id string }{{`""`}, {`"."`}, {`".."`}} {
		t.Run("TOOLS-4 refused as a segment: "+c.id, func(t *testing.T) {
			wantFailure(t, call(t, httpTool(t, `{"url": "`+s.URL+`/a/{id}"}`), "t", `{"id": `+c.id+`}`), registry.CodeInvalidArgs, `"id": expected text for one segment of a path, got `+c.id)
		})
	}
	t.Run("TOOLS-4 a segment whose argument is missing", func(t *testing.T) {
		wantFailure(t, call(t, httpTool(t, `{"url": "`+s.URL+`/a/{id}"}`), "t", `{}`), registry.CodeInvalidArgs, `"id": required property is missing`)
	})
	t.Run("TOOLS-4 what comes back", func(t *testing.T) {
		wantValue(t, call(t, httpTool(t, `{"url": "`+s.URL+`/text"}`), "t", `{}`), `"plain"`)
		wantValue(t, call(t, httpTool(t, `{"url": "`+s.URL+`/empty"}`), "t", `{}`), `null`)
		wantFailure(t, call(t, httpTool(t, `{"url": "`+s.URL+`/binary"}`), "t", `{}`), "", "neither JSON nor UTF-8 text")
		wantFailure(t, call(t, httpTool(t, `{"url": "`+s.URL+`/lossy"}`), "t", `{}`), "", "not lossless JSON")
		wantFailure(t, call(t, httpTool(t, `{"url": "`+s.URL+`/big", "maxBytes": 1999}`), "t", `{}`), "", "larger than 1999 bytes")
		if r := call(t, httpTool(t, `{"url": "`+s.URL+`/big", "maxBytes": 2000}`), "t", `{}`); r.IsError() {
			t.Error(r.Failure().Message)
		}
	})
	t.Run("TOOLS-4 no success: status and a cut body; headers stay secret", func(t *testing.T) {
		t.Setenv("SOME_TOKEN", "very-s3cret")
		reg := httpTool(t, `{"url": "`+s.URL+`/status/{id}", "headers": {"Authorization": "Bearer ${SOME_TOKEN}"}}`)
		r := call(t, reg, "t", `{"id": "x"}`)
		wantFailure(t, r, "", "HTTP 418", "short and stout [redacted]xxx")
		if m := r.Failure().Message; strings.Contains(m, "s3cret") || len(m) > shownBody+200 {
			t.Errorf("%d bytes: %.200s", len(m), m)
		}
		d, _ := reg.Get("t", nil)
		if text, _ := json.Marshal(d.Parameters); strings.Contains(string(text)+d.Description, "s3cret") {
			t.Error("the definition tells it")
		}
		ok := call(t, httpTool(t, `{"url": "`+s.URL+`/x", "headers": {"Authorization": "Bearer ${SOME_TOKEN}"}}`), "t", `{}`)
		if auth, _ := ok.Value().Get("auth"); auth.Str() != "Bearer very-s3cret" {
			t.Errorf("the server got %s", auth)
		}
	})
	t.Run("TOOLS-4 a redirect to another origin is not followed", func(t *testing.T) {
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
		defer other.Close()
		wantFailure(t, call(t, httpTool(t, `{"url": "`+s.URL+`/to?where={where}"}`), "t", args(t, map[string]any{"where": other.URL})), "", "HTTP 302", "a redirect to another origin is not followed")
	})
	t.Run("TOOLS-4 cancellation", func(t *testing.T) {
		reg := httpTool(t, `{"url": "`+s.URL+`/hang"}`)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		wantFailure(t, reg.Execute(ctx, registry.Call{ID: "1", Name: "t", Arguments: json.RawMessage(`{}`)}), registry.CodeAborted)
	})
	t.Run("TOOLS-4 nobody listens", func(t *testing.T) {
		gone := httptest.NewServer(http.NotFoundHandler())
		gone.Close()
		wantFailure(t, call(t, httpTool(t, `{"url": "`+gone.URL+`"}`), "t", `{}`), "", "connection refused")
	})
}

func TestHTTPManifest(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`3`, "tools.t.http: must be an object"},
		{`{}`, "tools.t.http.url: is missing"},
		{`{"url": "ftp://x"}`, "tools.t.http.url: must begin with http:// or https://"},
		{`{"url": "https://{id}.example/x"}`, "tools.t.http.url: needs a host without places"},
		{`{"url": "https://x{id}:{q}/"}`, "tools.t.http.url: needs a host without places"},
		{`{"url": "https://user:pw@x/"}`, "tools.t.http.url: must not hold credentials"},
		{`{"url": "https://x/#a"}`, "tools.t.http.url: must not have a fragment"},
		{`{"url": "https://x/%zz"}`, "tools.t.http.url: invalid URL escape"},
		{`{"url": "https://x/{nope}"}`, "tools.t.http.url: {nope} names no member"},
		{`{"url": "https://x/?{id}=1"}`, "tools.t.http.url: a name in the query must not have places"},
		{`{"url": "https://x/", "query": {"a": "{nope}", "b": []}}`, "tools.t.http.query.a: {nope} names no member"},
		{`{"url": "https://x/", "query": {"b": []}}`, "tools.t.http.query.b: must be a string, a number or a boolean"},
		{`{"url": "https://x/", "method": "TRACE"}`, "tools.t.http.method: must be one of GET"},
		{`{"url": "https://x/", "body": true}`, "tools.t.http.body: does not go with the method GET"},
		{`{"url": "https://x/", "method": "POST", "body": {"a": ["{nope}"]}}`, "tools.t.http.body.a[0]: {nope} names no member"},
		{`{"url": "https://x/", "headers": {"A": "{id}"}}`, "tools.t.http.headers.A: must not depend on arguments"},
		{`{"url": "https://x/", "headers": {"A": "${NO_SUCH_VARIABLE}"}}`, "tools.t.http.headers.A: the environment variable NO_SUCH_VARIABLE is not set"},
		{`{"url": "https://x/", "headers": {"A b": "x"}}`, "tools.t.http.headers.A b: must be a legal header"},
		{`{"url": "https://x/", "headers": {"A": "x\ny"}}`, "tools.t.http.headers.A: must not hold line breaks"},
		{`{"url": "https://x/", "maxBytes": 0}`, "tools.t.http.maxBytes: must be a whole number"},
		{`{"url": "https://x/", "timeout": 0}`, "tools.t.http.timeout: is unknown"},
	} {
		t.Run("TOOLS-4 "+c.body, func(t *testing.T) {
			_, err := LoadManifest(write(t, t.TempDir(), fmt.Sprintf(`{"tools": {"t": {"description": "d", %s, "http": %s}}}`, httpParameters, c.body)))
			list := (*ManifestError)(nil)
			if !errors.As(err, &list) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v\nwant  %s", err, c.want)
			}
		})
	}
}
