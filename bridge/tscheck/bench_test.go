package tscheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/sdkgen"
)

// manyTools are 200 tools with typed options and outputs: some 4,000 lines of declarations.
func manyTools(b *testing.B) []sdkgen.Tool {
	b.Helper()
	var tools []sdkgen.Tool
	for i := range 200 {
		var options strings.Builder
		for j := range 8 {
			fmt.Fprintf(&options, `,"option_%d_%d":{"type":%q,"description":"What option %d is good for."}`, i, j, []string{"string", "number", "boolean"}[(i+j)%3], j)
		}
		tools = append(tools, sdkgen.Tool{
			Name: fmt.Sprintf("service_%d", i), Description: "Does something useful.",
			Parameters: value(b, `{"type":"object","properties":{"id":{"type":"string"}`+options.String()+`},"required":["id"]}`),
			Output:     value(b, `{"type":"object","properties":{"id":{"type":"string"},"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"size":{"type":"number"}}}}},"required":["id","items"]}`),
		})
	}
	return tools
}

// fiftyLines is a program of 50 lines that calls tools; n makes it another one.
func fiftyLines(n int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "const run = %d, found = [];\n", n)
	for i := range 16 {
		fmt.Fprintf(&s, "const r%d = await tools.service_%d({ id: 'x%d' });\nfor (const item of r%d.items) if (item.size > %d) found.push({ ...item, run });\nconsole.log(r%d.id, found.length);\n", i, i*7, i, i, i, i)
	}
	s.WriteString("return found.map(f => f.name).sort();\n")
	return s.String()
}

// BenchmarkCheck is the check of a program of 50 lines against 200 tools.
func BenchmarkCheck(b *testing.B) {
	compiler := realCompiler(b)
	tools := manyTools(b)
	for name, warm := range bothWays {
		b.Run(name, func(b *testing.B) {
			c := newChecker(b, Options{Compiler: compiler, Warm: warm})
			if f := try(b, b.Context(), c, request(fiftyLines(-1), tools), tools); f != nil {
				b.Fatal(f)
			}
			n := 0
			for b.Loop() {
				n++
				if f := try(b, b.Context(), c, request(fiftyLines(n), tools), tools); f != nil {
					b.Fatal(f)
				}
			}
		})
	}
	b.Run("program that is refused, warm", func(b *testing.B) {
		c := newChecker(b, Options{Compiler: compiler, Warm: true})
		n := 0
		for b.Loop() {
			n++
			if f := try(b, b.Context(), c, request(fiftyLines(n)+"await tools.service_3({ idd: '' })", tools), tools); f == nil {
				b.Fatal("it passes")
			}
		}
	})
}
