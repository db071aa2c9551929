package runtime

import (
	"strings"
	"testing"
)

// scanAll returns the tokens of src, each as its text, regular expressions in «».
func scanAll(src string, choice uint32) string {
	s := scanner{src: src, choice: choice}
	var out []string
	for t := s.next(); t.kind != tokEOF; t = s.next() {
		text := src[t.start:t.end]
		if t.kind == tokRegex {
			text = "«" + text + "»"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestScan(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"strings", `a = "x/*" + '\'//' + "\
{"`, `a = "x/*" + '\'//' + "\` + "\n" + `{"`},
		{"comments", "a/*{*/b//}\nc", "a b c"},
		{"template", "`a${`b${c}`+{d:1}}e`+f", "`a${ `b${ c }` + { d : 1 } }e` + f"},
		{"template with escapes", "`\\`\\${`+1", "`\\`\\${` + 1"},
		{"dollar in a template", "`$$ {$`+1", "`$$ {$` + 1"},
		{"division", "a / b / c", "a / b / c"},
		{"division behind brackets", "(a) / b[0] / c", "( a ) / b [ 0 ] / c"},
		{"regex behind operators", `a = /[/"'` + "`" + `]/g; f(/x/, /\//)`, `a = «/[/"'` + "`" + `]/g» ; f ( «/x/» , «/\//» )`},
		{"regex behind keywords", "return /a/; case /b/: typeof /c/", "return «/a/» ; case «/b/» : typeof «/c/»"},
		{"regex behind a head", "if (a) /b{/.test(c); for await (x of y) /d`/", "if ( a ) «/b{/» . test ( c ) ; for await ( x of y ) «/d`/»"},
		{"a member called if", "a.if(b) / c / d", "a . if ( b ) / c / d"},
		{"regex behind an arrow", "x => /a`/", "x => «/a`/»"},
		{"regex behind a block", "{}\n/a`/.test(b)", "{ } «/a`/» . test ( b )"},
		{"division on a new line", "a\n/ b / c", "a / b / c"},
		{"unclosed class is no regex", "a\n/ b[0", "a / b [ 0"},
		{"increment", "a++ / 2", "a ++ / 2"},
		{"non-null", "a! / b", "a ! / b"},
		{"not", "!/a/.test(b)", "! «/a/» . test ( b )"},
		{"numbers", "1.5e+3+.5+0xe+1_0n+1..x", "1.5e+3 + .5 + 0xe + 1_0n + 1. . x"},
		{"operators", "a?.b??c?.5:d=>e**=f", "a ?. b ?? c ? .5 : d => e **= f"},
		{"names", "é$_ + \\u0061b + #p + a\u00a0b\u2028c", "é$_ + \\u0061b + #p + a b c"},
		{"names with braces", "\\u{61}b{", "\\u{61}b {"},
		{"generics", "a<B<C>>=d", "a < B < C > >= d"},
		{"unterminated string ends the text", "a + 'b\n{", "a +"},
		{"unterminated template ends the text", "a + `b\n{", "a +"},
		{"unterminated comment ends the text", "a + /* b\n{", "a +"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := scanAll(c.src, 0); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestScanDoubt(t *testing.T) {
	for _, c := range []struct{ src, likely, other string }{
		{"let x: T\n/a{/.test(b)", "let x : T / a {", "let x : T «/a{/» . test ( b )"},
		{"x = {}\n/ a / b", "x = { } «/ a /» b", "x = { } / a / b"},
		{"f<T>/a/", "f < T > «/a/»", "f < T > / a /"},
		{"await /a/g", "await «/a/g»", "await / a / g"},
	} {
		s := scanner{src: c.src}
		for s.next().kind != tokEOF {
		}
		if s.doubts != 1 {
			t.Errorf("%q: %d slashes in doubt, want 1", c.src, s.doubts)
		}
		if got := scanAll(c.src, 0); got != c.likely {
			t.Errorf("%q: likely reading %s, want %s", c.src, got, c.likely)
		}
		if got := scanAll(c.src, 1); got != c.other {
			t.Errorf("%q: other reading %s, want %s", c.src, got, c.other)
		}
	}
}
