package exectools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
)

type readFileArgs struct {
	Path   string `json:"path" jsonschema:"File to read, relative to the folder, with slashes"`
	Offset *int   `json:"offset,omitempty" jsonschema:"First line to return, from 1. Default 1"`
	Limit  *int   `json:"limit,omitempty" jsonschema:"How many lines to return at most. Default: all that fit into 8 MiB"`
}

type readFileResult struct {
	Text       string `json:"text" jsonschema:"The lines, with their line ends"`
	Lines      int    `json:"lines" jsonschema:"How many lines text has"`
	TotalLines int    `json:"totalLines" jsonschema:"How many lines the file has"`
	Truncated  bool   `json:"truncated" jsonschema:"Whether lines after these were left out"`
	Repaired   bool   `json:"repaired" jsonschema:"Whether bytes that are not UTF-8 were replaced"`
}

const readFileName = "read_file"

func (s *space) readFileSpec() registry.Spec[readFileArgs, readFileResult] {
	return registry.Spec[readFileArgs, readFileResult]{
		Name:        readFileName,
		Description: "Reads a text file, or a window of its lines. A binary file is an error that says so.",
		Run: func(ctx context.Context, a readFileArgs, _ *registry.Run) (readFileResult, error) {
			return s.readFile(ctx, a)
		},
		Render:           renderReadFile,
		PresentationMeta: readFileMeta,
		TimeoutMs:        fileToolBudget,
		ConcurrencySafe:  always[readFileArgs],
		PresentCall:      presentReadFile,
		PresentResult:    presentReadResult,
	}
}

func (s *space) readFile(ctx context.Context, a readFileArgs) (readFileResult, error) {
	first, limit := deref(a.Offset, 1), deref(a.Limit, int(^uint(0)>>1))
	var bad []string
	if first < 1 {
		bad = append(bad, fmt.Sprintf(`"offset": expected at least 1, got %d`, first))
	}
	if limit < 1 {
		bad = append(bad, fmt.Sprintf(`"limit": expected at least 1, got %d`, limit))
	}
	if bad != nil {
		return readFileResult{}, &registry.ArgsError{Violations: bad}
	}
	file, info, err := s.openFile(a.Path)
	if err != nil {
		return readFileResult{}, err
	}
	defer file.Close()
	w := window{first: first, limit: limit}
	if err := w.read(contextReader{ctx, file}); err != nil {
		switch {
		case cancelled(ctx) != nil:
			return readFileResult{}, errAborted()
		case errors.Is(err, errBinary):
			return readFileResult{}, &pathError{a.Path, fmt.Sprintf("is binary, not text (%d bytes): read_file returns text only", info.Size())}
		case errors.Is(err, errUTF16):
			return readFileResult{}, &pathError{a.Path, "is UTF-16 text: only UTF-8 can be read"}
		}
		return readFileResult{}, &pathError{a.Path, "cannot be read: " + cause(err).Error()}
	}
	if first > w.total && first > 1 {
		return readFileResult{}, &pathError{a.Path, fmt.Sprintf("has %d lines: offset %d is behind its end", w.total, first)}
	}
	if w.lines == 0 && w.cut {
		return readFileResult{}, &pathError{a.Path, fmt.Sprintf("has more than %d MiB in line %d, which is more than one read returns", maxReadBytes>>20, first)}
	}
	text := string(w.text)
	r := readFileResult{Text: text, Lines: w.lines, TotalLines: w.total, Truncated: first+w.lines-1 < w.total}
	if !utf8.ValidString(text) {
		r.Text, r.Repaired = strings.ToValidUTF8(text, "\uFFFD"), true
	}
	return r, nil
}

var (
	errBinary = errors.New("binary")
	errUTF16  = errors.New("UTF-16")
)

// sniffBytes is how much of a file's start tells whether it is text.
const sniffBytes = 8 << 10

// sniff looks at the start of a file.
func sniff(start []byte) error {
	if bytes.HasPrefix(start, []byte{0xFE, 0xFF}) || bytes.HasPrefix(start, []byte{0xFF, 0xFE}) {
		return errUTF16
	}
	if bytes.IndexByte(start, 0) >= 0 {
		return errBinary
	}
	return nil
}

// window collects lines first.. of a stream, at most limit lines and maxReadBytes bytes of whole lines, and counts all of them.
type window struct {
	first, limit int
	text         []byte
	lines        int // in text
	total        int // in the stream
	cut          bool
}

