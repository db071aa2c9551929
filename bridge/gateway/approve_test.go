package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// asking makes every call of a tool but run_code need approval.
func (h *house) asking() *house {
	h.reg.OnPreExecute(func(_ context.Context, x registry.Execution, next func() (registry.PreDecision, error)) (registry.PreDecision, error) {
		if x.Name() == registry.RunCode {
			return next()
		}
		return registry.Ask("the server says: just click yes"), nil
	})
	return h
}

// person is a client whose person answers each question with the next of answers.
type person struct {
	mu    sync.Mutex
	asked []string
}

func (p *person) options(answer func(n int) (*mcp.ElicitResult, error)) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Params.Message)
		n := len(p.asked)
		p.mu.Unlock()
		return answer(n)
	}}
}

func answers(action string, content map[string]any) func(int) (*mcp.ElicitResult, error) {
	return func(int) (*mcp.ElicitResult, error) { return &mcp.ElicitResult{Action: action, Content: content}, nil }
}

func TestApproval(t *testing.T) {
	const program = `try { return await tools.echo({ n: 1 }) } catch (e) { return String(e.message) }`
	yes := map[string]any{"approve": true}
	for _, c := range []struct {
		name   string
		answer func(int) (*mcp.ElicitResult, error)
		want   string
	}{
		{"an accepted form with the box ticked grants", answers("accept", yes), `{"n":1}`},
		{"an accepted form without grants nothing", answers("accept", map[string]any{"approve": false}), `"the user refused to run tool \"echo\""`},
		{"a box that is a text grants nothing", answers("accept", map[string]any{"approve": "true"}), `"tool \"echo\" needs approval and nobody can answer the request"`},
		{"an empty form grants nothing", answers("accept", nil), `"tool \"echo\" needs approval and nobody can answer the request"`},
		{"a declined form with the box ticked grants nothing", answers("decline", yes), `"the user refused to run tool \"echo\""`},
		{"a cancelled form grants nothing", answers("cancel", yes), `"the approval request for tool \"echo\" was withdrawn"`},
		{"an action that nobody knows grants nothing", answers("ACCEPT", yes), `"tool \"echo\" needs approval and nobody can answer the request"`},
	} {
		revisions(t, func(t *testing.T, protocol string) {
			t.Run("GATE-4 "+c.name, func(t *testing.T) {
				h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}}).asking()
				var p person
				r, err := h.connect(p.options(c.answer), protocol).CallTool(t.Context(), &mcp.CallToolParams{
					Name: "run_code", Arguments: map[string]any{"code": program, "description": "d"},
				})
				if err != nil {
					if protocol != newest || !strings.Contains(err.Error(), "does not match requested schema") { // which this client finds out itself
						t.Error(err)
					}
					return
				}
				if got := gjson.Get(structured(r), "result").Raw; got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
				if len(p.asked) != 1 || p.asked[0] != "echo\n{\"n\":1}" {
					t.Errorf("asked %q", p.asked)
				}
			})
		})
	}
	revisions(t, func(t *testing.T, protocol string) {
		t.Run("GATE-4 without elicitation the call is denied as unavailable", func(t *testing.T) {
			h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}}).asking()
			r := run(t, h.connect(nil, protocol), program)
			if got, want := gjson.Get(structured(r), "result").Str, `tool "echo" needs approval and nobody can answer the request`; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
		t.Run("GATE-4 a client that shows only web pages cannot be asked", func(t *testing.T) {
			h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}}).asking()
			var p person
			o := p.options(answers("accept", yes))
			o.Capabilities = &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}}
			r := run(t, h.connect(o, protocol), program)
			if !strings.Contains(text(r), "nobody can answer") || len(p.asked) > 0 {
				t.Errorf("%s, asked %q", text(r), p.asked)
			}
		})
		t.Run("GATE-4 every call is asked about, and one answer is for one call", func(t *testing.T) {
			h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}}).asking()
			var p person
			s := h.connect(p.options(func(n int) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": n != 2}}, nil
			}), protocol)
			r := run(t, s, `const all = []; for (const n of [1, 2, 3]) { try { all.push((await tools.echo({ n })).n) } catch { all.push("no") } } return all`)
			if got := gjson.Get(structured(r), "result").Raw; got != `[1,"no",3]` || len(p.asked) != 3 {
				t.Errorf("%s %q", got, p.asked)
			}
		})
		t.Run("GATE-4 a native call is asked about, too", func(t *testing.T) {
			h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{echo("echo")}}).asking()
			var p person
			if r := callTool(t, h.connect(p.options(answers("accept", yes)), protocol), "echo", map[string]any{"a": 1}); structured(r) != `{"a":1}` {
				t.Errorf("%s", text(r))
			}
		})
		t.Run("GATE-4 a client that fails to ask was not asked", func(t *testing.T) {
			h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}}).asking()
			var p person
			s := h.connect(p.options(func(int) (*mcp.ElicitResult, error) { return nil, errors.New("no window") }), protocol)
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": program, "description": "d"}})
			if protocol == newest { // the client's library gives up before the server hears of it
				if err == nil {
					t.Errorf("%s", text(r))
				}
				return
			}
			if err != nil || !strings.Contains(text(r), "nobody can answer") {
				t.Errorf("%v %s", err, text(r))
			}
		})
	})
	t.Run("GATE-4 a cancelled request withdraws the question", func(t *testing.T) {
		asked, withdrawn := make(chan struct{}), make(chan struct{})
		h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}}).asking()
		s := h.connect(&mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			close(asked)
			<-ctx.Done()
			close(withdrawn)
			return nil, ctx.Err()
		}}, older)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": program, "description": "d"}})
			done <- err
		}()
		next(t, asked, "the question")
		cancel()
		next(t, withdrawn, "its withdrawal")
		if err := next(t, done, "the answer"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	t.Run("GATE-4 calls that no client made go to the next approver", func(t *testing.T) {
		q := registry.ApprovalRequest{Tool: "x"}
		if got, err := Approver(nil).Approve(t.Context(), q); got != registry.Unavailable || err != nil {
			t.Errorf("%v %v", got, err)
		}
		if got, err := Approver(always(registry.Rejected)).Approve(t.Context(), q); got != registry.Rejected || err != nil {
			t.Errorf("%v %v", got, err)
		}
	})
}

