package jsonval_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

var seeds = []string{
	``, `null`, `[]`, `{}`, `"\u00e9\ud83d\ude00"`, `"\ud800"`, `-0`, `1e400`, `9007199254740993`, `1152921504606847000`, `[1,2.5,-3e-7]`,
	`{"a":1,"b":{"a":[true,false]},"a":2}`, " {\"\\u0061\" :\t[ ] }\n", "\"\xff\"", `{"a":`, `[1,]`, `01`, `1.e5`, `"a`, `[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]`,
	`{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"10":0,"11":1,"12":2,"13":3,"14":4,"15":5,"16":6,"17":7,"18":8,"1":9}`,
	`0.000001`, `123456789012345678901234567890`, `4.9e-324`, `2.2250738585072011e-308`, `0.30000000000000004`,
}

// FuzzParse compares Parse with encoding/json: where both accept a text they must see the same value, and where only one
// does the text must be outside of the domain.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		v, err := jsonval.Parse(text)
		if !bytes.Equal(text, before) {
			t.Fatal("the text was changed")
		}
		var raw json.RawMessage
		plainErr := json.Unmarshal(text, &raw) // the grammar alone
		if err != nil {
			checkError(t, err)
			if plainErr == nil && strings.HasPrefix(err.Error(), "invalid JSON") {
				t.Fatalf("%q is JSON, but %v", text, err)
			}
			if plainErr == nil && !lossy(text) && utf8.Valid(text) && !escapedSurrogate(text) {
				t.Fatalf("%q is in the domain, but %v", text, err)
			}
			return
		}
		if plainErr != nil && !strings.Contains(plainErr.Error(), "exceeded max depth") {
			t.Fatalf("%q was accepted as %s, but %v", text, v, plainErr)
		}
		if plainErr == nil {
			var floats any
			if err := json.Unmarshal(text, &floats); err != nil {
				t.Fatalf("%q was accepted as %s, but %v", text, v, err)
			}
			if !reflect.DeepEqual(v.Any(), floats) {
				t.Fatalf("%q was read as %s, but is %v", text, v, floats)
			}
			if lossy(text) {
				t.Fatalf("%q was accepted as %s", text, v)
			}
		}
		checkValue(t, v)
	})
}

// FuzzOf compares Of with encoding/json over Go data of many types, made from text.
func FuzzOf(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(`{"a":`+s+`,"b":["x"],"i":5,"m":{"k":{"f":1.5}},"p":{"i":3}}`), "é", 1.5, int64(7))
	}
	f.Add([]byte(`{}`), "\xff", math.Inf(1), int64(1<<53+1))
	type record struct {
		A any                `json:"a"`
		B []string           `json:"b,omitempty"`
		F float64            `json:"f"`
		G float32            `json:"g,omitzero"`
		I int64              `json:"i"`
		Q int64              `json:"q,string"`
		S string             `json:"s"`
		R json.RawMessage    `json:"r,omitempty"`
		M map[string]*record `json:"m,omitempty"`
		P *record            `json:"p,omitempty"`
		L []record           `json:"l,omitempty"`
		Y []byte             `json:"y,omitempty"`
	}
	f.Fuzz(func(t *testing.T, text []byte, s string, number float64, i int64) {
		var r record
		_ = json.Unmarshal(text, &r) // as much of it as fits
		r.S, r.F, r.I, r.Q = s, number, i, i
		v, err := jsonval.Of(&r)
		plain, plainErr := json.Marshal(&r)
		if err != nil {
			checkError(t, err)
			if plainErr == nil && utf8.ValidString(s) {
				if _, err := jsonval.Parse(plain); err == nil && int64(float64(i)) == i && i < math.MaxInt64-512 {
					t.Fatalf("%s is in the domain, but %v", plain, err)
				}
			}
			return
		}
		if plainErr != nil {
			t.Fatalf("%+v became %s, but %v", r, v, plainErr)
		}
		checkValue(t, v)
		var want, got any
		if json.Unmarshal(plain, &want) != nil || json.Unmarshal(v.JSON(), &got) != nil {
			t.Fatalf("%s and %s", plain, v)
		}
		if !reflect.DeepEqual(nilContainers(got), nilContainers(want)) {
			t.Fatalf("Of makes %s, encoding/json %s", v, plain)
		}
		var back record
		if err := v.Decode(&back); err != nil {
			t.Fatalf("%s is not decoded: %v", v, err)
		}
		if again, err := jsonval.Of(back); err != nil || !jsonval.Equal(again, v) {
			t.Fatalf("%s came back as %s (%v)", v, again, err)
		}
	})
}

