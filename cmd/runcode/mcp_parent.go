package main

// This file defines how the gateway notices that the client that started it has died without closing its standard input: another
// child of the client may have inherited the other end (GATE-5).

import (
	"context"
	"errors"
	"time"
)

// parentEvery is how often the gateway looks for its parent.
const parentEvery = 2 * time.Second

// errOrphaned is the cause with which a dead parent ends the gateway.
var errOrphaned = errors.New("the client that started this command has died")

// watchParent cancels when this process has another parent than at the start. Systems that give an orphan no new parent never do.
func watchParent(getppid func() int, every time.Duration, cancel context.CancelCauseFunc) (stop func()) {
	parent := getppid()
	ticker := time.NewTicker(every)
	done := make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if getppid() != parent {
					cancel(errOrphaned)
					return
				}
			}
		}
	}()
	return func() { close(done) }
}
