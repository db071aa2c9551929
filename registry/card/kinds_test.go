package card_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry/card"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func lines(n ...string) string { return strings.Join(n, "\n") + "\n" }

func show(diffs []card.Diff) string {
	return card.DiffResult{Diffs: diffs}.JSON().String()
}

func TestHunks(t *testing.T) {
	ten := make([]string, 10)
	for i := range ten {
		ten[i] = fmt.Sprint("l", i)
	}
	with := func(i int, text string) string {
		changed := append([]string{}, ten...)
		changed[i] = text
		return lines(changed...)
	}
	for _, row := range []struct {
		rule, old, new string
		want           []card.Diff
	}{
		{"CARD-44 identical texts give no hunk", lines(ten...), lines(ten...), nil},
		{"CARD-44 the end of the last line is not content", "a\nb", "a\nb\n", nil},
		{"CARD-44 nothing and nothing", "", "", nil},
		{"CARD-44 three lines of context on each side", lines(ten...), with(5, "new"), []card.Diff{
			{Path: "p", OldText: ptr("l2\nl3\nl4\nl5\nl6\nl7\nl8\n"), NewText: "l2\nl3\nl4\nnew\nl6\nl7\nl8\n"}}},
		{"CARD-44 less context at the edges", lines(ten...), with(0, "new"), []card.Diff{{Path: "p", OldText: ptr("l0\nl1\nl2\nl3\n"), NewText: "new\nl1\nl2\nl3\n"}}},
		{"CARD-44 a pure insertion without context", "", "a\n", []card.Diff{{Path: "p", NewText: "a\n"}}},
		{"CARD-44 a pure deletion of everything", "a\n", "", []card.Diff{{Path: "p", OldText: ptr("a\n"), NewText: ""}}},
		{"CARD-28 separate hunks stay separate", lines(append(append([]string{"x"}, ten...), "y")...), lines(append(append([]string{"X"}, ten...), "Y")...), []card.Diff{
			{Path: "p", OldText: ptr("x\nl0\nl1\nl2\n"), NewText: "X\nl0\nl1\nl2\n"}, {Path: "p", OldText: ptr("l7\nl8\nl9\ny\n"), NewText: "l7\nl8\nl9\nY\n"}}},
		{"CARD-44 changes whose surroundings touch are one", lines("a", "1", "2", "3", "4", "5", "6", "b"), lines("A", "1", "2", "3", "4", "5", "6", "B"), []card.Diff{
			{Path: "p", OldText: ptr("a\n1\n2\n3\n4\n5\n6\nb\n"), NewText: "A\n1\n2\n3\n4\n5\n6\nB\n"}}},
		{"CARD-44 a shortest change", lines("a", "b", "c"), lines("a", "x", "b", "c"), []card.Diff{{Path: "p", OldText: ptr("a\nb\nc\n"), NewText: "a\nx\nb\nc\n"}}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			if got, want := show(card.Hunks("p", row.old, row.new)), show(row.want); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
	t.Run("CARD-44 applying the hunks to the old text gives the new one", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 2000 {
			var a, b []string
			for i := range rng.IntN(40) {
				a = append(a, fmt.Sprint("line", i)) // each once, so that a hunk has one place
			}
			for _, l := range a {
				switch rng.IntN(8) {
				case 0:
				case 1:
					b = append(b, l, "new")
				case 2:
					b = append(b, a[rng.IntN(len(a))], l)
				default:
					b = append(b, l)
				}
			}
			oldText, newText := strings.Join(a, "\n"), strings.Join(b, "\n")
			if got := apply(t, oldText, card.Hunks("p", oldText, newText)); got != newText {
				t.Fatalf("%q to %q: %s gives %q", oldText, newText, show(card.Hunks("p", oldText, newText)), got)
			}
		}
	})
	t.Run("CARD-44 texts that differ too much are one hunk", func(t *testing.T) {
		var a, b []string
		for i := range 3000 {
			a, b = append(a, fmt.Sprint("a", i)), append(b, fmt.Sprint("b", i))
		}
		if got := card.Hunks("p", lines(a...), lines(b...)); len(got) != 1 || *got[0].OldText != lines(a...) || got[0].NewText != lines(b...) {
			t.Errorf("%d hunks", len(got))
		}
	})
}

// apply replaces each hunk's old text, in order, by its new one.
func apply(t *testing.T, text string, hunks []card.Diff) string {
	t.Helper()
	if text != "" {
		text += "\n"
	}
	var out strings.Builder
	for _, h := range hunks {
		before, after, found := text, "", true
		if h.OldText == nil {
			before, after = "", text
		} else {
			before, after, found = strings.Cut(text, *h.OldText)
		}
		if !found {
			t.Fatalf("the old text %q is not in %q", *h.OldText, text)
		}
		out.WriteString(before + h.NewText)
		text = after
	}
	out.WriteString(text)
	return strings.TrimSuffix(out.String(), "\n")
}

func TestLang(t *testing.T) {
	for path, want := range map[string]string{
		"main.go": "go", "/x/A.PY": "python", `c:\dir.go\file`: "", "Makefile": "", ".bashrc": "", ".config.json": "json", "a.tar.gz": "", "dir.go/x": "",
		"x.": "", "": "", "a.unknown": "", "y.yml": "yaml",
	} {
		if got := card.Lang(path); got != want {
			t.Errorf("CARD-46: %q is %q, want %q", path, got, want)
		}
	}
}

func persisted(text string, meta ...jsonval.Value) card.PersistedResult {
	r := card.PersistedResult{Content: []jsonval.Value{jsonval.MustOf(map[string]any{"type": "text", "text": text})}}
	if len(meta) > 0 {
		r.Meta = meta[0]
	}
	return r
}

func failed(text string, meta ...jsonval.Value) card.PersistedResult {
	r := persisted(text, meta...)
	r.IsError = true
	return r
}

func viewText(v card.ResultView) string {
	if v == nil {
		return "none"
	}
	return v.JSON().String()
}

func TestShell(t *testing.T) {
	if got := card.ShellCall("ls", "lists", "/x").JSON().String(); got != `{"card":"terminal","title":"ls","description":"lists","cwd":"/x"}` {
		t.Errorf("CARD-41: %s", got)
	}
	for _, row := range []struct {
		rule       string
		r          card.PersistedResult
		background bool
		want       string
	}{
		{"no marker", persisted("out\n"), false, `{"card":"terminal","output":"out\n","exitCode":0}`},
		{"a marker on the last line", persisted("out\n[exit code: 3]"), false, `{"card":"terminal","output":"out\n","exitCode":3}`},
		{"a marker and a line end", persisted("[exit code: 3]\n"), false, `{"card":"terminal","output":"","exitCode":3}`},
		{"a signal", persisted("out\n" + card.ShellStatus(card.Signalled("SIGTERM"))), false, `{"card":"terminal","output":"out\n","signal":"SIGTERM"}`},
		{"a marker that is not last", persisted("[exit code: 3]\nmore"), false, `{"card":"terminal","output":"[exit code: 3]\nmore","exitCode":0}`},
		{"other markers stay", persisted("[timed out after 5 s]"), false, `{"card":"terminal","output":"[timed out after 5 s]","exitCode":0}`},
		{"a marker that is none", persisted("[exit code: x]"), false, `{"card":"terminal","output":"[exit code: x]","exitCode":0}`},
		{"a failure", failed("Error: denied"), false, "{\"card\":\"generic\",\"content\":[{\"type\":\"text\",\"text\":\"```console\\nError: denied\\n```\"}]}"},
		{"a background start", persisted("started"), true, "{\"card\":\"generic\",\"content\":[{\"type\":\"text\",\"text\":\"```console\\nstarted\\n```\"}]}"},
		{"a fence in the text", persisted("a ```` b\n"), true, "{\"card\":\"generic\",\"content\":[{\"type\":\"text\",\"text\":\"`````console\\na ```` b\\n`````\"}]}"},
		{"no content", card.PersistedResult{}, false, "none"},
		{"two blocks", card.PersistedResult{Content: []jsonval.Value{textBlock, textBlock}}, false, "none"},
		{"a block of another type", card.PersistedResult{Content: []jsonval.Value{jsonval.MustOf(map[string]any{"type": "image", "text": "x"})}}, false, "none"},
	} {
		t.Run("CARD-41 "+row.rule, func(t *testing.T) {
			if got := viewText(card.ShellResult(row.r, row.background)); got != row.want {
				t.Errorf("\n got %s\nwant %s", got, row.want)
			}
		})
	}
	if card.ShellStatus(card.Exited(0)) != "" || card.ShellStatus(card.Termination{}) != "" || card.ShellStatus(card.Exited(2)) != "[exit code: 2]" {
		t.Error("CARD-41: the marker of a command")
	}
}

func TestFiles(t *testing.T) {
	hunks := card.DiffResult{Diffs: card.Hunks("p", "a\nb\n", "a\nc\n")}
	for _, row := range []struct{ rule, got, want string }{
		{"CARD-42 a write", card.WriteCall("p", "x").JSON().String(), `{"card":"diff","title":"Write p","diffs":[{"path":"p","oldText":null,"newText":"x"}],"locations":[{"path":"p"}]}`},
		{"CARD-42 an overwrite", viewText(card.WriteResult("p", "x", persisted("ok", hunks.JSON()))), hunks.JSON().String()},
		{"CARD-42 a new file", viewText(card.WriteResult("p", "x", persisted("ok"))), `{"card":"diff","diffs":[{"path":"p","oldText":null,"newText":"x"}]}`},
		{"CARD-42 a failure", viewText(card.WriteResult("p", "x", failed("no", hunks.JSON()))), "none"},
		{"CARD-43 an edit", card.EditCall("p", "a", "b").JSON().String(), `{"card":"diff","title":"Edit p","diffs":[{"path":"p","oldText":"a","newText":"b"}],"locations":[{"path":"p"}]}`},
		{"CARD-43 an empty old string is null", show(card.EditCall("p", "", "b").Diffs), `{"card":"diff","diffs":[{"path":"p","oldText":null,"newText":"b"}]}`},
		{"CARD-43 the result from metadata", viewText(card.FromMeta(persisted("ok", hunks.JSON()), "diff")), hunks.JSON().String()},
		{"CARD-43 without metadata", viewText(card.FromMeta(persisted("ok"), "diff")), "none"},
		{"CARD-43 a failure", viewText(card.FromMeta(failed("no", hunks.JSON()), "diff")), "none"},
		{"CARD-45 a whole file", card.ReadCall("p", 0, 0).JSON().String(), `{"card":"generic","title":"Read p","kind":"read","locations":[{"path":"p","line":1}]}`},
		{"CARD-45 from a line", card.ReadCall("p", 5, 0).JSON().String(), `{"card":"generic","title":"Read p (from line 5)","kind":"read","locations":[{"path":"p","line":5}]}`},
		{"CARD-45 a window", card.ReadCall("p", 5, 10).JSON().String(), `{"card":"generic","title":"Read p (lines 5-14)","kind":"read","locations":[{"path":"p","line":5}]}`},
	} {
		if row.got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.rule, row.got, row.want)
		}
	}
	meta := card.ReadResult{Path: "a.go", Offset: 1, Lines: []card.Line{{Number: 1, Text: "x"}}, TotalLines: 1, Lang: "go"}.JSON()
	strip := func(text string) (string, bool) { return strings.CutPrefix(text, "<file>") }
	for _, row := range []struct {
		rule string
		r    card.PersistedResult
		want string
	}{
		{"CARD-45 a read", persisted("<file>x", meta), `{"card":"read","path":"a.go","offset":1,"lines":[{"number":1,"text":"x"}],"totalLines":1,"lang":"go","content":"x"}`},
		{"CARD-45 a damaged envelope", persisted("x", meta), "none"},
		{"CARD-45 no text", card.PersistedResult{Meta: meta}, "none"},
		{"CARD-45 a failure", failed("<file>x", meta), "none"},
		{"CARD-14 CARD-45 metadata of another card", persisted("<file>x", hunks.JSON()), "none"},
		{"CARD-14 offset 0", persisted("<file>x", meta.With("offset", jsonval.MustOf(0))), "none"},
		{"CARD-14 a fraction", persisted("<file>x", meta.With("totalLines", jsonval.MustOf(1.5))), "none"},
		{"CARD-14 a number above the total", persisted("<file>x", meta.With("totalLines", jsonval.MustOf(0))), "none"},
		{"CARD-14 a wrong type", persisted("<file>x", meta.With("lines", jsonval.MustOf("x"))), "none"},
		{"CARD-14 a foreign field", persisted("<file>x", meta.With("version", jsonval.MustOf(2))), "none"},
		{"CARD-12 no metadata", persisted("<file>x"), "none"},
	} {
		if got := viewText(card.ReadView(row.r, strip)); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.rule, got, row.want)
		}
	}
}

