package exectools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
)

const (
	maxGrepLine  = 1 << 20 // bytes of a line that is searched; what lies beyond in it is not
	maxGrepShown = 2000    // bytes of a matching line that are returned
)

type grepArgs struct {
	Pattern    string  `json:"pattern" jsonschema:"RE2 regular expression, matched against single lines"`
	Path       *string `json:"path,omitempty" jsonschema:"File or folder to search, relative. Default: the whole folder"`
	Glob       *string `json:"glob,omitempty" jsonschema:"Only files whose path below the searched folder matches, for example **/*.ts. A pattern without a slash matches names at any depth"`
	IgnoreCase *bool   `json:"ignoreCase,omitempty"`
	Literal    *bool   `json:"literal,omitempty" jsonschema:"Takes the pattern as plain text"`
	Limit      *int    `json:"limit,omitempty" jsonschema:"How many matching lines to return at most, up to 10000. Default 1000"`
}

type grepMatch struct {
	Path string `json:"path" jsonschema:"Relative to the whole folder"`
	Line int    `json:"line" jsonschema:"From 1"`
	Text string `json:"text" jsonschema:"The line without its end; a very long one is cut"`
}

type grepResult struct {
	Matches   []grepMatch `json:"matches" jsonschema:"In the order of paths and lines"`
	Total     int         `json:"total" jsonschema:"How many lines match"`
	Truncated bool        `json:"truncated"`
	Files     int         `json:"files" jsonschema:"How many text files were searched"`
	Skipped   int         `json:"skipped" jsonschema:"How many files were binary or could not be read"`
}

func (s *space) grepSpec() registry.Spec[grepArgs, grepResult] {
	return registry.Spec[grepArgs, grepResult]{
		Name:        "grep",
		Description: "Finds lines that match a regular expression in a file or in all text files below a folder. Hidden files and folders are left out unless path names them.",
		Run: func(ctx context.Context, a grepArgs, _ *registry.Run) (grepResult, error) {
			return s.grep(ctx, a)
		},
		Render:           renderGrep,
		PresentationMeta: grepMeta,
		TimeoutMs:        fileToolBudget,
		ConcurrencySafe:  always[grepArgs],
		PresentCall: func(a grepArgs) card.CallView {
			return card.GenericCall{Title: "Search for " + a.Pattern + within(a.Path), Kind: card.Search}
		},
		PresentResult: presentGrep,
	}
}

func (s *space) grep(ctx context.Context, a grepArgs) (grepResult, error) {
	limit, err := hitLimit(a.Limit)
	if err != nil {
		return grepResult{}, err
	}
	expression, err := a.expression()
	if err != nil {
		return grepResult{}, err
	}
	admits, err := a.files()
	if err != nil {
		return grepResult{}, err
	}
	search := &grepSearch{space: s, expression: expression, limit: limit, result: grepResult{Matches: []grepMatch{}}}
	given := deref(a.Path, ".")
	isFile, err := s.isFile(given)
	if err != nil {
		return grepResult{}, err
	}
	if isFile {
		err = search.file(ctx, path.Clean(given))
	} else {
		visible := func(names []string) bool { return !strings.HasPrefix(names[len(names)-1], ".") }
		err = s.walk(ctx, given, visible, func(p string, names []string) error {
			if !visible(names) && a.Glob == nil || !admits(names) {
				return nil
			}
			return search.file(ctx, p)
		})
	}
	if err != nil {
		return grepResult{}, err
	}
	search.result.Truncated = search.result.Total > len(search.result.Matches)
	return search.result, nil
}

func (a grepArgs) expression() (*regexp.Regexp, error) {
	text := a.Pattern
	if deref(a.Literal, false) {
		text = regexp.QuoteMeta(text)
	}
	if deref(a.IgnoreCase, false) {
		text = "(?i)" + text
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, &registry.ArgsError{Violations: []string{`"pattern": ` + reason + " (RE2 syntax: no lookaround, no backreferences; or set literal)"}}
	}
	return expression, nil
}

// files says which files are searched.
func (a grepArgs) files() (func(names []string) bool, error) {
	if a.Glob == nil {
		return func([]string) bool { return true }, nil
	}
	text := *a.Glob
	if !strings.Contains(text, "/") && text != "" {
		text = "**/" + text
	}
	pattern, err := newGlobPattern(text)
	if err != nil {
		return nil, &registry.ArgsError{Violations: []string{`"glob": ` + err.Error()}}
	}
	return pattern.match, nil
}

