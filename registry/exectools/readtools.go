package exectools

import (
	"context"
	"errors"
	"io"

	"github.com/runcode-go/runcode/registry"
)

// ReadFiles returns the tools read_file, list_dir, stat, glob and grep for the files below dir ("" is the working folder), and what
// closes the folder when they are no longer used. They only read, may run at the same time, and reach nothing outside of dir: see
// CLI-2.
func ReadFiles(dir string) ([]registry.Definition, io.Closer, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	tools, err := f.readTools()
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return tools, f, nil
}

func (f *folder) readTools() ([]registry.Definition, error) {
	var c collector
	c.add(registry.Define(f.readFileSpec()))
	c.add(registry.Define(f.listDirSpec()))
	c.add(registry.Define(f.statSpec()))
	c.add(registry.Define(f.globSpec()))
	c.add(registry.Define(f.grepSpec()))
	return c.tools, c.err
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
