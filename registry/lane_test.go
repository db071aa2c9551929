package registry_test

// The lane: order, barriers, the pool, and its end.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// rig is a registry whose tools run until the test lets them go, and a lane over it. All of its log is written in the lane.
type rig struct {
	*registry.Registry
	t    *testing.T
	lane *registry.Lane

	mu   sync.Mutex
	log  []string
	ctl  map[string]chan error // by call ID: lets the body end
	seen map[string]bool       // bodies that were entered
}

// newRig must be called inside of a synctest bubble. Its tool "read" is safe for concurrency, "write" is not; both wait for
// end.
func newRig(t *testing.T, ctx context.Context, o registry.LaneOptions) *rig {
	t.Helper()
	g := &rig{Registry: newRegistry(t), t: t, ctl: map[string]chan error{}, seen: map[string]bool{}}
	wait := func(_ context.Context, args jsonval.Value, run *registry.Run) (any, error) {
		id := run.Execution().CallID()
		g.mu.Lock()
		g.seen[id] = true
		c := g.ctl[id]
		g.mu.Unlock()
		run.DeferContext(note(id))
		if c == nil {
			return id, nil
		}
		return id, <-c
	}
	read, write := tool("read", wait), tool("write", wait)
	read.ConcurrencySafe = func(args jsonval.Value) bool { return !args.Bool() } // true makes it exclusive
	register(t, g, read, write)
	g.OnPreExecute(func(_ context.Context, x exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
		g.note("gate " + x.CallID())
		return next()
	})
	g.OnPostExecute(func(_ context.Context, x exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
		g.note("post " + x.CallID())
		return next()
	})
	g.OnResult(func(x exec, _ result) { g.note("result " + x.CallID()) })
	g.lane = must(g.NewLane(ctx, o))
	return g
}

func (g *rig) note(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log = append(g.log, text)
}

// submit queues calls "name" or "name!" (held until end), in order.
func (g *rig) submit(calls ...string) {
	for _, c := range calls {
		id, name, _ := strings.Cut(c, ":")
		name, held := strings.CutSuffix(name, "!")
		if held {
			g.mu.Lock()
			g.ctl[id] = make(chan error, 1)
			g.mu.Unlock()
		}
		g.lane.Submit(call{ID: id, Name: name}, g.hooks(id))
	}
	synctest.Wait()
}

func (g *rig) hooks(id string) registry.LaneHooks {
	return registry.LaneHooks{
		Started:   func(x exec) { g.note("start " + x.CallID()) },
		Committed: func(x exec, r result) { g.note(fmt.Sprintf("commit %s %v", x.CallID(), !r.IsError())) },
		Dropped:   func(cause error) { g.note(fmt.Sprintf("drop %s %v", id, cause)) },
	}
}

func (g *rig) end(ids ...string) {
	for _, id := range ids {
		g.ctl[id] <- nil
		synctest.Wait()
	}
}