type always registry.Outcome

func (a always) Approve(context.Context, registry.ApprovalRequest) (registry.Outcome, error) {
	return registry.Outcome(a), nil
}

func TestQuestion(t *testing.T) {
	ask := func(tool string, args any) string {
		return questionText(registry.ApprovalRequest{Tool: tool, Arguments: jsonval.MustOf(args), Reason: "click yes"})
	}
	for _, c := range []struct{ name, got, want string }{
		{"the tool and its arguments, and no prose", ask("rm", map[string]any{"path": "/x", "why": "a\nb"}), `rm` + "\n" + `{"path":"/x","why":"a\nb"}`},
		{"controls and marks of direction are escaped", ask("rm", "a\u202eb\u2066\u200b\u00a0\x7f\u0085\U000e0041é日"), "rm\n" + `"a\u202eb\u2066\u200b\u00a0\u007f\u0085\udb40\udc41é日"`},
		{"a name that is prose is quoted", ask("x\nApprove: safe\u202e", 1), `"x\nApprove: safe\u202e"` + "\n1"},
		{"what is cut is counted", ask("rm", strings.Repeat("x", 5000)), "rm\n\"" + strings.Repeat("x", 4095) + "… (906 of 5002 bytes are not shown)"},
		{"no escape is cut apart", ask("rm", strings.Repeat("\u202e", 700)), "rm\n\"" + strings.Repeat(`\u202e`, 682) + "… (55 of 2102 bytes are not shown)"},
		{"what fits exactly is whole", ask("rm", strings.Repeat("x", 4094)), "rm\n\"" + strings.Repeat("x", 4094) + `"`},
	} {
		t.Run("GATE-4 a question shows "+c.name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got  …%.90q\nwant …%.90q", c.got[max(0, len(c.got)-80):], c.want[max(0, len(c.want)-80):])
			}
		})
	}
}

// rounds is a client of the newest revision that answers questions itself.
func rounds(h *house) *mcp.ClientSession {
	return h.connect(&mcp.ClientOptions{
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return nil, errors.New("not asked this way")
		},
	}, newest)
}

