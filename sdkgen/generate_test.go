package sdkgen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// choices turns bytes into a schema that uses every keyword the projection knows, with references among its definitions: what mutation of
// text hardly ever finds.
type choices struct {
	data  []byte
	nodes int
}

func (c *choices) next(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *choices) document() string {
	definitions := make([]string, 4)
	for i := range definitions {
		c.nodes = 0
		definitions[i] = fmt.Sprintf(`"D%d":%s`, i, c.node(1))
	}
	c.nodes = 0
	return `{"type":"object","properties":{"a":` + c.node(0) + `,"b":` + c.node(0) + `},"$defs":{` + strings.Join(definitions, ",") + `}}`
}

func (c *choices) list(depth int, least int) string {
	var items []string
	for range least + c.next(3) {
		items = append(items, c.node(depth+1))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (c *choices) node(depth int) string {
	if c.nodes++; c.nodes > 30 || depth > 6 {
		return `{"type":"string"}`
	}
	var members []string
	add := func(key, value string) { members = append(members, fmt.Sprintf("%q:%s", key, value)) }
	for range 1 + c.next(3) {
		switch c.next(24) {
		case 0:
			add("type", []string{`"string"`, `"number"`, `"integer"`, `"boolean"`, `"null"`, `["string","null"]`, `["object","array"]`, `"file"`}[c.next(8)])
		case 1, 2, 3, 17, 18, 19:
			add("type", `"object"`)
			var fields []string
			for _, name := range []string{"a", "b c", "class", "__x"}[:c.next(5)] {
				fields = append(fields, fmt.Sprintf("%q:%s", name, c.node(depth+1)))
			}
			add("properties", "{"+strings.Join(fields, ",")+"}")
		case 4:
			add("required", []string{`["a"]`, `["z","a"]`, `[]`, `[1]`}[c.next(4)])
		case 5:
			add("additionalProperties", []string{`true`, `false`, `{}`, `{"type":"string"}`}[c.next(4)])
		case 6, 22, 23:
			add("items", c.node(depth+1))
		case 7:
			add("prefixItems", c.list(depth, 0))
		case 8, 20, 21:
			add("anyOf", c.list(depth, 0))
		case 9:
			add("oneOf", c.list(depth, 1))
		case 10:
			add("allOf", c.list(depth, 1))
		case 11, 12, 13, 14:
			return `{"$ref":"` + []string{"#", "#/$defs/D0", "#/$defs/D1", "#/$defs/D2", "#/$defs/D3", "#/properties/a", "#/nope", "http://x/"}[c.next(8)] + `"}`
		case 15:
			add([]string{"enum", "nullable", "const", "description"}[c.next(4)], []string{`["x",1,null]`, `true`, `"k"`, `"*/ d"`}[c.next(4)])
		case 16:
			return []string{`true`, `{}`, `false`}[c.next(3)]
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// FuzzKeywords is FuzzSchema over schemas that are schemas.
func FuzzKeywords(f *testing.F) {
	f.Add([]byte("\x0c\x01\x0c\x02\x0c\x03\x0c\x04\x01\x02"))
	f.Add([]byte("any text does, since every byte is a choice of a keyword, a type or a number of branches"))
	f.Fuzz(func(t *testing.T, data []byte) {
		schema := (&choices{data: data}).document()
		v, err := jsonval.ParseString(schema)
		if err != nil {
			t.Fatalf("%v: %s", err, schema)
		}
		checkTypeScript(t, "type T = "+strings.ReplaceAll(Project(v).TypeScript(), "\n\n", "\ntype _ = "))
		tools := []Tool{{Name: "a", Parameters: v, Output: v}, {Name: "b", Parameters: v, SDKOutput: v}}
		for _, o := range []Options{{}, {Check: true}} {
			s, err := New("typescript", tools, o)
			if err != nil {
				t.Fatal(err)
			}
			checkTypeScript(t, s.Declarations())
			checkSize(t, s, schema, "", "")
		}
		p, err := New("python", tools, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkPython(t, p.Declarations())
	})
}

// TestGenerated has the real compilers read what generated schemas become.
func TestGenerated(t *testing.T) {
	var texts []string
	files := map[string]string{}
	for i := range 220 {
		data := make([]byte, 2000)
		x := uint32(i)*2654435761 + 1
		for j := range data {
			x = x*1664525 + 1013904223
			data[j] = byte(x >> 24)
		}
		v := js(t, (&choices{data: data}).document())
		tools := []Tool{{Name: "a", Parameters: v, Output: v}, {Name: "b", Parameters: v}}
		texts = append(texts, declare(t, "python", Options{}, tools...))
		files[fmt.Sprintf("g%d.ts", i)] = declare(t, "typescript", Options{}, tools...) + "export {};\n"
		files[fmt.Sprintf("c%d.ts", i)] = declare(t, "typescript", Options{Check: true}, tools...) + "export {};\n"
	}
	t.Run("PY-6 generated schemas parse", func(t *testing.T) { parsesAsPython(t, texts...) })
	t.Run("MCP-41 generated schemas compile", func(t *testing.T) {
		if out := typeCheck(t, []string{"--strict"}, files); out != "" {
			t.Errorf("%.3000s", out)
		}
	})
}