func (g *rig) running() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []string
	for id := range g.seen {
		if c := g.ctl[id]; c != nil && !slices.Contains(g.log, "result "+id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// only returns the log entries of these kinds.
func (g *rig) only(kinds ...string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for _, line := range g.log {
		if kind, rest, _ := strings.Cut(line, " "); slices.Contains(kinds, kind) {
			out = append(out, kind[:1]+strings.Fields(rest)[0])
		}
	}
	return strings.Join(out, " ")
}

func (g *rig) want(what, got, want string) {
	g.t.Helper()
	if got != want {
		g.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func TestLane(t *testing.T) {
	bubble(t, "SUB-15 SCHED-2 parallel calls overlap; SUB-19 SCHED-9 commits keep submission order for any settlement order", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		g.submit("1:read!", "2:read!", "3:read!")
		g.want("running", g.running(), "1 2 3")
		g.end("3", "2")
		g.want("before the first has settled", g.only("commit"), "")
		g.end("1")
		g.lane.Drain()
		g.want("order", g.only("start", "gate", "post", "result", "commit"),
			"s1 g1 s2 g2 s3 g3 p1 r1 c1 p2 r2 c2 p3 r3 c3")
	})
	bubble(t, "SCHED-2 SCHED-3 SUB-16 the pool rolls: a slot frees when a body settles, after the commits this makes possible", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{MaxParallel: 2})
		g.submit("1:read!", "2:read!", "3:read!", "4:read!")
		g.want("running", g.running(), "1 2")
		g.end("1")
		g.want("order", g.only("start", "commit"), "s1 s2 c1 s3")
		g.end("3") // settles behind 2: its slot is free all the same
		g.want("order", g.only("start", "commit"), "s1 s2 c1 s3 s4")
		g.end("4", "2")
		g.lane.Drain()
		g.want("order", g.only("start", "commit"), "s1 s2 c1 s3 s4 c2 c3 c4")
	})
	bubble(t, "SCHED-3 one is strictly serial, and the cap must be positive", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{MaxParallel: 1})
		g.submit("1:read!", "2:read")
		g.want("running", g.running(), "1")
		g.end("1")
		g.lane.Drain()
		g.want("order", g.only("start", "commit"), "s1 c1 s2 c2")
		if _, err := g.NewLane(t.Context(), registry.LaneOptions{MaxParallel: -1}); err == nil {
			t.Error("a negative cap is accepted")
		}
		if err := g.lane.SetMaxParallel(0); err == nil {
			t.Error("a cap of 0 is accepted")
		}
	})
	bubble(t, "SCHED-3 a changed cap takes effect at the next group", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{MaxParallel: 1})
		g.submit("1:read!", "2:read!", "3:read!")
		if err := g.lane.SetMaxParallel(2); err != nil {
			t.Fatal(err)
		}
		g.submit("4:read!")
		g.want("the group that runs keeps its cap", g.running(), "1")
		g.end("1")
		g.want("the pool was empty", g.running(), "2 3")
		g.end("2", "3", "4")
		g.lane.Drain()
	})
	bubble(t, "SCHED-2 SCHED-6 an exclusive call waits for all before it and holds back all behind it until it has committed", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		release := make(chan struct{})
		g.OnPostExecute(func(_ context.Context, x exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			if x.Name() == "write" {
				<-release
			}
			return next()
		})
		g.submit("1:read!", "2:read!", "3:write!", "4:read!")
		g.want("running", g.running(), "1 2")
		g.end("2")
		g.want("running", g.running(), "1 2") // 2 has settled and is not committed
		g.end("1")
		g.want("running", g.running(), "3")
		g.end("3")
		g.want("the slow post-execute holds the barrier", g.only("start"), "s1 s2 s3")
		close(release)
		synctest.Wait()
		g.want("running", g.running(), "4")
		g.end("4")
		g.lane.Drain()
		g.want("order", g.only("start", "commit"), "s1 s2 c1 c2 s3 c3 s4 c4")
	})
	bubble(t, "SCHED-4 SUB-18 a slow gate delays the next start; gates and commits never overlap", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		release, busy := make(chan struct{}), 0
		enter := func() {
			if busy++; busy > 1 {
				t.Error("two stages of the lane overlap")
			}
		}
		g.OnPreExecute(func(_ context.Context, x exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			enter()
			if x.CallID() == "2" {
				<-release
			}
			busy--
			return next()
		})
		g.OnPostExecute(func(_ context.Context, _ exec, _ result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
			enter()
			busy--
			return next()
		})
		g.submit("1:read!", "2:read!", "3:read!")
		g.want("running", g.running(), "1")
		g.end("1") // settles while the gate of 2 is busy
		g.want("order", g.only("start", "commit"), "s1 s2")
		close(release)
		synctest.Wait()
		g.want("order", g.only("start", "commit"), "s1 s2 c1 s3")
		g.end("2", "3")
		g.lane.Drain()
	})
	bubble(t, "SCHED-5 SUB-17 the class is determined again right before the start", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		s := scope(t, g.Registry, "a", nil)
		safe := false
		d := tool("read", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			c := g.ctl[run.Execution().CallID()]
			return nil, <-c
		})
		d.ConcurrencySafe = func(jsonval.Value) bool { return safe }
		g.submit("1:write!")
		for _, id := range []string{"2", "3"} {
			g.ctl[id] = make(chan error, 1)
			g.lane.Submit(call{ID: id, Name: "read", Agent: "a"}, g.hooks(id))
		}
		// While they are queued, behind the barrier, their tool is shadowed by one that is not safe.
		register(t, s, d)
		g.end("1")
		g.want("2 runs alone", g.only("start"), "s1 s2")
		// An observer of the commit of 2 makes the tool safe again, but 3 starts after that commit and sees it.
		g.OnResult(func(x exec, _ result) { safe = true })
		g.ctl["4"] = make(chan error, 1)
		g.lane.Submit(call{ID: "4", Name: "read", Agent: "a"}, g.hooks("4"))
		g.end("2")
		g.want("3 and 4 overlap", g.only("start"), "s1 s2 s3 s4")
		g.end("3", "4")
		g.lane.Drain()
	})
	bubble(t, "SCHED-5 a call that became exclusive waits for the pool to drain", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		safe := true
		d := tool("probe", func(_ context.Context, _ jsonval.Value, run *registry.Run) (any, error) {
			return nil, <-g.ctl[run.Execution().CallID()]
		})
		d.ConcurrencySafe = func(jsonval.Value) bool { return safe }
		register(t, g, d)
		g.OnPreExecute(func(_ context.Context, x exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			safe = safe && x.CallID() != "2"
			return next()
		})
		g.submit("1:probe!", "2:probe!", "3:probe!")
		g.want("started", g.only("start"), "s1 s2") // both keep their class
		g.end("1")
		g.want("started", g.only("start"), "s1 s2")
		g.end("2")
		g.want("started", g.only("start", "commit"), "s1 s2 c1 c2 s3")
		g.end("3")
		g.lane.Drain()
	})
	bubble(t, "SCHED-7 SUB-20 a call that settles in its gate takes no slot and commits in order", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{MaxParallel: 2})
		g.Guard(func(x exec) (string, bool) { return "no", x.CallID() == "2" })
		g.submit("1:read!", "2:read", "3:read!", "4:read!")
		g.want("running", g.running(), "1 3")
		g.want("order", g.only("start", "commit"), "s1 s2 s3")
		g.end("1")
		g.want("order", g.only("start", "commit"), "s1 s2 s3 c1 c2 s4")
		g.end("3", "4")
		g.lane.Drain()
		if !slices.Contains(g.log, "commit 2 false") {
			t.Errorf("log %v", g.log)
		}
	})
	bubble(t, "MODE-1 an exclusive call that settles in its gate does not hold anything back", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		g.submit("1:nope", "2:read", "3:write")
		g.lane.Drain()
		g.want("order", g.only("start", "commit"), "s1 c1 s2 c2 s3 c3")
	})
	bubble(t, "SUB-21 SUB-22 submitting does not block and reads the arguments at once", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		g.submit("1:write!")
		args := map[string]any{"n": 1}
		var got []string
		g.OnResult(func(x exec, _ result) { got = append(got, x.Arguments().String()) })
		for i := range 1000 {
			args["n"] = i
			g.lane.Submit(call{ID: fmt.Sprint("x", i), Name: "write", Arguments: args}, registry.LaneHooks{})
		}
		g.end("1")
		g.lane.Drain()
		if len(got) != 1001 || got[1] != `{"n":0}` || got[1000] != `{"n":999}` {
			t.Errorf("%d calls, arguments %v …", len(got), got[:min(3, len(got))])
		}
	})
	bubble(t, "SUB-23 SUB-24 SUB-25 when the context ends, started calls are drained in order and queued ones are dropped after them", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		g := newRig(t, ctx, registry.LaneOptions{MaxParallel: 2})
		g.submit("1:read!", "2:read!", "3:read!", "4:write")
		cancel(errors.New("run_code settled"))
		synctest.Wait()
		g.end("2")
		g.want("waiting for 1", g.only("commit", "drop"), "")
		g.submit("5:read")
		g.end("1")
		g.submit("6:read")
		g.lane.Drain()
		g.want("order", g.only("start", "post", "commit", "drop"), "s1 s2 p1 c1 p2 c2 d3 d4 d5 d6")
		if !slices.Contains(g.log, "commit 1 false") || !slices.Contains(g.log, "drop 3 run_code settled") {
			t.Errorf("log %v", g.log)
		}
	})
	bubble(t, "SUB-26 a context that has ended before drops everything", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		g := newRig(t, ctx, registry.LaneOptions{})
		g.submit("1:read", "2:write")
		g.lane.Drain()
		g.want("order", g.only("start", "drop"), "d1 d2")
	})
	bubble(t, "Drain runs what is queued, and later submissions are dropped", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		g.submit("1:write!", "2:write")
		done := make(chan struct{})
		go func() { g.lane.Drain(); close(done) }()
		synctest.Wait()
		g.submit("3:write") // while draining
		g.want("started", g.only("start", "drop"), "s1")
		g.end("1")
		<-done
		g.submit("4:write") // after the end
		g.lane.Drain()
		g.want("order", g.only("start", "commit", "drop"), "s1 c1 s2 c2 d3 d4")
		if !slices.Contains(g.log, "drop 4 the lane takes no more calls") || g.lane.Err() != nil {
			t.Errorf("log %v, error %v", g.log, g.lane.Err())
		}
	})
	bubble(t, "SCHED-14 a hook that panics stops new starts; running bodies are waited for; the first error wins", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{MaxParallel: 2})
		g.submit("1:read!", "2:read!")
		h := g.hooks("3")
		h.Started = func(exec) { panic("disk full") }
		g.lane.Submit(call{ID: "3", Name: "read"}, h)
		g.submit("4:read")
		g.end("1")
		g.want("order", g.only("start", "commit", "drop"), "s1 s2 c1 d3")
		g.end("2")
		g.lane.Drain()
		g.want("order", g.only("start", "result", "commit", "drop"), "s1 s2 r1 c1 d3 r2 d2 d4")
		if err := g.lane.Err(); err == nil || err.Error() != "a hook of the lane failed: disk full" {
			t.Errorf("error %v", err)
		}
		if slices.Contains(g.log, "gate 3") {
			t.Error("the gate of 3 was entered")
		}
	})
	bubble(t, "a body that ends its goroutine settles its call", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		register(t, g, tool("exit", func(context.Context, jsonval.Value, *registry.Run) (any, error) {
			runtime.Goexit()
			return nil, nil
		}))
		g.submit("1:exit", "2:read")
		g.lane.Drain()
		g.want("order", g.only("commit"), "c1 c2")
		if !slices.Contains(g.log, "commit 1 false") {
			t.Errorf("log %v", g.log)
		}
	})
	bubble(t, "a listener that ends the lane's goroutine fails the lane", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		g.OnPreExecute(func(_ context.Context, x exec, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
			if x.CallID() == "2" {
				runtime.Goexit()
			}
			return next()
		})
		g.submit("1:read!", "2:read", "3:read")
		start := time.Now()
		time.AfterFunc(time.Hour, func() { g.ctl["1"] <- nil })
		g.lane.Drain()
		if time.Since(start) < time.Hour {
			t.Error("the lane did not wait for the body that was running")
		}
		g.want("order", g.only("start", "commit", "drop"), "s1 s2 d1 d2 d3")
		if g.lane.Err() == nil {
			t.Error("there is no error")
		}
	})
	bubble(t, "a hook that ends the lane's goroutine loses no call", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		h := g.hooks("1")
		h.Started = func(exec) { runtime.Goexit() }
		g.lane.Submit(call{ID: "1", Name: "read"}, h)
		g.submit("2:read")
		g.lane.Drain()
		g.want("order", g.only("start", "commit", "drop"), "d1 d2")
	})
	bubble(t, "CANCEL-7 the lane leaves no goroutine behind", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{}) // synctest fails the test if a goroutine is left
		g.submit("1:read", "2:write")
		g.lane.Drain()
	})
	bubble(t, "EXEC-1 a misused call is committed as a failure", func(t *testing.T) {
		g := newRig(t, t.Context(), registry.LaneOptions{})
		var got result
		g.lane.Submit(call{Name: "read"}, registry.LaneHooks{Committed: func(_ exec, r result) { got = r }})
		g.lane.Submit(call{ID: "x", Name: "read", Agent: []int{}}, registry.LaneHooks{})
		g.lane.Drain()
		wantFailure(t, got, "registry: a call needs an ID", "")
	})
}

