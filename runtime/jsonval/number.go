package jsonval

// This file defines numbers: what the domain refuses, and their text.

import (
	"math"
	"strconv"
)

const maxSafe = 1 << 53

// lossyFloat says why f is outside the domain; "" if it is inside (JSON-2).
func lossyFloat(f float64) string {
	switch {
	case f != f:
		return whatNaN
	case f > math.MaxFloat64 || f < -math.MaxFloat64:
		return whatInfinity
	case f == 0 && math.Signbit(f):
		return whatNegZero
	}
	return ""
}

// exactInt reports whether a double holds i exactly.
func exactInt(i int64) bool {
	if -maxSafe <= i && i <= maxSafe {
		return true
	}
	f := float64(i)
	return f < 1<<63 && int64(f) == i
}

func exactUint(u uint64) bool {
	if u <= maxSafe {
		return true
	}
	f := float64(u)
	return f < 1<<64 && uint64(f) == u
}

// appendNumber appends f in the shortest form that ECMAScript gives it (VALUE-6).
func appendNumber(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs < maxSafe {
		if i := int64(f); float64(i) == f {
			return strconv.AppendInt(dst, i, 10)
		}
	}
	if abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go writes at least two digits of exponent: 1e-07.
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// appendExact is appendNumber, but integers below 10^21 have all their digits, as Go's integer types need them: 2^60 is
// 1152921504606846976, and not 1152921504606847000, which is as near to no other double.
func appendExact(dst []byte, f float64) []byte {
	if abs := math.Abs(f); abs >= maxSafe && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', 0, 64)
	}
	return appendNumber(dst, f)
}

// numberSize returns the length of appendNumber's text.
func numberSize(f float64) int64 {
	if i := int64(f); -maxSafe < f && f < maxSafe && float64(i) == f {
		n := int64(1)
		if i < 0 {
			n, i = 2, -i
		}
		for ; i >= 10; i /= 10 {
			n++
		}
		return n
	}
	var room [32]byte
	return int64(len(appendNumber(room[:0], f)))
}

// parseNumber returns the number that the JSON literal s denotes; integer says that it has neither fraction nor exponent.
//
// An integer is refused unless the double nearest to it is that integer, or is printed as that very literal: doubles from
// 2^53 up have a shortest text that is not their exact value (2^60 is 1152921504606847000), and what this codec or a
// JavaScript engine prints must be readable (JSON-3, VALUE-6).
func parseNumber(s string, integer bool) (f float64, what string) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, whatOverflow // the only error that the grammar leaves
	}
	if f == 0 && s[0] == '-' {
		return 0, whatNegZero
	}
	if integer && (f >= maxSafe || f <= -maxSafe) {
		var room [400]byte
		if string(strconv.AppendFloat(room[:0], f, 'f', 0, 64)) != s && string(appendNumber(room[:0], f)) != s {
			return 0, whatInexact
		}
	}
	return f, ""
}
