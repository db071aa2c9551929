package loop

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func cost(logs []string, message string) int64 {
	n := int64(emptyLogs)
	for i, text := range logs {
		n += entryCost(text, i)
	}
	return n + jsonval.StringSize(message)
}

func TestLedger(t *testing.T) {
	t.Run("LOG-8 logs cost what their JSON costs", func(t *testing.T) {
		l := newLedger(1000)
		var items []jsonval.Value
		for _, text := range []string{"", "a\n\"", "€\U0001F600", "\x00\x1f\u2028/<>&"} {
			if !l.admit(text) {
				t.Fatal("refused")
			}
			items = append(items, jsonval.Text(text))
			if want := int64(len(jsonval.Array(items...).JSON())); l.used != want {
				t.Errorf("%q: charged %d, its JSON has %d", l.logs, l.used, want)
			}
		}
	})
	t.Run("LOG-10 the cap itself is allowed", func(t *testing.T) {
		l := newLedger(10)
		if !l.admit("abc") || l.room() != 3 || !l.fits(3) || l.fits(4) {
			t.Errorf("room %d", l.room())
		}
		if l.admit("") { // 2 and the comma is 3: fits
			if l.used != 10 {
				t.Errorf("charged %d", l.used)
			}
		} else {
			t.Error("an entry that fits was refused")
		}
		if l.admit("") {
			t.Error("an entry past the cap was admitted")
		}
		m := newLedger(10)
		if !m.admit("abc") || m.admit("a") {
			t.Error("an entry one byte past the cap was admitted")
		}
	})

	// LOG-12's longest prefix, found by trying all.
	t.Run("LOG-12 the longest prefix that leaves room", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		alphabet := []string{"a", "\"", "\n", "\x01", "é", "€", "\U0001F600"}
		for range 3000 {
			max := int64(4 + random.IntN(80))
			l := newLedger(max)
			var last string
			var all []string
			for range random.IntN(6) {
				var b strings.Builder
				for range random.IntN(12) {
					b.WriteString(alphabet[random.IntN(len(alphabet))])
				}
				all = append(all, b.String())
				if !l.admit(b.String()) {
					last = b.String()
					break
				}
			}
			diagnostic := l.overflow(last)
			total := cost(l.logs, diagnostic)
			if total > max || total != l.used+jsonval.StringSize(diagnostic) {
				t.Fatalf("cap %d: charged %d, used %d: %q %q", max, total, l.used, l.logs, diagnostic)
			}
			full := runtime.MessageOutput(max)
			if !strings.HasPrefix(full, diagnostic) || diagnostic != full && (len(l.logs) > 0 || int64(len(diagnostic)) != max-4) {
				t.Fatalf("cap %d: diagnostic %q beside %q", max, diagnostic, l.logs)
			}
			for i, text := range l.logs {
				whole := i < len(all) && text == all[i]
				if !whole && (i != len(l.logs)-1 || text == "" || !strings.HasPrefix(all[i], text) || !utf8.ValidString(text)) {
					t.Fatalf("cap %d: %q is no prefix of %q", max, l.logs, all)
				}
			}
			// One code point more, or the next entry's first, would not fit.
			if longer := oneMore(l.logs, all); longer != nil && cost(longer, diagnostic) <= max {
				t.Fatalf("cap %d: %q fits too, but the log is %q", max, longer, l.logs)
			}
		}
	})
}

// oneMore returns logs with one more code point of all, or nil if it is complete.
func oneMore(logs, all []string) []string {
	n := len(logs)
	longer := append([]string{}, logs...)
	if n > 0 && len(logs[n-1]) < len(all[n-1]) {
		_, size := utf8.DecodeRuneInString(all[n-1][len(logs[n-1]):])
		longer[n-1] += all[n-1][len(logs[n-1]) : len(logs[n-1])+size]
		return longer
	}
	if n == len(all) {
		return nil
	}
	_, size := utf8.DecodeRuneInString(all[n])
	return append(longer, all[n][:size])
}

func FuzzOverflow(f *testing.F) {
	f.Add(int64(45), "aa", "é€\U0001F600zzzz")
	f.Add(int64(4), "", "x")
	f.Fuzz(func(t *testing.T, max int64, a, b string) {
		if max < 4 || max > 1<<20 || !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		l := newLedger(max)
		last := ""
		for _, text := range []string{a, b} {
			if !l.admit(text) {
				last = text
				break
			}
		}
		diagnostic := l.overflow(last)
		if got := cost(l.logs, diagnostic); got > max {
			t.Errorf("cap %d: %d charged for %q %q", max, got, l.logs, diagnostic)
		}
	})
}
