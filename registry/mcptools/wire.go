package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Reading single messages of a server out of lines and bodies, without decoding what they carry: results stay bytes.

// maxWireDepth is how deep a message may nest: what the standard library's checker and gjson take. Deeper ones fail their own request.
const maxWireDepth = 10_000

// frame is one JSON-RPC message with its members as they came.
type frame struct {
	id     jsonrpc.ID // invalid for a notification
	rawID  string
	method string
	params json.RawMessage
	result json.RawMessage
	fault  *jsonrpc.Error
	deep   bool // nests too deep: only id is known
}

var (
	errNotJSON    = errors.New("not JSON")
	errNotJSONRPC = errors.New("not a JSON-RPC message")
)

// parseFrames reads one message, or a batch of messages, which revision 2025-03-26 of the protocol had.
func parseFrames(text []byte) ([]frame, error) {
	tooDeep := jsonval.Deeper(text, maxWireDepth)
	if !tooDeep && !json.Valid(text) {
		return nil, errNotJSON
	}
	document := gjson.ParseBytes(text)
	if document.IsArray() && !tooDeep {
		var frames []frame
		document.ForEach(func(_, item gjson.Result) bool {
			if f, err := parseFrame(item, false); err == nil {
				frames = append(frames, f)
			}
			return true
		})
		if len(frames) == 0 {
			return nil, errNotJSONRPC
		}
		return frames, nil
	}
	f, err := parseFrame(document, tooDeep)
	if err != nil {
		return nil, err
	}
	return []frame{f}, nil
}

func parseFrame(document gjson.Result, tooDeep bool) (frame, error) {
	if !document.IsObject() {
		return frame{}, errNotJSONRPC
	}
	f := frame{deep: tooDeep}
	var version, fault string
	document.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "jsonrpc":
			version = value.Str
		case "id":
			f.rawID, f.id = value.Raw, requestID(value)
		case "method":
			f.method = value.Str
		case "params":
			f.params = json.RawMessage(value.Raw)
		case "result":
			f.result = json.RawMessage(value.Raw)
		case "error":
			if value.Type != gjson.Null {
				fault = value.Raw
			}
		}
		return true
	})
	if version != "2.0" || f.method == "" && !f.id.IsValid() {
		return frame{}, errNotJSONRPC
	}
	switch {
	case tooDeep:
		f.result, f.params = nil, nil
		f.fault = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: fmt.Sprintf("the answer nests deeper than %d levels", maxWireDepth)}
	case fault != "":
		f.fault = parseFault(fault)
	case f.method == "" && f.result == nil:
		f.fault = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the answer has neither a result nor an error"}
	}
	return f, nil
}

// parseFault reads an error object; what is malformed about it does not make it a success.
func parseFault(text string) *jsonrpc.Error {
	fault := gjson.Parse(text)
	e := &jsonrpc.Error{Code: fault.Get("code").Int(), Message: fault.Get("message").String()}
	if e.Message == "" {
		e.Message = "the server reported an error without a message"
	}
	if data := fault.Get("data"); data.Exists() && !jsonval.Deeper(data.Raw, 500) {
		e.Data = json.RawMessage(data.Raw)
	}
	return e
}

// message is the form that the MCP library takes.
func (f frame) message() jsonrpc.Message {
	if f.method != "" {
		return &jsonrpc.Request{ID: f.id, Method: f.method, Params: f.params}
	}
	response := &jsonrpc.Response{ID: f.id, Result: f.result}
	if f.fault != nil {
		response.Result, response.Error = nil, f.fault
	}
	return response
}
