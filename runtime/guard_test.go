package runtime

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// nested returns n openings around inner and as many closings.
func nested(n int, open, inner, closing string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
}

// repeated returns text repeated to size bytes; each % becomes the number of the repetition.
func repeated(text string, size int) string {
	var b strings.Builder
	b.Grow(size + len(text) + 16)
	end := 0
	for i := 0; b.Len() < size; i++ {
		if strings.Contains(text, "%") {
			b.WriteString(strings.ReplaceAll(text, "%", strconv.Itoa(i)))
		} else {
			b.WriteString(text)
		}
		if b.Len() > size {
			break
		}
		end = b.Len()
	}
	return b.String()[:end]
}

// TestGuardAccepts proves the half of HOSTILE-9 that is easily forgotten: what people write is let through.
func TestGuardAccepts(t *testing.T) {
	fill := func(pattern string) string { return repeated(pattern, MaxProgramBytes-64) }
	for name, src := range map[string]string{
		"200 arrays":        "return " + nested(200, "[", "1", "]"),
		"200 objects":       "return " + nested(200, "{a:", "1", "}"),
		"200 parentheses":   "return " + nested(200, "(", "1", ")"),
		"200 blocks":        nested(200, "{", "", "}"),
		"200 ifs":           nested(200, "if (a) {\n", "b()\n", "}\n"),
		"200 loops":         nested(200, "for (const x of y) {\n", "b(x)\n", "}\n"),
		"200 functions":     nested(200, "function f(x) {\n  const y = x\n", "return 1\n", "}\n"),
		"200 arrows":        "const f = " + nested(200, "(x) => {\nreturn ", "1", "\n}"),
		"200 calls":         "return " + nested(200, "f(", "1", ")"),
		"200 templates":     "return " + nested(200, "`a${", "1", "}`"),
		"200 types":         "let x: " + nested(200, "Array<", "T", ">"),
		"200 conditions":    "return " + strings.Repeat("a ? 1 : ", 200) + "2",
		"200 else ifs":      strings.Repeat("if (a) { b() } else ", 200) + "{ c() }",
		"2000 else ifs":     strings.Repeat("if (a) {\n b()\n} else ", 2000) + "{ c() }",
		"2000 cases":        "switch (a) {" + strings.Repeat("case 'x': b(); break;\n", 2000) + "}",
		"fallthrough":       "switch (a) {" + strings.Repeat("case 'x':\n", 2000) + "}",
		"4000 members":      "return a" + strings.Repeat("\n  .b(c)", 1000),
		"4000 additions":    "return 'a'" + strings.Repeat(" +\n  'text of a line'", 4000),
		"4000 declarators":  "let a = 1" + strings.Repeat(", b = 2", 0) + many(", b%d = 2", 4000),
		"600 flags":         "enum F {" + many("A%d = 1 << %[1]d,", 600) + "}",
		"8000 enums":        many("enum E%d{a}\n", 8000),
		"30000 numbers":     "enum E{" + many("a%d = %[1]d,\n", 30000) + "}",
		"60000 methods":     "class C{" + strings.Repeat("a(){}\n", 60000) + "}",
		"600 string enum":   "enum F {" + many("A%d = 'a%[1]d',", 600) + "}\nenum G { A = 1, B = A + 1, C = 2 + B }",
		"joined enums":      "const base = 'b', n = 10\nenum F { A = 'ev' + ':' + 'a', B = `${base}-b`, C = base + 'c', D = 'a'.length + n }\nenum G { A = n + 1, B = n + A, C = A + B }",
		"comparisons":       "return [" + many("a%d < b%[1]d,", 900) + "]",
		"no semicolons":     fill("const x% = await tools.read({ path: 'a', depth: 1 + 2 })\nx% = y\nif (x% > 3) log(x%)\nelse done()\n"),
		"semicolons":        fill("const x% = await tools.read({ path: `a/${b}/c`, list: [1, 2, 3] }); total% += x% < 3 ? 1 : 2;\n"),
		"functions":         fill("async function f%<T>(a: T, b: Array<T> = []): Promise<T[]> {\n  if (a === b[0]) return []\n  for (const c of b) { use(c) }\n  return [...b, a].map((x) => x!)\n}\n"),
		"classes":           fill("class C% extends B {\n  private readonly a: string = ''\n  static b = 1\n  #c = 2\n  constructor(public d: number) { super() }\n  get e() { return this.#c }\n  async f<T>(x: T) { return x }\n}\n"),
		"one class":         "class C {\n" + fill("  async m%(x: string): Promise<void> { const id: number = this.a; await f(id) }\n  p%: string = 'a'\n") + "}",
		"interfaces":        fill("interface I% {\n  a: string\n  b?: Array<number>\n  c: { id: string }\n}\ntype T% = A | B | { x: (a: string) => void } | Map<string, number>\n"),
		"JSON data":         "const data = [" + fill("{\"id\": %, \"name\": \"it's\", \"tags\": [\"a\", \"b\"], \"deep\": {\"x\": null, \"y\": -1.5e3}},\n") + "]",
		"minified data":     "const data = [" + fill(`{id:%,a:"x",b:[1,2,{c:!0}],d:{e:-1}},`) + "]",
		"a long array":      "const data = [" + fill("%,") + "]",
		"minified code":     fill("function f%(a,b){if(a)return b;for(var c=0;c<a.length;c++)b+=a[c];return b?f(b):c}"),
		"comments":          fill("// it's a comment with ([{ and `${ and /*\n/* more ]}) ` */\nf(%)\n"),
		"strings":           fill("a(\"([{`${ // /* \", '}])', `a ${b} [ ${'`'} (`)\n"),
		"regular expr.":     fill("if (/[([{'\"`]/.test(a)) b = a.replace(/\\/\\*[`]/g, '').split(/,/)\nreturn /a'b/\n"),
		"a division chain":  fill("const x% = (a + b) / 2 / c[0] / d; y = a\n  / b\n"),
		"chained ternaries": fill("const k% = a ? (b) : c ? (d) : list.map(x => x + 1)\n"),
		"same names":        fill("{ const i = 1; let item = f(i); item = g((item) => item.i); for (let i = 0; i < 3; i++) use(i, item) }\n"),
		"numbered names":    fill("{ let x2 = 1, x3 = 2; function x(x1) { return x1 + x2 + x3 } }\n"),
		"unicode":           fill("const 名前% = '日本語 😀'; if (名前%) 表示(名前%)\n"),
		"CRLF":              fill("const a% = 1\r\nconst b% = a% + 2\r\n"),
	} {
		t.Run("HOSTILE-9 accepts "+name, func(t *testing.T) {
			if len(src) > MaxProgramBytes {
				t.Fatalf("the text has %d bytes", len(src))
			}
			if f := checkSource(src); f != nil {
				t.Errorf("refused at %d:%d: %s", f.Line, f.Column, f.Message)
			}
		})
	}
}

