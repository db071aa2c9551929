package jsonval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		value  jsonval.Value
		kind   jsonval.Kind
		name   string
		flags  string // Exists, IsNull, IsBool, IsNumber, IsString, IsArray, IsObject
		bool   bool
		float  float64
		str    string
		length int
	}{
		{jsonval.Value{}, jsonval.KindAbsent, "absent", ".......", false, 0, "", 0},
		{jsonval.Null(), jsonval.KindNull, "null", "en.....", false, 0, "", 0},
		{jsonval.Bool(true), jsonval.KindBool, "boolean", "e.b....", true, 0, "", 0},
		{jsonval.Bool(false), jsonval.KindBool, "boolean", "e.b....", false, 0, "", 0},
		{jsonval.MustOf(1.5), jsonval.KindNumber, "number", "e..#...", false, 1.5, "", 0},
		{jsonval.Text("é"), jsonval.KindString, "string", "e...s..", false, 0, "é", 0},
		{jsonval.Text(""), jsonval.KindString, "string", "e...s..", false, 0, "", 0},
		{jsonval.Array(), jsonval.KindArray, "array", "e....a.", false, 0, "", 0},
		{jsonval.Array(jsonval.Null(), jsonval.Null()), jsonval.KindArray, "array", "e....a.", false, 0, "", 2},
		{jsonval.Object(), jsonval.KindObject, "object", "e.....o", false, 0, "", 0},
		{jsonval.Object(jsonval.Member{Name: "a", Value: jsonval.Null()}), jsonval.KindObject, "object", "e.....o", false, 0, "", 1},
	} {
		v := c.value
		flags := ""
		for i, is := range []bool{v.Exists(), v.IsNull(), v.IsBool(), v.IsNumber(), v.IsString(), v.IsArray(), v.IsObject()} {
			if is {
				flags += "enb#sao"[i : i+1]
			} else {
				flags += "."
			}
		}
		if v.Kind() != c.kind || v.Kind().String() != c.name || flags != c.flags {
			t.Errorf("JSON-1 %s: kind %v, %s", v, v.Kind(), flags)
		}
		if v.Bool() != c.bool || v.Float() != c.float || v.Str() != c.str || v.Len() != c.length {
			t.Errorf("%s: %v, %v, %q, %d", v, v.Bool(), v.Float(), v.Str(), v.Len())
		}
		if _, ok := v.Get("z"); ok || v.Index(2).Exists() || v.Index(-1).Exists() {
			t.Errorf("%s has a child that it has not", v)
		}
	}
	if size := unsafe.Sizeof(jsonval.Value{}); size > 24 {
		t.Errorf("a Value has %d bytes", size)
	}
}

