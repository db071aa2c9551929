package sdkgen

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestLanguages(t *testing.T) {
	t.Run("SDK-3 both renderers ship", func(t *testing.T) {
		if got := Languages(); !slices.Equal(got, []string{"python", "typescript"}) {
			t.Error(got)
		}
		for _, name := range Languages() {
			if s, err := New(name, nil, Options{}); err != nil || s.Section() == "" {
				t.Error(name, err)
			}
		}
	})
	t.Run("SDK-3 CODE-10 another language is unknown, by exact name", func(t *testing.T) {
		for _, name := range []string{"", "toString", "constructor", "TypeScript", "ts", "cobol"} {
			for what, f := range map[string]func() error{
				"New":                    func() error { _, err := New(name, nil, Options{}); return err },
				"Section":                func() error { _, err := Section(name, nil, Options{}); return err },
				"Declarations":           func() error { _, err := Declarations(name, nil, Options{}); return err },
				"RunCodeDescription":     func() error { _, err := RunCodeDescription(name); return err },
				"CodeDescription":        func() error { _, err := CodeDescription(name); return err },
				"DescriptionDescription": func() error { _, err := DescriptionDescription(name); return err },
				"Instructions":           func() error { _, err := Instructions(name); return err },
			} {
				err := f()
				var unknown *UnknownLanguageError
				if !errors.As(err, &unknown) || unknown.Language != name {
					t.Errorf("%s: %v", what, err)
					continue
				}
				same(t, err.Error(), `the runtime language "`+name+`" has no SDK text (known: "python", "typescript")`)
			}
		}
	})
	t.Run("options are checked", func(t *testing.T) {
		for _, o := range []Options{{MaxDescription: -1}, {MaxTokens: -1}} {
			if _, err := New("typescript", nil, o); err == nil || !strings.Contains(err.Error(), "is -1, expected a number of") {
				t.Error(err)
			}
		}
	})
}

func TestDeterminism(t *testing.T) {
	for _, language := range Languages() {
		t.Run("SDK-4 SDK-2 any order, any time: the same bytes in "+language, func(t *testing.T) {
			tools := append(exotic(t), notes(t)...)
			for _, set := range collection(t) {
				tools = append(tools, set[:min(len(set), 8)]...)
			}
			for _, o := range []Options{{}, {MaxDescription: 40}, {MaxTokens: 3000}, {Check: true}} {
				want := section(t, language, o, tools...)
				for range 3 {
					shuffled := slices.Clone(tools)
					rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
					if section(t, language, o, shuffled...) != want {
						t.Errorf("%+v: another order, another text", o)
					}
				}
			}
		})
	}
	t.Run("SDK-4 names are sorted by bytes", func(t *testing.T) {
		text := declare(t, "typescript", Options{}, Tool{Name: "\U00010000"}, Tool{Name: "\uffff"}, Tool{Name: "a"}, Tool{Name: "B"}, Tool{Name: "a_"}, Tool{Name: "a-"})
		var at []int
		for _, name := range []string{"  B:", "  a:", `  "a-":`, "  a_:", "  \"\uffff\":", "  \"\U00010000\":"} {
			at = append(at, strings.Index(text, name))
		}
		if !slices.IsSorted(at) || at[0] < 0 {
			t.Errorf("%v in\n%s", at, text)
		}
	})
	t.Run("a name that comes twice is declared once", func(t *testing.T) {
		one, two := Tool{Name: "a", Description: "one"}, Tool{Name: "a", Description: "two"}
		text := declare(t, "typescript", Options{}, one, two)
		hasNot(t, text, "two")
		same(t, declare(t, "typescript", Options{}, two, one), text)
	})
}

