package wasmengine

// This file runs the hostile corpus: every program of testdata/hostile, in three corpusPlacements, against its recorded outcome.

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

var update = flag.Bool("update", false, "rewrite the recorded outcomes of the hostile corpus")

const corpusFolder = "../../testdata/hostile"

// corpusPlacements say where a hostile program stands: at the start, after an awaited call, or where it runs while the result is
// being read. A program that awaits cannot stand in a getter; it stands in the `then` of the result.
var corpusPlacements = []struct {
	name string
	text func(program string) string
}{
	{"plain", func(p string) string { return p }},
	{"await", func(p string) string { return "await tools.ping({});\n" + p }},
	{"result", func(p string) string {
		if regexp.MustCompile(`\bawait\b`).MatchString(p) {
			return "return { then(done: any, failed: any) { (async () => {\n" + p + "\n})().then(done, failed) } }"
		}
		return "return { get x() {\n" + p + "\nreturn 1 } }"
	}},
}

// corpusProgram is one entry of a corpus file: "== name", the recorded outcomes ("-> placement: outcome"; one without a
// placement is that of all three), and the program. A program "%repeat n before unit after" is made by repeating unit.
type corpusProgram struct {
	name, text string
	outcomes   map[string]string
}

func readCorpus(t testing.TB, path string) (comment string, programs []*corpusProgram) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	comment, rest, _ := strings.Cut(string(data), "\n")
	for _, entry := range strings.Split(rest, "\n== ")[1:] {
		name, body, _ := strings.Cut(entry, "\n")
		p := &corpusProgram{name: name, outcomes: map[string]string{}}
		for strings.HasPrefix(body, "-> ") {
			var line string
			line, body, _ = strings.Cut(body, "\n")
			line = line[len("-> "):]
			one := false
			for _, place := range corpusPlacements {
				if outcome, ok := strings.CutPrefix(line, place.name+": "); ok {
					p.outcomes[place.name], one = outcome, true
				}
			}
			if !one {
				for _, place := range corpusPlacements {
					p.outcomes[place.name] = line
				}
			}
		}
		p.text = strings.TrimSuffix(body, "\n")
		programs = append(programs, p)
	}
	return comment, programs
}

func writeCorpus(t *testing.T, path, comment string, programs []*corpusProgram) {
	t.Helper()
	var b strings.Builder
	b.WriteString(comment + "\n")
	for _, p := range programs {
		b.WriteString("\n== " + p.name + "\n")
		if o := p.outcomes["plain"]; o == p.outcomes["await"] && o == p.outcomes["result"] {
			b.WriteString("-> " + o + "\n")
		} else {
			for _, place := range corpusPlacements {
				b.WriteString("-> " + place.name + ": " + p.outcomes[place.name] + "\n")
			}
		}
		b.WriteString(p.text + "\n")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// program expands a %repeat line.
func (p *corpusProgram) program(t testing.TB) string {
	t.Helper()
	line, ok := strings.CutPrefix(p.text, "%repeat ")
	if !ok {
		return p.text
	}
	var n int
	var before, unit, after string
	dec := json.NewDecoder(strings.NewReader(line))
	for _, v := range []any{&n, &before, &unit, &after} {
		if err := dec.Decode(v); err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
	}
	return before + strings.Repeat(unit, n) + after
}

// outcomeTimeout stands for a program that goes on and on.
const outcomeTimeout = "timeout: compute"

// What a program of the corpus may do until it is stopped, in looks at its budgets: work, not time, so that an outcome does not
// depend on how fast or how busy the machine is. That the same looks keep to a budget of time is what TestStop proves.
//
// A program is recorded as one that goes on and on if it has not ended after recordedLooks. A small part of that will do to see
// it again; and a program that does end is given twenty times more than it can need.
const (
	recordedLooks = 50_000 // more than a second on a machine that is idle
	quickLooks    = recordedLooks / 100
	patientLooks  = recordedLooks * 20
)

// outcomeText is what the corpus records of a result: kind and first line of the message, or the value.
func outcomeText(r runtime.Result) string {
	cut := func(s string) string {
		s, _, _ = strings.Cut(s, "\n")
		if len(s) > 160 {
			s = strings.ToValidUTF8(s[:160], "") + "…"
		}
		return s
	}
	switch {
	case r.Error != nil && errors.Is(r.Error, errWorked):
		return outcomeTimeout
	case r.Error == nil && !r.Value.Exists():
		return "no value"
	case r.Error == nil:
		return "value " + cut(r.Value.String())
	case r.Error.Kind == runtime.Timeout:
		return "timeout: " + r.Error.Budget
	}
	return string(r.Error.Kind) + ": " + cut(r.Error.Message)
}

func corpusRequest(program string) runtime.Request {
	ping := func(context.Context, jsonval.Value) (any, error) { return 1, nil }
	echo := func(_ context.Context, v jsonval.Value) (any, error) { return v, nil }
	fail := func(context.Context, jsonval.Value) (any, error) { return nil, fmt.Errorf("no") }
	return runtime.Request{
		Program: program,
		Seed:    1,
		Start:   time.UnixMilli(1_700_000_000_000),
		Namespaces: []runtime.Namespace{{
			Global: "tools",
			Functions: []runtime.Function{
				{Name: "ping", Call: runtime.Go(ping)},
				{Name: "echo", Call: runtime.Go(echo)},
				{Name: "fail", Call: runtime.Go(fail)},
				{Name: "never", Call: func(context.Context, jsonval.Value, func(any, error)) {}},
			},
			ErrorClass: &runtime.ErrorClass{Name: "ToolCallError", MemberProperty: "toolName"},
		}},
	}
}

// TestHostileCorpus proves RUN-9, RUN-50, HOSTILE-8 and HOSTILE-11 program by program: the outcome is the recorded one in
// every placement, on an engine that has run all the programs before it (RUN-10). The race detector, with which the host's side
// takes ten times as long, sees each program in one of the placements; make test runs the corpus without it, too.
func TestHostileCorpus(t *testing.T) {
	// No program of the corpus waits for what never comes, which only time could end.
	e := newEngine(t, Options{Limits: runtime.Limits{Compute: time.Hour, Wall: 10 * time.Minute, Heap: 32 << 20, MaxOutput: 1 << 20}})
	countLooks(e)
	files, err := filepath.Glob(filepath.Join(corpusFolder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in %s: %v", corpusFolder, err)
	}
	for _, path := range files {
		kind := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			comment, programs := readCorpus(t, path)
			for n, p := range programs {
				for i, place := range corpusPlacements {
					if testing.Short() && place.name != "plain" || raceEnabled && !*update && i != n%len(corpusPlacements) {
						continue
					}
					want, most := p.outcomes[place.name], patientLooks
					switch {
					case *update:
						most = recordedLooks
					case want == outcomeTimeout:
						most = quickLooks
					}
					result, looks := runWithin(t, e, corpusRequest(place.text(p.program(t))), most)
					got := outcomeText(result)
					switch {
					case *update:
						if got != want {
							t.Logf("%s [%s]: recorded %s after %d looks, was %s", p.name, place.name, got, looks, want)
						}
						p.outcomes[place.name] = got
					case got == want && looks > recordedLooks:
						t.Errorf("%s [%s]: %s after %d looks, which is more than a record may take", p.name, place.name, got, looks)
					case got != want:
						t.Errorf("%s [%s]: the outcome after %d looks is\n  %s\nexpected\n  %s", p.name, place.name, looks, got, want)
					}
				}
			}
			if *update {
				writeCorpus(t, path, comment, programs)
			}
		})
	}
}
