package runtime

// This file defines the reading of the transform's source map.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// segment maps a place of the printed code to one of the parser's input. All from 0, columns in UTF-16 units.
type segment struct {
	line, column             int
	sourceLine, sourceColumn int
	name                     int // index of the original name, -1 when it was kept
}

func compareSegments(a, b segment) int {
	return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
}

// output is what the transform printed.
type output struct {
	code    []byte
	mapping string
	names   []string // original names of what it renamed
}

func readOutput(code, sourceMap []byte) (output, error) {
	var m struct {
		Mappings string   `json:"mappings"`
		Names    []string `json:"names"`
	}
	if err := json.Unmarshal(sourceMap, &m); err != nil {
		return output{}, fmt.Errorf("its source map cannot be read: %w", err)
	}
	return output{code, m.Mappings, m.Names}, nil
}

// decodeMapping reads the VLQ form. What is malformed ends it.
func decodeMapping(mapping string) []segment {
	segments := make([]segment, 0, len(mapping)/5)
	var s segment
	name := 0
	for line := range strings.SplitSeq(mapping, ";") {
		s.column = 0
		for field := range strings.SplitSeq(line, ",") {
			if field == "" {
				continue
			}
			var v [5]int
			n, ok := decodeVLQ(field, &v)
			if !ok {
				return segments
			}
			s.column += v[0]
			if n < 4 {
				continue
			}
			s.sourceLine += v[2]
			s.sourceColumn += v[3]
			s.name = -1
			if n == 5 {
				name += v[4]
				s.name = name
			}
			segments = append(segments, s)
		}
		s.line++
	}
	return segments
}

// decodeVLQ reads up to five base 64 VLQ numbers.
func decodeVLQ(field string, v *[5]int) (n int, ok bool) {
	value, shift := 0, 0
	for i := range len(field) {
		d := base64Digit(field[i])
		if d < 0 || n == len(v) || shift > 40 {
			return n, false
		}
		value |= (d & 31) << shift
		shift += 5
		if d&32 == 0 {
			if value&1 == 1 {
				v[n] = -(value >> 1)
			} else {
				v[n] = value >> 1
			}
			n, value, shift = n+1, 0, 0
		}
	}
	return n, shift == 0
}

func base64Digit(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return -1
}
