//go:build unix

package exectools

import (
	"path"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// FuzzManifest: whatever a manifest holds, it is read or refused with problems that name a key.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"tools": {"t": {"description": "d", "command": ["x", "{a}"], "parameters": {"properties": {"a": {}}}}}}`))
	f.Add([]byte(`{"tools": {"t": {"description": "d", "http": {"url": "https://h/{a}?b={a}", "body": {"x": "{a}"}, "method": "POST"}}}} // c`))
	f.Add([]byte(`{"tools": {"t": {"description": "d", "result": 1, "output": {"type": "integer"}, "timeoutMs": 1e3,},},}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseManifest("f", "/", text)
		if (m == nil) == (err == nil) {
			t.Fatalf("%v %v", m, err)
		}
		if err == nil {
			return
		}
		for _, p := range err.(*ManifestError).Problems {
			if key, rest, ok := strings.Cut(p, ": "); !ok || key == "" || rest == "" {
				t.Errorf("the problem %q names no key", p)
			}
		}
	})
}

// FuzzGlobPattern: every pattern is refused or matches in reasonable time, and never a path that leads out.
func FuzzGlobPattern(f *testing.F) {
	f.Add("**/*.{go,md}", "a/b/c.go")
	f.Add("[a-z]*/**/x?", "ab/xy")
	f.Add("{a,{b,c}}/**/**", "c/.d")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		g, err := newGlobPattern(pattern)
		if err != nil {
			return
		}
		names := strings.Split(name, "/")
		if g.match(names) {
			for i := range names[:len(names)-1] {
				if !g.descends(names[:i+1]) {
					t.Errorf("%q matches %q, but is not looked for below %q", pattern, name, path.Join(names[:i+1]...))
				}
			}
		}
	})
}

// FuzzTemplate: filling is one pass; what an argument holds comes out as it is.
func FuzzTemplate(f *testing.F) {
	f.Add("x{a}y{b}", "{b}", "{a}")
	f.Add("{{a}}{b", "$", "")
	f.Add("{a}{a}", "{a", "}")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		tpl, err := newTemplate(text, func(name string) bool { return name == "a" || name == "b" })
		if err != nil {
			return
		}
		args := jsonval.Object(jsonval.Member{Name: "a", Value: jsonval.Text(a)}, jsonval.Member{Name: "b", Value: jsonval.Text(b)})
		a, b = argumentText(jsonval.Text(a)), argumentText(jsonval.Text(b))
		got, missing := tpl.fill(args, asIs)
		if want := strings.NewReplacer("{a}", a, "{b}", b).Replace(text); missing != "" || got != want {
			t.Errorf("%q gave %q, want %q", text, got, want)
		}
	})
}

// FuzzReplacementHunks: the hunks of an edit, applied in their order, are the edit.
func FuzzReplacementHunks(f *testing.F) {
	f.Add("1\n2\n3\n4\nx\n6\n7\n8\n9\nx\n", "x", "y\ny")
	f.Add("aaa", "aa", "b")
	f.Add("x\r\nx", "x\r\n", "")
	f.Fuzz(func(t *testing.T, text, old, new string) {
		if old == "" || len(text)+len(old)+len(new) > 4000 {
			return
		}
		hunks := replacementHunks(text, old, new)
		if len(hunks) == 0 {
			return // none, or too many
		}
		var b strings.Builder
		rest := text
		for _, h := range hunks {
			before, after, ok := strings.Cut(rest, h.Old)
			if !ok {
				t.Fatalf("the hunk %q is not in %q", h.Old, rest)
			}
			b.WriteString(before + h.New)
			rest = after
		}
		if got, want := b.String()+rest, strings.ReplaceAll(text, old, new); got != want {
			t.Errorf("%q with %q for %q: %q, want %q (%q)", text, new, old, got, want, hunks)
		}
	})
}
