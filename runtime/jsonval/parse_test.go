package jsonval_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

func parse(t testing.TB, text string) jsonval.Value {
	t.Helper()
	v, err := jsonval.ParseString(text)
	if err != nil {
		t.Fatalf("ParseString(%.200q): %v", text, err)
	}
	return v
}

// TestParse has texts and the text that they come out as; "" for the same.
func TestParse(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"JSON-1 the seven forms", `[null,true,false,0,1.5,"s",{}]`, ""},
		{"JSON-1 a scalar is a document", `"s"`, ""},
		{"JSON-1 white space around every token", " \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } }\n", `{"a":[1,2],"b":{}}`},
		{"JSON-3 spellings of one number", `[1,1.0,1e0,10e-1,0.1e1,1E+0]`, `[1,1,1,1,1,1]`},
		{"JSON-3 zero", `[0,0.0,0e5,0E-7]`, `[0,0,0,0]`},
		{"JSON-3 the largest safe integers", `[9007199254740991,-9007199254740991,9007199254740992]`, ""},
		{"JSON-3 large integers that a double holds", `[9007199254740994,1152921504606846976,1000000000000000000000]`, `[9007199254740994,1152921504606847000,1e+21]`},
		{"JSON-3 the text of a large double is readable", `[1152921504606847000,-18446744073709552000,123456789012345680000]`, ""},
		{"JSON-3 decimals are rounded", `[0.1,0.10000000000000000555,9007199254740993.0,9007199254740993e0,1e-400]`, `[0.1,0.1,9007199254740992,9007199254740992,0]`},
		{"JSON-3 the limits of a double", `[1.7976931348623157e308,5e-324,-5e-324,2.2250738585072014e-308]`, `[1.7976931348623157e+308,5e-324,-5e-324,2.2250738585072014e-308]`},
		{"JSON-3 exponents beyond any integer type", `[0e99999999999999999999,1e-18446744073709551617,0.0e18446744073709551617]`, `[0,0,0]`},
		{"JSON-3 many digits", `[0.` + strings.Repeat("0", 30) + `1,1` + strings.Repeat("0", 30) + `e-30,0.1234567890123456789012345678901234567890]`, `[1e-31,1,0.12345678901234568]`},
		{"JSON-3 a long exact integer", `1` + strings.Repeat("0", 22), `1e+22`},
		{"JSON-4 any Unicode text", `"žluť 😀 \u0000 ﷐ \uFFFF"`, "\"žluť 😀 \\u0000 ﷐ \uFFFF\""},
		{"JSON-4 escapes", `"\"\\\/\b\f\n\r\t\u00e9\u20AC\ud83d\ude00"`, `"\"\\/\b\f\n\r\té€😀"`},
		{"JSON-4 U+FFFD itself is text", `"\ufffd�"`, `"��"`},
		{"JSON-5 names are data", `{"":1,"__proto__":2,"constructor":3,"toString":{"__proto__":null},"hasOwnProperty":5}`, ""},
		{"JSON-6 order is kept", `{"b":1,"a":2,"2":3,"1":4}`, ""},
		{"JSON-6 VALUE-7 the last value at the first position", `{"a":1,"b":2,"a":{"x":1,"y":2,"x":3}}`, `{"a":{"x":3,"y":2},"b":2}`},
		{"JSON-6 names are compared as text", `{"\u0061":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{"JSON-6 two names that look alike", "{\"e\u0301\":1,\"\u00e9\":2}", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if c.want == "" {
				c.want = c.text
			}
			v := parse(t, c.text)
			if got := v.String(); got != c.want {
				t.Errorf("%s came out as %s, want %s", c.text, got, c.want)
			}
			again := parse(t, c.want)
			if !jsonval.Identical(v, again) {
				t.Errorf("%s is not what %s is", c.want, c.text)
			}
		})
	}
}

// TestParseRefuses has texts and the exact error.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		rule, text, want string
		offset           int64
	}{
		{"JSON-2 negative zero", `-0`, "negative zero at $", 0},
		{"JSON-2 negative zero as a fraction", `{"a":[1,-0.0]}`, "negative zero at $.a[1]", 8},
		{"JSON-2 negative zero with an exponent", `-0e3`, "negative zero at $", 0},
		{"JSON-2 a negative number that underflows", `[-1e-400]`, "negative zero at $[0]", 1},
		{"JSON-2 overflow", `{"n":1e309}`, "a number too large for a double at $.n", 5},
		{"JSON-2 overflow beyond any exponent", `1e18446744073709551617`, "a number too large for a double at $", 0},
		{"JSON-2 overflow of an integer", `-` + strings.Repeat("9", 400), "a number too large for a double at $", 0},
		{"JSON-3 2^53+1", `[9007199254740993]`, "an integer that a double cannot hold exactly at $[0]", 1},
		{"JSON-3 -(2^53+1)", `-9007199254740993`, "an integer that a double cannot hold exactly at $", 0},
		{"JSON-3 2^60+1", `1152921504606846977`, "an integer that a double cannot hold exactly at $", 0},
		{"JSON-3 next to a large double's text", `1152921504606847001`, "an integer that a double cannot hold exactly at $", 0},
		{"JSON-3 2^64-1", `18446744073709551615`, "an integer that a double cannot hold exactly at $", 0},
		{"JSON-3 a long inexact integer", strings.Repeat("1", 300), "an integer that a double cannot hold exactly at $", 0},
		{"JSON-4 VALUE-9 an unpaired high surrogate", `{"k":"a\ud800"}`, "an unpaired surrogate escape at $.k", 7},
		{"JSON-4 VALUE-9 a high surrogate before another escape", `"\ud800\n"`, "an unpaired surrogate escape at $", 1},
		{"JSON-4 VALUE-9 two high surrogates", `"\ud83d\ud83d\ude00"`, "an unpaired surrogate escape at $", 1},
		{"JSON-4 VALUE-9 an unpaired low surrogate", `["\uDE00"]`, "an unpaired surrogate escape at $[0]", 2},
		{"JSON-4 VALUE-9 two low surrogates", `"\ude00\ude00"`, "an unpaired surrogate escape at $", 1},
		{"JSON-4 VALUE-9 in a name", `{"a":{"\ud800":1}}`, "an unpaired surrogate escape at $.a", 7},
		{"JSON-4 invalid UTF-8", "{\"a\":[\"ok\",\"x\xffy\"]}", "text that is not valid UTF-8 at $.a[1]", 13},
		{"JSON-4 invalid UTF-8 after an escape", "[\"\\n\xc3(\"]", "text that is not valid UTF-8 at $[0]", 4},
		{"JSON-4 invalid UTF-8 in a name", "{\"a\xed\xa0\x80\":1}", "text that is not valid UTF-8 at $", 3},
		{"JSON-4 invalid UTF-8 outside of strings", "[1,\xff]", "text that is not valid UTF-8 at $[1]", 3},
		{"JSON-4 a truncated character", "\"\xe2\x82\"", "text that is not valid UTF-8 at $", 1},
		{"syntax: nothing", ``, "invalid JSON (byte 0: the end of the text, expected a value) at $", 0},
		{"syntax: white space only", " \n", "invalid JSON (byte 2: the end of the text, expected a value) at $", 2},
		{"syntax: two documents", `1 2`, "invalid JSON (byte 2: '2', expected the end of the text) at $", 2},
		{"syntax: trailing comma in an array", `[1,]`, "invalid JSON (byte 3: ']', expected a value) at $[1]", 3},
		{"syntax: trailing comma in an object", `{"a":1,}`, "invalid JSON (byte 7: '}', expected a member's name in quotes) at $", 7},
		{"syntax: unclosed array", `[[1`, "invalid JSON (byte 3: the end of the text, expected ',' or ']') at $[0]", 3},
		{"syntax: unclosed object", `{"a":1`, "invalid JSON (byte 6: the end of the text, expected ',' or '}') at $", 6},
		{"syntax: wrong bracket", `[1}`, "invalid JSON (byte 2: '}', expected ',' or ']') at $", 2},
		{"syntax: no colon", `{"a" 1}`, "invalid JSON (byte 5: '1', expected ':' after a member's name) at $", 5},
		{"syntax: unquoted name", `{a:1}`, "invalid JSON (byte 1: 'a', expected a member's name in quotes) at $", 1},
		{"syntax: unclosed string", `["abc`, `invalid JSON (byte 5: the end of the text, expected '"' at the end of a string) at $[0]`, 5},
		{"syntax: unclosed string after an escape", `"\n`, `invalid JSON (byte 3: the end of the text, expected '"' at the end of a string) at $`, 3},
		{"syntax: control character", "\"a\x01\"", `invalid JSON (byte 2: '\x01', expected an escape instead of a control character) at $`, 2},
		{"syntax: line feed in a string", "[\"a long enough string\n\"]", `invalid JSON (byte 22: '\n', expected an escape instead of a control character) at $[0]`, 22},
		{"syntax: unknown escape", `"\x"`, `invalid JSON (byte 2: 'x', expected one of "\/bfnrtu after a backslash) at $`, 2},
		{"syntax: short unicode escape", `"\u12"`, `invalid JSON (byte 1: '\\', expected four hexadecimal digits after \u) at $`, 1},
		{"syntax: wrong unicode escape", `"\u12g4"`, `invalid JSON (byte 1: '\\', expected four hexadecimal digits after \u) at $`, 1},
		{"syntax: leading zero", `[01]`, "invalid JSON (byte 2: '1', expected no digit after a leading 0) at $[0]", 2},
		{"syntax: leading plus", `+1`, "invalid JSON (byte 0: '+', expected a value) at $", 0},
		{"syntax: no integer part", `.5`, "invalid JSON (byte 0: '.', expected a value) at $", 0},
		{"syntax: no fraction", `1.`, "invalid JSON (byte 2: the end of the text, expected a digit) at $", 2},
		{"syntax: no exponent", `1e+`, "invalid JSON (byte 3: the end of the text, expected a digit) at $", 3},
		{"syntax: a lone minus", `-`, "invalid JSON (byte 1: the end of the text, expected a digit) at $", 1},
		{"syntax: NaN", `NaN`, "invalid JSON (byte 0: 'N', expected a value) at $", 0},
		{"syntax: word", `[nul]`, "invalid JSON (byte 1: 'n', expected a value) at $[0]", 1},
		{"syntax: longer word", `truely`, "invalid JSON (byte 4: 'l', expected the end of the text) at $", 4},
		{"syntax: single quotes", `'a'`, "invalid JSON (byte 0: '\\'', expected a value) at $", 0},
		{"syntax: comment", `1 // one`, "invalid JSON (byte 2: '/', expected the end of the text) at $", 2},
		{"syntax: byte order mark", "\ufeff1", `invalid JSON (byte 0: '\ufeff', expected a value) at $`, 0},
		{"syntax: a NUL after the document", "1\x00", `invalid JSON (byte 1: '\x00', expected the end of the text) at $`, 1},
		{"syntax: no-break space", "1\u00a0", `invalid JSON (byte 1: '\u00a0', expected the end of the text) at $`, 1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			v, err := jsonval.ParseString(c.text)
			if err == nil {
				t.Fatalf("%.100q was accepted as %.100s", c.text, v)
			}
			var lossy *jsonval.Error
			if !errors.As(err, &lossy) {
				t.Fatalf("error of type %T, want *Error", err)
			}
			if err.Error() != c.want || lossy.Offset != c.offset {
				t.Errorf("%.100q\n got %s (offset %d)\nwant %s (offset %d)", c.text, err, lossy.Offset, c.want, c.offset)
			}
			if v.Exists() {
				t.Errorf("a value came with the error: %s", v)
			}
			if _, again := jsonval.Parse([]byte(c.text)); again == nil || again.Error() != err.Error() {
				t.Errorf("Parse says %v, ParseString %v", again, err)
			}
		})
	}
}

func TestErrorPath(t *testing.T) {
	for _, c := range []struct{ text, path string }{
		{`{"items":[0,1,2,{"when":-0}]}`, "$.items[3].when"},
		{`{"a b":{"":{"1":{"$_a1":-0}}}}`, `$["a b"][""]["1"].$_a1`},
		{`{"a\"\n\u0001":-0}`, `$["a\"\n\u0001"]`},
		{`{"x":{"a":1,"b":[1,2]},"y":[[],[{}],[[-0]]]}`, "$.y[2][0][0]"},
		{`[{"a":1},{"a":2},[{"b":[3]},-0]]`, "$[2][1]"},
		{`{"` + strings.Repeat("k", 5000) + `":-0}`, `$["` + strings.Repeat("k", 27) + `…"]`},
		{`{"` + strings.Repeat("é", 5000) + `":-0}`, `$["` + strings.Repeat("é", 13) + `…"]`},
		{`{"` + strings.Repeat(`\u0001`, 5000) + `":{"a":-0}}`, `$["…"].a`},
		{strings.Repeat(`{"abc":`, 1000) + "-0", "$" + strings.Repeat(".abc", 12) + "…" + strings.Repeat(".abc", 16)},
		{strings.Repeat(`[`, 100_000) + "-0", "$" + strings.Repeat("[0]", 16) + "…" + strings.Repeat("[0]", 22)},
	} {
		_, err := jsonval.ParseString(c.text)
		var lossy *jsonval.Error
		if !errors.As(err, &lossy) || lossy.What != "negative zero" {
			t.Fatalf("%.100s: %v", c.text, err)
		}
		if lossy.Path != c.path {
			t.Errorf("%.100s\n got %s\nwant %s", c.text, lossy.Path, c.path)
		}
	}
}

func TestErrorIsShort(t *testing.T) {
	t.Run("VALUE-1 what a failure adds has at most 200 bytes of UTF-8", func(t *testing.T) {
		names := []string{"k", "\\u0001", "é", "😀", "\\\"", "\u2028", "a b", "\\ud83d\\ude00"}
		for _, name := range names {
			for _, long := range []int{1, 8, 9, 10, 28, 29, 30, 31, 32, 1000, 100_000} {
				for _, deep := range []int{1, 2, 3, 4, 5, 10, 1000} {
					key := strings.Repeat(name, long)
					if len(key)*deep > 1<<20 {
						continue
					}
					for _, end := range []string{"-0", "9007199254740993", "1e999", `"\ud800"`, "nul", "\xff", "-", `"\q"`} {
						_, err := jsonval.ParseString(strings.Repeat(`{"`+key+`":[1,`, deep) + end)
						if addition := ": " + err.Error(); len(addition) > 200 || !utf8.ValidString(addition) {
							t.Fatalf("%d times %q, %d levels: %d bytes, %q", long, name, deep, len(addition), addition)
						}
					}
				}
			}
		}
	})
	t.Run("also an error made by hand", func(t *testing.T) {
		e := &jsonval.Error{What: strings.Repeat("wh\xffat", 100), Path: strings.Repeat("p\xffth", 100)}
		if s := e.Error(); len(s) > 198 || !utf8.ValidString(s) {
			t.Errorf("%d bytes: %q", len(s), s)
		}
	})
}

func TestParseIsDetached(t *testing.T) {
	t.Run("JSON-7 VALUE-8 the caller's bytes may change", func(t *testing.T) {
		text := []byte(`{"name":["value","with\nescape"]}`)
		v, err := jsonval.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range text {
			text[i] = 'x'
		}
		if got := v.String(); got != `{"name":["value","with\nescape"]}` {
			t.Errorf("got %s", got)
		}
	})
}

func TestManyEscapedStrings(t *testing.T) {
	var text strings.Builder
	text.WriteString("[")
	for i := range 5000 {
		if i > 0 {
			text.WriteString(",")
		}
		fmt.Fprintf(&text, `"%s\n%d\u00e9"`, strings.Repeat("x", i%97*(i%7)), i)
	}
	text.WriteString("]")
	for i, item := range parse(t, text.String()).Items() {
		if want := fmt.Sprintf("%s\n%dé", strings.Repeat("x", i%97*(i%7)), i); item.Str() != want {
			t.Fatalf("item %d is %q, want %q", i, item.Str(), want)
		}
	}
}

// TestManyMembers would take minutes if looking up a name took time in proportion to their number.
func TestManyMembers(t *testing.T) {
	const n = 200_000
	build := func(name func(i int) int) string {
		var b strings.Builder
		b.WriteString("{")
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"k%d":%d`, name(i), i)
		}
		b.WriteString("}")
		return b.String()
	}
	distinct := parse(t, build(func(i int) int { return i }))
	if distinct.Len() != n {
		t.Fatalf("%d members", distinct.Len())
	}
	for i := range n {
		if v, ok := distinct.Get(fmt.Sprintf("k%d", i)); !ok || v.Float() != float64(i) {
			t.Fatalf("member k%d is %v", i, v)
		}
	}
	if _, ok := distinct.Get("k"); ok {
		t.Error("found a name that is not there")
	}
	backwards := parse(t, build(func(i int) int { return n - 1 - i }))
	if jsonval.Equal(distinct, backwards) {
		t.Error("different values are equal")
	}
	if sorted := jsonval.SortKeys(distinct); !jsonval.Equal(sorted, distinct) || jsonval.Identical(sorted, distinct) {
		t.Error("sorting is wrong")
	}
	t.Run("JSON-6 100,000 repetitions of two names", func(t *testing.T) {
		if got := parse(t, build(func(i int) int { return i % 2 })).String(); got != fmt.Sprintf(`{"k0":%d,"k1":%d}`, n-2, n-1) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("JSON-6 each of 100,000 names twice", func(t *testing.T) {
		v := parse(t, build(func(i int) int { return i % (n / 2) }))
		if v.Len() != n/2 || v.Names()[1] != "k1" {
			t.Errorf("%d members", v.Len())
		}
		if m, _ := v.Get("k7"); m.Float() != n/2+7 {
			t.Errorf("k7 is %s", m)
		}
	})
}
