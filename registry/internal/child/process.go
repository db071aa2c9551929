package child

import (
	"os"
	"os/exec"
	goruntime "runtime"
	"sync"
	"time"
)

// sweepPatience is how long what a leader has left behind in its group may take to follow a termination signal.
const sweepPatience = 2 * time.Second

// A Process is a started program and the group that it leads. Its methods are safe for concurrent use.
type Process struct {
	group    group
	exited   chan struct{} // the leader was reaped
	gone     chan struct{} // and nothing of its group is left
	state    *os.ProcessState
	stopping sync.Once
}

// Start starts cmd as the leader of a new group. The streams of cmd must be nil or *os.File: anything else would make the wait
// for the leader wait for everybody who inherited the stream. The files stay the caller's.
func Start(cmd *exec.Cmd) (*Process, error) {
	prepare(cmd)
	followParent(cmd)
	p := &Process{exited: make(chan struct{}), gone: make(chan struct{})}
	started := make(chan error)
	go p.live(cmd, started)
	if err := <-started; err != nil {
		return nil, reason(err)
	}
	return p, nil
}

// live starts the program and is there until it is gone. For followParent the thread that starts it must not end before it; the one
// that waits for it is busy just as long.
func (p *Process) live(cmd *exec.Cmd, started chan<- error) {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.group = newGroup(cmd)
	started <- nil
	defer close(p.gone)
	defer p.group.release()
	_ = cmd.Wait() // the state says all that its error does
	p.state = cmd.ProcessState
	close(p.exited)
	p.sweep()
}

// sweep ends what the leader has left behind. Between the reaping and the first signal the number of an empty group could be taken
// by a new one only if all process numbers were used up in that instant.
func (p *Process) sweep() {
	if !p.group.alive() {
		return
	}
	p.group.terminate()
	for deadline := time.Now().Add(sweepPatience); time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		if !p.group.alive() {
			return
		}
	}
	p.group.kill()
}

// Exited is closed when the program itself has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when the program has ended and what it had started in its group has been ended too.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// State says how the program ended; nil before Exited is closed.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.exited:
		return p.state
	default:
		return nil
	}
}

// Stop ends the group: it gives the program patience to leave by itself (after the caller closed its input), then sends a
// termination signal, waits for grace, and kills. It returns when the group is gone. Only the first call acts; all wait.
func (p *Process) Stop(patience, grace time.Duration) {
	p.stopping.Do(func() {
		if p.left(patience) {
			return
		}
		p.group.terminate()
		if p.left(grace) {
			return
		}
		p.group.kill()
	})
	<-p.gone
}

func (p *Process) left(within time.Duration) bool {
	if within <= 0 {
		select {
		case <-p.exited:
			return true
		default:
			return false
		}
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}
