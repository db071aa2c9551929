package sdkgen

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestPythonTypes(t *testing.T) {
	for _, c := range []struct{ rule, schema, want string }{
		{"PY-12 string", `{"type": "string"}`, `str`},
		{"PY-12 number", `{"type": "number"}`, `float`},
		{"PY-12 integer", `{"type": "integer"}`, `int`},
		{"PY-12 boolean", `{"type": "boolean"}`, `bool`},
		{"PY-12 null", `{"type": "null"}`, `None`},
		{"PY-12 null with const", `{"type": "null", "const": null}`, `None`},
		{"PY-12 null with enum", `{"type": "null", "enum": [null]}`, `None`},
		{"PY-12 const wins over enum", `{"type": "string", "const": "a", "enum": ["b", "a"]}`, `Literal["a"]`},
		{"PY-12 enum", `{"type": "string", "enum": ["b", "a"]}`, `Literal["b", "a"]`},
		{"PY-12 array", `{"type": "array"}`, `list[Any]`},
		{"PY-12 array of items", `{"type": "array", "items": {"type": "integer"}}`, `list[int]`},
		{"PY-12 union", `{"oneOf": [{"type": "string"}, {"oneOf": [{"type": "null"}, {"type": "array", "items": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}}]}]}`, `str | None | list[int | bool]`},
		{"PY-12 unconstrained", `{}`, `Any`},
		{"PY-15 no classes without a name", `{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}`, `dict[str, Any]`},
		{"PY-15 nor in unions and lists", `{"oneOf": [{"type": "array", "items": {"type": "object", "additionalProperties": false}}, {"type": "object"}]}`, `list[dict[str, Any]] | dict[str, Any]`},
		{"PY-13 booleans", `{"type": "boolean", "enum": [true, false]}`, `Literal[True, False]`},
		{"PY-13 small numbers", `{"type": "number", "enum": [1e-7, 0.5, 100]}`, `Literal[1e-7, 0.5, 100]`},
		{"PY-13 2^53-1", `{"type": "number", "const": 9007199254740991}`, `Literal[9007199254740991]`},
		{"PY-13 2^60", `{"type": "integer", "const": 1152921504606846976}`, `Literal[1152921504606846976]`},
		{"PY-13 1e21", `{"type": "number", "const": 1e21}`, `Literal[1000000000000000000000]`},
		{"PY-13 -1e21", `{"type": "integer", "const": -1e21}`, `Literal[-1000000000000000000000]`},
		{"PY-13 strings", `{"type": "string", "enum": ["\"", "\u0000", "\n", "\\", "\u2028", "\udb40\udc41", "😀"]}`, `Literal["\"", "\u0000", "\n", "\\", "\u2028", "\U000e0041", "😀"]`},
	} {
		t.Run(c.rule, func(t *testing.T) { same(t, PythonType(js(t, c.schema)), c.want) })
	}
}

func TestPythonBrackets(t *testing.T) {
	nested := func(n int, inner string) string {
		return strings.Repeat(`{"type":"array","items":`, n) + inner + strings.Repeat(`}`, n)
	}
	lists := func(n int, inner string) string { return strings.Repeat("list[", n) + inner + strings.Repeat("]", n) }
	t.Run("PY-14 20,000 lists are 180 around Any", func(t *testing.T) {
		same(t, PythonType(js(t, nested(20_000, `{"type":"string"}`))), lists(180, "Any"))
	})
	t.Run("PY-14 180 lists with a literal inside", func(t *testing.T) {
		same(t, PythonType(js(t, nested(180, `{"type":"string","const":"a"}`))), lists(180, `Literal["a"]`))
	})
	t.Run("PY-14 a union adds nothing", func(t *testing.T) {
		same(t, PythonType(js(t, nested(180, `{"oneOf":[{"type":"null"},{"oneOf":[{"type":"string"},{"type":"integer"}]}]}`))), lists(180, "None | str | int"))
	})
	t.Run("PY-14 179 in a field, 180 in a parameter", func(t *testing.T) {
		tools := []Tool{
			{Name: "field", Parameters: js(t, `{"type":"object","additionalProperties":false,"properties":{"a":`+nested(179, `{"type":"string","const":"a"}`)+`,"b":`+nested(180, `{"type":"string"}`)+`}}`)},
			{Name: "value", Output: js(t, nested(180, `{"type":"string","const":"a"}`))},
		}
		text := declare(t, "python", Options{}, tools...)
		has(t, text, "    a: NotRequired["+lists(179, `Literal["a"]`)+"]\n", "    b: NotRequired["+lists(179, "Any")+"]\n", "-> "+lists(180, `Literal["a"]`)+": ...\n")
		parsesAsPython(t, text)
	})
}

