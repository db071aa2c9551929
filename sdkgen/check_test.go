package sdkgen

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckDeclarations(t *testing.T) {
	closing := []Tool{
		{Name: "unsaid", Description: "D", Parameters: js(t, `{"type":"object","properties":{"mode":{"type":"string","enum":["a","b"],"description":"M"},"n":{"type":"integer","const":5},"in":{"type":"object","properties":{"m":{"type":"array","items":{"type":"string","enum":["x","y"]}}}}}}`), Output: js(t, `{"type":"string","enum":["p","q"]}`)},
		{Name: "said", Parameters: js(t, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`)},
		{Name: "schema", Parameters: js(t, `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{}}`)},
		{Name: "empty", Parameters: js(t, `{"type":"object","properties":{}}`)},
		{Name: "either", Parameters: js(t, `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`)},
		{Name: "named", Parameters: js(t, `{"type":"object","properties":{"next":{"$ref":"#"},"kind":{"enum":["k"]}}}`)},
	}
	text := declare(t, "typescript", Options{Check: true}, closing...)
	t.Run("GATE-7 argument roots that say nothing are closed, nested objects stay open, literals are widened", func(t *testing.T) {
		has(t, text, "  unsaid: {\n    mode?: string;\n    n?: number;\n    in?: {\n      m?: string[];\n    } & Record<string, JsonValue>;\n  };\n")
	})
	t.Run("GATE-7 what is open by its own word stays open", func(t *testing.T) {
		has(t, text, "  said: {\n    a?: string;\n  } & Record<string, JsonValue>;\n", "  schema: {\n    a?: string;\n  } & Record<string, JsonValue>;\n", "  empty: Record<string, JsonValue>;\n")
	})
	t.Run("GATE-7 each object of a union, and one behind a name", func(t *testing.T) {
		has(t, text, "  either: {\n    a?: string;\n  } | {\n    b?: string;\n  };\n", "  named: {\n    next?: NamedArgs;\n    kind?: string;\n  };\n", "type NamedArgs = {\n  next?: NamedArgs;\n  kind?: string;\n} & Record<string, JsonValue>;\n")
	})
	t.Run("GATE-7 outputs keep their literals, nothing is described", func(t *testing.T) {
		has(t, text, "  unsaid: \"p\" | \"q\";\n")
		hasNot(t, text, "/**")
	})
	t.Run("GATE-7 what has no schema can be used as it is known to be", func(t *testing.T) {
		has(t, text, "type JsonValue = any;\n")
		free := declare(t, "typescript", Options{Check: true}, Tool{Name: "get"}, Tool{Name: "put", Parameters: js(t, `{"type":"object","properties":{"id":{"type":"string"}}}`)})
		if out := typeCheck(t, nil, map[string]string{"free.ts": free + `const r = await tools.get({}); await tools.put({ id: r.items[0].id }); export {};`}); out != "" {
			t.Error(out)
		}
	})
	t.Run("GATE-7 shown declarations are not like that", func(t *testing.T) {
		has(t, declare(t, "typescript", Options{}, closing...), "    mode?: \"a\" | \"b\";\n", "    } & Record<string, JsonValue>;\n  } & Record<string, JsonValue>;\n}\n", "type JsonValue = string |")
	})
	t.Run("GATE-7 CLI-8 a misspelt member is found, a widened literal passes", func(t *testing.T) {
		files := map[string]string{"good.ts": text + `let mode = "a"; await tools.unsaid({ mode }); await tools.said({ more: 1 }); await tools.either({ b: "x" }); export {};`}
		if out := typeCheck(t, nil, files); out != "" {
			t.Error(out)
		}
		out := typeCheck(t, nil, map[string]string{"bad.ts": text + `await tools.unsaid({ moed: "a" }); await tools.either({ c: "x" }); await tools.named({ nxt: {} }); export {};`})
		if strings.Count(out, "error TS2561")+strings.Count(out, "error TS2353") != 3 {
			t.Error(out)
		}
	})
}

// many makes n tools with the same long options and one of their own.
func many(t testing.TB, n int, required string) []Tool {
	var tools []Tool
	long := strings.Repeat("long ", 30)
	for i := range n {
		tools = append(tools, Tool{Name: fmt.Sprintf("tool_%d", i), Parameters: js(t, fmt.Sprintf(`{"type":"object","properties":{
			"tenant":{"type":"string","description":"Tenant. %s"},"own_%d":{"type":"string"},"retry":{"type":"string","enum":["a","b"],"description":"Retry. %s"}}%s}`, long, i, long, required))})
	}
	return tools
}

func TestShared(t *testing.T) {
	t.Run("MCP-41 members that many tools take alike are declared once", func(t *testing.T) {
		text := declare(t, "typescript", Options{}, many(t, 10, "")...)
		has(t, text, "type SharedArgs = {\n  /** Tenant. long", "  tool_3: {\n    own_3?: string;\n  } & SharedArgs & Record<string, JsonValue>;\n")
		if n := strings.Count(text, "tenant?"); n != 1 {
			t.Errorf("tenant is declared %d times", n)
		}
		closed := declare(t, "typescript", Options{}, many(t, 10, `,"additionalProperties":false`)...)
		has(t, closed, "  tool_3: {\n    own_3?: string;\n  } & SharedArgs;\n")
		if out := typeCheck(t, []string{"--strict"}, map[string]string{
			"shared.ts": text + `await tools.tool_1({ own_1: "x", tenant: "t", more: 1 }); export {};`,
			"closed.ts": closed + `await tools.tool_1({ own_1: "x", tenant: "t", retry: "a" }); await tools.tool_1({}); export {};`,
			"check.ts":  declare(t, "typescript", Options{Check: true}, many(t, 10, "")...) + `let retry = "a"; await tools.tool_1({ own_1: "x", retry }); export {};`,
		}); out != "" {
			t.Error(out)
		}
		bad := declare(t, "typescript", Options{Check: true}, many(t, 10, "")...) + `await tools.tool_1({ tennant: "x" }); export {};`
		has(t, typeCheck(t, nil, map[string]string{"bad.ts": bad}), "error TS2561")
	})
	t.Run("a single shared member is called after itself", func(t *testing.T) {
		var tools []Tool
		for i, tool := range many(t, 20, "") {
			if i%2 == 0 {
				tool = many(t, 20, `,"required":["tenant"]`)[i]
			}
			tools = append(tools, tool)
		}
		text := declare(t, "typescript", Options{}, tools...)
		has(t, text, "type TenantArg = {\n", "  tenant: string;\n", "type TenantOption = {\n", "  tenant?: string;\n", "type RetryOption = {\n", "  tool_0: {\n    own_0?: string;\n  } & TenantArg & RetryOption & Record<string, JsonValue>;\n")
	})
	t.Run("SDK-15 a set without much to save stays as it is", func(t *testing.T) {
		hasNot(t, declare(t, "typescript", Options{}, many(t, 3, "")...), "Shared", "TenantOption")
		hasNot(t, declare(t, "typescript", Options{}, notes(t)...), "& Shared")
	})
	t.Run("MCP-41 an object that comes again is declared once", func(t *testing.T) {
		object := `{"type":"object","additionalProperties":false,"properties":{"from":{"type":"string","description":"` + strings.Repeat("where ", 200) + `"}}}`
		tools := []Tool{
			{Name: "a", Parameters: js(t, `{"type":"object","properties":{"page-range":`+object+`}}`), Output: js(t, object)},
			{Name: "b", Parameters: js(t, `{"type":"object","properties":{"other":{"type":"array","items":`+object+`}}}`)},
		}
		text := declare(t, "typescript", Options{}, tools...)
		has(t, text, "type PageRange = {\n  /** where", "    \"page-range\"?: PageRange;\n", "    other?: PageRange[];\n", "  a: PageRange;\n")
		if out := typeCheck(t, []string{"--strict"}, map[string]string{"again.ts": text + `await tools.b({ other: [{ from: "x" }], more: await tools.a({}) }); export {};`}); out != "" {
			t.Error(out)
		}
	})
}