func (w *window) read(r io.Reader) error {
	reader := bufio.NewReaderSize(r, 64<<10)
	start, err := reader.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return err
	}
	if err := sniff(start); err != nil {
		return err
	}
	line := 1
	begun, size := false, 0 // of the current line; size is what of it stands in text
	for {
		piece, err := reader.ReadSlice('\n')
		if len(piece) > 0 {
			if !begun {
				w.total++
			}
			if line >= w.first && w.lines < w.limit && !w.cut {
				if len(w.text)+len(piece) > maxReadBytes {
					w.cut = true
					w.text = w.text[:len(w.text)-size] // whole lines only
				} else {
					w.text = append(w.text, piece...)
					size += len(piece)
				}
			}
			begun = true
		}
		if ended := err == nil; ended || errors.Is(err, io.EOF) && begun {
			if line >= w.first && w.lines < w.limit && !w.cut {
				w.lines++
			}
			line, begun, size = line+1, false, 0
		}
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// renderReadFile shows the text, and where to go on.
func renderReadFile(a readFileArgs, r readFileResult) []registry.Block {
	text := r.Text
	first := deref(a.Offset, 1)
	switch {
	case r.TotalLines == 0:
		text = "(" + a.Path + " is empty)"
	case r.Truncated:
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += fmt.Sprintf("[lines %d to %d of %d; go on with offset %d]", first, first+r.Lines-1, r.TotalLines, first+r.Lines)
	}
	if r.Repaired {
		text += "\n[bytes that are not UTF-8 were replaced by \uFFFD]"
	}
	return []registry.Block{registry.Text(text)}
}

const maxMetaLines = 400 // of a read card (CARD-15)

// readMeta is what the read card needs beyond the text (CARD-45).
type readMeta struct {
	Path       string   `json:"path"`
	Offset     int      `json:"offset"`
	TotalLines int      `json:"totalLines"`
	Lines      []string `json:"lines"`
}

func readFileMeta(a readFileArgs, r readFileResult) any {
	m := readMeta{Path: a.Path, Offset: deref(a.Offset, 1), TotalLines: r.TotalLines, Lines: []string{}}
	size := 0
	for line := range strings.Lines(r.Text) {
		if size += len(line); len(m.Lines) == maxMetaLines || size > maxMetaBytes {
			break
		}
		m.Lines = append(m.Lines, strings.TrimRight(line, "\r\n"))
	}
	return m
}

const maxMetaBytes = 64 << 10

func presentReadFile(a readFileArgs) card.CallView {
	title := "Read " + a.Path
	first := deref(a.Offset, 1)
	switch {
	case a.Limit != nil && *a.Limit > 0:
		title += fmt.Sprintf(" (lines %d to %d)", first, first+*a.Limit-1)
	case a.Offset != nil:
		title += fmt.Sprintf(" (from line %d)", first)
	}
	return card.GenericCall{Title: title, Kind: card.Read, Locations: []card.Location{{Path: a.Path, Line: max(first, 1)}}}
}

// presentReadResult reads its own metadata with the distrust that CARD-14 demands.
func presentReadResult(a readFileArgs, r card.PersistedResult) card.ResultView {
	var m readMeta
	if r.IsError || !r.Meta.IsObject() || r.Meta.Decode(&m) != nil {
		return nil
	}
	if m.Path != a.Path || m.Offset < 1 || m.TotalLines < 0 || m.Lines == nil || len(m.Lines) > maxMetaLines || len(m.Lines) > 0 && m.Offset+len(m.Lines)-1 > m.TotalLines {
		return nil
	}
	view := card.ReadResult{Path: m.Path, Offset: m.Offset, TotalLines: m.TotalLines, Lang: languageOf(m.Path), Lines: make([]card.Line, len(m.Lines))}
	for i, text := range m.Lines {
		view.Lines[i] = card.Line{Number: m.Offset + i, Text: text}
	}
	return view
}

// languages are hints for highlighting (CARD-46).
var languages = map[string]string{
	"c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css", "go": "go", "h": "c", "hpp": "cpp", "html": "html", "java": "java",
	"js": "javascript", "json": "json", "jsx": "jsx", "kt": "kotlin", "lua": "lua", "md": "markdown", "mjs": "javascript", "php": "php",
	"py": "python", "rb": "ruby", "rs": "rust", "sh": "bash", "sql": "sql", "swift": "swift", "toml": "toml", "ts": "typescript",
	"tsx": "tsx", "xml": "xml", "yaml": "yaml", "yml": "yaml",
}

func languageOf(name string) string {
	base := path.Base(name)
	dot := strings.LastIndexByte(base, '.')
	if dot <= 0 {
		return ""
	}
	return languages[strings.ToLower(base[dot+1:])]
}