func TestPythonSection(t *testing.T) {
	t.Run("PY-24 PY-1 PY-3 the example", func(t *testing.T) {
		tool := Tool{
			Name: "look_up", Description: "Finds entries.",
			Parameters: js(t, `{"type":"object","additionalProperties":false,"required":["word"],"properties":{"word":{"type":"string","description":"Headword."},"most":{"type":"number"}}}`),
			Output:     js(t, `{"type":"string"}`),
		}
		text := section(t, "python", Options{}, tool)
		instructions, err := Instructions("python")
		if err != nil {
			t.Fatal(err)
		}
		same(t, text, instructions+"```python\n"+`from typing import NotRequired, Protocol, TypedDict

class ToolCallError(Exception):
    toolName: str

class LookUpArgs(TypedDict):
    # Headword.
    word: str
    most: NotRequired[float]

class Tools(Protocol):
    async def look_up(self, args: LookUpArgs) -> str:
        """Finds entries."""

tools: Tools
`+"```\n")
		golden(t, "lookup.py.md", text)
	})
	t.Run("PY-2 PY-5 no tools", func(t *testing.T) {
		text := section(t, "python", Options{})
		has(t, text, "from typing import Protocol\n", "class Tools(Protocol):\n    pass\n\ntools: Tools\n")
		golden(t, "empty.py.md", text)
	})
	t.Run("PY-4 PY-17 PY-21 exotic tools", func(t *testing.T) {
		text := section(t, "python", Options{}, exotic(t)...)
		golden(t, "exotic.py.md", text)
		parsesAsPython(t, declare(t, "python", Options{}, exotic(t)...), declare(t, "python", Options{}), declare(t, "python", Options{}, notes(t)...))
	})
	t.Run("PY-2 the import has exactly what is used", func(t *testing.T) {
		for imported, tool := range map[string]Tool{
			"Any, Protocol":                                  {Name: "a", Output: js(t, `{}`)},
			"Any, Literal, Protocol":                         {Name: "a", Output: js(t, `{"type":"string","const":"a"}`)},
			"Protocol, TypedDict":                            {Name: "a", Parameters: js(t, `{"type":"object","additionalProperties":false}`), Output: js(t, `{"type":"null"}`)},
			"Any, Literal, NotRequired, Protocol, TypedDict": {Name: "a", Parameters: js(t, `{"type":"object","properties":{"a":{"type":"string","enum":["b"]}}}`)},
		} {
			has(t, declare(t, "python", Options{}, tool), "from typing import "+imported+"\n")
		}
	})
	t.Run("PY-4 methods and comments interleave", func(t *testing.T) {
		text := declare(t, "python", Options{}, Tool{Name: "a", Description: "A."}, Tool{Name: "b-c", Description: "B."}, Tool{Name: "d"}, Tool{Name: "e f"})
		has(t, text, "class Tools(Protocol):\n    async def a(self, args: dict[str, Any]) -> Any:\n        \"\"\"A.\"\"\"\n"+
			"    # tools[\"b-c\"](args: dict[str, Any]) -> Any\n    #   B.\n    async def d(self, args: dict[str, Any]) -> Any: ...\n"+
			"    # tools[\"e f\"](args: dict[str, Any]) -> Any\n\ntools: Tools\n")
	})
	t.Run("PY-5 comments are no statements", func(t *testing.T) {
		text := declare(t, "python", Options{}, Tool{Name: "b-c", Description: "B."})
		has(t, text, "class Tools(Protocol):\n    pass\n    # tools[\"b-c\"]")
		parsesAsPython(t, text)
	})
	t.Run("PY-16 classes", func(t *testing.T) {
		text := declare(t, "python", Options{}, Tool{Name: "a", Parameters: js(t, `{"type":"object","required":["x"],"properties":{"x":{"type":"string"},"y":{"type":"object","additionalProperties":false,"description":"Why."}}}`)})
		has(t, text, "class AArgsY(TypedDict):\n    pass\n\nclass AArgs(TypedDict):\n    x: str\n    # Why.\n    y: NotRequired[AArgsY]\n    # More keys are allowed.\n\n")
	})
	t.Run("PY-17 PY-18 order and names", func(t *testing.T) {
		object := func(inner string) string {
			return `{"type":"object","additionalProperties":false,"properties":{` + inner + `}}`
		}
		text := declare(t, "python", Options{}, Tool{
			Name:       "b",
			Parameters: js(t, object(`"one":`+object(`"two_words":`+object(`"x":{}`))+`,"list":{"type":"array","items":`+object(`"x":{}`)+`},"either":{"oneOf":[{"type":"null"},`+object(`"x":{}`)+`,{"oneOf":[`+object(`"x":{}`)+`,{"type":"string"}]}]}`)),
			Output:     js(t, object(`"x":{}`)),
		}, Tool{Name: "a", Parameters: js(t, object(`"x":{}`))})
		var order []string
		for line := range strings.Lines(text) {
			if name, ok := strings.CutPrefix(line, "class "); ok {
				order = append(order, name[:strings.IndexByte(name, '(')])
			}
		}
		same(t, strings.Join(order, " "), "ToolCallError AArgs BArgsOneTwoWords BArgsOne BArgsList BArgsEither2 BArgsEither31 BArgs BOutput Tools")
	})
	t.Run("PY-21 collisions", func(t *testing.T) {
		closed := `{"type":"object","additionalProperties":false}`
		text := declare(t, "python", Options{}, Tool{Name: "a", Parameters: js(t, `{"type":"object","additionalProperties":false,"properties":{"phase":`+closed+`,"phase2":`+closed+`,"Phase":`+closed+`}}`)})
		has(t, text, "    phase: NotRequired[AArgsPhase]\n    phase2: NotRequired[AArgsPhase2]\n    Phase: NotRequired[AArgsPhase3]\n")
	})
	t.Run("PY-11 one unusable field makes a dict of that object alone", func(t *testing.T) {
		text := declare(t, "python", Options{}, Tool{Name: "a", Parameters: js(t, `{"type":"object","properties":{"good":{"type":"object","properties":{"x":{}}},"bad":{"type":"object","properties":{"in":{},"x":{"type":"object","properties":{"y":{}}}}}}}`)})
		has(t, text, "    good: NotRequired[AArgsGood]\n    bad: NotRequired[dict[str, Any]]\n")
		hasNot(t, text, "AArgsBadX")
	})
}

