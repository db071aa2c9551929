package bridge_test

// This file proves the sentence that the package stands for: a program is no way round policy. A random deployment is built
// twice from one seed; the same calls are made natively in one and by a program in the other; everything that policy decided,
// every result and every record must agree, but for the parent token.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// deployment is one registry with random tools and policies, and the trail of what they saw and decided.
type deployment struct {
	*world
	gone []func() // removes tools that calls still name

	mu sync.Mutex
	// Gates come in submission order and commits too; how the two interleave is a matter of timing where bodies overlap.
	gates, commits []string
	seen           map[string]string   // call id to final result
	body           map[string][]string // call id to what wrapped and ran it
}

func (d *deployment) gate(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gates = append(d.gates, fmt.Sprintf(format, args...))
}

func (d *deployment) commit(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commits = append(d.commits, fmt.Sprintf(format, args...))
}

func (d *deployment) within(id, format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.body[id] = append(d.body[id], fmt.Sprintf(format, args...))
}

// inner reports whether policy should look at x: the outer run_code call is not part of the comparison.
func inner(x registry.Execution) bool { return x.Name() != registry.RunCode }

// dice decides by the call, not by the order of questions, so that both deployments throw alike.
func dice(seed uint64, salt string, x registry.Execution, sides uint64) uint64 {
	h := seed*0x9e3779b97f4a7c15 + 1
	for _, c := range salt + "/" + x.CallID() + "/" + x.Name() {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return (h ^ h>>29) % sides
}

func result(r registry.Result) string {
	v := r.JSON().Without("meta") // direct calls alone have metadata
	return v.String()
}

// deploy builds the deployment of a seed. Each kind of policy is registered a random number of times, in the registry and in
// the agent's scope.
func deploy(t *testing.T, seed uint64, m registry.Mode, program func(context.Context, *program) (runtime.Result, error)) *deployment {
	r := rand.New(rand.NewPCG(seed, 1))
	d := &deployment{seen: make(map[string]string), body: make(map[string][]string)}
	approver := approve(func(q registry.ApprovalRequest) (registry.Outcome, error) {
		d.gate("asked %s %s", q.CallID, q.Reason)
		outcomes := []registry.Outcome{registry.AllowedOnce, registry.AllowedOnce, registry.Rejected, registry.Unavailable, registry.Cancelled, "rogue"}
		return outcomes[len(q.CallID+q.Tool+q.Arguments.String())%len(outcomes)], nil
	})
	d.world = newWorld(t, program, mode(m), parallel(1+r.IntN(4)), func(_ *bridge.Options, o *registry.Options) { o.Approver = approver })
	scope, err := d.reg.Scope(agent, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		d.addTool(r, seed, fmt.Sprintf("tool%d", i))
	}
	for i := range r.IntN(3) {
		name := fmt.Sprintf("gone%d", i)
		d.gone = append(d.gone, d.tool(name, func(context.Context, jsonval.Value, *registry.Run) (any, error) { return "still there", nil }))
	}
	if r.IntN(2) == 0 {
		hidden := fmt.Sprintf("tool%d", r.IntN(8))
		d.gone = append(d.gone, func() {
			if _, err := scope.Restrict(registry.Restriction{Deny: []string{hidden}}); err != nil {
				t.Error(err)
			}
		})
	}
	both := func() registry.Registrar {
		if r.IntN(2) == 0 {
			return scope
		}
		return d.reg
	}
	for i := range r.IntN(3) {
		d.addGate(both(), seed, fmt.Sprint("gate", i))
	}
	for i := range r.IntN(3) {
		salt := fmt.Sprint("guard", i)
		both().Guard(func(x registry.Execution) (string, bool) {
			deny := inner(x) && dice(seed, salt, x, 8) == 0
			if inner(x) {
				d.gate("%s %s %v", salt, x.CallID(), deny)
			}
			return salt, deny
		})
	}
	for i := range r.IntN(3) {
		d.addWrapper(both(), seed, fmt.Sprint("around", i))
	}
	for i := range r.IntN(3) {
		d.addPost(both(), seed, fmt.Sprint("post", i))
	}
	d.reg.OnResult(func(x registry.Execution, res registry.Result) {
		if !inner(x) {
			return
		}
		d.commit("result %s", x.CallID())
		d.mu.Lock()
		defer d.mu.Unlock()
		d.seen[x.CallID()] = fmt.Sprintf("%s %s root=%s agent=%v: %s", x.Name(), x.Arguments(), x.RootID(), x.Agent(), result(res))
	})
	return d
}

type approve func(registry.ApprovalRequest) (registry.Outcome, error)

func (f approve) Approve(_ context.Context, q registry.ApprovalRequest) (registry.Outcome, error) {
	return f(q)
}

func (d *deployment) addTool(r *rand.Rand, seed uint64, name string) {
	kind, isSafe, hasImage, finalizes := r.IntN(6), r.IntN(2) == 0, r.IntN(3) == 0, r.IntN(4) == 0
	d.tool(name, func(_ context.Context, args jsonval.Value, run *registry.Run) (any, error) {
		x := run.Execution()
		d.within(x.CallID(), "body %s", args)
		switch kind {
		case 0:
			return nil, registry.Coded("RowError", "NO_ROW", "no row for "+args.String())
		case 1:
			panic("tool panicked")
		case 2:
			return 7, nil // not what its schema says
		case 3:
			run.DeferContext(registry.Context{ID: "from " + x.CallID(), Content: []registry.Block{registry.Text("note")}, Source: registry.PluginSource(name)})
			run.ConcludeTurn()
		}
		return args, nil
	}, func(def *registry.Definition) {
		if isSafe {
			def.ConcurrencySafe = func(args jsonval.Value) bool { v, _ := args.Get("n"); return int(v.Float())%5 != 0 }
		}
		if kind == 2 {
			def.Output.Schema = jsonval.MustOf(map[string]any{"type": "object"})
		}
		if hasImage {
			image(def)
		}
		if finalizes {
			def.Finalize = func(x registry.Execution, res registry.Result) ([]registry.Block, bool) {
				return append(res.Content(), registry.Text("finalized "+x.CallID())), true
			}
		}
		def.Output.PresentationMeta = func(_, _ jsonval.Value) (any, error) { return "for direct calls", nil }
	})
}

func (d *deployment) addGate(to registry.Registrar, seed uint64, salt string) {
	to.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
		if !inner(x) {
			return next()
		}
		throw := dice(seed, salt, x, 10)
		d.gate("%s %s %d", salt, x.CallID(), throw)
		switch throw {
		case 0:
			return registry.Deny(salt + " denies"), nil
		case 1:
			return registry.Ask(salt + " asks"), nil
		case 2:
			return registry.PreDecision{}, errors.New(salt + " broke")
		case 3:
			return registry.PreDecision{}, nil // invalid
		case 4:
			if _, err := next(); err != nil {
				return registry.PreDecision{}, err
			}
			return registry.Allow(), nil // overrules
		}
		return next()
	})
}

