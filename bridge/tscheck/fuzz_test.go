package tscheck

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// FuzzOutput reads what a compiler could print about a program that could be anything.
func FuzzOutput(f *testing.F) {
	f.Add("await tools.note({ txet: 'x' })", "program.ts(2,20): error TS2353: Object literal\n  because\n")
	f.Add("const o = {}; o.a = 1; é(😀)", "program.ts(2,-1): error TS2304: x\nprogram.ts(2,99999999999999999999): error TS2304: x\n")
	f.Add("tools.x?.(", "program.ts(1,1): error TS2554: x\r\nprogram.ts(3,1): error TS2339: y")
	c, err := New(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, out string) {
		code, failure := c.code.Transform(t.Context(), text, true)
		if failure != nil {
			return
		}
		tools := someTools(t)
		p, err := c.newProgram(code, request(text, tools), tools)
		if err != nil {
			t.Fatal(err)
		}
		found, ok := p.parse(out)
		if len(found) > 0 && !ok {
			t.Error("a diagnostic in an output without one")
		}
		holds(t, p, found)
		for _, unit := range []int{-1, 0, len(p.head), len(p.file), 1 << 40} {
			if at, inside := p.offsetOfUnit(unit); inside && (at < 0 || at >= len(p.text)) {
				t.Errorf("unit %d is at %d of %d", unit, at, len(p.text))
			}
		}
	})
}

// holds checks what must be true of every failure.
func holds(t *testing.T, p *program, found []diagnostic) {
	t.Helper()
	for _, d := range found {
		if d.at < 0 || d.at >= len(p.text) {
			t.Fatalf("%+v is not in a program of %d bytes", d, len(p.text))
		}
	}
	failure := p.failure(found)
	if failure == nil {
		return
	}
	lines := strings.Split(failure.Message, "\n")
	if failure.Kind != runtime.Exception || failure.Line < 1 || failure.Column < 1 || len(lines) > maxDiagnostics || len(lines) > len(found) {
		t.Errorf("%+v of %d diagnostics", failure, len(found))
	}
	if want := fmt.Sprintf("type error: program.ts:%d:%d: ", failure.Line, failure.Column); !strings.HasPrefix(lines[0], want) {
		t.Errorf("%q does not begin with %q", lines[0], want)
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "type error: program.ts:") || len(line) > 2*maxMessage {
			t.Errorf("line %q", line)
		}
	}
}

// FuzzFrames reads what a compiler that is kept running could send.
func FuzzFrames(f *testing.F) {
	f.Add("Content-Length: 36\r\n\r\n" + `{"id":1,"method":"readFile","params"`)
	f.Add("Content-Length: 2\r\n\r\n{}Content-Length: -1\r\n\r\n{}")
	f.Add("Content-Length: 17\r\nX: y\r\n\r\n" + `{"id":"1","x":[]}`)
	f.Add("\r\n\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		s := &server{cmd: &exec.Cmd{}, end: func() {},
			in: discard{}, out: bufio.NewReader(strings.NewReader(text)), said: &beginning{}, lib: "/lib",
			files: map[string]string{virtual + "/" + programFile: "secret"},
		}
		var result []answered
		if err := s.call("getSemanticDiagnostics", nil, &result); err == nil {
			for _, d := range result {
				_ = d.whole(0)
			}
		}
	})
}

type discard struct{ io.Writer }

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
