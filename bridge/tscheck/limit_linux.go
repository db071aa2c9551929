package tscheck

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// limitMemory bounds the address space of a native compiler: types can be written that take all the memory there is, sooner than its
// time is over. One that Node.js runs has a bound of its own.
func limitMemory(cmd *exec.Cmd, compiler *Compiler) {
	if compiler.Native {
		// A failure leaves what there is elsewhere: the time.
		_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: maxMemory, Max: maxMemory}, nil)
	}
}
