package schema_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func parse(t testing.TB, text string) jsonval.Value {
	t.Helper()
	v, err := jsonval.ParseString(text)
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}

func compiled(t testing.TB, n schema.Node) string {
	t.Helper()
	v, err := n.Schema()
	if err != nil {
		t.Fatal(err)
	}
	return v.String()
}

// violations returns the list that an author error carries.
func violations(err error) []string {
	var e *schema.Error
	if !errors.As(err, &e) {
		return nil
	}
	return e.Violations
}

func TestNodesCompile(t *testing.T) {
	props := schema.Props{schema.Required("a", schema.String()), schema.Optional("b", schema.Integer().Describe("count"))}
	for _, row := range []struct {
		rule string
		node schema.Node
		want string
	}{
		{"SCHEMA-1 string", schema.String(), `{"type":"string"}`},
		{"SCHEMA-1 number", schema.Number(), `{"type":"number"}`},
		{"SCHEMA-1 integer", schema.Integer(), `{"type":"integer"}`},
		{"SCHEMA-1 boolean", schema.Boolean(), `{"type":"boolean"}`},
		{"SCHEMA-1 null", schema.Null(), `{"type":"null"}`},
		{"SCHEMA-1 enum and const", schema.Enum("x", "y").Const("x"), `{"type":"string","enum":["x","y"],"const":"x"}`},
		{"SCHEMA-1 array", schema.Array(schema.String()), `{"type":"array","items":{"type":"string"}}`},
		{"SCHEMA-1 array of anything", schema.List(), `{"type":"array"}`},
		{"SCHEMA-1 oneOf", schema.OneOf(schema.String(), schema.Null()), `{"oneOf":[{"type":"string"},{"type":"null"}]}`},
		{"SCHEMA-6 closed object", schema.Object(props),
			`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"},"b":{"type":"integer","description":"count"}},"required":["a"]}`},
		{"SCHEMA-6 an empty map of properties stays", schema.OpenObject(nil), `{"type":"object","additionalProperties":true,"properties":{}}`},
		{"SCHEMA-6 no properties declared", schema.Map(), `{"type":"object","additionalProperties":true}`},
		{"SCHEMA-7 json", schema.JSON().Describe("anything"), `{"description":"anything"}`},
		{"SCHEMA-7 json without annotations", schema.JSON(), `{}`},
		{"SCHEMA-9 SCHEMA-10 annotations are copied, none is invented", schema.Integer().Title("T").Describe("D").Default(5).Examples(1, "two"),
			`{"type":"integer","title":"T","description":"D","default":5,"examples":[1,"two"]}`},
	} {
		t.Run(row.rule, func(t *testing.T) {
			if got := compiled(t, row.node); got != row.want {
				t.Errorf("\n got %s\nwant %s", got, row.want)
			}
			back, err := schema.ParseNode(row.node.JSON())
			if err != nil {
				t.Fatal(err)
			}
			if got := compiled(t, back); got != row.want {
				t.Errorf("the JSON form compiles to %s", got)
			}
		})
	}
	t.Run("SCHEMA-5 the parameter root is an open object; required follows declaration", func(t *testing.T) {
		for want, p := range map[string]schema.Props{
			`{"type":"object","properties":{}}`: {},
			`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"null"},"m":{}},"required":["z","m"]}`: {
				schema.Required("z", schema.String()), schema.Optional("a", schema.Null()), schema.Required("m", schema.JSON())},
		} {
			v, err := p.Schema()
			if err != nil || v.String() != want {
				t.Errorf("got %s %v, want %s", v, err, want)
			}
			back, err := schema.ParseProps(p.JSON())
			if err != nil {
				t.Fatal(err)
			}
			if v, err := back.Schema(); err != nil || v.String() != want {
				t.Errorf("the JSON form compiles to %s %v", v, err)
			}
		}
	})
	t.Run("SCHEMA-11 the same node may be used twice, and nodes are immutable", func(t *testing.T) {
		n := schema.String()
		n.Describe("changed")
		shared := schema.Object(schema.Props{schema.Required("a", n), schema.Required("b", n)})
		if got := compiled(t, shared); strings.Contains(got, "changed") || strings.Count(got, `"type":"string"`) != 2 {
			t.Error(got)
		}
	})
	t.Run("SCHEMA-14 property names are data", func(t *testing.T) {
		got := compiled(t, schema.Object(schema.Props{schema.Required("__proto__", schema.String()), schema.Required("", schema.Null())}))
		if got != `{"type":"object","additionalProperties":false,"properties":{"__proto__":{"type":"string"},"":{"type":"null"}},"required":["__proto__",""]}` {
			t.Error(got)
		}
	})
}

