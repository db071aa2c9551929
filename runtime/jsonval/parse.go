package jsonval

// This file defines Parse: the structure of a document. What stands between the brackets is read in scan.go.

// Parse reads one JSON document (RFC 8259, strictly), with nothing but white space around it, and keeps no reference to
// text. Beyond the grammar it refuses what the domain cannot hold: text that is not UTF-8, unpaired surrogate escapes,
// negative zero, numbers too large for a double, integers that a double cannot hold (JSON-2 to JSON-4). Decimal fractions
// are rounded to the nearest double. Of a repeated name the last value counts and the first position (JSON-6). Every error
// is an [*Error]. It takes time and memory in proportion to the text, however deep it nests (JSON-10).
func Parse(text []byte) (Value, error) { return ParseString(string(text)) }

// ParseString is [Parse] for a string. The strings of the value share its memory.
func ParseString(text string) (Value, error) {
	v, err := parse(text)
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// opened is one container that is not closed yet: where its children start among the children of all open containers of
// its type, shifted left by one; the lowest bit says that it is an object.
type opened int

func (o opened) object() bool { return o&1 == 1 }
func (o opened) start() int   { return int(o >> 1) }

// parse keeps the finished children of all open containers in one stack for the items and one for the members. A container
// takes its children from there when it closes.
func parse(text string) (Value, *Error) {
	var (
		items      scratch[Value]
		members    scratch[Member]
		open       scratch[opened]
		itemSlab   slab[Value]
		memberSlab slab[Member]
		scan       = scanner{text: text, bad: invalidFrom(text)}

		v      Value
		pos    int
		c      byte
		failed *fault
		within bool // the fault concerns the innermost container, not a child of it
	)
value:
	within = false
	switch pos, c = scan.next(pos); c {
	case '"':
		v, pos, failed = scan.str(pos)
	case '{':
		open.push(opened(members.len()<<1 | 1))
		if pos, c = scan.next(pos + 1); c != '}' {
			goto member
		}
		goto endObject
	case '[':
		open.push(opened(items.len() << 1))
		if pos, c = scan.next(pos + 1); c != ']' {
			goto value
		}
		goto endArray
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		v, pos, failed = scan.number(pos)
	case 't':
		v, pos, failed = scan.word(pos, "true", Bool(true))
	case 'f':
		v, pos, failed = scan.word(pos, "false", Bool(false))
	case 'n':
		v, pos, failed = scan.word(pos, "null", Null())
	default:
		failed = scan.unexpected(pos, "a value")
	}
	if failed != nil {
		goto refused
	}

closed: // v is complete
	within = true
	pos, c = scan.next(pos)
	if open.len() == 0 {
		if pos == len(text) {
			return v, nil
		}
		failed = scan.unexpected(pos, "the end of the text")
		goto refused
	}
	if open.last().object() {
		members.last().Value = v
		switch c {
		case ',':
			pos, c = scan.next(pos + 1)
			goto member
		case '}':
			goto endObject
		}
		failed = scan.unexpected(pos, "',' or '}'")
		goto refused
	}
	items.push(v)
	switch c {
	case ',':
		pos++
		goto value
	case ']':
		goto endArray
	}
	failed = scan.unexpected(pos, "',' or ']'")
	goto refused

member:
	within = true
	if c != '"' {
		failed = scan.unexpected(pos, "a member's name in quotes")
		goto refused
	}
	if v, pos, failed = scan.str(pos); failed != nil {
		goto refused
	}
	if pos, c = scan.next(pos); c != ':' {
		failed = scan.unexpected(pos, "':' after a member's name")
		goto refused
	}
	pos++
	members.push(Member{Name: v.str()})
	goto value

endObject:
	pos++
	v = sealObject(members.take(open.last().start(), &memberSlab))
	open.cut(open.len() - 1)
	goto closed

endArray:
	pos++
	v = sealArray(items.take(open.last().start(), &itemSlab))
	open.cut(open.len() - 1)
	goto closed

refused:
	return Value{}, &Error{Path: place(items.from(0), members.from(0), open.from(0), within), What: failed.what, Offset: int64(failed.offset)}
}

// place returns the path of the child that was being read: the next item, or the member added last. With within it is the
// path of the innermost open container instead.
func place(items []Value, members []Member, open []opened, within bool) string {
	n := len(open)
	if within && n > 0 {
		n--
	}
	return joinPath(n, func(i int) string {
		end := len(items)
		if open[i].object() {
			end = len(members)
		}
		for _, inner := range open[i+1:] {
			if inner.object() == open[i].object() {
				end = inner.start()
				break
			}
		}
		if open[i].object() {
			return nameStep(members[end-1].Name)
		}
		return indexStep(end - open[i].start())
	})
}
