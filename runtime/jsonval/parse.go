package jsonval

import (
	"strconv"
	"unicode/utf8"
)

// Parse reads one JSON document (RFC 8259, strictly), with nothing but white space around it, and keeps no reference to
// text. Beyond the grammar it refuses what the domain cannot hold: text that is not UTF-8, unpaired surrogate escapes,
// negative zero, numbers too large for a double, integers that a double cannot hold (JSON-2 to JSON-4). Decimal fractions
// are rounded to the nearest double. Of a repeated name the last value counts and the first position (JSON-6). Every error
// is an [*Error]. It takes time and memory in proportion to the text, however deep it nests (JSON-10).
func Parse(text []byte) (Value, error) { return ParseString(string(text)) }

// ParseString is [Parse] for a string. The strings of the value share its memory.
func ParseString(text string) (Value, error) {
	p := parser{text: text, bad: invalidFrom(text)}
	v, err := p.document()
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// parser is the state of reading one document.
type parser struct {
	text string
	pos  int
	bad  int    // offset of the first byte that is not UTF-8, len(text) if there is none
	free []byte // room for strings that had escapes
	b    builder
}

func (p *parser) document() (v Value, err *Error) {
	var items [16]Value
	var members [16]Member
	var open [16]opened
	p.b = builder{items: items[:0], members: members[:0], open: open[:0]}
value:
	switch c := p.skip(); {
	case c == '"':
		s, plain, err := p.str()
		if err != nil {
			return Value{}, err
		}
		v = text(s)
		v.plain = plain
	case c == '{':
		p.pos++
		p.b.openObject()
		if p.skip() != '}' {
			goto member
		}
		p.pos++
		v = p.b.closeObject()
	case c == '[':
		p.pos++
		p.b.openArray()
		if p.skip() != ']' {
			goto value
		}
		p.pos++
		v = p.b.closeArray()
	case c == '-' || c >= '0' && c <= '9':
		f, err := p.number()
		if err != nil {
			return Value{}, err
		}
		v = number(f)
	case c == 't' && p.word("true"):
		v = Bool(true)
	case c == 'f' && p.word("false"):
		v = Bool(false)
	case c == 'n' && p.word("null"):
		v = Null()
	default:
		return Value{}, p.syntax("a value", false)
	}

	for len(p.b.open) > 0 {
		if p.b.open[len(p.b.open)-1].object() {
			p.b.members[len(p.b.members)-1].Value = v
			switch p.skip() {
			case ',':
				p.pos++
				goto member
			case '}':
				p.pos++
				v = p.b.closeObject()
			default:
				return Value{}, p.syntax("',' or '}'", true)
			}
			continue
		}
		p.b.items = append(p.b.items, v)
		switch p.skip() {
		case ',':
			p.pos++
			goto value
		case ']':
			p.pos++
			v = p.b.closeArray()
		default:
			return Value{}, p.syntax("',' or ']'", true)
		}
	}
	if p.skip(); p.pos < len(p.text) {
		return Value{}, p.syntax("the end of the text", true)
	}
	return v, nil

member:
	if p.skip() != '"' {
		return Value{}, p.syntax("a member's name in quotes", true)
	}
	name, _, err := p.str()
	if err != nil {
		err.Path = p.b.path(true)
		return Value{}, err
	}
	if p.skip() != ':' {
		return Value{}, p.syntax("':' after a member's name", true)
	}
	p.pos++
	p.b.members = append(p.b.members, Member{Name: name})
	goto value
}

// skip moves past white space and returns the byte that follows, 0 at the end.
func (p *parser) skip() byte {
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		p.pos++
	}
	return 0
}

func (p *parser) word(w string) bool {
	if len(p.text)-p.pos < len(w) || p.text[p.pos:p.pos+len(w)] != w {
		return false
	}
	p.pos += len(w)
	return true
}

