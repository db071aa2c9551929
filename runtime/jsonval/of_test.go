package jsonval_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// ofCase is a Go value and the text that it comes out as, which is that of encoding/json too unless own is set.
type ofCase struct {
	rule string
	v    any
	want string
	own  bool
}

func checkOf(t *testing.T, cases []ofCase) {
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			got, err := jsonval.Of(c.v)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if !jsonval.Identical(got, parse(t, got.String())) {
				t.Errorf("%s is read back as another value", got)
			}
			plain, err := json.Marshal(c.v)
			if same := string(plain) == c.want; err != nil || same == c.own {
				t.Errorf("encoding/json prints %s (%v)", plain, err)
			}
		})
	}
}

type (
	inner struct {
		X int
		Y string `json:"y,omitempty"`
	}
	Exported struct{ E, Hidden int }
	other    struct {
		O      int `json:"o"`
		Hidden int
	}
	celsius  float64
	textual  struct{ s string }
	pointed  struct{ n int }
	node     struct{ Next *node }
	anything struct {
		A any `json:"a"`
	}
	zeroable struct{ N int }
	unzero   struct{ N int }
	stringly string
	byteType byte
	textByte byte
	textKey  string
)

func (c celsius) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"degrees":%v}`, float64(c)), nil
}
func (t textual) MarshalText() ([]byte, error) { return []byte("text:" + t.s), nil }
func (p *pointed) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `"pointed %d"`, p.n), nil
}
func (z zeroable) IsZero() bool                 { return z.N == 7 }
func (z *unzero) IsZero() bool                  { return z.N == 7 }
func (k textKey) MarshalText() ([]byte, error)  { return []byte("text:" + k), nil }
func (b textByte) MarshalText() ([]byte, error) { return []byte{'b', byte(b)}, nil }

func ptr[T any](v T) *T { return &v }

func TestOf(t *testing.T) {
	shared := &inner{X: 1}
	checkOf(t, []ofCase{
		{"JSON-1 nil", nil, `null`, false},
		{"JSON-1 scalars", []any{true, false, "s", 1, 1.5, int8(-3), uint16(4), float32(0.1), uintptr(9)}, `[true,false,"s",1,1.5,-3,4,0.1,9]`, false},
		{"JSON-1 named types", []any{stringly("s"), time.Second, ptr(stringly("p"))}, `["s",1000000000,"p"]`, false},
		{"JSON-3 integers that a double holds", []any{int64(1 << 53), uint64(1 << 53), -(1 << 53)}, `[9007199254740992,9007199254740992,-9007199254740992]`, false},
		{"JSON-3 VALUE-6 large integers", []any{int64(1 << 60), uint64(1 << 63), int64(math.MinInt64)}, `[1152921504606847000,9223372036854776000,-9223372036854776000]`, true},
		{"JSON-3 numbers of other packages", []any{json.Number("1e3"), big.NewInt(12), *big.NewInt(1 << 53), new(big.Int).Lsh(big.NewInt(1), 100), json.Number("")}, `[1000,12,9007199254740992,1.2676506002282294e+30,0]`, true},
		{"JSON-5 names are data", map[string]any{"__proto__": 1, "": 2, "constructor": nil}, `{"":2,"__proto__":1,"constructor":null}`, false},
		{"JSON-6 a map in the order of its names", map[string]int{"b": 1, "a": 2, "B": 3, "é": 4, "10": 5, "9": 6}, `{"10":5,"9":6,"B":3,"a":2,"b":1,"é":4}`, false},
		{"JSON-6 a struct in the order of its fields", struct{ B, A int }{1, 2}, `{"B":1,"A":2}`, false},
		{"JSON-6 a Value keeps its order", []any{parse(t, `{"b":1,"a":2}`), map[string]jsonval.Value{"v": jsonval.Text("x")}}, `[{"b":1,"a":2},{"v":"x"}]`, false},
		{"JSON-6 raw text keeps its order", []any{json.RawMessage(` {"b": 1.0, "a":2, "b":3} `), json.RawMessage(nil), ptr(json.RawMessage(`[]`))}, `[{"b":3,"a":2},null,[]]`, true},
		{"JSON-7 a pointer twice becomes two copies", []any{shared, shared, map[string]any{"again": shared}}, `[{"X":1},{"X":1},{"again":{"X":1}}]`, false},
		{"DEFINE-9 nil containers are empty", struct {
			S []int
			M map[string]int
			B []byte
			A any
			P *int
			Q *[]int
			N []any
			O map[string]any
		}{}, `{"S":[],"M":{},"B":"","A":null,"P":null,"Q":null,"N":[],"O":{}}`, true},
		{"DEFINE-9 nil at the root", []any{[]string(nil), map[int]int(nil), (*int)(nil), []any(nil), map[string]any(nil)}, `[[],{},null,[],{}]`, true},
		{"bytes", []any{[]byte("hi\xff"), []byteType{1, 2}, [3]byte{1, 2, 3}, []textByte{'x'}, []int8{1}}, `["aGn/","AQI=",[1,2,3],["bx"],[1]]`, false},
		{"arrays", [2][2]int{{1, 2}, {3, 4}}, `[[1,2],[3,4]]`, false},
		{"empty containers", []any{[]int{}, [0]int{}, map[string]int{}, struct{}{}}, `[[],[],{},{}]`, false},
		{"typed lists", []any{[]string{"a", ""}, []float64{1, .5}, []bool{true}, [][]int{{1}, nil, {2, 3}}, []*int{ptr(1), nil}, []jsonval.Value{jsonval.Null()}}, `[["a",""],[1,0.5],[true],[[1],[],[2,3]],[1,null],[null]]`, true},
		{"typed maps", []any{map[string]string{"a": "b"}, map[string][]int{"x": {1}, "w": {}}, map[stringly]bool{"k": true}}, `[{"a":"b"},{"w":[],"x":[1]},{"k":true}]`, false},
		{"maps of other keys", []any{map[int]string{10: "a", -1: "b", 9: "c"}, map[uint8]int{3: 4}, map[textual]int{{"k"}: 1, {"j"}: 2}, map[netip.Addr]int{netip.MustParseAddr("::1"): 1}, map[*textual]int{nil: 2}, map[encoding.TextMarshaler]int{textual{"i"}: 3}, map[textKey]int{"raw": 4}}, `[{"-1":"b","10":"a","9":"c"},{"3":4},{"text:j":2,"text:k":1},{"::1":1},{"":2},{"text:i":3},{"raw":4}]`, false},
		{"marshalers", []any{celsius(1.5), ptr(celsius(2)), time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), textual{"a"}, &textual{"b"}, netip.MustParseAddr("1.2.3.4"), big.NewFloat(1.5)}, `[{"degrees":1.5},{"degrees":2},"2026-01-02T03:04:05.000000006Z","text:a","text:b","1.2.3.4","1.5"]`, false},
		{"nil marshalers", []any{(*celsius)(nil), (*textual)(nil), (*pointed)(nil), (*big.Int)(nil), (*jsonval.Value)(nil), (json.Marshaler)(nil), struct{ M json.Marshaler }{}}, `[null,null,null,null,null,null,{"M":null}]`, false},
		{"methods of pointers", []any{&pointed{1}, []pointed{{2}}, &struct{ P pointed }{pointed{3}}, map[string]*pointed{"k": {4}}}, `["pointed 1",["pointed 2"],{"P":"pointed 3"},{"k":"pointed 4"}]`, false},
		{"pointers to pointers", []any{ptr(ptr(ptr(5))), ptr(any(ptr(6))), ptr((*int)(nil))}, `[5,6,null]`, false},
		{"interfaces", []any{anything{anything{[]fmt.Stringer{time.Second, nil}}}}, `[{"a":{"a":[1000000000,null]}}]`, false},
		{"a marshaler behind an interface", struct{ M json.Marshaler }{parse(t, `{"b":1,"a":2}`)}, `{"M":{"b":1,"a":2}}`, false},
	})
}

// TestOfRefuses has Go values and the exact error.
func TestOfRefuses(t *testing.T) {
	loop := &node{}
	loop.Next = &node{Next: &node{Next: loop}}
	list := []any{1, nil}
	list[1] = map[string]any{"again": list}
	dict := map[string]any{}
	dict["self"] = dict
	typed := map[string]*anything{"a": {}}
	typed["a"].A = typed
	type slices []slices
	nested := slices{nil}
	nested[0] = nested
	type pointer *pointer
	var self pointer
	self = &self
	var box any
	box = &box
	long := &node{}
	for last, i := long, 0; i < 100; i++ {
		last.Next = &node{}
		if last = last.Next; i == 99 {
			last.Next = long
		}
	}
	var below any = dict
	for range 50 {
		below = []any{below}
	}
	for _, c := range []struct {
		rule string
		v    any
		want string
	}{
		{"JSON-2 a cycle below many levels", below, "a cyclic structure at $" + strings.Repeat("[0]", 16) + "…" + strings.Repeat("[0]", 20) + ".self"},
		{"JSON-2 a function", map[string]any{"f": func() {}}, "a Go value of type func() at $.f"},
		{"JSON-2 a nil function", struct {
			F func() `json:",omitempty"`
		}{}, "a Go value of type func() at $.F"},
		{"JSON-2 a channel", []any{make(chan int)}, "a Go value of type chan int at $[0]"},
		{"JSON-2 a complex number", complex(1, 2), "a Go value of type complex128 at $"},
		{"JSON-2 an unsafe pointer", unsafe.Pointer(nil), "a Go value of type unsafe.Pointer at $"},
		{"JSON-2 an iterator", maps.Keys(map[int]int{}), "a Go value of type iter.Seq[int] at $"},
		{"JSON-2 an error value", map[string]any{"err": errors.New("x")}, "a Go value of type errors.errorString, which has no exported field at $.err"},
		{"JSON-2 NaN", []float64{1, math.NaN()}, "NaN at $[1]"},
		{"JSON-2 +Inf", map[string]float32{"x": float32(math.Inf(1))}, "an infinite number at $.x"},
		{"JSON-2 negative zero", struct{ Z float64 }{math.Copysign(0, -1)}, "negative zero at $.Z"},
		{"JSON-2 negative zero of 32 bits", float32(math.Copysign(0, -1)), "negative zero at $"},
		{"JSON-2 an absent value", jsonval.Value{}, "an absent value at $"},
		{"JSON-2 an absent item", []jsonval.Value{jsonval.Null(), {}}, "an absent value at $[1]"},
		{"JSON-2 an absent member", struct{ V *jsonval.Value }{new(jsonval.Value)}, "an absent value at $.V"},
		{"JSON-2 an absent marshaler", []json.Marshaler{jsonval.Value{}}, "an absent value at $[0]"},
		{"JSON-2 a cycle of pointers", loop, "a cyclic structure at $.Next.Next.Next"},
		{"JSON-2 a long cycle of pointers", long, "a cyclic structure at $" + strings.Repeat(".Next", 9) + "…" + strings.Repeat(".Next", 13)},
		{"JSON-2 a list in itself", list, "a cyclic structure at $[1].again"},
		{"JSON-2 a map in itself", dict, "a cyclic structure at $.self"},
		{"JSON-2 a typed map in itself", typed, "a cyclic structure at $.a.a"},
		{"JSON-2 a typed list in itself", nested, "a cyclic structure at $[0]"},
		{"JSON-2 a pointer to itself", []any{self}, "a cyclic structure at $[0]"},
		{"JSON-2 an interface that holds its address", box, "a cyclic structure at $"},
		{"JSON-2 a map with keys of another type", map[float64]int{1: 1}, "a map with keys of type float64 at $"},
		{"JSON-2 a map with keys of any type", []any{map[any]int{"a": 1}}, "a map with keys of type interface {} at $[0]"},
		{"JSON-2 a nil key", map[encoding.TextMarshaler]int{nil: 1}, "a map with a nil key at $"},
		{"JSON-2 keys with the same text", map[*textual]int{{"a"}: 1, {"a"}: 2}, "a map with two keys of the same text at $"},
		{"JSON-3 2^53+1", []int{1<<53 + 1}, "an integer that a double cannot hold exactly at $[0]"},
		{"JSON-3 an odd large uint64", []uint64{1 << 63, 1<<63 + 1}, "an integer that a double cannot hold exactly at $[1]"},
		{"JSON-3 the greatest uint64", map[string]uint64{"u": math.MaxUint64}, "an integer that a double cannot hold exactly at $.u"},
		{"JSON-3 json.Number", json.Number("9007199254740993"), "an integer that a double cannot hold exactly at $"},
		{"JSON-2 json.Number overflows", json.Number("1e999"), "a number too large for a double at $"},
		{"JSON-2 json.Number is negative zero", json.Number("-0.0"), "negative zero at $"},
		{"JSON-3 json.Number is no number", []any{json.Number("1x")}, "a json.Number that is no JSON number at $[0]"},
		{"JSON-3 json.Number has a leading zero", json.Number("01"), "a json.Number that is no JSON number at $"},
		{"JSON-3 json.Number is NaN", json.Number("NaN"), "a json.Number that is no JSON number at $"},
		{"JSON-3 json.Number has no digit", json.Number("-"), "a json.Number that is no JSON number at $"},
		{"JSON-3 a big integer", []*big.Int{new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 100), big.NewInt(1))}, "an integer that a double cannot hold exactly at $[0]"},
		{"JSON-3 a huge integer", new(big.Int).Lsh(big.NewInt(1), 2000), "an integer that a double cannot hold exactly at $"},
		{"JSON-4 VALUE-9 a stray byte", []string{"a", "b\xff"}, "text that is not valid UTF-8 at $[1]"},
		{"JSON-4 VALUE-9 a stray byte in a name", map[string]any{"b\xff": 1}, "a name that is not valid UTF-8 at $"},
		{"JSON-4 VALUE-9 a stray byte in a typed map's name", map[string]int{"b\xff": 1}, "a name that is not valid UTF-8 at $"},
		{"JSON-4 VALUE-9 a stray byte of MarshalText", textual{"\xff"}, "text that is not valid UTF-8 at $"},
		{"JSON-4 VALUE-9 a surrogate in raw text", map[string]any{"r": json.RawMessage(`{"s":["\ud800"]}`)}, "an unpaired surrogate escape at $.r.s[0]"},
		{"VALUE-1 a long path into raw text", map[string]any{strings.Repeat("é", 20): map[string]any{strings.Repeat("k", 30): json.RawMessage(strings.Repeat(`{"abcdefg":`, 20) + "-0")}},
			`negative zero at $["ééééééééééééé…"].kkkkkkkkkkkkkkk…` + strings.Repeat(".abcdefg", 8)},
		{"JSON-2 negative zero in raw text", []any{1, json.RawMessage(`[-0]`)}, "negative zero at $[1][0]"},
		{"JSON-2 raw text that is no JSON", json.RawMessage(`{"a":}`), "invalid JSON (byte 5: '}', expected a value) at $.a"},
		{"JSON-2 raw text without a value", json.RawMessage{}, "invalid JSON (byte 0: the end of the text, expected a value) at $"},
		{"JSON-2 a marshaler that prints negative zero", []any{celsius(math.Copysign(0, -1))}, "negative zero at $[0].degrees"},
		{"VALUE-1 the path after omitted fields", struct {
			A int   `json:",omitempty"`
			B []any `json:"b"`
		}{B: []any{1, map[string]any{"a": 1, "z": math.NaN()}}}, "NaN at $.b[1].z"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			v, err := jsonval.Of(c.v)
			var lossy *jsonval.Error
			if !errors.As(err, &lossy) || v.Exists() {
				t.Fatalf("%s and an error of type %T: %v", v, err, err)
			}
			if err.Error() != c.want || lossy.Offset != -1 {
				t.Errorf("\n got %s\nwant %s", err, c.want)
			}
		})
	}
}

func TestSharedDeepDown(t *testing.T) {
	t.Run("JSON-7 a pointer twice, below many levels", func(t *testing.T) {
		shared := &node{Next: &node{}}
		var v any = []any{shared, shared, []any{shared}, map[string]any{"k": shared.Next}}
		const levels = 50
		for range levels {
			v = []any{v}
		}
		want := strings.Repeat("[", levels) + `[{"Next":{"Next":null}},{"Next":{"Next":null}},[{"Next":{"Next":null}}],{"k":{"Next":null}}]` + strings.Repeat("]", levels)
		if got := jsonval.MustOf(v).String(); got != want {
			t.Errorf("got %s", got)
		}
	})
}

func TestOfIsDetached(t *testing.T) {
	t.Run("JSON-7 VALUE-8 the caller's data may change, and is not changed", func(t *testing.T) {
		raw := json.RawMessage(`{"k":"v"}`)
		data := map[string]any{
			"list": []any{1, "two"}, "bytes": []byte{1, 2}, "raw": raw,
			"typed": []string{"a"}, "struct": &inner{X: 1}, "values": []jsonval.Value{jsonval.Text("v")},
		}
		before := fmt.Sprint(data["list"], data["bytes"], data["typed"], len(data))
		v := jsonval.MustOf(data)
		if after := fmt.Sprint(data["list"], data["bytes"], data["typed"], len(data)); after != before {
			t.Errorf("the data became %s", after)
		}
		want := v.String()
		data["list"].([]any)[0] = "changed"
		data["bytes"].([]byte)[0] = 9
		copy(raw, `{"x":"y"}`)
		data["typed"].([]string)[0] = "changed"
		data["struct"].(*inner).X = 9
		data["values"].([]jsonval.Value)[0] = jsonval.Null()
		delete(data, "list")
		if got := v.String(); got != want {
			t.Errorf("%s became %s", want, got)
		}
	})
}
