package exectools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// space is all that the file tools reach: one folder, or several that lie side by side under their labels.
type space struct{ folders []*folder }

func openSpace(dirs []string) (*space, error) {
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	s := &space{}
	for _, dir := range dirs {
		f, err := openFolder(dir)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if s.has(f.name) {
			_ = f.Close()
			continue
		}
		s.folders = append(s.folders, f)
	}
	if len(s.folders) > 1 {
		s.label()
	}
	return s, nil
}

func (s *space) has(name string) bool {
	for _, f := range s.folders {
		if f.name == name {
			return true
		}
	}
	return false
}

// label names the folders after their own last names.
func (s *space) label() {
	taken := map[string]bool{}
	for _, f := range s.folders {
		base := filepath.Base(f.name)
		if base == string(filepath.Separator) || !filepath.IsLocal(base) {
			base = "root"
		}
		f.label = base
		for n := 2; taken[strings.ToLower(f.label)]; n++ {
			f.label = fmt.Sprintf("%s-%d", base, n)
		}
		taken[strings.ToLower(f.label)] = true
	}
}

// Close closes the folders.
func (s *space) Close() error {
	var errs []error
	for _, f := range s.folders {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// pick returns the folder that a path leads into; none, without an error, for the top of several.
func (s *space) pick(given string) (*folder, error) {
	clean, err := cleanPath(given)
	if err != nil {
		return nil, s.hint(given, err)
	}
	if len(s.folders) == 1 {
		return s.folders[0], nil
	}
	if clean == "." {
		return nil, nil
	}
	label, _, _ := strings.Cut(clean, "/")
	for _, f := range s.folders {
		if f.label == label {
			return f, nil
		}
	}
	return nil, &pathError{given, "does not exist; what can be reached is " + strings.Join(quoteAll(s.labels()), ", ")}
}

func (s *space) labels() []string {
	labels := make([]string, len(s.folders))
	for i, f := range s.folders {
		labels[i] = f.label
	}
	return labels
}

// hint adds to the refusal of an absolute path how the same place is named here.
func (s *space) hint(given string, err error) error {
	refused := (*pathError)(nil)
	if !filepath.IsAbs(given) || strings.ContainsRune(given, 0) || !errors.As(err, &refused) {
		return err
	}
	for _, f := range s.folders {
		if name, ok := f.inside(given); ok {
			return &pathError{given, fmt.Sprintf("%s; it is %q there", refused.text, name)}
		}
	}
	return err
}

// top lists the folders themselves.
func (s *space) top() listDirResult {
	r := listDirResult{Total: len(s.folders)}
	for _, label := range sorted(s.labels()) {
		r.Entries = append(r.Entries, dirEntry{Name: label, Kind: kindOf(fs.ModeDir)})
	}
	return r
}

func (s *space) openFile(given string) (*os.File, fs.FileInfo, error) {
	f, err := s.pick(given)
	if err != nil {
		return nil, nil, err
	}
	if f == nil {
		return nil, nil, &pathError{given, "is a folder: use list_dir"}
	}
	return f.openFile(given)
}

// isFile says whether a path leads to a regular file, and not to a folder.
func (s *space) isFile(given string) (bool, error) {
	f, err := s.pick(given)
	if err != nil || f == nil {
		return false, err
	}
	file, info, err := f.open(given)
	if err != nil {
		return false, err
	}
	_ = file.Close()
	return !info.IsDir(), nil
}

func (s *space) stat(given string) (statResult, error) {
	f, err := s.pick(given)
	switch {
	case err != nil:
		return statResult{}, err
	case f == nil:
		return statResult{}, &pathError{given, "is the place of " + strings.Join(quoteAll(s.labels()), ", ") + ", and no folder itself"}
	}
	return f.stat(given)
}

// walk is the walk of a folder, or of all one after another.
func (s *space) walk(ctx context.Context, given string, descend func(names []string) bool, visit func(p string, names []string) error) error {
	f, err := s.pick(given)
	if err != nil {
		return err
	}
	if f != nil {
		return f.walk(ctx, given, nil, descend, visit)
	}
	for _, f := range s.folders {
		if names := []string{f.label}; descend(names) {
			if err := f.walk(ctx, f.label, names, descend, visit); err != nil {
				return err
			}
		}
	}
	return nil
}