func TestTotality(t *testing.T) {
	t.Run("SDK-6 no schema, name or description fails", func(t *testing.T) {
		var tools []Tool
		for i, text := range []string{`null`, `true`, `1`, `"x"`, `[]`, `{}`, `{"type":[]}`, `{"properties":{"":{"$ref":""}}}`, `{"$ref":"#/%zz"}`, `{"allOf":[[]]}`} {
			v := js(t, text)
			tools = append(tools, Tool{Name: fmt.Sprintf("%d\x00\xff\n", i), Description: "\xff\x00", Parameters: v, Output: v}, Tool{Name: fmt.Sprint("s", i), SDKOutput: v})
		}
		tools = append(tools, Tool{})
		for _, language := range Languages() {
			has(t, section(t, language, Options{}, tools...), "```")
		}
		parsesAsPython(t, declare(t, "python", Options{}, tools...))
	})
	t.Run("SDK-6 generation only reads", func(t *testing.T) {
		tools := exotic(t)
		before := fmt.Sprint(tools)
		section(t, "typescript", Options{}, tools...)
		if fmt.Sprint(tools) != before {
			t.Error("the tools have changed")
		}
	})
	t.Run("SDK-1 every tool has its arguments and its output", func(t *testing.T) {
		text := declare(t, "typescript", Options{}, Tool{Name: "a", Description: "D", Parameters: js(t, `{"type":"object","properties":{"in":{"type":"null"}}}`), Output: js(t, `{"type":"boolean"}`)}, Tool{Name: "b"})
		has(t, text, "  /** D */\n  a: {\n    in?: null;\n", "  a: boolean;\n  b: JsonValue;\n", "  b: Record<string, JsonValue>;\n")
	})
	t.Run("SDK-10 the declarations hold nothing that runs", func(t *testing.T) {
		for line := range strings.Lines(declare(t, "typescript", Options{}, exotic(t)...)) {
			if line != "\n" && !slices.ContainsFunc([]string{"type ", "interface ", "declare ", "  ", "}"}, func(p string) bool { return strings.HasPrefix(line, p) }) {
				t.Errorf("a statement: %s", line)
			}
		}
	})
}

