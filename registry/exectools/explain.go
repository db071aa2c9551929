package exectools

// Failures of the file system in words that help a model on.

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// kindOf names the kind of a file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// explain turns an error of the file system into a sentence for the model, and says what there is instead.
func (f *folder) explain(given, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &pathError{given, "does not exist" + f.alternatives(name)}
	case errors.Is(err, fs.ErrPermission):
		return &pathError{given, "cannot be read: permission denied"}
	case escapes(err):
		return &pathError{given, "leads out of the folder that can be reached"}
	}
	return &pathError{given, "cannot be read: " + cause(err).Error()}
}

// escapes says whether os.Root refused to leave its folder; the error has no name of its own.
func escapes(err error) bool {
	return strings.Contains(cause(err).Error(), "escapes from parent")
}

// cause is the bare error under the path that os puts around it.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

const shownAlternatives = 8

// alternatives names what the nearest existing folder on the way to name holds, the most similar names first.
func (f *folder) alternatives(name string) string {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		file, err := f.openDir(f.shown(dir))
		if err != nil {
			if dir == "." {
				return ""
			}
			continue
		}
		names, _ := file.Readdirnames(1000)
		_ = file.Close()
		missing := strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")
		missing, _, _ = strings.Cut(missing, "/")
		slices.SortFunc(names, func(a, b string) int {
			if d := likeness(b, missing) - likeness(a, missing); d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
		where := fmt.Sprintf("; %q", f.shown(dir))
		if f.shown(dir) == "." {
			where = "; the folder"
		}
		if len(names) == 0 {
			return where + " is empty"
		}
		shown := names[:min(len(names), shownAlternatives)]
		text := where + " has " + strings.Join(quoteAll(shown), ", ")
		if len(names) > len(shown) {
			text += fmt.Sprintf(" and %d more", len(names)-len(shown))
		}
		return text
	}
}

func quoteAll(names []string) []string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", cutText(strings.ToValidUTF8(n, "\uFFFD"), 60))
	}
	return quoted
}

// likeness is the length of the common start and end of two names, letters in any case: cheap, and right for misspelt and
// misremembered endings.
func likeness(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return start + end
}
