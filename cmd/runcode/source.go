package main

// This file defines how a program is read: from a file or standard input, with its shebang line taken out (CLI-11).

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime"
)

// source is one program.
type source struct {
	name string // for people: the file's name
	text string // as it was written
	code string // what is run: without a shebang line, whose place stays an empty line
}

// readProgram reads a program from a file, or from standard input when path is "-".
func (a *app) readProgram(path string) (source, error) {
	if path == "-" {
		return readSource("standard input", a.stdin)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return source{}, usagef("no program %q: there is no such file", path)
	case err != nil:
		return source{}, usagef("cannot read the program: %w", err)
	case info.IsDir():
		return source{}, usagef("%q is a folder, not a program: to let a program read it, pass --allow-read=%s", path, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return source{}, usagef("cannot read the program: %w", err)
	}
	defer f.Close()
	return readSource(filepath.Base(path), f)
}

func readSource(name string, r io.Reader) (source, error) {
	// One byte more than a program may have is enough for the engine to refuse it.
	text, err := io.ReadAll(io.LimitReader(r, runtime.MaxProgramBytes+1))
	if err != nil {
		return source{}, usagef("cannot read the program: %w", err)
	}
	if len(text) <= runtime.MaxProgramBytes && !utf8.Valid(text) {
		return source{}, usagef("%s is not UTF-8 text: save the program as UTF-8", name)
	}
	s := source{name: name, text: strings.TrimPrefix(strings.ToValidUTF8(string(text), "\ufffd"), "\ufeff")}
	s.code = s.text
	if strings.HasPrefix(s.code, "#!") {
		_, rest, _ := strings.Cut(s.code, "\n")
		s.code = "\n" + rest
	}
	return s, nil
}

// description is what run_code's parameter of that name gets: it must not be blank.
func (s source) description() string {
	if strings.TrimSpace(s.name) == "" {
		return fmt.Sprintf("program %q", s.name)
	}
	return s.name
}
