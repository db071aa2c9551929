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

// report tells the client of a request what the call is doing, until stop is called; nothing is told after that. The number in a
// report is the call's age in seconds, which always grows.
func (c *call) report(ctx context.Context, r *mcp.CallToolRequest) (stop func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(c.gateway.times.progress)
		defer tick.Stop()
		told, toldAt := 0, c.began
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			version, text := c.tally.state()
			if version == told && time.Since(toldAt) < c.gateway.times.alive {
				continue
			}
			told, toldAt = version, time.Now()
			age := time.Since(c.began)
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: age.Seconds(), Message: progressText(age, text),
			}); err != nil {
				return // the client has gone, or nearly
			}
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}

func progressText(age time.Duration, text string) string {
	if text != "" {
		text = ", " + text
	}
	return fmt.Sprintf("%d s%s", int(age.Seconds()), text)
}
