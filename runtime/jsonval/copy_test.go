package jsonval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestSortKeys(t *testing.T) {
	t.Run("REPEAT-8 members sorted at every depth", func(t *testing.T) {
		v := parse(t, `{"b":[{"z":1,"é":2,"a":{"y":1.0,"x":1e0}},[]],"a":{},"B":3,"":4}`)
		if got := jsonval.SortKeys(v).String(); got != `{"":4,"B":3,"a":{},"b":[{"a":{"x":1,"y":1},"z":1,"é":2},[]]}` {
			t.Errorf("got %s", got)
		}
		if got := v.String(); !strings.HasPrefix(got, `{"b":`) {
			t.Errorf("the value itself was sorted: %s", got)
		}
		for _, s := range []string{`1`, `"s"`, `[]`, `{}`, `[{}]`} {
			if got := jsonval.SortKeys(parse(t, s)).String(); got != s {
				t.Errorf("%s became %s", s, got)
			}
		}
	})
}

func TestClone(t *testing.T) {
	text := strings.Repeat(" ", 1000) + `{"name":["value","esc\n",1,{},[],{"x":null}]}`
	v := parse(t, text)
	c := v.Clone()
	if !jsonval.Identical(v, c) || c.String() != v.String() {
		t.Fatalf("%s is not %s", c, v)
	}
	from := uintptr(unsafe.Pointer(unsafe.StringData(text)))
	list, _ := c.Get("name")
	for _, s := range []string{c.Names()[0], list.Index(0).Str(), list.Index(5).Names()[0]} {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(s))); at >= from && at < from+uintptr(len(text)) {
			t.Errorf("%q is still part of the text", s)
		}
	}
	if (jsonval.Value{}).Clone().Exists() {
		t.Error("the copy of an absent value exists")
	}
}

func TestConcurrentUse(t *testing.T) {
	type local struct {
		A *local
		B []inner
		C map[string]*local
	}
	v := parse(t, `{"a":[1,{"b":"c\n"}],"d":1e21}`)
	done := make(chan string, 8)
	for range cap(done) {
		go func() {
			of := jsonval.MustOf(&local{A: &local{B: []inner{{X: 1}}}, C: map[string]*local{"k": {}}})
			done <- v.String() + v.With("x", of).String() + fmt.Sprint(jsonval.SortKeys(v), v.Size(-1), jsonval.Equal(v, v))
		}()
	}
	var got []string
	for range cap(done) {
		got = append(got, <-done)
	}
	if len(slices.Compact(got)) != 1 {
		t.Errorf("JSON-9 the goroutines saw %q", got)
	}
}
