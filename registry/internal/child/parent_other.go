//go:build !linux

package child

import "os/exec"

// followParent does nothing: on Windows the job ends with us, and the other systems offer no signal for the end of a parent.
func followParent(*exec.Cmd) {}
