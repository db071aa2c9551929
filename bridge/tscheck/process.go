package tscheck

// This file defines how a compiler is started: in a process group of its own, with as little of the environment as it needs, killed
// with its group when its time is over.

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// kept are the variables that a compiler, or the Node.js that runs one, may need. No secret has such a name.
var kept = []string{"PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SystemRoot", "SYSTEMROOT", "PATHEXT"}

// command prepares a program that is killed with everything that it started when ctx ends.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	for _, name := range kept {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be the whole environment
	}
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = time.Second
	return cmd
}

// tail keeps the last bytes of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 1 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-tailBytes):]...)
	t.text = append([]byte(nil), t.text[max(0, len(t.text)-tailBytes):]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.text), "\ufffd"))
}
