package registry_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

var update = flag.Bool("update", false, "write the golden files")

func TestWire(t *testing.T) {
	tools := []registry.Schema{
		{Name: "read_file", Description: "Reads <a> file & more", Parameters: parse(t, `{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`)},
		{Name: "now", Description: "", Parameters: parse(t, `{"$schema":"x","type":"object","properties":{},"anyOf":[{}]}`)},
	}
	adapters := map[string]func([]registry.Schema) (jsonval.Value, error){
		"anthropic": registry.AnthropicTools, "openai-chat": registry.OpenAIChatTools,
		"openai-responses": registry.OpenAIResponsesTools, "mcp": registry.MCPTools,
	}
	for name, adapt := range adapters {
		t.Run(name, func(t *testing.T) {
			v, err := adapt(tools)
			if err != nil {
				t.Fatal(err)
			}
			got := string(v.AppendIndentJSON(nil, "  ", -1)) + "\n"
			file := filepath.Join("testdata", "wire", name+".json")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if empty, err := adapt(nil); err != nil || empty.String() != "[]" {
				t.Errorf("no tools give %s %v", empty, err)
			}
			_, err = adapt([]registry.Schema{{Name: "x"}})
			wantError(t, err, `tool "x" has no parameters`)
		})
	}
	t.Run("a name that the API would refuse is an error that says so", func(t *testing.T) {
		long := strings.Repeat("n", 65)
		for _, name := range []string{"", "a.b", "a b", "é", long} {
			bad := []registry.Schema{{Name: name, Parameters: anyObject}}
			_, err := registry.OpenAIChatTools(bad)
			wantError(t, err, "names are 1 to 64 of A-Z, a-z, 0-9, _ and -")
			if _, err := registry.AnthropicTools(bad); (err == nil) != (name == long) {
				t.Errorf("%q: %v", name, err)
			}
			if _, err := registry.MCPTools(bad); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestRealTools registers what real servers list, as raw tools, and presents it natively: names, descriptions and schemas
// arrive as they were sent.
func TestRealTools(t *testing.T) {
	folder := filepath.Join("..", "..", "shared", "data", "toolslists")
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("the folder with the tool lists of real servers is not here")
	}
	total := 0
	for _, file := range files {
		t.Run("TOOL-4 PRESENT-3 "+filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			document, err := jsonval.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			listed, _ := document.Get("tools")
			r := newRegistry(t)
			want := map[string]string{}
			for _, item := range listed.Items() {
				name, _ := item.Get("name")
				description, _ := item.Get("description")
				parameters, _ := item.Get("inputSchema")
				d := tool(name.Str(), nil)
				d.Description, d.Parameters = description.Str(), parameters
				register(t, r, d)
				want[name.Str()] = description.Str() + parameters.String()
			}
			p := must(r.Present(nil))
			if len(p.Tools) != len(want) || !slices.IsSortedFunc(p.Tools, func(a, b registry.Schema) int { return strings.Compare(a.Name, b.Name) }) {
				t.Errorf("%d tools presented of %d, or not sorted", len(p.Tools), len(want))
			}
			for _, s := range p.Tools {
				if s.Description+s.Parameters.String() != want[s.Name] {
					t.Errorf("%s was changed", s.Name)
				}
			}
			total += len(p.Tools)
			if _, err := registry.MCPTools(p.Tools); err != nil {
				t.Error(err)
			}
		})
	}
	if len(files) == 17 && total < 500 {
		t.Errorf("%d tools in 17 lists", total)
	}
}
