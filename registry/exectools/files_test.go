//go:build unix

package exectools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// tree makes a folder with these files; a name that ends in / is a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func readers(t *testing.T, dir string) *registry.Registry {
	t.Helper()
	tools, closer, err := ReadFiles(dir)
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

func args(t *testing.T, v map[string]any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadFile(t *testing.T) {
	reg := readers(t, tree(t, map[string]string{
		"a.txt": "one\ntwo\r\nthree", "empty": "", "end": "x\n", "sub/deep.go": "package x\n", "bin": "ab\x00c", "latin": "caf\xe9\n",
		"utf16": "\xff\xfea\x00", "long": strings.Repeat("x", maxReadBytes) + "\nshort\n", "many": strings.Repeat("line\n", 2_000_000),
		"wide": strings.Repeat(strings.Repeat("w", 99_999)+"\n", 100),
	}))
	for _, c := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"whole", map[string]any{"path": "a.txt"}, `{"text":"one\ntwo\r\nthree","lines":3,"totalLines":3,"truncated":false,"repaired":false}`},
		{"window", map[string]any{"path": "./a.txt", "offset": 2, "limit": 1}, `{"text":"two\r\n","lines":1,"totalLines":3,"truncated":true,"repaired":false}`},
		{"to the end", map[string]any{"path": "a.txt", "offset": 3}, `{"text":"three","lines":1,"totalLines":3,"truncated":false,"repaired":false}`},
		{"empty", map[string]any{"path": "empty"}, `{"text":"","lines":0,"totalLines":0,"truncated":false,"repaired":false}`},
		{"a last line end begins no line", map[string]any{"path": "end"}, `{"text":"x\n","lines":1,"totalLines":1,"truncated":false,"repaired":false}`},
		{"below", map[string]any{"path": "sub/../sub//deep.go"}, `{"text":"package x\n","lines":1,"totalLines":1,"truncated":false,"repaired":false}`},
		{"bytes that are not UTF-8", map[string]any{"path": "latin"}, `{"text":"caf�\n","lines":1,"totalLines":1,"truncated":false,"repaired":true}`},
		{"behind a long line", map[string]any{"path": "long", "offset": 2}, `{"text":"short\n","lines":1,"totalLines":2,"truncated":false,"repaired":false}`},
	} {
		t.Run("CLI-2 read_file "+c.name, func(t *testing.T) { wantValue(t, call(t, reg, "read_file", args(t, c.args)), c.want) })
	}
	t.Run("CLI-2 one read is capped at 8 MiB, of whole lines", func(t *testing.T) {
		r := call(t, reg, "read_file", `{"path":"many"}`)
		text, _ := r.Value().Get("text")
		lines, _ := r.Value().Get("lines")
		total, _ := r.Value().Get("totalLines")
		if n := len(text.Str()); n > maxReadBytes || n < maxReadBytes-5 || !strings.HasSuffix(text.Str(), "line\n") {
			t.Errorf("%d bytes", n)
		}
		if total.Float() != 2_000_000 || lines.Float() != float64(len(text.Str())/5) {
			t.Errorf("%s of %s lines", lines, total)
		}
		if !strings.HasSuffix(r.Text(), fmt.Sprintf("[lines 1 to %s of 2000000; go on with offset %d]", lines, int(lines.Float())+1)) {
			t.Errorf("the text ends in %q", r.Text()[len(r.Text())-80:])
		}
	})
	t.Run("CLI-2 a long line is whole or not there", func(t *testing.T) {
		r := call(t, reg, "read_file", `{"path":"wide"}`)
		text, _ := r.Value().Get("text")
		if n := len(text.Str()); n != 83*100_000 {
			t.Errorf("%d bytes", n)
		}
	})
	for _, c := range []struct {
		name, args, code string
		want             []string
	}{
		{"binary", `{"path":"bin"}`, "", []string{`"bin" is binary, not text (4 bytes)`}},
		{"UTF-16", `{"path":"utf16"}`, "", []string{`"utf16" is UTF-16`}},
		{"a folder", `{"path":"sub"}`, "", []string{`"sub" is a folder: use list_dir`}},
		{"what exists instead", `{"path":"sub/deap.go"}`, "", []string{`"sub/deap.go" does not exist; "sub" has "deep.go"`}},
		{"the most similar first", `{"path":"b.txt"}`, "", []string{`"b.txt" does not exist; the folder has "a.txt", `}},
		{"nearest existing folder", `{"path":"x/y/z"}`, "", []string{`does not exist; the folder has`}},
		{"behind the end", `{"path":"a.txt","offset":9}`, "", []string{"has 3 lines: offset 9 is behind its end"}},
		{"a line that is too long", `{"path":"long"}`, "", []string{"more than 8 MiB in line 1"}},
		{"offset 0", `{"path":"a.txt","offset":0,"limit":0}`, registry.CodeInvalidArgs, []string{`"offset": expected at least 1, got 0`, `"limit": expected at least 1, got 0`}},
		{"no path", `{}`, registry.CodeInvalidArgs, []string{`"path": required property is missing`}},
	} {
		t.Run("CLI-2 read_file fails: "+c.name, func(t *testing.T) { wantFailure(t, call(t, reg, "read_file", c.args), c.code, c.want...) })
	}
}

