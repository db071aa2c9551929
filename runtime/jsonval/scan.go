package jsonval

// This file defines what Parse reads between the brackets: strings, numbers, words, white space.

import (
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// scanner reads the tokens of a text. Its methods take the position of a token and return the one after it.
type scanner struct {
	text string
	bad  int    // offset of the first byte that is not UTF-8, len(text) if there is none
	free []byte // memory for strings that had escapes
	size int    // of the last piece of that memory
}

// fault is a reason to refuse a text, and the byte it is about.
type fault struct {
	what   string
	offset int
}

// next moves past white space and returns the byte that follows; at the end of the text a byte that begins no token.
func (s *scanner) next(pos int) (int, byte) {
	if pos < len(s.text) && s.text[pos] > ' ' {
		return pos, s.text[pos]
	}
	return s.space(pos)
}

func (s *scanner) space(pos int) (int, byte) {
	for ; pos < len(s.text); pos++ {
		if c := s.text[pos]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return pos, c
		}
	}
	return pos, 0
}

// unexpected is the fault of a text that is not JSON because something else should be at pos.
func (s *scanner) unexpected(pos int, expected string) *fault {
	if pos == s.bad && pos < len(s.text) {
		return &fault{whatUTF8, pos}
	}
	found := "the end of the text"
	if pos < len(s.text) {
		r, _ := utf8.DecodeRuneInString(s.text[pos:])
		found = strconv.QuoteRune(r)
	}
	return &fault{"invalid JSON (byte " + strconv.Itoa(pos) + ": " + found + ", expected " + expected + ")", pos}
}

func (s *scanner) word(pos int, word string, v Value) (Value, int, *fault) {
	if end := pos + len(word); end <= len(s.text) && s.text[pos:end] == word {
		return v, end, nil
	}
	return Value{}, pos, s.unexpected(pos, "a value")
}

// powers are the powers of ten that a double holds exactly.
var powers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

func (s *scanner) number(pos int) (Value, int, *fault) {
	text, start := s.text, pos
	if text[pos] == '-' {
		pos++
	}
	// The digits as one integer, whose overflow does not matter: it is only used if there are few.
	mantissa, exponent := uint64(0), 0
	first := pos
	for ; pos < len(text) && text[pos]-'0' <= 9; pos++ {
		mantissa = mantissa*10 + uint64(text[pos]-'0')
	}
	digits := pos - first
	switch {
	case digits == 0:
		return Value{}, pos, s.unexpected(pos, "a digit")
	case digits > 1 && text[first] == '0':
		return Value{}, pos, s.unexpected(first+1, "no digit after a leading 0")
	}
	integer := true
	if pos < len(text) && text[pos] == '.' {
		pos++
		fraction := pos
		for ; pos < len(text) && text[pos]-'0' <= 9; pos++ {
			mantissa = mantissa*10 + uint64(text[pos]-'0')
		}
		if pos == fraction {
			return Value{}, pos, s.unexpected(pos, "a digit")
		}
		digits += pos - fraction
		exponent = fraction - pos
		integer = false
	}
	if pos < len(text) && text[pos]|0x20 == 'e' {
		pos++
		negative := false
		if pos < len(text) && (text[pos] == '+' || text[pos] == '-') {
			negative = text[pos] == '-'
			pos++
		}
		power, from := 0, pos
		for ; pos < len(text) && text[pos]-'0' <= 9; pos++ {
			power = min(power*10+int(text[pos]-'0'), 1<<20)
		}
		if pos == from {
			return Value{}, pos, s.unexpected(pos, "a digit")
		}
		if negative {
			power = -power
		}
		exponent += power
		integer = false
	}
	// Two doubles that are exact make a quotient or a product that is correctly rounded.
	if digits <= 19 && mantissa <= maxSafe && -len(powers) < exponent && exponent < len(powers) {
		f := float64(mantissa)
		if exponent < 0 {
			f /= powers[-exponent]
		} else {
			f *= powers[exponent]
		}
		if first == start {
			return number(f), pos, nil
		}
		if f != 0 {
			return number(-f), pos, nil
		}
		return Value{}, pos, &fault{whatNegZero, start}
	}
	f, what := parseNumber(text[start:pos], integer)
	if what != "" {
		return Value{}, pos, &fault{what, start}
	}
	return number(f), pos, nil
}

