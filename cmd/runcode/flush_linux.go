package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushTerminalInput throws away what has been typed but not yet read, so that a key pressed earlier answers no question. On
// anything but a terminal it does nothing.
func flushTerminalInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