func TestTraversal(t *testing.T) {
	outside := tree(t, map[string]string{"secret": "s3cret\n", "dir/secret": "s3cret\n"})
	dir := tree(t, map[string]string{"in/file": "fine\n", "file": "fine\n"})
	for link, target := range map[string]string{
		"abs": filepath.Join(outside, "secret"), "rel": "../" + filepath.Base(filepath.Dir(outside)) + "/../../etc/passwd", "dirout": outside, "up": "..",
		"in/back": "../file", "loop": "loop", "self": ".", "chain": "abs", "deep": "in/../../" + filepath.Base(outside), "absin": filepath.Join(dir, "file"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	reg := readers(t, dir)
	hostile := []string{
		"..", "../", "../secret", "in/../../secret", "in/../..", "/etc/passwd", outside + "/secret", dir + "/file", "//etc/passwd", "./../x", "abs", "rel", "dirout/secret",
		"dirout/dir/secret", "up/secret", "up", "loop", "chain", "deep", "deep/secret", "a\x00b", "file\x00", strings.Repeat("a/", 3000), strings.Repeat("x", 300), "fifo", "absin",
		"in/../../../../../../../../etc/passwd", "in/./../.././etc", "..\\..\\etc", "\\etc\\passwd", "~/.ssh/id_rsa", "file/", "file/..", "file/../..", "/proc/self/environ", "dev/../../proc/self/environ",
	}
	for _, path := range hostile {
		t.Run(fmt.Sprintf("CLI-2 traversal %.40q", path), func(t *testing.T) {
			for _, tool := range []string{"read_file", "list_dir", "grep", "stat", "glob"} {
				given := map[string]any{"path": path}
				if tool == "grep" || tool == "glob" {
					given["pattern"] = "**"
					if tool == "grep" {
						given["pattern"] = "s3cret|root:"
					}
				}
				r := call(t, reg, tool, args(t, given))
				if all := r.Text() + r.Value().String(); strings.Contains(all, "s3cret") || strings.Contains(all, "root:") {
					t.Errorf("%s told %s", tool, all)
				}
				// A link may be asked about, and "file/.." is the folder itself.
				allowed := tool == "stat" && !strings.Contains(path, "..") && !strings.Contains(path, "/") || path == "file/.." || path == "file/" || path == "fifo" && tool == "stat"
				if !r.IsError() && !allowed {
					t.Errorf("%s gave %s", tool, r.Text())
				}
			}
		})
	}
	t.Run("CLI-2 links within the folder are followed", func(t *testing.T) {
		for _, path := range []string{"in/back", "self/file", "self/self/in/file"} {
			if r := call(t, reg, "read_file", args(t, map[string]any{"path": path})); r.Text() != "fine\n" {
				t.Errorf("%s: %s", path, r.Text())
			}
		}
	})
	t.Run("CLI-2 the error says what to do", func(t *testing.T) {
		wantFailure(t, call(t, reg, "read_file", args(t, map[string]any{"path": dir + "/in/file"})), "", `is absolute`, `it is "in/file" there`)
		wantFailure(t, call(t, reg, "read_file", `{"path":"../x"}`), "", `"../x" leads out of the folder that can be reached`)
		wantFailure(t, call(t, reg, "read_file", `{"path":"a\u0000b"}`), "", "holds a NUL character")
		wantFailure(t, call(t, reg, "read_file", `{"path":"abs"}`), "", `"abs" leads out of the folder`)
		wantFailure(t, call(t, reg, "read_file", `{"path":"fifo"}`), "", `"fifo" is a named pipe: only regular files and folders can be read`)
	})
	t.Run("CLI-2 searches do not follow links", func(t *testing.T) {
		wantValue(t, call(t, reg, "glob", `{"pattern":"**"}`), `{"paths":["file","in/file"],"total":2,"truncated":false}`)
		r := call(t, reg, "grep", `{"pattern":"."}`)
		if total, _ := r.Value().Get("total"); total.Float() != 2 {
			t.Error(r.Value())
		}
	})
}

func TestSystemFiles(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("procfs and sysfs are Linux's")
	}
	for _, dir := range []string{"/proc", "/sys", "/proc/self"} {
		t.Run("CLI-2 not as the folder: "+dir, func(t *testing.T) {
			if _, closer, err := ReadFiles(dir); err == nil {
				_ = closer.Close()
				t.Error("it was opened")
			} else if !strings.Contains(err.Error(), "belongs to the system") {
				t.Error(err)
			}
		})
	}
	reg := readers(t, "/")
	for _, path := range []string{"proc/self/environ", "proc/1/status", "sys/kernel/mm", "proc", "sys", "proc/self/fd"} {
		t.Run("CLI-2 nor below it: "+path, func(t *testing.T) {
			for _, tool := range []string{"read_file", "list_dir", "stat"} {
				r := call(t, reg, tool, args(t, map[string]any{"path": path}))
				if !r.IsError() {
					t.Errorf("%s gave %s", tool, cutText(r.Text(), 100))
				}
			}
		})
	}
	t.Run("CLI-2 devices", func(t *testing.T) {
		wantFailure(t, call(t, reg, "read_file", `{"path":"dev/zero"}`), "", "is a device: only regular files")
	})
}

// TestRace swaps a folder for a link to the outside while files are read: not one read may tell what lies there.
func TestRace(t *testing.T) {
	outside := tree(t, map[string]string{"file": "s3cret"})
	dir := tree(t, map[string]string{"real/file": "fine"})
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "real"), filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	reg := readers(t, dir)
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(filepath.Join(dir, "link"), filepath.Join(dir, "y"))
			_ = os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "z"))
			_ = os.Rename(filepath.Join(dir, "y"), filepath.Join(dir, "x")) // x is the link
			_ = os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "link"))
			_ = os.Rename(filepath.Join(dir, "z"), filepath.Join(dir, "x")) // x is the folder
		}
	})
	t.Run("CLI-2 no race leads out", func(t *testing.T) {
		reads := 0
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
			for _, tool := range []string{"read_file", "grep"} {
				given := `{"path":"x/file","pattern":"."}`
				if tool == "read_file" {
					given = `{"path":"x/file"}`
				}
				r := call(t, reg, tool, given)
				if strings.Contains(r.Text(), "s3cret") {
					t.Fatalf("%s told %s", tool, r.Text())
				}
				if !r.IsError() {
					reads++
				}
			}
		}
		if reads == 0 {
			t.Error("nothing was ever read: the race proves nothing")
		}
	})
	close(stop)
	swapper.Wait()
}

