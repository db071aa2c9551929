package runtimetest

// A sample of whole programs that lies beside the repository, where it is there at all.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

const sharedCases = "../../../shared/cases/cases.jsonl"

type sharedCase struct {
	ID      string
	Program string
	Engines []string
	Flags   []string
	Tools   map[string]struct {
		Command []string
		Result  json.RawMessage
		Error   *string
		DelayMs int
	}
	Expect struct {
		OK      bool
		Value   json.RawMessage
		NoValue bool
		Kind    string
		Kinds   []string
		Message string
		Logs    []string
		Line    int
	}
}

func testSharedCases(t *testing.T, s *suite) {
	text, err := os.ReadFile(sharedCases)
	if err != nil {
		t.Skip("the sample of programs is not here")
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c sharedCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if s.options.Isolation == runtime.IsolationInProcess && !slices.Contains(c.Engines, "goja") {
			continue
		}
		s.test(t, c.ID, func(t *testing.T) { c.run(t, s) })
	}
}

func (c *sharedCase) run(t *testing.T, s *suite) {
	var functions []runtime.Function
	for name, tool := range c.Tools {
		functions = append(functions, runtime.Function{Name: name, Call: runtime.Go(func(ctx context.Context, arg jsonval.Value) (any, error) {
			select {
			case <-time.After(time.Duration(tool.DelayMs) * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			switch {
			case tool.Error != nil:
				return nil, errors.New(*tool.Error)
			case tool.Result != nil:
				return tool.Result, nil
			}
			return arg, nil
		})})
	}
	l := runtime.Limits{Heap: runtime.DefaultHeap}
	for i := 0; i+1 < len(c.Flags); i += 2 {
		d, _ := time.ParseDuration(c.Flags[i+1])
		switch c.Flags[i] {
		case "--compute":
			l.Compute = d
		case "--wall":
			l.Wall = d
		case "--heap":
			l.Heap = 64 << 20
		}
	}
	r, err := s.engine(t, l).Run(context.Background(), runtime.Request{Program: c.Program, Namespaces: []runtime.Namespace{{
		Global: "tools", Functions: functions, ErrorClass: &runtime.ErrorClass{Name: "ToolCallError", MemberProperty: "toolName"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	e := c.Expect
	if e.OK != (r.Error == nil) {
		t.Fatalf("ok is %v: %s %v", r.Error == nil, short(r.Value.String()), r.Error)
	}
	if e.Logs != nil && !slices.Equal(r.Logs, e.Logs) {
		t.Errorf("logs %q, want %q", r.Logs, e.Logs)
	}
	if r.Error == nil {
		if e.NoValue == r.Value.Exists() || e.Value != nil && !jsonval.Equal(r.Value, jsonval.MustOf(e.Value)) {
			t.Errorf("value %s, want %s", short(r.Value.String()), e.Value)
		}
		return
	}
	if kind := string(r.Error.Kind); e.Kind != "" && kind != e.Kind || e.Kinds != nil && !slices.Contains(e.Kinds, kind) {
		t.Errorf("kind %s: %s", kind, short(r.Error.Message))
	}
	if !regexp.MustCompile(e.Message).MatchString(r.Error.Message) {
		t.Errorf("message %q does not match %q", r.Error.Message, e.Message)
	}
	if e.Line != 0 && r.Error.Line != e.Line {
		t.Errorf("line %d, want %d", r.Error.Line, e.Line)
	}
}