func TestAuthorErrors(t *testing.T) {
	for _, row := range []struct{ rule, form, want string }{
		{"SCHEMA-2 unknown key", `{"type":"string","pattern":"x"}`, `schema: unknown key "pattern" on type string`},
		{"SCHEMA-2 items on a string", `{"type":"string","items":{}}`, `schema: unknown key "items" on type string`},
		{"SCHEMA-2 enum on json", `{"type":"json","enum":[1]}`, `schema: unknown key "enum" on type json`},
		{"SCHEMA-2 key beside oneOf", `{"oneOf":[{"type":"null"},{"type":"json"}],"items":{}}`, `schema: unknown key "items" beside oneOf`},
		{"SCHEMA-2 missing type", `{"description":"x"}`, `schema: a node needs "type" or "oneOf"`},
		{"SCHEMA-2 unknown type", `{"type":"text"}`, `schema: unknown type "text": expected one of string, number, integer, boolean, null, array, object, json`},
		{"SCHEMA-2 a list of types", `{"type":["string"]}`, `schema: unknown type ["string"]: expected one of string, number, integer, boolean, null, array, object, json`},
		{"SCHEMA-2 not an object", `"string"`, `schema: a node must be an object, not string`},
		{"SCHEMA-2 type and oneOf", `{"type":"string","oneOf":[]}`, `schema: "type" and "oneOf" exclude each other`},
		{"SCHEMA-1 one branch", `{"oneOf":[{"type":"null"}]}`, `schema: "oneOf" must be a list of at least two nodes`},
		{"SCHEMA-3 additionalProperties left out", `{"type":"object"}`, `schema: an object must state "additionalProperties" as true or false`},
		{"SCHEMA-3 additionalProperties as a schema", `{"type":"object","additionalProperties":{}}`, `schema: "additionalProperties" must be true or false`},
		{"SCHEMA-1 properties of another kind", `{"type":"object","additionalProperties":true,"properties":[]}`, `schema: "properties" must be an object of nodes`},
		{"SCHEMA-4 required on the root", `{"type":"string","required":true}`, `schema: unknown key "required" on type string`},
		{"SCHEMA-4 required on items", `{"type":"array","items":{"type":"string","required":true}}`, `schema.items: unknown key "required" on type string`},
		{"SCHEMA-4 required on a branch", `{"oneOf":[{"type":"null"},{"type":"string","required":true}]}`, `schema.oneOf[1]: unknown key "required" on type string`},
		{"SCHEMA-4 required false", `{"type":"object","additionalProperties":true,"properties":{"a":{"type":"string","required":false}}}`,
			`schema: "required" of the member "a" can only be true; leave it out for an optional member`},
		{"SCHEMA-13 path", `{"type":"object","additionalProperties":true,"properties":{"a":{"type":"array","items":{"oneOf":[{"type":"null"},{"type":"x"}]}}}}`,
			`schema.properties.a.items.oneOf[1]: unknown type "x": expected one of string, number, integer, boolean, null, array, object, json`},
		{"SCHEMA-12 the first error only", `{"type":"object","additionalProperties":true,"properties":{"a":{"type":"x"},"b":{"type":"y"}}}`,
			`schema.properties.a: unknown type "x": expected one of string, number, integer, boolean, null, array, object, json`},
		{"SCHEMA-8 a string in a number's enum", `{"type":"number","enum":[1,"2"]}`, `schema: "enum" item 1 is not of type number`},
		{"SCHEMA-8 1.5 in an integer's enum", `{"type":"integer","enum":[1.5]}`, `schema: "enum" item 0 is not of type integer`},
		{"SCHEMA-8 an empty enum", `{"type":"string","enum":[]}`, `schema: "enum" must be a list of at least one value`},
		{"SCHEMA-8 a const outside of the enum", `{"type":"string","enum":["a"],"const":"b"}`, `schema: "const" is not one of "enum"`},
		{"SCHEMA-8 a const of another type", `{"type":"boolean","const":1}`, `schema: "const" is not of type boolean`},
	} {
		t.Run(row.rule, func(t *testing.T) {
			n, err := schema.ParseNode(parse(t, row.form))
			if err != nil {
				t.Fatal(err)
			}
			_, err = n.Schema()
			if got := violations(err); !slices.Equal(got, []string{row.want}) {
				t.Errorf("\n got %q\nwant %q", got, row.want)
			}
			var coded interface{ Name() string }
			if !errors.As(err, &coded) || coded.Name() != "JsonSchemaError" || coded.(interface{ Code() string }).Code() != "UNSUPPORTED_SCHEMA" {
				t.Errorf("RAW-13: the error is %T", err)
			}
		})
	}
	t.Run("SCHEMA-12 what the raw assertion finds is reported whole", func(t *testing.T) {
		_, err := schema.Object(schema.Props{schema.Optional("a", schema.Enum()), schema.Optional("b", schema.Integer().Const("x"))}).Schema()
		want := []string{`schema.properties.a: "enum" must be a list of at least one value`, `schema.properties.b: "const" is not of type integer`}
		if got := violations(err); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("SCHEMA-13 paths of parameters", func(t *testing.T) {
		for form, want := range map[string]string{
			`{"config":{"type":"object","additionalProperties":true,"properties":{"host":{"type":"x"}}}}`: "parameters.config.properties.host: unknown type",
			`{"a":{"type":"string","required":"yes"}}`:                                                    `parameters.a: "required" can only be true`,
			`[]`: "parameters: a property map must be an object",
		} {
			p, err := schema.ParseProps(parse(t, form))
			if err == nil {
				_, err = p.Schema()
			}
			if got := violations(err); len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
	t.Run("what the Go form alone can get wrong", func(t *testing.T) {
		for want, f := range map[string]func() (jsonval.Value, error){
			`parameters: the member "a" is declared twice`: func() (jsonval.Value, error) {
				return schema.Props{schema.Required("a", schema.String()), schema.Optional("a", schema.String())}.Schema()
			},
			`properties: the member "a" is declared twice`: func() (jsonval.Value, error) {
				return schema.Array(schema.Object(schema.Props{schema.Required("a", schema.String()), schema.Optional("a", schema.String())})).Schema()
			},
			`schema: a node must be an object, not null`: func() (jsonval.Value, error) { return schema.Node{}.Schema() },
			`schema.oneOf[1]: a node must be an object, not null`: func() (jsonval.Value, error) {
				return schema.OneOf(schema.String(), schema.Node{}).Schema()
			},
			`default: not lossless JSON: a Go value of type func() at $`: func() (jsonval.Value, error) {
				return schema.Array(schema.String().Default(func() {})).Schema()
			},
			`examples: not lossless JSON: NaN at $[0]`: func() (jsonval.Value, error) {
				return schema.Props{schema.Required("x", schema.Number().Examples(nan()))}.Schema()
			},
		} {
			_, err := f()
			if got := violations(err); !slices.Equal(got, []string{want}) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
	t.Run("SCHEMA-11 a cyclic Go value is an error that says so", func(t *testing.T) {
		cycle := map[string]any{"type": "array"}
		cycle["items"] = cycle
		_, err := schema.ParseNode(cycle)
		if got := violations(err); len(got) != 1 || !strings.Contains(got[0], "cyclic") {
			t.Errorf("got %q", got)
		}
		_, err = schema.ParseProps(map[string]any{"a": cycle})
		if got := violations(err); len(got) != 1 || !strings.Contains(got[0], "cyclic") {
			t.Errorf("got %q", got)
		}
	})
}

func nan() float64 { zero := 0.0; return zero / zero }

// spec makes a random well-formed node of the table of SCHEMA-1.
func spec(rng *rand.Rand, depth int) schema.Node {
	n := rng.IntN(9)
	if depth == 0 {
		n = rng.IntN(6)
	}
	switch n {
	case 0:
		return schema.String()
	case 1:
		return schema.Number()
	case 2:
		return schema.Integer().Describe("n")
	case 3:
		return schema.Boolean().Const(true)
	case 4:
		return schema.Enum("a", "b").Const("a")
	case 5:
		return schema.Null()
	case 6:
		return schema.Array(spec(rng, depth-1))
	case 7:
		return schema.OneOf(schema.Array(spec(rng, depth-1)), schema.String())
	}
	return schema.Object(specProps(rng, depth-1))
}

func specProps(rng *rand.Rand, depth int) schema.Props {
	var p schema.Props
	for i := range rng.IntN(4) {
		p = append(p, schema.Prop{Name: fmt.Sprint("m", i), Node: spec(rng, depth), Required: rng.IntN(2) == 0})
	}
	return p
}

// sample makes a value that fits a compiled schema.
func sample(rng *rand.Rand, s jsonval.Value) any {
	if c, ok := s.Get("const"); ok {
		return c
	}
	t, _ := s.Get("type")
	switch t.Str() {
	case "string":
		return "text"
	case "number":
		return rng.Float64()
	case "integer":
		return rng.IntN(100)
	case "boolean":
		return false
	case "null":
		return nil
	case "array":
		items, _ := s.Get("items")
		list := []any{}
		for range rng.IntN(3) {
			list = append(list, sample(rng, items))
		}
		return list
	case "object":
		object := map[string]any{}
		properties, _ := s.Get("properties")
		required, _ := s.Get("required")
		for name, p := range properties.Members() {
			if has(required, name) || rng.IntN(2) == 0 {
				object[name] = sample(rng, p)
			}
		}
		return object
	}
	if branches, ok := s.Get("oneOf"); ok {
		return sample(rng, branches.Index(rng.IntN(branches.Len())))
	}
	return "anything"
}

func has(list jsonval.Value, name string) bool {
	for _, v := range list.Items() {
		if v.Str() == name {
			return true
		}
	}
	return false
}

// TestSpecs is property-based: SCHEMA-15, and what generated arguments say about validation.
func TestSpecs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		props := specProps(rng, 4)
		raw, err := props.Schema()
		if err != nil {
			t.Fatalf("SCHEMA-15: %s: %v", props.JSON(), err)
		}
		required, _ := raw.Get("required")
		for _, p := range props {
			if has(required, p.Name) != p.Required {
				t.Fatalf("SCHEMA-15: required of %s in %s", p.Name, raw)
			}
		}
		c, err := schema.Compile(raw)
		if err != nil {
			t.Fatal(err)
		}
		args := jsonval.MustOf(sample(rng, raw))
		if v := c.Validate(args, "arguments"); len(v) != 0 {
			t.Fatalf("%s against %s: %q", args, raw, v)
		}
		for _, p := range props {
			if !p.Required {
				continue
			}
			if v := c.Validate(args.Without(p.Name), "arguments"); !slices.Equal(v, []string{`"` + p.Name + `": required property is missing`}) {
				t.Fatalf("VALID-1 without %s: %q", p.Name, v)
			}
		}
		for _, root := range []string{"null", "[]", `"x"`, "1"} {
			if v := c.Validate(parse(t, root), "arguments"); !slices.Equal(v, []string{`"arguments": expected object`}) {
				t.Fatalf("root %s: %q", root, v)
			}
		}
	}
}

// TestDeepSchemas is JSON-10 for schemas: 5,000 levels compile and validate; a million end in an answer.
func TestDeepSchemas(t *testing.T) {
	for _, depth := range []int{5_000, 200_000} {
		node, form := schema.Integer(), `{"type":"integer"}`
		for range depth {
			node = schema.Array(node)
		}
		form = strings.Repeat(`{"type":"array","items":`, depth) + form + strings.Repeat("}", depth)
		raw, err := node.Schema()
		if err != nil || raw.String() != form {
			t.Fatalf("depth %d: %v", depth, err)
		}
		c, err := schema.Compile(raw)
		if err != nil {
			t.Fatal(err)
		}
		if v := c.Validate(parse(t, strings.Repeat("[", depth)+"1"+strings.Repeat("]", depth)), "value"); len(v) != 0 {
			t.Errorf("depth %d: %.100q", depth, v)
		}
		v := c.Validate(parse(t, strings.Repeat("[", depth)+`"x"`+strings.Repeat("]", depth)), "value")
		if len(v) != 1 || !strings.HasPrefix(v[0], `"value[0][0]`) || !strings.HasSuffix(v[0], `[0]": expected integer`) {
			t.Errorf("depth %d: %.100q", depth, v)
		}
	}
	deep := parse(t, strings.Repeat(`{"items":`, 1_000_000)+`{}`+strings.Repeat("}", 1_000_000))
	if err := schema.Check(deep); err == nil {
		t.Error("a million levels of a constraint without a type are accepted")
	}
}

func TestErrorText(t *testing.T) {
	t.Run("RAW-13 the message joins the violations", func(t *testing.T) {
		err := schema.Check(parse(t, `{"type":"string","pattern":"a","format":"b"}`))
		if err == nil || err.Error() != `unsupported JSON schema: schema: the keyword "pattern" is not supported; schema: the keyword "format" is not supported` {
			t.Error(err)
		}
	})
}