// FuzzText checks that any string has one cost and one text that encoding/json reads.
func FuzzText(f *testing.F) {
	for _, s := range append(seeds, "a\xff\"\\\n", "\u2028<&>\x7f\x00") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := jsonval.AppendString(nil, s)
		if jsonval.StringSize(s) != int64(len(text)) {
			t.Fatalf("%q is measured as %d, printed as %s", s, jsonval.StringSize(s), text)
		}
		var back string
		var valid []rune
		for _, r := range s {
			valid = append(valid, r)
		}
		if err := json.Unmarshal(text, &back); err != nil || back != string(valid) {
			t.Fatalf("%q is printed as %s, read as %q (%v)", s, text, back, err)
		}
		checkValue(t, jsonval.Text(s))
		v := jsonval.Object(jsonval.Member{Name: s, Value: jsonval.Null()})
		checkValue(t, v)
		if _, err := jsonval.ParseString(`{` + string(text) + `:-0}`); err == nil {
			t.Fatal("negative zero was accepted")
		} else {
			checkError(t, err)
		}
	})
}

// checkValue checks what holds for every value.
func checkValue(t *testing.T, v jsonval.Value) {
	t.Helper()
	text := v.String()
	again, err := jsonval.ParseString(text)
	if err != nil || !jsonval.Identical(v, again) || again.String() != text {
		t.Fatalf("%s is read back as %s (%v)", text, again, err)
	}
	n := int64(len(text))
	if v.Size(-1) != n || v.Size(n) != n || v.Size(n-1) != n || v.Size(n/2) != min(n, n/2+1) {
		t.Fatalf("%s is measured as %d", text, v.Size(-1))
	}
	sorted := jsonval.SortKeys(v)
	if !jsonval.Equal(sorted, v) || !jsonval.Equal(v, sorted) || !jsonval.Identical(v.Clone(), v) {
		t.Fatalf("the copies of %s are %s and %s", v, sorted, v.Clone())
	}
	if of, err := jsonval.Of(v.Any()); err != nil || !jsonval.Identical(of, sorted) {
		t.Fatalf("%s became %s as Go data (%v)", v, of, err)
	}
	var indented bytes.Buffer
	if len(text) < 1000 && json.Indent(&indented, []byte(text), "", "\t") == nil {
		if got := v.AppendIndentJSON(nil, "\t", -1); !bytes.Equal(got, indented.Bytes()) {
			t.Fatalf("indented as\n%s\nwant\n%s", got, indented.Bytes())
		}
		if _, err := jsonval.Parse(v.AppendIndentJSON(nil, " ", 2)); err != nil {
			t.Fatal(err)
		}
	}
}

func checkError(t *testing.T, err error) {
	t.Helper()
	var e *jsonval.Error
	if !errors.As(err, &e) {
		t.Fatalf("an error of type %T: %v", err, err)
	}
	if s := e.Error(); len(s) > 198 || !utf8.ValidString(s) || !strings.HasPrefix(e.Path, "$") {
		t.Fatalf("%d bytes: %q at %q", len(s), s, e.Path)
	}
}

// lossy reports whether the JSON text has a number that is outside of the domain.
func lossy(text []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		n, ok := token.(json.Number)
		if !ok {
			continue
		}
		f, err := n.Float64()
		if err != nil || f == 0 && n[0] == '-' {
			return true
		}
		if strings.ContainsAny(n.String(), ".eE") {
			continue
		}
		exact, _ := new(big.Int).SetString(n.String(), 10)
		rounded, _ := new(big.Float).SetFloat64(f).Int(nil)
		if shortest, _ := json.Marshal(f); exact.Cmp(rounded) != 0 && string(shortest) != n.String() {
			return true
		}
	}
}

// escapedSurrogate reports whether the text may have a surrogate escape.
func escapedSurrogate(text []byte) bool { return bytes.Contains(bytes.ToLower(text), []byte(`\ud`)) }

// nilContainers replaces null by nothing and drops members that are null or empty: a nil list or map is null for
// encoding/json and empty for Of.
func nilContainers(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, nilContainers(x))
		}
		if len(out) > 0 {
			return out
		}
	case map[string]any:
		out := map[string]any{}
		for name, x := range v {
			out[name] = nilContainers(x)
		}
		if len(out) > 0 {
			return out
		}
	default:
		return v
	}
	return nil
}
