package exectools

// Reading the body http of a tool, and refusing what is wrong with it.

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

func (e *entry) http(v jsonval.Value) body {
	r := &request{method: http.MethodGet, maxBytes: maxResponseBytes, declares: e.parameters.declares}
	r.client = &http.Client{CheckRedirect: stayAtOrigin}
	key := e.key + ".http"
	if !v.IsObject() {
		e.add(key, "must be an object, got %s", v.Kind())
		return r.run
	}
	if _, ok := v.Get("url"); !ok {
		e.add(key+".url", "is missing")
	}
	for name, m := range v.Members() {
		place := key + "." + name
		switch name {
		case "method":
			e.httpMethod(r, place, m)
		case "url":
			e.httpURL(r, place, m)
		case "headers":
			e.httpHeaders(r, place, m)
		case "query":
			e.httpQuery(r, place, m)
		case "body":
			e.httpBody(r, place, m)
		case "maxBytes":
			if n := m.Float(); n >= 1 && n <= 1<<30 && n == float64(int64(n)) {
				r.maxBytes = int64(n)
			} else {
				e.add(place, "must be a whole number between 1 and %d, got %s", 1<<30, shown(m))
			}
		default:
			e.add(place, "is unknown: http has method, url, headers, query, body and maxBytes")
		}
	}
	if r.hasBody() && (r.method == http.MethodGet || r.method == http.MethodHead) {
		e.add(key+".body", "does not go with the method %s", r.method)
	}
	return r.run
}

func (e *entry) httpMethod(r *request, place string, v jsonval.Value) {
	method := strings.ToUpper(v.Str())
	if !slices.Contains(methods, method) {
		e.add(place, "must be one of %s, got %s", strings.Join(methods, ", "), shown(v))
		return
	}
	r.method = method
}

// httpURL takes the address apart: scheme and host are the manifest's alone, places stand in path segments and in the query.
func (e *entry) httpURL(r *request, place string, v jsonval.Value) {
	scheme, rest, ok := strings.Cut(v.Str(), "://")
	if !ok || scheme != "http" && scheme != "https" {
		e.add(place, "must begin with http:// or https://, got %s", shown(v))
		return
	}
	if strings.Contains(rest, "#") {
		e.add(place, "must not have a fragment")
	}
	address, query, _ := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(address, "/")
	r.base = scheme + "://" + host
	if u, err := url.Parse(r.base); err != nil || u.Host == "" || strings.Contains(host, "{") {
		e.add(place, "needs a host without places, got %s", shown(jsonval.Text(host)))
	} else if u.User != nil {
		e.add(place, "must not hold credentials: use a header with ${NAME}")
	}
	for _, segment := range strings.Split(path, "/") {
		t, err := newTemplate(segment, e.parameters.declares)
		if err == nil && t.constant() {
			if _, bad := url.PathUnescape(segment); bad != nil {
				err = bad
			}
		}
		if err != nil {
			e.add(place, "%v", err)
		}
		r.segments = append(r.segments, t)
	}
	if query == "" {
		return
	}
	for _, pair := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err == nil && strings.Contains(name, "{") {
			err = errors.New("a name in the query must not have places")
		}
		if err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err != nil {
			e.add(place, "%v", err)
			continue
		}
		e.queryPart(r, place, name, value)
	}
}

func (e *entry) queryPart(r *request, place, name, value string) {
	t, err := newTemplate(value, e.parameters.declares)
	if err != nil {
		e.add(place, "%v", err)
	}
	r.query = append(r.query, queryPart{name, t})
}

func (e *entry) httpQuery(r *request, place string, v jsonval.Value) {
	if !v.IsObject() {
		e.add(place, "must be an object, got %s", v.Kind())
		return
	}
	for name, m := range v.Members() {
		switch m.Kind() {
		case jsonval.KindString, jsonval.KindNumber, jsonval.KindBool:
			e.queryPart(r, place+"."+name, name, argumentText(m))
		default:
			e.add(place+"."+name, "must be a string, a number or a boolean, got %s", m.Kind())
		}
	}
}

// httpHeaders reads headers. ${NAME} is an environment variable; places are for path and query only. The values never reach a log, an
// error or the SDK.
func (e *entry) httpHeaders(r *request, place string, v jsonval.Value) {
	if !v.IsObject() {
		e.add(place, "must be an object of strings, got %s", v.Kind())
		return
	}
	r.headers = http.Header{}
	var secrets []string
	for name, m := range v.Members() {
		if !m.IsString() || !headerName(name) {
			e.add(place+"."+name, "must be a legal header with a string")
			continue
		}
		value, err := expandVariables(m.Str())
		if err == nil && strings.ContainsAny(value, "\r\n\x00") {
			err = errors.New("must not hold line breaks")
		}
		if err == nil && e.hasPlace(m.Str()) {
			err = errors.New("must not depend on arguments: places are for path segments and the query")
		}
		if err != nil {
			e.add(place+"."+name, "%v", err)
			continue
		}
		r.headers.Set(name, value)
		secrets = append(secrets, secretParts(value)...)
	}
	r.secrets = hider(secrets)
}

// hasPlace says whether an argument's place stands in a text, other than as a variable's ${NAME}.
func (e *entry) hasPlace(text string) bool {
	return slices.ContainsFunc(e.parameters.names, func(name string) bool {
		return strings.Contains(strings.ReplaceAll(text, "${"+name+"}", ""), "{"+name+"}")
	})
}

func headerName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("()<>@,;:\\\"/[]?={}", c)
	})
}

// secretParts are the texts to hide of a header: all of it, and what follows a scheme such as Bearer.
func secretParts(value string) []string {
	parts := []string{value}
	if _, token, ok := strings.Cut(value, " "); ok {
		parts = append(parts, token)
	}
	return parts
}

func hider(secrets []string) *strings.Replacer {
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		if len(s) >= 6 { // hiding every "1" would hide everything
			pairs = append(pairs, s, "[redacted]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// httpBody reads the body: true sends all arguments as one JSON object, a string sends text, anything else sends JSON in which a string
// that is one place becomes that argument's value.
func (e *entry) httpBody(r *request, place string, v jsonval.Value) {
	switch {
	case v.IsBool() && v.Bool():
		r.whole = true
		return
	case v.IsBool():
		return
	}
	if v.IsString() {
		t, err := newTemplate(v.Str(), e.parameters.declares)
		if err != nil {
			e.add(place, "%v", err)
		}
		if _, only := t.only(); !only {
			r.raw = t
			return
		}
	}
	e.checkBody(place, v)
	r.body = v
}

func (e *entry) checkBody(place string, v jsonval.Value) {
	switch v.Kind() {
	case jsonval.KindString:
		if _, err := newTemplate(v.Str(), e.parameters.declares); err != nil {
			e.add(place, "%v", err)
		}
	case jsonval.KindArray:
		for i, item := range v.Items() {
			e.checkBody(fmt.Sprintf("%s[%d]", place, i), item)
		}
	case jsonval.KindObject:
		for name, item := range v.Members() {
			e.checkBody(place+"."+name, item)
		}
	}
}
