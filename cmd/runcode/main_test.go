package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"runcode":   func() { os.Exit(realMain()) },
		"mcpserver": mcpServer,
	})
}

// TestScripts runs the files of testdata/script: one behaviour a file, streams and exit status asserted separately.
func TestScripts(t *testing.T) {
	cache := t.TempDir() // shared, so that the engine is compiled once
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// exits STATUS PROGRAM [ARGS...] is exec for one exact exit status.
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exits STATUS PROGRAM [ARGS...]")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				err = ts.Exec(args[1], args[2:]...)
				var exit *exec.ExitError
				if errors.As(err, &exit) {
					got = exit.ExitCode()
				} else if err != nil {
					ts.Fatalf("%v", err)
				}
				if got != want {
					ts.Fatalf("exit status %d, want %d", got, want)
				}
			},
			// lines COUNT FILE wants that many lines.
			"lines": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 2 {
					ts.Fatalf("usage: lines COUNT FILE")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				text := ts.ReadFile(args[1])
				got := 0
				for _, b := range []byte(text) {
					if b == '\n' {
						got++
					}
				}
				if got != want {
					ts.Fatalf("%s has %d lines, want %d:\n%s", args[1], got, want, text)
				}
			},
		},
	})
}
