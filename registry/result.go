package registry

import (
	"slices"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Result is what a call settled with: a success with a value, or a failure with an error (RESULT-1). It never changes and
// may be kept and shared. The zero Result is no result at all; a wrapper that returns it fails its call.
type Result struct{ d *resultData }

type resultData struct {
	isError   bool
	concludes bool
	value     jsonval.Value
	valueErr  error // why an authored success has no value
	content   []Block
	meta      jsonval.Value // absent if there is none
	contexts  []Context
	failure   Failure
	// owner is the execution that the registry made this result for; nil for one that a wrapper authored. A result that
	// comes out of another call's execution counts as authored (AROUND-10).
	owner *execution
}

// Failure is why a call failed.
type Failure struct {
	Message string
	// Info is there exactly if the cause has a code (RESULT-5). It is for policy, logs and retries; the model sees the message.
	Info *Info
}

// Info is the class of a failure.
type Info struct {
	Name string `json:"name"`
	Code string `json:"code"`
}

// Success returns a result that a wrapper authors in place of the tool's. The value is read once, here; it is then held to
// the output contract of the tool, which also renders its content (AROUND-8).
func Success(value any, contexts ...Context) Result {
	d := &resultData{contexts: copyContexts(contexts)}
	d.value, d.valueErr = snapshot(value)
	return Result{d}
}

// Fail returns a failure that a wrapper authors. Its message is err's, its code the one err carries; without content it
// shows "Error: <message>".
func Fail(err error, content ...Block) Result {
	d := failureData(err)
	if len(content) > 0 {
		d.content = slices.Clone(content)
	}
	return Result{d}
}

// WithContexts returns r with contexts added behind those it has. A result of the tool remains one.
func (r Result) WithContexts(contexts ...Context) Result {
	if r.d == nil {
		return r
	}
	d := *r.d
	d.contexts = append(slices.Clip(d.contexts), copyContexts(contexts)...)
	return Result{&d}
}

// WithMeta returns the failure r with metadata, which must be lossless JSON. A success keeps the metadata that its tool
// derives from its value, so r is returned unchanged if it is one.
func (r Result) WithMeta(meta jsonval.Value) Result {
	if r.d == nil || !r.d.isError {
		return r
	}
	d := *r.d
	d.meta = meta
	return Result{&d}
}

// Exists reports whether r is a result; the zero Result is none.
func (r Result) Exists() bool { return r.d != nil }

// IsError reports whether the call failed.
func (r Result) IsError() bool { return r.d != nil && r.d.isError }

// Value returns the canonical value of a success, which may be null; it is absent for a failure (RESULT-2).
func (r Result) Value() jsonval.Value {
	if r.d == nil || r.d.isError {
		return jsonval.Value{}
	}
	return r.d.value
}

// Content returns what the model and a UI read, in a slice of the caller's own.
func (r Result) Content() []Block {
	if r.d == nil {
		return nil
	}
	return slices.Clone(r.d.content)
}

// Text joins the text blocks of the content with newlines.
func (r Result) Text() string {
	if r.d == nil {
		return ""
	}
	var text []string
	for _, b := range r.d.content {
		if b.Type() == "text" {
			text = append(text, b.Text())
		}
	}
	return strings.Join(text, "\n")
}

// Meta returns what the tool keeps for its presenters; absent if there is nothing.
func (r Result) Meta() jsonval.Value {
	if r.d == nil {
		return jsonval.Value{}
	}
	return r.d.meta
}

// Contexts returns the messages for the model that ride on the result, in slices of the caller's own.
func (r Result) Contexts() []Context {
	if r.d == nil {
		return nil
	}
	return copyContexts(r.d.contexts)
}

// Failure returns why the call failed, nil for a success.
func (r Result) Failure() *Failure {
	if r.d == nil || !r.d.isError {
		return nil
	}
	f := r.d.failure
	if f.Info != nil {
		info := *f.Info
		f.Info = &info
	}
	return &f
}

// ConcludesTurn reports whether the agent's turn ends with this success.
func (r Result) ConcludesTurn() bool { return r.d != nil && r.d.concludes }

// JSON returns the result as one object. Members that are empty are left out; a success always has its value, a failure
// never has one (RESULT-1, RESULT-2). The zero Result is absent.
func (r Result) JSON() jsonval.Value {
	d := r.d
	if d == nil {
		return jsonval.Value{}
	}
	members := make([]jsonval.Member, 0, 6)
	add := func(name string, v jsonval.Value) { members = append(members, jsonval.Member{Name: name, Value: v}) }
	add("isError", jsonval.Bool(d.isError))
	switch {
	case d.isError:
		add("error", d.failure.json())
	case d.value.Exists():
		add("value", d.value)
	}
	add("content", contentValue(d.content))
	if d.meta.Exists() {
		add("meta", d.meta)
	}
	if len(d.contexts) > 0 {
		contexts := make([]jsonval.Value, len(d.contexts))
		for i, c := range d.contexts {
			contexts[i] = c.JSON()
		}
		add("additionalContexts", jsonval.Array(contexts...))
	}
	if d.concludes {
		add("concludesTurn", jsonval.Bool(true))
	}
	return jsonval.Object(members...)
}

// MarshalJSON writes the object that JSON returns, null for the zero Result.
func (r Result) MarshalJSON() ([]byte, error) {
	if r.d == nil {
		return []byte("null"), nil
	}
	return r.JSON().JSON(), nil
}

func (f Failure) json() jsonval.Value {
	members := []jsonval.Member{{Name: "message", Value: jsonval.Text(f.Message)}}
	if f.Info != nil {
		members = append(members, jsonval.Member{Name: "info", Value: jsonval.Object(
			jsonval.Member{Name: "name", Value: jsonval.Text(f.Info.Name)},
			jsonval.Member{Name: "code", Value: jsonval.Text(f.Info.Code)},
		)})
	}
	return jsonval.Object(members...)
}

// failureData is the ordinary failure that err makes: one text block "Error: <message>" (RESULT-4).
func failureData(err error) *resultData {
	message, info := describe(err)
	message = strings.ToValidUTF8(message, "\uFFFD") // the output of a command may be anything
	return &resultData{
		isError: true,
		failure: Failure{Message: message, Info: info},
		content: []Block{Text("Error: " + message)},
	}
}
