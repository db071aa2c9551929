package gateway

// This file defines one call of a client: one execution in the registry, and the request, or several one after the other,
// that wait for it (GATE-5).

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

var errCancelled = errors.New("the client cancelled the request")

// call is one execution for a client. It outlives the request that began it only while the client is asked something.
type call struct {
	gateway   *Gateway
	client    *client
	tool      string // in the registry
	arguments jsonval.Value
	began     time.Time

	cancel    context.CancelCauseFunc
	result    chan registry.Result // holds one
	questions chan *question       // taken by the request that waits

	rounds bool               // the client cannot be asked while its request is open: it gets the question as a result
	asks   *mcp.ServerSession // whom to ask, nil when the client cannot answer
	wall   time.Duration

	tally tally
}

type callKey struct{}

// clientCall returns the client's call that an execution serves, nil if none does.
func clientCall(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// PerRun is for [bridge.Options.PerRun]: it gives a run the wall budget of the client's request, and follows its calls for a
// client that asked for progress. A run that no client of a gateway asked for gets nothing.
func PerRun(ctx context.Context, _ registry.Execution) bridge.RunOptions {
	c := clientCall(ctx)
	if c == nil {
		return bridge.RunOptions{}
	}
	return bridge.RunOptions{Wall: c.wall, OnEvent: c.tally.event}
}

// call answers a request: it begins a call, or goes on with one that waits for this request.
func (g *Gateway) call(ctx context.Context, r *mcp.CallToolRequest, listed *listing) (*mcp.CallToolResult, error) {
	client := g.clientOf(r)
	tool, ok := listed.names[r.Params.Name]
	if !ok {
		tool = r.Params.Name
	}
	args, err := arguments(r.Params.Arguments)
	if err != nil {
		return failed(err), nil
	}
	if r.Params.RequestState != "" || len(r.Params.InputResponses) > 0 {
		c, err := client.parked.resume(r.Params, tool, args)
		if err != nil {
			return nil, err
		}
		return c.wait(ctx, r)
	}
	c := &call{
		gateway: g, client: client, tool: tool, arguments: args, began: time.Now(),
		result: make(chan registry.Result, 1), questions: make(chan *question),
		rounds: inRounds(r.Session), asks: asks(r),
	}
	if progressToken(r) == nil && !c.rounds {
		c.wall = g.wall()
	}
	if err := c.start(ctx); err != nil {
		return failed(err), nil
	}
	return c.wait(ctx, r)
}

// start begins the execution, with the values of a request's context. It ends by itself, by cancel, with the client or with
// the gateway.
func (c *call) start(ctx context.Context) error {
	leave, ok := c.gateway.enter()
	if !ok {
		return errShutdown
	}
	leaveClient, err := c.client.enter()
	if err != nil {
		leave()
		return err
	}
	ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	ctx = context.WithValue(ctx, callKey{}, c)
	forget, forgetClient := c.gateway.calls.add(c.cancel), c.client.calls.add(c.cancel)
	go func() {
		defer leave()
		defer leaveClient()
		defer forget()
		defer forgetClient()
		defer c.cancel(nil)
		c.result <- c.gateway.o.Registry.Execute(ctx, registry.Call{
			ID: "mcp-" + rand.Text(), Name: c.tool, Arguments: c.arguments, Agent: c.gateway.o.Agent,
		})
	}()
	return nil
}

// wait answers a request with what the call comes to, or with a question to the client, which then comes back with another
// request. When the request is cancelled the call is aborted, and drained before wait returns.
func (c *call) wait(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	defer context.AfterFunc(ctx, func() { c.cancel(endOf(ctx)) })()
	defer c.patience(r)()
	defer c.report(ctx, r)()
	for {
		select {
		case result := <-c.result:
			return c.finish(r, result)
		case q := <-c.questions:
			if ctx.Err() != nil {
				continue // nobody is there to be asked; the one who asks sees it, too
			}
			if state, ok := c.client.parked.park(c, q); ok {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{questionID: q.params}, RequestState: state}, nil
			}
			q.answer <- registry.Unavailable
		}
	}
}

// patience bounds how long this request waits for a run, if its client did not ask for progress (GATE-1). A client that is asked in
// rounds waits anew in each, and what a person takes to answer does not count; so there the bound is of the request. All others
// have it from [PerRun].
func (c *call) patience(r *mcp.CallToolRequest) (stop func()) {
	wall := c.gateway.wall()
	if c.tool != registry.RunCode || !c.rounds || wall == 0 || progressToken(r) != nil {
		return func() {}
	}
	timer := time.AfterFunc(wall, func() {
		c.cancel(fmt.Errorf("wall-clock limit reached: %d ms", wall.Milliseconds()))
	})
	return func() { timer.Stop() }
}

// wall returns the budget for requests whose clients did not ask for progress; 0 is none.
func (g *Gateway) wall() time.Duration { return max(g.o.Wall, 0) }

// endOf says why a request's context has ended, for a model or a log to read.
func endOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, io.EOF), errors.Is(cause, mcp.ErrConnectionClosed):
		return errClientGone
	case cause == context.Canceled:
		return errCancelled
	}
	return cause
}

// arguments reads the arguments of a call. Whether they fit the tool is for the registry to say.
func arguments(text json.RawMessage) (jsonval.Value, error) {
	if len(text) == 0 {
		return jsonval.Object(), nil
	}
	args, err := jsonval.Parse(text)
	switch {
	case err != nil:
		return jsonval.Value{}, fmt.Errorf("arguments are not lossless JSON: %w", err)
	case !args.IsObject():
		return jsonval.Value{}, fmt.Errorf("arguments must be a JSON object such as {}, not %s", args.Kind())
	}
	return args, nil
}

// finish turns what the execution came to into the answer.
func (c *call) finish(r *mcp.CallToolRequest, result registry.Result) (*mcp.CallToolResult, error) {
	if f := result.Failure(); f != nil && f.Info != nil && f.Info.Code == registry.CodeUnknownTool && !c.gateway.callable(c.tool) {
		return nil, invalidParams("%s", f.Message)
	}
	return c.gateway.answer(r, result), nil
}

// callable reports whether the registry would run a tool for a client.
func (g *Gateway) callable(tool string) bool {
	mode := g.o.Registry.Mode(g.o.Agent)
	if tool == registry.RunCode {
		return mode != registry.Native
	}
	_, ok := g.o.Registry.Get(tool, g.o.Agent)
	return ok && mode != registry.Code
}