func (d *deployment) addWrapper(to registry.Registrar, seed uint64, salt string) {
	to.OnExecute(func(ctx context.Context, x registry.Execution, next func(context.Context) (registry.Result, error)) (registry.Result, error) {
		if !inner(x) {
			return next(ctx)
		}
		throw := dice(seed, salt, x, 10)
		d.within(x.CallID(), "%s %d", salt, throw)
		switch throw {
		case 0:
			return registry.Success(map[string]any{"authored": salt}), nil
		case 1:
			return registry.Fail(errors.New(salt+" failed it"), registry.Text("own content")), nil
		case 2:
			return registry.Result{}, errors.New(salt + " broke")
		case 3:
			if _, err := next(ctx); err != nil {
				return registry.Result{}, err
			}
			return next(ctx) // a retry
		}
		return next(ctx)
	})
}

func (d *deployment) addPost(to registry.Registrar, seed uint64, salt string) {
	to.OnPostExecute(func(_ context.Context, x registry.Execution, res registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
		if !inner(x) {
			return next()
		}
		throw := dice(seed, salt, x, 10)
		d.commit("%s %s %d sees %s", salt, x.CallID(), throw, result(res))
		decision, err := next()
		switch throw {
		case 0:
			return registry.Blocked(registry.Text(salt+" blocks"), picture), nil
		case 1:
			return decision.WithContent(registry.Text(salt + " replaces")), err
		case 2:
			return decision.WithValue(map[string]any{"replaced": salt}), err
		case 3:
			return decision.AppendContexts(registry.Context{ID: salt + x.CallID(), Content: []registry.Block{registry.Text(salt)}}), err
		case 4:
			return registry.PostDecision{}, errors.New(salt + " broke")
		}
		return decision, err
	})
}

type plannedCall struct {
	name string
	args map[string]any
}

// plan is a random sequence of calls, over tools that exist, that are gone and that are restricted.
func plan(seed uint64) []plannedCall {
	r := rand.New(rand.NewPCG(seed, 2))
	calls := make([]plannedCall, 4+r.IntN(12))
	for i := range calls {
		name := fmt.Sprintf("tool%d", r.IntN(8))
		if r.IntN(8) == 0 {
			name = fmt.Sprintf("gone%d", r.IntN(3))
		}
		calls[i] = plannedCall{name, map[string]any{"n": r.IntN(20), "s": strings.Repeat("x", r.IntN(3))}}
	}
	return calls
}

