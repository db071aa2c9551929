package loop

// This file turns the stacks that the engines record into frames of the model's text (RUN-38, RUN-39).

import (
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/runtime"
)

const (
	maxFrames   = 10
	maxStack    = 64 << 10 // no engine records more for the frames it is set to keep
	maxFuncName = 200
)

// lead stands before the code that an engine evaluates: QuickJS counts the columns of a text's first line from 0 or from 1,
// depending on what stands before a token, and those of the other lines from 1.
const lead = "\n"

// locate maps a position in lead and the code to the model's text; ok is false if it is none of the program's.
func locate(code *runtime.Code, line, column int) (l, c int, ok bool) {
	if line <= len(lead) || column < 1 {
		return 0, 0, false
	}
	return code.Position(line-len(lead), column)
}

// mapStack returns the frames of the program in a recorded stack, each as "\n    at <function> (program.ts:L:C)", and the
// position of the first. ok is false if the text is none that an engine recorded.
//
// QuickJS records lines "    at f (file:line:column)" without a header. goja records a header, which may have any number
// of lines, and "\tat f (file:line:column(pc))".
//
// what is the class and, on the next line, the message of the error that was made or caught there, as far as they are known:
// with them the positions are corrected that QuickJS records too late (runtime.Code.Site).
func mapStack(code *runtime.Code, stack, what string) (frames string, line, column int, ok bool) {
	if len(stack) > maxStack {
		return "", 0, 0, false
	}
	lines := strings.Split(strings.TrimSuffix(stack, "\n"), "\n")
	const quickFrame, gojaFrame = "    at ", "\tat "
	first, mark := len(lines), quickFrame
	if strings.HasPrefix(lines[first-1], gojaFrame) {
		mark = gojaFrame
	}
	for first > 0 && strings.HasPrefix(lines[first-1], mark) {
		first--
	}
	if stack != "" && mark == quickFrame && first > 0 {
		return "", 0, 0, false
	}
	var b strings.Builder
	count := 0
	failing := runtime.Failing{Innermost: true}
	failing.Class, failing.Message, _ = strings.Cut(what, "\n")
	for _, text := range lines[first:] {
		text = strings.TrimPrefix(text, mark)
		name, l, c, found := parseFrame(text)
		if found && mark == quickFrame && l > len(lead) {
			l, c = code.Site(l-len(lead), c, failing)
			l += len(lead)
		}
		called, _, _ := strings.Cut(text, " (")
		failing = runtime.Failing{Function: called}
		if found {
			l, c, found = locate(code, l, c)
		}
		if !found {
			continue
		}
		if line == 0 {
			line, column = l, c
		}
		if count++; count > maxFrames {
			break
		}
		at := FileName + ":" + strconv.Itoa(l) + ":" + strconv.Itoa(c)
		if name == "" {
			b.WriteString("\n    at " + at)
		} else {
			b.WriteString("\n    at " + name + " (" + at + ")")
		}
	}
	return b.String(), line, column, true
}

// parseFrame reads one frame behind its mark; found is false if it is not one of the program's file.
func parseFrame(text string) (name string, line, column int, found bool) {
	place := text
	if open := strings.LastIndex(text, " ("+FileName+":"); open >= 0 && strings.HasSuffix(text, ")") {
		name, place = text[:open], text[open+2:len(text)-1]
	}
	place, ok := strings.CutPrefix(place, FileName+":")
	if !ok {
		return "", 0, 0, false
	}
	if open := strings.IndexByte(place, '('); open >= 0 { // goja's program counter
		place = place[:open]
	}
	l, c, ok := strings.Cut(place, ":")
	if !ok {
		return "", 0, 0, false
	}
	line, errLine := strconv.Atoi(l)
	column, errColumn := strconv.Atoi(c)
	if errLine != nil || errColumn != nil || line < 1 || column < 1 {
		return "", 0, 0, false
	}
	if len(name) > maxFuncName || strings.HasPrefix(name, "<") { // <anonymous>, <eval>
		name = ""
	}
	return name, line, column, true
}
