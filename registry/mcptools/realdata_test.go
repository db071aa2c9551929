//go:build unix

package mcptools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// TestRealLists registers what real servers answered to tools/list, where such answers are at hand.
func TestRealLists(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/data/toolslists/*.json")
	if len(files) == 0 {
		t.Skip("no lists of real servers are at hand")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var saved struct{ Tools json.RawMessage }
		if err := json.Unmarshal(text, &saved); err != nil {
			t.Fatal(err)
		}
		inBubble(t, "MCP-21 "+filepath.Base(file), func(b *bench) {
			b.config.FailOnStartupError = true
			b.script.lists = []string{`{"tools":` + string(saved.Tools) + `}`}
			b.connect()
			sent, err := jsonval.Parse(roundNumbers(saved.Tools))
			if err != nil {
				b.Fatal(err)
			}
			visible := b.reg.Visible(nil)
			if len(visible) != sent.Len() || sent.Len() == 0 {
				b.Fatalf("%d tools of %d", len(visible), sent.Len())
			}
			for i, tool := range sent.Items() {
				name, _ := tool.Get("name")
				d, ok := b.reg.Get(PublicName("srv", name.Str()), nil)
				schema, _ := tool.Get("inputSchema")
				if !ok || !jsonval.Identical(d.Parameters, schema) || visible[i].Name != d.Name {
					b.Errorf("%s: not registered as sent", name)
				}
			}
		})
	}
}
