package exectools

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// protection says what no write may touch (CLI-2): files and folders that the caller names, and every .git. What is there already is
// recognised by its identity, so that another spelling, another link or a file system without case leads nowhere.
type protection struct{ entries []protected }

type protected struct {
	path string      // absolute, links resolved as far as they exist
	info fs.FileInfo // nil if there is nothing yet
}

func newProtection(paths []string) (protection, error) {
	var p protection
	for _, given := range paths {
		absolute, err := filepath.Abs(given)
		if err != nil {
			return p, err
		}
		e := protected{path: realPath(absolute)}
		e.info, _ = os.Stat(absolute)
		p.entries = append(p.entries, e)
	}
	return p, nil
}

// realPath resolves the links of a path as far as it exists.
func realPath(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	if dir := filepath.Dir(p); dir != p {
		return filepath.Join(realPath(dir), filepath.Base(p))
	}
	return p
}

// covers says whether a write to target, or to what lies below it if whole is true, would touch something protected. ancestors are the
// absolute paths from the folder's root down to target itself.
func (p protection) covers(ancestors []string, whole bool) bool {
	target := ancestors[len(ancestors)-1]
	for _, e := range p.entries {
		for _, above := range ancestors { // in a protected folder, or protected itself
			if e.is(above) {
				return true
			}
		}
		if !whole {
			continue
		}
		for above := filepath.Dir(e.path); ; above = filepath.Dir(above) { // or a folder that holds it
			if same(above, target) {
				return true
			}
			if above == filepath.Dir(above) {
				break
			}
		}
	}
	return false
}

func (e protected) is(p string) bool {
	if strings.EqualFold(e.path, p) {
		return true
	}
	if e.info == nil {
		return false
	}
	info, err := os.Lstat(p)
	return err == nil && os.SameFile(info, e.info)
}

func same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}

// gitName says whether a file system could take a name for .git: in any case, with what some ignore at the end or anywhere, or as the
// short name that some give.
func gitName(name string) bool {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	name, _, _ = strings.Cut(strings.TrimRight(name, ". "), ":")
	return name == ".git" || name == "git~1"
}

// writer is a folder that may be changed.
type writer struct {
	*folder
	protection protection
}

// target checks a path that is about to be written, moved or removed, and returns it as it is below the root. Writes follow no links:
// what lies behind one can be named by its own path. whole means that all that lies below it is touched as well.
func (w *writer) target(given string, whole bool) (string, error) {
	name, err := w.resolve(given)
	if err != nil {
		return "", err
	}
	if name == "." {
		return "", &pathError{given, "is the whole folder: name something in it"}
	}
	ancestors := []string{w.name}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if gitName(part) {
			return "", &pathError{given, "touches a .git, which is never written"}
		}
		sofar := strings.Join(parts[:i+1], "/")
		ancestors = append(ancestors, filepath.Join(w.name, filepath.FromSlash(sofar)))
		if i == len(parts)-1 {
			break
		}
		info, err := w.root.Lstat(filepath.FromSlash(sofar))
		switch {
		case err != nil:
			continue // it will be made, or the write fails
		case info.Mode()&fs.ModeSymlink != 0:
			return "", &pathError{given, fmt.Sprintf("goes through the link %q: writes follow no links, so use the path that it leads to", sofar)}
		case !info.IsDir():
			return "", &pathError{given, fmt.Sprintf("cannot be written: %q is a %s", sofar, kindOf(info.Mode()))}
		}
	}
	if w.protection.covers(ancestors, whole) {
		return "", &pathError{given, "is protected: tools, programs, logs and configuration of runcode are never written"}
	}
	if whole {
		if err := w.checkBelow(given, name); err != nil {
			return "", err
		}
	}
	return name, nil
}

// checkBelow refuses a folder that holds a .git, or what cannot be looked through.
func (w *writer) checkBelow(given, name string) error {
	info, err := w.root.Lstat(filepath.FromSlash(name))
	if err != nil || !info.IsDir() {
		return nil
	}
	pending := []string{name}
	for looked := 0; len(pending) > 0; looked++ {
		if looked > maxFolder {
			return &pathError{given, fmt.Sprintf("holds more than %d folders", maxFolder)}
		}
		here := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		dir, err := w.root.Open(filepath.FromSlash(here))
		if err != nil {
			return w.explain(given, name, err)
		}
		entries, err := dir.ReadDir(-1)
		_ = dir.Close()
		if err != nil {
			return w.explain(given, name, err)
		}
		for _, e := range entries {
			if gitName(e.Name()) {
				return &pathError{given, fmt.Sprintf("holds %q, and a .git is never written", path.Join(here, e.Name()))}
			}
			if e.IsDir() {
				pending = append(pending, path.Join(here, e.Name()))
			}
		}
	}
	return nil
}
