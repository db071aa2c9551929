package main

// This file lets real MCP clients use the gateway: the command line of the MCP inspector, and a client on the official TypeScript SDK.

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	inspectorPackage = "@modelcontextprotocol/inspector"
	inspectorProgram = "testdata/clients/node_modules/" + inspectorPackage + "/clients/launcher/build/index.js"
	driveProgram     = "testdata/clients/drive.mjs"
)

// A program that calls two tools of the fixture, logs and returns a value, and what the gateway says of it.
const (
	sampleProgram = `const [simple, schema] = await Promise.all([
  tools.mcp__fixture__test_simple_text({}),
  tools.mcp__fixture__json_schema_2020_12_tool({ name: "Ada", contactMethod: "email", email: "ada@example.org" }),
]);
console.log("two calls");
return { simple: simple.content[0].text, echoed: JSON.parse(schema.content[0].text).name };`
	sampleStructured = `{"logs": ["two calls"], "result": {"simple": "This is a simple text response for testing.", "echoed": "Ada"}}`
)

// called is what came of a tools/call, as any client reports it.
type called struct {
	IsError           bool
	Content           []struct{ Type, Text string }
	StructuredContent any
	Progress          int
	Error             string
}

func (a called) text() string {
	text := ""
	for _, block := range a.Content {
		text += block.Text
	}
	return text
}

// TestRealInspector does with the inspector's command line what a person would try first.
func TestRealInspector(t *testing.T) {
	t.Parallel()
	needPackages(t, clientPackages, inspectorPackage)
	p := newPlace(t, nodeFolder(t))
	config := fixtureConfig(t)
	runcode, err := exec.LookPath("runcode")
	if err != nil {
		t.Fatal(err)
	}
	url := p.gatewayHTTP(t, "--mcp", config)

	// Each way is a new process of the inspector; over stdio also one of the gateway.
	targets := map[string][]string{
		"stdio": {"--", runcode, "mcp", "--start-wait", "2m", "--mcp", config},
		"HTTP":  {"--server-url", url, "--transport", "http", "--header", "Authorization: Bearer " + token},
	}
	for _, transport := range []string{"stdio", "HTTP"} {
		for _, era := range []string{"legacy", "modern"} {
			inspect := func(t *testing.T, into any, args ...string) (status int) {
				t.Helper()
				args = append([]string{inspectorProgram, "--cli", "--format", "json", "--connect-timeout", "120000", "--protocol-era", era}, args...)
				out, diagnostics, status := p.run(t, "node", append(args, targets[transport]...)...)
				var report struct{ Result json.RawMessage }
				if err := json.Unmarshal([]byte(out), &report); err != nil {
					t.Fatalf("the inspector's answer: %v\n%s%s", err, out, diagnostics)
				}
				if err := json.Unmarshal(report.Result, into); err != nil {
					t.Fatalf("the inspector's answer: %v\n%s", err, out)
				}
				return status
			}
			run := func(t *testing.T, code string) (a called, status int) {
				t.Helper()
				arguments, err := json.Marshal(map[string]string{"code": code, "description": "A program of the inspector"})
				if err != nil {
					t.Fatal(err)
				}
				status = inspect(t, &a, "--method", "tools/call", "--tool-name", "run_code", "--tool-args-json", string(arguments))
				return a, status
			}
			t.Run(fmt.Sprintf("%s, %s protocol", transport, era), func(t *testing.T) {
				t.Run("GATE-1 it lists run_code, with a schema that is no problem for any client", func(t *testing.T) {
					var list struct {
						Tools []struct{ Name, Description string }
					}
					if status := inspect(t, &list, "--method", "tools/list", "--strict"); status != 0 {
						t.Errorf("exit status %d", status)
					}
					if !slices.ContainsFunc(list.Tools, func(tool struct{ Name, Description string }) bool { return tool.Name == "run_code" }) {
						t.Errorf("the tools are %v", list.Tools)
					}
				})
				t.Run("GATE-5 a program's value and logs stand in the structured content", func(t *testing.T) {
					got, status := run(t, sampleProgram)
					if got.IsError || status != 0 {
						t.Errorf("exit status %d: %s", status, got.text())
					}
					same(t, "the structured content", got.StructuredContent, parsed(t, sampleStructured))
				})
				t.Run("GATE-5 a failed program is a result with isError", func(t *testing.T) {
					got, _ := run(t, `await tools.mcp__fixture__test_error_handling({})`)
					if want := "This tool intentionally returns an error for testing"; !got.IsError || !strings.Contains(got.text(), want) {
						t.Errorf("isError %v: %q, expected an error with %q", got.IsError, got.text(), want)
					}
				})
				t.Run("GATE-3 the complete SDK is a resource", func(t *testing.T) {
					var list struct{ Resources []struct{ URI string } }
					inspect(t, &list, "--method", "resources/list")
					if len(list.Resources) == 0 {
						t.Fatal("it lists no resources")
					}
					var read struct {
						Contents []struct{ Text string }
					}
					inspect(t, &read, "--method", "resources/read", "--uri", list.Resources[0].URI)
					if len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, "mcp__fixture__json_schema_2020_12_tool") {
						t.Errorf("%s does not declare the fixture's tools:\n%v", list.Resources[0].URI, read)
					}
				})
			})
		}
	}
	t.Run("GATE-1 without the token there is nothing", func(t *testing.T) {
		out, diagnostics, status := p.run(t, "node", inspectorProgram, "--cli", "--format", "json", "--stored-auth-only", "--method", "tools/list", "--server-url", url, "--transport", "http")
		if status == 0 || strings.Contains(out, "run_code") {
			t.Errorf("exit status %d\n%s%s", status, out, diagnostics)
		}
	})
}