func TestDepth(t *testing.T) {
	nest := func(n int, open, inner, end string) jsonval.Value {
		return js(t, strings.Repeat(open, n)+inner+strings.Repeat(end, n))
	}
	const leaf = `{"type":"string"}`
	for _, c := range []struct {
		name   string
		schema jsonval.Value
		ts, py string // how the text begins
	}{
		{"5,000 unions", nest(5000, `{"oneOf":[{"type":"null"},`, leaf, `]}`), "null | null | ", "None | None | "},
		{"100,000 unions", nest(100_000, `{"oneOf":[`, leaf, `,{"type":"null"}]}`), "string | null | null", "str | None | None"},
		{"20,000 arrays", nest(20_000, `{"type":"array","items":`, leaf, `}`), "string[][][]", "list[list[list["},
		{"20,000 arrays of unions", nest(20_000, `{"type":"array","items":{"oneOf":[{"type":"null"},`, leaf, `]}}`), "(null | (null | (", "list[None | list[None | "},
		{"4,000 objects", nest(4000, `{"type":"object","properties":{"name":`, leaf, `}}`), "{\n  name?: {\n    name?: {", "dict[str, Any]"},
		{"200,000 arrays", nest(200_000, `{"type":"array","items":`, leaf, `}`), "string[][][]", "list[list[list["},
	} {
		t.Run("SDK-7 SDK-26 "+c.name, func(t *testing.T) {
			if text := TypeScriptType(c.schema); !strings.HasPrefix(text, c.ts) || int64(len(text)) > 5*c.schema.Size(-1) {
				t.Errorf("%d bytes: %.100s", len(text), text)
			}
			if text := PythonType(c.schema); !strings.HasPrefix(text, c.py) || int64(len(text)) > 5*c.schema.Size(-1) {
				t.Errorf("%d bytes: %.100s", len(text), text)
			}
		})
	}
	t.Run("SDK-7 PY-20 4,000 objects as classes with bounded names", func(t *testing.T) {
		text := declare(t, "python", Options{}, Tool{Name: "a", Parameters: nest(4000, `{"type":"object","properties":{"name":`, leaf, `}}`)})
		if n := strings.Count(text, "\nclass "); n != 4002 {
			t.Errorf("%d classes", n)
		}
		for line := range strings.Lines(text) {
			if len(line) > 300 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
		parsesAsPython(t, text)
	})
	t.Run("SDK-7 PY-12 100,000 unions in a section", func(t *testing.T) {
		declare(t, "python", Options{}, Tool{Name: "a", Output: nest(100_000, `{"oneOf":[`, leaf, `,{"type":"null"}]}`)})
	})
}

func TestPrompts(t *testing.T) {
	type language struct {
		name    string
		mine    []string // in the instructions
		foreign []string // in none of the texts
		short   []string // in the description of run_code
	}
	for _, l := range []language{
		{
			"typescript",
			[]string{"TypeScript", "`await`", "`return`", "`await tools.name(args)`", "tools[\"some-name\"]", "`Promise.all`", "`console.log`", "Types are stripped", "`message`"},
			[]string{"Python", "python", "asyncio", "`print`", "dict", "NameError", "raises", "enum", "namespace", "Node", "require(", "stub"},
			[]string{"TypeScript", "`console.log`"},
		},
		{
			"python",
			[]string{"Python", "`await`", "`return`", "`await tools.name(args)`", "tools[\"some-name\"]", "`asyncio.gather`", "`print`", "stubs", "`NameError`", "only `tools` and `ToolCallError`", "reserved word", "underscore"},
			[]string{"TypeScript", "typescript", "Promise", "console", "JavaScript", "throws", "types are stripped"},
			[]string{"Python", "`print`"},
		},
	} {
		text := func(f func(string) (string, error)) string {
			s, err := f(l.name)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		instructions, runCode := text(Instructions), text(RunCodeDescription)
		t.Run("PROMPT-1 both parameters, at once, in "+l.name, func(t *testing.T) {
			head, body, _ := strings.Cut(instructions, "\n")
			has(t, head, "## ", "`run_code`")
			first, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
			has(t, first, "BOTH required", "`code`", "`description`", "body of an async function", "one line")
		})
		t.Run("PROMPT-2 PROMPT-3 PROMPT-4 PROMPT-5 PROMPT-6 the terms in "+l.name, func(t *testing.T) {
			has(t, instructions, l.mine...)
			has(t, instructions, "`ToolCallError`", "`toolName`", "Catch it", "only read", "in the order", "Only what you `return`", "Images", "next step", "JSON")
			if !strings.HasSuffix(instructions, "\n\nThese are the declarations:\n\n") {
				t.Error("it does not end by introducing the declarations")
			}
		})
		t.Run("MCP-76 how to get at text in "+l.name, func(t *testing.T) {
			has(t, instructions, map[string]string{"typescript": "`r.content[0].text`", "python": "`r[\"content\"][0][\"text\"]`"}[l.name])
		})
		t.Run("PROMPT-7 CODE-4 run_code in "+l.name, func(t *testing.T) {
			has(t, runCode, l.short...)
			has(t, runCode, "Both arguments are required", "`code`", "`description`", "top-level `await` and `return`", "system prompt", "comes", "mages of sub-results are attached")
		})
		t.Run("PROMPT-8 the parameters in "+l.name, func(t *testing.T) {
			has(t, text(CodeDescription), "body of an async "+l.short[0]+" function")
			has(t, text(DescriptionDescription), "active voice", "5 to 10 words", "user", "`Count open issues per label`")
		})
		t.Run("PROMPT-9 one language in "+l.name, func(t *testing.T) {
			for _, f := range []func(string) (string, error){Instructions, RunCodeDescription, CodeDescription, DescriptionDescription} {
				hasNot(t, text(f), l.foreign...)
			}
			discovery := map[string]string{"typescript": typeScriptTexts.discovery, "python": pythonTexts.discovery}[l.name]
			hasNot(t, discovery, l.foreign...)
		})
		t.Run("PROMPT-11 constant in "+l.name, func(t *testing.T) {
			for _, tools := range [][]Tool{nil, notes(t), exotic(t)} {
				if !strings.HasPrefix(section(t, l.name, Options{}, tools...), instructions+"```") {
					t.Error("the tools change the instructions")
				}
			}
		})
		t.Run("few tokens in "+l.name, func(t *testing.T) {
			if n := Tokens(instructions); n > 520 {
				t.Errorf("the instructions take %d tokens", n)
			}
			if n := Tokens(runCode); n > 130 {
				t.Errorf("the description of run_code takes %d tokens", n)
			}
		})
	}
	t.Run("PROMPT-10 PRESENT-5 the rule of code mode", func(t *testing.T) {
		has(t, CodeOnlyRule, "`run_code` is the only tool that you can call directly", "fails", "from inside of a `run_code` program")
	})
}
