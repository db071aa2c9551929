//go:build unix

package exectools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
)

func writing(t *testing.T, dir string, protected ...string) *registry.Registry {
	t.Helper()
	tools, closer, err := WriteFiles([]string{dir}, protected)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closer.Close() })
	reg, err := registry.New(registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range tools {
		if _, err := reg.Register(d); err != nil {
			t.Fatal(err)
		}
	}
	return reg
}

// snapshot is every file below dir with its content, and every folder and link.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		fmt.Fprintf(&b, "%s %v", rel, d.Type())
		if d.Type().IsRegular() {
			text, _ := os.ReadFile(p)
			fmt.Fprintf(&b, " %q", text)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWriteFile(t *testing.T) {
	dir := tree(t, map[string]string{"old": "old\n", "d/": ""})
	if err := os.Chmod(filepath.Join(dir, "old"), 0o666); err != nil {
		t.Fatal(err)
	}
	reg := writing(t, dir)
	t.Run("CLI-2 write_file", func(t *testing.T) {
		r := call(t, reg, "write_file", `{"path":"a/b/new","text":"é\n"}`)
		wantValue(t, r, `{"created":true,"bytes":3}`)
		if got := content(t, dir, "a/b/new"); got != "é\n" || r.Text() != "Created a/b/new (3 bytes)." {
			t.Errorf("%q %q", got, r.Text())
		}
		wantValue(t, call(t, reg, "write_file", `{"path":"old","text":""}`), `{"created":false,"bytes":0}`)
		info, _ := os.Stat(filepath.Join(dir, "old"))
		if got := content(t, dir, "old"); got != "" || info.Mode().Perm() != 0o666 {
			t.Errorf("%q %v", got, info.Mode())
		}
		if left := snapshot(t, dir); strings.Contains(left, ".tmp") {
			t.Errorf("left %s", left)
		}
	})
	t.Run("CLI-2 write_file fails", func(t *testing.T) {
		wantFailure(t, call(t, reg, "write_file", `{"path":"d","text":""}`), "", `"d" is a folder`)
		wantFailure(t, call(t, reg, "write_file", `{"path":"old/x","text":""}`), "", `"old" is a file`)
		wantFailure(t, call(t, reg, "write_file", `{"path":"","text":""}`), "", `is the whole folder`)
	})
	t.Run("CLI-2 writes are exclusive", func(t *testing.T) {
		for _, tool := range []string{"write_file", "edit_file", "move", "remove"} {
			if mode := reg.ExecutionMode(registry.Call{ID: "1", Name: tool, Arguments: map[string]any{"path": "x", "text": "", "old": "a", "new": "b", "from": "a", "to": "b"}}); mode != registry.Exclusive {
				t.Errorf("%s is %v", tool, mode)
			}
		}
	})
}

func TestEditFile(t *testing.T) {
	dir := tree(t, map[string]string{"f": "1\n2\n3\n4\nfive\n6\n7\n8\n9\nfive\n11\n12\n13\n14\n15\n16\n17\n18\n19\nfive", "crlf": "a\r\nb\r\n", "bin": "\xff"})
	reg := writing(t, dir)
	t.Run("CLI-2 edit_file fails and changes nothing", func(t *testing.T) {
		before := snapshot(t, dir)
		for _, c := range []struct{ args, code, want string }{
			{`{"path":"f","old":"five","new":"5"}`, "", "holds the text to replace 3 times (lines 5, 10, 20): make it longer, or set all"},
			{`{"path":"f","old":"six","new":"5"}`, "", "does not hold the text to replace: read it again"},
			{`{"path":"f","old":"FIVE","new":"5"}`, "", "only with other upper and lower case"},
			{`{"path":"f","old":"2  3","new":"5"}`, "", "only with other white space"},
			{`{"path":"crlf","old":"a\nb","new":"5"}`, "", `its lines end in \r\n`},
			{`{"path":"f","old":"","new":"5"}`, registry.CodeInvalidArgs, `"old": expected the text to replace`},
			{`{"path":"f","old":"5","new":"5"}`, registry.CodeInvalidArgs, `"new": expected something else`},
			{`{"path":"g","old":"5","new":"6"}`, "", `"g" does not exist; the folder has "bin", "crlf", "f"`},
			{`{"path":"bin","old":"5","new":"6"}`, "", "is not UTF-8 text"},
		} {
			wantFailure(t, call(t, reg, "edit_file", c.args), c.code, c.want)
		}
		if after := snapshot(t, dir); after != before {
			t.Errorf("after %s", after)
		}
	})
	t.Run("CARD-43 CARD-44 edit_file and its hunks", func(t *testing.T) {
		r := call(t, reg, "edit_file", `{"path":"f","old":"five","new":"5","all":true}`)
		wantValue(t, r, `{"replaced":3,"hunks":[{"old":"2\n3\n4\nfive\n6\n7\n8\n9\nfive\n11\n12\n13\n","new":"2\n3\n4\n5\n6\n7\n8\n9\n5\n11\n12\n13\n"},{"old":"17\n18\n19\nfive","new":"17\n18\n19\n5"}]}`)
		if got := content(t, dir, "f"); got != "1\n2\n3\n4\n5\n6\n7\n8\n9\n5\n11\n12\n13\n14\n15\n16\n17\n18\n19\n5" {
			t.Errorf("%q", got)
		}
		wantValue(t, call(t, reg, "edit_file", `{"path":"crlf","old":"b\r\n","new":""}`), `{"replaced":1,"hunks":[{"old":"a\r\nb\r\n","new":"a\r\n"}]}`)
	})
}

func TestMoveAndRemove(t *testing.T) {
	dir := tree(t, map[string]string{"a": "a", "b": "b", "d/x": "x", "e/": "", "d2/": ""})
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	reg := writing(t, dir)
	t.Run("CLI-2 move and remove fail and change nothing", func(t *testing.T) {
		before := snapshot(t, dir)
		for _, c := range []struct{ tool, args, want string }{
			{"move", `{"from":"a","to":"b"}`, `"b" exists: set overwrite`},
			{"move", `{"from":"a","to":"d"}`, `"d" is a folder that exists: name the new path itself, such as "d/a"`},
			{"move", `{"from":"d","to":"b","overwrite":true}`, `"b" exists and is no folder`},
			{"move", `{"from":"d","to":"d/y"}`, `lies within "d"`},
			{"move", `{"from":"a","to":"a"}`, `lies within "a"`},
			{"move", `{"from":"c","to":"z"}`, `"c" does not exist`},
			{"move", `{"from":".","to":"z"}`, `is the whole folder`},
			{"remove", `{"path":"d"}`, `is a folder that is not empty: set recursive`},
			{"remove", `{"path":"c"}`, `"c" does not exist`},
			{"remove", `{"path":".","recursive":true}`, `is the whole folder`},
			{"remove", `{"path":"d/..","recursive":true}`, `is the whole folder`},
		} {
			wantFailure(t, call(t, reg, c.tool, c.args), "", c.want)
		}
		if after := snapshot(t, dir); after != before {
			t.Errorf("after %s", after)
		}
	})
	t.Run("CLI-2 move and remove", func(t *testing.T) {
		wantValue(t, call(t, reg, "move", `{"from":"a","to":"n/m/a"}`), `{"moved":true}`)
		wantValue(t, call(t, reg, "move", `{"from":"n/m/a","to":"b","overwrite":true}`), `{"moved":true}`)
		wantValue(t, call(t, reg, "remove", `{"path":"link"}`), `{"removed":true}`)
		wantValue(t, call(t, reg, "remove", `{"path":"e"}`), `{"removed":true}`)
		wantValue(t, call(t, reg, "remove", `{"path":"d","recursive":true}`), `{"removed":true}`)
		wantValue(t, call(t, reg, "remove", `{"path":"n","recursive":true}`), `{"removed":true}`)
		if got := snapshot(t, dir); got != ". d---------\nb ---------- \"a\"\nd2 d---------\n" {
			t.Errorf("%s", got)
		}
	})
}

// TestWriteProtection tries everything against what must never change, and compares the whole tree afterwards.
func TestWriteProtection(t *testing.T) {
	outside := tree(t, map[string]string{"secret": "s3cret", "dir/x": "x"})
	dir := tree(t, map[string]string{
		"file": "fine", "tools.json": "{}", "conf/a/deep": "c", "repo/.git/config": "g", "repo/src": "s", "sub/.GIT": "x", "in/real": "r", "logs/": "",
	})
	for link, target := range map[string]string{"out": outside, "outfile": filepath.Join(outside, "secret"), "gitlink": "repo/.git", "inlink": "in", "toollink": "tools.json"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "tools.json"), filepath.Join(dir, "hard.json")); err != nil {
		t.Fatal(err)
	}
	reg := writing(t, dir, filepath.Join(dir, "tools.json"), filepath.Join(dir, "conf"), filepath.Join(dir, "logs", "run.log"), filepath.Join(dir, "toollink"), filepath.Join(t.TempDir(), "elsewhere"))
	before, beforeOutside := snapshot(t, dir), snapshot(t, outside)
	paths := []string{
		"../x", "/etc/x", outside + "/secret", "out/secret", "out/new", "outfile", "a\x00b", "..", ".", "", "in/../../x", "inlink/real", "inlink/new",
		".git", ".git/config", ".git/hooks/pre-commit", "repo/.git/config", "repo/.git", "repo/.Git/config", "repo/.git /config", "repo/.git./x", "repo/git~1/config", "repo/.g\u200cit/x", "repo/.git::$INDEX_ALLOCATION/x",
		"gitlink/config", "gitlink", "sub/.GIT", "new/.git/x",
		"tools.json", "./tools.json", "in/../tools.json", "hard.json", "toollink", "conf", "conf/a", "conf/a/deep", "conf/new", "logs/run.log",
	}
	for _, p := range paths {
		t.Run(fmt.Sprintf("CLI-2 never written: %.40q", p), func(t *testing.T) {
			for tool, given := range map[string]map[string]any{
				"write_file": {"path": p, "text": "overwritten"}, "edit_file": {"path": p, "old": "s", "new": "overwritten"}, "remove": {"path": p, "recursive": true},
			} {
				// A link may be removed: what it leads to stays.
				if tool == "remove" && (p == "outfile" || p == "gitlink" || p == "toollink" || p == "logs/run.log") {
					continue
				}
				if r := call(t, reg, tool, args(t, given)); !r.IsError() {
					t.Errorf("%s succeeded", tool)
				}
			}
			if r := call(t, reg, "move", args(t, map[string]any{"from": "file", "to": p, "overwrite": true})); !r.IsError() {
				t.Errorf("move to it succeeded")
			}
			if p != "outfile" && p != "gitlink" && p != "toollink" {
				if r := call(t, reg, "move", args(t, map[string]any{"from": p, "to": "moved"})); !r.IsError() {
					t.Errorf("move from it succeeded")
				}
			}
		})
	}
	for _, p := range []string{"repo", "sub", "conf", "logs"} {
		t.Run("CLI-2 a folder that holds something protected: "+p, func(t *testing.T) {
			want := "protected"
			if p == "repo" || p == "sub" {
				want = "a .git is never written"
			}
			wantFailure(t, call(t, reg, "remove", args(t, map[string]any{"path": p, "recursive": true})), "", want)
			wantFailure(t, call(t, reg, "move", args(t, map[string]any{"from": p, "to": "moved"})), "", want)
		})
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if after := snapshot(t, outside); after != beforeOutside {
		t.Errorf("outside: before\n%s\nafter\n%s", beforeOutside, after)
	}
	t.Run("CLI-2 writes follow no links, and say so", func(t *testing.T) {
		wantFailure(t, call(t, reg, "write_file", `{"path":"inlink/real","text":"x"}`), "", `"inlink/real" goes through the link "inlink": writes follow no links`)
		wantFailure(t, call(t, reg, "write_file", `{"path":"outfile","text":"x"}`), "", `"outfile" is a link`)
	})
	t.Run("CLI-2 what is beside it can be written", func(t *testing.T) {
		for _, p := range []string{"logs/other.log", "in/real", "repo/.github/x", "repo/.gitignore", "tools.json.bak"} {
			if r := call(t, reg, "write_file", args(t, map[string]any{"path": p, "text": "x"})); r.IsError() {
				t.Errorf("%s: %s", p, r.Failure().Message)
			}
		}
	})
	t.Run("CLI-2 a .git or a protected folder cannot be opened for writing", func(t *testing.T) {
		for _, d := range []string{filepath.Join(dir, "repo", ".git"), filepath.Join(dir, "conf", "a")} {
			if _, closer, err := WriteFiles([]string{d}, []string{filepath.Join(dir, "conf")}); err == nil {
				_ = closer.Close()
				t.Errorf("%s was opened", d)
			}
		}
	})
}