func TestConstructors(t *testing.T) {
	number := func(f float64) func() (jsonval.Value, error) {
		return func() (jsonval.Value, error) { return jsonval.Number(f) }
	}
	integer := func(i int64) func() (jsonval.Value, error) {
		return func() (jsonval.Value, error) { return jsonval.Int(i) }
	}
	str := func(s string) func() (jsonval.Value, error) {
		return func() (jsonval.Value, error) { return jsonval.String(s) }
	}
	for _, c := range []struct {
		rule string
		make func() (jsonval.Value, error)
		want string // the text, or the error
	}{
		{"JSON-1 a finite number", number(-2.5), "-2.5"},
		{"JSON-1 zero", number(0), "0"},
		{"JSON-2 NaN", number(math.NaN()), "NaN at $"},
		{"JSON-2 +Inf", number(math.Inf(1)), "an infinite number at $"},
		{"JSON-2 -Inf", number(math.Inf(-1)), "an infinite number at $"},
		{"JSON-2 negative zero", number(math.Copysign(0, -1)), "negative zero at $"},
		{"JSON-3 2^53", integer(1 << 53), "9007199254740992"},
		{"JSON-3 -2^53", integer(-1 << 53), "-9007199254740992"},
		{"JSON-3 2^53+1", integer(1<<53 + 1), "an integer that a double cannot hold exactly at $"},
		{"JSON-3 -2^53-1", integer(-1<<53 - 1), "an integer that a double cannot hold exactly at $"},
		{"JSON-3 VALUE-6 2^60", integer(1 << 60), "1152921504606847000"},
		{"JSON-3 the least int64", integer(math.MinInt64), "-9223372036854776000"},
		{"JSON-3 the greatest int64", integer(math.MaxInt64), "an integer that a double cannot hold exactly at $"},
		{"JSON-4 text", str("a\x00é😀\u2028"), "\"a\\u0000é😀\u2028\""},
		{"JSON-4 a stray byte", str("a\xff"), "text that is not valid UTF-8 at $"},
		{"JSON-4 a surrogate as UTF-8", str("\xed\xa0\x80"), "text that is not valid UTF-8 at $"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			v, err := c.make()
			got := v.String()
			if err != nil {
				var lossy *jsonval.Error
				if !errors.As(err, &lossy) || lossy.Offset != -1 || v.Exists() {
					t.Errorf("error %#v with %s", err, v)
				}
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	if got := jsonval.Text("a\xff\xfeb\xed\xa0\x80").Str(); got != "a�b�" {
		t.Errorf("Text: %q", got)
	}
}

func TestObject(t *testing.T) {
	m := func(name string, v any) jsonval.Member { return jsonval.Member{Name: name, Value: jsonval.MustOf(v)} }
	o := jsonval.Object(m("b", 1), m("a", 2), m("b", 3), m("", 4), m("__proto__", 5))
	for _, c := range []struct {
		rule, want string
		got        jsonval.Value
	}{
		{"JSON-6 a repeated name", `{"b":3,"a":2,"":4,"__proto__":5}`, o},
		{"With at its place", `{"b":3,"a":"x","":4,"__proto__":5}`, o.With("a", jsonval.Text("x"))},
		{"With at the end", `{"b":3,"a":2,"":4,"__proto__":5,"c":null}`, o.With("c", jsonval.Null())},
		{"With on an absent value", `{"c":null}`, jsonval.Value{}.With("c", jsonval.Null())},
		{"Without", `{"b":3,"":4,"__proto__":5}`, o.Without("a")},
		{"JSON-5 Without the empty name", `{"b":3,"a":2,"__proto__":5}`, o.Without("")},
		{"Without an unknown name", `{"b":3,"a":2,"":4,"__proto__":5}`, o.Without("toString")},
		{"Without on another kind", `[1]`, jsonval.MustOf([]int{1}).Without("0")},
		{"Without the last member", `{}`, jsonval.Object(m("a", 1)).Without("a")},
		{"a name that is not UTF-8", `{"a�":2}`, jsonval.Object(m("a\xff", 1), m("a\xfe", 2))},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if c.got.String() != c.want {
				t.Errorf("got %s, want %s", c.got, c.want)
			}
		})
	}
	for _, name := range []string{"toString", "constructor", "hasOwnProperty", "B", "b "} {
		if v, ok := o.Get(name); ok || v.Exists() {
			t.Errorf("JSON-5 %s is %s", name, v)
		}
	}
	if v, ok := o.Get("__proto__"); !ok || v.Float() != 5 {
		t.Errorf("JSON-5 __proto__ is %s", v)
	}
	// Around the number of members from which an object has an index.
	grown := jsonval.Object()
	for i := range 40 {
		before := grown
		grown = grown.With(fmt.Sprint("k", i), jsonval.MustOf(i)).With("k0", jsonval.MustOf(-i-1))
		if before.Len() != i || grown.Len() != i+1 {
			t.Fatalf("%d members became %d", before.Len(), grown.Len())
		}
		for j := 1; j <= i; j++ {
			if v, ok := grown.Get(fmt.Sprint("k", j)); !ok || v.Float() != float64(j) {
				t.Fatalf("k%d of %s is %s", j, grown, v)
			}
		}
		if shrunk := grown.Without(fmt.Sprint("k", i)); i > 0 && shrunk.Len() != i || !jsonval.Equal(parse(t, grown.String()), grown) {
			t.Fatalf("%s", shrunk)
		}
	}
}

func TestMisuse(t *testing.T) {
	absent := jsonval.Value{}
	for name, f := range map[string]func(){
		"Array: an item is absent":           func() { jsonval.Array(jsonval.Null(), absent) },
		`Object: the value of "a" is absent`: func() { jsonval.Object(jsonval.Member{Name: "a"}) },
		`With: the value of "a" is absent`:   func() { jsonval.Object().With("a", absent) },
		"With: called on array":              func() { jsonval.Array().With("a", jsonval.Null()) },
		"MustOf: NaN at $[0]":                func() { jsonval.MustOf([]float64{math.NaN()}) },
	} {
		t.Run("JSON-2 "+name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != "jsonval: "+name {
					t.Errorf("panicked with %v", got)
				}
			}()
			f()
		})
	}
}

