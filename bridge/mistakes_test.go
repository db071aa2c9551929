package bridge_test

// This file runs the programs that models get wrong, and holds the exact text that the model reads of each (CODE-34).

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

const mistakesFile = "testdata/mistakes.txt"

var update = flag.Bool("update", false, "rewrite "+mistakesFile+" from what the engines say")

// mistake is one program, and what the model reads when it runs: on the wasm engine, and on goja where that differs.
type mistake struct {
	name, program, want, goja string
}

// The marks of the file, each at the start of a line.
const (
	markName    = "=== "
	markText    = "--- the model reads"
	markOnGoja  = "--- on goja"
	markTight   = "(tight limits) "
	markRaces   = "(races) "
	fewMistakes = 60
)

// callState is how far a call came, in the last lines of a failure.
var callState = regexp.MustCompile(`(?m): (?:\d+ (?:done|dropped|unknown|failed)(?:, )?)+$`)

func readMistakes(t *testing.T) (head string, list []mistake) {
	t.Helper()
	data, err := os.ReadFile(mistakesFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(data), markName)
	for _, section := range strings.Split(rest, "\n"+markName) {
		name, body, _ := strings.Cut(section, "\n")
		program, text, _ := strings.Cut(body, "\n"+markText+"\n")
		text, goja, _ := strings.Cut(text, "\n"+markOnGoja+"\n")
		list = append(list, mistake{name, strings.TrimSuffix(program, "\n"), strings.TrimSuffix(text, "\n"), strings.TrimSuffix(goja, "\n")})
	}
	return head, list
}

func writeMistakes(t *testing.T, head string, list []mistake) {
	t.Helper()
	var b strings.Builder
	b.WriteString(head)
	for i, m := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(markName + m.name + "\n" + m.program + "\n" + markText + "\n" + m.want + "\n")
		if m.goja != "" {
			b.WriteString(markOnGoja + "\n" + m.goja + "\n")
		}
	}
	if err := os.WriteFile(mistakesFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMistakes(t *testing.T) {
	head, list := readMistakes(t)
	if len(list) < fewMistakes {
		t.Fatalf("%s has %d mistakes, want at least %d", mistakesFile, len(list), fewMistakes)
	}
	got := map[string][]string{}
	run := func(tight bool) func(t *testing.T, e runtime.Engine) {
		return func(t *testing.T, e runtime.Engine) {
			texts := got[e.Isolation()]
			if texts == nil {
				texts = make([]string, len(list))
				got[e.Isolation()] = texts
			}
			for i, m := range list {
				if strings.HasPrefix(m.name, markTight) != tight {
					continue
				}
				t.Run("CODE-34 "+m.name, func(t *testing.T) {
					w := real(t, e)
					w.shop()
					texts[i] = w.runProgram(m.program).Text()
					if strings.HasPrefix(m.name, markRaces) {
						texts[i] = callState.ReplaceAllString(texts[i], ": done or not")
					}
					want := m.want
					if m.goja != "" && e.Isolation() == "in-process" {
						want = m.goja
					}
					if texts[i] != want && !*update {
						t.Errorf("%s\nthe model reads\n%s\nwant\n%s", m.program, texts[i], want)
					}
				})
			}
		}
	}
	onEngines(t, runtime.Limits{}, run(false))
	onEngines(t, runtime.Limits{Compute: 200 * time.Millisecond, Wall: time.Second, MaxOutput: 1000}, run(true))
	if *update {
		for i := range list {
			list[i].want, list[i].goja = got["wasm"][i], got["in-process"][i]
			if list[i].goja == list[i].want {
				list[i].goja = ""
			}
		}
		writeMistakes(t, head, list)
	}
}

// shop registers the tools that the programs of the file call: typed ones, one as an MCP server has it, one whose name is no
// identifier, one that always fails, and one that answers when it is cancelled.
func (w *world) shop() {
	type line struct {
		SKU   string `json:"sku"`
		Count int    `json:"count"`
	}
	type order struct {
		ID    string  `json:"id"`
		Total float64 `json:"total"`
	}
	type search struct {
		Query  string `json:"query"`
		Status string `json:"status,omitempty" enum:"open,paid,shipped"`
		Limit  *int   `json:"limit"`
	}
	type found struct {
		Orders []order `json:"orders"`
	}
	type place struct {
		Customer string `json:"customer"`
		Lines    []line `json:"lines"`
	}
	type path struct {
		Path string `json:"path"`
	}
	define(w, registry.Spec[search, found]{Name: "search_orders", Description: "Finds orders.",
		Run: func(context.Context, search, *registry.Run) (found, error) {
			return found{[]order{{"a-1", 12.5}, {"a-2", 30}}}, nil
		}})
	define(w, registry.Spec[place, order]{Name: "place_order", Description: "Places an order.",
		Run: func(context.Context, place, *registry.Run) (order, error) { return order{"a-3", 5}, nil }})
	define(w, registry.Spec[path, string]{Name: "read_file", Description: "Reads a file.",
		Run: func(_ context.Context, p path, _ *registry.Run) (string, error) {
			if p.Path == "config.json" {
				return `{"retries": 3}`, nil
			}
			return "", fmt.Errorf("%s: no such file", p.Path)
		}})
	define(w, registry.Spec[struct{}, []string]{Name: "list_users", Description: "Lists users.",
		Run: func(context.Context, struct{}, *registry.Run) ([]string, error) { return []string{"ada", "bob"}, nil }})
	w.tool("send-mail", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
		return map[string]any{"sent": true}, nil
	})
	w.tool("github__get_issue", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": `{"title":"Crash"}`}}}, nil
	})
	w.tool("charge", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
		return nil, registry.Coded("PaymentError", "DECLINED", "the card was declined")
	})
	w.tool("wait_for_webhook", func(ctx context.Context, _ jsonval.Value, _ *registry.Run) (any, error) {
		<-ctx.Done()
		return nil, errors.New("cancelled")
	})
}

func define[Args, Out any](w *world, s registry.Spec[Args, Out]) {
	w.t.Helper()
	d, err := registry.Define(s)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.reg.Register(d); err != nil {
		w.t.Fatal(err)
	}
}
