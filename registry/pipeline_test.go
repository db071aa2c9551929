package registry_test

// The order of stages, the lane table, decisions and the error catalogue of the pipeline.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// trace is a registry whose every stage counts itself.
type trace struct {
	*registry.Registry
	stages  []string
	results []result
	execs   []exec
}

func (s *trace) at(stage string, x exec) {
	s.stages = append(s.stages, stage)
	s.execs = append(s.execs, x)
}

// traced returns a registry with one listener of each kind and the tool "t", all of which note that they ran.
func traced(t testing.TB, o registry.Options, body body) *trace {
	t.Helper()
	s := &trace{Registry: newRegistry(t, o)}
	s.OnPreExecute(func(_ context.Context, x exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
		s.at("pre", x)
		return next()
	})
	s.Guard(func(x exec) (string, bool) { s.at("guard", x); return "", false })
	s.OnExecute(func(ctx context.Context, x exec, next func(context.Context) (result, error)) (result, error) {
		s.at("around", x)
		r, err := next(ctx)
		s.at("around-end", x)
		return r, err
	})
	s.OnPostExecute(func(_ context.Context, x exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
		s.at("post", x)
		return next()
	})
	s.OnResult(func(x exec, r result) {
		s.at("result", x)
		s.results = append(s.results, r)
	})
	d := tool("t", func(ctx context.Context, args jsonval.Value, run *registry.Run) (any, error) {
		s.at("body", run.Execution())
		run.DeferContext(note("body"))
		if body == nil {
			return "ok", nil
		}
		return body(ctx, args, run)
	})
	d.Finalize = func(x exec, _ result) ([]registry.Block, bool) { s.at("finalize", x); return nil, false }
	register(t, s, d)
	return s
}

func (s *trace) count(stage string) int {
	n := 0
	for _, x := range s.stages {
		if x == stage {
			n++
		}
	}
	return n
}

// note is a context message with one text.
func note(text string) registry.Context {
	return registry.Context{ID: text, Content: []registry.Block{registry.Text(text)}, Source: registry.PluginSource("test")}
}

func notes(r result) string {
	var ids []string
	for _, c := range r.Contexts() {
		ids = append(ids, c.ID)
	}
	return strings.Join(ids, " ")
}

func TestStageOrder(t *testing.T) {
	t.Run("PIPE-1 PIPE-2 PIPE-3 EXEC-7 each stage once, in order, with one token and one arguments value", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		r := s.Execute(t.Context(), call{ID: "c1", Name: "t", Arguments: map[string]any{"b": 1, "a": 2}})
		wantValue(t, r, `"ok"`)
		want := []string{"pre", "guard", "around", "body", "around-end", "post", "finalize", "result"}
		if !slices.Equal(s.stages, want) {
			t.Errorf("stages %v, want %v", s.stages, want)
		}
		for i, x := range s.execs {
			if x.Token() != s.execs[0].Token() || x.Arguments().String() != `{"a":2,"b":1}` || x != s.execs[0] {
				t.Errorf("stage %s sees another execution", s.stages[i])
			}
		}
		if len(s.results) != 1 || !same(s.results[0], r) {
			t.Error("the observed result is not the returned one")
		}
	})
	t.Run("PIPE-2 concurrent calls are independent", func(t *testing.T) {
		r := newRegistry(t)
		inside, release := make(chan struct{}), make(chan struct{})
		register(t, r, tool("slow", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
			inside <- struct{}{}
			<-release
			return 1, nil
		}))
		done := make(chan result, 2)
		for i := range 2 {
			go func() { done <- r.Execute(t.Context(), call{ID: fmt.Sprint(i), Name: "slow"}) }()
		}
		<-inside
		<-inside // both bodies run at once
		close(release)
		wantValue(t, <-done, "1")
		wantValue(t, <-done, "1")
	})
	t.Run("EXEC-2 tokens are unique and EXEC-3 the root defaults to the call's own ID", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.Execute(t.Context(), call{ID: "a", Name: "t"})
		s.Execute(t.Context(), call{ID: "a", Name: "t", RootID: "outer", Parent: s.execs[0].Token()})
		first, second := s.execs[0], s.execs[len(s.execs)-1]
		if first.Token() == second.Token() {
			t.Error("two executions have one token")
		}
		if first.RootID() != "a" || first.Parent() != nil || second.RootID() != "outer" || second.Parent() != first.Token() {
			t.Errorf("roots %q %q, parents %v %v", first.RootID(), second.RootID(), first.Parent(), second.Parent())
		}
	})
	t.Run("EXEC-1 an empty ID or an uncomparable agent is turned away, an empty name is an unknown tool", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		wantFailure(t, s.Execute(t.Context(), call{Name: "t"}), "registry: a call needs an ID", "")
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t", Agent: []int{1}}), "registry: the agent key []int is not comparable", "")
		if len(s.stages) != 0 {
			t.Errorf("stages %v ran for a misused call", s.stages)
		}
		wantFailure(t, s.Execute(t.Context(), call{ID: "1"}), `no tool named ""`, "UNKNOWN_TOOL")
		defer func() {
			if recover() == nil {
				t.Error("a nil context did not panic")
			}
		}()
		var none context.Context
		s.Execute(none, call{ID: "1", Name: "t"})
	})
	t.Run("EXEC-4 JSON-7 JSON-8 the input is read once, before any policy", func(t *testing.T) {
		args := &counting{}
		data := map[string]any{"n": args, "list": []any{1}}
		s := traced(t, registry.Options{}, func(_ context.Context, args jsonval.Value, _ *registry.Run) (any, error) { return args, nil })
		s.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			data["n"] = "changed"
			return next()
		}, registry.Prepend)
		wantValue(t, s.Execute(t.Context(), call{ID: "1", Name: "t", Arguments: data}), `{"list":[1],"n":1}`)
		if args.reads != 1 {
			t.Errorf("read %d times", args.reads)
		}
	})
}

