// Command runcode runs programs that call tools: it reads the tools from manifests, MCP servers and flags, runs one TypeScript
// program against them in a sandbox, and prints what the program returned.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"
)

func main() { os.Exit(realMain()) }

// realMain runs the command in the surroundings of this process. Tests make surroundings of their own.
func realMain() int {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(interrupts, syscall.SIGHUP)
	}
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		stdinTerminal:  isatty.IsTerminal(os.Stdin.Fd()),
		stdoutTerminal: isatty.IsTerminal(os.Stdout.Fd()),
		stderrTerminal: isatty.IsTerminal(os.Stderr.Fd()),
		getenv:         os.Getenv,
		userCacheDir:   os.UserCacheDir,
		userConfigDir:  os.UserConfigDir,
		flushInput:     func() { flushTerminalInput(os.Stdin) },
		interrupts:     interrupts,
		exit:           os.Exit,
	}
	return a.main(os.Args[1:])
}
