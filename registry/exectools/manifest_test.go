//go:build unix

package exectools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// load registers the tools of a manifest's text, which lies in dir.
func load(t *testing.T, dir, text string) *registry.Registry {
	t.Helper()
	m, err := LoadManifest(write(t, dir, text))
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry.New(registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dispose, err := m.Register(reg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dispose)
	return reg
}

func write(t *testing.T, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "tools.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func call(t *testing.T, reg *registry.Registry, name, args string) registry.Result {
	t.Helper()
	return reg.Execute(t.Context(), registry.Call{ID: "1", Name: name, Arguments: json.RawMessage(args)})
}

func wantValue(t *testing.T, r registry.Result, want string) {
	t.Helper()
	if r.IsError() {
		t.Fatalf("failed: %s", r.Failure().Message)
	}
	if got := r.Value().String(); got != want {
		t.Errorf("value %s, want %s", got, want)
	}
}

func wantFailure(t *testing.T, r registry.Result, code string, parts ...string) {
	t.Helper()
	if !r.IsError() {
		t.Fatalf("succeeded with %s", r.Value())
	}
	got := ""
	if info := r.Failure().Info; info != nil {
		got = info.Code
	}
	if got != code {
		t.Errorf("code %q, want %q (%s)", got, code, r.Failure().Message)
	}
	for _, part := range parts {
		if !strings.Contains(r.Failure().Message, part) {
			t.Errorf("message %q has no %q", r.Failure().Message, part)
		}
	}
}

func TestManifestErrors(t *testing.T) {
	const good = `"d": {"description": "d", "result": 1}`
	cases := []struct {
		name, text string
		want       []string // each a problem that must be reported
	}{
		{"not JSON", `{"tools": `, []string{"file: is not JSON"}},
		{"not an object", `[]`, []string{"file: must be an object"}},
		{"no tools", `{}`, []string{"tools: must be an object"}},
		{"unknown top key", `{"tools": {}, "tool": 1}`, []string{"tool: is unknown"}},
		{"unknown key", `{"tools": {"a": {"description": "d", "result": 1, "timeout": 3}}}`, []string{"tools.a.timeout: is unknown"}},
		{"missing description", `{"tools": {"a": {"result": 1}}}`, []string{"tools.a.description: is missing"}},
		{"empty description", `{"tools": {"a": {"description": " ", "result": 1}}}`, []string{"tools.a.description: is empty"}},
		{"no body", `{"tools": {"a": {"description": "d"}}}`, []string{"tools.a: needs exactly one of command, http, result and error, got none"}},
		{"two bodies", `{"tools": {"a": {"description": "d", "result": 1, "error": "x"}}}`, []string{"got result and error"}},
		{"text without command", `{"tools": {"a": {"description": "d", "result": 1, "text": true}}}`, []string{"tools.a.text: goes with command only"}},
		{"env without command", `{"tools": {"a": {"description": "d", "error": "x", "env": {}}}}`, []string{"tools.a.env: goes with command only"}},
		{"delay with command", `{"tools": {"a": {"description": "d", "command": ["x"], "delayMs": 1}}}`, []string{"tools.a.delayMs: goes with result or error only"}},
		{"bad parameters", `{"tools": {"a": {"description": "d", "result": 1, "parameters": {"type": "objekt"}}}}`, []string{`tools.a.parameters: is no JSON Schema: "type": expected one of several forms`}},
		{"parameters not an object", `{"tools": {"a": {"description": "d", "result": 1, "parameters": {"type": "string"}}}}`, []string{"tools.a.parameters: the type must be object, not string"}},
		{"remote reference", `{"tools": {"a": {"description": "d", "result": 1, "parameters": {"$ref": "http://example.invalid/x.json"}}}}`, []string{"tools.a.parameters: refers to http://example.invalid/x.json: only references within the schema"}},
		{"file reference", `{"tools": {"a": {"description": "d", "result": 1, "parameters": {"$ref": "file:///etc/hostname"}}}}`, []string{"tools.a.parameters: refers to file:///etc/hostname"}},
		{"bad pattern", `{"tools": {"a": {"description": "d", "result": 1, "parameters": {"properties": {"x": {"pattern": "("}}}}}}`, []string{"tools.a.parameters:"}},
		{"bad output", `{"tools": {"a": {"description": "d", "result": 1, "output": {"type": "string", "minLength": 1}}}}`, []string{"tools.a.output: unsupported JSON schema"}},
		{"result against output", `{"tools": {"a": {"description": "d", "result": 1, "output": {"type": "string"}}}}`, []string{`tools.a.result: does not match output: "value": expected string`}},
		{"timeout", `{"tools": {"a": {"description": "d", "result": 1, "timeoutMs": 0}}}`, []string{"tools.a.timeoutMs: must be a whole number"}},
		{"concurrencySafe", `{"tools": {"a": {"description": "d", "result": 1, "concurrencySafe": "yes"}}}`, []string{"tools.a.concurrencySafe: must be true or false"}},
		{"reserved", `{"tools": {"run_code": {"description": "d", "result": 1}}}`, []string{"tools.run_code: the name \"run_code\" is reserved"}},
		{"repeated", `{"tools": {` + good + `, ` + good + `}}`, []string{"tools.d: is given twice"}},
		{"policy", `{"tools": {}, "policy": {"deny": "x", "allow": []}}`, []string{"policy.deny: must be a list", "policy.allow: is unknown"}},
		{"error text", `{"tools": {"a": {"description": "d", "error": 3}}}`, []string{"tools.a.error: must be the text"}},
		{"command not a list", `{"tools": {"a": {"description": "d", "command": "ls -l"}}}`, []string{"tools.a.command: must be a list"}},
		{"place in the executable", `{"tools": {"a": {"description": "d", "parameters": {"properties": {"x": {}}}, "command": ["{x}"]}}}`, []string{"tools.a.command[0]: the executable must not depend"}},
		{"unknown place", `{"tools": {"a": {"description": "d", "command": ["x", "-f={file}"]}}}`, []string{"tools.a.command[1]: {file} names no member of parameters.properties"}},
		{"lossy", `{"tools": {"a": {"description": "d", "result": 9007199254740993}}}`, []string{"file: is not lossless JSON"}},
		{"too deep", `{"tools": ` + strings.Repeat("[", 5000) + `}`, []string{"file: nests deeper"}},
		{"several at once", `{"tools": {"a": {"result": 1, "x": 2}, "b": {"description": "d"}}, "z": 1}`,
			[]string{"z: is unknown", "tools.a.x: is unknown", "tools.a.description: is missing", "tools.b: needs exactly one"}},
	}
	for _, c := range cases {
		t.Run("TOOLS-1 "+c.name, func(t *testing.T) {
			path := write(t, t.TempDir(), c.text)
			m, err := LoadManifest(path)
			if m != nil {
				t.Error("a manifest came back beside the error")
			}
			list := (*ManifestError)(nil)
			if !errors.As(err, &list) {
				t.Fatalf("error %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), path+": "+want) && !strings.Contains(err.Error(), want) {
					t.Errorf("error\n%v\nhas no %q", err, want)
				}
			}
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, path+": ") {
					t.Errorf("the line %q does not name the file", line)
				}
			}
		})
	}
	t.Run("TOOLS-1 a file that is not there", func(t *testing.T) {
		if _, err := LoadManifest(filepath.Join(t.TempDir(), "no.json")); err == nil || !strings.Contains(err.Error(), "there is no manifest") {
			t.Errorf("error %v", err)
		}
	})
}

