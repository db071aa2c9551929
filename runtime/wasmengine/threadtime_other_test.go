//go:build !linux

package wasmengine

import "time"

var started = time.Now()

// threadTime is the time of the clock: this system does not tell that of a thread.
func threadTime() time.Duration { return time.Since(started) }
