package schema_test

// The enforced subset, and validation.

import (
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestCheck(t *testing.T) {
	for _, row := range []struct {
		rule, raw string
		want      []string
	}{
		{"RAW-1 everything that is supported", `{"type":"object","title":"t","description":"d","default":{},"examples":[1],"additionalProperties":false,"required":["a"],
			"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"oneOf":[{"type":"integer","enum":[1,2],"const":2},{"type":"null"}]},"c":{}}}`, nil},
		{"RAW-1 nothing is accepted and ignored", `{"type":"string","minLength":1,"anyOf":[],"$ref":"x","format":"date"}`, []string{
			`schema: the keyword "minLength" is not supported`, `schema: the keyword "anyOf" is not supported`,
			`schema: the keyword "$ref" is not supported`, `schema: the keyword "format" is not supported`}},
		{"RAW-1 a node is an object", `true`, []string{`schema: a schema must be an object, not boolean`}},
		{"RAW-2 a list of types", `{"type":["string","null"]}`, []string{`schema: "type" must be one type, not a list of types; use "oneOf"`}},
		{"RAW-2 an unknown type ends the checks of the node", `{"type":"text","enum":[]}`, []string{
			`schema: unknown type "text": expected one of object, array, string, number, integer, boolean, null`}},
		{"RAW-3 constraints without a type, in their order", `{"const":1,"enum":[1],"items":{},"additionalProperties":1,"required":1,"properties":1}`, []string{
			`schema: "properties" needs a "type"`, `schema: "required" needs a "type"`, `schema: "additionalProperties" needs a "type"`,
			`schema: "items" needs a "type"`, `schema: "enum" needs a "type"`, `schema: "const" needs a "type"`}},
		{"RAW-3 an unconstrained node", `{"description":"x"}`, nil},
		{"RAW-4 type and oneOf are one violation, children are not visited", `{"type":"string","oneOf":[{"type":"bad"}]}`, []string{`schema: "type" and "oneOf" exclude each other`}},
		{"RAW-5 at least two branches", `{"oneOf":[{}]}`, []string{`schema: "oneOf" must be a list of at least two schemas`}},
		{"RAW-5 siblings are reported after the branches", `{"enum":[1],"oneOf":[{"type":"a"},{"type":"b"}],"required":[]}`, []string{
			`schema.oneOf[0]: unknown type "a": expected one of object, array, string, number, integer, boolean, null`,
			`schema.oneOf[1]: unknown type "b": expected one of object, array, string, number, integer, boolean, null`,
			`schema: "enum" is not allowed beside "oneOf"`, `schema: "required" is not allowed beside "oneOf"`}},
		{"RAW-6 placement", `{"type":"string","properties":{},"required":[],"additionalProperties":true,"items":{}}`, []string{
			`schema: "properties" is not allowed on type string`, `schema: "required" is not allowed on type string`,
			`schema: "additionalProperties" is not allowed on type string`, `schema: "items" is not allowed on type string`}},
		{"RAW-6 placement on containers", `{"type":"array","enum":[1],"properties":{}}`, []string{
			`schema: "properties" is not allowed on type array`, `schema: "enum" is not allowed on type array`}},
		{"RAW-7 properties, required and additionalProperties", `{"type":"object","properties":[],"required":"a","additionalProperties":{}}`, []string{
			`schema: "properties" must be an object of schemas`, `schema: "required" must be a list of strings`, `schema: "additionalProperties" must be true or false`}},
		{"RAW-7 required names own members", `{"type":"object","properties":{"a":{}},"required":["a","toString",1]}`, []string{
			`schema: "required" names "toString", which is not in "properties"`, `schema: "required" item 2 is not a string`}},
		{"RAW-8 an enum is a list with something in it", `{"type":"string","enum":{}}`, []string{`schema: "enum" must be a list of at least one value`}},
		{"RAW-8 members fit", `{"type":"null","enum":[null,0]}`, []string{`schema: "enum" item 1 is not of type null`}},
		{"RAW-8 number and integer", `{"oneOf":[{"type":"number","enum":[1,1.5]},{"type":"integer","enum":[1.0,2e0]},{"type":"integer","const":1.5}]}`,
			[]string{`schema.oneOf[2]: "const" is not of type integer`}},
		{"RAW-8 the const is one of the enum", `{"type":"integer","enum":[1],"const":2}`, []string{`schema: "const" is not one of "enum"`}},
		{"RAW-9 annotations", `{"type":"string","title":1,"description":null,"default":5,"examples":"any"}`, []string{
			`schema: "description" must be a string`, `schema: "title" must be a string`}},
		{"RAW-12 order and paths", `{"foo":1,"type":"object","title":0,"enum":[1],"properties":{"x":{"type":"array","items":{"bar":1}},"y":{"type":"q"}},"required":["z"],"additionalProperties":0}`, []string{
			`schema: the keyword "foo" is not supported`, `schema: "title" must be a string`, `schema: "enum" is not allowed on type object`,
			`schema.properties.x.items: the keyword "bar" is not supported`,
			`schema.properties.y: unknown type "q": expected one of object, array, string, number, integer, boolean, null`,
			`schema: "required" names "z", which is not in "properties"`, `schema: "additionalProperties" must be true or false`}},
		{"RAW-7 children that are no schemas", `{"type":"object","properties":{"a":true,"b":{"type":"array","items":[]}}}`, []string{
			`schema.properties.a: a schema must be an object, not boolean`, `schema.properties.b.items: a schema must be an object, not array`}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			if got := violations(schema.Check(parse(t, row.raw))); !slices.Equal(got, row.want) {
				t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(row.want, "\n     "))
			}
		})
	}
	t.Run("RAW-11 a node shared by two siblings is fine", func(t *testing.T) {
		shared := parse(t, `{"type":"array","items":{"type":"string"}}`)
		both := jsonval.MustOf(map[string]any{"type": "object", "properties": map[string]any{"a": shared, "b": shared}})
		if err := schema.Check(both); err != nil {
			t.Error(err)
		}
	})
	t.Run("RAW-11 a cycle cannot be built: values are immutable, and a cyclic Go value is refused when it is read", func(t *testing.T) {
		cycle := map[string]any{"type": "array"}
		cycle["items"] = cycle
		if _, err := jsonval.Of(cycle); err == nil || !strings.Contains(err.Error(), "cyclic") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("RAW-14 an object root", func(t *testing.T) {
		for _, raw := range []string{`{}`, `{"type":"string"}`, `{"type":"array"}`, `{"oneOf":[{},{}]}`} {
			if got := violations(schema.CheckObject(parse(t, raw))); !slices.Equal(got, []string{`schema: the root must have type "object"`}) {
				t.Errorf("%s: %q", raw, got)
			}
		}
		if got := violations(schema.CheckObject(parse(t, `{"type":"x"}`))); len(got) != 1 || strings.Contains(got[0], "root") {
			t.Errorf("an error of another kind comes first: %q", got)
		}
		if err := schema.CheckObject(parse(t, `{"type":"object"}`)); err != nil {
			t.Error(err)
		}
	})
}

func TestValidate(t *testing.T) {
	const nested = `{"type":"object","additionalProperties":false,"required":["host","port","mode"],"properties":{
		"mode":{"type":"string","enum":["a","b"]},"port":{"type":"integer"},"host":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},
		"inner":{"type":"object","required":["x"],"properties":{"x":{"type":"boolean"}}}}}`
	for _, row := range []struct {
		rule, raw, value string
		want             []string
	}{
		{"VALID-1 valid", nested, `{"host":"h","port":1,"mode":"a","tags":["x"],"inner":{"x":true,"more":1}}`, nil},
		{"VALID-3 VALID-9 missing in required order, present in schema order, undeclared in value order", nested,
			`{"zz":1,"inner":{},"port":1.5,"tags":["x",2,null],"mode":"c","aa":2}`, []string{
				`"host": required property is missing`, `"mode": expected one of ["a","b"]`, `"port": expected integer`,
				`"tags[1]": expected string`, `"tags[2]": expected string`, `"inner.x": required property is missing`,
				`"zz": undeclared property`, `"aa": undeclared property`}},
		{"VALID-2 kinds", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{"type":"integer"},"d":{"type":"boolean"},"e":{"type":"null"},"f":{"type":"object"},"g":{"type":"array"}}}`,
			`{"a":1,"b":"1","c":"1","d":1,"e":0,"f":[],"g":{}}`, []string{`"a": expected string`, `"b": expected number`, `"c": expected integer`,
				`"d": expected boolean`, `"e": expected null`, `"f": expected object`, `"g": expected array`}},
		{"VALID-2 const", `{"type":"object","properties":{"a":{"type":"string","const":"x\"y"}}}`, `{"a":"z"}`, []string{`"a": expected "x\"y"`}},
		{"VALID-2 keys are not escaped", `{"type":"object","properties":{"a.b\"c":{"type":"object","properties":{"":{"type":"null"}}}}}`, `{"a.b\"c":{"":1}}`,
			[]string{`"a.b"c.": expected null`}},
		{"VALID-3 a container of the wrong kind is not descended into", nested, `{"host":"h","port":1,"mode":"a","inner":[{}],"tags":{"0":1}}`,
			[]string{`"tags": expected array`, `"inner": expected object`}},
		{"VALID-3 a missing optional member is skipped, null is not missing", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":null}`, []string{`"a": expected string`}},
		{"VALID-4 no properties, no items", `{"type":"object","properties":{"o":{"type":"object"},"l":{"type":"array"}}}`, `{"o":{"x":[1]},"l":[{},null]}`, nil},
		{"VALID-4 a closed object without properties accepts only {}", `{"type":"object","additionalProperties":false}`, `{"x":1}`, []string{`"x": undeclared property`}},
		{"VALID-4 and it does accept that", `{"type":"object","additionalProperties":false}`, `{}`, nil},
		{"RAW-10 absent additionalProperties means open", `{"type":"object","properties":{"a":{}}}`, `{"b":1}`, nil},
		{"VALID-5 the enum comes first, and only one is reported", `{"type":"object","properties":{"a":{"type":"integer","enum":[1,2],"const":2},"b":{"type":"integer","enum":[1,2],"const":2}}}`,
			`{"a":3,"b":1}`, []string{`"a": expected one of [1,2]`, `"b": expected 2`}},
		{"VALID-6 exactly one branch", `{"type":"object","properties":{"a":{"oneOf":[{"type":"number"},{"type":"integer"}]}}}`, `{"a":1}`,
			[]string{`"a": expected exactly one oneOf branch to match, 2 matched`}},
		{"VALID-6 disjoint for 1.5", `{"type":"object","properties":{"a":{"oneOf":[{"type":"number"},{"type":"integer"}]}}}`, `{"a":1.5}`, nil},
		{"VALID-6 no branch, and their violations are not shown", `{"type":"object","properties":{"a":{"oneOf":[{"type":"object","required":["x"],"properties":{"x":{}}},{"type":"array","items":{"type":"null"}},{"type":"string"}]}}}`,
			`{"a":[null,1]}`, []string{`"a": expected exactly one oneOf branch to match, 0 matched`}},
		{"VALID-6 nested unions", `{"oneOf":[{"oneOf":[{"type":"string"},{"type":"null"}]},{"type":"array","items":{"oneOf":[{"type":"integer"},{"type":"null"}]}}]}`, `[1,null,2]`, nil},
		{"VALID-6 nested unions that fail inside", `{"oneOf":[{"oneOf":[{"type":"string"},{"type":"null"}]},{"type":"array","items":{"oneOf":[{"type":"integer"},{"type":"null"}]}}]}`, `[1,"x",2]`,
			[]string{`"arguments": expected exactly one oneOf branch to match, 0 matched`}},
		{"VALID-6 a closed object in a branch with two strangers", `{"oneOf":[{"type":"object","additionalProperties":false},{"type":"object"}]}`, `{"a":1,"b":2}`, nil},
		{"VALID-7 whole numbers are integers", `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"type":"number"}}}`, `{"a":1.0,"b":1e300,"c":0}`, nil},
		{"VALID-8 own keys only", `{"type":"object","required":["toString"],"properties":{"toString":{}}}`, `{}`, []string{`"toString": required property is missing`}},
		{"VALID-8 __proto__ is data", `{"type":"object","additionalProperties":false,"properties":{"a":{}}}`, `{"__proto__":1}`, []string{`"__proto__": undeclared property`}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			c, err := schema.Compile(parse(t, row.raw))
			if err != nil {
				t.Fatal(err)
			}
			value := parse(t, row.value)
			before := value.String()
			if got := c.Validate(value, "arguments"); !slices.Equal(got, row.want) {
				t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(row.want, "\n     "))
			}
			if value.String() != before || c.Schema().String() != parse(t, row.raw).String() {
				t.Error("VALID-1: validation changed something")
			}
		})
	}
	t.Run("VALID-2 paths below an output root keep the label", func(t *testing.T) {
		for raw, want := range map[string]string{
			`{"type":"object","properties":{"file":{"type":"string"}}}`:                          `"value.file": expected string`,
			`{"type":"array","items":{"type":"object","properties":{"file":{"type":"string"}}}}`: `"value": expected array`,
			`{"type":"object","properties":{"file":{"type":"array","items":{"type":"null"}}}}`:   `"value.file": expected array`,
		} {
			c, err := schema.Compile(parse(t, raw))
			if err != nil {
				t.Fatal(err)
			}
			if got := schema.Validate(c, parse(t, `{"file":1}`), "value"); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %q", raw, got)
			}
		}
		c, err := schema.Compile(parse(t, `{"type":"array","items":{"type":"object","properties":{"host":{"type":"string"}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		list := parse(t, `[{"host":"a"},{"host":1},2]`)
		if got := c.Validate(list, "value"); !slices.Equal(got, []string{`"value[1].host": expected string`, `"value[2]": expected object`}) {
			t.Errorf("%q", got)
		}
		if got := c.Validate(list, "arguments"); !slices.Equal(got, []string{`"arguments[1].host": expected string`, `"arguments[2]": expected object`}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("VALID-2 an absent value", func(t *testing.T) {
		for raw, want := range map[string]string{`{}`: "not a lossless JSON value", `{"type":"null"}`: "expected null", `{"type":"object"}`: "expected object"} {
			c, err := schema.Compile(parse(t, raw))
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Validate(jsonval.Value{}, "value"); !slices.Equal(got, []string{`"value": ` + want}) {
				t.Errorf("%s: %q", raw, got)
			}
		}
	})
	t.Run("a wide object is validated in linear time", func(t *testing.T) {
		const n = 20_000
		var props, members []jsonval.Member
		for i := range n {
			name := "m" + string(jsonval.MustOf(i).JSON())
			props = append(props, jsonval.Member{Name: name, Value: parse(t, `{"type":"integer"}`)})
			members = append(members, jsonval.Member{Name: name, Value: jsonval.MustOf(i)})
		}
		c, err := schema.Compile(jsonval.Object(
			jsonval.Member{Name: "type", Value: jsonval.Text("object")},
			jsonval.Member{Name: "additionalProperties", Value: jsonval.Bool(false)},
			jsonval.Member{Name: "properties", Value: jsonval.Object(props...)},
		))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Validate(jsonval.Object(members...), "value"); len(got) != 0 {
			t.Errorf("%.100q", got)
		}
	})
}

// FuzzCheck feeds schemas and values of strangers: nothing panics, and what Check accepts compiles and validates.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]}},"required":["a"]}`, `{"oneOf":[{},{"type":"integer","enum":[1]}]}`, `{"type":["a"]}`, `[]`} {
		f.Add(s, `{"a":null,"b":[1]}`)
	}
	f.Fuzz(func(t *testing.T, rawText, valueText string) {
		raw, err := jsonval.ParseString(rawText)
		if err != nil {
			return
		}
		value, err := jsonval.ParseString(valueText)
		if err != nil {
			return
		}
		c, err := schema.Compile(raw)
		if (err == nil) != (schema.Check(raw) == nil) {
			t.Fatal("Compile and Check disagree")
		}
		if n, err := schema.ParseNode(raw); err == nil {
			if compiled, err := n.Schema(); err == nil {
				if err := schema.Check(compiled); err != nil {
					t.Fatalf("SCHEMA-15: %s compiles to %s: %v", raw, compiled, err)
				}
			}
		}
		if p, err := schema.ParseProps(raw); err == nil {
			_, _ = p.Schema()
		}
		if err != nil {
			return
		}
		got := c.Validate(value, "value")
		if (len(got) == 0) != valid(raw, value) {
			t.Fatalf("%s against %s: %q", value, raw, got)
		}
	})
}

// valid is a second, recursive implementation of validity, to compare with.
func valid(s, v jsonval.Value) bool {
	if branches, ok := s.Get("oneOf"); ok {
		n := 0
		for _, b := range branches.Items() {
			if valid(b, v) {
				n++
			}
		}
		return n == 1
	}
	t, _ := s.Get("type")
	enum, listed := s.Get("enum")
	fixed, constant := s.Get("const")
	literal := true
	if listed {
		literal = slices.ContainsFunc(slices.Collect(items(enum)), func(x jsonval.Value) bool { return jsonval.Equal(x, v) })
	}
	if constant {
		literal = literal && jsonval.Equal(fixed, v)
	}
	switch t.Str() {
	case "":
		return v.Exists()
	case "string":
		return v.IsString() && literal
	case "number":
		return v.IsNumber() && literal
	case "integer":
		return v.IsNumber() && v.Float() == float64(int64(v.Float())) && literal || v.IsNumber() && (v.Float() > 1e18 || v.Float() < -1e18) && literal
	case "boolean":
		return v.IsBool() && literal
	case "null":
		return v.IsNull() && literal
	case "array":
		inner, ok := s.Get("items")
		return v.IsArray() && (!ok || !slices.ContainsFunc(slices.Collect(items(v)), func(x jsonval.Value) bool { return !valid(inner, x) }))
	}
	if !v.IsObject() {
		return false
	}
	properties, _ := s.Get("properties")
	required, _ := s.Get("required")
	for _, name := range required.Items() {
		if _, ok := v.Get(name.Str()); !ok {
			return false
		}
	}
	open, stated := s.Get("additionalProperties")
	for name, m := range v.Members() {
		if p, ok := properties.Get(name); ok && !valid(p, m) || !ok && stated && !open.Bool() {
			return false
		}
	}
	return true
}

func items(v jsonval.Value) func(func(jsonval.Value) bool) {
	return func(yield func(jsonval.Value) bool) {
		for _, x := range v.Items() {
			if !yield(x) {
				return
			}
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	c, err := schema.Compile(parse(b, `{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"limit":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}}}`))
	if err != nil {
		b.Fatal(err)
	}
	v := parse(b, `{"path":"/x","limit":5,"tags":["a","b","c"]}`)
	b.ReportAllocs()
	for b.Loop() {
		if c.Validate(v, "arguments") != nil {
			b.Fatal("invalid")
		}
	}
}
