package sdkgen

import (
	"fmt"
	"testing"
)

// TestLinear counts allocations instead of time: what grows with the square of the input shows in both.
func TestLinear(t *testing.T) {
	allocations := func(tools []Tool) float64 {
		return testing.AllocsPerRun(1, func() {
			for _, language := range Languages() {
				s, err := New(language, tools, Options{MaxTokens: 2000})
				if err != nil {
					t.Fatal(err)
				}
				s.Index()
			}
		})
	}
	object := func(n int) []Tool {
		text := `{"type":"object","x":1,"properties":{`
		for i := range n {
			text += fmt.Sprintf(`"m%d":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/D%d"}]},`, i, i%7)
		}
		text += `"z":{}},"$defs":{`
		for i := range 7 {
			text += fmt.Sprintf(`"D%d":{"type":"object","properties":{"a%d":{"$ref":"#/$defs/D%d"}}},`, i, i, (i+1)%7)
		}
		return []Tool{{Name: "a", Parameters: js(t, text+`"D":{}}}`)}}
	}
	for name, of := range map[string]func(n int) []Tool{
		"tools":   func(n int) []Tool { return many(t, n, "") },
		"members": object,
	} {
		t.Run("SDK-7 MCP-49 linear in "+name, func(t *testing.T) {
			small, large := allocations(of(500)), allocations(of(2000))
			if large > 5*small {
				t.Errorf("%.0f allocations for 500, %.0f for 2,000", small, large)
			}
		})
	}
}

func BenchmarkLinear(b *testing.B) {
	for _, n := range []int{250, 1000, 4000} {
		tools := many(b, n, "")
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := New("typescript", tools, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/tool")
		})
	}
}
