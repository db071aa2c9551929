package main

// This file defines what a run shows on standard error while it goes on: its log entries as they come, and on a terminal a
// status line between them (CLI-5).

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/runcode-go/runcode/bridge"
)

// statusAfter is how long a run may last before the status line shows up.
const statusAfter = 500 * time.Millisecond

const (
	statusEvery = 100 * time.Millisecond
	statusWidth = 78
	eraseLine   = "\r\x1b[K"
)

// progress writes to standard error on behalf of one run. Its methods are safe for concurrent use.
type progress struct {
	mu      sync.Mutex
	w       io.Writer
	text    func(string) string // makes foreign text safe for w
	start   time.Time
	shown   bool
	held    bool              // a question is on the screen
	running map[string]string // sub-call id to tool
	done    int
	current string

	stop    chan struct{}
	ended   sync.Once
	stopped sync.WaitGroup
}

// newProgress starts the clock. live says whether there is a terminal that wants a status line.
func newProgress(w io.Writer, text func(string) string, live bool) *progress {
	p := &progress{w: w, text: text, start: time.Now(), running: make(map[string]string), stop: make(chan struct{})}
	if live {
		p.stopped.Go(p.loop)
	}
	return p
}

func (p *progress) loop() {
	wait := time.NewTimer(statusAfter)
	defer wait.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-wait.C:
			p.mu.Lock()
			if !p.held {
				p.draw()
			}
			p.mu.Unlock()
			wait.Reset(statusEvery)
		}
	}
}

// draw shows the line; p.mu is held.
func (p *progress) draw() {
	line := fmt.Sprintf("%.1f s · %d done, %d running", time.Since(p.start).Seconds(), p.done, len(p.running))
	if len(p.running) > 0 {
		line += " · " + strings.ReplaceAll(escapeInvisible(p.current), "\n", " ")
	}
	if runes := []rune(line); len(runes) > statusWidth {
		line = string(runes[:statusWidth-1]) + "…"
	}
	fmt.Fprint(p.w, eraseLine+line)
	p.shown = true
}

// erase takes the line away; p.mu is held.
func (p *progress) erase() {
	if p.shown {
		fmt.Fprint(p.w, eraseLine)
		p.shown = false
	}
}

// log writes one log entry, on lines of its own.
func (p *progress) log(entry string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	entry = p.text(entry)
	if !strings.HasSuffix(entry, "\n") {
		entry += "\n"
	}
	io.WriteString(p.w, entry)
}

func (p *progress) event(e bridge.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case *bridge.DispatchStart:
		p.running[e.SubCallID] = e.Name
		p.current = e.Name
	case *bridge.Dispatch:
		delete(p.running, e.SubCallID)
		p.done++
		for _, name := range p.running {
			p.current = name
			break
		}
	}
}

// hold keeps the status line off the screen until release is called.
func (p *progress) hold() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.held = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = false
	}
}

// end takes the status line away for good. It may be called again.
func (p *progress) end() {
	p.ended.Do(func() { close(p.stop) })
	p.stopped.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}
