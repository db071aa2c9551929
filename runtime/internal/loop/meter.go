package loop

import (
	"sync"
	"time"
)

// meter measures the time in which the guest runs (BUDGET-3). Its methods are safe for concurrent use: the watchdog reads
// it while the run's goroutine starts and stops it.
type meter struct {
	mu      sync.Mutex
	used    time.Duration
	since   time.Time // when the guest was entered; zero while it does not run
	limit   time.Duration
	watch   *time.Timer // goes off no later than the limit can be reached
	armed   bool
	expired func() // called once, without the lock, when the limit is reached
}

// start says that the guest runs from now on.
func (m *meter) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.since = time.Now()
	m.arm()
}

// arm sets the watchdog for the earliest moment at which the limit can be reached. A watchdog that is set already is early
// enough: it looks again when it goes off.
func (m *meter) arm() {
	if m.armed {
		return
	}
	m.armed = true
	left := max(m.limit-m.used, 0)
	if m.watch == nil {
		m.watch = time.AfterFunc(left, m.look)
	} else {
		m.watch.Reset(left)
	}
}

// stop says that the guest does not run any more.
func (m *meter) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.since.IsZero() {
		m.used += time.Since(m.since)
		m.since = time.Time{}
	}
}

// look is the watchdog.
func (m *meter) look() {
	m.mu.Lock()
	m.armed = false
	over := m.over()
	if !over && !m.since.IsZero() {
		m.arm()
	}
	m.mu.Unlock()
	if over {
		m.expired()
	}
}

// over reports whether the limit is reached; the caller holds the lock.
func (m *meter) over() bool {
	used := m.used
	if !m.since.IsZero() {
		used += time.Since(m.since)
	}
	return used >= m.limit
}

// check reports whether the limit is reached.
func (m *meter) check() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over()
}

// total returns the time measured so far.
func (m *meter) total() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.since.IsZero() {
		return m.used
	}
	return m.used + time.Since(m.since)
}

// release takes the watchdog away.
func (m *meter) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.armed = true // nothing arms it again
	if m.watch != nil {
		m.watch.Stop()
	}
}
