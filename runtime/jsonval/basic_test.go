package jsonval_test

import (
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestSmoke(t *testing.T) {
	for _, s := range []string{`{"a":[1,2,{"b":null,"c":"x\ny"}],"d":1e+21,"e":1e-7,"f":true}`, `[]`, `{}`, `"é"`, `[[[]],{}]`} {
		v, err := jsonval.ParseString(s)
		if err != nil || v.String() != s || v.Size(-1) != int64(len(s)) {
			t.Fatal(v, err, v.Size(-1), len(s))
		}
	}
	for _, s := range []string{``, `[1,]`, `{"a":-0}`, `[9007199254740993]`, `"\ud800"`, "[\"\xff\"]", `1e999`, `{"a":[1,2,{"x y":-0.0}]}`} {
		v, err := jsonval.ParseString(s)
		if err == nil {
			t.Fatal(s, v)
		}
		t.Log(err)
	}
	type In struct {
		A int `json:"a,omitempty"`
		B []string
		C map[string]any `json:"c"`
		D *int
	}
	v, err := jsonval.Of([]In{{}, {A: 3, C: map[string]any{"z": 1, "y": []any{1, 2}}}})
	t.Log(v, err)
}