// counting is a value that says how often it was read.
type counting struct{ reads int }

func (c *counting) MarshalJSON() ([]byte, error) {
	c.reads++
	return []byte(fmt.Sprint(c.reads)), nil
}

// broken fails when it is read.
type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { return nil, errors.New("disk on fire") }

func same(a, b result) bool {
	x, _ := a.MarshalJSON()
	y, _ := b.MarshalJSON()
	return string(x) == string(y)
}

type preF = func(context.Context, exec, func() (registry.PreDecision, error)) (registry.PreDecision, error)
type aroundF = func(context.Context, exec, func(context.Context) (result, error)) (result, error)
type postF = func(context.Context, exec, result, func() (registry.PostDecision, error)) (registry.PostDecision, error)

func decides(d registry.PreDecision) preF {
	return func(context.Context, exec, func() (registry.PreDecision, error)) (registry.PreDecision, error) {
		return d, nil
	}
}

func authors(r result, err error) aroundF {
	return func(context.Context, exec, func(context.Context) (result, error)) (result, error) { return r, err }
}

func reviews(d registry.PostDecision, err error) postF {
	return func(context.Context, exec, result, func() (registry.PostDecision, error)) (registry.PostDecision, error) {
		return d, err
	}
}

type approverFunc func(context.Context, registry.ApprovalRequest) (registry.Outcome, error)

func (f approverFunc) Approve(ctx context.Context, q registry.ApprovalRequest) (registry.Outcome, error) {
	return f(ctx, q)
}

func answers(o registry.Outcome, err error) registry.Approver {
	return approverFunc(func(context.Context, registry.ApprovalRequest) (registry.Outcome, error) { return o, err })
}

