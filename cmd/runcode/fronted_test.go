//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry/mcptools"
)

// listsFolder has what real servers listed, one file each. It is no part of the project.
const listsFolder = "../../../shared/data/toolslists"

// realTool is one tool as its server listed it.
type realTool struct {
	server      string
	Name        string
	Description string
	InputSchema json.RawMessage
}

// fronted is a drill whose servers replay all the lists.
type fronted struct {
	*drill
	tools map[string]realTool // by public name
	files int
}

// frontAll configures the replay of all lists, or skips where they are not there.
func frontAll(t testing.TB, cache string) *fronted {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(listsFolder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skipf("the lists of real servers' tools are not there (%s)", listsFolder)
	}
	f := &fronted{drill: newDrill(t, cache), tools: map[string]realTool{}, files: len(paths)}
	entries := map[string]any{}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		server := strings.TrimSuffix(filepath.Base(path), ".json")
		entries[server] = map[string]any{"command": "replayserver", "args": []string{path, f.path("listed-" + server)}}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Tools []realTool }
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, tool := range file.Tools {
			tool.server = server
			f.tools[mcptools.PublicName(server, tool.Name)] = tool
		}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		t.Fatal(err)
	}
	f.write("servers.json", string(text))
	return f
}

// lastListed is when the last server had answered with its list.
func (f *fronted) lastListed() time.Time {
	f.t.Helper()
	var last time.Time
	paths, err := filepath.Glob(f.path("listed-*"))
	if err != nil || len(paths) != f.files {
		f.t.Fatalf("%d of %d servers have listed their tools", len(paths), f.files)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			f.t.Fatal(err)
		}
		if info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

const frontedWait = "--start-wait=2m" // a loaded machine takes its time to start so many processes

func TestFronted(t *testing.T) {
	t.Parallel()
	f := frontAll(t, t.TempDir())
	began := time.Now()
	c := f.connect(frontedWait)
	names, size := c.tools()
	ready := time.Now()
	t.Logf("%d servers with %d tools: the list has %d bytes; it was there %v after the last server had answered, %v after the start",
		f.files, len(f.tools), size, ready.Sub(f.lastListed()).Round(time.Millisecond), ready.Sub(began).Round(time.Millisecond))
	t.Run("GATE-3 the list takes under 100 KB", func(t *testing.T) {
		if !slices.Equal(names, []string{"run_code", "search_tools"}) || size >= 100_000 {
			t.Errorf("%q in %d bytes", names, size)
		}
	})
	t.Run("GATE-1 ready soon after the servers have answered", func(t *testing.T) {
		if took := ready.Sub(f.lastListed()); took > 20*time.Second { // measured by the benchmark
			t.Errorf("it took %v", took)
		}
	})
	t.Run("CODE-12 a program has all tools and calls some of several servers", func(t *testing.T) {
		got := c.run(`
const said = async (p) => JSON.parse((await p).content[0].text)
const calls = await Promise.all([
  said(tools.mcp__git__git_clone({ url: "https://example.org/x", localPath: "/x" })),
  said(tools.mcp__filesystem__list_allowed_directories({})),
  said(tools["mcp__context7__resolve-library-id"]({ query: "q", libraryName: "zod" })),
]).catch(e => [e.message])
return [Object.keys(tools).length, ...calls]`)
		want := fmt.Sprintf(`[%d,{"name":"git_clone","arguments":{"url":"https://example.org/x","localPath":"/x"}},`+
			`{"name":"list_allowed_directories","arguments":{}},{"name":"resolve-library-id","arguments":{"query":"q","libraryName":"zod"}}]`, len(f.tools))
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("GATE-3 search_tools and sdk.search find the same", func(t *testing.T) {
		for query, want := range map[string]string{
			"take a screenshot of the page":     "mcp__playwright__browser_take_screenshot",
			"commit staged changes":             "mcp__git__git_commit",
			"which pods are failing":            "mcp__kubernetes__pods_list",
			"create a GitHub pull request":      "mcp__github-legacy__create_pull_request",
			"run a SQL query":                   "mcp__dbhub__execute_sql",
			"read several files at once":        "mcp__filesystem__read_multiple_files",
			"scale a deployment":                "mcp__kubernetes__resources_scale",
			"scrape a web page as markdown":     "mcp__firecrawl__firecrawl_scrape",
			"insert documents into MongoDB":     "mcp__mongodb__insert-many",
			"read a secret from the key vault":  "mcp__azure__keyvault_secret_get",
			"send an email":                     "mcp__azure__communication_email_send",
			"kill a process":                    "mcp__desktop-commander__kill_process",
			"check my code for lint errors":     "mcp__eslint__lint-files",
			"download images from a design":     "mcp__figma__download_figma_images",
			"look up a library's documentation": "mcp__context7__query-docs",
			"think step by step":                "mcp__sequential-thinking__sequentialthinking",
			"add two numbers":                   "mcp__everything__get-sum",
			"search the remembered entities":    "mcp__memory__search_nodes",
			"press the enter key":               "mcp__chrome-devtools__press_key",
			"who last changed each line":        "mcp__git__git_blame",
		} {
			var found struct {
				Tools []struct{ Name, Declaration string }
			}
			r := c.call("search_tools", map[string]any{"query": query, "limit": 5})
			if err := json.Unmarshal(r.StructuredContent, &found); err != nil || r.IsError {
				t.Fatalf("%s: %v %s", query, err, r.text())
			}
			var names []string
			for _, tool := range found.Tools {
				names = append(names, tool.Name)
				if !strings.Contains(r.text(), tool.Declaration) || !strings.Contains(tool.Declaration, tool.Name) {
					t.Errorf("%s: the text lacks the declaration of %s", query, tool.Name)
				}
			}
			if !slices.Contains(names, want) || len(names) != 5 {
				t.Errorf("%s: found %q, not %s", query, names, want)
			}
			list, err := json.Marshal(names)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.run(fmt.Sprintf("return (await sdk.search({ query: %q, limit: 5 })).map(m => m.name)", query)); got != string(list) {
				t.Errorf("%s: programs find %s, clients %s", query, got, list)
			}
		}
	})
	t.Run("GATE-3 the whole SDK is a resource", func(t *testing.T) {
		var list struct{ Resources []struct{ URI string } }
		if err := json.Unmarshal(c.request("resources/list", map[string]any{}), &list); err != nil || len(list.Resources) == 0 {
			t.Fatalf("resources %+v, %v", list, err)
		}
		var whole struct{ Contents []struct{ Text string } }
		if err := json.Unmarshal(c.request("resources/read", map[string]any{"uri": list.Resources[0].URI}), &whole); err != nil || len(whole.Contents) != 1 {
			t.Fatalf("%v", err)
		}
		for name := range f.tools {
			if !strings.Contains(whole.Contents[0].Text, name) {
				t.Errorf("no %s", name)
			}
		}
	})
}

// wireTool is a tool on the gateway's wire, every member of it.
type wireTool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	other       []string
}

func (c *drillClient) wireTools() []wireTool {
	c.t.Helper()
	var list struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(c.request("tools/list", map[string]any{}), &list); err != nil {
		c.t.Fatal(err)
	}
	var all []wireTool
	for _, raw := range list.Tools {
		var tool wireTool
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &tool) != nil || json.Unmarshal(raw, &members) != nil {
			c.t.Fatalf("no tool: %s", raw)
		}
		for name := range members {
			if !slices.Contains([]string{"name", "description", "inputSchema"}, name) {
				tool.other = append(tool.other, name)
			}
		}
		all = append(all, tool)
	}
	return all
}

func TestFrontedNative(t *testing.T) {
	t.Parallel()
	f := frontAll(t, t.TempDir())
	cache := f.cache
	t.Run("GATE-1 MCP-21 the tools are those of the servers, to the byte of their schemas", func(t *testing.T) {
		c := f.connect(frontedWait, "--mode", "native")
		seen := map[string]bool{}
		for _, got := range c.wireTools() {
			want, ok := f.tools[got.Name]
			if !ok {
				t.Errorf("no server has %s", got.Name)
				continue
			}
			seen[got.Name] = true
			var schema bytes.Buffer
			if err := json.Compact(&schema, want.InputSchema); err != nil {
				t.Fatal(err)
			}
			if got.Description != want.Description || !bytes.Equal(got.InputSchema, schema.Bytes()) || len(got.other) > 0 {
				t.Errorf("%s differs, or has %q:\n%.300s\n%.300s", got.Name, got.other, got.InputSchema, schema.Bytes())
			}
		}
		if len(seen) != len(f.tools) {
			t.Errorf("%d tools of %d", len(seen), len(f.tools))
		}
		if got := c.call("mcp__filesystem__list_allowed_directories", map[string]any{}); got.text() != `{"name":"list_allowed_directories","arguments":{}}` {
			t.Errorf("got %s", got.text())
		}
	})
	t.Run("GATE-1 MCP-10 raw names where they are unique", func(t *testing.T) {
		count := map[string]int{}
		for _, tool := range f.tools {
			count[tool.Name]++
		}
		want := map[string]bool{}
		for public, tool := range f.tools {
			if count[tool.Name] == 1 {
				public = tool.Name
			}
			want[public] = true
		}
		f := frontAll(t, cache)
		c := f.connect(frontedWait, "--mode", "native", "--names", "raw")
		got := map[string]bool{}
		for _, tool := range c.wireTools() {
			got[tool.Name] = true
		}
		if !maps.Equal(got, want) {
			for name := range want {
				if !got[name] {
					t.Errorf("no %s", name)
				}
			}
			t.Errorf("%d names, want %d", len(got), len(want))
		}
		if got := c.call("list_allowed_directories", map[string]any{}); got.text() != `{"name":"list_allowed_directories","arguments":{}}` {
			t.Errorf("got %s", got.text())
		}
	})
}

// BenchmarkFronted measures the gateway in front of all the servers: until its list is there after the start, and after the last server has
// answered.
func BenchmarkFronted(b *testing.B) {
	cache := b.TempDir()
	var after, all, cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		f := frontAll(b, cache)
		b.StartTimer()
		began := time.Now()
		c := f.launch(frontedWait)
		c.handshake()
		c.tools()
		ready := time.Now()
		b.StopTimer()
		after += ready.Sub(f.lastListed())
		all += ready.Sub(began)
		c.leave()
		cpu += c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
		b.StartTimer()
	}
	b.ReportMetric(float64(after.Milliseconds())/float64(b.N), "ms-after-servers")
	b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "ms-cpu") // of the gateway alone
	b.ReportMetric(float64(all.Milliseconds())/float64(b.N), "ms-after-start")
}
