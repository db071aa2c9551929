package gateway

import "time"

// times are the intervals that no option sets. Tests shorten them.
type times struct {
	quiet    time.Duration // without a change of the registry: a burst has settled
	settle   time.Duration // how long a burst that does not settle is waited for
	notify   time.Duration // for a client to take what it is told
	progress time.Duration // between two reports of progress, at least
	alive    time.Duration // between two when nothing happens
	parked   time.Duration // how long a run waits for its client to come back with an answer
}

var defaultTimes = times{
	quiet: 100 * time.Millisecond, settle: time.Second, notify: 10 * time.Second,
	progress: 500 * time.Millisecond, alive: 5 * time.Second, parked: 5 * time.Minute,
}
