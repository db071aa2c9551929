//go:build !linux

package tscheck

import "os/exec"

// limitMemory does nothing: other systems cannot set the limits of a process that has started.
func limitMemory(*exec.Cmd, *Compiler) {}
