package jsonval_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// TestManySizes reads containers of all the sizes at which their memory comes from somewhere else, within each other.
func TestManySizes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	sizes := []int{0, 1, 2, 11, 12, 13, 16, 17, 18, 47, 48, 49, 255, 256, 257, 1023, 1024, 1025, 3000}
	var write func(b *strings.Builder, depth int)
	write = func(b *strings.Builder, depth int) {
		n := sizes[r.IntN(len(sizes))]
		if depth == 0 || depth < 3 && n > 300 {
			fmt.Fprintf(b, `"leaf \n %d"`, r.Uint32())
			return
		}
		array := r.IntN(2) == 0
		nested := r.IntN(n + 1)
		for i := range n {
			switch {
			case i > 0:
				b.WriteByte(',')
			case array:
				b.WriteByte('[')
			default:
				b.WriteByte('{')
			}
			if !array {
				fmt.Fprintf(b, `"k%d":`, r.IntN(2*n))
			}
			if i == nested || r.IntN(40) == 0 && depth < 3 {
				write(b, depth-1)
			} else {
				fmt.Fprintf(b, `%d`, i)
			}
		}
		switch {
		case n == 0:
			b.WriteString("[]")
		case array:
			b.WriteByte(']')
		default:
			b.WriteByte('}')
		}
	}
	for range 60 {
		var b strings.Builder
		write(&b, 4)
		v := parse(t, b.String())
		var want any
		if err := json.Unmarshal([]byte(b.String()), &want); err != nil {
			t.Fatal(err)
		}
		if got := v.Any(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%.2000s\nwas read as\n%.2000s", b.String(), v)
		}
		of, err := jsonval.Of(want)
		if err != nil || !jsonval.Identical(of, jsonval.SortKeys(v)) {
			t.Fatalf("%.2000s\nbecame\n%.2000s (%v)", v, of, err)
		}
		checkValue(t, v)
	}
}

// TestMemory bounds what a value keeps: a hostile text of many tiny values must not take much more than the values.
func TestMemory(t *testing.T) {
	const n = 500_000
	var members, repeated strings.Builder
	for i := range n {
		fmt.Fprintf(&members, `,"%d":0`, i)
		fmt.Fprintf(&repeated, `,"%d":0`, i%100)
	}
	for _, c := range []struct {
		name, text string
		limit      int // bytes for each of the n values, the text not counted
	}{
		{"numbers", "[0" + strings.Repeat(",0", n-1) + "]", 24 * 3 / 2},
		{"empty arrays", "[[]" + strings.Repeat(",[]", n-1) + "]", 24 * 3 / 2},
		{"members", "{" + members.String()[1:] + "}", 40*3/2 + 16},
		{"repeated members", "{" + repeated.String()[1:] + "}", 1},
		{"nested arrays", strings.Repeat("[", n) + strings.Repeat("]", n), 24 * 2},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		v := parse(t, c.text)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int(after.HeapAlloc) - int(before.HeapAlloc); kept > c.limit*n {
			t.Errorf("JSON-10 %s: %d bytes are kept for each value, want at most %d", c.name, kept/n, c.limit)
		}
		runtime.KeepAlive(v)
	}
}

// TestOfMemory bounds what the walk over Go data allocates: what it has read of one map makes room for the next.
func TestOfMemory(t *testing.T) {
	const n, each = 20_000, 5
	var plain []any
	var typed []map[string]int
	for range n {
		plain = append(plain, map[string]any{"a": nil, "b": nil, "c": nil, "d": nil, "e": nil})
		typed = append(typed, map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5})
	}
	for _, c := range []struct {
		v     any
		limit uint64 // bytes for each map, whose members take 40 each and itself 24
	}{{plain, 300}, {typed, 450}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v := jsonval.MustOf(c.v)
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) / n; got > c.limit || v.Index(n-1).Len() != each {
			t.Errorf("JSON-7 %T: %d bytes for each map", c.v, got)
		}
	}
}
