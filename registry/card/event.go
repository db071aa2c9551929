package card

// This file makes views for the events of a log, live and replayed alike (CARD-34..CARD-37).

import (
	"fmt"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Event is a record that a UI may show: a [CallEvent] or a [ResultEvent].
type Event interface{ event() }

// CallEvent is the record of a call.
type CallEvent struct {
	CallID, Name string
	Arguments    string // the JSON text as it was logged
}

// ResultEvent is the record of a result.
type ResultEvent struct {
	CallID string
	Result PersistedResult
}

func (CallEvent) event()   {}
func (ResultEvent) event() {}

// Presenter is the pair of callbacks that a tool presents its calls with. Either may be nil.
type Presenter struct {
	Call   func(args jsonval.Value) CallView
	Result func(args jsonval.Value, r PersistedResult) ResultView
}

// Lookup is where ViewForEvent finds what it needs. Any function may be nil, which finds nothing.
type Lookup struct {
	// Presenter finds the presenter of a tool in the view of the scope that made the call (CARD-36).
	Presenter func(name string) (Presenter, bool)
	// Call finds the call that a result belongs to.
	Call func(callID string) (CallEvent, bool)
	// Failed is told of presenters that panic or return a malformed view.
	Failed func(tool string, err error)
}

// View is what a UI shows for an event: at most one of the two is not nil. If both are, the generic way applies: see
// FallbackCall and FallbackResult.
type View struct {
	Call   CallView
	Result ResultView
}

// ViewForEvent returns the view of an event. It never fails: whatever goes wrong, there is no view.
func ViewForEvent(e Event, l Lookup) (v View) {
	name := ""
	defer func() {
		if p := recover(); p != nil {
			v = View{}
			l.failed(name, fmt.Errorf("a presenter panicked: %v", printed(p)))
		}
	}()
	switch e := e.(type) {
	case CallEvent:
		name = e.Name
		if presenter, args, ok := l.find(e); ok && presenter.Call != nil {
			v.Call = presenter.Call(args)
		}
		if isNil(v.Call) {
			v.Call = nil
		}
		if err := CheckCall(v.Call); err != nil {
			l.failed(name, err)
			return View{}
		}
	case ResultEvent:
		if l.Call == nil {
			return View{}
		}
		call, ok := l.Call(e.CallID)
		if !ok { // outside of the loaded window (CARD-37)
			return View{}
		}
		name = call.Name
		if presenter, args, ok := l.find(call); ok && presenter.Result != nil {
			v.Result = presenter.Result(args, e.Result)
		}
		if isNil(v.Result) {
			v.Result = nil
		}
		if err := CheckResult(v.Result); err != nil {
			l.failed(name, err)
			return View{}
		}
	}
	return v
}

// find returns the presenter of a call and its arguments; false if either cannot be had.
func (l Lookup) find(e CallEvent) (p Presenter, args jsonval.Value, ok bool) {
	if l.Presenter == nil {
		return p, args, false
	}
	args, err := jsonval.ParseString(e.Arguments)
	if err != nil {
		return p, args, false
	}
	p, ok = l.Presenter(e.Name)
	return p, args, ok
}

func (l Lookup) failed(tool string, err error) {
	if l.Failed == nil {
		return
	}
	defer func() { _ = recover() }() // delivery of events depends on nobody
	l.Failed(tool, err)
}

func printed(p any) (text string) {
	defer func() {
		if recover() != nil {
			text = "<unprintable error>"
		}
	}()
	if err, ok := p.(error); ok {
		return err.Error()
	}
	return fmt.Sprint(p)
}

// FallbackCall is the generic view of a call: the tool's name, and the raw arguments as input. Arguments that are not JSON
// are shown as their text (CARD-34).
func FallbackCall(e CallEvent) GenericCall {
	v := GenericCall{Title: e.Name, RawInput: jsonval.Text(e.Arguments)}
	if args, err := jsonval.ParseString(e.Arguments); err == nil {
		v.RawInput = args
	}
	return v
}

// FallbackResult is the generic view of a result: the pending title, and the raw content (CARD-34).
func FallbackResult(pending CallView, r PersistedResult) GenericResult {
	return GenericResult{Title: title(pending), Content: append([]jsonval.Value{}, r.Content...)}
}

// Settle returns what a UI shows once a call has settled: the result's view, which replaces the call's as a whole, with the
// pending title where it has none of its own and the raw content where a generic one has none (CARD-9). Without a view of
// the result it is the fallback.
func Settle(pending CallView, view ResultView, r PersistedResult) ResultView {
	keep := title(pending)
	or := func(own string) string {
		if own != "" {
			return own
		}
		return keep
	}
	if isNil(view) {
		return FallbackResult(pending, r)
	}
	decoded, err := DecodeResult(view.JSON())
	if err != nil {
		return FallbackResult(pending, r)
	}
	switch v := decoded.(type) {
	case GenericResult:
		if v.Title = or(v.Title); v.Content == nil {
			v.Content = append([]jsonval.Value{}, r.Content...)
		}
		return v
	case TerminalResult:
		v.Title = or(v.Title)
		return v
	case DiffResult:
		v.Title = or(v.Title)
		return v
	case SearchMatches:
		v.Title = or(v.Title)
		return v
	case SearchPaths:
		v.Title = or(v.Title)
		return v
	case ReadResult:
		v.Title = or(v.Title)
		return v
	case WebSearch:
		v.Title = or(v.Title)
		return v
	case WebFetch:
		v.Title = or(v.Title)
		return v
	}
	return decoded
}

func title(v CallView) string {
	if isNil(v) {
		return ""
	}
	t, _ := v.JSON().Get("title")
	return t.Str()
}
