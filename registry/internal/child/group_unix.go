//go:build unix

package child

import (
	"errors"
	"os/exec"
	"syscall"
)

type group struct{ id int }

func prepare(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

func newGroup(cmd *exec.Cmd) group { return group{id: cmd.Process.Pid} }

func (g group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }
func (g group) kill()      { _ = syscall.Kill(-g.id, syscall.SIGKILL) }
func (g group) release()   {}

// alive also holds for members that nobody has reaped yet: the system offers no cheap way to tell.
func (g group) alive() bool { return !errors.Is(syscall.Kill(-g.id, 0), syscall.ESRCH) }
