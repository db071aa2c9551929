package jsonval_test

import (
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// TestDepth goes through every walk with deep values and hardly any stack of calls: a walk that recursed would end the
// process.
func TestDepth(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(2 << 20))
	t.Run("JSON-10 VALUE-5 a million levels, or a tenth with the race detector", func(t *testing.T) {
		for _, c := range []struct {
			open, close string
			times       int
		}{{`[{"b":1,"a":`, "}]", levels / 2}, {"[", "]", levels / 5}, {`{"a":`, "}", levels / 5}} {
			text := strings.Repeat(c.open, c.times) + "1" + strings.Repeat(c.close, c.times)
			v := parse(t, text)
			if got := v.String(); got != text {
				t.Fatal("the text changed")
			}
			if v.Size(-1) != int64(len(text)) || v.Size(1000) != 1001 {
				t.Error("the size is wrong")
			}
			if got := v.AppendIndentJSON(nil, "  ", 5); len(got) > len(text)+200 {
				t.Error("the indented text is long")
			}
			again := parse(t, text)
			if !jsonval.Equal(v, again) || !jsonval.Identical(v, again) || jsonval.Equal(v, v.Index(0)) {
				t.Error("the comparison is wrong")
			}
			if c.times == levels/2 {
				continue // the rest is slow
			}
			if !jsonval.Equal(jsonval.SortKeys(v), v) || !jsonval.Identical(v.Clone(), v) {
				t.Error("the copy is wrong")
			}
			if of := jsonval.MustOf(v.Any()); !jsonval.Equal(of, v) {
				t.Error("Of of the Go data is another value")
			}
			if of := jsonval.MustOf([]any{v}); !jsonval.Equal(of.Index(0), v) {
				t.Error("Of of the value is another value")
			}
			if err := v.Decode(new([]int)); err == nil || !strings.Contains(err.Error(), "levels deep, at most 10000 can be decoded") {
				t.Errorf("Decode: %v", err)
			}
		}
	})
	t.Run("JSON-10 brackets that are never closed", func(t *testing.T) {
		start := time.Now()
		for _, open := range []string{"[", `{"":`} {
			_, err := jsonval.ParseString(strings.Repeat(open, 5*levels))
			if err == nil {
				t.Error("accepted")
			}
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("took %v", took)
		}
	})
	t.Run("JSON-10 a chain of Go pointers", func(t *testing.T) {
		type node struct {
			Next *node `json:"n,omitempty"`
		}
		root := &node{}
		for range levels {
			root = &node{Next: root}
		}
		if got := jsonval.MustOf(root).Size(-1); got != 2+levels*int64(len(`{"n":}`)) {
			t.Errorf("size %d", got)
		}
	})
	t.Run("VALUE-5 5,000 levels reach Go data", func(t *testing.T) {
		v := parse(t, strings.Repeat("[", 5000)+strings.Repeat("]", 5000))
		var target struct{ X []any }
		if err := jsonval.Object(jsonval.Member{Name: "X", Value: v}).Decode(&target); err != nil || len(target.X) != 1 {
			t.Error(err)
		}
	})
}
