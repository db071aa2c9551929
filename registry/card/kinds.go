package card

// This file maps the kinds of tools that this vocabulary was made for onto cards (CARD-41..CARD-48). What a result needs
// beyond its content is kept as metadata in the form of the view itself, and checked strictly when it is read back (CARD-14).

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// FromMeta returns the view that a tool stored as the metadata of a success: nil for a failure, for missing, damaged or
// foreign metadata, and for another card than the one named.
func FromMeta(r PersistedResult, tag string) ResultView {
	if r.IsError || !r.Meta.IsObject() {
		return nil
	}
	v, err := DecodeResult(r.Meta)
	if err != nil || v.Card() != tag {
		return nil
	}
	return v
}

// ShellCall is a command that is about to run.
func ShellCall(command, description, cwd string) TerminalCall {
	return TerminalCall{Title: command, Description: description, Cwd: cwd}
}

// ShellStatus returns the line that a shell tool puts behind its output to say how the command ended; "" for an exit code of
// 0 and where nothing is known.
func ShellStatus(end Termination) string {
	switch {
	case end.exited && end.code != 0:
		return "[exit code: " + strconv.Itoa(end.code) + "]"
	case end.signal != "":
		return "[signal: " + end.signal + "]"
	}
	return ""
}

// ShellResult shows the text of a foreground command as a terminal: a status marker on its last line is taken off and becomes
// the end; without one the exit code is 0. A failure, and the start of a background command, is a fenced console block. A
// result that is not one text block has no view.
func ShellResult(r PersistedResult, background bool) ResultView {
	text, ok := oneText(r)
	switch {
	case !ok:
		return nil
	case r.IsError || background:
		return GenericResult{Content: []jsonval.Value{fenced(text)}}
	}
	end := Exited(0)
	body, last := cutLastLine(text)
	if inner, ok := between(last, "[exit code: ", "]"); ok {
		if code, err := strconv.Atoi(inner); err == nil {
			text, end = body, Exited(code)
		}
	} else if inner, ok := between(last, "[signal: ", "]"); ok && inner != "" {
		text, end = body, Signalled(inner)
	}
	return TerminalResult{Output: &text, End: end}
}

func oneText(r PersistedResult) (string, bool) {
	if len(r.Content) != 1 {
		return "", false
	}
	kind, _ := r.Content[0].Get("type")
	text, ok := r.Content[0].Get("text")
	return text.Str(), kind.Str() == "text" && ok && text.IsString()
}

// cutLastLine returns the last line of a text, and the text before it.
func cutLastLine(text string) (body, last string) {
	trimmed := strings.TrimSuffix(text, "\n")
	at := strings.LastIndexByte(trimmed, '\n')
	return trimmed[:at+1], trimmed[at+1:]
}

func between(s, head, tail string) (string, bool) {
	s, ok := strings.CutPrefix(s, head)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, tail)
}

// fenced is a text block with a console fence that is longer than any run of back quotes in the text.
func fenced(text string) jsonval.Value {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return object{}.str("type", "text").str("text", fence+"console\n"+text+fence).done()
}

// WriteCall is a file that is about to be written; what it held before is not known.
func WriteCall(path, content string) DiffCall {
	return DiffCall{Title: "Write " + path, Diffs: []Diff{{Path: path, NewText: content}}, Locations: []Location{{Path: path}}}
}

// WriteResult is a file that was written: the hunks that the tool kept as metadata for an overwrite, else the whole file. A
// failure has no view.
func WriteResult(path, content string, r PersistedResult) ResultView {
	if r.IsError {
		return nil
	}
	if v := FromMeta(r, "diff"); v != nil {
		return v
	}
	return DiffResult{Diffs: []Diff{{Path: path, NewText: content}}}
}

// EditCall is a text that is about to be replaced in a file. An empty old text is none.
func EditCall(path, oldText, newText string) DiffCall {
	d := Diff{Path: path, NewText: newText}
	if oldText != "" {
		d.OldText = &oldText
	}
	return DiffCall{Title: "Edit " + path, Diffs: []Diff{d}, Locations: []Location{{Path: path}}}
}

