package mcptools

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// readLine returns the next line without its end. At the end of the stream the error is io.EOF, beside the last line if that had no
// end. A line beyond limit bytes is an error and makes the stream useless.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > limit {
			return nil, fmt.Errorf("the server printed a line of more than %d MiB", limit>>20)
		}
		if line == nil && err == nil {
			return bytes.Clone(bytes.TrimSpace(piece)), nil
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// readLines gives the lines of r to each as valid text without secrets, long ones in pieces, until r ends.
func readLines(r io.Reader, red *redactor, each func(line string)) {
	reader := bufio.NewReaderSize(r, maxStderrLine)
	begun := "" // the end of a piece that may be the beginning of a secret
	for {
		piece, err := reader.ReadSlice('\n')
		text := begun + strings.ToValidUTF8(string(piece), "\uFFFD")
		begun = ""
		if errors.Is(err, bufio.ErrBufferFull) {
			text, begun = red.now.Load().split(text)
		} else {
			text = red.clean(strings.TrimRight(text, "\r\n"))
		}
		if text != "" {
			each(text)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// tail keeps the end of a text that is fed in lines. It is safe for concurrent use.
type tail struct {
	limit int
	mu    sync.Mutex
	text  string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text + line + "\n"
	if len(text) > t.limit {
		text = text[len(text)-t.limit:]
		for !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	t.text = text
}

// last returns the last lines, joined, at most n bytes of them.
func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(t.text)
	for len(text) > n {
		_, rest, more := strings.Cut(text, "\n")
		if !more {
			rest = text[len(text)-n:]
			rest = strings.ToValidUTF8(rest, "")
		}
		text = rest
	}
	return strings.Join(strings.Fields(text), " ")
}

// oneLine is a text without line ends and without characters that do something to a terminal.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}

// cut shortens a text to n bytes of whole characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
