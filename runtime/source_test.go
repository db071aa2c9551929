package runtime

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func codeOf(t *testing.T, program string) *Code {
	t.Helper()
	code, failure := NewTransformer(TransformOptions{}).Transform(t.Context(), program, true)
	if failure != nil {
		t.Fatal(failure)
	}
	return code
}

func TestSource(t *testing.T) {
	t.Run("GATE-7 the text keeps the model's offsets", func(t *testing.T) {
		for _, c := range []struct {
			program, text string
			called        bool
		}{
			{"return 1", "return 1", false},
			{"```ts\nreturn 1\n```", "     \nreturn 1\n   ", false},
			{"async () => { return 1 };", "async () => { return 1 } ", true},
			{"```\n() => 1;\n```", "   \n() => 1 \n   ", true},
		} {
			if text, called := codeOf(t, c.program).Source(); text != c.text || called != c.called {
				t.Errorf("%q: %q %v", c.program, text, called)
			}
		}
	})
	t.Run("GATE-7 positions are in UTF-16 units and go both ways", func(t *testing.T) {
		text := "const a = '😀é';\r\nreturn a"
		c := codeOf(t, text)
		for i := range text {
			line, column := c.PositionOf(i)
			if back := c.OffsetOf(line, column); back != i && text[i] != '\n' {
				t.Errorf("%d is %d:%d, and that is %d", i, line, column, back)
			}
		}
		if line, column := c.PositionOf(strings.Index(text, "'")); line != 1 || column != 11 {
			t.Errorf("%d:%d", line, column)
		}
		if line, column := c.PositionOf(strings.Index(text, ";")); line != 1 || column != 16 {
			t.Errorf("%d:%d", line, column)
		}
		if line, column := c.PositionOf(1000); line != 2 || column != 9 {
			t.Errorf("past the end: %d:%d", line, column)
		}
	})
}

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		program string
		want    string // the occurrences of X that run
	}{
		{"const a: X = X;", "01"},
		{"X(); X.y; new X(); X`t`", "1111"},
		{"const o = { X, b: X, c: [X] }; return o", "111"},
		{"let a = b as X; let c = <X>d; type T = X; interface I extends X {} let e = f<X>(1); let g = h satisfies X", "000000"},
		{"class A extends X implements X { p: X = X }", "1001"},
		{"for (const k of X) {} if (typeof X === 'u') X; let z: typeof X", "1110"},
		{"return `${X}` + X + (X) + (async () => X)() + X?.y", "11111"},
		{"function f(a: X, b = X): X { return X } f()", "0101"},
		{"try { X } catch (e: any) { throw X } X = 1; X++; ({ X } = {}); [X] = []; delete X.a", "1111111"},
		{"namespace N { export const a = X; let b: X } return X; return N", "101"},
		{"async () => X;", "1"},
		{"enum E { A = X } return E", "1"},
	} {
		t.Run("GATE-7 "+c.program, func(t *testing.T) {
			code, failure := NewTransformer(TransformOptions{}).Transform(t.Context(), c.program, true)
			if failure != nil {
				t.Fatal(failure)
			}
			got := ""
			for i := range c.program {
				if c.program[i] != 'X' {
					continue
				}
				if code.Runs(code.PositionOf(i)) {
					got += "1"
				} else {
					got += "0"
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	for _, c := range []struct {
		program string
		want    string
	}{
		{`await tools.add({ a: f(1) })`, `tools.add"({ a: f(1) })" "(1)"`},
		{`tools["a-b"]({}); tools?.x(1); tools.y?.(2); tools[k](3); tools.z!(4)`, `tools.a-b"({})" tools.x"(1)" tools.y?"(2)" tools."(3)" tools.z"(4)"`},
		{"my.tools.x(1); tools.x.y(2); (tools).z(3); tools?.['q'](4)", `"(1)" "(2)" "(3)" tools.q"(4)"`},
		{"if (a) (b); while (c) {} for (;;) break; function g(p) {} const h = (q) => q; return (r)", `"(b)"`},
		{"tools.default(1); tools.if(2); new Map(x); `${tools.t(`${3}`)}`", "tools.default\"(1)\" tools.if\"(2)\" \"(x)\" tools.t\"(`${3}`)\""},
		{`// tools.no(1)
		'tools.no(2)'; /tools.no(3)/; tools
			.yes(/\)/, ")")`, `tools.yes"(/\)/, ")")"`},
		{`tools["\x61"](1); tools[f([1, {}])](2)`, `tools."(1)" "([1, {}])" tools."(2)"`},
	} {
		t.Run("GATE-7 "+c.program, func(t *testing.T) {
			var got []string
			calls := codeOf(t, c.program).Calls()
			for _, call := range calls {
				name := ""
				if call.Object != "" {
					name = call.Object + "." + call.Member
					if !strings.HasPrefix(c.program[call.Start:], call.Object) {
						t.Errorf("%+v starts elsewhere", call)
					}
				}
				if call.Optional {
					name += "?"
				}
				got = append(got, fmt.Sprintf(`%s"%s"`, name, c.program[call.Open:call.Close+1]))
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
			if !slices.IsSortedFunc(calls, func(a, b Call) int { return a.Open - b.Open }) {
				t.Error("not in order")
			}
		})
	}
}
