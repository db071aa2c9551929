package schema_test

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestExplain(t *testing.T) {
	compile := func(t *testing.T, text string) *schema.Compiled {
		t.Helper()
		raw, err := jsonval.ParseString(text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := schema.Compile(raw)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	orders := compile(t, `{"type":"object","required":["query"],"properties":{
		"query":{"type":"string"},"limit":{"type":"integer"},"status":{"type":"string","enum":["open","paid"]},
		"by":{"oneOf":[{"type":"string"},{"type":"number"}]},
		"lines":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"}},"additionalProperties":false}}}}`)
	for _, c := range []struct{ name, value, came string }{
		{"CODE-34 nothing for what is valid", `{"query":"x","extra":1}`, ""},
		{"CODE-34 another kind", `{"query":"x","limit":"10"}`, `limit is the string "10"`},
		{"CODE-34 not one of an enum", `{"query":"x","status":"Open"}`, `status is the string "Open"`},
		{"CODE-34 a missing member", `{"q":"x","limit":1}`, `the call has q, limit`},
		{"CODE-34 two missing members are one thing", `{}`, `the call has no members`},
		{"CODE-34 null for what is optional", `{"query":"x","limit":null}`, `limit is null: leave out what is optional`},
		{"CODE-34 null for what is required", `{"query":null}`, `query is null`},
		{"CODE-34 a member too many, and which there can be", `{"query":"x","lines":[{"sku":"a"},{"sku":"b","n":1}]}`, `lines[1] has sku, n, and can have sku`},
		{"CODE-34 no branch of a union", `{"query":"x","by":true}`, `by is true`},
		{"CODE-34 JSON text for a value", `{"query":"x","lines":"[]"}`, `lines is the string "[]": pass the value itself, not its JSON text`},
		{"CODE-34 no object at all", `["x"]`, `the call passes an array instead of one object with query, limit, status, by, lines`},
		{"CODE-34 a long text is not repeated", `{"query":"x","limit":"` + strings.Repeat("x", 99) + `"}`, `limit is a string of 99 bytes`},
		{"CODE-34 names break no line", `{"a\nb":1}`, `the call has a\nb`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := jsonval.ParseString(c.value)
			if err != nil {
				t.Fatal(err)
			}
			violations, came := orders.Explain(v, "arguments")
			if came != c.came {
				t.Errorf("%s: got  %s\nwant %s", c.value, came, c.came)
			}
			if plain := orders.Validate(v, "arguments"); strings.Join(plain, "|") != strings.Join(violations, "|") {
				t.Errorf("%s: Explain finds %q, Validate %q", c.value, violations, plain)
			}
		})
	}
	t.Run("CODE-34 at most five things, and of an object at most ten names", func(t *testing.T) {
		c := compile(t, `{"type":"array","items":{"type":"string"}}`)
		v, _ := jsonval.ParseString("[1,2,3,4,5,6,7,8]")
		if _, came := c.Explain(v, "value"); strings.Count(came, " is the number ") != 5 || !strings.HasSuffix(came, "; …") {
			t.Errorf("got %s", came)
		}
		v, _ = jsonval.ParseString(`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1}`)
		if _, came := orders.Explain(v, "arguments"); came != "the call has a, b, c, d, e, f, g, h, i, j, …" {
			t.Errorf("got %s", came)
		}
	})
}
