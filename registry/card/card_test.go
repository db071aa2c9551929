package card_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func parse(t testing.TB, text string) jsonval.Value {
	t.Helper()
	v, err := jsonval.ParseString(text)
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}

func ptr(s string) *string { return &s }

var textBlock = jsonval.MustOf(map[string]any{"type": "text", "text": "x"})

var callViews = []struct {
	rule string
	view card.CallView
	want string
}{
	{"CARD-23 generic", card.GenericCall{
		Title: "Read a.go", Kind: card.Read, RawInput: jsonval.MustOf([]any{1}), Content: []jsonval.Value{textBlock},
		Locations: []card.Location{{Path: "a.go", Line: 3}, {Path: "b.go"}},
	}, `{"card":"generic","title":"Read a.go","kind":"read","rawInput":[1],"content":[{"text":"x","type":"text"}],"locations":[{"path":"a.go","line":3},{"path":"b.go"}]}`},
	{"CARD-23 generic, title only", card.GenericCall{Title: "t"}, `{"card":"generic","title":"t"}`},
	{"CARD-23 generic, null input is not no input", card.GenericCall{Title: "t", RawInput: jsonval.Null()}, `{"card":"generic","title":"t","rawInput":null}`},
	{"CARD-24 terminal", card.TerminalCall{Title: "ls", Description: "lists", Cwd: "/x"}, `{"card":"terminal","title":"ls","description":"lists","cwd":"/x"}`},
	{"CARD-24 terminal in the workspace", card.TerminalCall{Title: "ls"}, `{"card":"terminal","title":"ls"}`},
	{"CARD-25 CARD-19 diff", card.DiffCall{
		Title: "Write", Diffs: []card.Diff{{Path: "a", NewText: "n"}, {Path: "b", OldText: ptr(""), NewText: ""}}, Locations: []card.Location{},
	}, `{"card":"diff","title":"Write","diffs":[{"path":"a","oldText":null,"newText":"n"},{"path":"b","oldText":"","newText":""}],"locations":[]}`},
}

var resultViews = []struct {
	rule string
	view card.ResultView
	want string
}{
	{"CARD-9 generic, empty", card.GenericResult{}, `{"card":"generic"}`},
	{"CARD-9 generic", card.GenericResult{Title: "t", Content: []jsonval.Value{}}, `{"card":"generic","title":"t","content":[]}`},
	{"CARD-27 terminal, exited", card.TerminalResult{Title: "t", Output: ptr("out"), End: card.Exited(0)}, `{"card":"terminal","title":"t","output":"out","exitCode":0}`},
	{"CARD-27 terminal, signalled", card.TerminalResult{Output: ptr(""), End: card.Signalled("SIGKILL")}, `{"card":"terminal","output":"","signal":"SIGKILL"}`},
	{"CARD-27 terminal, unknown end", card.TerminalResult{}, `{"card":"terminal"}`},
	{"CARD-28 diff", card.DiffResult{Diffs: []card.Diff{{Path: "a", OldText: ptr("o"), NewText: "n"}}}, `{"card":"diff","diffs":[{"path":"a","oldText":"o","newText":"n"}]}`},
	{"CARD-29 CARD-21 CARD-32 search, matches", card.SearchMatches{
		Files: []card.FileMatches{{Path: "a", Matches: []card.Match{{LineNumber: 1, Line: "x"}, {LineNumber: 2, Line: ""}}}}, Truncated: true, Total: 9,
	}, `{"card":"search","shape":"matches","files":[{"path":"a","matches":[{"lineNumber":1,"line":"x"},{"lineNumber":2,"line":""}]}],"truncated":true,"total":9}`},
	{"CARD-29 CARD-33 search, nothing found", card.SearchMatches{}, `{"card":"search","shape":"matches","files":[],"truncated":false,"total":0}`},
	{"CARD-29 search, paths", card.SearchPaths{Title: "t", Paths: []string{"b", "a"}, Total: 2}, `{"card":"search","shape":"paths","title":"t","paths":["b","a"],"truncated":false,"total":2}`},
	{"CARD-30 CARD-20 read", card.ReadResult{
		Path: "a.go", Offset: 5, Lines: []card.Line{{Number: 5, Text: "x"}, {Number: 8, Text: ""}}, TotalLines: 8, Lang: "go", Content: ptr("x\n"),
	}, `{"card":"read","path":"a.go","offset":5,"lines":[{"number":5,"text":"x"},{"number":8,"text":""}],"totalLines":8,"lang":"go","content":"x\n"}`},
	{"CARD-30 read, no lines", card.ReadResult{Title: "t", Path: "a", Offset: 1}, `{"card":"read","title":"t","path":"a","offset":1,"lines":[],"totalLines":0}`},
	{"CARD-31 CARD-22 web, search", card.WebSearch{
		Sources: []card.Source{{URL: "u", Title: "t", Snippet: "s", PublishedAt: "p"}, {URL: "v"}}, Truncated: true, Answer: "42",
	}, `{"card":"web","kind":"search","sources":[{"url":"u","title":"t","snippet":"s","publishedAt":"p"},{"url":"v"}],"truncated":true,"answer":"42"}`},
	{"CARD-31 web, no source", card.WebSearch{}, `{"card":"web","kind":"search","sources":[],"truncated":false}`},
	{"CARD-31 web, fetch", card.WebFetch{Title: "t", URL: "u", StatusCode: 200}, `{"card":"web","kind":"fetch","title":"t","url":"u","statusCode":200,"truncated":false}`},
}

