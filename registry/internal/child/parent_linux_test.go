package child

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const parentVariable = "CHILD_TEST_PARENT"

// TestParent is not a test but the parent in the one below, in a process of its own: it starts a program from a thread that ends at once,
// says so when that has happened, and never ends by itself.
func TestParent(t *testing.T) {
	if os.Getenv(parentVariable) == "" {
		t.Skip("the parent in another test")
	}
	thread := make(chan int)
	var p *Process
	begin := func() {
		goruntime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		cmd := shell("echo $$; exec sleep 300")
		cmd.Stdout = os.Stdout
		var err error
		if p, err = Start(cmd); err != nil {
			panic(err)
		}
		thread <- syscall.Gettid()
	}
	go func() {
		goruntime.LockOSThread()
		if syscall.Gettid() == os.Getpid() { // the main thread never ends: hold it
			go begin()
			select {}
		}
		begin()
	}()
	task := fmt.Sprintf("/proc/self/task/%d", <-thread)
	for {
		if _, err := os.Stat(task); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	select {
	case <-p.Exited():
		fmt.Println("ended")
	case <-time.After(300 * time.Millisecond): // for a signal on its way
		fmt.Println("alone")
	}
	select {}
}

func TestFollowParent(t *testing.T) {
	parent := exec.Command(os.Args[0], "-test.run=^TestParent$")
	parent.Env = append(os.Environ(), parentVariable+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = parent.Process.Kill()
		_ = parent.Wait()
	}()
	var pid int
	said := ""
	for lines := bufio.NewScanner(out); (pid == 0 || said == "") && lines.Scan(); {
		if _, err := fmt.Sscan(lines.Text(), &pid); err != nil {
			said = lines.Text()
		}
	}
	alive := func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && !strings.Contains(string(state), ") Z ")
	}
	if said != "alone" || !alive() {
		t.Fatalf("MCP-72 the program %d ended with the thread that asked for it", pid)
	}
	_ = parent.Process.Kill()
	for deadline := time.Now().Add(20 * time.Second); alive(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("MCP-72 the program outlives a parent that was killed")
		}
	}
}
