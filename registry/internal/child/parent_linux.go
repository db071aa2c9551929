package child

import (
	"os/exec"
	"syscall"
)

// followParent has the system terminate the program when the thread that starts it ends, which happens to all threads of a process
// that is killed and can clean up nothing. The signal is the one that can be handled: a program that runs others, as in containers,
// passes it on. What it has started itself has to notice the end of its input.
func followParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
}