func TestRoundTrip(t *testing.T) {
	for _, row := range callViews {
		t.Run("CARD-10 CARD-3 "+row.rule, func(t *testing.T) {
			text, err := json.Marshal(row.view)
			if err != nil || string(text) != row.want {
				t.Errorf("\n got %s %v\nwant %s", text, err, row.want)
			}
			back, err := card.DecodeCall(parse(t, row.want))
			if err != nil {
				t.Fatal(err)
			}
			if got := back.JSON().String(); got != row.want || back.Card() != row.view.Card() {
				t.Errorf("read back as %s", got)
			}
			if err := card.CheckCall(row.view); err != nil {
				t.Error(err)
			}
		})
	}
	for _, row := range resultViews {
		t.Run("CARD-10 CARD-3 "+row.rule, func(t *testing.T) {
			text, err := json.Marshal(row.view)
			if err != nil || string(text) != row.want {
				t.Errorf("\n got %s %v\nwant %s", text, err, row.want)
			}
			back, err := card.DecodeResult(parse(t, row.want))
			if err != nil {
				t.Fatal(err)
			}
			if got := back.JSON().String(); got != row.want || back.Card() != row.view.Card() {
				t.Errorf("read back as %s", got)
			}
			if err := card.CheckResult(row.view); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("CARD-26 the call side has three cards, the result side six", func(t *testing.T) {
		for _, tag := range []string{"search", "read", "web"} {
			if _, err := card.DecodeCall(parse(t, `{"card":"`+tag+`","title":"t"}`)); err == nil {
				t.Errorf("%s is a call view", tag)
			}
		}
		seen := map[string]bool{}
		for _, row := range resultViews {
			seen[row.view.Card()] = true
		}
		if len(seen) != 6 {
			t.Errorf("%d cards: %v", len(seen), seen)
		}
	})
	t.Run("CARD-27 an end is an exit code or a signal", func(t *testing.T) {
		if code, ok := card.Exited(7).ExitCode(); code != 7 || !ok || card.Exited(7).Signal() != "" {
			t.Error("exited")
		}
		if _, ok := card.Signalled("S").ExitCode(); ok || card.Signalled("S").Signal() != "S" {
			t.Error("signalled")
		}
	})
}

func TestStrictDecoding(t *testing.T) {
	// Each required field, left out; each view with a foreign field; then wrong types and bounds.
	required := map[string]string{
		`{"card":"generic","title":"t"}`:                                                   "title",
		`{"card":"terminal","title":"t"}`:                                                  "title",
		`{"card":"diff","title":"t","diffs":[]}`:                                           "title diffs",
		`{"card":"diff","title":"t","diffs":[{"path":"p","oldText":null,"newText":""}]}`:   "",
		`{"card":"generic","title":"t","kind":"edit","locations":[{"path":"p","line":1}]}`: "",
	}
	for text, fields := range required {
		v := parse(t, text)
		if _, err := card.DecodeCall(v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for _, f := range append(strings.Fields(fields), "card") {
			if _, err := card.DecodeCall(v.Without(f)); err == nil {
				t.Errorf("CARD-10: %s without %s is accepted", text, f)
			}
		}
		if _, err := card.DecodeCall(v.With("exitCode", jsonval.MustOf(1))); err == nil || !strings.Contains(err.Error(), `foreign field "exitCode"`) {
			t.Errorf("CARD-10: %s with a foreign field: %v", text, err)
		}
	}
	for text, fields := range map[string]string{
		`{"card":"diff","diffs":[]}`: "diffs",
		`{"card":"search","shape":"matches","files":[],"truncated":false,"total":0}`: "shape files truncated total",
		`{"card":"search","shape":"paths","paths":[],"truncated":false,"total":0}`:   "shape paths truncated total",
		`{"card":"read","path":"p","offset":1,"lines":[],"totalLines":0}`:            "path offset lines totalLines",
		`{"card":"web","kind":"search","sources":[],"truncated":false}`:              "kind sources truncated",
		`{"card":"web","kind":"fetch","url":"u","statusCode":1,"truncated":false}`:   "kind url statusCode truncated",
	} {
		v := parse(t, text)
		if _, err := card.DecodeResult(v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for _, f := range append(strings.Fields(fields), "card") {
			if _, err := card.DecodeResult(v.Without(f)); err == nil {
				t.Errorf("CARD-10: %s without %s is accepted", text, f)
			}
		}
		if _, err := card.DecodeResult(v.With("output", jsonval.MustOf("x"))); err == nil {
			t.Errorf("CARD-10: %s with a foreign field is accepted", text)
		}
	}
	for _, row := range []struct{ rule, text string }{
		{"CARD-10 not an object", `[]`}, {"CARD-10 unknown card", `{"card":"chart"}`}, {"CARD-10 a tag of another type", `{"card":1}`},
		{"CARD-17 unknown kind", `{"card":"generic","title":"t","kind":"think"}`},
		{"CARD-17 empty kind", `{"card":"generic","title":"t","kind":""}`},
		{"CARD-18 line 0", `{"card":"generic","title":"t","locations":[{"path":"p","line":0}]}`},
		{"CARD-18 a foreign field within", `{"card":"generic","title":"t","locations":[{"path":"p","column":1}]}`},
		{"CARD-18 not an object", `{"card":"generic","title":"t","locations":["p"]}`},
		{"CARD-23 a block without a type", `{"card":"generic","title":"t","content":[{"text":"x"}]}`},
		{"CARD-23 content of another type", `{"card":"generic","title":"t","content":"x"}`},
		{"CARD-19 oldText missing", `{"card":"diff","title":"t","diffs":[{"path":"p","newText":""}]}`},
		{"CARD-19 newText null", `{"card":"diff","title":"t","diffs":[{"path":"p","oldText":null,"newText":null}]}`},
	} {
		if v, err := card.DecodeCall(parse(t, row.text)); err == nil {
			t.Errorf("%s: %s is accepted as %v", row.rule, row.text, v)
		}
	}
	for _, row := range []struct{ rule, text string }{
		{"CARD-27 both ends", `{"card":"terminal","exitCode":0,"signal":"S"}`},
		{"CARD-27 a fractional exit code", `{"card":"terminal","exitCode":0.5}`},
		{"CARD-27 an empty signal", `{"card":"terminal","signal":""}`},
		{"CARD-29 unknown shape", `{"card":"search","shape":"tree","truncated":false,"total":0}`},
		{"CARD-29 total below what is shown", `{"card":"search","shape":"paths","paths":["a","b"],"truncated":true,"total":1}`},
		{"CARD-29 not truncated, yet more", `{"card":"search","shape":"paths","paths":["a"],"truncated":false,"total":2}`},
		{"CARD-29 negative total", `{"card":"search","shape":"paths","paths":[],"truncated":true,"total":-1}`},
		{"CARD-29 paths of another type", `{"card":"search","shape":"paths","paths":[1],"truncated":false,"total":1}`},
		{"CARD-21 line number 0", `{"card":"search","shape":"matches","files":[{"path":"p","matches":[{"lineNumber":0,"line":"x"}]}],"truncated":false,"total":1}`},
		{"CARD-30 offset 0", `{"card":"read","path":"p","offset":0,"lines":[],"totalLines":0}`},
		{"CARD-30 a line below offset", `{"card":"read","path":"p","offset":2,"lines":[{"number":1,"text":""}],"totalLines":3}`},
		{"CARD-30 a repeated number", `{"card":"read","path":"p","offset":1,"lines":[{"number":2,"text":""},{"number":2,"text":""}],"totalLines":3}`},
		{"CARD-30 a number above the total", `{"card":"read","path":"p","offset":1,"lines":[{"number":4,"text":""}],"totalLines":3}`},
		{"CARD-30 a fractional number", `{"card":"read","path":"p","offset":1,"lines":[{"number":1.5,"text":""}],"totalLines":3}`},
		{"CARD-30 a huge number", `{"card":"read","path":"p","offset":1e300,"lines":[],"totalLines":3}`},
		{"CARD-31 unknown kind", `{"card":"web","kind":"crawl","truncated":false}`},
		{"CARD-22 null instead of absent", `{"card":"web","kind":"search","sources":[{"url":"u","title":null}],"truncated":false}`},
		{"CARD-33 truncated of another type", `{"card":"web","kind":"search","sources":[],"truncated":0}`},
	} {
		if v, err := card.DecodeResult(parse(t, row.text)); err == nil {
			t.Errorf("%s: %s is accepted as %v", row.rule, row.text, v)
		}
	}
}

type lookupLog struct{ failures []string }

func (l *lookupLog) lookup(p card.Presenter, calls ...card.CallEvent) card.Lookup {
	return card.Lookup{
		Presenter: func(name string) (card.Presenter, bool) { return p, name == "t" },
		Call: func(id string) (card.CallEvent, bool) {
			for _, c := range calls {
				if c.CallID == id {
					return c, true
				}
			}
			return card.CallEvent{}, false
		},
		Failed: func(tool string, err error) { l.failures = append(l.failures, tool+": "+err.Error()) },
	}
}

func TestViewForEvent(t *testing.T) {
	call := card.CallEvent{CallID: "1", Name: "t", Arguments: `{"q":"x"}`}
	settled := card.ResultEvent{CallID: "1", Result: card.PersistedResult{Content: []jsonval.Value{textBlock}, Meta: jsonval.MustOf(7)}}
	good := card.Presenter{
		Call: func(args jsonval.Value) card.CallView { return card.GenericCall{Title: args.String()} },
		Result: func(args jsonval.Value, r card.PersistedResult) card.ResultView {
			return card.GenericResult{Title: args.String() + r.Meta.String(), Content: r.Content}
		},
	}
	t.Run("CARD-1 CARD-4 CARD-5 CARD-7 CARD-37 a call and its result are presented, twice the same", func(t *testing.T) {
		var log lookupLog
		for range 2 {
			v := card.ViewForEvent(call, log.lookup(good))
			if v.Result != nil || v.Call.JSON().String() != `{"card":"generic","title":"{\"q\":\"x\"}"}` {
				t.Errorf("got %v", v)
			}
			v = card.ViewForEvent(settled, log.lookup(good, call))
			if v.Call != nil || v.Result.JSON().String() != `{"card":"generic","title":"{\"q\":\"x\"}7","content":[{"text":"x","type":"text"}]}` {
				t.Errorf("got %v", v)
			}
		}
		if len(log.failures) != 0 {
			t.Error(log.failures)
		}
	})
	t.Run("CARD-8 failures are presented too, if the tool wants it", func(t *testing.T) {
		var log lookupLog
		seen := false
		p := card.Presenter{Result: func(_ jsonval.Value, r card.PersistedResult) card.ResultView { seen = r.IsError; return nil }}
		v := card.ViewForEvent(card.ResultEvent{CallID: "1", Result: card.PersistedResult{IsError: true}}, log.lookup(p, call))
		if !seen || v.Result != nil {
			t.Errorf("seen %v, view %v", seen, v)
		}
	})
	t.Run("CARD-2 CARD-34 CARD-35 CARD-37 whatever cannot be presented has no view and never fails", func(t *testing.T) {
		var typedNil *card.GenericCall
		var typedNilResult *card.WebFetch
		for _, row := range []struct {
			name   string
			event  card.Event
			lookup func(l *lookupLog) card.Lookup
			logged bool
		}{
			{"no event", nil, func(l *lookupLog) card.Lookup { return l.lookup(good) }, false},
			{"no lookup", call, func(*lookupLog) card.Lookup { return card.Lookup{} }, false},
			{"no lookup for a result", settled, func(*lookupLog) card.Lookup { return card.Lookup{} }, false},
			{"no presenters", call, func(l *lookupLog) card.Lookup { return l.lookup(card.Presenter{}) }, false},
			{"no result presenter", settled, func(l *lookupLog) card.Lookup { return l.lookup(card.Presenter{}, call) }, false},
			{"an unknown tool", card.CallEvent{Name: "u", Arguments: "{}"}, func(l *lookupLog) card.Lookup { return l.lookup(good) }, false},
			{"arguments that are no JSON", card.CallEvent{Name: "t", Arguments: "{"}, func(l *lookupLog) card.Lookup { return l.lookup(good) }, false},
			{"a call that is not at hand", settled, func(l *lookupLog) card.Lookup { return l.lookup(good) }, false},
			{"nil", call, func(l *lookupLog) card.Lookup {
				return l.lookup(card.Presenter{Call: func(jsonval.Value) card.CallView { return nil }})
			}, false},
			{"a typed nil", call, func(l *lookupLog) card.Lookup {
				return l.lookup(card.Presenter{Call: func(jsonval.Value) card.CallView { return typedNil }})
			}, false},
			{"a typed nil result", settled, func(l *lookupLog) card.Lookup {
				return l.lookup(card.Presenter{Result: func(jsonval.Value, card.PersistedResult) card.ResultView { return typedNilResult }}, call)
			}, false},
			{"a panic", call, func(l *lookupLog) card.Lookup {
				return l.lookup(card.Presenter{Call: func(jsonval.Value) card.CallView { panic(errors.New("bang")) }})
			}, true},
			{"a panic with something hostile", settled, func(l *lookupLog) card.Lookup {
				return l.lookup(card.Presenter{Result: func(jsonval.Value, card.PersistedResult) card.ResultView { panic(hostile{}) }}, call)
			}, true},
			{"a malformed view", call, func(l *lookupLog) card.Lookup {
				return l.lookup(card.Presenter{Call: func(jsonval.Value) card.CallView { return card.GenericCall{Title: "t", Kind: "odd"} }})
			}, true},
			{"a malformed result", settled, func(l *lookupLog) card.Lookup {
				return l.lookup(card.Presenter{Result: func(jsonval.Value, card.PersistedResult) card.ResultView { return card.ReadResult{Path: "p"} }}, call)
			}, true},
			{"an absent block", settled, func(l *lookupLog) card.Lookup {
				return l.lookup(card.Presenter{Result: func(jsonval.Value, card.PersistedResult) card.ResultView {
					return card.GenericResult{Content: make([]jsonval.Value, 1)}
				}}, call)
			}, true},
			{"a logger that panics", call, func(l *lookupLog) card.Lookup {
				k := l.lookup(card.Presenter{Call: func(jsonval.Value) card.CallView { panic("x") }})
				k.Failed = func(string, error) { panic("y") }
				return k
			}, false},
		} {
			var log lookupLog
			v := card.ViewForEvent(row.event, row.lookup(&log))
			if v.Call != nil || v.Result != nil {
				t.Errorf("%s: there is a view %v", row.name, v)
			}
			if (len(log.failures) == 1 && strings.HasPrefix(log.failures[0], "t: ")) != row.logged {
				t.Errorf("%s: logged %q", row.name, log.failures)
			}
		}
	})
	t.Run("CARD-34 the fallbacks", func(t *testing.T) {
		if got := card.FallbackCall(call).JSON().String(); got != `{"card":"generic","title":"t","rawInput":{"q":"x"}}` {
			t.Error(got)
		}
		if got := card.FallbackCall(card.CallEvent{Name: "t", Arguments: "{"}).JSON().String(); got != `{"card":"generic","title":"t","rawInput":"{"}` {
			t.Error(got)
		}
		if got := card.FallbackResult(card.TerminalCall{Title: "ls"}, settled.Result).JSON().String(); got != `{"card":"generic","title":"ls","content":[{"text":"x","type":"text"}]}` {
			t.Error(got)
		}
		if got := card.FallbackResult(nil, card.PersistedResult{}).JSON().String(); got != `{"card":"generic","content":[]}` {
			t.Error(got)
		}
	})
	t.Run("CARD-9 a result replaces the call as a whole; what is left out is filled from title and content", func(t *testing.T) {
		pending := card.TerminalCall{Title: "ls", Description: "lists"}
		for _, row := range resultViews {
			got := card.Settle(pending, row.view, settled.Result).JSON()
			title, _ := got.Get("title")
			own, _ := row.view.JSON().Get("title")
			if want := "ls"; own.Exists() && title.Str() != own.Str() || !own.Exists() && title.Str() != want {
				t.Errorf("%s: title %q", row.rule, title.Str())
			}
			if d, ok := got.Get("description"); ok {
				t.Errorf("%s: the pending description %s stays", row.rule, d)
			}
		}
		if got := card.Settle(pending, card.GenericResult{Title: "own"}, settled.Result).JSON().String(); got != `{"card":"generic","title":"own","content":[{"text":"x","type":"text"}]}` {
			t.Error(got)
		}
		if got := card.Settle(pending, card.GenericResult{Content: []jsonval.Value{}}, settled.Result).JSON().String(); got != `{"card":"generic","title":"ls","content":[]}` {
			t.Error(got)
		}
		var none *card.DiffResult
		for _, view := range []card.ResultView{nil, none, card.ReadResult{}} {
			if got := card.Settle(pending, view, settled.Result); got.JSON().String() != card.FallbackResult(pending, settled.Result).JSON().String() {
				t.Errorf("%v settles as %s", view, got.JSON())
			}
		}
	})
}

type hostile struct{}

func (hostile) Error() string { panic("no text") }

// FuzzDecode reads views of strangers: nothing panics, and what is accepted is written so that it is read back as the same.
func FuzzDecode(f *testing.F) {
	for _, row := range callViews {
		f.Add(row.want)
	}
	for _, row := range resultViews {
		f.Add(row.want)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jsonval.ParseString(text)
		if err != nil {
			return
		}
		if c, err := card.DecodeCall(v); err == nil {
			again, err := card.DecodeCall(c.JSON())
			if err != nil || !jsonval.Identical(again.JSON(), c.JSON()) {
				t.Errorf("%s becomes %s: %v", v, c.JSON(), err)
			}
		}
		if r, err := card.DecodeResult(v); err == nil {
			again, err := card.DecodeResult(r.JSON())
			if err != nil || !jsonval.Identical(again.JSON(), r.JSON()) {
				t.Errorf("%s becomes %s: %v", v, r.JSON(), err)
			}
		}
	})
}
