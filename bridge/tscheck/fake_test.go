package tscheck

// This file is a compiler that fails in every way. It is this test's own program: a compiler is started as what it is told to be by the
// text of the program that it reads.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	switch {
	case slices.Contains(os.Args, "--api"):
		fakeServer()
	case slices.Contains(os.Args, "--project"):
		fakeOnce()
	default:
		os.Exit(m.Run())
	}
}

// fakeOnce is a compiler that is started for one program.
func fakeOnce() {
	text, _ := os.ReadFile(programFile)
	switch program := string(text); {
	case strings.Contains(program, "crash"):
		fmt.Fprintln(os.Stderr, "panic: out of order")
		os.Exit(7)
	case strings.Contains(program, "hog"):
		room := make([]byte, 2*maxMemory)
		room[len(room)-1] = 1
		os.Exit(int(room[0]))
	case strings.Contains(program, "garbage"):
		fmt.Println("hello")
	case strings.Contains(program, "elsewhere"):
		fmt.Println("sdk.d.ts(1,1): error TS2304: Cannot find name 'x'.\n  because\n" +
			"program.ts(1,1): error TS2304: Cannot find name 'async'.\nprogram.ts(99,1): error TS2304: Cannot find name 'x'.\nprogram.ts(2,1): error TS2304: Cannot find name 'elsewhere'.")
		os.Exit(2)
	case strings.Contains(program, "hang"):
		hang()
	case strings.Contains(program, "endless"):
		for {
			fmt.Println("program.ts(2,1): error TS2304: Cannot find name 'endless'.")
		}
	case strings.Contains(program, "folder"):
		folder, _ := os.Getwd()
		fmt.Printf("program.ts(2,1): error TS2304: %s %s\n", folder, strings.Join(os.Environ(), " "))
		os.Exit(1)
	}
	os.Exit(0)
}

// hang starts a child of its own and waits for ever.
func hang() {
	child, err := os.StartProcess("/bin/sleep", []string{"sleep", "600"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
	if err == nil {
		os.WriteFile(filepath.Join(os.Getenv("TMPDIR"), "child"), fmt.Append(nil, child.Pid), 0o600)
	}
	select {}
}

// fakeServer is a compiler that is kept running.
func fakeServer() {
	in := bufio.NewReader(os.Stdin)
	s := &server{out: in, in: os.Stdout}
	count := 0
	for {
		m, err := s.receive()
		if err != nil {
			if os.Getenv("TMPDIR") != "" {
				os.WriteFile(filepath.Join(os.Getenv("TMPDIR"), "left"), nil, 0o600)
			}
			os.Exit(0)
		}
		reply := func(result any) { s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}) }
		switch m.Method {
		case "initialize":
			reply(map[string]any{})
		case "updateSnapshot":
			reply(map[string]any{"snapshot": "s", "projects": []map[string]any{{"id": "p"}}})
		case "release":
			s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": 1, "message": "no"}})
		case "getSemanticDiagnostics":
			count++
			s.send(map[string]any{"jsonrpc": "2.0", "id": "ask", "method": "readFile", "params": virtual + "/" + programFile})
			answer, _ := s.receive()
			var file struct{ Content string }
			json.Unmarshal(answer.Result, &file)
			switch program := file.Content; {
			case strings.Contains(program, "crash"), strings.Contains(program, "second") && count == 2:
				fmt.Fprintln(os.Stderr, "panic: out of order")
				os.Exit(7)
			case strings.Contains(program, "hang"):
				hang()
			case strings.Contains(program, "garbage"):
				fmt.Print("Content-Length: 5\r\n\r\nhello")
			case strings.Contains(program, "long"):
				fmt.Print("Content-Length: 99999999999\r\n\r\n")
			case strings.Contains(program, "header"):
				io.WriteString(os.Stdout, strings.Repeat("x", 1<<20))
			case strings.Contains(program, "refuse"):
				s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": 1, "message": "no such thing"}})
			case strings.Contains(program, "odd"):
				reply("a text")
			case strings.Contains(program, "slow"):
				time.Sleep(50 * time.Millisecond)
				fallthrough
			default:
				reply([]map[string]any{
					{"pos": len(head), "code": 2304, "category": 1, "text": fmt.Sprintf("check %d of process %d", count, os.Getpid())},
					{"pos": 0, "code": 2304, "category": 1, "text": "before the program"},
					{"pos": 1 << 30, "code": 2304, "category": 1, "text": "behind it"},
					{"pos": len(head), "code": 2304, "category": 0, "text": "a warning"},
				})
			}
		}
	}
}

// fake returns the compiler of this file.
func fake(t *testing.T) *Compiler {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/bin/sleep"); err != nil {
		t.Skip("no /bin/sleep")
	}
	t.Setenv("TMPDIR", t.TempDir())
	return &Compiler{Path: path, Version: "7.0.0", Native: true}
}

