package main

// This file defines how the outcome of a run is printed: for people (CLI-5, CLI-6) and as JSON (CLI-8).

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// json is the one object of --json.
func (r report) json() jsonval.Value {
	var o object
	o.add("ok", jsonval.Bool(r.failure == nil))
	if v := r.outcome.Result.Value; v.Exists() && r.failure == nil {
		o.add("value", v)
	}
	logs := make([]jsonval.Value, len(r.outcome.Result.Logs))
	for i, entry := range r.outcome.Result.Logs {
		logs[i] = jsonval.Text(entry)
	}
	o.add("logs", jsonval.Array(logs...))
	if f := r.failure; f != nil {
		o.add("error", failureJSON(f))
	}
	calls := make([]jsonval.Value, len(r.outcome.Calls))
	for i, c := range r.outcome.Calls {
		calls[i] = callJSON(c, r.outcome.Start)
	}
	o.add("calls", jsonval.Array(calls...))
	u := r.outcome.Result.Usage
	var usage object
	usage.add("computeMs", milliseconds(u.Compute))
	usage.add("wallMs", milliseconds(u.Wall))
	if u.HeapBytes > 0 {
		usage.add("heapBytes", number(float64(u.HeapBytes)))
	}
	usage.add("outputBytes", number(float64(u.OutputBytes)))
	if u.Steps > 0 {
		usage.add("steps", number(float64(u.Steps)))
	}
	o.add("usage", usage.value())
	o.add("engine", jsonval.Text(r.engine))
	if r.outcome.Isolation != "" {
		o.add("isolation", jsonval.Text(r.outcome.Isolation))
	}
	if seed := r.outcome.Result.Seed; seed > 0 {
		o.add("seed", number(float64(seed)))
	}
	return o.value()
}

func failureJSON(f *runtime.Failure) jsonval.Value {
	var e object
	e.add("kind", jsonval.Text(string(f.Kind)))
	e.add("message", jsonval.Text(f.Message))
	if f.Line > 0 {
		e.add("line", number(float64(f.Line)))
		if f.Column > 0 {
			e.add("column", number(float64(f.Column)))
		}
	}
	return e.value()
}

func callJSON(c bridge.Call, origin time.Time) jsonval.Value {
	var o object
	o.add("id", jsonval.Text(c.ID))
	o.add("tool", jsonval.Text(c.Tool))
	o.add("state", jsonval.Text(string(c.State)))
	if c.State == bridge.Failed {
		o.add("error", jsonval.Text(c.Error))
	}
	if !c.Start.IsZero() {
		o.add("startMs", milliseconds(c.Start.Sub(origin)))
		o.add("endMs", milliseconds(c.End.Sub(origin)))
	}
	return o.value()
}

// object builds a JSON object member by member.
type object []jsonval.Member

func (o *object) add(name string, v jsonval.Value) {
	*o = append(*o, jsonval.Member{Name: name, Value: v})
}
func (o object) value() jsonval.Value { return jsonval.Object(o...) }

// number is for figures that a program cannot make lossy: counts and times.
func number(f float64) jsonval.Value {
	v, err := jsonval.Number(f)
	if err != nil {
		return jsonval.Null()
	}
	return v
}

// milliseconds has three decimals, which is what clocks are good for.
func milliseconds(d time.Duration) jsonval.Value {
	return number(math.Round(float64(max(d, 0))/float64(time.Microsecond)) / 1000)
}

// printReport writes the value to standard output, or what went wrong to standard error.
func (a *app) printReport(r report, program source) error {
	if r.failure == nil {
		return a.printValue(r.outcome.Result.Value)
	}
	var b strings.Builder
	f := r.failure
	fmt.Fprintf(&b, "runcode: %s: %s\n", f.Kind, a.forStderr(f.Message))
	if frame := codeFrame(program.text, f.Line, f.Column); frame != "" {
		where := fmt.Sprintf("%s:%d", escapeInvisible(program.name), f.Line)
		if f.Column > 0 {
			where += fmt.Sprintf(":%d", f.Column)
		}
		fmt.Fprintf(&b, "\n%s\n%s", where, frame)
	}
	if len(r.outcome.Calls) > 0 {
		b.WriteString("\ncalls, whose effects stay:\n")
		b.WriteString(a.ledgerText(r.outcome.Calls))
	}
	_, err := a.stderr.Write([]byte(b.String()))
	return err
}

// ledgerLimit is how many calls are listed one by one; the sums below them are always complete.
const ledgerLimit = 100

// ledgerText is the effect ledger for people: the calls one by one and, where there are several of a tool, the sums.
func (a *app) ledgerText(calls []bridge.Call) string {
	var b strings.Builder
	for i, c := range calls {
		if i == ledgerLimit {
			fmt.Fprintf(&b, "  … and %d more\n", len(calls)-ledgerLimit)
			break
		}
		state := string(c.State)
		switch c.State {
		case bridge.Failed:
			message, _, more := strings.Cut(c.Error, "\n")
			if more {
				message += " …"
			}
			state += ": " + message
		case bridge.Cancelled:
			state += ": started, then aborted; its effect is unknown"
		case bridge.Dropped:
			state += ": never started"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", c.ID, a.forStderr(oneLine(c.Tool)), a.forStderr(state))
	}
	if lines := bridge.EffectSummary(calls); len(lines) < len(calls) {
		for _, line := range lines {
			fmt.Fprintf(&b, "  %s\n", a.forStderr(oneLine(line)))
		}
	}
	return b.String()
}

// printValue writes what a program or a tool returned: a string raw, anything else as JSON, indented for a person and compact
// for a pipe. No value writes nothing.
func (a *app) printValue(v jsonval.Value) error {
	var text string
	switch {
	case !v.Exists():
		return nil
	case v.IsString() && !a.stdoutTerminal:
		text = v.Str()
	case a.stdoutTerminal:
		text = escapeControls(bridge.RenderValue(v)) + "\n"
	default:
		text = v.String() + "\n"
	}
	_, err := a.stdout.Write([]byte(text))
	return err
}
