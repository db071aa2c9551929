package jsonval_test

import (
	"fmt"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Order is kept, spelling is not: a value has one text.
func ExampleParse() {
	v, err := jsonval.Parse([]byte(`{"z": 1.0, "a": [1e2, "\u00e9"], "z": 1e21}`))
	fmt.Println(v, err)
	// Output: {"z":1e+21,"a":[100,"é"]} <nil>
}

// What the domain cannot hold is refused with its place.
func ExampleParse_lossy() {
	for _, text := range []string{`{"items":[{"id":9007199254740993}]}`, `[-0]`, `["\ud800"]`, `{"a":1,}`} {
		_, err := jsonval.ParseString(text)
		fmt.Println(err)
	}
	// Output:
	// an integer that a double cannot hold exactly at $.items[0].id
	// negative zero at $[0]
	// an unpaired surrogate escape at $[0]
	// invalid JSON (byte 7: '}', expected a member's name in quotes) at $
}

// Go data is taken in as encoding/json would print it, but nil containers are empty.
func ExampleOf() {
	type hit struct {
		Path  string   `json:"path"`
		Lines []int    `json:"lines"`
		Notes []string `json:"notes,omitempty"`
	}
	v, err := jsonval.Of(map[string]any{"hits": []hit{{Path: "a.go"}}, "done": true})
	fmt.Println(v, err)
	_, err = jsonval.Of(map[string]any{"hits": []any{1, func() {}}})
	fmt.Println(err)
	// Output:
	// {"done":true,"hits":[{"path":"a.go","lines":[]}]} <nil>
	// a Go value of type func() at $.hits[1]
}

// Measuring stops at the limit, however large the value is.
func ExampleValue_Size() {
	v := jsonval.MustOf([]string{"€", "a\nb"})
	fmt.Println(v.Size(-1), v.Size(14), v.Size(5))
	// Output: 14 14 6
}

func ExampleValue_AppendIndentJSON() {
	v := jsonval.MustOf(map[string]any{"b": []any{1, []int{2, 3}}, "a": nil})
	fmt.Printf("%s\n", v.AppendIndentJSON(nil, "  ", 2))
	// Output:
	// {
	//   "a": null,
	//   "b": [
	//     1,
	//     [2,3]
	//   ]
	// }
}
