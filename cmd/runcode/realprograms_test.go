package main

// This file runs programs that do a real job over several real MCP servers at once, by the command and by the gateway.

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const workConfig = examples + "work.mcp.json"

// workPackages are the servers of [workConfig].
var workPackages = []string{
	"@modelcontextprotocol/server-filesystem", "@modelcontextprotocol/server-memory", "@cyanheads/git-mcp-server", "@bytebase/dbhub",
}

// newRepository makes a git repository of a few commits by two people, the same to the byte each time, and returns its folder.
func newRepository(t *testing.T, p place) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir()) // the servers answer with the resolved path
	if err != nil {
		t.Fatal(err)
	}
	git := func(p place, args ...string) { p.must(t, "git", append([]string{"-C", folder}, args...)...) }
	commit := func(day, name, subject string, files map[string]string) {
		for path, text := range files {
			path = filepath.Join(folder, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		mail, date := strings.ToLower(name)+"@example.org", "2026-03-"+day+"T12:00:00Z"
		who := p.with("GIT_AUTHOR_NAME="+name, "GIT_AUTHOR_EMAIL="+mail, "GIT_AUTHOR_DATE="+date,
			"GIT_COMMITTER_NAME="+name, "GIT_COMMITTER_EMAIL="+mail, "GIT_COMMITTER_DATE="+date)
		git(who, "add", ".")
		git(who, "commit", "-q", "-m", subject)
	}
	git(p, "init", "-q", "-b", "main")
	git(p, "config", "user.name", "Rita")
	git(p, "config", "user.email", "rita@example.org")
	commit("01", "Ada", "feat: count boats", map[string]string{
		"README.md": "# Harbour\n\nCounts the boats of a harbour.\n", "boats.txt": "3\n", "docs/berths.md": "# Berths\n\nEach boat has one berth.\n",
	})
	git(p, "tag", "v0.3.9")
	commit("02", "Ben", "fix: count the ferry once", map[string]string{"boats.txt": "2\n"})
	commit("03", "Ben", "docs: say what a berth costs", map[string]string{
		"docs/berths.md": "# Berths\n\nEach boat has one berth. It costs 12 a night.\n", "docs/fees.md": "No heading, only a sentence about fees.\n",
	})
	commit("04", "Ada", "feat: count by length", map[string]string{"boats.txt": "1 short\n1 long\n", "README.md": "# Harbour\n\nCounts the boats of a harbour by their length.\n"})
	return folder
}

// TestRealPrograms runs the examples over files, git, memory and a database. Each runs by the command and by the gateway, in a folder
// of its own, and does the same there: result, logs and what it leaves behind.
func TestRealPrograms(t *testing.T) {
	t.Parallel()
	node := needServers(t, workPackages...)
	p := newPlace(t, node)

	tests := []struct {
		program string
		calls   map[string]int // of the command's first run
		value   string
		logs    []string
		again   string // the value of a second run in the same folder
		left    func(t *testing.T, p place, folder string) any
	}{
		{
			program: "graph.ts",
			calls: map[string]int{
				"mcp__files__list_allowed_directories": 1, "mcp__files__search_files": 1, "mcp__files__read_text_file": 3,
				"mcp__git__git_log": 3, "mcp__memory__create_entities": 1, "mcp__memory__create_relations": 1, "mcp__memory__read_graph": 1,
			},
			value: `{
				"documents": {"README.md": ["Harbour", "11 words"], "docs/berths.md": ["Berths", "12 words"], "docs/fees.md": ["docs/fees.md", "7 words"]},
				"people": {
					"Ada": {"did": ["2 commits"], "wrote": ["README.md", "docs/berths.md"]},
					"Ben": {"did": ["1 commits"], "wrote": ["docs/berths.md", "docs/fees.md"]}
				}}`,
			logs: []string{"3 documents, 2 people, 4 relations"},
			left: func(t *testing.T, _ place, folder string) any {
				stored := strings.Split(strings.TrimSpace(read(t, folder, ".git/memory.jsonl")), "\n")
				slices.Sort(stored)
				return stored
			},
		},
		{
			program: "departments.ts",
			calls: map[string]int{
				"mcp__db__execute_sql": 2, "mcp__files__list_allowed_directories": 1, "mcp__files__read_text_file": 1, "mcp__files__write_file": 1,
			},
			value: `{"departments": 9, "people": 802, "changed": [
				{"name": "Development", "people": 203, "salary": 69564, "manager": "Dietrich Journel"},
				{"name": "Production", "people": 186, "salary": 68537, "manager": "Kaijung Riesenhuber"},
				{"name": "Sales", "people": 130, "salary": 86123, "manager": "nobody"},
				{"name": "Customer Service", "people": 61, "salary": 63643, "manager": "nobody"},
				{"name": "Research", "people": 51, "salary": 69147, "manager": "nobody"},
				{"name": "Quality Management", "people": 48, "salary": 64859, "manager": "Jagoda Nannarelli"},
				{"name": "Human Resources", "people": 46, "salary": 63507, "manager": "Karoline Cesareni"},
				{"name": "Finance", "people": 43, "salary": 76400, "manager": "Munir Demeyer"},
				{"name": "Marketing", "people": 34, "salary": 81874, "manager": "Alejandro Brender"}]}`,
			logs:  []string{"there was no table before: departments.md is new"},
			again: `{"departments": 9, "people": 802, "changed": []}`,
			left:  func(t *testing.T, _ place, folder string) any { return read(t, folder, "departments.md") },
		},
		{
			program: "release.ts",
			calls: map[string]int{
				"mcp__files__list_allowed_directories": 1, "mcp__git__git_status": 1, "mcp__git__git_tag": 2, "mcp__git__git_log": 1,
				"mcp__files__read_text_file": 1, "mcp__files__write_file": 1, "mcp__git__git_commit": 1,
			},
			value: `{"version": "v0.4.0", "committed": ["CHANGELOG.md"], "notes":
				"## v0.4.0\n\n### Added\n\n- count by length (Ada)\n\n### Fixed\n\n- count the ferry once (Ben)\n\n### Documented\n\n- say what a berth costs (Ben)\n"}`,
			logs:  []string{"3 commits since the last tag"},
			again: `"nothing to release"`,
			left: func(t *testing.T, p place, folder string) any {
				return p.must(t, "git", "-C", folder, "log", "--format=%an %s %D", "--name-only") + read(t, folder, "CHANGELOG.md")
			},
		},
	}
	for _, test := range tests {
		t.Run(test.program, func(t *testing.T) {
			code := read(t, repository, examples+test.program)
			want := outcome{Value: parsed(t, test.value), Logs: test.logs}

			byCommand := newRepository(t, p)
			inCommand := p.with("WORK=" + byCommand)
			t.Run("the command", func(t *testing.T) {
				got, calls := inCommand.runCommand(t, workConfig, examples+test.program)
				same(t, "the outcome", got, want)
				same(t, "the calls", calls, test.calls)
				if test.again != "" {
					got, _ = inCommand.runCommand(t, workConfig, examples+test.program)
					same(t, "the value of the second run", got.Value, parsed(t, test.again))
				}
			})
			t.Run("the gateway", func(t *testing.T) {
				folder := newRepository(t, p)
				session := p.with("WORK="+folder).gateway(t, "--mcp", workConfig)
				got, _ := runGateway(t, session, code)
				same(t, "the outcome", got, want)
				if test.again != "" {
					got, _ = runGateway(t, session, code)
					same(t, "the value of the second run", got.Value, parsed(t, test.again))
				}
				same(t, "what is left, compared with what the command leaves,", test.left(t, p, folder), test.left(t, p, byCommand))
			})
		})
	}
}

// same compares by what JSON says of both.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		g, _ := json.MarshalIndent(got, "", " ")
		w, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("%s is\n%s\nexpected\n%s", what, g, w)
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func read(t *testing.T, folder, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