func TestNothingLeadsBack(t *testing.T) {
	t.Run("JSON-9 what is handed in and out can be changed", func(t *testing.T) {
		items := []jsonval.Value{jsonval.Text("a"), jsonval.Text("b")}
		members := []jsonval.Member{{Name: "x", Value: jsonval.Array(items...)}, {Name: "y", Value: jsonval.Null()}}
		v := jsonval.Object(members...)
		const want = `{"x":["a","b"],"y":null}`
		items[0], members[0].Name, members[1].Value = jsonval.Null(), "z", jsonval.Null()
		for i, b := range v.JSON() {
			_ = b
			v.JSON()[i] = '#'
		}
		v.Names()[0] = "#"
		dst := v.AppendJSON(nil)
		dst[0] = '#'
		marshalled, _ := v.MarshalJSON()
		marshalled[0] = '#'
		v.Any().(map[string]any)["x"].([]any)[0] = "#"
		var decoded any
		if err := v.Decode(&decoded); err != nil {
			t.Fatal(err)
		}
		decoded.(map[string]any)["x"].([]any)[0] = "#"
		for name, x := range v.Members() {
			name, x = "#", jsonval.Null()
			_, _ = name, x
		}
		var variable = v
		if err := json.Unmarshal([]byte(`{"x":1}`), &variable); err != nil {
			t.Fatal(err)
		}
		v.With("x", jsonval.Null())
		v.Without("x")
		jsonval.SortKeys(v)
		if got := v.String(); got != want {
			t.Errorf("the value is %s now", got)
		}
	})
}

func TestRanges(t *testing.T) {
	v := parse(t, `{"list":[1,2,3],"a":1,"b":2}`)
	list, _ := v.Get("list")
	var got []string
	for i, item := range list.Items() {
		got = append(got, fmt.Sprint(i, "=", item))
	}
	for i := range list.Items() {
		if i == 1 {
			break
		}
	}
	for name, m := range v.Members() {
		got = append(got, name+"="+m.String())
		if name == "a" {
			break
		}
	}
	for range v.Items() {
		t.Error("an object has items")
	}
	for range list.Members() {
		t.Error("an array has members")
	}
	if want := []string{"0=1", "1=2", "2=3", "list=[1,2,3]", "a=1"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if names := strings.Join(v.Names(), " "); names != "list a b" || len(list.Names()) != 0 {
		t.Errorf("JSON-6 names %s", names)
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b             string
		equal, identical bool
	}{
		{`null`, `null`, true, true},
		{`null`, `false`, false, false},
		{`1`, `1.0`, true, true},
		{`1`, `"1"`, false, false},
		{`0`, `false`, false, false},
		{`"a"`, `"\u0061"`, true, true},
		{`"a"`, `"b"`, false, false},
		{`[]`, `{}`, false, false},
		{`[1,2]`, `[2,1]`, false, false},
		{`[1,2]`, `[1,2,3]`, false, false},
		{`{"a":1,"b":[{"c":2,"d":3}]}`, `{"b":[{"d":3,"c":2}],"a":1}`, true, false},
		{`{"a":1,"b":[{"c":2,"d":3}]}`, `{"a":1,"b":[{"c":2,"d":3}]}`, true, true},
		{`{"a":1,"b":2}`, `{"a":2,"b":1}`, false, false},
		{`{"a":1,"b":2}`, `{"a":1,"c":2}`, false, false},
		{`{"a":null}`, `{"b":null}`, false, false},
		{`{"a":{"b":{}}}`, `{"a":{"b":[]}}`, false, false},
	} {
		a, b := parse(t, c.a), parse(t, c.b)
		for range 2 {
			if jsonval.Equal(a, b) != c.equal || jsonval.Identical(a, b) != c.identical {
				t.Errorf("%s and %s: equal %v, identical %v", a, b, jsonval.Equal(a, b), jsonval.Identical(a, b))
			}
			a, b = b, a
		}
	}
	if absent := (jsonval.Value{}); !jsonval.Equal(absent, absent) || jsonval.Equal(absent, jsonval.Null()) {
		t.Error("absent is not null")
	}
	t.Run("JSON-7 a value that holds itself twice at each of 60 levels", func(t *testing.T) {
		v := jsonval.Text("x")
		for range 60 {
			v = jsonval.Array(v, v)
		}
		if !jsonval.Equal(jsonval.Array(v), jsonval.Array(v)) {
			t.Error("not equal")
		}
		if v.Size(1<<20) != 1<<20+1 {
			t.Error("LOG-11 the measuring did not stop")
		}
	})
}
