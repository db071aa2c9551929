package main

// This file is a small MCP server for the scripts: the command "mcpserver" of their PATH.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// mcpServer serves one tool, add, over standard input and output, and says something on standard error that nobody should see. Its
// arguments are its instructions.
func mcpServer() {
	fmt.Fprintln(os.Stderr, "mcpserver: starting")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Arguments       struct{ A, B float64 }
			}
		}
		if err := json.Unmarshal(in.Bytes(), &request); err != nil || request.ID == nil {
			continue // a notification
		}
		var result any
		switch request.Method {
		case "initialize":
			result = map[string]any{
				"protocolVersion": request.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "demo", "version": "1"}, "instructions": strings.Join(os.Args[1:], " "),
			}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{
				"name": "add", "description": "Adds two numbers.",
				"inputSchema":  map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "number"}, "b": map[string]any{"type": "number"}}, "required": []string{"a", "b"}},
				"outputSchema": map[string]any{"type": "object", "properties": map[string]any{"sum": map[string]any{"type": "number"}}, "required": []string{"sum"}},
			}}}
		case "tools/call":
			sum := request.Params.Arguments.A + request.Params.Arguments.B
			result = map[string]any{
				"content":           []any{map[string]any{"type": "text", "text": fmt.Sprint(sum)}},
				"structuredContent": map[string]any{"sum": sum},
			}
		default:
			result = map[string]any{}
		}
		reply, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": result})
		if err != nil {
			return
		}
		fmt.Printf("%s\n", reply)
	}
}
