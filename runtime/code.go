package runtime

// This file defines what an engine gets, and how its positions become the model's (RUN-39).

import (
	"crypto/sha256"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Code is a program as an engine runs it. It is immutable and safe for concurrent use.
type Code struct {
	// JS is one expression. It evaluates to an async function without parameters, which the engine calls without
	// arguments. Before it runs any statement of the program the function awaits once, so that its promise exists
	// before the program can act. The program's this is undefined, whatever the engine passes.
	JS string

	source  string // the model's text, wrappings blanked: the same offsets
	called  bool   // source is one function expression, to be called
	mapping string // the source map's mappings, from the printed code to the parser's input
	parts   []part
	edits   []edit // how the parser's input differs from source

	once     sync.Once
	segments []segment
	lines    []int // offsets in JS where lines start
	printed  []int // offsets in the printed code where lines start
	inputs   []int // offsets in the parser's program where lines start
	keeps    keptPositions

	sitesOnce sync.Once
	sites     *sites
}

// part says that length bytes of the printed code from printed on are in JS at js.
type part struct{ js, printed, length int }

// Position maps a position that an engine recorded in JS to the model's text. line and column are 1-based; the column
// counts UTF-8 bytes, as QuickJS and goja do. The answer is 1-based, its column in UTF-16 units. ok is false for a
// position in the wrapper or in helper code, which no message may name.
func (c *Code) Position(line, column int) (l, col int, ok bool) {
	c.once.Do(c.index)
	if line < 1 || line > len(c.lines) || column < 1 {
		return 0, 0, false
	}
	at := c.lines[line-1] + column - 1
	if at > len(c.JS) || line < len(c.lines) && at >= c.lines[line] {
		return 0, 0, false
	}
	for _, p := range c.parts {
		if p.js <= at && at < p.js+p.length {
			return c.original(p, at)
		}
	}
	return 0, 0, false
}

// original maps an offset of JS in part p to the model's text.
func (c *Code) original(p part, at int) (line, column int, ok bool) {
	offset := p.printed + at - p.js
	row := sort.SearchInts(c.printed, offset+1) - 1
	// The text of the printed code is read where it stands in JS; a line never spans two parts but the first one.
	start := p.js + max(c.printed[row], p.printed) - p.printed
	unit := utf16Len(c.JS[start:at])
	if c.printed[row] < p.printed {
		before := c.parts[0]
		unit += utf16Len(c.JS[before.js+c.printed[row] : before.js+before.length])
	}
	i, found := slices.BinarySearchFunc(c.segments, segment{line: row, column: unit}, compareSegments)
	if !found {
		i--
	}
	if i < 0 || c.segments[i].line != row {
		return 0, 0, false
	}
	s := c.segments[i]
	// The wrapper's head is the parser's first line.
	if s.sourceLine < 1 || s.sourceLine > len(c.inputs) {
		return 0, 0, false
	}
	return c.located(s.sourceLine, s.sourceColumn)
}

// located maps a line of the program as the parser read it and a column in UTF-16 units from 0 to the model's text.
func (c *Code) located(line, column int) (int, int, bool) {
	if len(c.edits) == 0 {
		return line, column + 1, true
	}
	shift := 0
	start := c.inputs[line-1]
	i := 0
	for ; i < len(c.edits) && c.edits[i].at <= start; i++ {
		shift += c.edits[i].shift
	}
	original := start - shift
	end := strings.IndexByte(c.source[original:], '\n')
	if end < 0 {
		end = len(c.source) - original
	}
	text := c.source[original : original+end]
	for ; i < len(c.edits); i++ {
		// What the parser read is ASCII where it differs; columns before it are the model's.
		at := utf16Len(text[:min(max(c.edits[i].at-start-c.edits[i].shift, 0), len(text))])
		if column < at {
			break
		}
		column -= c.edits[i].shift
		start += c.edits[i].shift
	}
	return line, max(column, 0) + 1, true
}

// positionOf is the inverse of the first step of Position: the position in JS of an offset in the printed code.
func (c *Code) positionOf(offset int) (line, column int) {
	c.once.Do(c.index)
	for _, p := range c.parts {
		if p.printed <= offset && offset <= p.printed+p.length {
			at := p.js + offset - p.printed
			row := sort.SearchInts(c.lines, at+1)
			return row, at - c.lines[row-1] + 1
		}
	}
	return 0, 0
}

func (c *Code) index() {
	c.segments = decodeMapping(c.mapping)
	c.lines = lineStarts(c.JS)
	var printed strings.Builder
	for _, p := range c.parts {
		printed.WriteString(c.JS[p.js : p.js+p.length])
	}
	c.printed = lineStarts(printed.String())
	c.inputs = c.inputLines()
}

// inputLines returns where the lines of the program start in the parser's input.
func (c *Code) inputLines() []int {
	starts := []int{0}
	for i := 0; i < len(c.source); {
		n := lineBreak(c.source, i)
		switch {
		case n == 0:
			i++
		case c.source[i] == '\r' && i+1 < len(c.source) && c.source[i+1] == '\n':
			i++
		default:
			i += n
			starts = append(starts, i)
		}
	}
	shift, e := 0, 0
	for i := range starts {
		for e < len(c.edits) && c.edits[e].at <= starts[i]+shift+c.edits[e].shift {
			shift += c.edits[e].shift
			e++
		}
		starts[i] += shift
	}
	return starts
}

// lineStarts returns the offsets at which the lines of printed code start: only LF ends one there.
func lineStarts(s string) []int {
	starts := []int{0}
	for i := range len(s) {
		if s[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// offsetAt returns the offset of a position, both 1-based, the column in UTF-16 units.
func offsetAt(src string, line, column int) int {
	start := 0
	for l := 1; l < line && start < len(src); {
		n := lineBreak(src, start)
		switch {
		case n == 0:
			start++
		case src[start] == '\r' && start+1 < len(src) && src[start+1] == '\n':
			start++
		default:
			start += n
			l++
		}
	}
	return start + utf16Offset(src[start:], column-1)
}

func hashOf(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:8]
}
