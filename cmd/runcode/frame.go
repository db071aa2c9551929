package main

// This file defines the code frame of a failure: the program's own lines round a position, with a caret under it (CLI-6).

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// frameWidth is how many characters of a line a frame shows; of a longer line it shows the part round the caret.
const frameWidth = 100

// codeFrame returns line and its two neighbours, the line numbers in front, and a caret under column. Both count from 1, column
// in UTF-16 units; column 0 gives no caret. It is empty when source has no such line.
func codeFrame(source string, line, column int) string {
	lines := strings.Split(source, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	caret := runeIndex(lines[line-1], column)
	from := max(0, caret-frameWidth*2/3)
	if len([]rune(lines[line-1])) <= frameWidth {
		from = 0
	}

	first, last := max(1, line-1), min(len(lines), line+1)
	digits := len(fmt.Sprint(last))
	var b strings.Builder
	for n := first; n <= last; n++ {
		mark := " "
		if n == line {
			mark = ">"
		}
		text, _ := window(lines[n-1], from)
		b.WriteString(strings.TrimRight(fmt.Sprintf("%s %*d | %s", mark, digits, n, text), " "))
		b.WriteByte('\n')
		if n == line && column > 0 {
			_, pad := window(lines[n-1], from, caret)
			fmt.Fprintf(&b, "  %*s | %s^\n", digits, "", pad)
		}
	}
	return b.String()
}

// window returns the shown part of a line from rune index from on, escaped, and, given a caret's rune index, the white space
// that reaches from the line's start to it. Tabs stay tabs in both, so that the caret stands right on any terminal.
func window(line string, from int, caret ...int) (text, pad string) {
	runes := []rune(line)
	var shown, space strings.Builder
	if from > 0 && from < len(runes) {
		shown.WriteString("…")
		space.WriteByte(' ')
	}
	for i := from; i < min(len(runes), from+frameWidth); i++ {
		piece := escapeInvisible(string(runes[i]))
		shown.WriteString(piece)
		if len(caret) > 0 && i < caret[0] {
			if piece == "\t" {
				space.WriteByte('\t')
			} else {
				space.WriteString(strings.Repeat(" ", len([]rune(piece))))
			}
		}
	}
	if from+frameWidth < len(runes) {
		shown.WriteString("…")
	}
	return shown.String(), space.String()
}

// runeIndex turns a 1-based column in UTF-16 units into an index of runes; a column past the end is the end.
func runeIndex(line string, column int) int {
	units, i := 0, 0
	for _, r := range line {
		if units >= column-1 {
			break
		}
		units += max(1, utf16.RuneLen(r))
		i++
	}
	return i
}
