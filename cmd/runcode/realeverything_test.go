package main

// This file runs a program over the server that exercises all of the protocol and the one that keeps thoughts, by the command and by
// the gateway: blocks of every type, structured content, state between calls, errors, and what a server gets to see.

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const everythingConfig = `{"mcpServers": {
	"everything": {"command": "node", "args": ["testdata/servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"]},
	"thinking": {"command": "node", "args": ["testdata/servers/node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js"], "env": {"DISABLE_THOUGHT_LOGGING": "true"}}
}}`

const everythingProgram = `const everything = (name: string, args = {}): Promise<any> => (tools as any)["mcp__everything__" + name](args);
const thoughts = ["look at the blocks", "add the numbers", "try what fails"];
let kept = 0;
for (const [i, thought] of thoughts.entries()) {
  const answer = await tools.mcp__thinking__sequentialthinking({
    thought, thoughtNumber: i + 1, totalThoughts: thoughts.length, nextThoughtNeeded: i + 1 < thoughts.length,
  });
  kept = answer.structuredContent.thoughtHistoryLength;
}

const types = (answer: any) => answer.content.map((block: any) => block.type);
const [links, reference, weather, env, zipped] = await Promise.all([
  everything("get-resource-links", { count: 2 }),
  everything("get-resource-reference", { resourceType: "Text", resourceId: 1 }),
  everything("get-structured-content", { location: "Chicago" }),
  everything("get-env"),
  everything("gzip-file-as-resource", { name: "hello.gz", data: "data:text/plain,hello", outputType: "resource" }),
]);
const numbers = await Promise.all([1, 2, 3, 4].map((n) => everything("get-sum", { a: n, b: n * n })));

const refused: string[] = [];
for (const args of [{}, { a: "one", b: 2 }]) {
  try {
    await everything("get-sum", args);
  } catch (e) {
    if (!(e instanceof ToolCallError)) throw e;
    refused.push(e.toolName);
  }
}
console.log("thoughts kept:", kept);
return {
  kept, refused,
  types: { links: types(links), reference: types(reference), zipped: types(zipped) },
  linked: links.content.filter((block: any) => block.type === "resource_link").map((block: any) => block.uri),
  weather: weather.structuredContent,
  sums: numbers.map((answer) => answer.content[0].text),
  secret: env.content[0].text.includes("of-the-surroundings"),
};`

func TestRealEverything(t *testing.T) {
	t.Parallel()
	node := needServers(t, "@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-sequential-thinking")
	p := newPlace(t, node, "HARBOUR_PASSWORD=secret-of-the-surroundings")
	folder := t.TempDir()
	config, program := filepath.Join(folder, "everything.mcp.json"), filepath.Join(folder, "everything.ts")
	for path, text := range map[string]string{config: everythingConfig, program: everythingProgram} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := outcome{Logs: []string{"thoughts kept: 3"}, Value: parsed(t, `{
		"kept": 3, "refused": ["mcp__everything__get-sum", "mcp__everything__get-sum"],
		"types": {
			"links": ["text", "resource_link", "resource_link"],
			"reference": ["text", "resource", "text"], "zipped": ["resource"]
		},
		"linked": ["demo://resource/dynamic/blob/1", "demo://resource/dynamic/text/2"],
		"weather": {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82},
		"sums": ["The sum of 1 and 1 is 2.", "The sum of 2 and 4 is 6.", "The sum of 3 and 9 is 12.", "The sum of 4 and 16 is 20."],
		"secret": false
	}`)}

	t.Run("the command", func(t *testing.T) {
		got, calls := p.runCommand(t, config, program)
		same(t, "the outcome", got, want)
		if calls["mcp__everything__get-sum"] < 4 || calls["mcp__thinking__sequentialthinking"] != 3 {
			t.Errorf("the calls were %v", calls)
		}
	})
	t.Run("the gateway", func(t *testing.T) {
		session := p.gateway(t, "--mcp", config)
		got, _ := runGateway(t, session, everythingProgram)
		same(t, "the outcome", got, want)

		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		if !slices.Contains(names, "run_code") || slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "everything") }) {
			t.Errorf("GATE-1 mode code lists run_code, and the servers' tools not: the gateway lists %v", names)
		}
	})
	t.Run("GATE-5 a picture that a tool returns to a program is shown to the model, and its data is there for the program", func(t *testing.T) {
		const code = `const answer = await tools["mcp__everything__get-tiny-image"]({});
return answer.content.map((block) => block.type + ":" + (block.data ?? "").slice(0, 5));`
		result := callRunCode(t, p.gateway(t, "--mcp", config), code)
		var text string
		var picture *mcp.ImageContent
		for _, block := range result.Content {
			switch b := block.(type) {
			case *mcp.TextContent:
				text += b.Text
			case *mcp.ImageContent:
				picture = b
			}
		}
		for _, part := range []string{"text:", "image:iVBOR"} {
			if !strings.Contains(text, part) {
				t.Errorf("the program's value has no %q: %s", part, text)
			}
		}
		if picture == nil || picture.MIMEType != "image/png" || !bytes.HasPrefix(picture.Data, []byte("\x89PNG")) {
			t.Errorf("the result has no PNG: %v", result.Content)
		}
	})
}
