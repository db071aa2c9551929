package card

// This file makes the hunks of a change from the two texts (CARD-44).

import "strings"

const (
	contextLines = 3
	// maxEdits bounds the search for the shortest change; texts that differ more are one hunk from the first to the last
	// difference.
	maxEdits = 1000
)

// Hunks returns what changed between two texts of a file, in file order, with up to three unchanged lines on each side.
// Changes whose surroundings touch are one hunk. A pure insertion without surroundings has no old text; equal texts have no
// hunk. Whether the last line has an end is not content.
func Hunks(path, oldText, newText string) []Diff {
	a, b := splitLines(oldText), splitLines(newText)
	var hunks []Diff
	edits := changes(a, b)
	for i := 0; i < len(edits); {
		last := i
		for last+1 < len(edits) && edits[last+1].a-edits[last].aEnd <= 2*contextLines {
			last++
		}
		before := min(contextLines, edits[i].a)
		after := min(contextLines, len(a)-edits[last].aEnd)
		d := Diff{Path: path, NewText: joinLines(b[edits[i].b-before : edits[last].bEnd+after])}
		if old := a[edits[i].a-before : edits[last].aEnd+after]; len(old) > 0 {
			text := joinLines(old)
			d.OldText = &text
		}
		hunks = append(hunks, d)
		i = last + 1
	}
	return hunks
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// change says that the lines a to aEnd of the old text became the lines b to bEnd of the new one.
type change struct{ a, aEnd, b, bEnd int }

// changes finds the changes between two lists of lines, after cutting off what they share at both ends.
func changes(a, b []string) []change {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	inner := shortest(a[head:len(a)-tail], b[head:len(b)-tail])
	for i := range inner {
		inner[i].a += head
		inner[i].aEnd += head
		inner[i].b += head
		inner[i].bEnd += head
	}
	return inner
}

// shortest is the greedy search for a shortest edit script: after d edits, furthest[k] is the last old line that can be
// reached on the diagonal k (old minus new lines). The furthest points of each step are kept to walk back.
func shortest(a, b []string) []change {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	limit := min(len(a)+len(b), maxEdits)
	furthest := make([]int, 2*limit+3)
	at := func(k int) *int { return &furthest[k+limit+1] }
	var steps [][]int
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := *at(k - 1) + 1 // a line of the old text goes
			if k == -d || k != d && *at(k - 1) < *at(k + 1) {
				x = *at(k + 1) // a line of the new text comes
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			if *at(k) = x; x >= len(a) && x-k >= len(b) {
				return walkBack(steps, len(a), len(b))
			}
		}
		steps = append(steps, append([]int(nil), furthest[limit+1-d:limit+2+d]...))
	}
	return []change{{0, len(a), 0, len(b)}}
}

// walkBack turns the furthest points of each step into changes. In steps[d], the diagonal k stands at k+d.
func walkBack(steps [][]int, x, y int) []change {
	var out []change
	for d := len(steps); d > 0; d-- {
		before := func(k int) int {
			if k < -(d-1) || k > d-1 {
				return -1
			}
			return steps[d-1][k+d-1]
		}
		k := x - y
		insert := k == -d || k != d && before(k-1) < before(k+1)
		c := change{a: before(k - 1), b: before(k-1) - (k - 1)}
		c.aEnd, c.bEnd = c.a+1, c.b
		if insert {
			c = change{a: before(k + 1), b: before(k+1) - (k + 1)}
			c.aEnd, c.bEnd = c.a, c.b+1
		}
		if n := len(out); n > 0 && out[n-1].a == c.aEnd && out[n-1].b == c.bEnd {
			out[n-1].a, out[n-1].b = c.a, c.b
		} else {
			out = append(out, c)
		}
		x, y = c.a, c.b
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
