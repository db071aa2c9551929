package registry_test

// The driver: the calls of one message, their records and what follows them.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// drive is a rig for a driver: its hooks write one log.
type drive struct {
	*rig
	driver *registry.Driver
	fail   map[string]error // by the text of a record
}

func newDrive(t *testing.T, max int) *drive {
	t.Helper()
	d := &drive{rig: newRig(t, t.Context(), registry.LaneOptions{}), fail: map[string]error{}}
	d.lane.Drain() // the driver has lanes of its own
	record := func(text string) error {
		d.note(text)
		return d.fail[text]
	}
	d.driver = must(d.NewDriver(registry.DriverOptions{
		MaxParallel: max,
		OnCall:      func(r registry.CallRecord) error { return record("call " + r.CallID) },
		OnResult: func(r registry.ResultRecord) error {
			code := ""
			if r.Error != nil {
				code = " " + r.Error.Code
			}
			return record("done " + r.CallID + code)
		},
		Deliver: func(c registry.Context) error { return record("message " + c.ID) },
	}))
	return d
}

type finished struct {
	registry.Batch
	err error
}

// run starts a batch of calls "id:name" or "id:name!" and returns where its outcome will be.
func (d *drive) run(ctx context.Context, calls ...string) chan finished {
	var uses []registry.ToolUse
	for _, c := range calls {
		id, name, _ := strings.Cut(c, ":")
		name, held := strings.CutSuffix(name, "!")
		if held {
			d.ctl[id] = make(chan error, 1)
		}
		uses = append(uses, registry.ToolUse{ID: id, Name: name})
	}
	out := make(chan finished, 1)
	go func() {
		b, err := d.driver.Run(ctx, nil, uses)
		out <- finished{b, err}
	}()
	synctest.Wait()
	return out
}

func (d *drive) records() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, line := range d.log {
		kind, rest, _ := strings.Cut(line, " ")
		if kind == "call" || kind == "done" || kind == "message" {
			out = append(out, kind[:1]+strings.Replace(rest, " ", "=", 1))
		}
	}
	return strings.Join(out, " ")
}

