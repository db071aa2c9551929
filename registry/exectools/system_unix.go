//go:build unix && !linux

package exectools

import (
	"os"
	"syscall"
)

const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// refuseSystem has nothing to refuse: these systems do not show the kernel's state as files, or not below an ordinary folder.
func refuseSystem(*os.File) error { return nil }
