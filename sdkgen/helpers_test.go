package sdkgen

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

var update = flag.Bool("update", false, "write the golden files anew")

// js parses JSON text that a test wrote.
func js(t testing.TB, text string) jsonval.Value {
	t.Helper()
	v, err := jsonval.ParseString(text)
	if err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

// declare is the declarations of tools, which must not fail.
func declare(t testing.TB, language string, o Options, tools ...Tool) string {
	t.Helper()
	text, err := Declarations(language, tools, o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func section(t testing.TB, language string, o Options, tools ...Tool) string {
	t.Helper()
	text, err := Section(language, tools, o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// same fails with both texts if they differ.
func same(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// has fails for each part that is not in text.
func has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// hasNot fails for each part that is in text.
func hasNot(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("there is %q in\n%s", part, text)
		}
	}
}

// golden compares text with a file of testdata.
func golden(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	same(t, text, string(want))
}

// parsesAsPython fails for each text that Python's own parser refuses (PY-6).
func parsesAsPython(t *testing.T, texts ...string) {
	t.Helper()
	list, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	runsAsPython(t, `
import ast, json, sys
for i, text in enumerate(json.load(sys.stdin)):
    try:
        ast.parse(text)
    except Exception as e:
        print(i, repr(e))
`, string(list))
}

// runsAsPython fails if a program fails or prints anything; it skips the test without Python.
func runsAsPython(t *testing.T, program, input string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	cmd := exec.Command(python, "-c", program)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("python3: %v\n%.2000s", err, out)
	}
}

// compiler returns a TypeScript compiler, or skips the test.
func compiler(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("RUNCODE_TSC"); path != "" {
		return path
	}
	installed, err := filepath.Abs("../testdata/servers/node_modules/.bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{installed, "tsc"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const what = "no TypeScript compiler: npm ci --prefix testdata/servers, set RUNCODE_TSC, or put tsc on the PATH (npm package typescript)"
	if _, err := exec.LookPath("npm"); err == nil && os.Getenv("CI") == "true" { // which installs it
		t.Fatal(what)
	}
	t.Skip(what)
	return ""
}

// typeCheck runs the compiler over programs, each in front of the declarations it is checked against, and returns what it says.
func typeCheck(t *testing.T, options []string, files map[string]string) string {
	t.Helper()
	tsc := compiler(t)
	dir := t.TempDir()
	args := append([]string{"--noEmit", "--lib", "esnext", "--target", "esnext", "--module", "esnext", "--moduleDetection", "force", "--types", ""}, options...)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	cmd := exec.Command(tsc, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}

// exotic is a set of tools with everything that is unusual.
func exotic(t testing.TB) []Tool {
	return []Tool{
		{
			Name: "my-mcp.tool", Description: "Does */ what\n\n```it``` \"likes\"\\",
			Parameters: js(t, `{"type": "object", "properties": {
				"plain": {"type": "string", "description": "A line\u2028and */ another"},
				"two words": {"type": "integer", "description": "   "},
				"mode": {"type": "string", "enum": ["fast", "slow \"ish\"", "`+"```"+`"]},
				"fixed": {"type": "number", "const": 1.5},
				"flag": {"type": "boolean", "enum": [true]},
				"nothing": {"type": "null"},
				"either": {"oneOf": [{"type": "string"}, {"oneOf": [{"type": "integer"}, {"type": "null"}]}]},
				"many": {"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "null"}]}},
				"picks": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
				"bags": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}},
				"boxes": {"type": "array", "items": {"type": "object", "properties": {"n": {"oneOf": [{"type": "number"}, {"type": "null"}]}}, "additionalProperties": false}},
				"any": {},
				"list": {"type": "array"},
				"open": {"type": "object"},
				"empty": {"type": "object", "additionalProperties": false},
				"one": {"type": "object", "required": ["two"], "additionalProperties": false, "properties": {
					"two": {"type": "object", "additionalProperties": false, "properties": {
						"three": {"type": "object", "additionalProperties": false, "properties": {"deep": {"type": "boolean", "description": "Deep"}}}}}}},
				"__proto__": {"type": "string"},
				"constructor": {"type": "string"}
			}, "required": ["plain", "mode", "__proto__"], "additionalProperties": false}`),
			Output: js(t, `{"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}}`),
		},
		{Name: "__proto__", Description: "Looks like a prototype.", Parameters: js(t, `{"type": "object", "properties": {}}`), Output: js(t, `{"type": "null"}`)},
		{Name: "class", Description: "A reserved word.", Parameters: js(t, `{"type": "object", "properties": {"class": {"type": "string"}}}`), Output: js(t, `{"type": "boolean"}`)},
		{Name: "a b", Parameters: js(t, `{"type": "object"}`), Output: js(t, `{"oneOf": [{"type": "object", "properties": {"ok": {"type": "boolean", "const": true}}}, {"type": "string"}]}`)},
		{Name: "路径", Description: "Not ASCII.", Parameters: js(t, `{"type": "object", "properties": {"键": {"type": "string"}}}`), Output: js(t, `{}`)},
	}
}

// notes are the tools of the example of SDK-15.
func notes(t testing.TB) []Tool {
	return []Tool{
		{
			Name: "ping", Description: "Answers.",
			Parameters: js(t, `{"type": "object", "properties": {}}`), Output: js(t, `{"type": "string"}`),
		},
		{
			Name: "add-note", Description: "Stores a note.",
			Parameters: js(t, `{"type": "object", "properties": {"text": {"type": "string", "description": "Body"}, "rank": {"type": "integer"}}, "required": ["text"]}`),
			Output:     js(t, `{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": false}`),
		},
	}
}

func text(t testing.TB, s string) jsonval.Value {
	t.Helper()
	v, err := jsonval.String(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func list(items ...jsonval.Value) jsonval.Value { return jsonval.Array(items...) }
