package commented

import (
	"strings"
	"testing"
)

func TestDeeper(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"at the limit", `{"a": [[1]]}`, false},
		{"TOOLS-1 GATE-2 one level past it", `{"a": [[{}]]}`, true},
		{"brackets in strings do not count", `["[[[[", "\"[[[["]`, false},
		{"brackets in comments do not count", "[ // [[[[\n /* [[[[ */ ]", false},
		{"brackets behind comments do", "[ // x\n [ /* y */ [ [", true},
		{"a comment that never ends", "[ /* [[[[", false},
		{"what only looks like a comment", `["//", [[[`, true},
		{"JSON-10 a million levels", strings.Repeat("[", 1_000_000), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Deeper([]byte(c.text), 3); got != c.want {
				t.Errorf("%t, expected %t", got, c.want)
			}
		})
	}
}
