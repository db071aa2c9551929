// This file defines the languages that have SDK text (SDK-3).

package sdkgen

import "fmt"

// language is what is particular to one of them.
type language struct {
	name  string
	fence string // the info string of the fenced block
	texts texts

	comment string // what begins a comment to the end of the line

	declarations func(tools []*tool, o Options, s *sample) string // of tools
	entry        func(t *tool, o Options) string                  // of one tool, as it is called
}

// sample says that declarations are a sample of a larger set: an index of the set stands in front of them, the global sdk behind.
type sample struct {
	index   string
	results bool // a tool of the set yields an McpResult, which has to be declared for what sdk.search shows
}

var typeScript = &language{
	name: "typescript", fence: "ts", texts: typeScriptTexts, comment: "// ",
	declarations: typeScriptDeclarations, entry: typeScriptEntry,
}

var python = &language{
	name: "python", fence: "python", texts: pythonTexts, comment: "# ",
	declarations: pythonDeclarations, entry: pythonEntry,
}

// Languages returns the languages that have SDK text, sorted.
func Languages() []string { return []string{python.name, typeScript.name} }

// UnknownLanguageError says that a runtime's language has no SDK text (CODE-10).
type UnknownLanguageError struct{ Language string }

func (e *UnknownLanguageError) Error() string {
	return fmt.Sprintf(`the runtime language "%s" has no SDK text (known: "python", "typescript")`, e.Language)
}

func languageNamed(name string) (*language, error) {
	switch name {
	case typeScript.name:
		return typeScript, nil
	case python.name:
		return python, nil
	}
	return nil, &UnknownLanguageError{name}
}
