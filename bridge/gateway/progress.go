package gateway

// This file defines the reports of progress to a client that asked for them (GATE-5).

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/bridge"
)

// tally counts the calls that a program makes. The zero value is ready.
type tally struct {
	mu      sync.Mutex
	done    int
	running int
	last    string // the tool that was started last
	version int    // grows with every change
}

// event is [bridge.RunOptions.OnEvent].
func (t *tally) event(e bridge.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version++
	switch e := e.(type) {
	case *bridge.DispatchStart:
		t.running++
		t.last = e.Name
	case *bridge.Dispatch:
		t.running--
		t.done++
	}
}

// state returns the version and what there is to say of it.
func (t *tally) state() (version int, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.version == 0:
		return 0, ""
	case t.running == 0:
		return t.version, fmt.Sprintf("%d calls done", t.done)
	}
	return t.version, fmt.Sprintf("%d calls done, %d running: %s", t.done, t.running, visibleName(t.last))
}

// maxToken is how many bytes of a client's token are repeated to it.
const maxToken = 1 << 10

// progressToken returns the token with which a client asked for progress, nil if it did not: a text or a number.
func progressToken(r *mcp.CallToolRequest) any {
	switch token := r.Params.GetProgressToken().(type) {
	case float64:
		return token
	case string:
		if len(token) <= maxToken {
			return token
		}
	}
	return nil
}

// report tells the client of a request what the call is doing, at once, when that changes, and from time to time, until stop is
// called; nothing is told after that. The number in a report is the call's age in seconds, which always grows.
func (c *call) report(ctx context.Context, r *mcp.CallToolRequest) (stop func()) {
	if progressToken(r) == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	told := c.tell(ctx, r, -1) // so that clients of short calls are told, too
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(c.gateway.times.progress)
		defer tick.Stop()
		for last := time.Now(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if time.Since(last) >= c.gateway.times.alive {
				told = -1
			}
			if now := c.tell(ctx, r, told); now != told {
				told, last = now, time.Now()
			}
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}

// tell sends a report unless the state is the one that was told last, and returns the version that has been told now.
func (c *call) tell(ctx context.Context, r *mcp.CallToolRequest, told int) int {
	version, text := c.tally.state()
	if version == told {
		return told
	}
	if text != "" {
		text = ", " + text
	}
	age := time.Since(c.began)
	_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // a client that has gone ends the request, too
		ProgressToken: progressToken(r),
		Progress:      age.Seconds(),
		Message:       fmt.Sprintf("%d s%s", int(age.Seconds()), text),
	})
	return version
}
