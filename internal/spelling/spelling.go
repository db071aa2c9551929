// Package spelling compares names that somebody wrote with names that exist, for messages that say what was probably meant (CODE-34).
package spelling

import "strings"

// maxName is how much of a name is compared, in bytes. It bounds what a comparison costs.
const maxName = 60

// equal is nearer than any two names that differ can be.
const equal = -1000

// Distance says how far apart two names are spelled, whatever their case and separators: ten for each byte to insert, remove or change,
// less for a name that contains the other. It is below zero for names that are the same in that sense, and lower than for any others.
func Distance(a, b string) int {
	a, b = Fold(a), Fold(b)
	if a == b {
		return equal
	}
	far := 10 * edits(a, b)
	if shorter := min(len(a), len(b)); shorter >= 3 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		far -= 10 * shorter
	}
	return far
}

// Slip reports whether a distance from a wanted name is that of a slip of the pen: at most one byte of three is wrong.
func Slip(wanted string, distance int) bool { return distance <= 10*(len(Fold(wanted))/3) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// Fold returns a name without case and separators, cut to what is compared.
func Fold(name string) string {
	return separators.Replace(strings.ToLower(name[:min(len(name), maxName)]))
}

// edits counts the bytes to insert, remove or change to make one text of the other.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
