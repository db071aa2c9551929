package exectools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
)

type moveArgs struct {
	From      string `json:"from" jsonschema:"File or folder, relative to the folder, with slashes"`
	To        string `json:"to" jsonschema:"Its new path; missing folders are made"`
	Overwrite *bool  `json:"overwrite,omitempty" jsonschema:"Whether a file at the new path is replaced. Default false"`
}

type moveResult struct {
	Moved bool `json:"moved"`
}

func (w *writers) moveSpec() registry.Spec[moveArgs, moveResult] {
	return registry.Spec[moveArgs, moveResult]{
		Name:        "move",
		Description: "Moves or renames a file or folder. A folder is never replaced.",
		Run: func(_ context.Context, a moveArgs, _ *registry.Run) (moveResult, error) {
			from, err := w.at(a.From)
			if err != nil {
				return moveResult{}, err
			}
			to, err := w.at(a.To)
			if err != nil {
				return moveResult{}, err
			}
			if from.folder != to.folder {
				return moveResult{}, &pathError{a.To, fmt.Sprintf("does not lie in %q: nothing is moved from one folder to another", from.label)}
			}
			return moveResult{Moved: true}, from.move(a)
		},
		Render: func(a moveArgs, _ moveResult) []registry.Block {
			return []registry.Block{registry.Text("Moved " + a.From + " to " + a.To + ".")}
		},
		TimeoutMs: fileToolBudget,
		PresentCall: func(a moveArgs) card.CallView {
			return card.GenericCall{Title: "Move " + a.From + " to " + a.To, Kind: card.Move, Locations: []card.Location{{Path: a.From}, {Path: a.To}}}
		},
	}
}

func (w *writer) move(a moveArgs) error {
	from, err := w.target(a.From, true)
	if err != nil {
		return err
	}
	to, err := w.target(a.To, true)
	if err != nil {
		return err
	}
	info, err := w.root.Lstat(filepath.FromSlash(from))
	if err != nil {
		return w.explain(a.From, from, err)
	}
	if from == to || strings.HasPrefix(to, from+"/") {
		return &pathError{a.To, fmt.Sprintf("lies within %q", a.From)}
	}
	switch there, err := w.root.Lstat(filepath.FromSlash(to)); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return w.explain(a.To, to, err)
	case there.IsDir():
		return &pathError{a.To, fmt.Sprintf("is a folder that exists: name the new path itself, such as %q", path.Join(to, path.Base(from)))}
	case !there.Mode().IsRegular():
		return &pathError{a.To, "is a " + kindOf(there.Mode()) + ", which is not replaced: remove it first"}
	case !deref(a.Overwrite, false):
		return &pathError{a.To, "exists: set overwrite to replace it"}
	case info.IsDir():
		return &pathError{a.To, "exists and is no folder"}
	}
	if err := w.makeFolder(a.To, path.Dir(to)); err != nil {
		return err
	}
	if err := w.root.Rename(filepath.FromSlash(from), filepath.FromSlash(to)); err != nil {
		return w.unwritable(a.To, err)
	}
	return nil
}

type removeArgs struct {
	Path      string `json:"path" jsonschema:"File, link or folder, relative to the folder, with slashes"`
	Recursive *bool  `json:"recursive,omitempty" jsonschema:"Whether a folder goes with all that is in it. Default false: it must be empty"`
}

type removeResult struct {
	Removed bool `json:"removed"`
}

func (w *writers) removeSpec() registry.Spec[removeArgs, removeResult] {
	return registry.Spec[removeArgs, removeResult]{
		Name:        "remove",
		Description: "Removes a file, a link (not what it leads to) or a folder, for good.",
		Run: func(_ context.Context, a removeArgs, _ *registry.Run) (removeResult, error) {
			at, err := w.at(a.Path)
			if err != nil {
				return removeResult{}, err
			}
			return removeResult{Removed: true}, at.remove(a)
		},
		Render: func(a removeArgs, _ removeResult) []registry.Block {
			return []registry.Block{registry.Text("Removed " + a.Path + ".")}
		},
		TimeoutMs: fileToolBudget,
		PresentCall: func(a removeArgs) card.CallView {
			return card.GenericCall{Title: "Remove " + a.Path, Kind: card.Delete, Locations: []card.Location{{Path: a.Path}}}
		},
	}
}

func (w *writer) remove(a removeArgs) error {
	name, err := w.target(a.Path, true)
	if err != nil {
		return err
	}
	local := filepath.FromSlash(name)
	info, err := w.root.Lstat(local)
	if err != nil {
		return w.explain(a.Path, name, err)
	}
	if info.IsDir() && deref(a.Recursive, false) {
		err = w.root.RemoveAll(local)
	} else {
		err = w.root.Remove(local)
	}
	switch {
	case err == nil:
		return nil
	case info.IsDir() && !deref(a.Recursive, false) && w.holdsSomething(local):
		return &pathError{a.Path, "is a folder that is not empty: set recursive to remove all that is in it"}
	}
	return w.unwritable(a.Path, err)
}

func (w *writer) holdsSomething(local string) bool {
	dir, err := w.root.Open(local)
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1)
	return len(names) > 0
}