func TestManifest(t *testing.T) {
	reg := load(t, t.TempDir(), `{
		// comments and trailing commas are fine
		"tools": {
			"greet": {
				"description": "Greets.",
				"parameters": {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}, "when": {"type": "string", "format": "date"}}, "required": ["name"]},
				"result": {"hello": [1, 2]},
				"concurrencySafe": true,
				"timeoutMs": 500,
			},
			"bad": {"description": "Fails.", "error": "no luck"},
			"text": {"description": "Says.", "result": "plain"},
		},
		"policy": {"deny": ["b*"], "ask": ["greet"]},
	}`)
	t.Run("TOOLS-2 the definition", func(t *testing.T) {
		d, _ := reg.Get("greet", nil)
		if d.TimeoutMs != 500 || d.ConcurrencySafe == nil || !strings.Contains(d.Parameters.String(), `"minLength":1`) {
			t.Errorf("definition %+v", d)
		}
		if other, _ := reg.Get("bad", nil); other.ConcurrencySafe != nil || other.TimeoutMs != 0 || other.Parameters.String() != `{"type":"object"}` {
			t.Errorf("defaults %+v", other)
		}
	})
	t.Run("TOOLS-5 result and error", func(t *testing.T) {
		wantValue(t, call(t, reg, "greet", `{"name": "x"}`), `{"hello":[1,2]}`)
		wantFailure(t, call(t, reg, "bad", `{}`), "", "no luck")
		if r := call(t, reg, "text", `{}`); r.Text() != "plain" {
			t.Errorf("text %q", r.Text())
		}
	})
	for _, c := range []struct{ name, args, want string }{
		{"missing", `{}`, `"name": required property is missing`},
		{"wrong kind", `{"name": 3}`, `"name": expected string, got 3`},
		{"too short", `{"name": ""}`, `"name": expected at least 1 characters, got ""`},
		{"format is asserted", `{"name": "x", "when": "2024-13-01"}`, `"when": expected the format date, got "2024-13-01"`},
		{"two at once", `{"name": 3, "when": 4}`, `"name": expected string, got 3; "when": expected string, got 4`},
		{"no object", `[]`, `"arguments": expected object, got []`},
	} {
		t.Run("TOOLS-2 arguments: "+c.name, func(t *testing.T) {
			wantFailure(t, call(t, reg, "greet", c.args), registry.CodeInvalidArgs, "arguments do not match the schema: "+c.want)
		})
	}
	t.Run("TOOLS-1 the policy", func(t *testing.T) {
		m, err := LoadManifest(write(t, t.TempDir(), `{"tools": {}, "policy": {"deny": ["b*"], "ask": ["greet"]}}`))
		if err != nil || fmt.Sprint(m.Deny, m.Ask) != "[b*] [greet]" {
			t.Errorf("%v %v %v", m.Deny, m.Ask, err)
		}
	})
	t.Run("TOOLS-1 nothing is registered when one name is taken", func(t *testing.T) {
		m, err := LoadManifest(write(t, t.TempDir(), `{"tools": {"fresh": {"description": "d", "result": 1}, "greet": {"description": "d", "result": 1}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Register(reg); err == nil {
			t.Fatal("no conflict")
		}
		if _, ok := reg.Get("fresh", nil); ok {
			t.Error("the first tool stayed")
		}
	})
}

func TestViolations(t *testing.T) {
	const schema = `{"type": "object", "properties": {
		"list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}}, "additionalProperties": false}, "maxItems": 2, "uniqueItems": true},
		"kind": {"enum": ["a", "b"]}, "exact": {"const": 7}, "code": {"pattern": "^[A-Z]+$", "maxLength": 3},
		"either": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["x"]}]}, "step": {"multipleOf": 5}, "none": false,
		"tree": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "v": {"type": "number"}}}}}`
	reg := load(t, t.TempDir(), `{"tools": {"t": {"description": "d", "result": true, "parameters": `+schema+`}}}`)
	for _, c := range []struct{ args, want string }{
		{`{"list": [{"n": 0}]}`, `"list[0].n": expected at least 1, got 0`},
		{`{"list": [{"n": 10}]}`, `"list[0].n": expected at most 9, got 10`},
		{`{"list": [{"n": 1.5}]}`, `"list[0].n": expected integer, got 1.5`},
		{`{"list": [{"m": 1}]}`, `"list[0].m": undeclared property`},
		{`{"list": [{},{"n":1},{"n":2}]}`, `"list": expected at most 2 items`},
		{`{"list": [{"n":1},{"n":1}]}`, `"list": expected no two equal items, but items 0 and 1 are`},
		{`{"kind": "c"}`, `"kind": expected one of ["a","b"], got "c"`},
		{`{"exact": 8}`, `"exact": expected 7, got 8`},
		{`{"code": "ab"}`, `"code": expected a match of the pattern "^[A-Z]+$", got "ab"`},
		{`{"code": "ABCD"}`, `"code": expected at most 3 characters`},
		{`{"either": 1}`, `"either": expected one of several forms to match ("either": expected string, got 1; or "either": expected object, got 1), got 1`},
		{`{"either": {}}`, `"either.x": required property is missing`},
		{`{"step": 3}`, `"step": expected a multiple of 5, got 3`},
		{`{"none": 1}`, `"none": expected that it is absent, got 1`},
		{`{"tree": {"next": {"next": {"v": "x"}}}}`, `"tree.next.next.v": expected number, got "x"`},
	} {
		t.Run("TOOLS-2 "+c.args, func(t *testing.T) {
			wantFailure(t, call(t, reg, "t", c.args), registry.CodeInvalidArgs, c.want)
		})
	}
	t.Run("JSON-10 deep arguments", func(t *testing.T) {
		deep := func(n int) string {
			return `{"tree": ` + strings.Repeat(`{"next":`, n) + `{}` + strings.Repeat(`}`, n) + `}`
		}
		wantValue(t, call(t, reg, "t", deep(5000)), `true`)
		wantFailure(t, call(t, reg, "t", deep(200_000)), registry.CodeInvalidArgs, "levels of nesting")
	})
}

func TestDelay(t *testing.T) {
	text := `{"tools": {"late": {"description": "d", "result": 1, "delayMs": 60000}, "later": {"description": "d", "error": "x", "delayMs": 1000}}}`
	dir := t.TempDir()
	m, err := LoadManifest(write(t, dir, text))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("TOOLS-2 delayMs waits first and observes cancellation", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testDelay(t, m) }) })
}

func testDelay(t *testing.T, m *Manifest) {
	reg, err := registry.New(registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Register(reg); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	wantValue(t, call(t, reg, "late", `{}`), "1")
	if took := time.Since(start); took != time.Minute {
		t.Errorf("took %v", took)
	}
	wantFailure(t, call(t, reg, "later", `{}`), "", "x")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start = time.Now()
	wantFailure(t, reg.Execute(ctx, registry.Call{ID: "1", Name: "late", Arguments: json.RawMessage(`{}`)}), registry.CodeAborted)
	if took := time.Since(start); took != time.Second {
		t.Errorf("cancelled after %v", took)
	}
}