func TestPythonNames(t *testing.T) {
	for name, usable := range map[string][2]bool{ // as a method, as a field
		"ok": {true, true}, "路径": {true, true}, "ﬁeld": {false, false}, "": {false, false}, "1a": {false, false}, "a-b": {false, false}, "a b": {false, false},
		"class": {false, false}, "None": {false, false}, "__debug__": {false, false}, "match": {true, true}, "case": {true, true}, "type": {true, true},
		"_": {false, true}, "_x": {false, true}, "__x": {false, false}, "__x__": {false, true}, "__meta__": {false, true}, "__": {false, true},
		"\u0301a": {false, false}, "a\u0301": {false, false}, "é": {true, true}, "\u0e33": {false, false}, "a·": {true, true}, "𝔘": {false, false}, "a\ufe0f": {false, false}, "a\u3164": {false, false}, "\U00020000": {true, true},
	} {
		t.Run(fmt.Sprintf("PY-7 PY-8 PY-9 PY-10 %+q", name), func(t *testing.T) {
			if got := [2]bool{isPythonMethod(name), isPythonField(name)}; got != usable {
				t.Errorf("method, field: got %v, want %v", got, usable)
			}
		})
	}
	t.Run("PY-7 the tables agree with Python's", func(t *testing.T) {
		// Only characters that this Python knows can be compared.
		start, following := []rune{}, []rune{}
		for r := rune(0x80); r <= 0x3FFFF; r++ {
			if isXIDStart(r) {
				start = append(start, r)
			}
			if isXIDContinue(r) {
				following = append(following, r)
			}
		}
		input, err := json.Marshal([][]rune{start, following})
		if err != nil {
			t.Fatal(err)
		}
		runsAsPython(t, `
import json, sys, unicodedata
start, following = map(set, json.load(sys.stdin))
late = {0x30fb, 0xff65, 0x200c, 0x200d} # joined XID_Continue in Unicode 15.1
for r in range(0x80, 0x40000):
    c = chr(r)
    if unicodedata.category(c) in ("Cn", "Cs") or r in late: continue
    if c.isidentifier() != (r in start) or ("a" + c).isidentifier() != (r in following): print(hex(r))
`, string(input))
	})
	for in, want := range map[string]string{
		"1st-tool": "Tool1stTool", "my-tool": "MyTool", "my.tool": "MyTool", "搜索": "搜索", "a__b": "AB", "ﬁnd": "FInd", "ßa": "SSa", "\u0301x": "Too\u013ax",
		"---": "Tool", "": "Tool", "_x": "X", "𐐨a": "𐐨a", "httpServer": "HttpServer", "a\u1100 \u1161b": "A가b", "x\u200by": "XY",
	} {
		t.Run(fmt.Sprintf("PY-19 %+q", in), func(t *testing.T) { same(t, fmt.Sprintf("%+q", camel(in)), fmt.Sprintf("%+q", want)) })
	}
	t.Run("PY-20 jamo compose across a seam", func(t *testing.T) { same(t, className("A\u1100", "\u1161B"), "A가B") })
	t.Run("PY-20 at most 120 units, no half of a pair", func(t *testing.T) {
		same(t, className(strings.Repeat("a", 119), "bc"), strings.Repeat("a", 119)+"b")
		same(t, className(strings.Repeat("a", 119), "𐐨"), strings.Repeat("a", 119))
		same(t, className(strings.Repeat("搜", 100), "x"), strings.Repeat("搜", 100)+"x")
	})
	t.Run("PY-18 PY-20 a long name and an astral one", func(t *testing.T) {
		closed := js(t, `{"type":"object","additionalProperties":false}`)
		text := declare(t, "python", Options{}, Tool{Name: strings.Repeat("a", 200), Parameters: closed, Output: closed}, Tool{Name: "𐐨𐐨", Parameters: closed})
		has(t, text, "class A"+strings.Repeat("a", 119)+"(TypedDict)", "class A"+strings.Repeat("a", 119)+"2(TypedDict)", "class 𐐨𐐨Args(TypedDict)")
		parsesAsPython(t, text)
	})
	t.Run("PY-6 PY-10 fields of every kind parse", func(t *testing.T) {
		var texts []string
		for _, name := range []string{"class", "_x", "__x", "__debug__", "match", "键", "ﬁ", "\u0301", "a\u0000b", "𐐨", "x'\"\\", "\U000e0041", "a\u2028b"} {
			texts = append(texts, declare(t, "python", Options{}, Tool{Name: name, Description: name, Parameters: js(t, `{"type":"object"}`).With("properties", js(t, `{}`).With(name, js(t, `{"type":"string"}`)))}))
		}
		parsesAsPython(t, texts...)
	})
}
