package bridge

// This file defines what a model reads of a program that completed (CODE-20, CODE-21).

import (
	"strings"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// noOutput is what the model reads when a program has said nothing at all.
const noOutput = "(the program produced no output)"

// compactDepth is the depth from which containers are written on one line: indentation never exceeds ten characters, and the
// text stays linear in the size of the value.
const compactDepth = 5

// RenderValue returns v as a model reads it: a string as it stands, anything else as JSON with two spaces of indentation for
// each level, compact from the fifth level on. An absent value is the empty text.
func RenderValue(v jsonval.Value) string {
	if !v.Exists() {
		return ""
	}
	if v.IsString() {
		return v.Str()
	}
	return string(v.AppendIndentJSON(nil, "  ", compactDepth))
}

// renderOutput joins what a program printed and what it returned; parts that are empty leave no line behind.
func renderOutput(logs []string, result jsonval.Value) string {
	text, value := logText(logs), RenderValue(result)
	switch {
	case text == "" && value == "":
		return noOutput
	case text == "":
		return value
	case value == "":
		return text
	}
	return text + "\n" + value
}

// logText joins log entries by newlines. Entries that are all empty are no text.
func logText(logs []string) string {
	for _, entry := range logs {
		if entry != "" {
			return strings.Join(logs, "\n")
		}
	}
	return ""
}

// renderRun is the renderer of run_code: it reads the canonical value {logs, result?}, which may also be one that policy has
// put in its place.
func renderRun(value jsonval.Value) []registry.Block {
	var logs []string
	if list, ok := value.Get("logs"); ok {
		logs = make([]string, 0, list.Len())
		for _, entry := range list.Items() {
			logs = append(logs, entry.Str())
		}
	}
	result, _ := value.Get("result")
	return []registry.Block{registry.Text(renderOutput(logs, result))}
}
