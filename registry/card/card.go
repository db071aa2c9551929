// Package card defines what a tool can ask a UI to show for its calls: six cards, as plain data.
//
// A pending call has a [CallView], a settled one a [ResultView]; both are sealed, so that the set of cards is closed
// (CARD-10), and nil means the generic way of showing a call (CARD-2). Views are data: they marshal to JSON with the tag
// "card" first, and [DecodeCall] and [DecodeResult] read that back strictly. A view never reaches a model and authorizes a
// UI to nothing (CARD-6).
package card

import (
	"encoding/json"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// CallView is the card of a pending call: [GenericCall], [TerminalCall] or [DiffCall].
type CallView interface {
	json.Marshaler
	// Card returns the tag: "generic", "terminal" or "diff".
	Card() string
	// JSON returns the view as data, the tag first. It does not check the view: see CheckCall.
	JSON() jsonval.Value
	callView()
}

// ResultView is the card of a settled call, which replaces the call's as a whole (CARD-9): [GenericResult],
// [TerminalResult], [DiffResult], [SearchMatches], [SearchPaths], [ReadResult], [WebSearch] or [WebFetch].
type ResultView interface {
	json.Marshaler
	// Card returns the tag: "generic", "terminal", "diff", "search", "read" or "web".
	Card() string
	// JSON returns the view as data, the tag first. It does not check the view: see CheckResult.
	JSON() jsonval.Value
	resultView()
}

// Kind selects an icon or a treatment for a call (CARD-17). "" is left out, which means Other.
type Kind string

// The kinds of calls.
const (
	Read    Kind = "read"
	Edit    Kind = "edit"
	Delete  Kind = "delete"
	Move    Kind = "move"
	Search  Kind = "search"
	Execute Kind = "execute"
	Fetch   Kind = "fetch"
	Other   Kind = "other"
)

// Location is a place in a file. Path is the one that the model used; Line counts from 1, 0 leaves it out (CARD-18).
type Location struct {
	Path string
	Line int
}

// Diff is one change of a file. OldText is nil if there is no earlier text, or none that is known (CARD-19).
type Diff struct {
	Path    string
	OldText *string
	NewText string
}

// Line is one line of a file, without its end. Number counts from 1 in the file (CARD-20).
type Line struct {
	Number int
	Text   string
}

// Match is one matching line (CARD-21).
type Match struct {
	LineNumber int
	Line       string
}

// FileMatches are the matches within one file.
type FileMatches struct {
	Path    string
	Matches []Match
}

// Source is one hit of a web search. Empty fields are left out (CARD-22).
type Source struct {
	URL, Title, Snippet, PublishedAt string
}

// GenericCall is a call that needs no card of its own (CARD-23).
type GenericCall struct {
	// Title is a short label of this particular call.
	Title string
	Kind  Kind
	// RawInput is the salient input: a string is shown as it is, anything else as indented JSON; absent shows nothing.
	RawInput jsonval.Value
	// Content are blocks that are shown beside the title; nil leaves it out.
	Content []jsonval.Value
	// Locations are files that the call reads or changes.
	Locations []Location
}

// TerminalCall is a shell command (CARD-24).
type TerminalCall struct {
	Title       string // the command
	Description string // one line above the card
	Cwd         string // "" is the workspace
}

// DiffCall is a call that creates or changes files (CARD-25).
type DiffCall struct {
	Title     string
	Diffs     []Diff
	Locations []Location
}

// GenericResult shows content. What is left out, "" and nil, keeps the pending title and shows the raw content of the result.
type GenericResult struct {
	Title   string
	Content []jsonval.Value
}

// TerminalResult is the output of a command and how it ended (CARD-27).
type TerminalResult struct {
	Title  string
	Output *string // nil leaves it out
	End    Termination
}

// Termination is how a command ended: with an exit code, by a signal, or, the zero value, in a way that nobody knows. It
// cannot hold both.
type Termination struct {
	exited bool
	code   int
	signal string
}

// Exited is the end of a command that exited.
func Exited(code int) Termination { return Termination{exited: true, code: code} }

// Signalled is the end of a command that a signal ended, as "SIGKILL".
func Signalled(signal string) Termination { return Termination{signal: signal} }

// ExitCode returns the exit code, and whether the command exited.
func (t Termination) ExitCode() (code int, exited bool) { return t.code, t.exited }

// Signal returns the signal that ended the command, "" if none did.
func (t Termination) Signal() string { return t.signal }

// DiffResult is the change that was made, in file order (CARD-28).
type DiffResult struct {
	Title string
	Diffs []Diff
}

// SearchMatches are the matches of a search in files, grouped by file. Total counts what was found before capping (CARD-29).
type SearchMatches struct {
	Title     string
	Files     []FileMatches
	Truncated bool
	Total     int
}

// SearchPaths are the files that a search by name found, in its order.
type SearchPaths struct {
	Title     string
	Paths     []string
	Truncated bool
	Total     int
}

// ReadResult is a window of a file (CARD-30). Offset is the first line that was asked for; Lines ascend strictly within
// Offset and TotalLines. Content is the text without its envelope, for a UI that has no such card; nil leaves it out.
type ReadResult struct {
	Title      string
	Path       string
	Offset     int
	Lines      []Line
	TotalLines int
	Lang       string // a hint for highlighting, "" if there is none
	Content    *string
}

// WebSearch are the sources that a web search found, in its order (CARD-31). Answer is the provider's own, "" if it gave none.
type WebSearch struct {
	Title     string
	Sources   []Source
	Truncated bool
	Answer    string
}

// WebFetch is one page: its URL after redirects and its status (CARD-31).
type WebFetch struct {
	Title      string
	URL        string
	StatusCode int
	Truncated  bool
}

// PersistedResult is what the log holds of a result: all that a presenter gets (CARD-7).
type PersistedResult struct {
	Content []jsonval.Value // the blocks, after post-execute and finalizer
	IsError bool
	Meta    jsonval.Value // absent if there is none
}