// TestRealTypeScriptClient has a client of the kind that most agents are built on use progress, cancellation and elicitation.
func TestRealTypeScriptClient(t *testing.T) {
	t.Parallel()
	needPackages(t, clientPackages, "@modelcontextprotocol/sdk")
	p := newPlace(t, nodeFolder(t))
	config := fixtureConfig(t)
	runcode, err := exec.LookPath("runcode")
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--mcp", config, "--ask", "*simple_text"}
	url := p.gatewayHTTP(t, flags...)
	targets := map[string]map[string]any{
		"stdio": {"command": append([]string{runcode, "mcp", "--start-wait", "2m"}, flags...)},
		"HTTP":  {"url": url, "token": token},
	}
	call := func(code string) map[string]any {
		return map[string]any{"name": "run_code", "arguments": map[string]string{"code": code, "description": "A program of the TypeScript client"}}
	}
	type question struct {
		Message string
		Schema  json.RawMessage
	}
	drive := func(t *testing.T, transport string, approve any, steps ...map[string]any) ([]called, []question) {
		t.Helper()
		plan := map[string]any{"steps": steps}
		for k, v := range targets[transport] {
			plan[k] = v
		}
		if approve != nil {
			plan["approve"] = approve
		}
		text, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		out := p.must(t, "node", driveProgram, string(text))
		var report struct {
			Steps     []called
			Questions []question
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if len(report.Steps) != len(steps) {
			t.Fatalf("%d steps came back, expected %d\n%s", len(report.Steps), len(steps), out)
		}
		return report.Steps, report.Questions
	}

	for _, transport := range []string{"stdio", "HTTP"} {
		t.Run(transport, func(t *testing.T) {
			t.Run("GATE-4 a call that needs approval is put to the person, and granted", func(t *testing.T) {
				got, questions := drive(t, transport, true, map[string]any{"call": call(sampleProgram)})
				same(t, "the structured content", got[0].StructuredContent, parsed(t, sampleStructured))
				if len(questions) != 1 || !strings.Contains(questions[0].Message, "test_simple_text") || !strings.Contains(string(questions[0].Schema), "approve") {
					t.Errorf("the questions were %v", questions)
				}
			})
			t.Run("GATE-4 a refusal is the program's error", func(t *testing.T) {
				got, questions := drive(t, transport, false, map[string]any{"call": call(sampleProgram)})
				if !got[0].IsError || !strings.Contains(got[0].text(), "test_simple_text") && !strings.Contains(got[0].text(), "ToolCallError") {
					t.Errorf("isError %v: %s", got[0].IsError, got[0].text())
				}
				if len(questions) != 1 {
					t.Errorf("the questions were %v", questions)
				}
			})
			t.Run("GATE-4 a client that cannot ask gets a denial", func(t *testing.T) {
				got, _ := drive(t, transport, nil, map[string]any{"call": call(sampleProgram)})
				if !got[0].IsError {
					t.Errorf("it ran: %s", got[0].text())
				}
			})
			t.Run("GATE-5 progress comes where asked for, and a cancellation ends the run", func(t *testing.T) {
				got, _ := drive(t, transport, nil,
					map[string]any{"call": call(`for (let i = 0; i < 20; i++) await tools.mcp__fixture__test_tool_with_progress({}); return "done";`), "progress": true},
					map[string]any{"call": call(`for (;;) await tools.mcp__fixture__test_tool_with_progress({});`), "progress": true, "cancelAfter": "progress"},
					map[string]any{"call": call(`return "still here";`)},
				)
				if got[0].IsError || got[0].Progress == 0 {
					t.Errorf("the first call: isError %v, %d notifications of progress; %s", got[0].IsError, got[0].Progress, got[0].text())
				}
				if !strings.Contains(got[1].Error, "changed their mind") {
					t.Errorf("the cancelled call: %+v", got[1])
				}
				same(t, "the call after it", got[2].StructuredContent, map[string]any{"logs": []any{}, "result": "still here"})
			})
		})
	}
}
