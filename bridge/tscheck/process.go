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

// maxMemory is how many bytes of address space a native compiler gets, where the system can say so.
const maxMemory = 4 << 30

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

// beginning keeps the first bytes of what is written to it: where a program says why it fails. It is safe for concurrent use.
type beginning struct {
	mu   sync.Mutex
	text []byte
}

const beginningBytes = 1 << 10

func (b *beginning) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p[:min(len(p), beginningBytes-len(b.text))]...)
	return len(p), nil
}

func (b *beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(b.text), "\ufffd"))
}
