package jsonval

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxMessage = 198 // of an Error, so that with the ": " in front of it it has the 200 bytes that VALUE-1 allows
	maxPath    = 120
	maxName    = 30 // of one name within a path
)

// The things that are not lossless JSON, as Error.What says them.
const (
	whatNaN      = "NaN"
	whatInfinity = "an infinite number"
	whatNegZero  = "negative zero"
	whatOverflow = "a number too large for a double"
	whatInexact  = "an integer that a double cannot hold exactly"
	whatUTF8     = "text that is not valid UTF-8"
	whatName     = "a name that is not valid UTF-8"
	whatLone     = "an unpaired surrogate escape"
	whatAbsent   = "an absent value"
	whatCycle    = "a cyclic structure"
)

// Error says what is not lossless JSON and where it stands.
type Error struct {
	// Path leads from the root to the place: $.items[3].when. A long path is cut in its middle, to at most 120 bytes.
	Path string
	// What names what was found there.
	What string
	// Offset is the byte of the text at which it was found; -1 if the value did not come from text.
	Offset int64
}

// Error returns "<what> at <path>", valid UTF-8 of at most 198 bytes.
func (e *Error) Error() string {
	path := cut(strings.ToValidUTF8(e.Path, "\uFFFD"), maxPath)
	return cut(strings.ToValidUTF8(e.What, "\uFFFD"), maxMessage-len(" at ")-len(path)) + " at " + path
}

// ReadError is the failure of a Go value to give its JSON form: what its MarshalJSON, MarshalText or IsZero returned as an
// error or panicked with. Its message is that failure's message, untouched and of any length (JSON-8).
type ReadError struct {
	Path    string // where in the value it happened, as Error.Path
	Message string
	cause   error
}

// Error returns the message of the failure that stopped the reading.
func (e *ReadError) Error() string { return e.Message }

// Unwrap returns the error that was returned or panicked with, nil if the panic's value was no error.
func (e *ReadError) Unwrap() error { return e.cause }

func rootError(what string) *Error { return &Error{Path: "$", What: what, Offset: -1} }

// cut shortens s to at most limit bytes, at the boundary of a character, with "…" for what is gone.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	limit -= len("…")
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// A path that is too long keeps its head and its tail, with "…" between them.
const (
	maxHead = 50
	maxTail = maxPath - maxHead - len("…")
)

// joinPath writes the path of n steps, of which step returns one. It asks for few of them, however many there are.
func joinPath(n int, step func(i int) string) string {
	whole, head := []byte("$"), 1
	for i := 0; i < n && len(whole) <= maxPath; i++ {
		whole = append(whole, step(i)...)
		if len(whole) <= maxHead {
			head = len(whole)
		}
	}
	if len(whole) <= maxPath {
		return string(whole)
	}
	tail := ""
	for i := n - 1; i >= 0; i-- {
		s := step(i)
		if len(s)+len(tail) > maxTail {
			break
		}
		tail = s + tail
	}
	return string(whole[:head]) + "…" + tail
}

func indexStep(i int) string { return "[" + strconv.Itoa(i) + "]" }

// nameStep returns the step to the member called name: .name, or ["name"] if that is no identifier; a long name is cut.
func nameStep(name string) string {
	if len(name) <= maxName && identifier(name) {
		return "." + name
	}
	name = cut(strings.ToValidUTF8(name[:min(len(name), 2*maxName)], "\uFFFD"), maxName)
	quoted := string(AppendString(nil, name))
	if len(quoted) > 2*maxName { // control characters take six bytes each
		quoted = `"…"`
	}
	return "[" + quoted + "]"
}

// innerPath is the path of a place within a part of a value that has a path of its own.
func innerPath(outer, inner string) string {
	path := outer + inner[len("$"):]
	if len(path) <= maxPath {
		return path
	}
	head, tail := maxHead, len(path)-maxTail
	for !utf8.RuneStart(path[head]) {
		head--
	}
	for tail < len(path) && !utf8.RuneStart(path[tail]) {
		tail++
	}
	return path[:head] + "…" + strings.TrimPrefix(path[tail:], "…")
}

func identifier(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