func TestClassification(t *testing.T) {
	r := newRegistry(t, registry.Options{Transport: fakeTransport{}})
	var seen []string
	with := func(name string, f func(jsonval.Value) bool) registry.Definition {
		d := tool(name, nil)
		d.ConcurrencySafe = f
		return d
	}
	register(t, r,
		with("safe", func(args jsonval.Value) bool { seen = append(seen, args.String()); return true }),
		with("unsafe", func(jsonval.Value) bool { return false }),
		with("raises", func(jsonval.Value) bool { panic("x") }),
		tool("undeclared", nil),
		must(registry.Define(registry.Spec[struct {
			N int `json:"n"`
		}, int]{Name: "typed", ConcurrencySafe: func(struct {
			N int `json:"n"`
		}) bool {
			return true
		}, Run: func(context.Context, struct {
			N int `json:"n"`
		}, *registry.Run) (int, error) {
			return 0, nil
		}})),
	)
	masked, coder := scope(t, r, "masked", nil), scope(t, r, "coder", nil)
	must(masked.Restrict(registry.Restriction{Deny: []string{"safe"}}))
	must(coder.PresentAs(registry.Code))
	var token *registry.Token
	r.OnResult(func(x exec, _ result) { token = x.Token() })
	r.Execute(t.Context(), call{ID: "1", Name: "unsafe"})
	for _, row := range []struct {
		rule string
		call call
		want registry.ExecMode
	}{
		{"MODE-1 declared and true", call{Name: "safe", Arguments: 1}, registry.Parallel},
		{"MODE-1 declared and false", call{Name: "unsafe"}, registry.Exclusive},
		{"MODE-1 raising", call{Name: "raises"}, registry.Exclusive},
		{"MODE-1 undeclared", call{Name: "undeclared"}, registry.Exclusive},
		{"MODE-1 unknown", call{Name: "nope"}, registry.Exclusive},
		{"MODE-1 restricted away", call{Name: "safe", Agent: "masked"}, registry.Exclusive},
		{"MODE-1 collapsed", call{Name: "safe", Agent: "coder"}, registry.Exclusive},
		{"SUB-9 nested, independent of the collapse", call{Name: "safe", Agent: "coder", Parent: token}, registry.Parallel},
		{"MODE-1 lossy arguments", call{Name: "safe", Arguments: func() {}}, registry.Exclusive},
		{"DEFINE-5 typed with valid arguments", call{Name: "typed", Arguments: map[string]any{"n": 1}}, registry.Parallel},
		{"DEFINE-5 typed with invalid arguments", call{Name: "typed", Arguments: map[string]any{"n": "1"}}, registry.Exclusive},
		{"MODE-1 run_code", call{Name: "run_code", Agent: "coder"}, registry.Exclusive},
		{"MODE-1 an agent that is not comparable", call{Name: "safe", Agent: []int{}}, registry.Exclusive},
	} {
		t.Run(row.rule, func(t *testing.T) {
			if got := r.ExecutionMode(row.call); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
	t.Run("MODE-2 MODE-3 the classifier sees this call's arguments and runs without the call", func(t *testing.T) {
		if len(seen) == 0 || seen[0] != "1" {
			t.Errorf("it saw %v", seen)
		}
	})
}
