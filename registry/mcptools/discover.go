package mcptools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// What bounds a list that never ends (MCP-16), and one that would take the memory.
const (
	maxPages     = 1000
	maxTools     = 10_000
	maxListBytes = 128 << 20
)

// A remoteTool is one entry of a server's list.
type remoteTool struct {
	raw         string
	description string
	input       jsonval.Value
	output      jsonval.Value // absent if the server advertises none
	needsTask   bool          // MCP-25
}

// discover reads the whole list, page by page (MCP-16 to MCP-18).
func discover(ctx context.Context, s session, perPage time.Duration) ([]remoteTool, error) {
	if !s.hasTools() {
		return nil, nil
	}
	var tools []remoteTool
	size := 0
	seenTool, seenCursor := map[string]bool{}, map[string]bool{}
	for cursor, page := "", 1; ; page++ {
		if page > maxPages {
			return nil, fmt.Errorf("the list of tools has more than %d pages", maxPages)
		}
		found, next, bytes, err := readPage(ctx, s, cursor, perPage)
		if err != nil {
			return nil, fmt.Errorf("page %d of the list of tools: %w", page, err)
		}
		if size += bytes; size > maxListBytes || len(tools)+len(found) > maxTools {
			return nil, fmt.Errorf("the list has more than %d tools or %d MiB", maxTools, maxListBytes>>20)
		}
		for _, t := range found {
			if seenTool[t.raw] {
				return nil, fmt.Errorf("the list names the tool %q twice", t.raw)
			}
			seenTool[t.raw] = true
			tools = append(tools, t)
		}
		if next == "" {
			return tools, nil
		}
		if seenCursor[next] {
			return nil, fmt.Errorf("the list of tools goes round in circles: the cursor of page %d came twice", page)
		}
		seenCursor[next] = true
		cursor = next
	}
}

func readPage(ctx context.Context, s session, cursor string, limit time.Duration) (tools []remoteTool, next string, size int, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := s.list(ctx, cursor)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, "", 0, fmt.Errorf("no answer within %s", limit)
	}
	if err != nil {
		return nil, "", 0, err
	}
	page, err := jsonval.Parse(roundNumbers(text))
	if err != nil {
		return nil, "", 0, fmt.Errorf("not lossless JSON: %w", err)
	}
	list, _ := page.Get("tools")
	if !list.IsArray() {
		return nil, "", 0, errors.New("has no list of tools")
	}
	for i, entry := range list.Items() {
		t, err := readTool(entry)
		if err != nil {
			return nil, "", 0, fmt.Errorf("tool %d: %w", i+1, err)
		}
		tools = append(tools, t)
	}
	switch cursor, ok := page.Get("nextCursor"); {
	case !ok || cursor.IsNull():
	case cursor.IsString():
		next = cursor.Str()
	default:
		return nil, "", 0, fmt.Errorf("nextCursor is %s, not a string", cursor.Kind())
	}
	return tools, next, len(text), nil
}

func readTool(entry jsonval.Value) (remoteTool, error) {
	name, _ := entry.Get("name")
	if !name.IsString() {
		return remoteTool{}, errors.New("has no name")
	}
	t := remoteTool{raw: name.Str()}
	description, _ := entry.Get("description")
	t.description = description.Str()
	t.input, _ = entry.Get("inputSchema")
	if !t.input.IsObject() {
		return remoteTool{}, fmt.Errorf("%q has no inputSchema object", t.raw)
	}
	if output, ok := entry.Get("outputSchema"); ok && output.IsObject() {
		t.output = output
	}
	execution, _ := entry.Get("execution")
	support, _ := execution.Get("taskSupport")
	t.needsTask = support.Str() == "required"
	return t, nil
}