func TestDriver(t *testing.T) {
	bubble(t, "SCHED-2 SCHED-8 SCHED-9 a cap of two: call1, call2, result1, call3", func(t *testing.T) {
		d := newDrive(t, 2)
		out := d.run(t.Context(), "1:read!", "2:read!", "3:read!")
		d.end("1")
		d.want("records", d.records(), "c1 c2 d1 c3")
		d.end("3", "2")
		b := <-out
		d.want("records", d.records(), "c1 c2 d1 c3 d2 d3 m1 m2 m3")
		if b.err != nil || len(b.Results) != 3 || len(b.Contexts) != 3 || b.Aborted {
			t.Errorf("batch %+v", b)
		}
	})
	bubble(t, "SCHED-8 the record of a call comes right before its gate, that of a result after its notification", func(t *testing.T) {
		d := newDrive(t, 0)
		<-d.run(t.Context(), "1:write")
		d.want("order", d.only("call", "gate", "result", "done"), "c1 g1 r1 d1")
	})
	bubble(t, "SCHED-10 contexts are delivered behind all results of the batch, in model order", func(t *testing.T) {
		d := newDrive(t, 0)
		out := d.run(t.Context(), "1:read!", "2:read!")
		d.end("2", "1")
		<-out
		d.want("records", d.records(), "c1 c2 d1 d2 m1 m2")
	})
	bubble(t, "SCHED-11 SCHED-12 SCHED-13 abort while bodies run: drained, pairs for the rest, contexts retained", func(t *testing.T) {
		d := newDrive(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		out := d.run(ctx, "1:read!", "2:read!", "3:read", "4:write")
		cancel()
		synctest.Wait()
		d.end("2", "1")
		b := <-out
		d.want("records", d.records(), "c1 c2 d1=ABORTED d2=ABORTED c3 d3=ABORTED_BEFORE_DISPATCH c4 d4=ABORTED_BEFORE_DISPATCH")
		d.want("SCHED-12: the registry", d.only("gate", "result"), "g1 g2 r1 r2")
		if b.err != nil || !b.Aborted || len(b.Contexts) != 2 || b.EndsTurn(false) {
			t.Errorf("batch %+v", b)
		}
	})
	bubble(t, "SCHED-11 abort during a gate: that call has started", func(t *testing.T) {
		d := newDrive(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		d.OnPreExecute(func(_ context.Context, x exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			if x.CallID() == "2" {
				for entered := false; !entered; runtime.Gosched() {
					d.mu.Lock()
					entered = d.seen["1"]
					d.mu.Unlock()
				}
				cancel()
			}
			return next()
		})
		out := d.run(ctx, "1:read!", "2:read!", "3:read")
		d.end("1")
		<-out
		d.want("records", d.records(), "c1 c2 d1=ABORTED d2=ABORTED_BEFORE_DISPATCH c3 d3=ABORTED_BEFORE_DISPATCH")
	})
	bubble(t, "SCHED-13 a context that has ended before gives pairs for all", func(t *testing.T) {
		d := newDrive(t, 0)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		b := <-d.run(ctx, "1:read", "2:write")
		d.want("records", d.records(), "c1 d1=ABORTED_BEFORE_DISPATCH c2 d2=ABORTED_BEFORE_DISPATCH")
		d.want("the registry", d.only("gate", "result"), "")
		if !b.Aborted || len(b.Results) != 0 {
			t.Errorf("batch %+v", b)
		}
	})
	bubble(t, "SCHED-14 an error of a record hook ends the batch: no new starts, bodies waited for, nothing made up", func(t *testing.T) {
		for _, row := range []struct{ record, want string }{
			{"call 2", "c1 c2"},       // before its gate
			{"done 1", "c1 c2 c3 d1"}, // at a commit
			{"message 1", "c1 c2 c3 d1 d2 d3 m1"},
		} {
			d := newDrive(t, 0)
			d.fail[row.record] = errors.New("disk full")
			out := d.run(t.Context(), "1:read!", "2:read!", "3:read!")
			for _, id := range []string{"1", "2", "3"} {
				if d.seen[id] {
					d.end(id)
				}
			}
			b := <-out
			if b.err == nil || !strings.Contains(b.err.Error(), "disk full") {
				t.Errorf("%s: error %v", row.record, b.err)
			}
			d.want(row.record, d.records(), row.want)
		}
	})
	bubble(t, "SCHED-14 a panic of a hook is an internal error too", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("t", nil))
		for i, o := range []registry.DriverOptions{
			{OnCall: func(registry.CallRecord) error { panic("one") }},
			{OnResult: func(registry.ResultRecord) error { panic("two") }},
			{Deliver: func(registry.Context) error { panic("three") }},
		} {
			r.OnPostExecute(reviews(registry.Accept().AppendContexts(note("n")), nil))
			d := must(r.NewDriver(o))
			_, err := d.Run(t.Context(), nil, []registry.ToolUse{{ID: "1", Name: "t"}})
			if want := []string{"one", "two", "three"}[i]; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	})
	bubble(t, "SCHED-14 SCHED-12 a record that fails while the rest of an aborted batch is recorded", func(t *testing.T) {
		d := newDrive(t, 0)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		d.fail["call 2"] = errors.New("disk full")
		b := <-d.run(ctx, "1:read", "2:read", "3:read")
		d.want("records", d.records(), "c1 d1=ABORTED_BEFORE_DISPATCH c2")
		if b.err == nil {
			t.Error("there is no error")
		}
	})
	t.Run("SCHED-15 a conclusion ends the turn after the whole batch, unless something is queued", func(t *testing.T) {
		r := newRegistry(t)
		ran := 0
		end := tool("end", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			run.ConcludeTurn()
			return nil, nil
		})
		register(t, r, end, tool("work", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			ran++
			if ran > 1 {
				run.DeferContext(note("wait"))
			}
			return nil, nil
		}))
		d := must(r.NewDriver(registry.DriverOptions{}))
		batch := []registry.ToolUse{{ID: "1", Name: "end"}, {ID: "2", Name: "work"}}
		b := must(d.Run(t.Context(), nil, batch))
		if ran != 1 || !b.ConcludesTurn || !b.EndsTurn(false) || b.EndsTurn(true) {
			t.Errorf("ran %d, batch %+v", ran, b)
		}
		b = must(d.Run(t.Context(), nil, batch))
		if !b.ConcludesTurn || b.EndsTurn(false) {
			t.Error("a queued context does not get its step")
		}
		if b = must(d.Run(t.Context(), nil, batch[1:])); b.ConcludesTurn || b.EndsTurn(false) {
			t.Error("a turn without a conclusion ends")
		}
	})
	t.Run("SCHED-1 the argument text is parsed once", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("echo", func(_ context.Context, args jsonval.Value, _ *registry.Run) (any, error) { return args, nil }))
		typed := must(registry.Define(registry.Spec[struct{}, string]{Name: "typed", Run: func(context.Context, struct{}, *registry.Run) (string, error) { return "", nil }}))
		register(t, r, typed)
		d := must(r.NewDriver(registry.DriverOptions{}))
		run := func(name, text string) result {
			return must(d.Run(t.Context(), nil, []registry.ToolUse{{ID: "1", Name: name, Arguments: text}})).Results[0]
		}
		for text, want := range map[string]string{
			"": "{}", `{"b":1,"a":2}`: `{"b":1,"a":2}`, `{"a":`: `"{\"a\":"`, "plain": `"plain"`, " ": `" "`, "5": "5", `"s"`: `"s"`, "a\xffb": "\"a\uFFFDb\"",
		} {
			wantValue(t, run("echo", text), want)
		}
		wantFailure(t, run("typed", "{oops"), `arguments do not match the schema: "arguments": expected object (the call passes the string "{oops" instead of one object)`, "INVALID_ARGS")
		wantFailure(t, run("echo", `{"n":1e999}`), "arguments are not lossless JSON: a number too large for a double at $.n", "")
	})
	t.Run("SCHED-8 the records have a stable JSON form", func(t *testing.T) {
		r := newRegistry(t)
		meta := tool("t", nil)
		meta.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { return map[string]any{"k": 1}, nil }
		empty := tool("empty", nil)
		empty.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) { return nil, nil }
		register(t, r, meta, empty)
		var log []string
		write := func(v any) error {
			text, err := json.Marshal(v)
			log = append(log, string(text))
			return err
		}
		d := must(r.NewDriver(registry.DriverOptions{
			OnCall:   func(c registry.CallRecord) error { return write(c) },
			OnResult: func(c registry.ResultRecord) error { return write(c) },
		}))
		must(d.Run(t.Context(), "agent", []registry.ToolUse{{ID: "a", Name: "t", Arguments: `{"x": 1}`}, {ID: "b", Name: "nope"}, {ID: "c", Name: "empty"}}))
		want := []string{
			`{"type":"tool/call","seq":1,"callId":"a","name":"t","arguments":"{\"x\": 1}"}`,
			`{"type":"tool/result","seq":2,"call":1,"callId":"a","isError":false,"content":[{"type":"text","text":"\"done\""}],"meta":{"k":1}}`,
			`{"type":"tool/call","seq":3,"callId":"b","name":"nope","arguments":""}`,
			`{"type":"tool/result","seq":4,"call":3,"callId":"b","isError":true,"content":[{"type":"text","text":"Error: no tool named \"nope\""}],"error":{"name":"ToolNotFoundError","code":"UNKNOWN_TOOL"}}`,
			`{"type":"tool/call","seq":5,"callId":"c","name":"empty","arguments":""}`,
			`{"type":"tool/result","seq":6,"call":5,"callId":"c","isError":false,"content":[]}`,
		}
		for i := range want {
			if i >= len(log) || log[i] != want[i] {
				t.Errorf("record %d:\n got %s\nwant %s", i, fmt.Sprint(log)[:0]+log[min(i, len(log)-1)], want[i])
			}
		}
	})
	bubble(t, "SCHED-3 the cap of a driver", func(t *testing.T) {
		r := newRegistry(t)
		for _, bad := range []int{-1, -10} {
			if _, err := r.NewDriver(registry.DriverOptions{MaxParallel: bad}); err == nil {
				t.Errorf("%d is accepted", bad)
			}
		}
		d := newDrive(t, 1)
		if d.driver.SetMaxParallel(0) == nil {
			t.Error("0 is accepted")
		}
		out := d.run(t.Context(), "1:read!", "2:read!", "3:read!")
		if err := d.driver.SetMaxParallel(5); err != nil {
			t.Error(err)
		}
		d.want("running", d.running(), "1")
		d.end("1")
		d.want("the next group", d.running(), "2 3")
		d.end("2", "3")
		<-out
	})
	bubble(t, "SCHED-16 SCHED-3 the default cap is ten", func(t *testing.T) {
		d := newDrive(t, 0)
		var calls, ids []string
		for i := range 12 {
			ids = append(ids, fmt.Sprintf("%02d", i))
			calls = append(calls, ids[i]+":read!")
		}
		out := d.run(t.Context(), calls...)
		if n := len(strings.Fields(d.running())); n != 10 {
			t.Errorf("%d bodies run", n)
		}
		d.end(ids...)
		<-out
	})
}

