package exectools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
)

// WriteFiles returns the tools write_file, edit_file, move and remove for what lies below dirs, and what closes the folders when they are no
// longer used. Paths are those of [ReadFiles]. The tools reach nothing outside and follow no links. They never touch a .git, nor what
// protected names: files, or folders with all that is in them, whether they exist yet or not (CLI-2).
func WriteFiles(dirs, protected []string) ([]registry.Definition, io.Closer, error) {
	guard, err := newProtection(protected)
	if err != nil {
		return nil, nil, err
	}
	s, err := openSpace(dirs)
	if err != nil {
		return nil, nil, err
	}
	w := &writers{space: s, protection: guard}
	var c collector
	c.err = w.check()
	c.add(registry.Define(w.writeFileSpec()))
	c.add(registry.Define(w.editFileSpec()))
	c.add(registry.Define(w.moveSpec()))
	c.add(registry.Define(w.removeSpec()))
	return c.close(s)
}

// writers are the folders that may be changed.
type writers struct {
	*space
	protection protection
}

// check refuses folders that lie in what is protected.
func (w *writers) check() error {
	for _, f := range w.folders {
		f.name = realPath(f.name)
		for part := range strings.SplitSeq(filepath.ToSlash(f.name), "/") {
			if gitName(part) {
				return fmt.Errorf("%s lies in a .git, which is never written", f.name)
			}
		}
		above := []string{f.name}
		for dir := f.name; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			above = append(above, filepath.Dir(dir))
		}
		if w.protection.covers(above, false) {
			return fmt.Errorf("%s is protected and cannot be opened for writing", f.name)
		}
	}
	return nil
}

// at returns the folder of a path, ready to be changed.
func (w *writers) at(given string) (*writer, error) {
	f, err := w.pick(given)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, &pathError{given, "is the whole folder: name something in it"}
	}
	return &writer{f, w.protection}, nil
}

type writeFileArgs struct {
	Path string `json:"path" jsonschema:"File to write, relative to the folder, with slashes. Missing folders are made"`
	Text string `json:"text" jsonschema:"All of the new content"`
}

type writeFileResult struct {
	Created bool `json:"created" jsonschema:"Whether the file is new"`
	Bytes   int  `json:"bytes"`
}

func (w *writers) writeFileSpec() registry.Spec[writeFileArgs, writeFileResult] {
	return registry.Spec[writeFileArgs, writeFileResult]{
		Name:        "write_file",
		Description: "Writes a whole text file, new or in place of the old content. Readers see the old or the new file, never a part.",
		Run: func(_ context.Context, a writeFileArgs, _ *registry.Run) (writeFileResult, error) {
			at, err := w.at(a.Path)
			if err != nil {
				return writeFileResult{}, err
			}
			return at.writeFile(a)
		},
		Render: func(a writeFileArgs, r writeFileResult) []registry.Block {
			what := "Wrote"
			if r.Created {
				what = "Created"
			}
			return []registry.Block{registry.Text(fmt.Sprintf("%s %s (%d bytes).", what, a.Path, r.Bytes))}
		},
		TimeoutMs: fileToolBudget,
		PresentCall: func(a writeFileArgs) card.CallView {
			return card.DiffCall{Title: "Write " + a.Path, Diffs: []card.Diff{{Path: a.Path, NewText: a.Text}}, Locations: []card.Location{{Path: a.Path}}}
		},
		PresentResult: func(a writeFileArgs, r card.PersistedResult) card.ResultView {
			if r.IsError { // CARD-42
				return nil
			}
			return card.DiffResult{Diffs: []card.Diff{{Path: a.Path, NewText: a.Text}}}
		},
	}
}

func (w *writer) writeFile(a writeFileArgs) (writeFileResult, error) {
	name, err := w.target(a.Path, false)
	if err != nil {
		return writeFileResult{}, err
	}
	mode, err := w.existing(a.Path, name)
	created := errors.Is(err, fs.ErrNotExist)
	if err != nil && !created {
		return writeFileResult{}, err
	}
	if created {
		mode = 0o644
	}
	if err := w.replace(a.Path, name, []byte(a.Text), mode); err != nil {
		return writeFileResult{}, err
	}
	return writeFileResult{Created: created, Bytes: len(a.Text)}, nil
}

// existing is the mode of the regular file at name; the error matches fs.ErrNotExist if there is nothing.
func (w *writer) existing(given, name string) (fs.FileMode, error) {
	info, err := w.root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fs.ErrNotExist
	case err != nil:
		return 0, w.explain(given, name, err)
	case info.IsDir():
		return 0, &pathError{given, "is a folder"}
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, &pathError{given, "is a link: writes follow no links, so use the path that it leads to"}
	case !info.Mode().IsRegular():
		return 0, &pathError{given, "is a " + kindOf(info.Mode()) + ": only regular files can be written"}
	}
	return info.Mode().Perm(), nil
}

// replace puts data in the place of a file at once: it writes a new file beside it and renames it.
func (w *writer) replace(given, name string, data []byte, mode fs.FileMode) error {
	dir := path.Dir(name)
	if err := w.makeFolder(given, dir); err != nil {
		return err
	}
	temporary := filepath.FromSlash(path.Join(dir, fmt.Sprintf(".%016x.tmp", rand.Uint64())))
	file, err := w.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return w.unwritable(given, err)
	}
	err = refuseSystem(file)
	if err == nil {
		_, err = file.Write(data)
	}
	if err == nil {
		err = file.Chmod(mode)
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = w.root.Rename(temporary, filepath.FromSlash(name))
	}
	if err != nil {
		_ = w.root.Remove(temporary)
		return w.unwritable(given, err)
	}
	return nil
}

func (w *writer) makeFolder(given, dir string) error {
	if dir == "." {
		return nil
	}
	if err := w.root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
		return w.unwritable(given, err)
	}
	return nil
}

func (w *writer) unwritable(given string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &pathError{given, "cannot be written: permission denied"}
	case escapes(err):
		return &pathError{given, "leads out of the folder that can be reached"}
	}
	return &pathError{given, "cannot be written: " + cause(err).Error()}
}
