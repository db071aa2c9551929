package jsonval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

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
func (b textByte) MarshalText() ([]byte, error) { return []byte{'b', byte(b)}, nil }

func ptr[T any](v T) *T { return &v }

// TestOf has Go values and the text that they come out as, which is that of encoding/json too unless own is set.
func TestOf(t *testing.T) {
	shared := &inner{X: 1}
	for _, c := range []struct {
		rule string
		v    any
		want string
		own  bool
	}{
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
		{"maps of other keys", []any{map[int]string{10: "a", -1: "b", 9: "c"}, map[uint8]int{3: 4}, map[textual]int{{"k"}: 1, {"j"}: 2}, map[netip.Addr]int{netip.MustParseAddr("::1"): 1}}, `[{"-1":"b","10":"a","9":"c"},{"3":4},{"text:j":2,"text:k":1},{"::1":1}]`, false},
		{"names in tags", struct {
			A int `json:"a"`
			B int `json:"-"`
			C int `json:"-,"`
			D int `json:",omitempty"`
			E int `json:"é ü/$%"`
			F int `json:"quo\"te"`
			G int `json:"back\\slash"`
			H int `yaml:"h"`
			i int
		}{1, 2, 3, 4, 5, 6, 7, 8, 9}, `{"a":1,"-":3,"D":4,"é ü/$%":5,"F":6,"G":7,"H":8}`, false},
		{"omitempty", struct {
			A bool            `json:",omitempty"`
			B int             `json:",omitempty"`
			C string          `json:",omitempty"`
			D *int            `json:",omitempty"`
			E any             `json:",omitempty"`
			F []int           `json:",omitempty"`
			G map[string]int  `json:",omitempty"`
			H [0]int          `json:",omitempty"`
			I [1]int          `json:",omitempty"`
			J struct{}        `json:",omitempty"`
			K float64         `json:",omitempty"`
			L uint8           `json:",omitempty"`
			M json.RawMessage `json:",omitempty"`
			N time.Time       `json:",omitempty"`
			O *int            `json:",omitempty"`
			P []int           `json:",omitempty"`
		}{O: ptr(0), P: []int{0}}, `{"I":[0],"J":{},"N":"0001-01-01T00:00:00Z","O":0,"P":[0]}`, false},
		{"omitzero", struct {
			A int             `json:",omitzero"`
			B []int           `json:",omitzero"`
			C []int           `json:",omitzero"`
			D time.Time       `json:",omitzero"`
			E struct{ X int } `json:",omitzero"`
			F zeroable        `json:",omitzero"`
			G zeroable        `json:",omitzero"`
			H unzero          `json:",omitzero"`
			I unzero          `json:",omitzero"`
			J *zeroable       `json:",omitzero"`
			K *zeroable       `json:",omitzero"`
			L jsonval.Value   `json:",omitzero"`
			M jsonval.Value   `json:",omitzero"`
			N any             `json:",omitzero"`
			O [1]int          `json:",omitzero"`
			P []int           `json:",omitempty,omitzero"`
		}{C: []int{}, F: zeroable{7}, G: zeroable{0}, H: unzero{7}, I: unzero{0}, K: &zeroable{7}, M: jsonval.Null(), P: []int{}},
			`{"C":[],"G":{"N":0},"I":{"N":0},"M":null}`, false},
		{"the option string", struct {
			A int64       `json:",string"`
			B uint64      `json:",string"`
			C float64     `json:",string"`
			D bool        `json:",string"`
			E string      `json:",string"`
			F *int        `json:",string"`
			G *int        `json:",string"`
			H []int       `json:",string"`
			I any         `json:",string"`
			J celsius     `json:",string"`
			K json.Number `json:",string"`
			L float32     `json:",string"`
			M textual     `json:",string"`
			N json.Number `json:",string"`
		}{math.MaxInt64, math.MaxUint64, 1e21, true, `a"b`, ptr(5), nil, []int{6}, 7, 8, "1.50", 0.1, textual{"x"}, "9007199254740993"},
			`{"A":"9223372036854775807","B":"18446744073709551615","C":"1e+21","D":"true","E":"\"a\\\"b\"","F":"5","G":null,"H":[6],"I":7,"J":{"degrees":8},"K":"1.50","L":"0.1","M":"text:x","N":"9007199254740993"}`, false},
		{"embedded structs", struct {
			inner
			*Exported
			Z int
		}{inner{1, "y"}, &Exported{2, 3}, 4}, `{"X":1,"y":"y","E":2,"Hidden":3,"Z":4}`, false},
		{"an embedded nil pointer", struct {
			*Exported
			Z int
		}{nil, 4}, `{"Z":4}`, false},
		{"embedded fields that hide each other", struct {
			Exported
			other
		}{Exported{1, 2}, other{3, 4}}, `{"E":1,"o":3}`, false},
		{"a field hides an embedded one", struct {
			Exported
			Hidden string
		}{Exported{1, 2}, "outer"}, `{"E":1,"Hidden":"outer"}`, false},
		{"a tag decides between embedded fields", struct {
			Exported
			Tagged
		}{Exported{1, 2}, Tagged{3}}, `{"E":1,"Hidden":3}`, false},
		{"the nearest of embedded fields", struct {
			Third
			Exported
		}{Third{Deep{1}}, Exported{2, 3}}, `{"E":2,"Hidden":3}`, false},
		{"a named embedded struct", struct {
			Exported `json:"in"`
			inner    `json:"-"`
		}{Exported{1, 2}, inner{}}, `{"in":{"E":1,"Hidden":2}}`, false},
		{"embedded types that are no structs", struct {
			stringly
			Named
			*NamedP
		}{"hidden", "n", ptr(NamedP(3))}, `{"Named":"n","NamedP":3}`, false},
		{"a struct embedded twice at one level", struct {
			Twice1
			Twice2
		}{}, `{}`, false},
		{"a struct that embeds itself", &recursive{N: 1, Recursive: nil}, `{"N":1}`, false},
		{"marshalers", []any{celsius(1.5), ptr(celsius(2)), time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), textual{"a"}, &textual{"b"}, netip.MustParseAddr("1.2.3.4"), big.NewFloat(1.5)}, `[{"degrees":1.5},{"degrees":2},"2026-01-02T03:04:05.000000006Z","text:a","text:b","1.2.3.4","1.5"]`, false},
		{"nil marshalers", []any{(*celsius)(nil), (*textual)(nil), (*pointed)(nil), (*big.Int)(nil), (*jsonval.Value)(nil), (json.Marshaler)(nil), struct{ M json.Marshaler }{}}, `[null,null,null,null,null,null,{"M":null}]`, false},
		{"methods of pointers", []any{&pointed{1}, []pointed{{2}}, &struct{ P pointed }{pointed{3}}, map[string]*pointed{"k": {4}}}, `["pointed 1",["pointed 2"],{"P":"pointed 3"},{"k":"pointed 4"}]`, false},
		{"pointers to pointers", []any{ptr(ptr(ptr(5))), ptr(any(ptr(6))), ptr((*int)(nil))}, `[5,6,null]`, false},
		{"interfaces", []any{anything{anything{[]fmt.Stringer{time.Second, nil}}}}, `[{"a":{"a":[1000000000,null]}}]`, false},
		{"a marshaler behind an interface", struct{ M json.Marshaler }{parse(t, `{"b":1,"a":2}`)}, `{"M":{"b":1,"a":2}}`, false},
	} {
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
	Named  string
	NamedP int
	Third  struct{ Deep }
	Tagged struct {
		Q int `json:"Hidden"`
	}
	Deep      struct{ Hidden int }
	Twice1    struct{ Twice }
	Twice2    struct{ Twice }
	Twice     struct{ T int }
	Recursive = recursive
	recursive struct {
		N int
		*Recursive
	}
)

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
	for _, c := range []struct {
		rule string
		v    any
		want string
	}{
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
		{"JSON-2 keys with the same text", map[*textual]int{{"a"}: 1, {"a"}: 2}, "a map with two keys of the same text at $"},
		{"JSON-3 2^53+1", []int{1<<53 + 1}, "an integer that a double cannot hold exactly at $[0]"},
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

// counting fails, or not, and counts how often it is asked.
type counting struct {
	calls *int
	raise func() ([]byte, error)
}

func (c counting) MarshalJSON() ([]byte, error) {
	*c.calls++
	return c.raise()
}

type countingText counting

func (c countingText) MarshalText() ([]byte, error) { return counting(c).MarshalJSON() }

type countingZero counting

func (c countingZero) IsZero() bool {
	_, err := counting(c).MarshalJSON()
	return err == nil
}

type mute struct{}

func (mute) Error() string { panic("no message") }

func TestOfReadsOnce(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for name, c := range map[string]struct {
		raise   func() ([]byte, error)
		message string
		cause   error
	}{
		"an error":              {func() ([]byte, error) { return nil, broken }, "the disk is on fire", broken},
		"a panic with an error": {func() ([]byte, error) { panic(broken) }, "the disk is on fire", broken},
		"a panic with a text":   {func() ([]byte, error) { panic("boom") }, "boom", nil},
		"a panic with a value":  {func() ([]byte, error) { panic(42) }, "42", nil},
		"a long message": {func() ([]byte, error) { return nil, errors.New(strings.Repeat("x", 1000)) },
			strings.Repeat("x", 1000), nil},
		"an error without a message": {func() ([]byte, error) { return nil, mute{} }, "a jsonval_test.mute without a message", mute{}},
	} {
		for kind, wrap := range map[string]func(counting) any{
			"MarshalJSON":          func(c counting) any { return c },
			"MarshalText":          func(c counting) any { return countingText(c) },
			"MarshalText of a key": func(c counting) any { return map[*countingText]int{ptr(countingText(c)): 1} },
			"a method of a field":  func(c counting) any { return &struct{ C counting }{c} },
			"a quoted field": func(c counting) any {
				return struct {
					C countingText `json:",string"`
				}{countingText(c)}
			},
			"IsZero": func(c counting) any {
				return struct {
					C countingZero `json:",omitzero"`
				}{countingZero(c)}
			},
		} {
			if kind == "IsZero" && !strings.HasPrefix(name, "a panic") {
				continue
			}
			t.Run("JSON-8 "+name+" from "+kind, func(t *testing.T) {
				calls := 0
				v, err := jsonval.Of([]any{1, wrap(counting{&calls, c.raise})})
				var failed *jsonval.ReadError
				if !errors.As(err, &failed) || v.Exists() {
					t.Fatalf("%s and an error of type %T: %v", v, err, err)
				}
				if err.Error() != c.message || failed.Message != c.message || !strings.HasPrefix(failed.Path, "$[1]") {
					t.Errorf("%s at %s", err, failed.Path)
				}
				if c.cause != nil && !errors.Is(err, c.cause) {
					t.Errorf("the cause %v is lost", c.cause)
				}
				if calls != 1 {
					t.Errorf("read %d times", calls)
				}
			})
		}
	}
	t.Run("JSON-8 success is read once, too", func(t *testing.T) {
		calls := 0
		good := counting{&calls, func() ([]byte, error) { return []byte(`[1]`), nil }}
		if v, err := jsonval.Of([]any{good, &good, map[string]counting{"k": good}}); err != nil || v.String() != `[[1],[1],{"k":[1]}]` || calls != 3 {
			t.Errorf("%s, %v, %d calls", v, err, calls)
		}
	})
	t.Run("JSON-8 what MarshalJSON returns is checked like any text", func(t *testing.T) {
		calls := 0
		bad := counting{&calls, func() ([]byte, error) { return []byte(`{"n":9007199254740993}`), nil }}
		_, err := jsonval.Of(bad)
		var lossy *jsonval.Error
		if !errors.As(err, &lossy) || lossy.Path != "$.n" || calls != 1 {
			t.Errorf("%v, %d calls", err, calls)
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

func TestDecode(t *testing.T) {
	type args struct {
		Path  string          `json:"path"`
		Limit *int            `json:"limit"`
		Big   int64           `json:"big"`
		Huge  *big.Int        `json:"huge"`
		Raw   json.RawMessage `json:"raw"`
		Any   any             `json:"any"`
		V     jsonval.Value   `json:"v"`
		Time  time.Time       `json:"time"`
		M     map[string]int  `json:"m"`
	}
	v := parse(t, `{"path":"a\nb","big":1152921504606846976,"huge":100000000000000000000,"raw":{"z":1,"a":[2]},"any":[1,{"k":null}],"v":{"z":1,"a":2},"time":"2026-01-02T03:04:05Z","m":{"x":3}}`)
	var got args
	if err := v.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Path != "a\nb" || got.Limit != nil || string(got.Raw) != `{"z":1,"a":[2]}` || got.V.String() != `{"z":1,"a":2}` || got.M["x"] != 3 || got.Time.Year() != 2026 {
		t.Errorf("DEFINE-8 %+v", got)
	}
	t.Run("VALUE-6 large integers arrive exactly", func(t *testing.T) {
		if got.Big != 1<<60 || got.Huge.String() != "100000000000000000000" {
			t.Errorf("%d, %s", got.Big, got.Huge)
		}
		for _, i := range []int64{1 << 53, 1<<53 + 2, 1 << 62, math.MinInt64, 1<<60 + 256} {
			var back int64
			if err := jsonval.MustOf(i).Decode(&back); err != nil || back != i {
				t.Errorf("%d became %d (%v)", i, back, err)
			}
		}
	})
	for _, c := range []struct {
		text   string
		target any
		want   string // part of the error
	}{
		{`1.5`, new(int), "cannot unmarshal number 1.5"},
		{`{"path":1}`, new(args), "Go struct field args.path of type string"},
		{`300`, new(uint8), "cannot unmarshal number 300"},
		{`1`, args{}, "non-pointer"},
		{`1`, nil, "nil"},
		{`1`, (*jsonval.Value)(nil), "nil"},
		{`1`, (*any)(nil), "nil"},
		{strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), new([]any), "cannot decode into *[]interface {}: the value is nested 10001 levels deep, at most 10000 can be decoded"},
	} {
		if err := parse(t, c.text).Decode(c.target); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("DEFINE-8 %.40s into %T: %v", c.text, c.target, err)
		}
	}
	if err := (jsonval.Value{}).Decode(new(any)); err == nil {
		t.Error("an absent value was decoded")
	}
	t.Run("DEFINE-8 into any as encoding/json", func(t *testing.T) {
		var ours, theirs any
		if err := v.Decode(&ours); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(v.JSON(), &theirs); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%#v", ours) != fmt.Sprintf("%#v", theirs) {
			t.Errorf("\n got %#v\nwant %#v", ours, theirs)
		}
		number := 1
		var filled any = &number
		if err := parse(t, `2`).Decode(&filled); err != nil || number != 2 {
			t.Errorf("a pointer in the interface was not used: %v, %v", number, err)
		}
		for _, s := range []string{`null`, `true`, `"s"`, `1.5`, `[]`, `{}`, `[[],{}]`, `{"a":[],"b":{"c":[1,[2],3]},"d":4}`} {
			var want any
			if err := json.Unmarshal([]byte(s), &want); err != nil {
				t.Fatal(err)
			}
			if got := parse(t, s).Any(); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
				t.Errorf("%s became %#v", s, got)
			}
		}
	})
	t.Run("JSON-10 into any and Value at any depth", func(t *testing.T) {
		deep := parse(t, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000))
		var x any
		var w jsonval.Value
		if err := errors.Join(deep.Decode(&x), deep.Decode(&w)); err != nil || !jsonval.Identical(w, deep) {
			t.Error(err)
		}
		depth := 0
		for list, ok := x.([]any); ok && len(list) > 0; list, ok = list[0].([]any) {
			depth++
		}
		if depth != 99_999 {
			t.Errorf("%d levels", depth)
		}
	})
}

