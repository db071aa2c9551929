package gateway

// This file defines the approval of calls by the person at the client (GATE-4).

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/registry"
)

// Approver is for [registry.Options.Approver]: it puts the question to the client whose call is to be approved, by elicitation
// (GATE-4). Where that client cannot ask a person, the outcome is [registry.Unavailable]. Calls that no client of a gateway made
// go to next; without one they are Unavailable, too.
//
// In revisions of the protocol that forbid to ask while a request is open, the call's result is the question, and the run waits
// in memory until the client repeats the call with the answer.
func Approver(next registry.Approver) registry.Approver { return approver{next} }

type approver struct{ next registry.Approver }

func (a approver) Approve(ctx context.Context, q registry.ApprovalRequest) (registry.Outcome, error) {
	c := clientCall(ctx)
	switch {
	case c != nil:
		return c.approve(ctx, q), nil
	case a.next != nil:
		return a.next.Approve(ctx, q)
	}
	return registry.Unavailable, nil
}

// approve asks the person. A question that cannot be put or is answered by nonsense was answered by nobody (ASK-7).
func (c *call) approve(ctx context.Context, q registry.ApprovalRequest) registry.Outcome {
	if c.asks == nil {
		return registry.Unavailable
	}
	params := &mcp.ElicitParams{Mode: "form", Message: questionText(q), RequestedSchema: approveSchema}
	if !c.rounds {
		answer, err := c.asks.Elicit(ctx, params)
		switch {
		case ctx.Err() != nil:
			return registry.Cancelled
		case err != nil:
			c.gateway.o.Logger.Warn("the client could not be asked for approval", "tool", q.Tool, "error", err)
			return registry.Unavailable
		}
		return verdict(answer)
	}
	asked := &question{params, make(chan registry.Outcome, 1)}
	select {
	case c.questions <- asked:
	case <-ctx.Done():
		return registry.Cancelled
	}
	select {
	case outcome := <-asked.answer:
		return outcome
	case <-ctx.Done():
		return registry.Cancelled
	}
}

// verdict reads a person's answer. Nothing but an accepted form with the box ticked grants anything.
func verdict(answer *mcp.ElicitResult) registry.Outcome {
	if answer == nil {
		return registry.Unavailable
	}
	switch answer.Action {
	case "accept":
		switch answer.Content["approve"] {
		case true:
			return registry.AllowedOnce
		case false:
			return registry.Rejected
		}
	case "decline":
		return registry.Rejected
	case "cancel":
		return registry.Cancelled
	}
	return registry.Unavailable
}

// approveSchema is the form: one box, which nothing ticks but the person.
var approveSchema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Run this call once"}},"required":["approve"]}`)

// asks returns the session in which a person can be asked for a request, nil when its client has no form for that.
func asks(r *mcp.CallToolRequest) *mcp.ServerSession {
	capabilities := r.ClientCapabilities()
	if capabilities == nil || capabilities.Elicitation == nil {
		return nil
	}
	if e := capabilities.Elicitation; e.Form == nil && e.URL != nil { // neither is said by clients from before there were two
		return nil
	}
	return r.Session
}

// inRounds reports whether the client speaks a revision of the protocol in which it is asked by results.
func inRounds(s *mcp.ServerSession) bool {
	p := s.InitializeParams()
	return p == nil || p.ProtocolVersion >= sessionless
}

// maxQuestion is how many bytes of arguments a question shows.
const maxQuestion = 4 << 10

// questionText is what the person reads: which tool, with which arguments. The reason that a listener gave is left out, for it
// may be a server's or a model's prose.
func questionText(q registry.ApprovalRequest) string {
	return visibleName(q.Tool) + "\n" + cutVisible(q.Arguments.String(), maxQuestion)
}
