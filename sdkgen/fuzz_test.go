package sdkgen

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// FuzzSchema feeds any JSON as every schema of a tool, and any text as its name and description.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A"}},"$defs":{"A":{"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#"}}]}}}`, "na me", "de*/sc\n```")
	f.Add(`{"allOf":[{"type":"object","required":["x"]},{"$ref":"#"},{"properties":{"x":{"type":["string","null"],"enum":["a",null]}},"additionalProperties":false}],"nullable":true}`, "__proto__", "\"\"\"\\")
	f.Add(`{"$ref":"#/$defs/A","$defs":{"A":{"oneOf":[{"$ref":"#/$defs/B"},{"type":"string"}]},"B":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}}}`, "class", "\u202e")
	f.Add(`{"type":"object","additionalProperties":false,"properties":{"content":{"type":"array"},"structuredContent":{"properties":{"`+"```"+`":{"const":"*/"}}}},"required":["content"]}`, "mcp__a__b", "x")
	f.Add(`{"items":[{"enum":[1,"a",[]]},true],"prefixItems":[{"type":"integer","const":1e21}]}`, "", "")
	f.Fuzz(func(t *testing.T, schema, name, about string) {
		v, err := jsonval.ParseString(schema)
		if err != nil || len(schema) > 1<<16 || len(name)+len(about) > 1<<12 {
			return
		}
		tools := []Tool{
			{Name: name, Description: about, Parameters: v, Output: v},
			{Name: name + "2", Description: about, Parameters: v, SDKOutput: v},
			{Name: about, Output: v},
		}
		TypeScriptType(v)
		PythonType(v)
		Project(v)
		for _, o := range []Options{{}, {Check: true}, {MaxDescription: 10}, {MaxTokens: 400}} {
			s, err := New("typescript", tools, o)
			if err != nil {
				t.Fatal(err)
			}
			checkTypeScript(t, s.Declarations())
			checkSize(t, s, schema, name, about)
			if section := s.Section(); strings.Count(section, "```") != 2 || !strings.HasSuffix(section, "\n```\n") {
				t.Errorf("the fence is broken: %s", section)
			}
			for _, m := range s.Index().Search(name+" "+about, 3) {
				checkTypeScript(t, m.Declaration)
			}
			p, err := New("python", tools, o)
			if err != nil {
				t.Fatal(err)
			}
			checkPython(t, p.Declarations())
			checkSize(t, p, schema, name, about)
		}
	})
}

// checkSize fails if the text outgrows what it was made from: merging and naming are bounded by the limit of nodes, the rest is linear.
func checkSize(t *testing.T, s *SDK, schema, name, about string) {
	t.Helper()
	if n := len(s.Section()); n > 20_000+3*maxNodes*(len(schema)+300)/10+100*(len(schema)+len(name)+len(about)) {
		t.Errorf("%d bytes of text from %d bytes of schema", n, len(schema))
	}
}

// checkTypeScript fails if brackets do not balance outside of strings and comments, or something foreign stands outside of them.
func checkTypeScript(t *testing.T, text string) {
	t.Helper()
	var open []byte
	for line := range strings.Lines(text) {
		rest := strings.TrimSpace(line)
		if strings.HasPrefix(rest, "// ") {
			continue
		}
		if strings.HasPrefix(rest, "/** ") {
			if strings.Index(rest, "*/") != len(rest)-2 {
				t.Fatalf("a comment does not end with its line: %q", line)
			}
			continue
		}
		quoted := false
		for i := 0; i < len(rest); i++ {
			c := rest[i]
			switch {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c >= 0x80 || c < ' ':
				t.Fatalf("%#x outside of strings: %q", c, line)
			case c == '{' || c == '(' || c == '[' || c == '<':
				open = append(open, c)
			case c == '>' && i > 0 && rest[i-1] == '=':
			case c == '}' || c == ')' || c == ']' || c == '>':
				if len(open) == 0 || strings.IndexByte("{}()[]<>", open[len(open)-1])+1 != strings.IndexByte("{}()[]<>", c) {
					t.Fatalf("%c closes nothing: %q in\n%s", c, line, text)
				}
				open = open[:len(open)-1]
			}
		}
		if quoted {
			t.Fatalf("a string does not end with its line: %q", line)
		}
	}
	if len(open) > 0 {
		t.Fatalf("%q is left open in\n%s", open, text)
	}
}

// checkPython fails if a line is none of those that the stubs consist of.
func checkPython(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		rest := strings.TrimSpace(line)
		starts := false
		for _, p := range []string{"#", "class ", "from typing import ", "async def ", `"""`, "pass", "tools: Tools", "sdk: Sdk"} {
			starts = starts || strings.HasPrefix(rest, p)
		}
		head, _, isField := strings.Cut(rest, ": ")
		alias, _, isAlias := strings.Cut(rest, " = ")
		if rest != "" && !starts && !(isField && isPythonIdentifier(head)) && !(isAlias && isPythonIdentifier(alias)) {
			t.Fatalf("what is this line? %q", line)
		}
		if strings.HasPrefix(rest, `"""`) && (len(rest) < 6 || strings.Contains(strings.ReplaceAll(strings.ReplaceAll(rest[3:len(rest)-3], `\\`, ""), `\"`, ""), `"`)) {
			t.Fatalf("a docstring is broken: %q", line)
		}
	}
}

// FuzzOneLine compares what a description becomes with what it must be.
func FuzzOneLine(f *testing.F) {
	for _, s := range []string{"", "a  b", "``` *\u200b/ ```", "\x00\u2028\ufeff", "\U000e0041", "a\xffb"} {
		f.Add(s, 0)
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := oneLine(s, limit)
		if strings.Contains(got, "```") || strings.Contains(got, "  ") || got != strings.TrimSpace(got) {
			t.Errorf("%q", got)
		}
		for _, r := range got {
			if isControl(r) || isInvisible(r) || isSpace(r) && r != ' ' {
				t.Errorf("%U in %q", r, got)
			}
		}
		if again := oneLine(got, 0); again != got {
			t.Errorf("not settled: %q, then %q", got, again)
		}
	})
}

// FuzzQuoted checks that a literal means what it was made from, in JSON's own reading.
func FuzzQuoted(f *testing.F) {
	for _, s := range []string{"", "`", "```", "````a```", "\"\\\n", "\u202e\U000e0041\u2028", "\x7f\u0085"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		literal := appendQuoted(nil, s, jsonQuotes)
		v, err := jsonval.Parse(literal)
		if err != nil || v.Str() != strings.ToValidUTF8(v.Str(), "") || v.Str() != string([]rune(s)) {
			t.Errorf("%s: %v", literal, err)
		}
		if strings.Contains(string(literal), "```") {
			t.Errorf("%s can close a fence", literal)
		}
	})
}