func TestClone(t *testing.T) {
	text := strings.Repeat(" ", 1000) + `{"name":["value","esc\n",1,{},[],{"x":null}]}`
	v := parse(t, text)
	c := v.Clone()
	if !jsonval.Identical(v, c) || c.String() != v.String() {
		t.Fatalf("%s is not %s", c, v)
	}
	from := uintptr(unsafe.Pointer(unsafe.StringData(text)))
	list, _ := c.Get("name")
	for _, s := range []string{c.Names()[0], list.Index(0).Str(), list.Index(5).Names()[0]} {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(s))); at >= from && at < from+uintptr(len(text)) {
			t.Errorf("%q is still part of the text", s)
		}
	}
	if (jsonval.Value{}).Clone().Exists() {
		t.Error("the copy of an absent value exists")
	}
}

func TestConcurrentUse(t *testing.T) {
	type local struct {
		A *local
		B []inner
		C map[string]*local
	}
	v := parse(t, `{"a":[1,{"b":"c\n"}],"d":1e21}`)
	done := make(chan string, 8)
	for range cap(done) {
		go func() {
			of := jsonval.MustOf(&local{A: &local{B: []inner{{X: 1}}}, C: map[string]*local{"k": {}}})
			done <- v.String() + v.With("x", of).String() + fmt.Sprint(jsonval.SortKeys(v), v.Size(-1), jsonval.Equal(v, v))
		}()
	}
	var got []string
	for range cap(done) {
		got = append(got, <-done)
	}
	if len(slices.Compact(got)) != 1 {
		t.Errorf("JSON-9 the goroutines saw %q", got)
	}
}