func TestListDirAndStat(t *testing.T) {
	dir := tree(t, map[string]string{"b.txt": "12345", "a/": "", ".hidden": "x", "B": ""})
	if err := os.Symlink("b.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "b.txt"), when, when); err != nil {
		t.Fatal(err)
	}
	reg := readers(t, dir)
	t.Run("CLI-2 list_dir is sorted", func(t *testing.T) {
		want := `{"entries":[{"name":".hidden","kind":"file","size":1},{"name":"B","kind":"file","size":0},{"name":"a","kind":"folder","size":0},{"name":"b.txt","kind":"file","size":5},{"name":"link","kind":"link","size":0}],"total":5,"truncated":false}`
		wantValue(t, call(t, reg, "list_dir", `{}`), want)
		wantValue(t, call(t, reg, "list_dir", `{"path":"a/.."}`), want)
		wantValue(t, call(t, reg, "list_dir", `{"path":"a"}`), `{"entries":[],"total":0,"truncated":false}`)
		if r := call(t, reg, "list_dir", `{}`); r.Text() != ".hidden (1 bytes)\nB (0 bytes)\na/\nb.txt (5 bytes)\nlink (link)" {
			t.Errorf("text %q", r.Text())
		}
		wantFailure(t, call(t, reg, "list_dir", `{"path":"b.txt"}`), "", `"b.txt" is a file, not a folder`)
	})
	t.Run("CLI-2 stat", func(t *testing.T) {
		wantValue(t, call(t, reg, "stat", `{"path":"b.txt"}`), `{"kind":"file","size":5,"modified":"2020-01-02T03:04:05Z"}`)
		if r := call(t, reg, "stat", `{"path":"link"}`); !strings.Contains(r.Value().String(), `"kind":"link"`) || !strings.Contains(r.Value().String(), `"target":"b.txt"`) {
			t.Error(r.Value())
		}
		wantFailure(t, call(t, reg, "stat", `{"path":"c.txt"}`), "", `"c.txt" does not exist; the folder has "b.txt"`)
	})
}

