package main

// This file shows that a program with a mistake that its types give away is refused before any tool of a real server was called.

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The first call is right and would leave a trace; the second has an argument by a wrong name, on the program's third line.
const (
	mistaken = `await tools.mcp__memory__create_entities({ entities: [{ name: "boat", entityType: "thing", observations: [] }] });

const log = await tools.mcp__git__git_log({ maxcount: 1 });
return log.structuredContent.commits.length;`
	mended = `await tools.mcp__memory__create_entities({ entities: [{ name: "boat", entityType: "thing", observations: [] }] });

const log = await tools.mcp__git__git_log({ maxCount: 1, path: (await tools.mcp__files__list_allowed_directories({})).content[0].text.split("\n")[1] });
return log.structuredContent.commits.length;`
)

func TestRealTypeCheck(t *testing.T) {
	t.Parallel()
	node := needServers(t, append(workPackages, "typescript")...)
	tsc := nativeCompiler(t)
	if tsc == "" {
		missing(t, "the npm package typescript has no native compiler for this platform")
	}
	p := newPlace(t, node, "RUNCODE_TSC="+tsc)
	folder := newRepository(t, p)
	p = p.with("WORK=" + folder)
	trace := filepath.Join(folder, ".git/memory.jsonl")

	refused := func(t *testing.T, message string) {
		t.Helper()
		for _, want := range []string{"type error: program.ts:3:45", "'maxcount'", "'maxCount'"} {
			if !strings.Contains(message, want) {
				t.Errorf("the refusal lacks %q:\n%s", want, message)
			}
		}
		if _, err := os.Stat(trace); err == nil {
			t.Error("a tool was called before the program was refused")
		}
	}
	t.Run("GATE-7 the gateway refuses a wrong argument name with the line and the right name, and no tool was called", func(t *testing.T) {
		session := p.gateway(t, "--mcp", workConfig)
		got, result := runGateway(t, session, mistaken)
		if !result.IsError {
			t.Errorf("it ran, and returned %v", got.Value)
		}
		refused(t, got.Error)

		got, _ = runGateway(t, session, mended)
		same(t, "the outcome of the mended program", got, outcome{Value: 1.0, Logs: []string{}})
		if _, err := os.Stat(trace); err != nil {
			t.Errorf("the mended program left no trace: %v", err)
		}
	})
	t.Run("GATE-7 with --no-check it runs until the server refuses the argument", func(t *testing.T) {
		if err := os.RemoveAll(trace); err != nil {
			t.Fatal(err)
		}
		got, result := runGateway(t, p.gateway(t, "--mcp", workConfig, "--no-check"), mistaken)
		if !result.IsError || strings.Contains(got.Error, "type error") {
			t.Errorf("expected an error of the git server, got %q", got.Error)
		}
		if _, err := os.Stat(trace); err != nil {
			t.Errorf("the first call left no trace: %v", err)
		}
	})
	t.Run("GATE-7 run --check refuses it too, and reports no call", func(t *testing.T) {
		if err := os.RemoveAll(trace); err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(t.TempDir(), "mistaken.ts")
		if err := os.WriteFile(program, []byte(mistaken), 0o600); err != nil {
			t.Fatal(err)
		}
		got, calls := p.runCommand(t, workConfig, program, "--check")
		refused(t, got.Error)
		same(t, "the calls", calls, map[string]int{})
	})
}