func (p *parser) number() (float64, *Error) {
	s, start := p.text, p.pos
	i := start
	if s[i] == '-' {
		i++
	}
	first := i
	mantissa := uint64(0)
	for i < len(s) && s[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(s[i]-'0')
		i++
	}
	digits := i - first
	if p.pos = i; digits == 0 {
		return 0, p.syntax("a digit", false)
	}
	if s[first] == '0' && digits > 1 {
		p.pos = first + 1
		return 0, p.syntax("no digit after a leading zero", false)
	}
	integer := true
	if i < len(s) && s[i] == '.' {
		integer = false
		i++
		from := i
		for i < len(s) && s[i]-'0' <= 9 {
			i++
		}
		if p.pos = i; i == from {
			return 0, p.syntax("a digit", false)
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		integer = false
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		from := i
		for i < len(s) && s[i]-'0' <= 9 {
			i++
		}
		if p.pos = i; i == from {
			return 0, p.syntax("a digit", false)
		}
	}
	p.pos = i
	if integer && digits <= 15 {
		if first == start {
			return float64(mantissa), nil
		}
		if mantissa != 0 {
			return -float64(mantissa), nil
		}
	}
	f, what := parseNumber(s[start:i], integer)
	if what != "" {
		return 0, p.fail(what, start, false)
	}
	return f, nil
}

// str reads the string that starts here; plain says that its JSON form is itself between quotes.
func (p *parser) str() (s string, plain bool, err *Error) {
	start := p.pos + 1
	i := plainPrefix(p.text, start)
	if i < len(p.text) && p.text[i] == '"' {
		if i > p.bad {
			return "", false, p.fail(whatUTF8, p.bad, false)
		}
		p.pos = i + 1
		return p.text[start:i], true, nil
	}
	return p.escaped(start, i)
}

// escaped reads the rest of a string that starts at start and needs no rewriting up to i.
func (p *parser) escaped(start, i int) (string, bool, *Error) {
	buf := p.free[:0]
	from := start
	for {
		p.pos = i
		if i == len(p.text) {
			return "", false, p.syntax("the closing '\"' of a string", false)
		}
		switch c := p.text[i]; {
		case c == '"':
			if i > p.bad {
				return "", false, p.fail(whatUTF8, p.bad, false)
			}
			buf = append(buf, p.text[from:i]...)
			p.pos = i + 1
			p.free = buf[len(buf):]
			return string(buf), false, nil
		case c != '\\':
			return "", false, p.syntax("an escape instead of a control character", false)
		}
		buf = append(buf, p.text[from:i]...)
		var err *Error
		if buf, err = p.escape(buf); err != nil {
			return "", false, err
		}
		from = p.pos
		i = plainPrefix(p.text, from)
	}
}

// escape reads the escape sequence that starts here and appends the character that it stands for.
func (p *parser) escape(buf []byte) ([]byte, *Error) {
	p.pos++
	if p.pos == len(p.text) {
		return nil, p.syntax("an escape", false)
	}
	c := p.text[p.pos]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return p.unicode(buf)
	default:
		return nil, p.syntax(`one of "\/bfnrtu after a backslash`, false)
	}
	p.pos++
	return append(buf, c), nil
}

func (p *parser) unicode(buf []byte) ([]byte, *Error) {
	start := p.pos - 1
	r, ok := p.hex(p.pos + 1)
	if !ok {
		return nil, p.syntax(`four hexadecimal digits after \u`, false)
	}
	p.pos += 5
	if r&0xF800 != 0xD800 {
		return utf8.AppendRune(buf, r), nil
	}
	if r < 0xDC00 && len(p.text)-p.pos >= 2 && p.text[p.pos:p.pos+2] == `\u` {
		if low, ok := p.hex(p.pos + 2); ok && low&0xFC00 == 0xDC00 {
			p.pos += 6
			return utf8.AppendRune(buf, 0x10000+(r-0xD800)<<10+(low-0xDC00)), nil
		}
	}
	return nil, p.fail(whatLone, start, false)
}

func (p *parser) hex(i int) (rune, bool) {
	if len(p.text)-i < 4 {
		return 0, false
	}
	r := rune(0)
	for _, c := range []byte(p.text[i : i+4]) {
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

// syntax is the error of text that is not JSON: at this byte something else was expected.
func (p *parser) syntax(expected string, container bool) *Error {
	found := "the end of the text"
	if p.pos < len(p.text) {
		if p.pos >= p.bad {
			return p.fail(whatUTF8, p.pos, container)
		}
		r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
		found = strconv.QuoteRune(r)
	}
	return p.fail("invalid JSON (byte "+strconv.Itoa(p.pos)+": "+found+", expected "+expected+")", p.pos, container)
}

func (p *parser) fail(what string, offset int, container bool) *Error {
	return &Error{Path: p.b.path(container), What: what, Offset: int64(offset)}
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