// str reads the string that starts with the quote at pos.
func (s *scanner) str(pos int) (Value, int, *fault) {
	start := pos + 1
	end := plainPrefix(s.text, start)
	if end == len(s.text) || s.text[end] != '"' {
		return s.escaped(start, end)
	}
	if end > s.bad {
		return Value{}, end, &fault{whatUTF8, s.bad}
	}
	v := text(s.text[start:end])
	v.plain = true
	return v, end + 1, nil
}

// escaped reads the string that starts at start; up to pos nothing of it has to be rewritten.
func (s *scanner) escaped(start, pos int) (Value, int, *fault) {
	buf := s.free[:0]
	for from := start; ; {
		if pos == len(s.text) {
			return Value{}, pos, s.unexpected(pos, `'"' at the end of a string`)
		}
		if pos > s.bad {
			return Value{}, pos, &fault{whatUTF8, s.bad}
		}
		if more := pos - from + utf8.UTFMax; cap(buf)-len(buf) < more {
			buf = s.grow(buf, more, len(s.text)-from)
		}
		buf = append(buf, s.text[from:pos]...)
		switch s.text[pos] {
		case '"':
			s.free = buf[len(buf):]
			return text(unsafe.String(unsafe.SliceData(buf), len(buf))), pos + 1, nil
		case '\\':
		default:
			return Value{}, pos, s.unexpected(pos, "an escape instead of a control character")
		}
		r, end, failed := s.escape(pos)
		if failed != nil {
			return Value{}, pos, failed
		}
		buf = utf8.AppendRune(buf, r)
		from = end
		pos = plainPrefix(s.text, from)
	}
}

// grow moves buf to a piece of memory with room for more bytes, of at most rest that this and all later strings need. The
// pieces grow, so that a small document does not hold a large one.
func (s *scanner) grow(buf []byte, more, rest int) []byte {
	s.size = min(2*s.size, 16<<10)
	size := min(max(2*len(buf)+more, s.size), len(buf)+rest+utf8.UTFMax)
	s.size = max(s.size, size)
	return append(make([]byte, 0, size), buf...)
}

// escape reads the escape sequence that starts with the backslash at pos.
func (s *scanner) escape(pos int) (rune, int, *fault) {
	if pos+1 < len(s.text) {
		switch c := s.text[pos+1]; c {
		case '"', '\\', '/':
			return rune(c), pos + 2, nil
		case 'b':
			return '\b', pos + 2, nil
		case 'f':
			return '\f', pos + 2, nil
		case 'n':
			return '\n', pos + 2, nil
		case 'r':
			return '\r', pos + 2, nil
		case 't':
			return '\t', pos + 2, nil
		case 'u':
			return s.unicode(pos)
		}
	}
	return 0, pos, s.unexpected(pos+1, `one of "\/bfnrtu after a backslash`)
}

// unicode reads \uXXXX at pos, or two of them if the first is half of a surrogate pair.
func (s *scanner) unicode(pos int) (rune, int, *fault) {
	r, ok := s.hex(pos + 2)
	if !ok {
		return 0, pos, s.unexpected(pos, `four hexadecimal digits after \u`)
	}
	if r < 0xD800 || r > 0xDFFF {
		return r, pos + 6, nil
	}
	if r < 0xDC00 && pos+8 <= len(s.text) && s.text[pos+6:pos+8] == `\u` {
		if low, ok := s.hex(pos + 8); ok && low >= 0xDC00 && low <= 0xDFFF {
			return 0x10000 + (r-0xD800)<<10 + (low - 0xDC00), pos + 12, nil
		}
	}
	return 0, pos, &fault{whatLone, pos} // JSON-4: never U+FFFD
}

func (s *scanner) hex(pos int) (rune, bool) {
	if len(s.text)-pos < 4 {
		return 0, false
	}
	r := rune(0)
	for i := pos; i < pos+4; i++ {
		c := s.text[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// invalidFrom returns the offset of the first byte of s that is not UTF-8, len(s) if there is none.
func invalidFrom(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	for i := 0; ; {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}