// natively makes the calls of a plan directly, on a lane as a driver would, and returns what the callers got.
func natively(t *testing.T, seed uint64) (*deployment, []string, []registry.Result) {
	d := deploy(t, seed, registry.Native, nil)
	limit := 1 + rand.New(rand.NewPCG(seed, 1)).IntN(4)
	lane, err := d.reg.NewLane(context.Background(), registry.LaneOptions{MaxParallel: limit})
	if err != nil {
		t.Fatal(err)
	}
	var started []string
	bound := make(map[string]bool)
	for _, tool := range d.reg.Visible(agent) {
		bound[tool.Name] = true
	}
	for _, gone := range d.gone {
		gone()
	}
	calls := slices.DeleteFunc(plan(seed), func(c plannedCall) bool {
		return !bound[c.name] // a program has no such member; there is nothing to compare
	})
	results := make([]registry.Result, len(calls))
	for i, c := range calls {
		lane.Submit(registry.Call{ID: fmt.Sprintf("c:code:%d", i+1), Name: c.name, Arguments: c.args, RootID: "c", Agent: agent}, registry.LaneHooks{
			Started:   func(x registry.Execution) { started = append(started, x.CallID()) },
			Committed: func(_ registry.Execution, r registry.Result) { results[i] = r },
		})
	}
	lane.Drain()
	return d, started, results
}

// byProgram lets a program make the calls of a plan, all of them at once.
func byProgram(t *testing.T, seed uint64) (*deployment, registry.Result, []*promise) {
	var d *deployment
	var promises []*promise
	d = deploy(t, seed, registry.Code, func(_ context.Context, p *program) (runtime.Result, error) {
		bound := make(map[string]bool)
		for _, name := range p.names() {
			bound[name] = true
		}
		for _, gone := range d.gone {
			gone()
		}
		for _, c := range plan(seed) {
			if bound[c.name] {
				promises = append(promises, p.call(c.name, c.args))
			}
		}
		waitAll(t, promises)
		return done(nil)
	})
	return d, d.run(), promises
}

func checkParity(t *testing.T, seed uint64) {
	native, started, results := natively(t, seed)
	nested, outer, promises := byProgram(t, seed)
	equal(t, "gates", nested.gates, native.gates)
	equal(t, "commits", nested.commits, native.commits)
	if len(promises) != len(results) {
		t.Fatalf("%d calls by the program, %d natively", len(promises), len(results))
	}
	var contexts []string
	concludes := false
	for i, want := range results {
		id := fmt.Sprintf("c:code:%d", i+1)
		if nested.seen[id] != native.seen[id] {
			t.Errorf("%s:\n    native %s\nby program %s", id, native.seen[id], nested.seen[id])
		}
		equal(t, id+" inside", nested.body[id], native.body[id])
		got, err := promises[i].wait(t)
		switch {
		case want.IsError() && (err == nil || err.Error() != want.Failure().Message):
			t.Errorf("%s: the program caught %v, the native failure is %s", id, err, want.Failure().Message)
		case !want.IsError() && (err != nil || !jsonval.Identical(got, want.Value())):
			t.Errorf("%s: the program got %s, %v; the native value is %s", id, got, err, want.Value())
		}
		if !want.IsError() && strings.Contains(want.JSON().String(), `"type":"image"`) && hasImage(want.Content()) {
			contexts = append(contexts, "tools-code-mode")
		}
		for _, c := range want.Contexts() {
			contexts = append(contexts, c.ID)
		}
		concludes = concludes || want.ConcludesTurn()
	}
	var forwarded []string
	for _, c := range outer.Contexts() {
		if plugin, _ := c.Source.Get("plugin"); plugin.Str() == "tools-code-mode" {
			forwarded = append(forwarded, "tools-code-mode")
			continue
		}
		forwarded = append(forwarded, c.ID)
	}
	equal(t, "contexts", forwarded, contexts)
	if outer.ConcludesTurn() != concludes {
		t.Errorf("concludes the turn: %v, natively %v", outer.ConcludesTurn(), concludes)
	}

	var starts []string
	settled := 0
	for _, e := range nested.events {
		switch e := e.(type) {
		case *bridge.DispatchStart:
			starts = append(starts, e.SubCallID)
		case *bridge.Dispatch:
			want := results[settled]
			settled++
			if e.SubCallID != fmt.Sprintf("c:code:%d", settled) || e.IsError != want.IsError() {
				t.Errorf("record %d is %s, %v", settled, e.SubCallID, e.IsError)
			}
			content, _ := e.Value().Get("content")
			if native, _ := want.JSON().Get("content"); !jsonval.Identical(content, native) {
				t.Errorf("%s: recorded %s, natively %s", e.SubCallID, content, native)
			}
		}
	}
	equal(t, "starts", starts, started)
	if settled != len(results) {
		t.Errorf("%d records of %d calls", settled, len(results))
	}
}

func hasImage(content []registry.Block) bool {
	for _, b := range content {
		if b.Type() == "image" {
			return true
		}
	}
	return false
}

func TestPolicyParity(t *testing.T) {
	t.Run("SUB-3 CODE-29 a program decides nothing: natively and nested agree", func(t *testing.T) {
		seeds := uint64(300)
		switch {
		case os.Getenv("RUNCODE_SOAK") != "":
			seeds = 100_000
		case testing.Short():
			seeds = 30
		}
		for seed := range seeds {
			if checkParity(t, seed); t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
}

func FuzzPolicyParity(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkParity(t, seed) })
}
