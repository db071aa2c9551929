package exectools

import (
	"context"
	"errors"
	"io"

	"github.com/runcode-go/runcode/registry"
)

// ReadFiles returns the tools read_file, list_dir, stat, glob and grep for the files below dirs (none is the working folder), and what
// closes the folders when they are no longer used. They only read, may run at the same time, and reach nothing outside: see CLI-2.
//
// Paths are relative to the one folder. With several folders, each lies at the top under its own name, as if they were neighbours:
// ReadFiles("src", "/data/docs") has src/main.ts and docs/index.md. A name that is there already gets a number.
func ReadFiles(dirs ...string) ([]registry.Definition, io.Closer, error) {
	s, err := openSpace(dirs)
	if err != nil {
		return nil, nil, err
	}
	var c collector
	c.add(registry.Define(s.readFileSpec()))
	c.add(registry.Define(s.listDirSpec()))
	c.add(registry.Define(s.statSpec()))
	c.add(registry.Define(s.globSpec()))
	c.add(registry.Define(s.grepSpec()))
	return c.close(s)
}

// collector gathers definitions and their errors.
type collector struct {
	tools []registry.Definition
	err   error
}

func (c *collector) add(d registry.Definition, err error) {
	c.tools = append(c.tools, d)
	c.err = errors.Join(c.err, err)
}

// close returns what was gathered, or closes what it needs.
func (c *collector) close(closer io.Closer) ([]registry.Definition, io.Closer, error) {
	if c.err != nil {
		_ = closer.Close()
		return nil, nil, c.err
	}
	return c.tools, closer, nil
}

// fileToolBudget is the budget of one call in milliseconds: a search over a large tree takes its time.
const fileToolBudget = 120_000

func always[A any](A) bool { return true }

// deref is what an optional argument means.
func deref[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

// cancelled turns the end of a context into the failure that the pipeline knows.
func cancelled(ctx context.Context) error {
	if ctx.Err() != nil {
		return errAborted()
	}
	return nil
}
