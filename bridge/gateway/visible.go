package gateway

// This file defines how foreign names and texts are shown to people and models, so that they look like what they are.

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
)

// maxName is how many bytes of a name are shown to people and models.
const maxName = 128

// visibleName returns a name bare if it is plain, else as a JSON string, bounded.
func visibleName(name string) string {
	if isPlain(name) && len(name) <= maxName {
		return name
	}
	return quotedName(name)
}

// quotedName returns a name as a JSON string, bounded.
func quotedName(name string) string {
	text, _ := json.Marshal(cutEnd(name, maxName)) // of a string
	return visible(string(text))
}

func isPlain(name string) bool {
	for _, c := range []byte(name) {
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
		if !plain {
			return false
		}
	}
	return name != ""
}

// visible escapes, as JSON does, all characters of a JSON text that do not show or that change how others show: controls,
// directions of writing, joiners, spaces that are none.
func visible(text string) string { return cutVisible(text, -1) }

// cutVisible is visible within a number of bytes; what is beyond is counted. A negative limit is none.
func cutVisible(text string, limit int) string {
	var b strings.Builder
	for i, r := range text {
		n := b.Len()
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				b.WriteString(`\u` + strconv.FormatUint(0x10000|uint64(unit), 16)[1:])
			}
		}
		if limit >= 0 && b.Len() > limit {
			return b.String()[:n] + "… (" + strconv.Itoa(len(text)-i) + " of " + strconv.Itoa(len(text)) + " bytes are not shown)"
		}
	}
	return b.String()
}
