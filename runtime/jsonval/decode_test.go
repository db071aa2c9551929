package jsonval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

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
