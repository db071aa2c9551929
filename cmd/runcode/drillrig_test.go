//go:build unix

package main

// This file is the rig of the drills: a folder with the configuration of servers, the real command as a process in it, and the check
// that nothing of all that is left afterwards.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// drillPatience is the net under everything that a drill waits for. Nothing is measured by it.
const drillPatience = 3 * time.Minute

// drill is one exercise: a folder, and a mark in the environment of every process that has to do with it.
type drill struct {
	t     testing.TB
	dir   string
	mark  string
	cache string
}

const markVariable = "DRILL_MARK"

// newDrill makes a drill. cache is where the command keeps its compiled engine, for all drills of a test. When the test ends, no process
// of it may be left.
func newDrill(t testing.TB, cache string) *drill {
	t.Helper()
	d := &drill{t: t, dir: t.TempDir(), cache: cache}
	d.mark = markVariable + "=" + d.dir
	t.Cleanup(d.nothingLeft)
	return d
}

// drillEntry is an entry of the configuration: how the drill server behaves, and further members of the entry.
type drillEntry struct {
	modes []string
	more  map[string]any
}

// configure writes the configuration: a healthy server "good" and the given ones.
func (d *drill) configure(servers map[string]drillEntry) {
	d.t.Helper()
	entries := map[string]any{"good": map[string]any{"command": "drillserver"}}
	for name, s := range servers {
		entry := map[string]any{"command": "drillserver", "args": slices.Concat([]string{}, s.modes)}
		for key, value := range s.more {
			entry[key] = value
		}
		entries[name] = entry
	}
	text, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		d.t.Fatal(err)
	}
	d.write("servers.json", string(text))
}

func (d *drill) path(name string) string { return filepath.Join(d.dir, name) }

func (d *drill) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(d.path(name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// drillProcess is the command while it runs.
type drillProcess struct {
	*exec.Cmd
	out, err bytes.Buffer // whole only after the end
	waited   chan struct{}
}

// command prepares the real command.
func (d *drill) command(args ...string) *exec.Cmd {
	cmd := exec.Command("runcode", args...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), d.mark, "XDG_CACHE_HOME="+d.cache, "HOME="+d.dir, "XDG_CONFIG_HOME="+d.path("config"))
	return cmd
}

// start starts the command with streams that are kept.
func (d *drill) start(args ...string) *drillProcess {
	d.t.Helper()
	p := &drillProcess{Cmd: d.command(args...), waited: make(chan struct{})}
	p.Stdout, p.Stderr = &p.out, &p.err
	p.WaitDelay = 10 * time.Second // a server that holds our standard error open must not hold us
	if err := p.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		_ = p.Wait()
		close(p.waited)
	}()
	return p
}

// ended waits for the end of the command and returns its exit status, -1 for a signal.
func (d *drill) ended(p *drillProcess) int {
	d.t.Helper()
	select {
	case <-p.waited:
		return p.ProcessState.ExitCode()
	case <-time.After(drillPatience):
		_ = p.Process.Kill()
		<-p.waited
		d.t.Fatalf("the command did not end\nstandard output %s\nstandard error %s", &p.out, &p.err)
		return 0
	}
}

// drillAnswer is what one run of a program gave.
type drillAnswer struct {
	status   int
	value    string // JSON
	failure  string // the message of the program's failure
	stderr   string
	resident int64 // the most memory it had, in bytes
}

// run runs a program against the configured servers.
func (d *drill) run(program string, flags ...string) drillAnswer {
	d.t.Helper()
	d.write("program.ts", program)
	p := d.start(append([]string{"run", "--json", "--mcp", "servers.json", "program.ts"}, flags...)...)
	a := drillAnswer{status: d.ended(p), stderr: p.err.String(), resident: resident(p.ProcessState)}
	var report struct {
		Value json.RawMessage
		Error struct{ Message string }
	}
	if err := json.Unmarshal(p.out.Bytes(), &report); err != nil {
		d.t.Fatalf("standard output is not the report: %v\n%s\nstandard error %s", err, &p.out, &p.err)
	}
	a.value, a.failure = string(report.Value), report.Error.Message
	return a
}

// resident is the most memory that a process had, in bytes.
func resident(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if goruntime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}

// is fails unless the program returned the value.
func (a drillAnswer) is(t *testing.T, value string) {
	t.Helper()
	if a.status != 0 || a.value != value {
		t.Errorf("status %d, value %s, failure %q, want %s\n%s", a.status, a.value, a.failure, value, a.stderr)
	}
}

// eventually waits for something to become true.
func (d *drill) eventually(what string, is func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(drillPatience); !is(); {
		if time.Now().After(deadline) {
			d.t.Fatalf("never: %s; processes %s", what, d.processes())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (d *drill) exists(name string) bool {
	_, err := os.Stat(d.path(name))
	return err == nil
}

// nothingLeft fails if a process with the drill's mark outlives it.
func (d *drill) nothingLeft() {
	left := d.processes()
	for deadline := time.Now().Add(drillPatience); len(left) > 0 && time.Now().Before(deadline); left = d.processes() {
		time.Sleep(10 * time.Millisecond)
	}
	for _, p := range left {
		d.t.Errorf("left behind: %s", p)
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

type drillMarked struct {
	pid  int
	line string
}

func (m drillMarked) String() string { return fmt.Sprintf("%d %s", m.pid, m.line) }

// processes returns the living processes with the drill's mark. Only Linux shows the environment of others; elsewhere it finds none.
func (d *drill) processes() []drillMarked {
	var list []drillMarked
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		environ, err := os.ReadFile(filepath.Join(folder, "environ")) // empty for the dead that nobody has reaped
		if err != nil {
			continue
		}
		// The compiler gets hardly any of the environment, but HOME.
		if all := strings.Split(string(environ), "\x00"); !slices.Contains(all, d.mark) && !slices.Contains(all, "HOME="+d.dir) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(folder))
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		list = append(list, drillMarked{pid, strings.ReplaceAll(string(line), "\x00", " ")})
	}
	return list
}
