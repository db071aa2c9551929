package jsonval

import (
	"strings"
	"testing"
)

func TestDeeper(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"JSON-10 at the limit", `[{"a":[1]}]`, false},
		{"JSON-10 one level past it", `[{"a":[{}]}]`, true},
		{"JSON-10 brackets in strings do not count", `["[[[[[[[[", "a\\\"[[[["]`, false},
		{"JSON-10 siblings do not add up", `[[],[],[],[],[]]`, false},
		{"JSON-10 a million levels", strings.Repeat("[", 1_000_000), true},
		{"JSON-10 an open string", `["[[[[`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Deeper(c.text, 3); got != c.want {
				t.Errorf("of a string: %t, expected %t", got, c.want)
			}
			if got := Deeper([]byte(c.text), 3); got != c.want {
				t.Errorf("of bytes: %t, expected %t", got, c.want)
			}
		})
	}
}
