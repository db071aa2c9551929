package card

// This file defines the JSON form of the views (CARD-10, CARD-33): wire names, in a fixed order, optional fields left out.

import "github.com/runcode-go/runcode/runtime/jsonval"

// object builds one object field by field.
type object []jsonval.Member

func card(tag string) object { return object{}.str("card", tag) }

func (o object) value(name string, v jsonval.Value) object {
	return append(o, jsonval.Member{Name: name, Value: v})
}

func (o object) str(name, s string) object { return o.value(name, jsonval.Text(s)) }

func (o object) optional(name, s string) object {
	if s == "" {
		return o
	}
	return o.str(name, s)
}

func (o object) pointer(name string, s *string) object {
	if s == nil {
		return o
	}
	return o.str(name, *s)
}

func (o object) int(name string, n int) object { return o.value(name, jsonval.MustOf(float64(n))) }

func (o object) bool(name string, b bool) object { return o.value(name, jsonval.Bool(b)) }

// list adds the items; if there are none, it adds an empty list or, where the field is optional, nothing.
func list[T any](o object, name string, optional bool, items []T, form func(T) jsonval.Value) object {
	if optional && items == nil {
		return o
	}
	out := make([]jsonval.Value, len(items))
	for i, item := range items {
		out[i] = form(item)
	}
	return o.value(name, jsonval.Array(out...))
}

func (o object) done() jsonval.Value { return jsonval.Object(o...) }

// block returns null for an absent block, which no check lets through.
func block(v jsonval.Value) jsonval.Value {
	if !v.Exists() {
		return jsonval.Null()
	}
	return v
}

func location(l Location) jsonval.Value {
	o := object{}.str("path", l.Path)
	if l.Line != 0 {
		o = o.int("line", l.Line)
	}
	return o.done()
}

func diff(d Diff) jsonval.Value {
	o := object{}.str("path", d.Path)
	if d.OldText == nil {
		o = o.value("oldText", jsonval.Null())
	} else {
		o = o.str("oldText", *d.OldText)
	}
	return o.str("newText", d.NewText).done()
}

func line(l Line) jsonval.Value { return object{}.int("number", l.Number).str("text", l.Text).done() }

func fileMatches(f FileMatches) jsonval.Value {
	return list(object{}.str("path", f.Path), "matches", false, f.Matches, func(m Match) jsonval.Value {
		return object{}.int("lineNumber", m.LineNumber).str("line", m.Line).done()
	}).done()
}

func source(s Source) jsonval.Value {
	return object{}.str("url", s.URL).optional("title", s.Title).optional("snippet", s.Snippet).
		optional("publishedAt", s.PublishedAt).done()
}

// JSON returns the view as data.
func (v GenericCall) JSON() jsonval.Value {
	o := card("generic").str("title", v.Title).optional("kind", string(v.Kind))
	if v.RawInput.Exists() {
		o = o.value("rawInput", v.RawInput)
	}
	o = list(o, "content", true, v.Content, block)
	return list(o, "locations", true, v.Locations, location).done()
}

// JSON returns the view as data.
func (v TerminalCall) JSON() jsonval.Value {
	return card("terminal").str("title", v.Title).optional("description", v.Description).optional("cwd", v.Cwd).done()
}

// JSON returns the view as data.
func (v DiffCall) JSON() jsonval.Value {
	o := list(card("diff").str("title", v.Title), "diffs", false, v.Diffs, diff)
	return list(o, "locations", true, v.Locations, location).done()
}

// JSON returns the view as data.
func (v GenericResult) JSON() jsonval.Value {
	return list(card("generic").optional("title", v.Title), "content", true, v.Content, block).done()
}

// JSON returns the view as data.
func (v TerminalResult) JSON() jsonval.Value {
	o := card("terminal").optional("title", v.Title).pointer("output", v.Output)
	if v.End.exited {
		o = o.int("exitCode", v.End.code)
	}
	return o.optional("signal", v.End.signal).done()
}

// JSON returns the view as data.
func (v DiffResult) JSON() jsonval.Value {
	return list(card("diff").optional("title", v.Title), "diffs", false, v.Diffs, diff).done()
}

// JSON returns the view as data.
func (v SearchMatches) JSON() jsonval.Value {
	o := list(card("search").str("shape", "matches").optional("title", v.Title), "files", false, v.Files, fileMatches)
	return o.bool("truncated", v.Truncated).int("total", v.Total).done()
}

// JSON returns the view as data.
func (v SearchPaths) JSON() jsonval.Value {
	o := list(card("search").str("shape", "paths").optional("title", v.Title), "paths", false, v.Paths, jsonval.Text)
	return o.bool("truncated", v.Truncated).int("total", v.Total).done()
}

// JSON returns the view as data.
func (v ReadResult) JSON() jsonval.Value {
	o := card("read").optional("title", v.Title).str("path", v.Path).int("offset", v.Offset)
	o = list(o, "lines", false, v.Lines, line).int("totalLines", v.TotalLines)
	return o.optional("lang", v.Lang).pointer("content", v.Content).done()
}

// JSON returns the view as data.
func (v WebSearch) JSON() jsonval.Value {
	o := list(card("web").str("kind", "search").optional("title", v.Title), "sources", false, v.Sources, source)
	return o.bool("truncated", v.Truncated).optional("answer", v.Answer).done()
}

// JSON returns the view as data.
func (v WebFetch) JSON() jsonval.Value {
	o := card("web").str("kind", "fetch").optional("title", v.Title).str("url", v.URL).int("statusCode", v.StatusCode)
	return o.bool("truncated", v.Truncated).done()
}
