package runtime

import (
	"strings"
	"testing"
)

// TestSites proves that no text and no forged position leads the correction of positions astray or out of the code.
func TestSites(t *testing.T) {
	programs := []string{
		"f(a, { b: c, d() { return e }, ...g }, [h], (i, j) => k(l), async m => n, function* o(p) { yield* q }, class extends r { s = t })",
		"for (const x of y) { const { z } = w; new A.B(c ? d : e).f?.(g)`h${i}j` } switch (k) { case l: m['n'](o) }",
		"const { a: [b, { c = d }] } = e, [f] = g; label: for (;;) { if (h) continue label; else break } super_(this)",
		"/[(]/.test(a) / b / c[d](e) ; `${f(`${g}`)}`; (0, h)(i)(j)?.[k]?.(l)",
		")]}", "f(((", "`${", "f(a }", "[", "",
	}
	kinds := []Failing{{}, {Function: "f"}, {Function: "get x"}, {Innermost: true, Class: "Error"}}
	for _, m := range []string{"not a function", "value is not iterable", "Cannot convert undefined or null to object", "cannot read property 'c' of undefined", "cannot read property 'Symbol.iterator' of null"} {
		kinds = append(kinds, Failing{Innermost: true, Class: "TypeError", Message: m})
	}
	for _, program := range programs {
		c := &Code{JS: "(function(){\n" + program + "\n})()"}
		c.parts = []part{{0, 0, len(c.JS)}}
		lines := strings.Split(c.JS, "\n")
		for _, f := range kinds {
			for line := -1; line <= len(lines)+1; line++ {
				for column := -1; column < len(program)+5; column++ {
					l, col := c.Site(line, column, f)
					if (l != line || col != column) && (l < 1 || l > len(lines) || col < 1 || col > len(lines[l-1])) {
						t.Fatalf("%q: %d:%d becomes %d:%d with %+v", program, line, column, l, col, f)
					}
				}
			}
		}
	}
	t.Run("RUN-39 a long code is left as it is", func(t *testing.T) {
		c := &Code{JS: strings.Repeat(" ", maxSites) + "\nf(\nx)"}
		if l, col := c.Site(3, 1, Failing{Function: "f"}); l != 3 || col != 1 {
			t.Errorf("%d:%d", l, col)
		}
	})
	t.Run("RUN-39 the call whose function is named", func(t *testing.T) {
		for _, c := range []struct{ js, function, want string }{
			{"f(\ng(¦x))", "f", "f"},
			{"f(\ng(¦x))", "g", "g"},
			{"f(\ng(¦x))", "", "g"},
			{"f(\ng(¦x))", "other", "g"},
			{"f(\n¦o.x)", "get x", "o"},
			{"f(\n¦o)", "toString", "o"},
			{"f(¦x, y)", "f", "x"},       // y would have been noted
			{"f(() => g(¦x))", "f", "g"}, // f is not being called
			{"f({a: ¦x, b() { return y }, c: z => z, d: 'e'})", "f", "f"},
			{"new a.b.C(¦x)", "C", "a"},
			{"a['b c'](¦x)", "b c", "a"},
			{"if (f(1)) { ¦g(x) }", "g", "g"},
		} {
			before, after, _ := strings.Cut(c.js, "¦")
			code := &Code{JS: before + after}
			line := strings.Count(before, "\n") + 1
			l, col := code.Site(line, len(before)-strings.LastIndexByte(before, '\n'), Failing{Function: c.function})
			if got := strings.Split(code.JS, "\n")[l-1][col-1:]; !strings.HasPrefix(got, c.want) {
				t.Errorf("%s calling %q: at %q, want %q", c.js, c.function, got, c.want)
			}
		}
	})
}
