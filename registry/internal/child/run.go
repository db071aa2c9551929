package child

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits say what one run of a program gets and may produce.
type Limits struct {
	Input      []byte        // its standard input
	MaxOutput  int           // bytes of standard output
	StderrTail int           // bytes kept of the end of standard error
	Grace      time.Duration // between the termination signal and the kill
}

// Output is what a program that has ended leaves.
type Output struct {
	State  *os.ProcessState
	Stdout []byte
	Stderr string // the end of it, valid UTF-8
}

// ErrOutput means that a program printed more than it may; it has been ended.
var ErrOutput = errors.New("too much output")

// pipeGrace is for the rest of a dead program's output, which something outside of its group may hold open.
const pipeGrace = time.Second / 2

// Run runs a program to its end and returns when nothing of its group is left. When ctx ends or the output grows too large, the group is
// terminated, and killed after the grace; the error is then the context's or ErrOutput. What the program starts and leaves
// running does not survive it.
func Run(ctx context.Context, cmd *exec.Cmd, l Limits) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	var files [6]*os.File // read and write ends of the three streams
	defer func() { closeAll(files[:]...) }()
	for i := 0; i < len(files); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			return Output{}, err
		}
		files[i], files[i+1] = r, w
	}
	stdin, stdout, stderr := files[1], files[2], files[4]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
	p, err := Start(cmd)
	closeAll(files[0], files[3], files[5])
	if err != nil {
		return Output{}, err
	}
	out, tail := &capped{limit: l.MaxOutput, full: make(chan struct{})}, &ending{limit: l.StderrTail}
	var streams sync.WaitGroup
	streams.Go(func() {
		_, _ = stdin.Write(l.Input) // a program need not read its input
		_ = stdin.Close()
	})
	streams.Go(func() { _, _ = io.Copy(out, stdout) })
	streams.Go(func() { _, _ = io.Copy(tail, stderr) })
	err = supervise(ctx, p, out.full, l.Grace)
	drained := make(chan struct{})
	go func() {
		streams.Wait()
		close(drained)
	}()
	patience := time.NewTimer(pipeGrace)
	defer patience.Stop()
	select {
	case <-drained:
	case <-patience.C:
	}
	closeAll(stdin, stdout, stderr)
	<-drained
	if err == nil && out.over {
		err = ErrOutput
	}
	return Output{State: p.State(), Stdout: out.data, Stderr: tail.String()}, err
}

// supervise waits until the group is gone and ends it before its time if it has to.
func supervise(ctx context.Context, p *Process, full <-chan struct{}, grace time.Duration) error {
	select {
	case <-p.Exited():
		<-p.Gone()
		return nil
	case <-full:
		p.Stop(0, grace)
		return ErrOutput
	case <-ctx.Done():
		p.Stop(0, grace)
		return ctx.Err()
	}
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// capped keeps what it is given up to a limit; full is closed at the first byte beyond.
type capped struct {
	limit int
	data  []byte
	over  bool
	full  chan struct{}
}

func (c *capped) Write(p []byte) (int, error) {
	if c.over {
		return len(p), nil // drained, so that the program can see its signal and not block
	}
	if len(c.data)+len(p) > c.limit {
		c.over = true
		close(c.full)
		return len(p), nil
	}
	c.data = append(c.data, p...)
	return len(p), nil
}

// ending keeps the end of what it is given.
type ending struct {
	limit int
	data  []byte
}

func (e *ending) Write(p []byte) (int, error) {
	n := len(p)
	if len(p) > e.limit {
		p = p[len(p)-e.limit:]
	}
	if over := len(e.data) + len(p) - e.limit; over > 0 {
		e.data = append(e.data[:0], e.data[over:]...)
	}
	e.data = append(e.data, p...)
	return n, nil
}

func (e *ending) String() string {
	data := e.data
	for len(data) > 0 && len(e.data) == e.limit && !utf8.RuneStart(data[0]) {
		data = data[1:] // a character that was cut
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}