// FuzzArguments feeds the texts of a model: each call settles, and what is JSON reaches the tool as it is (SCHED-1).
func FuzzArguments(f *testing.F) {
	for _, text := range []string{"", "{}", `{"a":1,"a":2}`, "-0", "1e999", "\xff", `{"a":`, "  5 "} {
		f.Add(text)
	}
	r := newRegistry(f)
	register(f, r, tool("echo", func(_ context.Context, args jsonval.Value, _ *registry.Run) (any, error) { return args, nil }))
	d := must(r.NewDriver(registry.DriverOptions{}))
	f.Fuzz(func(t *testing.T, text string) {
		b, err := d.Run(t.Context(), nil, []registry.ToolUse{{ID: "1", Name: "echo", Arguments: text}})
		if err != nil || len(b.Results) != 1 {
			t.Fatal(err, len(b.Results))
		}
		out := b.Results[0]
		parsed, err := jsonval.ParseString(text)
		switch {
		case text == "":
			wantValue(t, out, "{}")
		case err == nil:
			wantValue(t, out, parsed.String())
		case json.Valid([]byte(text)):
			if !strings.HasPrefix(out.Text(), "Error: arguments are not lossless JSON: ") {
				t.Errorf("%q gave %s", text, out.JSON())
			}
		default:
			wantValue(t, out, jsonval.Text(text).String())
		}
	})
}
