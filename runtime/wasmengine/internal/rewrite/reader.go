package rewrite

import "fmt"

// reader is a cursor over bytes that nobody has checked. The first failure sticks: later reads return zeros, and err
// says where it went wrong.
type reader struct {
	b    []byte
	p    int
	base int // offset of b in the module, for messages
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("offset %d: %s", r.base+r.p, fmt.Sprintf(format, args...))
		r.p = len(r.b)
	}
}

func (r *reader) more() bool { return r.err == nil && r.p < len(r.b) }

func (r *reader) byte() byte {
	if r.p >= len(r.b) {
		r.fail("unexpected end")
		return 0
	}
	c := r.b[r.p]
	r.p++
	return c
}

// u32 reads an unsigned LEB128 of at most 32 bits.
func (r *reader) u32() uint32 {
	if r.p < len(r.b) && r.b[r.p] < 0x80 {
		r.p++
		return uint32(r.b[r.p-1])
	}
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if v > 1<<32-1 {
				r.fail("integer above 32 bits")
				return 0
			}
			return uint32(v)
		}
	}
	r.fail("integer of more than 5 bytes")
	return 0
}

// s32 reads a signed LEB128 of at most 32 bits.
func (r *reader) s32() int32 {
	var v int64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			if v != int64(int32(v)) {
				r.fail("integer above 32 bits")
				return 0
			}
			return int32(v)
		}
	}
	r.fail("integer of more than 5 bytes")
	return 0
}

// skipLEB passes over one LEB128 of at most max bytes without reading its value.
func (r *reader) skipLEB(max int) {
	for n := range max {
		if r.p+n >= len(r.b) {
			break
		}
		if r.b[r.p+n] < 0x80 {
			r.p += n + 1
			return
		}
	}
	r.fail("integer of more than %d bytes", max)
}

// bytes returns the next n bytes, a part of the module.
func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)-r.p) {
		r.fail("%d bytes expected, %d left", n, len(r.b)-r.p)
		return nil
	}
	s := r.b[r.p : r.p+int(n) : r.p+int(n)]
	r.p += int(n)
	return s
}

// sub returns a reader of the next n bytes.
func (r *reader) sub(n uint32) reader {
	base := r.base + r.p
	return reader{b: r.bytes(n), base: base, err: r.err}
}

func (r *reader) name() string { return string(r.bytes(r.u32())) }

// count reads the length of a vector whose elements take at least one byte each, so that a forged length cannot make
// anyone allocate more than the module's size.
func (r *reader) count() int {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.p) {
		r.fail("%d elements do not fit in %d bytes", n, len(r.b)-r.p)
		return 0
	}
	return int(n)
}
