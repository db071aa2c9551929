package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/runcode-go/runcode/bridge/tscheck"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"runcode":   func() { os.Exit(realMain()) },
		"mcpserver": mcpServer,
		"mcpclient": mcpClient,
		"xdg-open":  visit,
		"open":      visit,

		"drillserver":  drillServer,
		"replayserver": replayServer,
		"mcpfixture":   mcpFixture,
		"suiteclient":  suiteClient,
	})
}

// TestScripts runs the files of testdata/script: one behaviour a file, streams and exit status asserted separately.
func TestScripts(t *testing.T) {
	cache := t.TempDir() // shared, so that the engine is compiled once
	tsc := nativeCompiler(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("TSC", tsc)
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Condition: func(condition string) (bool, error) {
			if condition == "tsc" { // a native TypeScript compiler, whose path is $TSC
				return tsc != "", nil
			}
			return false, fmt.Errorf("no condition %q", condition)
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

// nativeCompiler returns the path of a native TypeScript compiler, or nothing.
func nativeCompiler(t *testing.T) string {
	t.Helper()
	c, err := tscheck.Find(t.Context(), tscheck.Search{Folder: "../../testdata/servers", Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	if c == nil || !c.Native {
		return ""
	}
	return c.Path
}
