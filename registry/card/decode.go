package card

// This file reads views back, strictly: a tag that is not known, a field that is missing, foreign, of another type or out of
// bounds is an error (CARD-10). CheckCall and CheckResult hold what a presenter returned to the same rules.

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// DecodeCall reads the JSON form of a call view.
func DecodeCall(v jsonval.Value) (CallView, error) {
	var view CallView
	r := read(v, "view")
	switch tag := r.str("card"); tag {
	case "generic":
		view = GenericCall{
			Title: r.str("title"), Kind: r.kind("kind"), RawInput: r.any("rawInput"),
			Content: decodeList(r, "content", optional, (*reader).block), Locations: decodeList(r, "locations", optional, (*reader).location),
		}
	case "terminal":
		view = TerminalCall{Title: r.str("title"), Description: r.optional("description"), Cwd: r.optional("cwd")}
	case "diff":
		view = DiffCall{
			Title: r.str("title"), Diffs: decodeList(r, "diffs", required, (*reader).diff),
			Locations: decodeList(r, "locations", optional, (*reader).location),
		}
	default:
		r.unknownCard(tag)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return view, nil
}

// DecodeResult reads the JSON form of a result view.
func DecodeResult(v jsonval.Value) (ResultView, error) {
	var view ResultView
	r := read(v, "view")
	switch tag := r.str("card"); tag {
	case "generic":
		view = GenericResult{Title: r.optional("title"), Content: decodeList(r, "content", optional, (*reader).block)}
	case "terminal":
		view = TerminalResult{Title: r.optional("title"), Output: r.pointer("output"), End: r.termination()}
	case "diff":
		view = DiffResult{Title: r.optional("title"), Diffs: decodeList(r, "diffs", required, (*reader).diff)}
	case "search":
		view = r.search()
	case "read":
		view = r.readResult()
	case "web":
		view = r.web()
	default:
		r.unknownCard(tag)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return view, nil
}

// CheckCall says what is wrong with a view; nil if nothing is, or if it is no view.
func CheckCall(v CallView) error {
	if isNil(v) {
		return nil
	}
	_, err := DecodeCall(v.JSON())
	return err
}

// CheckResult says what is wrong with a view; nil if nothing is, or if it is no view.
func CheckResult(v ResultView) error {
	if isNil(v) {
		return nil
	}
	_, err := DecodeResult(v.JSON())
	return err
}

// isNil reports whether there is no view: a nil pointer of a card type counts as none.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

// reader reads the fields of one object. Its first error sticks.
type reader struct {
	v     jsonval.Value
	where string
	seen  []string
	err   *error // shared with the readers of the objects within
}

func read(v jsonval.Value, where string) *reader {
	r := &reader{v: v, where: where, err: new(error)}
	if !v.IsObject() {
		r.fail("must be an object, not %s", v.Kind())
	}
	return r
}

func (r *reader) inner(v jsonval.Value, where string) *reader {
	in := &reader{v: v, where: where, err: r.err}
	if !v.IsObject() {
		in.fail("must be an object, not %s", v.Kind())
	}
	return in
}

func (r *reader) fail(format string, args ...any) {
	if *r.err == nil {
		*r.err = errors.New("card: " + r.where + " " + fmt.Sprintf(format, args...))
	}
}

// end finds foreign fields and returns the first error.
func (r *reader) end() error {
	for name := range r.v.Members() {
		if !slices.Contains(r.seen, name) {
			r.fail("has the foreign field %q", name)
		}
	}
	return *r.err
}

func (r *reader) unknownCard(tag string) { r.fail("has the unknown card %q", tag) }

func (r *reader) get(name string) (jsonval.Value, bool) {
	r.seen = append(r.seen, name)
	return r.v.Get(name)
}

func (r *reader) need(name string) jsonval.Value {
	v, ok := r.get(name)
	if !ok {
		r.fail("lacks the field %q", name)
	}
	return v
}

func (r *reader) any(name string) jsonval.Value {
	v, _ := r.get(name)
	return v
}

func (r *reader) str(name string) string { return r.text(name, r.need(name)) }

func (r *reader) optional(name string) string {
	v, ok := r.get(name)
	if !ok {
		return ""
	}
	return r.text(name, v)
}

func (r *reader) pointer(name string) *string {
	v, ok := r.get(name)
	if !ok {
		return nil
	}
	s := r.text(name, v)
	return &s
}

func (r *reader) text(name string, v jsonval.Value) string {
	if !v.IsString() {
		r.fail("field %q must be a string", name)
	}
	return v.Str()
}

func (r *reader) bool(name string) bool {
	v := r.need(name)
	if !v.IsBool() {
		r.fail("field %q must be a boolean", name)
	}
	return v.Bool()
}

// int reads a whole number of at least low.
func (r *reader) int(name string, low int) int { return r.whole(name, r.need(name), low) }

func (r *reader) whole(name string, v jsonval.Value, low int) int {
	f := v.Float()
	if !v.IsNumber() || f != math.Trunc(f) || math.Abs(f) > 1<<53 || int(f) < low {
		r.fail("field %q must be a whole number of at least %d", name, low)
		return low
	}
	return int(f)
}

func (r *reader) kind(name string) Kind {
	k := Kind(r.optional(name))
	if _, ok := r.v.Get(name); ok && !slices.Contains(kinds, k) {
		r.fail("has the unknown kind %q", k)
	}
	return k
}

var kinds = []Kind{Read, Edit, Delete, Move, Search, Execute, Fetch, Other}

type presence bool

const (
	required presence = true
	optional presence = false
)

// decodeList reads a list. An empty one stays apart from one that is left out, which is nil.
func decodeList[T any](r *reader, name string, p presence, item func(*reader, jsonval.Value, string) T) []T {
	list, ok := r.get(name)
	switch {
	case !ok && p == optional:
		return nil
	case !ok:
		r.fail("lacks the field %q", name)
		return nil
	case !list.IsArray():
		r.fail("field %q must be a list", name)
		return nil
	}
	out := make([]T, 0, list.Len())
	for i, v := range list.Items() {
		out = append(out, item(r, v, fmt.Sprintf("%s.%s[%d]", r.where, name, i)))
	}
	return out
}

func (r *reader) block(v jsonval.Value, where string) jsonval.Value {
	if t, _ := v.Get("type"); !t.IsString() {
		r.inner(v, where).fail(`must have a string field "type"`)
	}
	return v
}

func (r *reader) location(v jsonval.Value, where string) Location {
	in := r.inner(v, where)
	l := Location{Path: in.str("path")}
	if line, ok := in.get("line"); ok {
		l.Line = in.whole("line", line, 1)
	}
	in.end()
	return l
}

func (r *reader) diff(v jsonval.Value, where string) Diff {
	in := r.inner(v, where)
	d := Diff{Path: in.str("path")}
	if old := in.need("oldText"); !old.IsNull() { // CARD-19: null, not missing
		s := in.text("oldText", old)
		d.OldText = &s
	}
	d.NewText = in.str("newText")
	in.end()
	return d
}

func (r *reader) termination() (t Termination) {
	code, exited := r.get("exitCode")
	signal, signalled := r.get("signal")
	switch {
	case exited && signalled:
		r.fail("has both an exit code and a signal")
	case exited:
		return Exited(r.whole("exitCode", code, math.MinInt32))
	case signalled:
		if r.text("signal", signal) == "" {
			r.fail(`field "signal" must not be empty`)
		}
		return Signalled(signal.Str())
	}
	return t
}

func (r *reader) search() ResultView {
	title, truncated, total := r.optional("title"), r.bool("truncated"), r.int("total", 0)
	shown := 0
	var view ResultView
	switch shape := r.str("shape"); shape {
	case "matches":
		files := decodeList(r, "files", required, (*reader).fileMatches)
		for _, f := range files {
			shown += len(f.Matches)
		}
		view = SearchMatches{Title: title, Files: files, Truncated: truncated, Total: total}
	case "paths":
		paths := decodeList(r, "paths", required, func(r *reader, v jsonval.Value, where string) string {
			if !v.IsString() {
				r.fail(`field "paths" must be a list of strings`)
			}
			return v.Str()
		})
		shown = len(paths)
		view = SearchPaths{Title: title, Paths: paths, Truncated: truncated, Total: total}
	default:
		r.fail("has the unknown shape %q", shape)
		return nil
	}
	if total < shown || !truncated && total != shown { // CARD-29
		r.fail("shows %d items of a total of %d", shown, total)
	}
	return view
}

func (r *reader) fileMatches(v jsonval.Value, where string) FileMatches {
	in := r.inner(v, where)
	f := FileMatches{Path: in.str("path"), Matches: decodeList(in, "matches", required, func(r *reader, v jsonval.Value, where string) Match {
		in := r.inner(v, where)
		m := Match{LineNumber: in.int("lineNumber", 1), Line: in.str("line")}
		in.end()
		return m
	})}
	in.end()
	return f
}

func (r *reader) readResult() ResultView {
	v := ReadResult{
		Title: r.optional("title"), Path: r.str("path"), Offset: r.int("offset", 1),
		Lines: decodeList(r, "lines", required, (*reader).line), TotalLines: r.int("totalLines", 0),
		Lang: r.optional("lang"), Content: r.pointer("content"),
	}
	last := v.Offset - 1
	for _, l := range v.Lines { // CARD-30
		if l.Number <= last || l.Number > v.TotalLines {
			r.fail("line %d is out of order or outside of %d to %d", l.Number, v.Offset, v.TotalLines)
		}
		last = l.Number
	}
	return v
}

func (r *reader) line(v jsonval.Value, where string) Line {
	in := r.inner(v, where)
	l := Line{Number: in.int("number", 1), Text: in.str("text")}
	in.end()
	return l
}

func (r *reader) web() ResultView {
	title, truncated := r.optional("title"), r.bool("truncated")
	switch kind := r.str("kind"); kind {
	case "search":
		return WebSearch{
			Title: title, Sources: decodeList(r, "sources", required, (*reader).source), Truncated: truncated, Answer: r.optional("answer"),
		}
	case "fetch":
		return WebFetch{Title: title, URL: r.str("url"), StatusCode: r.int("statusCode", 0), Truncated: truncated}
	default:
		r.fail("has the unknown kind %q", kind)
		return nil
	}
}

func (r *reader) source(v jsonval.Value, where string) Source {
	in := r.inner(v, where)
	s := Source{
		URL: in.str("url"), Title: in.optional("title"), Snippet: in.optional("snippet"), PublishedAt: in.optional("publishedAt"),
	}
	in.end()
	return s
}