func TestSearchesAndPages(t *testing.T) {
	for rule, row := range map[string][2]string{
		"CARD-47 a search":          {card.SearchCall("x.*").JSON().String(), `{"card":"generic","title":"x.*","kind":"search","rawInput":"x.*"}`},
		"CARD-48 a page":            {card.FetchCall("u").JSON().String(), `{"card":"generic","title":"u","kind":"fetch","rawInput":"u"}`},
		"CARD-47 nothing found":     {viewText(card.FromMeta(persisted("", card.SearchPaths{}.JSON()), "search")), `{"card":"search","shape":"paths","paths":[],"truncated":false,"total":0}`},
		"CARD-48 a web search":      {viewText(card.WebView("q", persisted("", card.WebSearch{Sources: []card.Source{{URL: "u"}}}.JSON()))), `{"card":"web","kind":"search","title":"q","sources":[{"url":"u"}],"truncated":false}`},
		"CARD-48 a fetch":           {viewText(card.WebView("u", persisted("", card.WebFetch{URL: "v", StatusCode: 404, Truncated: true}.JSON()))), `{"card":"web","kind":"fetch","title":"u","url":"v","statusCode":404,"truncated":true}`},
		"CARD-48 a failure":         {viewText(card.WebView("u", failed("", card.WebFetch{URL: "v"}.JSON()))), "none"},
		"CARD-48 unusable metadata": {viewText(card.WebView("u", persisted("", jsonval.MustOf(map[string]any{"card": "web"})))), "none"},
	} {
		if row[0] != row[1] {
			t.Errorf("%s:\n got %s\nwant %s", rule, row[0], row[1])
		}
	}
	t.Run("CARD-15 what is too large is cut, says so, keeps its total, and never everything", func(t *testing.T) {
		var paths []string
		var files []card.FileMatches
		var sources []card.Source
		for i := range 100 {
			paths = append(paths, fmt.Sprint("path", i))
			files = append(files, card.FileMatches{Path: fmt.Sprint("f", i), Matches: []card.Match{{LineNumber: 1, Line: "a"}, {LineNumber: 2, Line: "b"}}})
			sources = append(sources, card.Source{URL: fmt.Sprint("u", i)})
		}
		whole := []card.ResultView{card.SearchPaths{Paths: paths, Total: 100}, card.SearchMatches{Files: files, Total: 200}, card.WebSearch{Sources: sources}}
		for _, limit := range []int64{0, 50, 200, 777, 1 << 20} {
			for i, v := range []card.ResultView{
				card.SearchPaths{Paths: paths, Total: 100}.Bound(limit), card.SearchMatches{Files: files, Total: 200}.Bound(limit), card.WebSearch{Sources: sources}.Bound(limit),
			} {
				if err := card.CheckResult(v); err != nil {
					t.Errorf("limit %d: %v", limit, err)
				}
				form := v.JSON()
				cut, _ := form.Get("truncated")
				total, _ := form.Get("total")
				was, _ := whole[i].JSON().Get("total")
				if !jsonval.Equal(total, was) {
					t.Errorf("limit %d: total %s", limit, total)
				}
				n := shown(v)
				switch {
				case limit == 1<<20 && (cut.Bool() || n != shown(whole[i])):
					t.Errorf("it was cut although it fits: %s", form)
				case limit < 1<<20 && (!cut.Bool() || n == 0 || n == shown(whole[i])):
					t.Errorf("limit %d: %d items, truncated %v", limit, n, cut)
				case limit >= 200 && form.Size(-1) > limit:
					t.Errorf("limit %d: %d bytes", limit, form.Size(-1))
				}
			}
		}
		if v := (card.SearchPaths{}).Bound(0); v.Truncated || len(v.Paths) != 0 {
			t.Error("nothing was cut")
		}
		if len(files[0].Matches) != 2 || len(paths) != 100 {
			t.Error("the original was changed")
		}
	})
}

func shown(v card.ResultView) int {
	switch v := v.(type) {
	case card.SearchPaths:
		return len(v.Paths)
	case card.WebSearch:
		return len(v.Sources)
	case card.SearchMatches:
		n := 0
		for _, f := range v.Files {
			n += len(f.Matches)
		}
		return n
	}
	return -1
}
