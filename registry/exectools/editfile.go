package exectools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
)

type editFileArgs struct {
	Path string `json:"path" jsonschema:"File to change, relative to the folder, with slashes"`
	Old  string `json:"old" jsonschema:"The exact text to replace. It must occur once, unless all is true"`
	New  string `json:"new" jsonschema:"The text in its place"`
	All  *bool  `json:"all,omitempty" jsonschema:"Replaces every occurrence"`
}

type editFileResult struct {
	Replaced int    `json:"replaced" jsonschema:"How many occurrences were replaced"`
	Hunks    []hunk `json:"hunks" jsonschema:"What changed, with some lines around it; not of very large changes"`
}

func (w *writers) editFileSpec() registry.Spec[editFileArgs, editFileResult] {
	return registry.Spec[editFileArgs, editFileResult]{
		Name:        "edit_file",
		Description: "Replaces an exact piece of a text file by another. Nothing is changed if the piece does not occur, or occurs more than once without all.",
		Run: func(ctx context.Context, a editFileArgs, _ *registry.Run) (editFileResult, error) {
			at, err := w.at(a.Path)
			if err != nil {
				return editFileResult{}, err
			}
			return at.editFile(ctx, a)
		},
		Render: func(a editFileArgs, r editFileResult) []registry.Block {
			places := "1 place"
			if r.Replaced != 1 {
				places = fmt.Sprintf("%d places", r.Replaced)
			}
			return []registry.Block{registry.Text(fmt.Sprintf("Changed %s in %s.", a.Path, places))}
		},
		PresentationMeta: func(_ editFileArgs, r editFileResult) any {
			if len(r.Hunks) == 0 {
				return nil
			}
			return editMeta{r.Hunks}
		},
		TimeoutMs: fileToolBudget,
		PresentCall: func(a editFileArgs) card.CallView {
			diff := card.Diff{Path: a.Path, NewText: a.New}
			if a.Old != "" {
				diff.OldText = &a.Old
			}
			return card.DiffCall{Title: "Edit " + a.Path, Diffs: []card.Diff{diff}, Locations: []card.Location{{Path: a.Path}}}
		},
		PresentResult: presentEdit,
	}
}

type editMeta struct {
	Hunks []hunk `json:"hunks"`
}

// presentEdit reads its own metadata with the distrust that CARD-14 demands.
func presentEdit(a editFileArgs, r card.PersistedResult) card.ResultView {
	var m editMeta
	if r.IsError || !r.Meta.IsObject() || r.Meta.Decode(&m) != nil || len(m.Hunks) == 0 || len(m.Hunks) > maxHunks {
		return nil
	}
	view := card.DiffResult{}
	for _, h := range m.Hunks {
		view.Diffs = append(view.Diffs, card.Diff{Path: a.Path, OldText: &h.Old, NewText: h.New})
	}
	return view
}

func (w *writer) editFile(ctx context.Context, a editFileArgs) (editFileResult, error) {
	switch {
	case a.Old == "":
		return editFileResult{}, &registry.ArgsError{Violations: []string{`"old": expected the text to replace; use write_file for a new file`}}
	case a.Old == a.New:
		return editFileResult{}, &registry.ArgsError{Violations: []string{`"new": expected something else than old`}}
	}
	name, err := w.target(a.Path, false)
	if err != nil {
		return editFileResult{}, err
	}
	mode, err := w.existing(a.Path, name)
	if errors.Is(err, fs.ErrNotExist) {
		return editFileResult{}, &pathError{a.Path, "does not exist" + w.alternatives(name)}
	}
	if err != nil {
		return editFileResult{}, err
	}
	text, err := w.whole(ctx, a.Path)
	if err != nil {
		return editFileResult{}, err
	}
	n := strings.Count(text, a.Old)
	switch {
	case n == 0:
		return editFileResult{}, &pathError{a.Path, "does not hold the text to replace" + whyNot(text, a.Old)}
	case n > 1 && !deref(a.All, false):
		return editFileResult{}, &pathError{a.Path, fmt.Sprintf("holds the text to replace %d times (lines %s): make it longer, or set all", n, occurrences(text, a.Old))}
	}
	hunks := replacementHunks(text, a.Old, a.New)
	if err := w.replace(a.Path, name, []byte(strings.ReplaceAll(text, a.Old, a.New)), mode); err != nil {
		return editFileResult{}, err
	}
	return editFileResult{Replaced: n, Hunks: hunks}, nil
}

// whole reads a text file that can be written back as it is.
func (w *writer) whole(ctx context.Context, given string) (string, error) {
	file, _, err := w.openFile(given)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(contextReader{ctx, file}, maxReadBytes+1))
	switch {
	case cancelled(ctx) != nil:
		return "", errAborted()
	case err != nil:
		return "", &pathError{given, "cannot be read: " + cause(err).Error()}
	case len(data) > maxReadBytes:
		return "", &pathError{given, fmt.Sprintf("is larger than %d MiB", maxReadBytes>>20)}
	case !utf8.Valid(data):
		return "", &pathError{given, "is not UTF-8 text: only text can be edited"}
	}
	return string(data), nil
}

// whyNot guesses why a text does not occur.
func whyNot(text, old string) string {
	plain := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	switch {
	case strings.Contains(plain(text), plain(old)):
		return `: its lines end in \r\n`
	case strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(old), " ")):
		return ": only with other white space"
	case strings.Contains(strings.ToLower(text), strings.ToLower(old)):
		return ": only with other upper and lower case"
	}
	return ": read it again"
}

// occurrences lists the line numbers of the first few places.
func occurrences(text, old string) string {
	var lines []string
	line, from := 1, 0
	for len(lines) < 5 {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return strings.Join(lines, ", ")
		}
		line += strings.Count(text[from:from+i], "\n")
		lines = append(lines, fmt.Sprint(line))
		line += strings.Count(old, "\n")
		from += i + len(old)
	}
	return strings.Join(lines, ", ") + ", …"
}