func TestGlob(t *testing.T) {
	reg := readers(t, tree(t, map[string]string{
		"a.go": "", "b.ts": "", "b.tsx": "", "src/c.go": "", "src/x/d.go": "", "src/x/.e.go": "", ".git/f.go": "", "docs/z.md": "", "docs/a b.md": "",
	}))
	for _, c := range []struct{ args, want string }{
		{`{"pattern":"*.go"}`, `["a.go"]`},
		{`{"pattern":"**/*.go"}`, `["a.go","src/c.go","src/x/d.go"]`},
		{`{"pattern":"src/**"}`, `["src/c.go","src/x/d.go"]`},
		{`{"pattern":"src/**/d.go"}`, `["src/x/d.go"]`},
		{`{"pattern":"**/x/**/*.go"}`, `["src/x/d.go"]`},
		{`{"pattern":"*.{ts,tsx}"}`, `["b.ts","b.tsx"]`},
		{`{"pattern":"{docs,src}/*.{go,md}"}`, `["docs/a b.md","docs/z.md","src/c.go"]`},
		{`{"pattern":"[ab].*"}`, `["a.go","b.ts","b.tsx"]`},
		{`{"pattern":"?.go"}`, `["a.go"]`},
		{`{"pattern":"**/.*"}`, `["src/x/.e.go"]`},
		{`{"pattern":".git/*"}`, `[".git/f.go"]`},
		{`{"pattern":"*.go","path":"src"}`, `["src/c.go"]`},
		{`{"pattern":"nothing*"}`, `[]`},
		{`{"pattern":"./a.go"}`, `["a.go"]`},
	} {
		t.Run("CLI-2 glob "+c.args, func(t *testing.T) {
			paths, _ := call(t, reg, "glob", c.args).Value().Get("paths")
			if paths.String() != c.want {
				t.Errorf("got %s, want %s", paths, c.want)
			}
		})
	}
	t.Run("CLI-2 glob caps and says so", func(t *testing.T) {
		r := call(t, reg, "glob", `{"pattern":"**/*.go","limit":2}`)
		wantValue(t, r, `{"paths":["a.go","src/c.go"],"total":3,"truncated":true}`)
		if r.Text() != "a.go\nsrc/c.go\n[2 of 3 paths]" {
			t.Errorf("text %q", r.Text())
		}
	})
	for _, c := range []struct{ args, want string }{
		{`{"pattern":""}`, "the pattern is empty"}, {`{"pattern":"/etc/*"}`, "the pattern is absolute"}, {`{"pattern":"../*"}`, "leads out of the folder"},
		{`{"pattern":"[a"}`, "a [ has no ]"}, {`{"pattern":"{a,b"}`, "a { has no }"}, {`{"pattern":"` + strings.Repeat("{a,b}", 20) + `"}`, "more than 256 alternatives"},
		{`{"pattern":"*","limit":0}`, `"limit": expected between 1 and 10000, got 0`},
	} {
		t.Run("CLI-2 glob refuses "+cutText(c.args, 40), func(t *testing.T) {
			wantFailure(t, call(t, reg, "glob", c.args), registry.CodeInvalidArgs, c.want)
		})
	}
	t.Run("CLI-2 no pattern takes for ever", func(t *testing.T) {
		g, err := newGlobPattern(strings.Repeat("**/a*/", 60) + "x")
		if err != nil {
			t.Fatal(err)
		}
		if g.match(strings.Split(strings.Repeat("aaaa/", 200)+"y", "/")) {
			t.Error("it matched")
		}
	})
}

