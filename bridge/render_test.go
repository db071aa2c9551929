package bridge_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestRendering(t *testing.T) {
	for _, c := range []struct {
		name   string
		result string // JSON; empty is no value
		logs   []string
		want   string
	}{
		{"CODE-20 nothing", "", nil, "(the program produced no output)"},
		{"CODE-20 empty text only", `""`, []string{"", ""}, "(the program produced no output)"},
		{"CODE-20 logs only", "", []string{"a", "b"}, "a\nb"},
		{"CODE-20 result only", `1`, nil, "1"},
		{"CODE-20 logs and result", `{"a":1}`, []string{"x", "", "y"}, "x\n\ny\n{\n  \"a\": 1\n}"},
		{"CODE-20 logs and an empty string", `""`, []string{"x"}, "x"},
		{"CODE-20 empty logs and a result", `true`, []string{""}, "true"},
		{"CODE-20 null counts", `null`, nil, "null"},
		{"CODE-21 a string is raw", `"a \"quoted\" <b>\n"`, nil, "a \"quoted\" <b>\n"},
		{"CODE-21 an object", `{"b":[1,{"c":"d"}],"a":null}`, nil, "{\n  \"b\": [\n    1,\n    {\n      \"c\": \"d\"\n    }\n  ],\n  \"a\": null\n}"},
		{"CODE-21 empty containers", `{"a":[],"b":{}}`, nil, "{\n  \"a\": [],\n  \"b\": {}\n}"},
		{"CODE-21 an empty array", `[]`, nil, "[]"},
		{"CODE-21 numbers as JavaScript writes them", `[1e21,1e-7,100,0.1]`, nil, "[\n  1e+21,\n  1e-7,\n  100,\n  0.1\n]"},
		{"CODE-21 compact from depth 5", `[[[[[[1,{"a":2}]]]]]]`, nil,
			"[\n  [\n    [\n      [\n        [\n          [1,{\"a\":2}]\n        ]\n      ]\n    ]\n  ]\n]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, func(context.Context, *program) (runtime.Result, error) {
				var value any
				if c.result != "" {
					value = json.RawMessage(c.result)
				}
				return done(value, c.logs...)
			})
			if got := textOf(t, w.run()); got != c.want {
				t.Errorf("rendered\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestRenderingDeep(t *testing.T) {
	t.Run("CODE-21 5,000 levels stay below 11,000 characters", func(t *testing.T) {
		const levels = 5000
		v, err := jsonval.ParseString(strings.Repeat("[", levels) + strings.Repeat("]", levels))
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, func(context.Context, *program) (runtime.Result, error) { return done(v) })
		r := w.run()
		if r.IsError() {
			t.Fatal(r.Failure().Message)
		}
		if text := textOf(t, r); len(text) >= 11000 || strings.Count(text, "[") != levels {
			t.Errorf("%d characters with %d brackets", len(text), strings.Count(text, "["))
		}
	})
	t.Run("CODE-21 a million levels neither recurse nor blow up", func(t *testing.T) {
		const levels = 1_000_000
		v, err := jsonval.ParseString(strings.Repeat("[", levels) + strings.Repeat("]", levels))
		if err != nil {
			t.Fatal(err)
		}
		if text := bridge.RenderValue(v); len(text) > 2*levels+200 {
			t.Errorf("%d characters", len(text))
		}
	})
	t.Run("CODE-21 an absent value is no text", func(t *testing.T) {
		if got := bridge.RenderValue(jsonval.Value{}); got != "" {
			t.Errorf("got %q", got)
		}
	})
}
