package mcptools

import (
	"math"
	"strconv"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// roundNumbers replaces, in a valid JSON text, each number that the lossless codec refuses by the nearest one that it takes.
// Generated schemas state the limits of 64-bit integers ("maximum": 9223372036854775807), and one such limit must not cost the
// model all tools of a server. It is for schemas only: in a result such a number fails the call (MCP-30).
func roundNumbers(text []byte) []byte {
	var out []byte
	kept := 0 // text[:kept] is in out
	for i := 0; i < len(text); {
		switch b := text[i]; {
		case b == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
		case b == '-' || '0' <= b && b <= '9':
			end := i + 1
			for end < len(text) && numberByte(text[end]) {
				end++
			}
			if rounded, changed := roundNumber(text[i:end]); changed {
				out = append(append(out, text[kept:i]...), rounded...)
				kept = end
			}
			i = end
		default:
			i++
		}
	}
	if kept == 0 {
		return text
	}
	return append(out, text[kept:]...)
}

func numberByte(b byte) bool {
	return '0' <= b && b <= '9' || b == '.' || b == 'e' || b == 'E' || b == '+' || b == '-'
}

func roundNumber(token []byte) (rounded string, changed bool) {
	if _, err := jsonval.Parse(token); err == nil {
		return "", false
	}
	f, err := strconv.ParseFloat(string(token), 64)
	switch {
	case math.IsInf(f, 1):
		f = math.MaxFloat64
	case math.IsInf(f, -1):
		f = -math.MaxFloat64
	case err != nil:
		return "", false // not a number: the codec will say so
	case f == 0:
		f = 0 // also for the negative zero
	}
	v, err := jsonval.Number(f)
	if err != nil {
		v = jsonval.MustOf(0)
	}
	return v.String(), true
}
