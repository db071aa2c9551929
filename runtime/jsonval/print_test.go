package jsonval_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestNumberText(t *testing.T) {
	t.Run("VALUE-6 the shortest form of ECMAScript", func(t *testing.T) {
		for _, c := range []struct {
			f    float64
			want string
		}{
			{0, "0"}, {1, "1"}, {-1, "-1"}, {100, "100"}, {0.1, "0.1"}, {-0.5, "-0.5"}, {1.0 / 3, "0.3333333333333333"},
			{1e21, "1e+21"}, {-1e21, "-1e+21"}, {1e20, "100000000000000000000"}, {999999999999999900000, "999999999999999900000"},
			{123e-20, "1.23e-18"}, {1e-6, "0.000001"}, {1e-7, "1e-7"}, {1.5e-7, "1.5e-7"}, {1e-10, "1e-10"}, {1e100, "1e+100"},
			{9007199254740991, "9007199254740991"}, {9007199254740992, "9007199254740992"}, {9007199254740994, "9007199254740994"},
			{1 << 60, "1152921504606847000"}, {1 << 63, "9223372036854776000"}, {1 << 64, "18446744073709552000"},
			{math.MaxFloat64, "1.7976931348623157e+308"}, {math.SmallestNonzeroFloat64, "5e-324"}, {123456.789, "123456.789"},
			{2251799813685249.5, "2251799813685249.5"}, {0.000001234, "0.000001234"}, {1.7e-300, "1.7e-300"},
		} {
			v, err := jsonval.Number(c.f)
			if err != nil || v.String() != c.want || v.Size(-1) != int64(len(c.want)) {
				t.Errorf("%g is printed as %s in %d bytes, want %s (%v)", c.f, v, v.Size(-1), c.want, err)
			}
		}
	})
	t.Run("VALUE-6 every text is read back", func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 200_000 {
			f := math.Float64frombits(r.Uint64())
			switch i % 4 {
			case 1:
				f = float64(r.Int64N(1<<62) - 1<<61)
			case 2:
				f = float64(r.IntN(1e6)) / 1000
			case 3:
				f = math.Trunc(r.Float64() * math.Pow(10, float64(r.IntN(25))))
			}
			v, err := jsonval.Number(f)
			if err != nil {
				continue
			}
			text := v.String()
			back, err := jsonval.ParseString(text)
			if err != nil || back.Float() != f || v.Size(-1) != int64(len(text)) {
				t.Fatalf("%v is printed as %s and read as %s (%v)", f, text, back, err)
			}
			if exact, _ := strconv.ParseFloat(text, 64); exact != f {
				t.Fatalf("%s is not %v", text, f)
			}
		}
	})
}

