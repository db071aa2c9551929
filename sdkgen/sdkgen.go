// Package sdkgen turns tools into the text that tells a model how a program calls them: typed declarations of every tool, the usage
// instructions in front of them, the descriptions of run_code, and, where there are too many tools to show, an index and a search.
//
// The text depends on the tools and the options alone: the same set gives the same bytes, whatever the order it comes in (SDK-4). Names,
// descriptions and schemas are foreign and may be anything; generation never fails on them, and nothing in them gets out of its comment
// or its string (SDK-6, SDK-11). Everything here is pure and safe for concurrent use.
package sdkgen

import (
	"fmt"
	"sync"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Tool is what the text is made from.
type Tool struct {
	Name        string
	Description string

	Parameters jsonval.Value // JSON Schema of the arguments, any keywords; absent: an object of anything
	Output     jsonval.Value // the enforced schema of the value; absent: anything
	SDKOutput  jsonval.Value // replaces Output in the text if it is there (TOOL-13); any keywords
}

// Options shapes the text. The zero value shows everything whole.
type Options struct {
	// MaxDescription cuts each description after that many characters. 0: none is cut.
	MaxDescription int

	// MaxTokens is how many tokens (as [Tokens] estimates them) the section may take before it turns to discovery: an index of all tools,
	// the declarations that fit, and sdk.search and sdk.describe for the rest. The instructions and an index line for each prefix are
	// there in any case. 0: it never does.
	MaxTokens int

	// Usage says how often each tool has been used: under discovery the most used are declared first. The text depends on it, so whoever
	// wants a prompt to stay cached keeps it as it is for the length of a conversation.
	Usage map[string]int64

	// Check makes declarations for a type checker instead of a reader: no descriptions, argument roots that have members and say nothing
	// about further ones are closed, and literals in arguments are their base types (GATE-7). It is for Declarations.
	Check bool
}

func (o Options) validate() error {
	if o.MaxDescription < 0 {
		return fmt.Errorf("sdkgen: MaxDescription is %d, expected a number of characters, or 0 for whole descriptions", o.MaxDescription)
	}
	if o.MaxTokens < 0 {
		return fmt.Errorf("sdkgen: MaxTokens is %d, expected a number of tokens, or 0 for no limit", o.MaxTokens)
	}
	return nil
}

// SDK is the text for one set of tools in one language. It never changes.
type SDK struct {
	language     *language
	options      Options
	tools        []*tool
	declarations string
	section      string
	discovery    bool
	index        func() *Index
}

// New makes the text for tools. An unknown language is an [*UnknownLanguageError]; a negative option is an error that names it. Of
// several tools with one name, which no registry has, one counts, whatever their order.
func New(languageName string, tools []Tool, o Options) (*SDK, error) {
	l, err := languageNamed(languageName)
	if err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &SDK{language: l, options: o, tools: prepare(tools)}
	s.declarations = l.declarations(s.tools, o, nil)
	s.section, s.discovery = s.compose()
	s.index = sync.OnceValue(s.newIndex)
	return s, nil
}

// Section returns the whole section: instructions, an empty line, the fenced declarations (SDK-13, PY-1).
func (s *SDK) Section() string { return s.section }

// Discovery reports whether the section leaves declarations to sdk.search and sdk.describe, so that a program needs the global sdk.
func (s *SDK) Discovery() bool { return s.discovery }

// Declarations returns the declarations of all tools, without instructions and fence, whether or not the section has them all.
func (s *SDK) Declarations() string { return s.declarations }

// Section returns the section for tools; see [SDK.Section].
func Section(languageName string, tools []Tool, o Options) (string, error) {
	s, err := New(languageName, tools, o)
	if err != nil {
		return "", err
	}
	return s.Section(), nil
}

// Declarations returns the declarations of tools; see [SDK.Declarations].
func Declarations(languageName string, tools []Tool, o Options) (string, error) {
	o.MaxTokens = 0 // nobody asks for the section
	s, err := New(languageName, tools, o)
	if err != nil {
		return "", err
	}
	return s.Declarations(), nil
}

// Tokens estimates how many tokens a model counts for a text: a quarter of its bytes, which is near the truth for code in English.
func Tokens(text string) int { return (len(text) + 3) / 4 }