// TestLaneTable has one row for each way to the end: which stages ran, what became of the contexts, and the failure.
func TestLaneTable(t *testing.T) {
	boom := errors.New("boom")
	panics := func(any) { panic(boom) }
	type setup struct {
		options registry.Options
		prepare func(s *trace)
		body    body
		call    call
		before  bool // cancelled before entry
	}
	const (
		full  = "pre guard around body around-end post finalize result"
		early = "finalize result"
	)
	rows := []struct {
		rule, name string
		setup
		stages        string
		message, code string // "" message: a success
		notes         string
	}{
		{"EXEC-5", "arguments not lossless", setup{call: call{Arguments: math.NaN()}}, early,
			"arguments are not lossless JSON: NaN at $", "", ""},
		{"JSON-8", "arguments that cannot be read", setup{call: call{Arguments: broken{}}}, early, "disk on fire", "", ""},
		{"PRESENT-6", "code-mode collapse", setup{options: registry.Options{Mode: registry.Code, Transport: fakeTransport{}}}, "result",
			`no tool named "t" can be called directly: call it from inside a run_code program`, "UNKNOWN_TOOL", ""},
		{"CANCEL-1", "cancelled before entry", setup{before: true}, early, beforeText, "ABORTED_BEFORE_DISPATCH", ""},
		{"PRE-6", "pre-execute listener raised", setup{prepare: func(s *trace) {
			s.OnPreExecute(func(context.Context, exec, func() (registry.PreDecision, error)) (registry.PreDecision, error) {
				return registry.Allow(), registry.Coded("PolicyError", "NO", "not today")
			})
		}}, "pre finalize result", "not today", "NO", ""},
		{"PRE-5", "pre-execute decision is invalid", setup{prepare: func(s *trace) {
			s.OnPreExecute(decides(registry.PreDecision{}))
		}}, "pre finalize result", "invalid pre-execute decision", "", ""},
		{"ASK-6", "approver raised", setup{options: registry.Options{Approver: answers(registry.AllowedOnce, boom)}, call: call{Agent: "a"},
			prepare: func(s *trace) { s.OnPreExecute(decides(registry.Ask(""))) }}, "pre finalize result", "boom", "", ""},
		{"ASK-6", "approver gave an unknown outcome", setup{options: registry.Options{Approver: answers("maybe", nil)}, call: call{Agent: "a"},
			prepare: func(s *trace) { s.OnPreExecute(decides(registry.Ask(""))) }}, "pre finalize result",
			"the approver returned an unknown outcome", "", ""},
		{"GUARD-5", "guard raised", setup{prepare: func(s *trace) {
			s.Guard(func(exec) (string, bool) { panic(boom) })
		}}, "pre guard finalize result", "boom", "", ""},
		{"PRE-3", "denied by pre-execute", setup{prepare: func(s *trace) { s.OnPreExecute(decides(registry.Deny("no"))) }},
			"pre post finalize result", "no", "", ""},
		{"ASK-3", "denied by an ask", setup{prepare: func(s *trace) { s.OnPreExecute(decides(registry.Ask("sure?"))) }},
			"pre post finalize result", "sure?", "", ""},
		{"GUARD-5", "denied by a guard", setup{prepare: func(s *trace) {
			s.Guard(func(exec) (string, bool) { return "guarded", true })
		}}, "pre guard post finalize result", "guarded", "", ""},
		{"AROUND-1", "unknown tool at dispatch", setup{call: call{Name: "nope"}}, "pre guard around around-end post result",
			`no tool named "nope"`, "UNKNOWN_TOOL", ""},
		{"CTX-4", "body succeeded", setup{}, full, "", "", "body"},
		{"CTX-4", "body failed", setup{body: fails(boom)}, full, "boom", "", "body"},
		{"CTX-4 OUT-5", "invalid output value", setup{body: returns(math.Inf(1))}, full,
			`tool "t" produced an invalid result: "value": not a lossless JSON value`, "INVALID_TOOL_OUTPUT", "body"},
		{"AROUND-7", "wrapper returned the inner result with a context", setup{prepare: func(s *trace) {
			s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
				r, err := next(ctx)
				return r.WithContexts(note("wrapper")), err
			})
		}}, full, "", "", "body wrapper"},
		{"AROUND-9", "wrapper authored a failure without next", setup{prepare: func(s *trace) {
			s.OnExecute(authors(registry.Fail(boom).WithContexts(note("wrapper")), nil))
		}}, "pre guard around around-end post finalize result", "boom", "", "wrapper"},
		{"AROUND-8", "wrapper authored a success without next", setup{prepare: func(s *trace) {
			s.OnExecute(authors(registry.Success(7, note("wrapper")), nil))
		}}, "pre guard around around-end post finalize result", "", "", "wrapper"},
		{"AROUND-11", "wrapper raised after the body", setup{prepare: func(s *trace) {
			s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
				r, _ := next(ctx)
				return r, boom
			})
		}}, "pre guard around body around-end finalize result", "boom", "", ""},
		{"AROUND-11", "wrapper panicked", setup{prepare: func(s *trace) {
			s.OnExecute(func(context.Context, exec, func(context.Context) (result, error)) (result, error) { panic(boom) })
		}}, "pre guard around around-end finalize result", "boom", "", ""},
		{"AROUND-11", "wrapper returned no result", setup{prepare: func(s *trace) {
			s.OnExecute(authors(result{}, nil))
		}}, "pre guard around around-end finalize result", "an execute wrapper returned no result", "", ""},
		{"AROUND-8", "wrapper authored a success outside of the contract", setup{prepare: func(s *trace) {
			s.OnExecute(func(ctx context.Context, _ exec, next func(context.Context) (result, error)) (result, error) {
				_, _ = next(ctx)
				return registry.Success(math.NaN(), note("wrapper")), nil
			})
		}}, "pre guard around body around-end finalize result",
			`tool "t" produced an invalid result: "value": not a lossless JSON value`, "INVALID_TOOL_OUTPUT", ""},
		{"POST-8", "post-execute listener raised", setup{prepare: func(s *trace) {
			s.OnPostExecute(reviews(registry.Accept(), boom))
		}}, full, "boom", "", ""},
		{"POST-8", "post-execute listener panicked", setup{prepare: func(s *trace) {
			s.OnPostExecute(func(context.Context, exec, result, func() (registry.PostDecision, error)) (registry.PostDecision, error) {
				panics(nil)
				return registry.Accept(), nil
			})
		}}, full, "boom", "", ""},
		{"POST-8", "post-execute decision is invalid", setup{prepare: func(s *trace) {
			s.OnPostExecute(reviews(registry.PostDecision{}.AppendContexts(note("post")), nil))
		}}, full, "invalid post-execute decision", "", ""},
		{"POST-5", "post-execute replacement value is invalid", setup{prepare: func(s *trace) {
			s.OnPostExecute(reviews(registry.Accept().WithValue(math.NaN()).AppendContexts(note("post")), nil))
		}}, full, `tool "t" produced an invalid result: "value": not a lossless JSON value`, "INVALID_TOOL_OUTPUT", ""},
		{"POST-6 POST-7", "post-execute blocked", setup{prepare: func(s *trace) {
			s.OnPostExecute(reviews(registry.Blocked(registry.Text("stop")).AppendContexts(note("post")), nil))
		}}, full, "stop", "", "post"},
	}
	for _, row := range rows {
		t.Run(row.rule+" FINAL-2 "+row.name, func(t *testing.T) {
			s := traced(t, row.options, row.body)
			if row.prepare != nil {
				row.prepare(s)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if row.before {
				cancel()
			}
			c := row.call
			c.ID = "1"
			if c.Name == "" {
				c.Name = "t"
			}
			r := s.Execute(ctx, c)
			if got := strings.Join(s.stages, " "); got != row.stages {
				t.Errorf("stages %q, want %q", got, row.stages)
			}
			if row.message != "" {
				wantFailure(t, r, row.message, row.code)
			} else if r.IsError() {
				t.Errorf("failed: %s", r.Failure().Message)
			}
			if got := notes(r); got != row.notes {
				t.Errorf("contexts %q, want %q", got, row.notes)
			}
			if len(s.results) != 1 || !same(s.results[0], r) {
				t.Errorf("PIPE-1: %d results observed, or another one", len(s.results))
			}
			if !r.IsError() {
				return
			}
			want := "Error: " + r.Failure().Message
			if strings.HasPrefix(row.rule, "POST-6") {
				want = "stop"
			}
			if r.Text() != want || len(r.Content()) != 1 {
				t.Errorf("RESULT-4: content %q, want %q", r.Text(), want)
			}
		})
	}
}