var bothWays = map[string]bool{"once": false, "warm": true}

func TestFaults(t *testing.T) {
	for how, warm := range bothWays {
		for _, c := range []struct {
			program string
			want    string // in the log
			only    string
		}{
			{"crash", "out of order", ""},
			{"garbage", "", ""},
			{"hog", "fatal error: ", "linux"}, // what stands before differs between builds
			{"long", "announces a message of 99999999999 bytes", "warm"},
			{"header", "buffer full", "warm"},
			{"refuse", "no such thing", "warm"},
			{"odd", "is not understood", "warm"},
		} {
			if c.only == "warm" && !warm || c.only == "linux" && (warm || goruntime.GOOS != "linux") {
				continue
			}
			t.Run("GATE-7 a compiler that fails changes nothing: "+how+" "+c.program, func(t *testing.T) {
				var log logged
				checker := newChecker(t, Options{Compiler: fake(t), Warm: warm, Logger: log.logger()})
				if f := checker.Check(t.Context(), request(c.program, nil), nil); f != nil {
					t.Errorf("refused: %v", f)
				}
				if text := log.String(); strings.Count(text, "the program runs without a type check") != 1 || !strings.Contains(text, c.want) {
					t.Errorf("logged %s", text)
				}
			})
		}
		t.Run("GATE-7 one that does not answer is killed with what it started: "+how, func(t *testing.T) {
			var log logged
			checker := newChecker(t, Options{Compiler: fake(t), Warm: warm, Timeout: 2 * time.Second, Logger: log.logger()})
			if f := checker.Check(t.Context(), request("hang", nil), nil); f != nil {
				t.Errorf("refused: %v", f)
			}
			if text := log.String(); !strings.Contains(text, "did not answer within 2s") {
				t.Errorf("logged %s", text)
			}
			gone(t)
		})
		t.Run("GATE-7 the end of the run ends the check, and is no fault: "+how, func(t *testing.T) {
			var log logged
			checker := newChecker(t, Options{Compiler: fake(t), Warm: warm, Logger: log.logger()})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for t.Context().Err() == nil && ctx.Err() == nil {
					if text, _ := os.ReadFile(filepath.Join(os.Getenv("TMPDIR"), "child")); len(text) > 0 {
						cancel()
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
			defer cancel()
			if f := checker.Check(ctx, request("hang", nil), nil); f != nil {
				t.Errorf("refused: %v", f)
			}
			if log.String() != "" {
				t.Errorf("logged %s", log.String())
			}
			gone(t)
		})
		t.Run("GATE-7 one that is not there changes nothing: "+how, func(t *testing.T) {
			var log logged
			checker := newChecker(t, Options{Compiler: &Compiler{Path: filepath.Join(t.TempDir(), "none"), Native: true}, Warm: warm, Logger: log.logger()})
			if f := checker.Check(t.Context(), request("return 1", nil), nil); f != nil || !strings.Contains(log.String(), "cannot be started") {
				t.Errorf("%v, logged %s", f, log.String())
			}
		})
	}
	t.Run("GATE-7 without a compiler nothing changes", func(t *testing.T) {
		var log logged
		checker := newChecker(t, Options{Logger: log.logger()})
		if f := checker.Check(t.Context(), request("nothing.here()", nil), nil); f != nil || !strings.Contains(log.String(), "no TypeScript compiler") {
			t.Errorf("%v, logged %s", f, log.String())
		}
	})
	t.Run("GATE-7 an endless answer is bounded", func(t *testing.T) {
		checker := newChecker(t, Options{Compiler: fake(t), Timeout: 500 * time.Millisecond, Logger: (&logged{}).logger()})
		if f := checker.Check(t.Context(), request("endless", nil), nil); f != nil {
			t.Errorf("%v", f)
		}
	})
	t.Run("GATE-7 what is said of other texts than the program does not count", func(t *testing.T) {
		f := try(t, t.Context(), newChecker(t, Options{Compiler: fake(t)}), request("elsewhere()", nil), nil)
		if f == nil || f.Message != "type error: program.ts:1:1: Cannot find name 'elsewhere'. The program has tools" {
			t.Error(f)
		}
	})
	t.Run("GATE-7 a folder for the time being, and no secrets", func(t *testing.T) {
		t.Setenv("SOME_SECRET_KEY", "s3cret")
		compiler := fake(t)
		c, err := newChecker(t, Options{Compiler: compiler}).newProgramOf(t, "folder")
		if err != nil {
			t.Fatal(err)
		}
		found, err := once(t.Context(), compiler, c)
		if err != nil || len(found) != 1 || !strings.HasPrefix(found[0].text, os.Getenv("TMPDIR")) || strings.Contains(found[0].text, "s3cret") {
			t.Fatalf("%+v %v", found, err)
		}
		if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); len(left) != 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

func (c *Checker) newProgramOf(t *testing.T, text string) (*program, error) {
	code, failure := c.code.Transform(t.Context(), text, true)
	if failure != nil {
		t.Fatal(failure)
	}
	return c.newProgram(code, request(text, nil), nil)
}

// gone waits for the end of the child that hang started.
func gone(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("TMPDIR"), "child"))
	if err != nil {
		t.Fatal("it was not even started: ", err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		state, err := os.ReadFile("/proc/" + string(text) + "/stat")
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
	}
	t.Errorf("process %s is still there", text)
}

// told is which check of which process answered.
func told(t *testing.T, c *Checker, program string) (check, process int) {
	t.Helper()
	p, err := c.newProgramOf(t, program)
	if err != nil {
		t.Fatal(err)
	}
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	found, err := c.diagnose(t.Context(), p)
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v %v", found, err)
	}
	fmt.Sscanf(found[0].text, "check %d of process %d", &check, &process)
	return check, process
}

func TestWarm(t *testing.T) {
	t.Run("GATE-7 one compiler serves many checks", func(t *testing.T) {
		c := newChecker(t, Options{Compiler: fake(t), Warm: true})
		_, first := told(t, c, "a")
		if n, second := told(t, c, "b"); n != 2 || second != first {
			t.Errorf("check %d of %d, the first was of %d", n, second, first)
		}
	})
	t.Run("GATE-7 one that dies is replaced, and the check is made", func(t *testing.T) {
		c := newChecker(t, Options{Compiler: fake(t), Warm: true})
		_, first := told(t, c, "second")
		if n, second := told(t, c, "second; too"); n != 1 || second == first {
			t.Errorf("check %d of %d, the first was of %d", n, second, first)
		}
	})
	t.Run("GATE-7 one that dies of every program is not tried for ever", func(t *testing.T) {
		var log logged
		c := newChecker(t, Options{Compiler: fake(t), Warm: true, Logger: log.logger()})
		told(t, c, "a")
		c.Check(t.Context(), request("crash", nil), nil)
		if n, _ := told(t, c, "b"); n != 1 || strings.Count(log.String(), "without a type check") != 1 {
			t.Errorf("check %d, logged %s", n, log.String())
		}
	})
	t.Run("GATE-7 after many checks it is replaced", func(t *testing.T) {
		c := newChecker(t, Options{Compiler: fake(t), Warm: true})
		_, first := told(t, c, "a")
		c.warm.checks = maxChecks - 1
		told(t, c, "b")
		if _, second := told(t, c, "c"); second == first {
			t.Error("it was not")
		}
	})
	t.Run("GATE-7 a script is started for each program", func(t *testing.T) {
		compiler := *fake(t)
		compiler.Native = false
		c := newChecker(t, Options{Compiler: &compiler, Warm: true})
		if f := try(t, t.Context(), c, request("elsewhere()", nil), nil); f == nil {
			t.Error("it was talked to")
		}
	})
	t.Run("GATE-7 checks are made one at a time", func(t *testing.T) {
		c := newChecker(t, Options{Compiler: fake(t), Warm: true})
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Go(func() {
				name := fmt.Sprintf("slow%d", i)
				if f := try(t, t.Context(), c, request(name, nil), nil); f == nil || !strings.Contains(f.Message, "'"+name+"'") {
					t.Errorf("%s: %v", name, f)
				}
			})
		}
		wait.Wait()
		if n, _ := told(t, c, "a"); n != 9 {
			t.Errorf("check %d", n)
		}
	})
	t.Run("GATE-7 who waits for others waits no longer than for the compiler", func(t *testing.T) {
		var log logged
		c := newChecker(t, Options{Compiler: fake(t), Warm: true, Timeout: 300 * time.Millisecond, Logger: log.logger()})
		c.turn <- struct{}{}
		if f := c.Check(t.Context(), request("a", nil), nil); f != nil || !strings.Contains(log.String(), "did not answer within 300ms") {
			t.Errorf("%v, logged %s", f, log.String())
		}
		<-c.turn
	})
	t.Run("GATE-7 Close ends it, and later programs pass", func(t *testing.T) {
		var log logged
		c := newChecker(t, Options{Compiler: fake(t), Warm: true, Logger: log.logger()})
		told(t, c, "a")
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(os.Getenv("TMPDIR"), "left")); err != nil {
			t.Error("it did not leave by itself: ", err)
		}
		c.Close()
		if f := c.Check(t.Context(), request("a", nil), nil); f != nil || !strings.Contains(log.String(), "closed") {
			t.Errorf("%v, logged %s", f, log.String())
		}
	})
	t.Run("options are validated", func(t *testing.T) {
		if _, err := New(Options{Timeout: -1}); err == nil || !strings.Contains(err.Error(), "Timeout") {
			t.Error(err)
		}
	})
}