type grepSearch struct {
	space      *space
	expression *regexp.Regexp
	limit      int
	result     grepResult
}

// file searches one file. A file that cannot be read is counted and passed over.
func (s *grepSearch) file(ctx context.Context, p string) error {
	file, _, err := s.space.openFile(p)
	if err != nil {
		s.result.Skipped++
		return cancelled(ctx)
	}
	defer file.Close()
	reader := bufio.NewReaderSize(contextReader{ctx, file}, 64<<10)
	start, _ := reader.Peek(sniffBytes)
	if sniff(start) != nil {
		s.result.Skipped++
		return cancelled(ctx)
	}
	s.result.Files++
	for number := 1; ; number++ {
		line, err := grepLine(reader)
		if len(line) > 0 || err == nil {
			s.line(p, number, line)
		}
		if err != nil {
			return cancelled(ctx) // the end, or a file that broke off
		}
	}
}

// grepLine returns the next line without its end; of a longer one than maxGrepLine, the start.
func grepLine(r *bufio.Reader) ([]byte, error) {
	piece, err := r.ReadSlice('\n')
	if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
		if errors.Is(err, io.EOF) && len(piece) == 0 {
			return nil, err
		}
		return bytes.TrimRight(piece, "\r\n"), err
	}
	line := bytes.Clone(piece)
	for errors.Is(err, bufio.ErrBufferFull) {
		piece, err = r.ReadSlice('\n')
		line = append(line, piece[:min(len(piece), max(maxGrepLine-len(line), 0))]...)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

func (s *grepSearch) line(p string, number int, line []byte) {
	if !s.expression.Match(line) {
		return
	}
	s.result.Total++
	if len(s.result.Matches) < s.limit {
		s.result.Matches = append(s.result.Matches, grepMatch{p, number, cutText(strings.ToValidUTF8(string(line), "\uFFFD"), maxGrepShown)})
	}
}

func renderGrep(_ grepArgs, r grepResult) []registry.Block {
	var b strings.Builder
	for _, m := range r.Matches {
		fmt.Fprintf(&b, "%s:%d: %s\n", m.Path, m.Line, m.Text)
	}
	switch {
	case r.Total == 0:
		fmt.Fprintf(&b, "(no line matches in %d files)\n", r.Files)
	case r.Truncated:
		fmt.Fprintf(&b, "[%d of %d matching lines]\n", len(r.Matches), r.Total)
	}
	return []registry.Block{registry.Text(strings.TrimSuffix(b.String(), "\n"))}
}

type grepMetadata struct {
	Matches   []grepMatch `json:"matches"`
	Total     int         `json:"total"`
	Truncated bool        `json:"truncated"`
}

func grepMeta(_ grepArgs, r grepResult) any {
	m := grepMetadata{Matches: []grepMatch{}, Total: r.Total}
	size := 0
	for _, hit := range r.Matches {
		size += len(hit.Path) + len(hit.Text)
		if len(m.Matches) == maxMetaHits || size > maxMetaBytes && len(m.Matches) > 0 {
			break
		}
		m.Matches = append(m.Matches, hit)
	}
	m.Truncated = len(m.Matches) < r.Total
	return m
}

func presentGrep(_ grepArgs, r card.PersistedResult) card.ResultView {
	var m grepMetadata
	if r.IsError || !r.Meta.IsObject() || r.Meta.Decode(&m) != nil || m.Matches == nil {
		return nil
	}
	if len(m.Matches) > maxMetaHits || m.Total < len(m.Matches) || m.Truncated != (m.Total > len(m.Matches)) {
		return nil
	}
	view := card.SearchMatches{Files: []card.FileMatches{}, Truncated: m.Truncated, Total: m.Total}
	for _, hit := range m.Matches {
		if hit.Line < 1 {
			return nil
		}
		last := len(view.Files) - 1
		if last < 0 || view.Files[last].Path != hit.Path {
			view.Files = append(view.Files, card.FileMatches{Path: hit.Path})
			last++
		}
		view.Files[last].Matches = append(view.Files[last].Matches, card.Match{LineNumber: hit.Line, Line: hit.Text})
	}
	return view
}
