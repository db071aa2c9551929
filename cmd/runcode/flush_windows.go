package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// flushTerminalInput throws away what has been typed but not yet read, so that a key pressed earlier answers no question. On
// anything but a console it does nothing.
func flushTerminalInput(f *os.File) { _ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
