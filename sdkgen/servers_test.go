package sdkgen

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// realServers returns the tools that real MCP servers listed, by the name of the server; it skips where the collection is not there.
func realServers(t testing.TB) map[string][]Tool {
	t.Helper()
	servers := collection(t)
	if len(servers) == 0 {
		t.Skipf("the lists of real servers' tools are not there (%s)", collectionFolder)
	}
	return servers
}

const collectionFolder = "../../shared/data/toolslists"

// collection is realServers for a test that has something else to do besides.
func collection(t testing.TB) map[string][]Tool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(collectionFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string][]Tool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		document := js(t, string(text))
		list, _ := document.Get("tools")
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		for _, item := range list.Items() {
			servers[name] = append(servers[name], mcpTool(t, item))
		}
	}
	return servers
}

// mcpTool is the tool of an item of tools/list, as the MCP bridge registers it (MCP-21, MCP-26).
func mcpTool(t testing.TB, item jsonval.Value) Tool {
	t.Helper()
	name, _ := item.Get("name")
	about, _ := item.Get("description")
	parameters, _ := item.Get("inputSchema")
	tool := Tool{Name: name.Str(), Description: about.Str(), Parameters: parameters, Output: js(t, mcpOutput)}
	if advertised, ok := item.Get("outputSchema"); ok {
		properties, _ := tool.Output.Get("properties")
		tool.SDKOutput = tool.Output.With("properties", properties.With("structuredContent", advertised))
		if inSubset(advertised) {
			tool.SDKOutput = tool.SDKOutput.With("required", js(t, `["content", "structuredContent"]`))
		}
	}
	return tool
}

// mcpOutput is the schema of MCP-26 for a tool that advertises none.
const mcpOutput = `{"type": "object", "properties": {"content": {"type": "array"}, "structuredContent": {}}, "required": ["content"], "additionalProperties": false}`

// native is the JSON that native calling would show for a tool, and the same with its output schema.
func native(tool Tool) (parameters, withOutput int) {
	n := len(jsonval.MustOf(tool.Name).String()) + len(jsonval.MustOf(tool.Description).String()) + len(tool.Parameters.String()) +
		len(`{"name":,"description":,"parameters":}`)
	if !tool.SDKOutput.Exists() {
		return n, n
	}
	structured, _, _ := resultSchema(tool.SDKOutput)
	return n, n + len(`,"outputSchema":`) + len(structured.String())
}

const (
	shortDescriptions = 400 // characters, for the table's second ratio
	maxPercent        = 45  // of the native schemas, over all servers, with short descriptions
)

// TestRealServers keeps the table of what the text of real servers takes and loses.
func TestRealServers(t *testing.T) {
	servers := realServers(t)
	var b strings.Builder
	fmt.Fprintf(&b, "# What real servers' tools take and lose\n\n"+
		"Written by `go test ./sdkgen -run TestRealServers -update` where the lists are there. Bytes of the declarations in TypeScript,\n"+
		"without the instructions (%d bytes, the same for any set), against the same tools as compact JSON: name, description, input schema and\n"+
		"advertised output schema. The second ratio is with descriptions cut after %d characters. What is lost are places that became\n"+
		"`JsonValue`, in arguments and in advertised outputs; that a schema states no type is not the projection's doing.\n\n"+
		"| server | tools | native | SDK | ratio | cut | arguments lost | outputs lost |\n|---|--:|--:|--:|--:|--:|---|---|\n",
		len(typeScriptTexts.instructions), shortDescriptions)
	var sum struct{ tools, inputs, native, whole, short int }
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		tools := servers[name]
		all := 0
		args, outputs := map[string]int{}, map[string]int{}
		p := newPool()
		for _, tool := range tools {
			inputs, withOutput := native(tool)
			all += withOutput
			sum.inputs += inputs
			_, lost := projectArguments(p, tool)
			count(args, lost)
			_, lost = projectOutput(p, tool)
			count(outputs, lost)
		}
		whole := len(declare(t, "typescript", Options{}, tools...))
		short := len(declare(t, "typescript", Options{MaxDescription: shortDescriptions}, tools...))
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d %% | %d %% | %s | %s |\n", name, len(tools), all, whole, 100*whole/all, 100*short/all, reasons(args), reasons(outputs))
		sum.tools += len(tools)
		sum.native += all
		sum.whole += whole
		sum.short += short
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d %% | %d %% | | |\n\nAgainst the input schemas alone (%d bytes), which is what native calling shows a model, the two ratios over all servers are %d %% and %d %%.\n",
		sum.tools, sum.native, sum.whole, 100*sum.whole/sum.native, 100*sum.short/sum.native, sum.inputs, 100*sum.whole/sum.inputs, 100*sum.short/sum.inputs)
	golden(t, "real-servers.md", b.String())
	if percent := 100 * sum.short / sum.native; percent > maxPercent {
		t.Errorf("the declarations take %d %% of the native schemas, more than %d %%", percent, maxPercent)
	}
}

func count(into map[string]int, lost []Loss) {
	for _, l := range lost {
		into[l.Reason]++
	}
}

// reasons lists how often what happened, the most frequent first.
func reasons(counts map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for i, key := range keys {
		keys[i] = fmt.Sprintf("%d %s", counts[key], key)
	}
	return strings.Join(keys, ", ")
}

// TestRealServersCompile has the compiler read the declarations of all servers.
func TestRealServersCompile(t *testing.T) {
	files := map[string]string{}
	for name, tools := range realServers(t) {
		files[name+".ts"] = declare(t, "typescript", Options{}, tools...) + "export {};\n"
		files[name+"-check.ts"] = declare(t, "typescript", Options{Check: true}, tools...) + "export {};\n"
	}
	t.Run("SDK-13 MCP-41 all declarations type-check", func(t *testing.T) {
		if out := typeCheck(t, []string{"--strict"}, files); out != "" {
			t.Errorf("%.3000s", out)
		}
	})
}

func TestRealServersParseAsPython(t *testing.T) {
	var texts []string
	for _, tools := range realServers(t) {
		texts = append(texts, declare(t, "python", Options{}, tools...))
	}
	t.Run("PY-6 all stubs parse", func(t *testing.T) { parsesAsPython(t, texts...) })
}

func BenchmarkNew(b *testing.B) {
	all := realServers(b)["azure"]
	for _, n := range []int{len(all) / 4, len(all) / 2, len(all)} {
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New("typescript", all[:n], Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	s, err := New("typescript", realServers(b)["azure"], Options{})
	if err != nil {
		b.Fatal(err)
	}
	x := s.Index()
	b.ReportAllocs()
	for b.Loop() {
		x.Search("list storage accounts of a subscription", 5)
	}
}