func TestGrep(t *testing.T) {
	reg := readers(t, tree(t, map[string]string{
		"b.txt": "alpha\nbeta\r\nAlpha beta\n", "a.txt": "beta", "bin": "beta\x00", "sub/c.go": "// beta (x)\n", ".git/config": "beta\n", ".env": "beta\n",
		"long.txt": strings.Repeat("y", 5000) + "beta\n" + strings.Repeat("z", 3<<20) + "\nbeta\n",
	}))
	for _, c := range []struct{ args, want string }{
		{`{"pattern":"beta","glob":"*.txt"}`, `a.txt:1:beta b.txt:2:beta b.txt:3:Alpha beta long.txt:1:` + strings.Repeat("y", 2000) + `… long.txt:3:beta`},
		{`{"pattern":"^alpha","path":"b.txt"}`, `b.txt:1:alpha`},
		{`{"pattern":"^alpha","path":"b.txt","ignoreCase":true}`, `b.txt:1:alpha b.txt:3:Alpha beta`},
		{`{"pattern":"(x)","literal":true}`, `sub/c.go:1:// beta (x)`},
		{`{"pattern":"beta","path":"sub"}`, `sub/c.go:1:// beta (x)`},
		{`{"pattern":"beta","path":".git"}`, `.git/config:1:beta`},
		{`{"pattern":"beta","glob":".env"}`, `.env:1:beta`},
		{`{"pattern":"beta$","glob":"b.*"}`, `b.txt:2:beta b.txt:3:Alpha beta`},
		{`{"pattern":"gamma"}`, ``},
	} {
		t.Run("CLI-2 grep "+c.args, func(t *testing.T) {
			r := call(t, reg, "grep", c.args)
			if r.IsError() {
				t.Fatal(r.Failure().Message)
			}
			matches, _ := r.Value().Get("matches")
			var got []string
			for _, m := range matches.Items() {
				p, _ := m.Get("path")
				l, _ := m.Get("line")
				x, _ := m.Get("text")
				got = append(got, fmt.Sprintf("%s:%s:%s", p.Str(), l, x.Str()))
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got  %.300s\nwant %.300s", text, c.want)
			}
		})
	}
	t.Run("CLI-2 grep caps, counts and says so", func(t *testing.T) {
		r := call(t, reg, "grep", `{"pattern":"beta","limit":1}`)
		wantValue(t, r, `{"matches":[{"path":"a.txt","line":1,"text":"beta"}],"total":6,"truncated":true,"files":4,"skipped":1}`)
		if r.Text() != "a.txt:1: beta\n[1 of 6 matching lines]" {
			t.Errorf("text %q", r.Text())
		}
	})
	t.Run("CLI-2 grep explains a pattern it does not take", func(t *testing.T) {
		wantFailure(t, call(t, reg, "grep", `{"pattern":"(?=x)"}`), registry.CodeInvalidArgs, `"pattern": invalid or unsupported Perl syntax`, "RE2")
	})
	t.Run("CLI-2 a cancelled search ends", func(t *testing.T) {
		f, err := openSpace([]string{tree(t, map[string]string{"big": strings.Repeat("x\n", 1<<20)})})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var coded registry.CodedError
		if _, err := f.grep(ctx, grepArgs{Pattern: "x"}); !errors.As(err, &coded) || coded.Code() != registry.CodeAborted {
			t.Errorf("error %v", err)
		}
	})
}

func TestFileToolsAtOnce(t *testing.T) {
	reg := readers(t, tree(t, map[string]string{"a": "x\n", "b/c": "x\n"}))
	t.Run("CLI-2 read tools may overlap", func(t *testing.T) {
		var all sync.WaitGroup
		for range 20 {
			for tool, given := range map[string]string{"read_file": `{"path":"b/c"}`, "list_dir": `{}`, "stat": `{"path":"a"}`, "glob": `{"pattern":"**"}`, "grep": `{"pattern":"x"}`} {
				if mode := reg.ExecutionMode(registry.Call{ID: "1", Name: tool, Arguments: json.RawMessage(given)}); mode != registry.Parallel {
					t.Errorf("%s is %v", tool, mode)
				}
				all.Go(func() {
					if r := call(t, reg, tool, given); r.IsError() {
						t.Error(r.Failure().Message)
					}
				})
			}
		}
		all.Wait()
	})
}

