package exectools

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
)

const maxEntries = 10_000 // of one listing

type listDirArgs struct {
	Path *string `json:"path,omitempty" jsonschema:"Folder to list, relative, with slashes. Default: the whole folder's top"`
}

type dirEntry struct {
	Name string `json:"name"`
	Kind string `json:"kind" jsonschema:"file, folder, link, or another kind that cannot be read"`
	Size int64  `json:"size" jsonschema:"Bytes; 0 for what is no file"`
}

type listDirResult struct {
	Entries   []dirEntry `json:"entries" jsonschema:"Sorted by name"`
	Total     int        `json:"total"`
	Truncated bool       `json:"truncated"`
}

func (s *space) listDirSpec() registry.Spec[listDirArgs, listDirResult] {
	return registry.Spec[listDirArgs, listDirResult]{
		Name:        "list_dir",
		Description: "Lists what is in one folder, sorted by name, hidden files included.",
		Run: func(ctx context.Context, a listDirArgs, _ *registry.Run) (listDirResult, error) {
			return s.listDir(ctx, deref(a.Path, "."))
		},
		Render:          renderListDir,
		TimeoutMs:       fileToolBudget,
		ConcurrencySafe: always[listDirArgs],
		PresentCall: func(a listDirArgs) card.CallView {
			return card.GenericCall{Title: "List " + deref(a.Path, "."), Kind: card.Read}
		},
	}
}

func (s *space) listDir(ctx context.Context, given string) (listDirResult, error) {
	f, err := s.pick(given)
	if err != nil {
		return listDirResult{}, err
	}
	if f == nil {
		return s.top(), nil
	}
	entries, err := f.entries(ctx, given)
	if err != nil {
		return listDirResult{}, err
	}
	r := listDirResult{Total: len(entries), Truncated: len(entries) > maxEntries, Entries: []dirEntry{}}
	for _, e := range entries[:min(len(entries), maxEntries)] {
		entry := dirEntry{Name: e.Name(), Kind: kindOf(e.Type())}
		if e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				entry.Size = info.Size()
			}
		}
		r.Entries = append(r.Entries, entry)
	}
	return r, nil
}

// maxFolder bounds what is read of one folder, so that a folder of millions of files cannot take the memory.
const maxFolder = 1_000_000

// entries reads a folder, sorted by name. Names that are not UTF-8 cannot be addressed by a program and are left out.
func (f *folder) entries(ctx context.Context, given string) ([]fs.DirEntry, error) {
	dir, err := f.openDir(given)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var entries []fs.DirEntry
	for {
		if err := cancelled(ctx); err != nil {
			return nil, err
		}
		more, err := dir.ReadDir(4096)
		entries = append(entries, more...)
		if len(entries) > maxFolder {
			return nil, &pathError{given, fmt.Sprintf("holds more than %d entries", maxFolder)}
		}
		if err != nil || len(more) == 0 {
			break // the end, or as much as can be read
		}
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.ToValidUTF8(e.Name(), "") != e.Name() })
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func renderListDir(a listDirArgs, r listDirResult) []registry.Block {
	var b strings.Builder
	for _, e := range r.Entries {
		switch e.Kind {
		case "file":
			fmt.Fprintf(&b, "%s (%d bytes)\n", e.Name, e.Size)
		case "folder":
			b.WriteString(e.Name + "/\n")
		default:
			b.WriteString(e.Name + " (" + e.Kind + ")\n")
		}
	}
	if r.Total == 0 {
		b.WriteString("(" + deref(a.Path, ".") + " is empty)")
	}
	if r.Truncated {
		fmt.Fprintf(&b, "[%d of %d entries]", len(r.Entries), r.Total)
	}
	return []registry.Block{registry.Text(strings.TrimSuffix(b.String(), "\n"))}
}

type statArgs struct {
	Path string `json:"path" jsonschema:"File or folder, relative, with slashes"`
}

type statResult struct {
	Kind     string  `json:"kind" jsonschema:"file, folder, link, or another kind that cannot be read"`
	Size     int64   `json:"size" jsonschema:"Bytes; 0 for what is no file"`
	Modified string  `json:"modified" jsonschema:"RFC 3339, in UTC"`
	Target   *string `json:"target,omitempty" jsonschema:"Where a link leads"`
}

func (s *space) statSpec() registry.Spec[statArgs, statResult] {
	return registry.Spec[statArgs, statResult]{
		Name:        "stat",
		Description: "Tells kind, size and modification time of a file, folder or link, without following a link at the path's end.",
		Run: func(_ context.Context, a statArgs, _ *registry.Run) (statResult, error) {
			return s.stat(a.Path)
		},
		TimeoutMs:       fileToolBudget,
		ConcurrencySafe: always[statArgs],
		PresentCall: func(a statArgs) card.CallView {
			return card.GenericCall{Title: "Look at " + a.Path, Kind: card.Read}
		},
	}
}

func (f *folder) stat(given string) (statResult, error) {
	name, err := f.resolve(given)
	if err != nil {
		return statResult{}, err
	}
	local := filepath.FromSlash(name)
	info, err := f.root.Lstat(local)
	if err != nil {
		return statResult{}, f.explain(given, name, err)
	}
	if err := f.refuseSystemAt(given, name, info); err != nil {
		return statResult{}, err
	}
	r := statResult{Kind: kindOf(info.Mode()), Modified: info.ModTime().UTC().Format(time.RFC3339Nano)}
	if info.Mode().IsRegular() {
		r.Size = info.Size()
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err := f.root.Readlink(local); err == nil {
			target = strings.ToValidUTF8(filepath.ToSlash(target), "\uFFFD")
			r.Target = &target
		}
	}
	return r, nil
}

// refuseSystemAt checks the folder that holds name, and name itself if it is a folder: what lies on a system's file system is not told
// about either.
func (f *folder) refuseSystemAt(given, name string, info fs.FileInfo) error {
	dir := path.Dir(name)
	if info.IsDir() {
		dir = name
	}
	file, err := f.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil // the folder cannot be opened, but its entries may be asked about
	}
	defer file.Close()
	if err := refuseSystem(file); err != nil {
		return &pathError{given, err.Error()}
	}
	return nil
}
