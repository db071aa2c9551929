package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// Command prepares a program without a shell: name is a path, relative to dir when it has a separator and is not absolute, or a
// name looked up in the PATH of env. An error is one sentence that says what was looked for and where.
func Command(name string, args []string, dir string, env []string) (*exec.Cmd, error) {
	if strings.ContainsRune(name, 0) || strings.TrimSpace(name) == "" {
		return nil, fmt.Errorf("%q is no executable's name", name)
	}
	path, err := find(name, dir, env)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: path, Args: append([]string{name}, args...), Dir: dir, Env: env}, nil
}

func find(name, dir string, env []string) (string, error) {
	if filepath.Base(name) != name {
		path := name
		if !filepath.IsAbs(path) && dir != "" {
			path = filepath.Join(dir, name)
		}
		found, err := exec.LookPath(path)
		if err != nil && !errors.Is(err, exec.ErrDot) {
			return "", fmt.Errorf("%q cannot be run: %w", name, reason(err))
		}
		return filepath.Abs(found)
	}
	list, _ := Lookup(env, "PATH")
	var denied error
	for _, folder := range filepath.SplitList(list) {
		// A relative entry of PATH would make what runs depend on the current folder.
		if !filepath.IsAbs(folder) {
			continue
		}
		found, err := exec.LookPath(filepath.Join(folder, name))
		if err == nil {
			return found, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return "", fmt.Errorf("%q was found in PATH but cannot be run: %w", name, reason(denied))
	}
	return "", fmt.Errorf("there is no executable %q in PATH: install it, or give its full path", name)
}

// reason takes the bare cause out of the errors of os/exec, which repeat the path.
func reason(err error) error {
	if wrapped := (*exec.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return err
}
