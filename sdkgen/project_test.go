package sdkgen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestProject(t *testing.T) {
	for _, c := range []struct{ rule, schema, want string }{
		{"MCP-39 inside of the subset", `{"type":"object","properties":{"n":{"oneOf":[{"type":"integer"},{"type":"number"},{"type":"number"}]}},"additionalProperties":false}`, "{\n  n?: number | number | number;\n}"},
		{"MCP-40 true", `true`, `JsonValue`},
		{"MCP-40 false", `false`, `JsonValue`},
		{"MCP-40 as a member", `{"type":"object","$id":"x","properties":{"a":true,"b":false},"additionalProperties":false}`, "{\n  a?: JsonValue;\n  b?: JsonValue;\n}"},

		{"MCP-41 a definition used once", `{"$ref":"#/$defs/A","$defs":{"A":{"type":"string"}}}`, `string`},
		{"MCP-41 any pointer, escaped", `{"$ref":"#/x~1y/a%20~0b/0","x/y":{"a ~b":[{"type":"boolean"}]}}`, `boolean`},
		{"MCP-41 by the document's own id", `{"$id":"https://example.com/s#","$ref":"https://example.com/s#/$defs/A","$defs":{"A":{"type":"string"}}}`, `string`},
		{
			"MCP-41 a definition used more than once has a name",
			`{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/point-3d"},"b":{"type":"array","items":{"$ref":"#/$defs/point-3d"}}},"$defs":{"point-3d":{"type":"object","properties":{"x":{"type":"number"}},"additionalProperties":false}}}`,
			"type Point3d = {\n  x?: number;\n};\n\n{\n  a?: Point3d;\n  b?: Point3d[];\n}",
		},
		{
			"MCP-41 recursion",
			`{"$ref":"#/$defs/Filter","$defs":{"Filter":{"type":"object","properties":{"and":{"type":"array","items":{"$ref":"#/$defs/Filter"}}},"additionalProperties":false}}}`,
			"type Filter = {\n  and?: Filter[];\n};\n\nFilter",
		},
		{
			"MCP-41 recursion at the root",
			`{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}`,
			"type Root = {\n  next?: Root;\n};\n\nRoot",
		},
		{
			"MCP-41 recursion of two",
			`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}},"additionalProperties":false},"B":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"additionalProperties":false}}}`,
			"type A = {\n  b?: {\n    a?: A;\n  };\n};\n\nA",
		},
		{
			"MCP-41 a place that is also written out",
			`{"type":"object","additionalProperties":false,"properties":{"from":{"type":"object","properties":{"x":{"type":"number"}}},"to":{"$ref":"#/properties/from"}}}`,
			"type From = {\n  x?: number;\n} & Record<string, JsonValue>;\n\n{\n  from?: From;\n  to?: From;\n}",
		},
		{
			"MCP-41 descriptions: the sibling's, else the target's",
			`{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/A","description":"mine"},"b":{"$ref":"#/$defs/B"},"c":{"$ref":"http://example.com/","description":"kept"}},"$defs":{"A":{"type":"string","description":"its"},"B":{"type":"string","description":"its"}}}`,
			"{\n  /** mine */\n  a?: string;\n  /** its */\n  b?: string;\n  /** kept */\n  c?: JsonValue;\n}",
		},
		{"MCP-41 remote", `{"$ref":"https://example.com/schema"}`, `JsonValue`},
		{"MCP-41 dangling", `{"$ref":"#/$defs/Nope"}`, `JsonValue`},
		{"MCP-41 into something that is no schema", `{"$ref":"#/title","title":"x"}`, `JsonValue`},
		{"MCP-41 an anchor", `{"$ref":"#anchor"}`, `JsonValue`},
		{"MCP-41 a reference to itself", `{"$ref":"#"}`, `JsonValue`},
		{"MCP-41 a circle of references", `{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`, `JsonValue`},
		{"MCP-41 a circle of references beside members", `{"allOf":[{"$ref":"#/$defs/A"},{"type":"object","properties":{"x":{"$ref":"#/$defs/B"}},"additionalProperties":false}],"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`, "{\n  x?: JsonValue;\n}"},
		{"MCP-41 a type that includes itself", `{"$ref":"#/$defs/A","$defs":{"A":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/A"}]}}}`, `JsonValue`},
		{
			"MCP-41 names that are taken",
			`{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/Record"},"b":{"$ref":"#/$defs/Record"},"c":{"$ref":"#/$defs/json_value"},"d":{"$ref":"#/$defs/json_value"},"e":{"$ref":"#/$defs/1"},"f":{"$ref":"#/$defs/1"},"g":{"$ref":"#/$defs/ü"},"h":{"$ref":"#/$defs/ü"}},"$defs":{"Record":{"type":"string","minLength":1},"json_value":{"type":"null"},"1":{"type":"string"},"ü":{"type":"integer"}}}`,
			"type Record2 = string;\n\ntype JsonValue2 = null;\n\ntype Type1 = string;\n\ntype Type = number;\n\n{\n  a?: Record2;\n  b?: Record2;\n  c?: JsonValue2;\n  d?: JsonValue2;\n  e?: Type1;\n  f?: Type1;\n  g?: Type;\n  h?: Type;\n}",
		},

		{"MCP-42 anyOf", `{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]}`, `string | null`},
		{"MCP-42 oneOf with a foreign keyword", `{"oneOf":[{"type":"string","minLength":1},{"type":"integer"}]}`, `string | number`},
		{"MCP-42 a single branch", `{"anyOf":[{"type":"string"}]}`, `string`},
		{"MCP-42 equal branches", `{"anyOf":[{"type":"string","format":"a"},{"type":"string","format":"b"},{"type":"null"}]}`, `string | null`},
		{"MCP-42 whole numbers are numbers", `{"anyOf":[{"type":"integer"},{"type":"number"}]}`, `number`},
		{"MCP-42 literals in branches", `{"anyOf":[{"const":"a","title":"A"},{"const":"b"},{"enum":["a","c"]}]}`, `"a" | "b" | "c"`},
		{"MCP-42 an unconstrained branch", `{"anyOf":[{"type":"string"},{}]}`, `JsonValue`},
		{"MCP-42 no branch", `{"anyOf":[]}`, `JsonValue`},
		{"MCP-42 nested", `{"anyOf":[{"type":"string"},{"anyOf":[{"type":"null"},{"oneOf":[{"type":"boolean"},{"type":"string"}]}]}]}`, `string | null | boolean`},
		{
			"MCP-42 members beside objects go into each",
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false,"anyOf":[{"required":["a"]},{"properties":{"c":{"type":"null"}},"required":["b"]}]}`,
			"{\n  a: string;\n  b?: string;\n} | {\n  a?: string;\n  b: string;\n  c?: null;\n}",
		},
		{"MCP-42 members beside others are dropped", `{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"type":"object","additionalProperties":false},{"type":"null"}]}`, `Record<string, never> | null`},
		{"MCP-42 branches that say nothing about the type", `{"type":"string","anyOf":[{"format":"uri"},{"pattern":"^x"}]}`, `string`},

		{
			"MCP-43 allOf",
			`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"},"a":{"description":"A"}},"required":["b"],"additionalProperties":false}]}`,
			"{\n  /** A */\n  a: string;\n  b: number;\n}",
		},
		{"MCP-43 allOf of one reference", `{"allOf":[{"$ref":"#/$defs/A"}],"$defs":{"A":{"type":"string"}}}`, `string`},
		{"MCP-43 allOf of others", `{"allOf":[{"description":"x"},{"type":"string"},{"type":"integer"}]}`, `string`},
		{"MCP-43 the narrower of one type", `{"allOf":[{"type":"string"},{"enum":["a","b"]}]}`, `"a" | "b"`},
		{
			"MCP-43 a named definition in allOf is opened",
			`{"type":"object","additionalProperties":false,"properties":{"p":{"$ref":"#/$defs/Base"},"q":{"allOf":[{"$ref":"#/$defs/Base"},{"properties":{"y":{"type":"string"}}}]}},"$defs":{"Base":{"type":"object","properties":{"x":{"type":"number"}},"additionalProperties":false}}}`,
			"type Base = {\n  x?: number;\n};\n\n{\n  p?: Base;\n  q?: {\n    x?: number;\n    y?: string;\n  };\n}",
		},
		{"MCP-43 conditions are dropped", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"not":{"required":["b"]},"if":{},"then":{"required":["a"]},"else":{},"dependentRequired":{"a":["b"]},"dependentSchemas":{},"dependencies":{}}`, "{\n  a?: string;\n}"},

		{"MCP-44 a list of types", `{"type":["string","null"]}`, `string | null`},
		{"MCP-44 with the keywords that fit", `{"type":["array","object","string"],"items":{"type":"integer"},"properties":{"a":{}},"additionalProperties":false,"maxLength":5}`, "number[] | {\n  a?: JsonValue;\n} | string"},
		{"MCP-44 with values", `{"type":["string","integer","null"],"enum":["a",1,2,null]}`, `"a" | 1 | 2 | null`},
		{"MCP-44 nullable", `{"type":"string","nullable":true}`, `string | null`},
		{"MCP-44 nullable false", `{"type":"string","nullable":false}`, `string`},
		{"MCP-44 an empty list", `{"type":[]}`, `JsonValue`},

		{"MCP-45 enum without a type", `{"enum":["a","b"]}`, `"a" | "b"`},
		{"MCP-45 mixed", `{"enum":["a",1,1.5,true,null]}`, `"a" | 1 | 1.5 | true | null`},
		{"MCP-45 const without a type", `{"const":5}`, `5`},
		{"MCP-45 a value that is not scalar", `{"enum":["a",[1]]}`, `JsonValue`},
		{"MCP-45 values of another type are left out", `{"type":"string","enum":["a",1,"a"]}`, `"a"`},

		{"MCP-46 prefixItems", `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`, `(string | number)[]`},
		{"MCP-46 a list in items", `{"items":[{"type":"string"},{"type":"string"}],"additionalItems":{"type":"null"}}`, `(string | null)[]`},
		{"MCP-46 further items", `{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"null"}}`, `(string | null)[]`},
		{"MCP-46 no elements", `{"type":"array","items":[]}`, `JsonValue[]`},

		{"MCP-47 a schema for further members", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"integer"}}`, "{\n  a?: string;\n} & Record<string, JsonValue>"},
		{"MCP-47 pattern members open a closed object", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"patternProperties":{"^x":{}}}`, "{\n  a?: string;\n} & Record<string, JsonValue>"},
		{"MCP-47 unevaluated members", `{"type":"object","additionalProperties":false,"unevaluatedProperties":{}}`, `Record<string, JsonValue>`},
		{"MCP-47 an object without a type, by its members", `{"properties":{"a":{"type":"string","minLength":1}}}`, "{\n  a?: string;\n} & Record<string, JsonValue>"},
		{"MCP-47 by additionalProperties", `{"additionalProperties":false}`, `Record<string, never>`},
		{"MCP-47 an array without a type", `{"items":{"type":"string"}}`, `string[]`},
		{"MCP-47 a required name without a property", `{"type":"object","properties":{"a":{}},"required":["b","a","b",7],"additionalProperties":false}`, "{\n  a: JsonValue;\n  b: JsonValue;\n}"},

		{"MCP-48 limits and document keywords", `{"$schema":"s","$id":"i","$comment":"c","$anchor":"a","type":"object","deprecated":true,"readOnly":true,"minProperties":1,"additionalProperties":false,"properties":{
			"s":{"type":"string","minLength":1,"maxLength":2,"pattern":"x","format":"uri","contentEncoding":"base64"},"n":{"type":"number","minimum":0,"exclusiveMaximum":9,"multipleOf":2},"l":{"type":"array","items":{"type":"string"},"minItems":1,"uniqueItems":true}}}`, "{\n  s?: string;\n  n?: number;\n  l?: string[];\n}"},
		{"MCP-48 ill-typed annotations", `{"type":"object","additionalProperties":false,"title":5,"properties":{"a":{"type":"string","description":["x"],"title":{}}}}`, "{\n  a?: string;\n}"},
		{"MCP-48 ill-typed keywords", `{"type":"object","properties":[],"required":"a","enum":5,"anyOf":{},"allOf":1,"additionalProperties":false}`, `Record<string, never>`},
		{"an unknown type", `{"type":"file"}`, `JsonValue`},
		{"no schema", `[1]`, `JsonValue`},
	} {
		t.Run(c.rule, func(t *testing.T) { same(t, Project(js(t, c.schema)).TypeScript(), c.want) })
	}
}

func TestProjectionReports(t *testing.T) {
	p := Project(js(t, `{"type":"object","properties":{"a/b":{"$ref":"http://x/"},"c":{},"d":{"type":"file"},"e":{"enum":[{}]},"f":true}}`))
	want := []Loss{
		{"#/properties/a~1b", lossReference}, {"#/properties/c", lossUnsaid}, {"#/properties/d", lossType}, {"#/properties/e", lossLiteral}, {"#/properties/f", lossBoolean},
	}
	if fmt.Sprint(p.Losses) != fmt.Sprint(want) || p.Exact {
		t.Errorf("got %v", p.Losses)
	}
	if p := Project(js(t, `{"type":"string"}`)); !p.Exact || len(p.Losses) > 0 {
		t.Errorf("got %+v", p)
	}
}

func TestProjectionLimits(t *testing.T) {
	wide := func(n int) jsonval.Value {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"m%d":{"type":"string","minLength":1},`, i)
		}
		return js(t, `{"type":"object","properties":{`+strings.TrimSuffix(b.String(), ",")+`}}`)
	}
	t.Run("MCP-49 10,000 nodes", func(t *testing.T) {
		text := Project(wide(20_000)).TypeScript()
		if n := strings.Count(text, "?: string;"); n != maxNodes-1 {
			t.Errorf("%d members have a type", n)
		}
		if n := strings.Count(text, "?: JsonValue;"); n != 20_000-maxNodes+1 {
			t.Errorf("%d members have none", n)
		}
	})
	t.Run("MCP-39 no limit inside of the subset", func(t *testing.T) {
		schema := strings.Replace(wide(20_000).String(), `,"minLength":1`, "", -1)
		if n := strings.Count(Project(js(t, schema)).TypeScript(), "?: string;"); n != 20_000 {
			t.Errorf("%d members have a type", n)
		}
	})
	chain := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"D%d":{"$ref":"#/$defs/D%d"},`, i, i+1)
		}
		return fmt.Sprintf(`{"$ref":"#/$defs/D0","$defs":{%s"D%d":{"type":"string"}}}`, b.String(), n)
	}
	t.Run("MCP-49 64 levels of references", func(t *testing.T) {
		same(t, Project(js(t, chain(63))).TypeScript(), "string")
		p := Project(js(t, chain(64)))
		same(t, p.TypeScript(), "JsonValue")
		same(t, fmt.Sprint(p.Losses), fmt.Sprint([]Loss{{"#/$defs/D63", lossDepth}}))
	})
	t.Run("MCP-49 merging cannot multiply", func(t *testing.T) {
		// Each level merges its members into all branches of the next.
		schema := `{"type":"string","minLength":1}`
		for i := range 40 {
			schema = fmt.Sprintf(`{"type":"object","properties":{"a%d":%s,"b%d":{"type":"string"}},"anyOf":[{"required":["a%d"]},{"required":["b%d"]},{"properties":{"c":%s}}]}`, i, `{"type":"null"}`, i, i, i, schema)
		}
		schema = fmt.Sprintf(`{"allOf":[%s,%s,%s]}`, schema, schema, schema)
		if text := Project(js(t, schema)).TypeScript(); len(text) > 100*maxNodes {
			t.Errorf("%d bytes", len(text))
		}
	})
	t.Run("MCP-49 copies of a definition's members are paid for", func(t *testing.T) {
		var base, copies strings.Builder
		for i := range 500 {
			fmt.Fprintf(&base, `"m%d":{"type":"string"},`, i)
			fmt.Fprintf(&copies, `"c%d":{"allOf":[{"$ref":"#/$defs/Base"},{"properties":{"own":{"type":"null"}}}]},`, i)
		}
		text := Project(js(t, `{"type":"object","properties":{`+copies.String()+`"z":{}},"$defs":{"Base":{"type":"object","properties":{`+base.String()+`"z":{}}}}}`)).TypeScript()
		if n := strings.Count(text, ": string;"); n < 5000 || n > maxNodes {
			t.Errorf("%d typed members", n)
		}
	})
	t.Run("MCP-49 SDK-7 deep foreign schemas end", func(t *testing.T) {
		for _, level := range []string{`{"x-foreign":1,"type":"array","items":`, `{"anyOf":[{"type":"null"},`, `{"allOf":[`, `{"x":1,"type":"object","properties":{"a":`} {
			closing := map[byte]string{':': "}", ',': "]}", '[': "]}"}[level[len(level)-1]]
			if strings.HasSuffix(level, `"a":`) {
				closing = "}}"
			}
			text := Project(js(t, strings.Repeat(level, 50_000)+`{"type":"string"}`+strings.Repeat(closing, 50_000))).TypeScript()
			if len(text) > 200*maxNodes {
				t.Errorf("%s: %d bytes", level, len(text))
			}
		}
	})
	t.Run("MCP-50 a root that is no object", func(t *testing.T) {
		for _, parameters := range []string{`{}`, `true`, `{"type":"string"}`, `{"type":["object","null"]}`, `{"$ref":"#/nope"}`, `{"anyOf":[{"type":"object"},{"type":"string","minLength":1}]}`} {
			has(t, declare(t, "typescript", Options{}, Tool{Name: "a", Parameters: js(t, parameters)}), "  a: Record<string, JsonValue>;\n}\n\ninterface ToolOutputMap")
		}
	})
	t.Run("MCP-50 a union of objects is an object", func(t *testing.T) {
		has(t, declare(t, "typescript", Options{}, Tool{Name: "a", Parameters: js(t, `{"anyOf":[{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":false},{"type":"object","additionalProperties":false}]}`)}),
			"  a: {\n    x?: string;\n  } | Record<string, never>;\n")
	})
}

func TestNamedTypes(t *testing.T) {
	filter := func(extra string) jsonval.Value {
		return js(t, `{"type":"object","properties":{"where":{"$ref":"#/$defs/Filter"}},"$defs":{
			"Filter":{"type":"object","properties":{"all":{"type":"array","items":{"$ref":"#/$defs/Filter"}},"by":{"$ref":"#/$defs/By"},"also":{"$ref":"#/$defs/By"}},"additionalProperties":false},
			"By":{"type":"string","enum":["a"`+extra+`],"x":1}}}`)
	}
	t.Run("MCP-41 SDK-13 named types stand behind JsonValue, equal ones once", func(t *testing.T) {
		text := declare(t, "typescript", Options{}, Tool{Name: "a", Parameters: filter("")}, Tool{Name: "b", Parameters: filter("")}, Tool{Name: "c", Parameters: filter(`,"b"`)})
		has(t, text, typeScriptJSON+"\ntype Filter = {\n  all?: Filter[];\n  by?: By;\n  also?: By;\n};\n\ntype By = \"a\";\n\ntype Filter2 = {\n  all?: Filter2[];\n  by?: By2;\n  also?: By2;\n};\n\ntype By2 = \"a\" | \"b\";\n\ninterface ToolArgsMap {",
			"  a: {\n    where?: Filter;\n", "  b: {\n    where?: Filter;\n", "  c: {\n    where?: Filter2;\n")
	})
	t.Run("MCP-41 recursive references are quoted in Python", func(t *testing.T) {
		text := declare(t, "python", Options{}, Tool{Name: "a", Parameters: filter("")}, Tool{Name: "b", Parameters: filter("")})
		has(t, text, "By = Literal[\"a\"]\n\nclass Filter(TypedDict):\n    all: NotRequired[list[\"Filter\"]]\n    by: NotRequired[By]\n    also: NotRequired[By]\n\nclass AArgs(TypedDict):\n    where: NotRequired[Filter]\n")
		parsesAsPython(t, text)
	})
	t.Run("MCP-41 the compiler takes them", func(t *testing.T) {
		if out := typeCheck(t, []string{"--strict"}, map[string]string{"named.ts": declare(t, "typescript", Options{}, Tool{Name: "a", Parameters: filter("")}, Tool{Name: "c", Parameters: filter(`,"b"`)}) +
			`await tools.a({ where: { all: [{ by: "a" }, {}] }, more: 1 }); await tools.c({ where: { by: "b" } }); export {};`}); out != "" {
			t.Error(out)
		}
	})
}

func TestMCPResults(t *testing.T) {
	t.Run("MCP-76 without an advertised schema", func(t *testing.T) {
		text := declare(t, "typescript", Options{}, Tool{Name: "a", Output: js(t, mcpOutput)}, Tool{Name: "b", Output: js(t, mcpOutput)})
		has(t, text, "  a: McpResult;\n  b: McpResult;\n", typeScriptJSON+"\n"+typeScriptResult)
		if strings.Count(text, "type McpResult") != 1 {
			t.Error("it is not declared once")
		}
		python := declare(t, "python", Options{}, Tool{Name: "a", Output: js(t, mcpOutput)})
		has(t, python, pythonResult, "-> McpResult: ...")
		parsesAsPython(t, python)
	})
	t.Run("MCP-76 with one, optional or not, its references its own", func(t *testing.T) {
		output := func(required string) jsonval.Value {
			return js(t, `{"type":"object","additionalProperties":false,"required":["content"`+required+`],"properties":{"content":{"type":"array"},"structuredContent":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"required":["n"],"additionalProperties":false,"$defs":{"N":{"type":"integer"}}}}}`)
		}
		tools := []Tool{{Name: "a", Output: js(t, mcpOutput), SDKOutput: output("")}, {Name: "b", Output: js(t, mcpOutput), SDKOutput: output(`,"structuredContent"`)}}
		text := declare(t, "typescript", Options{}, tools...)
		has(t, text, "  a: McpResult<{\n    n: number;\n  }>;\n  b: Required<McpResult<{\n    n: number;\n  }>>;\n")
		python := declare(t, "python", Options{}, tools...)
		has(t, python, "class AOutputStructuredContent(TypedDict):\n    n: int\n\nclass AOutput(TypedDict):\n    content: list[dict[str, Any]]\n    structuredContent: NotRequired[AOutputStructuredContent]\n")
		parsesAsPython(t, python)
		if out := typeCheck(t, []string{"--strict"}, map[string]string{"result.ts": text +
			`const r = await tools.a({}); const s: string | undefined = r.content[0]?.text; const n: number | undefined = r.structuredContent?.n; const m: number = (await tools.b({})).structuredContent.n; export { s, n, m };`}); out != "" {
			t.Error(out)
		}
	})
	t.Run("MCP-76 nothing else is taken for one", func(t *testing.T) {
		for _, schema := range []string{
			`{"type":"object","properties":{"content":{"type":"array"}},"required":["content"]}`,
			`{"type":"object","properties":{"content":{"type":"array"}},"additionalProperties":false}`,
			`{"type":"object","properties":{"content":{"type":"array","items":{"type":"string"}}},"required":["content"],"additionalProperties":false}`,
			`{"type":"object","properties":{"content":{"type":"array"},"more":{}},"required":["content"],"additionalProperties":false}`,
		} {
			hasNot(t, declare(t, "typescript", Options{}, Tool{Name: "a", Output: js(t, schema)}), "McpResult")
		}
	})
	t.Run("SDK-1 TOOL-13 an output schema for the text alone replaces the enforced one", func(t *testing.T) {
		has(t, declare(t, "typescript", Options{}, Tool{Name: "a", Output: js(t, `{}`), SDKOutput: js(t, `{"type":["string","null"]}`)}), "  a: string | null;\n")
	})
}

// TestSubset compares the quick question with the registry's own assertion.
func TestSubset(t *testing.T) {
	schemas := []string{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":true,"title":"t","examples":[1],"default":null}`,
		`{"type":"integer","enum":[1,2.0],"const":1}`, `{"type":"integer","enum":[1.5]}`, `{"type":"null","enum":[null]}`, `{"type":"null","const":0}`,
		`{"oneOf":[{},{"type":"string"}]}`, `{"oneOf":[{}]}`, `{"oneOf":[{},{}],"enum":[1]}`, `{"oneOf":[{},1]}`, `{"type":"array","items":{"items":{}}}`,
		`{"type":"object","required":["a","a"],"properties":{"a":{}}}`, `{"type":"object","required":[]}`, `{"type":"string","additionalProperties":false}`,
		`{"type":"string","const":"a","enum":["a","b"]}`, `{"description":null}`, `{"required":[]}`, `{"type":"object","properties":{"a":1}}`,
	}
	for _, tools := range collection(t) {
		for _, tool := range tools {
			schemas = append(schemas, tool.Parameters.String())
			if tool.SDKOutput.Exists() {
				schemas = append(schemas, tool.SDKOutput.String())
			}
		}
	}
	for _, text := range schemas {
		if got, err := inSubset(js(t, text)), schema.Check(js(t, text)); got != (err == nil) {
			t.Errorf("SDK-23 %.300s: inSubset says %v, schema.Check %v", text, got, err)
		}
	}
}
