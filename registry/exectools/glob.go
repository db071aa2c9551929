package exectools

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/card"
)

const (
	defaultHits = 1000
	maxHits     = 10_000
	maxTreeDeep = 256 // folders below one another
)

type globArgs struct {
	Pattern string  `json:"pattern" jsonschema:"For example **/*.go, src/*.{ts,tsx} or docs/[a-f]*.md. * and ? stay within one name, ** stands for any number of folders. Hidden names need a pattern that begins with a dot"`
	Path    *string `json:"path,omitempty" jsonschema:"Folder to search, relative. Default: the whole folder"`
	Limit   *int    `json:"limit,omitempty" jsonschema:"How many paths to return at most, up to 10000. Default 1000"`
}

type globResult struct {
	Paths     []string `json:"paths" jsonschema:"Files, relative to the whole folder, sorted"`
	Total     int      `json:"total" jsonschema:"How many were found"`
	Truncated bool     `json:"truncated"`
}

func (s *space) globSpec() registry.Spec[globArgs, globResult] {
	return registry.Spec[globArgs, globResult]{
		Name:        "glob",
		Description: "Finds files by a pattern of their paths. Links to folders are not followed.",
		Run: func(ctx context.Context, a globArgs, _ *registry.Run) (globResult, error) {
			return s.glob(ctx, a)
		},
		Render:           renderGlob,
		PresentationMeta: globMeta,
		TimeoutMs:        fileToolBudget,
		ConcurrencySafe:  always[globArgs],
		PresentCall: func(a globArgs) card.CallView {
			return card.GenericCall{Title: "Find " + a.Pattern + within(a.Path), Kind: card.Search}
		},
		PresentResult: presentGlob,
	}
}

func within(p *string) string {
	if p == nil || *p == "." {
		return ""
	}
	return " in " + *p
}

func (s *space) glob(ctx context.Context, a globArgs) (globResult, error) {
	limit, err := hitLimit(a.Limit)
	if err != nil {
		return globResult{}, err
	}
	pattern, err := newGlobPattern(a.Pattern)
	if err != nil {
		return globResult{}, &registry.ArgsError{Violations: []string{`"pattern": ` + err.Error()}}
	}
	found := []string{}
	err = s.walk(ctx, deref(a.Path, "."), pattern.descends, func(p string, names []string) error {
		if pattern.match(names) {
			found = append(found, p)
		}
		return nil
	})
	if err != nil {
		return globResult{}, err
	}
	slices.Sort(found)
	return globResult{Paths: found[:min(len(found), limit)], Total: len(found), Truncated: len(found) > limit}, nil
}

func hitLimit(given *int) (int, error) {
	limit := deref(given, defaultHits)
	if limit < 1 || limit > maxHits {
		return 0, &registry.ArgsError{Violations: []string{fmt.Sprintf(`"limit": expected between 1 and %d, got %d`, maxHits, limit)}}
	}
	return limit, nil
}

// walk visits the regular files below given, folder by folder in the order of names; visit gets the caller's path and the names below
// given, or what base adds before them. Folders are entered where descend says so. Links are not followed. What cannot be read below is passed over: it may have gone
// meanwhile.
func (f *folder) walk(ctx context.Context, given string, base []string, descend func(names []string) bool, visit func(p string, names []string) error) error {
	start, err := f.resolve(given)
	if err != nil {
		return err
	}
	type step struct {
		path  string
		names []string
	}
	pending := []step{{path: start, names: base}}
	for len(pending) > 0 {
		here := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		entries, err := f.entries(ctx, f.shown(here.path))
		if stopped := cancelled(ctx); stopped != nil {
			return stopped
		}
		if err != nil {
			if here.path == start {
				return err
			}
			continue
		}
		var below []step
		for _, e := range entries {
			p, names := path.Join(here.path, e.Name()), append(slices.Clip(here.names), e.Name())
			switch {
			case e.IsDir():
				if len(names) < maxTreeDeep && descend(names) {
					below = append(below, step{p, names})
				}
			case e.Type().IsRegular():
				if err := visit(f.shown(p), names); err != nil {
					return err
				}
			}
		}
		slices.Reverse(below)
		pending = append(pending, below...)
	}
	return nil
}

func renderGlob(_ globArgs, r globResult) []registry.Block {
	text := strings.Join(r.Paths, "\n")
	switch {
	case r.Total == 0:
		text = "(no file matches)"
	case r.Truncated:
		text += fmt.Sprintf("\n[%d of %d paths]", len(r.Paths), r.Total)
	}
	return []registry.Block{registry.Text(text)}
}

const maxMetaHits = 200 // paths or matches of a search card (CARD-15)

type globMetadata struct {
	Paths     []string `json:"paths"`
	Total     int      `json:"total"`
	Truncated bool     `json:"truncated"`
}

func globMeta(_ globArgs, r globResult) any {
	shown := r.Paths[:min(len(r.Paths), maxMetaHits)]
	return globMetadata{Paths: shown, Total: r.Total, Truncated: len(shown) < r.Total}
}

func presentGlob(_ globArgs, r card.PersistedResult) card.ResultView {
	var m globMetadata
	if r.IsError || !r.Meta.IsObject() || r.Meta.Decode(&m) != nil || m.Paths == nil {
		return nil
	}
	if len(m.Paths) > maxMetaHits || m.Total < len(m.Paths) || m.Truncated != (m.Total > len(m.Paths)) {
		return nil
	}
	return card.SearchPaths{Paths: m.Paths, Truncated: m.Truncated, Total: m.Total}
}
