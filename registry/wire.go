package registry

// This file writes schemas the way the common APIs want their tools. Each returns one JSON list and changes no schema.

import (
	"fmt"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// AnthropicTools returns the tools for the Messages API: name, description, input_schema.
func AnthropicTools(tools []Schema) (jsonval.Value, error) {
	return wireList(tools, 128, func(s Schema) jsonval.Value {
		return jsonval.Object(append(named(s), jsonval.Member{Name: "input_schema", Value: s.Parameters})...)
	})
}

// OpenAIChatTools returns the tools for the Chat Completions API: functions nested under "function".
func OpenAIChatTools(tools []Schema) (jsonval.Value, error) {
	return wireList(tools, 64, func(s Schema) jsonval.Value {
		return jsonval.Object(
			jsonval.Member{Name: "type", Value: jsonval.Text("function")},
			jsonval.Member{Name: "function", Value: jsonval.Object(append(named(s), jsonval.Member{Name: "parameters", Value: s.Parameters})...)},
		)
	})
}

// OpenAIResponsesTools returns the tools for the Responses API, where functions are flat. That API is strict unless it is
// told otherwise, and strict schemas are another dialect, so strict is false.
func OpenAIResponsesTools(tools []Schema) (jsonval.Value, error) {
	return wireList(tools, 64, func(s Schema) jsonval.Value {
		members := []jsonval.Member{{Name: "type", Value: jsonval.Text("function")}}
		members = append(members, named(s)...)
		return jsonval.Object(append(members,
			jsonval.Member{Name: "parameters", Value: s.Parameters},
			jsonval.Member{Name: "strict", Value: jsonval.Bool(false)},
		)...)
	})
}

// MCPTools returns the tools as an MCP server lists them: name, description, inputSchema.
func MCPTools(tools []Schema) (jsonval.Value, error) {
	return wireList(tools, 0, func(s Schema) jsonval.Value {
		return jsonval.Object(append(named(s), jsonval.Member{Name: "inputSchema", Value: s.Parameters})...)
	})
}

func named(s Schema) []jsonval.Member {
	return []jsonval.Member{
		{Name: "name", Value: jsonval.Text(s.Name)},
		{Name: "description", Value: jsonval.Text(s.Description)},
	}
}

// wireList writes all tools. With a limit, a name must consist of letters, digits, _ and -, at most limit of them: the API
// would refuse the whole request.
func wireList(tools []Schema, limit int, form func(Schema) jsonval.Value) (jsonval.Value, error) {
	out := make([]jsonval.Value, len(tools))
	for i, s := range tools {
		if limit > 0 && !wireName(s.Name, limit) {
			return jsonval.Value{}, fmt.Errorf("registry: the API takes no tool named %s: names are 1 to %d of A-Z, a-z, 0-9, _ and -", quote(s.Name), limit)
		}
		if !s.Parameters.Exists() {
			return jsonval.Value{}, fmt.Errorf("registry: tool %s has no parameters", quote(s.Name))
		}
		out[i] = form(s)
	}
	return jsonval.Array(out...), nil
}

func wireName(name string, limit int) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if (c < '0' || c > '9') && c != '_' && c != '-' {
				return false
			}
		}
	}
	return name != "" && len(name) <= limit
}
