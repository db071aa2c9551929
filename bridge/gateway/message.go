package gateway

// This file defines how a line of a client is read as a JSON-RPC message. Whatever the line is, the session goes on: what the
// library would end it for is answered here with an error instead.

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// envelope is what all messages are read as.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *jsonrpc.Error  `json:"error"`
}

// decodeMessage reads a line. For one that is no message it returns the answer to send: with the id of the request, if it can
// be known, else with none, as JSON-RPC has it.
func decodeMessage(line []byte) (jsonrpc.Message, *jsonrpc.Response) {
	if !utf8.Valid(line) {
		return nil, refusal(jsonrpc.ID{}, jsonrpc.CodeParseError, "a message must be UTF-8 text")
	}
	var e envelope
	err := json.Unmarshal(line, &e)
	id, known := e.id()
	switch {
	case err != nil && !json.Valid(line):
		return nil, refusal(jsonrpc.ID{}, jsonrpc.CodeParseError, "a message must be one line of JSON: "+err.Error())
	case bytes.HasPrefix(line, []byte("[")):
		return nil, refusal(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "batches are not supported: send each message on a line of its own")
	case err != nil:
		return nil, refusal(id, jsonrpc.CodeInvalidRequest, "not a JSON-RPC message: "+err.Error())
	case e.Version != "2.0":
		return nil, refusal(id, jsonrpc.CodeInvalidRequest, `a message must have the member "jsonrpc": "2.0"`)
	case !known:
		return nil, refusal(id, jsonrpc.CodeInvalidRequest, "an id must be a text or a whole number")
	case e.Method != nil:
		return &jsonrpc.Request{ID: id, Method: *e.Method, Params: e.Params}, nil
	case !id.IsValid() || (e.Result == nil) == (e.Error == nil):
		return nil, refusal(id, jsonrpc.CodeInvalidRequest, "a message must have a method, or an id and a result or an error")
	}
	r := &jsonrpc.Response{ID: id, Result: e.Result}
	if e.Error != nil {
		r.Error = e.Error
	}
	return r, nil
}

// id reads the id, which a notification lacks. The library would round a fraction, and so answer another request.
func (e *envelope) id() (id jsonrpc.ID, ok bool) {
	if e.ID == nil {
		return jsonrpc.ID{}, true
	}
	var v any
	if err := json.Unmarshal(e.ID, &v); err != nil {
		return jsonrpc.ID{}, false
	}
	if n, ok := v.(float64); v == nil || ok && (n != math.Trunc(n) || math.Abs(n) > 1<<53) {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}

func refusal(id jsonrpc.ID, code int64, text string) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: text}}
}

// encodeMessage writes a message as a line. An error that has no code gets one, and an answer to nobody says so.
func encodeMessage(msg jsonrpc.Message) ([]byte, error) {
	r, ok := msg.(*jsonrpc.Response)
	if !ok || r.Error == nil {
		return appendLine(jsonrpc.EncodeMessage(msg))
	}
	wire := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: r.Error.Error()}
	if coded := (*jsonrpc.Error)(nil); errors.As(r.Error, &coded) && coded.Code != 0 {
		wire.Code, wire.Data = coded.Code, coded.Data
	}
	if r.ID.IsValid() {
		return appendLine(jsonrpc.EncodeMessage(&jsonrpc.Response{ID: r.ID, Error: wire}))
	}
	return appendLine(json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      *string        `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, wire}))
}

func appendLine(text []byte, err error) ([]byte, error) { return append(text, '\n'), err }