func TestStringText(t *testing.T) {
	t.Run("LOG-9 cost and escapes of every character", func(t *testing.T) {
		for r := rune(0); r <= 0x10FFFF; r++ {
			if r >= 0xD800 && r <= 0xDFFF {
				continue
			}
			want := 2 + len(string(r))
			switch {
			case strings.ContainsRune("\"\\\b\t\n\f\r", r):
				want = 4
			case r < 0x20:
				want = 8
			}
			s := string(r)
			v := jsonval.Text(s)
			if got := v.String(); len(got) != want || v.Size(-1) != int64(want) || jsonval.StringSize(s) != int64(want) {
				t.Fatalf("%q is printed as %s, measured as %d, want %d bytes", s, got, v.Size(-1), want)
			}
			if r < 0x3000 || r%97 == 0 {
				var back string
				if err := json.Unmarshal([]byte(v.String()), &back); err != nil || back != s {
					t.Fatalf("%s is read as %q (%v)", v, back, err)
				}
			}
		}
		if got := string(jsonval.AppendString([]byte("x"), "\"\\/\b\f\n\r\t\x00\x1f\x7f<>&\u2028")); got != `x"\"\\/\b\f\n\r\t\u0000\u001f`+"\x7f<>&\u2028\"" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("LOG-9 special characters at every position", func(t *testing.T) {
		for length := range 40 {
			for at := range length {
				for _, c := range []string{"\"", "\\", "\x00", "\x1f", "\n", "\x7f", "é", "\x80", " ", "!"} {
					s := strings.Repeat("a", at) + c + strings.Repeat("\u00e9", (length-at)/2)
					text := jsonval.AppendString(nil, s)
					var back string
					if err := json.Unmarshal(text, &back); err != nil || back != strings.ToValidUTF8(s, "�") {
						t.Fatalf("%q is printed as %s, read as %q (%v)", s, text, back, err)
					}
					if jsonval.StringSize(s) != int64(len(text)) {
						t.Fatalf("%s is measured as %d", text, jsonval.StringSize(s))
					}
				}
			}
		}
	})
	t.Run("LOG-9 bytes that are not UTF-8 become U+FFFD one by one", func(t *testing.T) {
		s := "a\xff\xfe\n\xed\xa0\x80"
		if got := string(jsonval.AppendString(nil, s)); got != `"a��\n���"` || jsonval.StringSize(s) != int64(len(got)) {
			t.Errorf("got %s, measured %d", got, jsonval.StringSize(s))
		}
	})
}

func TestSize(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-1.5`, `1e+21`, `""`, `"€😀\n\u0001"`, `[]`, `{}`, `[[],{},[{}]]`,
		`[1,22,333]`, `{"a":1,"€":[true,false,null],"":{"\"":"\\"}}`, `-9007199254740992`, `-10`, `9`, `10`, `99999`,
	} {
		v := parse(t, text)
		n := int64(len(text))
		t.Run("LOG-9 "+text, func(t *testing.T) {
			if got := v.String(); got != text {
				t.Errorf("printed as %s", got)
			}
			for _, c := range []struct{ limit, want int64 }{{-1, n}, {n, n}, {n + 1, n}, {n - 1, n}, {0, 1}, {math.MaxInt64, n}} {
				if got := v.Size(c.limit); got != c.want {
					t.Errorf("LOG-11 Size(%d) is %d, want %d", c.limit, got, c.want)
				}
			}
		})
	}
	if (jsonval.Value{}).Size(-1) != 0 || len((jsonval.Value{}).JSON()) != 0 {
		t.Error("an absent value has a text")
	}
	t.Run("LOG-11 measuring stops early and builds nothing", func(t *testing.T) {
		items := make([]jsonval.Value, 1_000_000)
		for i := range items {
			items[i] = jsonval.Text("0123456789")
		}
		v := jsonval.Array(jsonval.Array(items[:10]...), jsonval.Object(jsonval.Member{Name: "all", Value: jsonval.Array(items...)}))
		if allocs := testing.AllocsPerRun(10, func() {
			if v.Size(-1) != 2+1+(2+9+120)+(2+6+2+999_999+12_000_000) {
				t.Error("the size is wrong")
			}
		}); allocs > 0 {
			t.Errorf("%v allocations", allocs)
		}
		// The rest is a chain that would take for ever: a walk that goes on past the limit does not end.
		endless := jsonval.Text("x")
		for range 200 {
			endless = jsonval.Array(endless, endless)
		}
		if got := jsonval.Array(jsonval.Text("abc"), endless).Size(7); got != 8 {
			t.Errorf("Size(7) is %d", got)
		}
	})
}

func TestIndent(t *testing.T) {
	v := parse(t, `{"a":[1,{"b":[],"c":{}},"x"],"d":[[[[[[7]]]]]]}`)
	for _, c := range []struct {
		rule  string
		depth int
		want  string
	}{
		{"CODE-21 everything compact", 0, `{"a":[1,{"b":[],"c":{}},"x"],"d":[[[[[[7]]]]]]}`},
		{"CODE-21 from depth 1", 1, "{\n  \"a\": [1,{\"b\":[],\"c\":{}},\"x\"],\n  \"d\": [[[[[[7]]]]]]\n}"},
		{"CODE-21 from depth 5", 5, "{\n  \"a\": [\n    1,\n    {\n      \"b\": [],\n      \"c\": {}\n    },\n    \"x\"\n  ],\n  \"d\": [\n    [\n      [\n        [\n          [[7]]\n        ]\n      ]\n    ]\n  ]\n}"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := string(v.AppendIndentJSON([]byte("#"), "  ", c.depth)); got != "#"+c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	t.Run("CODE-21 without a limit as encoding/json", func(t *testing.T) {
		want, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if got := v.AppendIndentJSON(nil, "  ", -1); string(got) != string(want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("CODE-21 5,000 levels in less than 11,000 characters", func(t *testing.T) {
		deep := parse(t, strings.Repeat("[", 5000)+strings.Repeat("]", 5000))
		if got := deep.AppendIndentJSON(nil, "  ", 5); len(got) >= 11_000 {
			t.Errorf("%d characters", len(got))
		}
	})
	for _, s := range []string{`null`, `"x"`, `[]`, `{}`, `1e-7`} {
		if got := string(parse(t, s).AppendIndentJSON(nil, "  ", 5)); got != s {
			t.Errorf("CODE-21 %s is printed as %s", s, got)
		}
	}
}

func TestMarshal(t *testing.T) {
	type record struct {
		A jsonval.Value `json:"a,omitzero"`
		B jsonval.Value `json:"b"`
	}
	text, err := json.Marshal(record{B: parse(t, `{"z":[1e21],"a":null}`)})
	if err != nil || string(text) != `{"b":{"z":[1e+21],"a":null}}` {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := json.Marshal(record{}); err == nil || !strings.Contains(err.Error(), "an absent value has no JSON form") {
		t.Errorf("JSON-2 an absent value was marshalled: %v", err)
	}
	var back record
	if err := json.Unmarshal(text, &back); err != nil || back.A.Exists() || back.B.String() != `{"z":[1e+21],"a":null}` {
		t.Errorf("JSON-6 %s, %v", back.B, err)
	}
	before := back.B
	if err := json.Unmarshal([]byte(`{"b":-0}`), &back); err == nil || err.Error() != "negative zero at $" {
		t.Errorf("JSON-2 %v", err)
	}
	if !jsonval.Identical(before, back.B) {
		t.Error("a failed UnmarshalJSON changed the variable")
	}
	if got := fmt.Sprint(back.B, parse(t, `"s"`)); got != `{"z":[1e+21],"a":null} "s"` {
		t.Errorf("printed as %s", got)
	}
}

func TestJSONHoldsNoMore(t *testing.T) {
	// Children whose text is far shorter than was guessed.
	numbers := make([]float64, 10_000)
	for i := range numbers {
		numbers[i] = 0.5
	}
	text := jsonval.MustOf(numbers).JSON()
	if cap(text) > 2*len(text)+64 {
		t.Errorf("%d bytes in %d", len(text), cap(text))
	}
}
