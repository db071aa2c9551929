package main

import "testing"

func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"CLI-5 plain text stays", "a\tb\nc é 漢 🎉", "a\tb\nc é 漢 🎉"},
		{"CLI-5 C0 but LF and TAB", "\x1b[31mred\x07\r\x00", `\u001b[31mred\u0007\u000d\u0000`},
		{"CLI-5 DEL and C1", "\x7f\u0080\u009b31m\u009f", `\u007f\u0080\u009b31m\u009f`},
		{"CLI-5 bidirectional controls", "\u061c\u200e\u200f\u202a\u202e\u2066\u2069", `\u061c\u200e\u200f\u202a\u202e\u2066\u2069`},
		{"CLI-5 bytes that are no UTF-8", "a\x9bb\xff", "a\ufffdb\ufffd"},
		{"SDK-11 zero width stays for a terminal", "a\u200bb", "a\u200bb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := escapeControls(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("SDK-11 listings mark what cannot be seen", func(t *testing.T) {
		if got, want := escapeInvisible("a\u200bb\U000e0041\ufeff\u2060\x1b"), `a\u200bb\u{e0041}\ufeff\u2060\u001b`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[0m\u202e\x9b")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range escapeControls(s) {
			if isControl(r) {
				t.Fatalf("%q keeps %U", s, r)
			}
		}
		for _, r := range escapeInvisible(s) {
			if isControl(r) || isInvisible(r) {
				t.Fatalf("%q keeps %U", s, r)
			}
		}
	})
}