func TestOpenFolder(t *testing.T) {
	for _, c := range []struct{ dir, want string }{
		{filepath.Join(t.TempDir(), "no"), "there is no folder"},
		{filepath.Join(tree(t, map[string]string{"f": ""}), "f"), "not a directory"},
	} {
		t.Run("CLI-2 "+c.want, func(t *testing.T) {
			if _, _, err := ReadFiles(c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSeveralFolders(t *testing.T) {
	one, two := tree(t, map[string]string{"docs/a.md": "alpha\n", "docs/sub/b.md": "beta\n"}), tree(t, map[string]string{"docs/c.md": "alpha\n", "src/d.go": "alpha\n"})
	dirs := []string{filepath.Join(one, "docs"), filepath.Join(two, "docs"), filepath.Join(two, "src"), filepath.Join(one, "docs")}
	tools, closer, err := ReadFiles(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	writeTools, closeWriters, err := WriteFiles(dirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeWriters.Close()
	reg, err := registry.New(registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range append(tools, writeTools...) {
		if _, err := reg.Register(d); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("CLI-2 several folders lie side by side", func(t *testing.T) {
		wantValue(t, call(t, reg, "list_dir", `{}`), `{"entries":[{"name":"docs","kind":"folder","size":0},{"name":"docs-2","kind":"folder","size":0},{"name":"src","kind":"folder","size":0}],"total":3,"truncated":false}`)
		wantValue(t, call(t, reg, "list_dir", `{"path":"docs"}`), `{"entries":[{"name":"a.md","kind":"file","size":6},{"name":"sub","kind":"folder","size":0}],"total":2,"truncated":false}`)
		for path, want := range map[string]string{"docs/a.md": "alpha\n", "docs-2/c.md": "alpha\n", "src/../docs/sub/b.md": "beta\n"} {
			if r := call(t, reg, "read_file", args(t, map[string]any{"path": path})); r.Text() != want {
				t.Errorf("%s: %s", path, r.Text())
			}
		}
		wantValue(t, call(t, reg, "glob", `{"pattern":"**/*.md"}`), `{"paths":["docs-2/c.md","docs/a.md","docs/sub/b.md"],"total":3,"truncated":false}`)
		wantValue(t, call(t, reg, "glob", `{"pattern":"docs/*"}`), `{"paths":["docs/a.md"],"total":1,"truncated":false}`)
		wantValue(t, call(t, reg, "glob", `{"pattern":"*.md","path":"docs/sub"}`), `{"paths":["docs/sub/b.md"],"total":1,"truncated":false}`)
		if r := call(t, reg, "grep", `{"pattern":"alpha"}`); r.Text() != "docs/a.md:1: alpha\ndocs-2/c.md:1: alpha\nsrc/d.go:1: alpha" {
			t.Errorf("grep %s", r.Text())
		}
		if r := call(t, reg, "stat", `{"path":"src/d.go"}`); r.IsError() {
			t.Error(r.Failure().Message)
		}
	})
	t.Run("CLI-2 several folders: errors name paths as the caller does", func(t *testing.T) {
		wantFailure(t, call(t, reg, "read_file", `{"path":"a.md"}`), "", `"a.md" does not exist; what can be reached is "docs", "docs-2", "src"`)
		wantFailure(t, call(t, reg, "read_file", `{"path":"docs/sub/x.md"}`), "", `"docs/sub/x.md" does not exist; "docs/sub" has "b.md"`)
		wantFailure(t, call(t, reg, "read_file", `{"path":"docs/x.md"}`), "", `"docs" has "a.md", "sub"`)
		wantFailure(t, call(t, reg, "read_file", args(t, map[string]any{"path": filepath.Join(two, "docs", "c.md")})), "", `it is "docs-2/c.md" there`)
		for _, tool := range []string{"read_file", "list_dir", "stat"} {
			for _, path := range []string{"../x", "docs/../../x", "docs/../src/../.."} {
				wantFailure(t, call(t, reg, tool, args(t, map[string]any{"path": path})), "", "leads out")
			}
		}
		wantFailure(t, call(t, reg, "read_file", `{"path":"."}`), "", `is a folder: use list_dir`)
	})
	t.Run("CLI-2 several folders: writes", func(t *testing.T) {
		wantValue(t, call(t, reg, "write_file", `{"path":"src/new/e.go","text":"x"}`), `{"created":true,"bytes":1}`)
		wantValue(t, call(t, reg, "move", `{"from":"src/new/e.go","to":"src/f.go"}`), `{"moved":true}`)
		wantFailure(t, call(t, reg, "move", `{"from":"src/f.go","to":"docs/f.go"}`), "", `"docs/f.go" does not lie in "src"`)
		wantFailure(t, call(t, reg, "remove", `{"path":"docs","recursive":true}`), "", `is the whole folder`)
		wantFailure(t, call(t, reg, "write_file", `{"path":"x","text":""}`), "", `what can be reached is`)
		if got := content(t, two, "src/f.go"); got != "x" {
			t.Errorf("%q", got)
		}
	})
}