func TestWaterfalls(t *testing.T) {
	order := func(s *trace, log *[]string, name string, o ...registry.ListenerOption) func() {
		return s.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			*log = append(*log, name)
			return next()
		}, o...)
	}
	t.Run("FALL-1 the first registered is outermost, a prepended one is before it", func(t *testing.T) {
		s, log := traced(t, registry.Options{}, nil), []string{}
		order(s, &log, "a")
		order(s, &log, "b")
		order(s, &log, "z", registry.Prepend)
		order(s, &log, "y", registry.Prepend)
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		if got := strings.Join(log, " "); got != "y z a b" {
			t.Errorf("order %q", got)
		}
	})
	t.Run("FALL-2 a listener that decides keeps the inner ones and the default from running", func(t *testing.T) {
		s, log := traced(t, registry.Options{}, nil), []string{}
		s.OnPreExecute(decides(registry.Deny("outer")))
		order(s, &log, "inner")
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), "outer", "")
		if len(log) != 0 {
			t.Error("the inner listener ran")
		}
	})
	t.Run("FALL-3 PRE-4 the outermost has the last word over what comes back", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			if d, err := next(); err != nil || d.Kind() != registry.PreDeny || d.Reason() != "inner" {
				t.Errorf("got %v %v from inside", d, err)
			}
			return registry.Allow(), nil
		})
		s.OnPreExecute(decides(registry.Deny("inner")))
		wantValue(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), `"ok"`)
	})
	t.Run("FALL-4 listeners that are added or removed during a stage affect later calls only", func(t *testing.T) {
		s, log := traced(t, registry.Options{}, nil), []string{}
		var remove func()
		s.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			order(s, &log, "late")
			remove()
			return next()
		}, registry.Prepend)
		remove = order(s, &log, "removed")
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		if got := strings.Join(log, " "); got != "removed" {
			t.Errorf("the first call reached %q", got)
		}
		log = nil
		s.Execute(t.Context(), call{ID: "2", Name: "t"})
		if got := strings.Join(log, " "); got != "late" {
			t.Errorf("the second call reached %q", got)
		}
	})
	t.Run("FALL-5 scoped listeners get the calls of their scope and of nested ones, in the shared order", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		root, child, sibling := scope(t, s.Registry, "root", nil), "child", "sibling"
		c := scope(t, s.Registry, child, root)
		b := scope(t, s.Registry, sibling, root)
		var log []string
		listen := func(r registry.Registrar, name string) {
			r.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
				log = append(log, name)
				return next()
			})
		}
		listen(c, "child")
		listen(s, "global")
		listen(root, "root")
		listen(b, "sibling")
		for _, row := range []struct {
			agent any
			want  string
		}{{"child", "child global root"}, {"root", "global root"}, {"sibling", "global root sibling"}, {nil, "global"}, {"unbound", "global"}} {
			log = nil
			s.Execute(t.Context(), call{ID: "1", Name: "t", Agent: row.agent})
			if got := strings.Join(log, " "); got != row.want {
				t.Errorf("EXEC-8: a call of %v reached %q, want %q", row.agent, got, row.want)
			}
		}
	})
	t.Run("FALL-6 an outer listener may handle what an inner one raises", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			if _, err := next(); err == nil || err.Error() != "inside" {
				t.Errorf("got %v from inside", err)
			}
			return registry.Allow(), nil
		})
		s.OnPreExecute(func(context.Context, exec, func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			panic("inside")
		})
		wantValue(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), `"ok"`)
	})
	t.Run("FALL next called again runs the remaining chain again in full", func(t *testing.T) {
		s, log := traced(t, registry.Options{}, nil), []string{}
		s.OnPreExecute(func(_ context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			_, _ = next()
			return next()
		})
		order(s, &log, "inner")
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		if len(log) != 2 {
			t.Errorf("the inner listener ran %d times", len(log))
		}
	})
}

