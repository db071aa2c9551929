package exectools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	maxResponseBytes = 8 << 20 // default cap of a response's body
	shownBody        = 2 << 10 // bytes of the body in the failure of a response that is no success
)

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// request is the body of TOOLS-4.
type request struct {
	method   string
	base     string // scheme://host, which no argument reaches
	segments []template
	query    []queryPart
	headers  http.Header
	secrets  *strings.Replacer // the values of headers
	body     jsonval.Value     // a template; absent for none
	whole    bool              // the body is all arguments
	raw      template          // the body is this text
	maxBytes int64
	client   *http.Client
	declares func(name string) bool
}

// queryPart is name=value; one whose argument is missing is left out.
type queryPart struct {
	name  string
	value template
}

func (r *request) hasBody() bool { return r.whole || r.raw != nil || r.body.Exists() }

// stayAtOrigin stops at a redirect that leads elsewhere; its response then is the answer, which is no success.
func stayAtOrigin(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return http.ErrUseLastResponse
	}
	if len(via) >= 10 {
		return errors.New("too many redirects")
	}
	return nil
}

func (r *request) run(ctx context.Context, args jsonval.Value) (any, error) {
	address, err := r.address(args)
	if err != nil {
		return nil, err
	}
	text, kind := r.content(args)
	var reader io.Reader
	if r.hasBody() {
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, reader)
	if err != nil {
		return nil, r.clean(err)
	}
	req.Header.Set("Accept", "application/json, text/*;q=0.9, */*;q=0.5")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for name, values := range r.headers {
		req.Header[name] = values
		if name == "Host" {
			req.Host = values[0]
		}
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, r.failure(ctx, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, r.maxBytes+1))
	if err != nil {
		return nil, r.failure(ctx, err)
	}
	return r.value(resp, data)
}

func (r *request) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errAborted()
	}
	return r.clean(err)
}

// clean takes the headers' values out of an error.
func (r *request) clean(err error) error {
	if r.secrets == nil {
		return err
	}
	return errors.New(r.secrets.Replace(err.Error()))
}

// address fills path and query. A segment that an argument makes empty, "." or ".." would change what is addressed.
func (r *request) address(args jsonval.Value) (string, error) {
	var b strings.Builder
	b.WriteString(r.base)
	var bad []string
	for _, t := range r.segments {
		b.WriteByte('/')
		if t.constant() {
			text, _ := t.fill(args, asIs)
			b.WriteString(text)
			continue
		}
		plain, missing := t.fill(args, asIs)
		switch {
		case missing != "":
			bad = append(bad, quotePath(missing)+": required property is missing")
		case plain == "" || plain == "." || plain == "..":
			bad = append(bad, fmt.Sprintf("%s: expected text for one segment of a path, got %q", quotePath(firstPlace(t)), plain))
		}
		text, _ := t.fill(args, url.PathEscape)
		b.WriteString(text)
	}
	if len(bad) > 0 {
		return "", &registry.ArgsError{Violations: bad}
	}
	for i, separator := 0, byte('?'); i < len(r.query); i++ {
		value, missing := r.query[i].value.fill(args, asIs)
		if missing != "" {
			continue
		}
		b.WriteByte(separator)
		b.WriteString(url.QueryEscape(r.query[i].name) + "=" + url.QueryEscape(value))
		separator = '&'
	}
	return b.String(), nil
}

func (r *request) content(args jsonval.Value) (text []byte, kind string) {
	switch {
	case r.whole:
		return args.JSON(), "application/json"
	case r.raw != nil:
		text, _ := r.raw.fill(withEmpty(args, r.raw), asIs)
		return []byte(text), "text/plain; charset=utf-8"
	case r.body.Exists():
		v, ok := r.fillJSON(r.body, args)
		if !ok {
			v = jsonval.Null()
		}
		return v.JSON(), "application/json"
	}
	return nil, ""
}

// withEmpty gives the empty text for missing arguments.
func withEmpty(args jsonval.Value, t template) jsonval.Value {
	for _, p := range t {
		if _, ok := args.Get(p.name); !ok && p.name != "" {
			args = args.With(p.name, jsonval.Text(""))
		}
	}
	return args
}

// fillJSON fills the places of a JSON template; ok is false for a string that is one place whose argument is missing, which then drops
// its member or item. What comes from an argument is a value and never looked into.
func (r *request) fillJSON(v, args jsonval.Value) (filled jsonval.Value, ok bool) {
	switch v.Kind() {
	case jsonval.KindString:
		t, err := newTemplate(v.Str(), r.declares)
		if err != nil || t.constant() {
			return v, true
		}
		if name, only := t.only(); only {
			return args.Get(name)
		}
		text, _ := t.fill(withEmpty(args, t), asIs)
		return jsonval.Text(text), true
	case jsonval.KindArray:
		items := make([]jsonval.Value, 0, v.Len())
		for _, item := range v.Items() {
			if filled, ok := r.fillJSON(item, args); ok {
				items = append(items, filled)
			}
		}
		return jsonval.Array(items...), true
	case jsonval.KindObject:
		members := make([]jsonval.Member, 0, v.Len())
		for name, item := range v.Members() {
			if filled, ok := r.fillJSON(item, args); ok {
				members = append(members, jsonval.Member{Name: name, Value: filled})
			}
		}
		return jsonval.Object(members...), true
	}
	return v, true
}

func (r *request) value(resp *http.Response, data []byte) (any, error) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		text := "the request failed: HTTP " + resp.Status
		if resp.StatusCode >= 300 && resp.StatusCode < 400 {
			text += " (a redirect to another origin is not followed)"
		}
		if body := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD")); body != "" {
			text += ": " + cutText(body, shownBody)
		}
		return nil, r.clean(errors.New(text))
	}
	if int64(len(data)) > r.maxBytes {
		return nil, fmt.Errorf("the response is larger than %d bytes", r.maxBytes)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return jsonval.Null(), nil
	}
	v, err := jsonval.Parse(data)
	if err == nil {
		return v, nil
	}
	if strings.Contains(resp.Header.Get("Content-Type"), "json") {
		return nil, fmt.Errorf("the response is not lossless JSON: %w", err)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("the response is neither JSON nor UTF-8 text (%d bytes of %s)", len(data), resp.Header.Get("Content-Type"))
	}
	return string(data), nil
}