// ReadCall is a window of a file that is about to be read. An offset or a limit of 0 was not given.
func ReadCall(path string, offset, limit int) GenericCall {
	title := "Read " + path
	switch first := max(offset, 1); {
	case limit > 0:
		title += fmt.Sprintf(" (lines %d-%d)", first, first+limit-1)
	case offset > 0:
		title += fmt.Sprintf(" (from line %d)", offset)
	}
	return GenericCall{Title: title, Kind: Read, Locations: []Location{{Path: path, Line: max(offset, 1)}}}
}

// ReadView is a window of a file that was read, from the metadata of the result. strip takes the tool's envelope off the text
// that the model saw; where it cannot, there is no view.
func ReadView(r PersistedResult, strip func(text string) (string, bool)) ResultView {
	v, ok := FromMeta(r, "read").(ReadResult)
	if !ok {
		return nil
	}
	text, ok := oneText(r)
	if !ok {
		return nil
	}
	if text, ok = strip(text); !ok {
		return nil
	}
	v.Content = &text
	return v
}

// SearchCall is a search for a pattern, in files or on the web; FetchCall a page that is about to be fetched.
func SearchCall(pattern string) GenericCall {
	return GenericCall{Title: pattern, Kind: Search, RawInput: jsonval.Text(pattern)}
}

// FetchCall is a page that is about to be fetched.
func FetchCall(url string) GenericCall {
	return GenericCall{Title: url, Kind: Fetch, RawInput: jsonval.Text(url)}
}

// WebView is the result of a web search or fetch, from the metadata of the result, under a title from the arguments.
func WebView(title string, r PersistedResult) ResultView {
	switch v := FromMeta(r, "web").(type) {
	case WebSearch:
		v.Title = title
		return v
	case WebFetch:
		v.Title = title
		return v
	}
	return nil
}

// Bound drops paths from the end until the view's JSON has at most limit bytes. It says so, keeps the total, and keeps at
// least one path (CARD-15).
func (v SearchPaths) Bound(limit int64) SearchPaths {
	n := fit(len(v.Paths), limit, func(n int) jsonval.Value {
		return SearchPaths{v.Title, v.Paths[:n], true, v.Total}.JSON()
	}, v.JSON())
	if n < len(v.Paths) {
		v.Paths, v.Truncated = v.Paths[:n:n], true
	}
	return v
}

// Bound drops matches from the end, and then files that have none left, as SearchPaths.Bound does with paths.
func (v SearchMatches) Bound(limit int64) SearchMatches {
	total := 0
	for _, f := range v.Files {
		total += len(f.Matches)
	}
	n := fit(total, limit, func(n int) jsonval.Value {
		return SearchMatches{v.Title, firstMatches(v.Files, n), true, v.Total}.JSON()
	}, v.JSON())
	if n < total {
		v.Files, v.Truncated = firstMatches(v.Files, n), true
	}
	return v
}

func firstMatches(files []FileMatches, n int) []FileMatches {
	var out []FileMatches
	for _, f := range files {
		if n == 0 {
			break
		}
		f.Matches = f.Matches[:min(n, len(f.Matches)):min(n, len(f.Matches))]
		n -= len(f.Matches)
		out = append(out, f)
	}
	return out
}

// Bound drops sources from the end, as SearchPaths.Bound does with paths.
func (v WebSearch) Bound(limit int64) WebSearch {
	n := fit(len(v.Sources), limit, func(n int) jsonval.Value {
		return WebSearch{v.Title, v.Sources[:n], true, v.Answer}.JSON()
	}, v.JSON())
	if n < len(v.Sources) {
		v.Sources, v.Truncated = v.Sources[:n:n], true
	}
	return v
}

// fit returns how many of n items may stay, by halving: the most whose form is within limit, but at least one if there is
// any.
func fit(n int, limit int64, form func(n int) jsonval.Value, whole jsonval.Value) int {
	if n == 0 || whole.Size(limit) <= limit {
		return n
	}
	low, high := 1, n
	for low < high-1 {
		middle := (low + high) / 2
		if form(middle).Size(limit) <= limit {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
