package runtime

import (
	"fmt"
	"time"
)

// Limits are an engine's budgets for each run. A zero field is its default (BUDGET-1); there are no other tunables.
// In configuration files and messages the fields are computeMs, maxWallMs, maxOutputBytes and maxOldGenerationSizeMb.
type Limits struct {
	// Compute bounds measured busy time; default one minute.
	Compute time.Duration
	// Wall bounds the time from the start of a run to its settlement and never pauses; default ten minutes.
	Wall time.Duration
	// MaxOutput bounds logs plus value in bytes of compact JSON; default 64 MiB, at least 4.
	MaxOutput int64
	// Heap bounds the program's live heap in bytes; default 512 MiB. Without effect on goja (BUDGET-9).
	Heap int64
}

// Defaults and bounds of Limits.
const (
	DefaultCompute         = time.Minute
	DefaultWall            = 10 * time.Minute
	DefaultMaxOutput int64 = 64 << 20
	DefaultHeap      int64 = 512 << 20

	minOutput int64 = 4         // [] and ""
	maxOutput int64 = 1<<53 - 1 // what a JSON number holds exactly
	maxWall         = 2147483647 * time.Millisecond
)

// WithDefaults returns l with each zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	if l.Compute == 0 {
		l.Compute = DefaultCompute
	}
	if l.Wall == 0 {
		l.Wall = DefaultWall
	}
	if l.MaxOutput == 0 {
		l.MaxOutput = DefaultMaxOutput
	}
	if l.Heap == 0 {
		l.Heap = DefaultHeap
	}
	return l
}

// Validate reports the first field that no engine can take, by its configuration name (BUDGET-2). A zero field is its
// default, so it is valid.
func (l Limits) Validate() error {
	l = l.WithDefaults()
	switch {
	case l.Compute < 0:
		return fmt.Errorf("computeMs must be a positive number, got %s", milliseconds(l.Compute))
	case l.Wall < 0:
		return fmt.Errorf("maxWallMs must be a positive number, got %s", milliseconds(l.Wall))
	case l.Wall > maxWall:
		return fmt.Errorf("maxWallMs must be at most %s, got %s", milliseconds(maxWall), milliseconds(l.Wall))
	case l.MaxOutput < minOutput:
		return fmt.Errorf("maxOutputBytes must be an integer of at least %d, got %d", minOutput, l.MaxOutput)
	case l.MaxOutput > maxOutput:
		return fmt.Errorf("maxOutputBytes must be at most %d, got %d", maxOutput, l.MaxOutput)
	case l.Heap < 0:
		return fmt.Errorf("maxOldGenerationSizeMb must be a positive number, got %g", float64(l.Heap)/(1<<20))
	}
	return nil
}
