package jsonval_test

//lint:file-ignore SA5008 odd tags are what is tested here

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

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

func TestFields(t *testing.T) {
	checkOf(t, []ofCase{
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
		{"all fields left out on purpose", struct {
			A int `json:"-"`
			b int
		}{1, 2}, `{}`, false},
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
		{"the option string on a method of a pointer", &struct {
			P countingPointer `json:",string"`
		}{}, `{"P":1}`, false},
	})
}

type countingPointer int

func (*countingPointer) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

func TestFieldsRefuse(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{struct {
			N json.Number `json:",string"`
		}{"1x"}, "a json.Number that is no JSON number at $.N"},
		{struct {
			F *float64 `json:",string"`
		}{ptr(math.NaN())}, "NaN at $.F"},
		{struct {
			S string `json:",string"`
		}{"\xff"}, "text that is not valid UTF-8 at $.S"},
	} {
		if v, err := jsonval.Of(c.v); err == nil || err.Error() != c.want {
			t.Errorf("JSON-2 %+v became %s (%v), want %s", c.v, v, err, c.want)
		}
	}
}