func TestParking(t *testing.T) {
	params := func(program string) *mcp.CallToolParams {
		return &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": program, "description": "d"}}
	}
	const program = `return await tools.echo({ n: 1 })`
	ask := func(t *testing.T, s *mcp.ClientSession, p *mcp.CallToolParams) string {
		t.Helper()
		r, err := s.CallTool(t.Context(), p)
		if err != nil || !r.NeedsInput() || len(r.InputRequests) != 1 || r.RequestState == "" {
			t.Fatalf("%v: %+v", err, r)
		}
		return r.RequestState
	}
	answered := func(p *mcp.CallToolParams, state string, approve any) *mcp.CallToolParams {
		q := *p
		q.RequestState = state
		q.InputResponses = mcp.InputResponseMap{questionID: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": approve}}}
		return &q
	}
	refused := func(t *testing.T, s *mcp.ClientSession, p *mcp.CallToolParams, why string) {
		t.Helper()
		_, err := s.CallTool(t.Context(), p)
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, why) {
			t.Errorf("%v, want %s", err, why)
		}
	}
	start := func(t *testing.T, o times) *house {
		return open(t, houseOptions{tools: []registry.Definition{echo("echo")}, times: o}).asking()
	}
	t.Run("GATE-4 a state is good for one answer", func(t *testing.T) {
		s := rounds(start(t, times{}))
		p := params(program)
		state := ask(t, s, p)
		r, err := s.CallTool(t.Context(), answered(p, state, true))
		if err != nil || structured(r) != `{"logs":[],"result":{"n":1}}` {
			t.Errorf("%v %v", err, r)
		}
		refused(t, s, answered(p, state, true), "no call waits")
	})
	t.Run("GATE-4 a state is good for its call only", func(t *testing.T) {
		h := start(t, times{})
		s, other := rounds(h), rounds(h)
		p := params(program)
		state := ask(t, s, p)
		refused(t, s, answered(params(`return await tools.echo({ n: 2 })`), state, true), "belongs to another call")
		refused(t, s, answered(&mcp.CallToolParams{Name: "echo", Arguments: p.Arguments}, state, true), "belongs to another call")
		refused(t, other, answered(p, state, true), "no call waits")
		refused(t, s, answered(p, "guessed", true), "no call waits")
		refused(t, s, answered(p, "", true), "no call waits")
		if r, err := s.CallTool(t.Context(), answered(p, state, true)); err != nil || r.IsError {
			t.Errorf("%v %v", err, r)
		}
	})
	t.Run("GATE-4 a request that comes back without an answer grants nothing", func(t *testing.T) {
		s := rounds(start(t, times{}))
		p := params(program)
		q := *p
		q.RequestState = ask(t, s, p)
		if r, err := s.CallTool(t.Context(), &q); err != nil || !strings.Contains(text(r), "nobody can answer") {
			t.Errorf("%v %v", err, r)
		}
	})
	t.Run("GATE-4 several calls wait at once", func(t *testing.T) {
		s := rounds(start(t, times{}))
		var ps []*mcp.CallToolParams
		var states []string
		for n := range 5 {
			ps = append(ps, params(fmt.Sprintf(`return await tools.echo({ n: %d })`, n)))
			states = append(states, ask(t, s, ps[n]))
		}
		for n := range 5 {
			if r, err := s.CallTool(t.Context(), answered(ps[n], states[n], true)); err != nil || structured(r) != fmt.Sprintf(`{"logs":[],"result":{"n":%d}}`, n) {
				t.Errorf("%v %v", err, r)
			}
		}
	})
	t.Run("GATE-4 calls that wait are bounded in number", func(t *testing.T) {
		s := rounds(start(t, times{}))
		for range maxParked {
			ask(t, s, params(program))
		}
		if r, err := s.CallTool(t.Context(), params(program)); err != nil || r.NeedsInput() || !strings.Contains(text(r), "nobody can answer") {
			t.Errorf("%v %v", err, r)
		}
	})
	t.Run("GATE-4 a call whose client does not come back is aborted", func(t *testing.T) {
		h := start(t, times{parked: 50 * time.Millisecond})
		over := make(chan registry.Result, 9)
		h.reg.OnResult(func(x registry.Execution, r registry.Result) {
			if x.Name() == registry.RunCode {
				over <- r
			}
		})
		s := rounds(h)
		p := params(program)
		state := ask(t, s, p)
		if r := next(t, over, "the end of the run"); !strings.Contains(r.Text(), errUnanswered.Error()) {
			t.Errorf("%s", r.Text())
		}
		refused(t, s, answered(p, state, true), "no call waits")
	})
	t.Run("GATE-4 the end of the session ends what waits", func(t *testing.T) {
		h := start(t, times{})
		s := rounds(h)
		ask(t, s, params(program))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		closeWithin(t, h.Close)
	})
	t.Run("GATE-1 what a person takes to answer does not count as the client's waiting", func(t *testing.T) {
		h := open(t, houseOptions{tools: []registry.Definition{echo("echo")}, gateway: Options{Wall: 200 * time.Millisecond}}).asking()
		s := rounds(h)
		p := params(program)
		state := ask(t, s, p)
		time.Sleep(400 * time.Millisecond)
		if r, err := s.CallTool(t.Context(), answered(p, state, true)); err != nil || r.IsError {
			t.Errorf("%v %s", err, text(r))
		}
		r, err := s.CallTool(t.Context(), params(`await new Promise(r => setTimeout(r, 60000))`))
		if err != nil || !strings.Contains(text(r), "wall-clock limit reached: 200 ms") {
			t.Errorf("%v %s", err, text(r))
		}
	})
}
