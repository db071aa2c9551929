package jsonval_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// benchTexts are the documents that the benchmarks read and write, by name.
func benchTexts() map[string]string {
	small := `{"path":"src/main.go","offset":120,"limit":40,"flags":["a","b"],"deep":{"ok":true,"none":null}}`
	var mixed, numbers strings.Builder
	mixed.WriteString("[")
	for i := 0; mixed.Len() < 1<<20; i++ {
		if i > 0 {
			mixed.WriteString(",")
		}
		fmt.Fprintf(&mixed, `{"id":%d,"name":"item %d","price":%d.%02d,"tags":["red","green","blue"],"note":"a line\nand a \"quoted\" word, é","at":{"lat":%v,"lon":%v},"open":%v,"parent":null}`,
			i, i, i%1000, i%100, 40+float64(i)/7919, -70-float64(i)/6007, i%2 == 0)
	}
	mixed.WriteString("]")
	numbers.WriteString("[0")
	for i := range 100_000 {
		fmt.Fprintf(&numbers, ",%d,%v", i*37, float64(i)/977)
	}
	numbers.WriteString("]")
	return map[string]string{
		"small":   small,
		"mixed":   mixed.String(),
		"numbers": numbers.String(),
		"strings": `["` + strings.Repeat("The quick brown fox jumps over the lazy dog. ", 20_000) + `","` + strings.Repeat(`line\n`, 50_000) + `","` + strings.Repeat("žluťoučký kůň ", 20_000) + `"]`,
		"deep":    strings.Repeat(`{"a":[`, 4_000) + strings.Repeat(`]}`, 4_000),
	}
}

var benchNames = []string{"small", "mixed", "numbers", "strings", "deep"}

func BenchmarkParse(b *testing.B) {
	texts := benchTexts()
	for _, name := range benchNames {
		text := []byte(texts[name])
		b.Run(name+"/jsonval", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsonval.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(text, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPrint(b *testing.B) {
	texts := benchTexts()
	for _, name := range benchNames {
		v, err := jsonval.ParseString(texts[name])
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/jsonval", func(b *testing.B) {
			b.SetBytes(int64(len(texts[name])))
			b.ReportAllocs()
			for b.Loop() {
				v.JSON()
			}
		})
		b.Run(name+"/size", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Size(-1)
			}
		})
		var plain any
		if err := json.Unmarshal([]byte(texts[name]), &plain); err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(texts[name])))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(plain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOf(b *testing.B) {
	texts := benchTexts()
	type place struct {
		Lat float64 `json:"lat"`
		Lon float64 `json:"lon"`
	}
	type item struct {
		ID    int      `json:"id"`
		Name  string   `json:"name"`
		Tags  []string `json:"tags"`
		Note  string   `json:"note,omitempty"`
		At    *place   `json:"at"`
		Open  bool     `json:"open"`
		Extra any      `json:"parent"`
	}
	var typed []item
	var plain any
	for _, target := range []any{&typed, &plain} {
		if err := json.Unmarshal([]byte(texts["mixed"]), target); err != nil {
			b.Fatal(err)
		}
	}
	for name, v := range map[string]any{"small": typed[0], "structs": typed, "maps": plain} {
		b.Run(name+"/jsonval", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsonval.Of(v); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
