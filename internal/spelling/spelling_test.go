package spelling

import (
	"strings"
	"testing"
)

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"read", "raed", 2}, {"abc", "abc", 0}, {"ab", "xaby", 2}} {
		if got, back := edits(c.a, c.b), edits(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("CODE-34 %q and %q: %d, backwards %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
		slip bool
	}{
		{"read_file", "readFile", equal, true}, {"a b", "A-b", equal, true}, {"", "", equal, true},
		{"read_file", "reed_file", 10, true}, {"fetch", "fetsh", 10, true}, {"ab", "ac", 10, false},
		{"list", "list_files", 10, true},    // five more, four of them there
		{"ls", "list", 20, false},           // too short to be contained
		{"abcdef", "uvwxyz", 60, false},     // nothing in common
		{"search", "research", -40, true},   // two more, six of them there
		{"delete", "remove_all", 70, false}, // of another kind
	} {
		if got := Distance(c.a, c.b); got != c.want || Slip(c.a, got) != c.slip {
			t.Errorf("CODE-34 %q and %q: %d, a slip: %v; want %d, %v", c.a, c.b, got, Slip(c.a, got), c.want, c.slip)
		}
	}
	t.Run("CODE-34 long names cost no more", func(t *testing.T) {
		long := strings.Repeat("a", 1<<20)
		if got := Distance(long, long[1:]); got != equal {
			t.Errorf("got %d", got)
		}
	})
}

func FuzzDistance(f *testing.F) {
	f.Add("read_file", "readFile")
	f.Add("é", "\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		got := Distance(a, b)
		if back := Distance(b, a); back != got {
			t.Errorf("%d, backwards %d", got, back)
		}
		if (got == equal) != (Fold(a) == Fold(b)) {
			t.Errorf("%d for %q and %q", got, Fold(a), Fold(b))
		}
	})
}
