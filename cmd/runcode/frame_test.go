package main

import (
	"strings"
	"testing"
)

func TestCodeFrame(t *testing.T) {
	const source = "first\nsecond line\n\tthird('é🎉', x)\nfourth"
	for _, c := range []struct {
		name         string
		line, column int
		want         string
	}{
		{"CLI-6 three lines with a caret", 2, 8, "  1 | first\n> 2 | second line\n    |        ^\n  3 | \tthird('é🎉', x)\n"},
		{"CLI-6 the first line", 1, 1, "> 1 | first\n    | ^\n  2 | second line\n"},
		{"CLI-6 the last line", 4, 6, "  3 | \tthird('é🎉', x)\n> 4 | fourth\n    |      ^\n"},
		{"CLI-6 columns are UTF-16 units, tabs stay tabs", 3, 14, "  2 | second line\n> 3 | \tthird('é🎉', x)\n    | \t           ^\n  4 | fourth\n"},
		{"CLI-6 without a column no caret", 2, 0, "  1 | first\n> 2 | second line\n  3 | \tthird('é🎉', x)\n"},
		{"CLI-6 a column past the end is the end", 1, 99, "> 1 | first\n    |      ^\n  2 | second line\n"},
		{"CLI-6 no such line", 9, 1, ""},
		{"CLI-6 no position", 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := codeFrame(source, c.line, c.column); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	t.Run("CLI-6 a long line is shown round the caret", func(t *testing.T) {
		long := strings.Repeat("a", 5000) + "HERE" + strings.Repeat("b", 5000)
		got := codeFrame(long, 1, 5001)
		lines := strings.Split(got, "\n")
		if len(lines[0]) > frameWidth+20 || !strings.Contains(lines[0], "HERE") {
			t.Fatalf("got %q", lines[0])
		}
		if at, caret := strings.Index(lines[0], "HERE"), strings.Index(lines[1], "^"); len([]rune(lines[0][:at])) != caret {
			t.Errorf("the caret is at %d, the text at %d:\n%s", caret, at, got)
		}
	})
	t.Run("CLI-5 control characters of the source are escaped, and the caret moves with them", func(t *testing.T) {
		got := codeFrame("a\x1bb", 1, 3)
		if want := "> 1 | a\\u001bb\n    |        ^\n"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func FuzzCodeFrame(f *testing.F) {
	f.Add("a\nb\tc", 2, 3)
	f.Fuzz(func(t *testing.T, source string, line, column int) {
		for _, r := range codeFrame(source, line, column) {
			if isControl(r) {
				t.Fatalf("%U in the frame", r)
			}
		}
	})
}
