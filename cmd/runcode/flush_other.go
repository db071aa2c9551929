//go:build !linux && !darwin && !windows

package main

import "os"

// flushTerminalInput does nothing on systems whose terminals we do not know: the question itself still has to be answered.
func flushTerminalInput(*os.File) {}
