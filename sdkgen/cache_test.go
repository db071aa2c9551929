package sdkgen

import (
	"fmt"
	"sync"
	"testing"
)

func TestCache(t *testing.T) {
	made := func(t *testing.T, c *Cache, o Options, tools ...Tool) *SDK {
		t.Helper()
		s, err := c.New("typescript", tools, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("SDK-4 equal tools give the same text, whoever made them", func(t *testing.T) {
		var c Cache
		first := made(t, &c, Options{}, notes(t)...)
		if made(t, &c, Options{}, notes(t)...) != first {
			t.Error("made twice")
		}
		same(t, first.Section(), section(t, "typescript", Options{}, notes(t)...))
	})
	t.Run("SDK-4 whatever the text depends on makes a difference", func(t *testing.T) {
		var c Cache
		seen := map[*SDK]string{}
		note := func(what string, s *SDK) {
			if other, ok := seen[s]; ok {
				t.Errorf("%s is taken for %s", what, other)
			}
			seen[s] = what
		}
		note("notes", made(t, &c, Options{}, notes(t)...))
		note("one note", made(t, &c, Options{}, notes(t)[:1]...))
		note("cut", made(t, &c, Options{MaxDescription: 5}, notes(t)...))
		note("discovery", made(t, &c, Options{MaxTokens: 5000}, notes(t)...))
		note("used", made(t, &c, Options{Usage: map[string]int64{"ping": 1}}, notes(t)...))
		note("used more", made(t, &c, Options{Usage: map[string]int64{"ping": 2}}, notes(t)...))
		note("check", made(t, &c, Options{Check: true}, notes(t)...))
		for _, change := range []struct {
			what string
			do   func(*Tool)
		}{
			{"name", func(t *Tool) { t.Name = "pong" }},
			{"description", func(t *Tool) { t.Description += "!" }},
			{"parameters", func(x *Tool) { x.Parameters = js(t, `{"type":"object","properties":{"a":{}}}`) }},
			{"output", func(x *Tool) { x.Output = js(t, `{"type":"number"}`) }},
			{"SDK output", func(x *Tool) { x.SDKOutput = js(t, `{"type":"number"}`) }},
		} {
			tools := notes(t)
			change.do(&tools[0])
			note(change.what, made(t, &c, Options{}, tools...))
		}
		s, err := c.New("python", notes(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		note("python", s)
	})
	t.Run("it is bounded, and the least used set goes first", func(t *testing.T) {
		var c Cache
		first := made(t, &c, Options{}, Tool{Name: "first"})
		second := made(t, &c, Options{}, Tool{Name: "second"})
		for i := range maxCached - 1 {
			made(t, &c, Options{}, Tool{Name: fmt.Sprint("t", i)})
			if made(t, &c, Options{}, Tool{Name: "first"}) != first {
				t.Fatal("what is used was forgotten")
			}
		}
		if len(c.entries) != maxCached {
			t.Errorf("%d entries", len(c.entries))
		}
		if made(t, &c, Options{}, Tool{Name: "second"}) == second {
			t.Error("nothing was forgotten")
		}
	})
	t.Run("an error is not remembered", func(t *testing.T) {
		var c Cache
		if _, err := c.New("cobol", nil, Options{}); err == nil {
			t.Error("no error")
		}
		if _, err := c.New("typescript", nil, Options{MaxTokens: -1}); err == nil {
			t.Error("no error")
		}
		if len(c.entries) != 0 {
			t.Errorf("%d entries", len(c.entries))
		}
	})
	t.Run("the caller's slices stay the caller's", func(t *testing.T) {
		var c Cache
		tools, usage := notes(t), map[string]int64{"ping": 1}
		first := made(t, &c, Options{Usage: usage}, tools...)
		tools[0].Name, usage["ping"] = "changed", 9
		if made(t, &c, Options{Usage: map[string]int64{"ping": 1}}, notes(t)...) != first {
			t.Error("a change of the caller's changed the cache")
		}
	})
	t.Run("concurrent questions for one set share one answer", func(t *testing.T) {
		var c Cache
		answers := make([]*SDK, 8)
		var wait sync.WaitGroup
		for i := range answers {
			wait.Go(func() { answers[i], _ = c.New("typescript", notes(t), Options{}) })
		}
		wait.Wait()
		for _, s := range answers {
			if s == nil || s != answers[0] {
				t.Fatal("different answers")
			}
		}
	})
}

// BenchmarkCache is a question for a set of 200 tools that was asked before.
func BenchmarkCache(b *testing.B) {
	var c Cache
	tools := many(b, 200, "")
	for b.Loop() {
		if _, err := c.New("typescript", tools, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
