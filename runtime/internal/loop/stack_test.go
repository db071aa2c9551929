package loop

import (
	"context"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// code is a program of three lines, transformed.
func testCode(t testing.TB) *runtime.Code {
	t.Helper()
	code, failure := runtime.NewTransformer(runtime.TransformOptions{}).Transform(context.Background(), "function f() {\n  throw new Error('x')\n}\nf()", false)
	if failure != nil {
		t.Fatal(failure)
	}
	return code
}

// at is the position of a text in the code as an engine sees it.
func at(t testing.TB, code *runtime.Code, text string) string {
	t.Helper()
	i := strings.Index(code.JS, text)
	if i < 0 {
		t.Fatalf("no %q in %s", text, code.JS)
	}
	line := strings.Count(code.JS[:i], "\n") + 1 + len(lead)
	column := i - strings.LastIndex(code.JS[:i], "\n")
	return FileName + ":" + itoa(line) + ":" + itoa(column)
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func TestMapStack(t *testing.T) {
	code := testCode(t)
	boom, call := at(t, code, "Error("), strings.Replace(at(t, code, "f()}"), "", "", 1)
	cases := []struct {
		name, stack, frames string
		line                int
		recorded            bool
	}{
		{"RUN-39 QuickJS's frames", "    at call (prelude.js:10:2)\n    at f (" + boom + ")\n    at map (native)\n    at <anonymous> (" + call + ")\n",
			"\n    at f (program.ts:2:13)\n    at program.ts:4:1", 2, true},
		{"RUN-39 goja's frames", "Error: x\n    at me (program.ts:1:1)\n\tat f (" + boom + "(12))\n\tat map (native)\n\tat " + call + "(3)\n",
			"\n    at f (program.ts:2:13)\n    at program.ts:4:1", 2, true},
		{"RUN-39 frames of other files only", "    at call (prelude.js:10:2)\n    at eval (<eval>:1:1)\n", "", 0, true},
		{"RUN-39 the wrapper's frames", "    at f (program.ts:2:3)\n", "", 0, true},
		{"RUN-38 a stack that the program assigned", "my stack\n    at f (" + boom + ")", "", 0, false},
		{"RUN-38 a stack without frames", "my stack", "", 0, false},
		{"RUN-39 nothing recorded", "", "", 0, true},
		{"RUN-38 at most ten frames", strings.Repeat("    at f ("+boom+")\n", 30), strings.Repeat("\n    at f (program.ts:2:13)", 10), 2, true},
		{"RUN-39 a name that looks like a place", "    at (program.ts:9:9) (" + boom + ")\n", "\n    at (program.ts:9:9) (program.ts:2:13)", 2, true},
		{"RUN-39 a position beyond the program", "    at f (program.ts:7:1)\n    at f (program.ts:2:999999)\n", "", 0, true},
		{"RUN-39 the first line is not the program's", "    at f (program.ts:1:1)\n", "", 0, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			frames, line, _, ok := mapStack(code, c.stack, "")
			if frames != c.frames || line != c.line || ok != c.recorded {
				t.Errorf("%q line %d %v, want %q line %d %v", frames, line, ok, c.frames, c.line, c.recorded)
			}
		})
	}
}

func FuzzMapStack(f *testing.F) {
	f.Add("    at f (program.ts:2:70)\n")
	f.Add("Error: x\n\tat f (program.ts:2:70(12))\n")
	f.Add("a\n    at program.ts:1:1\n\tat program.ts:2:2(3)")
	code := testCode(f)
	f.Fuzz(func(t *testing.T, stack string) {
		frames, line, column, ok := mapStack(code, stack, "")
		if !ok && (frames != "" || line != 0 || column != 0) {
			t.Errorf("frames of a stack that is none: %q", frames)
		}
		if n := strings.Count(frames, "\n    at "); n > maxFrames+strings.Count(stack, "at ") || (n > 0) != (line > 0) && !strings.Contains(stack, "    at ") {
			t.Errorf("%d frames, line %d", n, line)
		}
		for text := range strings.SplitSeq(frames, "\n") {
			if text != "" && !strings.Contains(text, "program.ts:") {
				t.Errorf("frame %q", text)
			}
		}
	})
}
