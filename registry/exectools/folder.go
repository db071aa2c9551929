package exectools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	maxPathBytes = 4096
	maxReadBytes = 8 << 20 // of one read (CLI-2)
	shownPath    = 200     // bytes of a path in a message
)

// folder is the one place that the file tools reach. Every access goes through an os.Root, so that no "..", symbolic link or race leads out of
// it. It is safe for concurrent use.
type folder struct {
	root  *os.Root
	name  string // absolute, for messages and for paths that a model made absolute
	label string // the first name of every path into it; empty if it is the only folder
}

func openFolder(dir string) (*folder, error) {
	if dir == "" {
		dir = "."
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(absolute)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s", absolute)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", absolute, cause(err))
	}
	f := &folder{root: root, name: absolute}
	if err := f.checkRoot(); err != nil {
		_ = root.Close()
		return nil, err
	}
	return f, nil
}

func (f *folder) checkRoot() error {
	dir, err := f.root.Open(".")
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, cause(err))
	}
	defer dir.Close()
	if err := refuseSystem(dir); err != nil {
		return fmt.Errorf("%s %w", f.name, err)
	}
	return nil
}

func (f *folder) Close() error { return f.root.Close() }

// pathError is a failure that says which path it is about, as the model gave it.
type pathError struct {
	path string
	text string
}

func (e *pathError) Error() string { return fmt.Sprintf("%q %s", cutText(e.path, shownPath), e.text) }

// resolve turns a path of a caller into one below the root, with slashes.
func (f *folder) resolve(given string) (string, error) {
	clean, err := cleanPath(given)
	if err != nil {
		return "", err
	}
	switch {
	case f.label == "":
		return clean, nil
	case clean == f.label:
		return ".", nil
	}
	inner, ok := strings.CutPrefix(clean, f.label+"/")
	if !ok {
		return "", &pathError{given, fmt.Sprintf("does not lie in %q", f.label)}
	}
	return inner, nil
}

// shown is the path by which a caller names what lies at name below the root.
func (f *folder) shown(name string) string { return path.Join(f.label, name) }

// inside is the caller's path of an absolute one, if that lies in the folder.
func (f *folder) inside(absolute string) (string, bool) {
	below, err := filepath.Rel(f.name, absolute)
	if err != nil || !filepath.IsLocal(below) {
		return "", false
	}
	return f.shown(filepath.ToSlash(below)), true
}

// cleanPath checks what can be checked without looking at any file, and makes a path plain: relative, with slashes, "." for the top.
func cleanPath(given string) (string, error) {
	fail := func(format string, args ...any) (string, error) {
		return "", &pathError{given, fmt.Sprintf(format, args...)}
	}
	switch {
	case len(given) > maxPathBytes:
		return fail("is longer than %d bytes", maxPathBytes)
	case strings.ContainsRune(given, 0):
		return fail("holds a NUL character")
	}
	slashed := filepath.ToSlash(given)
	if path.IsAbs(slashed) || filepath.IsAbs(given) || filepath.VolumeName(given) != "" {
		return fail("is absolute: paths are relative to what can be reached")
	}
	clean := path.Clean(slashed)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return fail("leads out of the folder that can be reached")
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return fail("is no path that can be used here")
	}
	return clean, nil
}

// open opens a regular file or a folder for reading. It never blocks on what it opens and never acts on a device: the kind is looked up
// first, and again on what was opened.
func (f *folder) open(given string) (file *os.File, info fs.FileInfo, err error) {
	name, err := f.resolve(given)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, nil, f.explain(given, name, err)
	}
	if err := plainKind(given, info); err != nil {
		return nil, nil, err
	}
	file, err = f.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, f.explain(given, name, err)
	}
	info, err = file.Stat()
	if err == nil {
		err = plainKind(given, info)
	} else {
		err = f.explain(given, name, err)
	}
	if err == nil {
		if refused := refuseSystem(file); refused != nil {
			err = &pathError{given, refused.Error()}
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// openFile is open for regular files only.
func (f *folder) openFile(given string) (*os.File, fs.FileInfo, error) {
	file, info, err := f.open(given)
	if err == nil && info.IsDir() {
		_ = file.Close()
		return nil, nil, &pathError{given, "is a folder: use list_dir"}
	}
	return file, info, err
}

// openDir is open for folders only.
func (f *folder) openDir(given string) (*os.File, error) {
	file, info, err := f.open(given)
	if err == nil && !info.IsDir() {
		_ = file.Close()
		return nil, &pathError{given, "is a file, not a folder"}
	}
	return file, err
}

func plainKind(given string, info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	return &pathError{given, "is a " + kindOf(info.Mode()) + ": only regular files and folders can be read"}
}

// contextReader stops a long read when its call is cancelled.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, errAborted()
	}
	return c.r.Read(p)
}