func TestPreExecute(t *testing.T) {
	t.Run("PRE-1 the default is allow", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("t", nil))
		wantValue(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), `"done"`)
	})
	t.Run("PRE-2 the waterfall runs for unknown names", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnPreExecute(decides(registry.Deny("hidden")))
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "nope"}), "hidden", "")
	})
	t.Run("PRE-5 a deny with an empty reason denies", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnPreExecute(decides(registry.Deny("")))
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), `tool "t" was denied by policy`, "")
	})
	t.Run("PRE-7 listeners get the caller's context", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		type key struct{}
		ctx := context.WithValue(t.Context(), key{}, "caller")
		s.OnPreExecute(func(ctx context.Context, _ exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			if ctx.Value(key{}) != "caller" {
				t.Error("another context")
			}
			return next()
		})
		s.Execute(ctx, call{ID: "1", Name: "t"})
	})
}

func TestAsk(t *testing.T) {
	type row struct {
		rule, name string
		approver   registry.Approver
		agent      any
		reason     string
		message    string // "" proceeds
	}
	outcome := func(o registry.Outcome) registry.Approver { return answers(o, nil) }
	for _, row := range []row{
		{"ASK-3", "no approver, with a reason", nil, "a", "is it safe?", "is it safe?"},
		{"ASK-3", "no approver, without a reason", nil, "a", "", `tool "t" needs approval and no approver is configured`},
		{"ASK-3", "no agent", outcome(registry.AllowedOnce), nil, "why", `tool "t" needs approval but the call belongs to no agent`},
		{"ASK-3", "rejected", outcome(registry.Rejected), "a", "", `the user refused to run tool "t"`},
		{"ASK-3", "cancelled without the caller", outcome(registry.Cancelled), "a", "", `the approval request for tool "t" was withdrawn`},
		{"ASK-3", "unavailable", outcome(registry.Unavailable), "a", "", `tool "t" needs approval and nobody can answer the request`},
		{"ASK-2", "suspended counts as unavailable", outcome(registry.Suspended), "a", "", `tool "t" needs approval and nobody can answer the request`},
		{"ASK-2", "allowed once", outcome(registry.AllowedOnce), "a", "", ""},
	} {
		t.Run(row.rule+" "+row.name, func(t *testing.T) {
			s := traced(t, registry.Options{Approver: row.approver}, nil)
			s.OnPreExecute(decides(registry.Ask(row.reason)))
			r := s.Execute(t.Context(), call{ID: "1", Name: "t", Agent: row.agent})
			if row.message == "" {
				wantValue(t, r, `"ok"`)
				return
			}
			wantFailure(t, r, row.message, "")
			if s.count("guard") != 0 || s.count("body") != 0 || s.count("post") != 1 {
				t.Errorf("GUARD-2: stages %v", s.stages)
			}
		})
	}
	t.Run("ASK-1 the request says who asks for what, with its arguments", func(t *testing.T) {
		var got registry.ApprovalRequest
		s := traced(t, registry.Options{Approver: approverFunc(func(_ context.Context, q registry.ApprovalRequest) (registry.Outcome, error) {
			got = q
			return registry.Rejected, nil
		})}, nil)
		s.OnPreExecute(decides(registry.Ask("why")))
		s.Execute(t.Context(), call{ID: "c9", Name: "t", Agent: "a", Arguments: map[string]any{"x": 1}})
		if got.Agent != "a" || got.Tool != "t" || got.CallID != "c9" || got.Arguments.String() != `{"x":1}` || got.Reason != "why" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("ASK-5 a granted ask is not final: a guard may still deny", func(t *testing.T) {
		s := traced(t, registry.Options{Approver: outcome(registry.AllowedOnce)}, nil)
		s.OnPreExecute(decides(registry.Ask("")))
		s.Guard(func(exec) (string, bool) { return "", true })
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t", Agent: "a"}), `tool "t" was denied by policy`, "")
	})
}

func TestGuards(t *testing.T) {
	t.Run("GUARD-1 PRE-4 nothing turns a guard's denial into permission", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.Guard(func(exec) (string, bool) { return "never", true })
		s.Guard(func(exec) (string, bool) { return "", false })
		s.OnPreExecute(decides(registry.Allow()), registry.Prepend)
		wantFailure(t, s.Execute(t.Context(), call{ID: "1", Name: "t"}), "never", "")
	})
	t.Run("GUARD-2 guards are not asked after a denial", func(t *testing.T) {
		s := traced(t, registry.Options{}, nil)
		s.OnPreExecute(decides(registry.Deny("no")))
		s.Execute(t.Context(), call{ID: "1", Name: "t"})
		if s.count("guard") != 0 {
			t.Error("a guard ran")
		}
	})
	t.Run("GUARD-3 GUARD-4 global guards first, then from the farthest ancestor to the agent; the first denial ends", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("t", nil))
		grand := scope(t, r, "grand", nil)
		parent := scope(t, r, "parent", grand)
		agent := scope(t, r, "agent", parent)
		var log []string
		deny := ""
		guard := func(where registry.Registrar, name string) func() {
			return where.Guard(func(exec) (string, bool) { log = append(log, name); return name, name == deny })
		}
		guard(agent, "agent")
		guard(parent, "parent")
		guard(grand, "grand")
		guard(r, "global1")
		guard(r, "global2")
		for _, row := range []struct {
			agent      any
			deny, want string
		}{
			{"agent", "", "global1 global2 grand parent agent"},
			{"grand", "", "global1 global2 grand"},
			{nil, "", "global1 global2"},
			{"agent", "grand", "global1 global2 grand"},
			{"agent", "global1", "global1"},
		} {
			log, deny = nil, row.deny
			out := r.Execute(t.Context(), call{ID: "1", Name: "t", Agent: row.agent})
			if got := strings.Join(log, " "); got != row.want {
				t.Errorf("asked %q, want %q", got, row.want)
			}
			if row.deny != "" {
				wantFailure(t, out, row.deny, "")
			}
		}
	})
	t.Run("GUARD-7 one value registered twice is two registrations; disposal of the scope removes its guards", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("t", nil))
		s := scope(t, r, "a", nil)
		n := 0
		g := func(exec) (string, bool) { n++; return "", false }
		first := s.Guard(g)
		s.Guard(g)
		run := func() int {
			n = 0
			r.Execute(t.Context(), call{ID: "1", Name: "t", Agent: "a"})
			return n
		}
		if got := run(); got != 2 {
			t.Errorf("ran %d times, want 2", got)
		}
		first()
		first()
		if got := run(); got != 1 {
			t.Errorf("ran %d times after one disposal, want 1", got)
		}
		s.Dispose()
		if got := run(); got != 0 {
			t.Errorf("ran %d times after the scope's disposal", got)
		}
	})
	t.Run("GUARD-8 a guard that an earlier one of the layer adds takes part", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("t", nil))
		r.Guard(func(exec) (string, bool) {
			r.Guard(func(exec) (string, bool) { return "added", true })
			return "", false
		})
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "added", "")
	})
	t.Run("GUARD-8 a guard that an earlier one removes is not asked, and none is skipped", func(t *testing.T) {
		r := newRegistry(t)
		register(t, r, tool("t", nil))
		var remove func()
		r.Guard(func(exec) (string, bool) { remove(); return "", false })
		remove = r.Guard(func(exec) (string, bool) { return "removed", true })
		r.Guard(func(exec) (string, bool) { return "kept", true })
		wantFailure(t, r.Execute(t.Context(), call{ID: "1", Name: "t"}), "kept", "")
	})
}

func scope(t testing.TB, r *registry.Registry, key registry.AgentKey, parent *registry.Scope) *registry.Scope {
	t.Helper()
	s, err := r.Scope(key, parent)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fakeTransport is a transport of a language that nobody speaks.
type fakeTransport struct {
	definitionErr, sectionsErr error
	execute                    body
	sections                   func(registry.View) []registry.Section
}

func (f fakeTransport) Definition(*registry.Registry) (registry.Definition, error) {
	d := tool(registry.RunCode, f.execute)
	return d, f.definitionErr
}

func (f fakeTransport) Sections(_ *registry.Registry, v registry.View) ([]registry.Section, error) {
	if f.sectionsErr != nil {
		return nil, f.sectionsErr
	}
	if f.sections != nil {
		return f.sections(v), nil
	}
	names := make([]string, len(v.Tools))
	for i, d := range v.Tools {
		names[i] = d.Name
	}
	sections := []registry.Section{{Name: "tools:sdk", Order: 150, Text: strings.Join(names, " ")}}
	if v.Mode == registry.Code {
		sections = append(sections, registry.Section{Name: "tools:code-only", Order: 99, Text: "only run_code"})
	}
	return sections, nil
}
