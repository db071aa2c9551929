package gateway

// This file defines search_tools, by which a model finds the declarations that do not stand in run_code's description (GATE-3).

import (
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

const searchTools = "search_tools"

const maxFound = 50

func searchTool() *mcp.Tool {
	return &mcp.Tool{
		Name: searchTools,
		Description: "Finds tools that programs for `run_code` can call, by what they should do. Returns the declarations of those that fit best, " +
			"the best first. Call them from inside of a program.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"What the tool should do, in a few words, or its name."},` +
			`"limit":{"type":"integer","minimum":1,"maximum":50,"description":"How many tools to return at most; 5 if left out."}` +
			`},"required":["query"]}`),
	}
}

// search answers a call of search_tools from the same index as sdk.search in programs.
func (g *Gateway) search(r *mcp.CallToolRequest, l *listing) *mcp.CallToolResult {
	query, limit, err := searchArguments(r.Params.Arguments)
	if err != nil {
		return failed(err)
	}
	found := l.sdk.Index().Search(query, limit)
	var pieces []piece
	if len(found) == 0 {
		pieces = []piece{{text: strings.TrimSpace("(no tool fits; try other words)\n" + unavailable(l.missing))}}
	}
	list := make([]jsonval.Value, len(found))
	for i, m := range found {
		pieces = append(pieces, piece{text: m.Declaration})
		list[i] = jsonval.Object(
			jsonval.Member{Name: "name", Value: jsonval.Text(m.Name)},
			jsonval.Member{Name: "declaration", Value: jsonval.Text(m.Declaration)},
		)
	}
	client := g.clientOf(r)
	a := new(mcp.CallToolResult)
	text := ""
	a.Content, text = g.content(client, r, pieces)
	a.StructuredContent = g.structured(client, jsonval.Object(jsonval.Member{Name: "tools", Value: jsonval.Array(list...)}), text)
	return a
}

func searchArguments(text json.RawMessage) (query string, limit int, err error) {
	args, err := arguments(text)
	if err != nil {
		return "", 0, err
	}
	q, _ := args.Get("query")
	if !q.IsString() {
		return "", 0, errors.New(`query must be a text that says what the tool should do, such as {"query": "send mail"}`)
	}
	if n, ok := args.Get("limit"); ok {
		f := n.Float()
		if !n.IsNumber() || f != math.Trunc(f) || f < 1 || f > maxFound {
			return "", 0, errors.New("limit must be a whole number from 1 to 50")
		}
		limit = int(f)
	}
	return q.Str(), limit, nil
}