// many returns format for 0 … n-1.
func many(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestGuardRefuses(t *testing.T) {
	double := "enum E{A='ab'" + many(",B%d=A+A", 0)
	for i := range 30 {
		double += fmt.Sprintf(",B%d=%s+%[2]s", i, map[bool]string{true: "A", false: fmt.Sprintf("B%d", i-1)}[i == 0])
	}
	for name, src := range map[string]string{
		"257 brackets":              nested(257, "[", "1", "]"),
		"257 templates":             nested(257, "`${", "1", "}`"),
		"257 prefixes":              strings.Repeat("!", 257) + "a",
		"257 casts":                 strings.Repeat("<a>", 257) + "a",
		"257 arrows":                strings.Repeat("a=>", 257) + "a",
		"257 assignments":           strings.Repeat("a=", 257) + "a",
		"257 labels":                strings.Repeat("a:", 257) + "a",
		"257 heads":                 strings.Repeat("if(a)", 257) + "a",
		"257 heads on lines":        strings.Repeat("if(a)\n", 257) + "a",
		"4097 members":              "a" + strings.Repeat(".b", 4097),
		"4097 members on lines":     "a" + strings.Repeat("\n.b", 4097),
		"4097 tagged templates":     "a" + strings.Repeat("\n`b`", 4097),
		"4097 commas":               strings.Repeat("a,", 4097) + "a",
		"4097 commas in brackets":   "(" + strings.Repeat("a,", 4097) + "a)",
		"4097 else":                 strings.Repeat("if(a){}else ", 4097) + "b",
		"2049 cases":                "switch(a){" + strings.Repeat("case 1:", 2049) + "}",
		"9 retried arrows":          strings.Repeat("a?(b):c=>", 9) + "d",
		"9 retried arrows in depth": strings.Repeat("(a?(b):c=>", 9) + "d" + strings.Repeat(":1)", 9),
		"a long enum string":        "enum E { A = '" + strings.Repeat("x", 257) + "' }",
		"doubling enum strings":     double + "}",
		"doubling enum templates":   "enum E{A='ab'" + many(",B%[1]d=`${A}${A}`,A%[1]d=A", 0) + strings.ReplaceAll(double[len("enum E{A='ab'"):], "+", "+``+") + "}",
		"long joined enum strings":  "enum E{A='" + strings.Repeat("x", 60) + "',B=A+A+`${A}`,C=(B+A)+'c'}",
		"depth of many kinds":       strings.Repeat("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h.i.j.k(", 250),
		"redeclarations":            strings.Repeat("let a;", 20000),
		"a regex that may be code":  "x={}\n/" + strings.Repeat("[", 300) + "/1",
		"code that may be a regex":  "{}/'/;" + strings.Repeat("[", 300) + "/'/",
		"code that may be a string": "let x:T\n/`/;" + strings.Repeat("[", 300) + "`",
		"six doubts":                strings.Repeat("{}/a/;", 6),
		"a long name often":         "enum " + strings.Repeat("x", 5000) + "{" + strings.Repeat("a,", 50000) + "}",
		"8193 enums":                many("enum E%d{a}", 8193),
		"32769 members of enums":    "enum E{" + many("a%d,", 32769) + "}",
		"65537 methods":             "class C{" + strings.Repeat("a(){}", 65537) + "}",
		"65537 methods of objects":  "x={" + strings.Repeat("a(){},", 65537) + "}",
		"renaming":                  "{" + many("let a%d;", 20000) + strings.Repeat("{let a}", 20000) + "}",
	} {
		t.Run("HOSTILE-9 refuses "+name, func(t *testing.T) {
			f := checkSource(src)
			if f == nil {
				t.Fatal("accepted")
			}
			if f.Kind != Exception || f.Message != "program is nested too deeply" || f.Line < 1 || f.Column < 1 {
				t.Errorf("got %+v", f)
			}
		})
	}
	t.Run("HOSTILE-9 the size is bounded", func(t *testing.T) {
		if f := checkSource(strings.Repeat(" ", MaxProgramBytes)); f != nil {
			t.Errorf("1 MiB: %v", f)
		}
		if f := checkSource(strings.Repeat(" ", MaxProgramBytes+1)); f == nil || f.Message != "program is too long" {
			t.Errorf("more than 1 MiB: %v", f)
		}
	})
	t.Run("HOSTILE-9 says where", func(t *testing.T) {
		f := checkSource("let a\n  " + strings.Repeat("[", 300))
		if f == nil || f.Line != 2 || f.Column != 2+257 {
			t.Errorf("got %+v", f)
		}
	})
}
