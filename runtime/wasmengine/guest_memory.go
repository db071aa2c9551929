package wasmengine

// This file is the only one that reads and writes a guest's memory. Pointers and lengths come from the guest and may be
// anything: each access is checked, and one outside of the memory is an error, never a fault of the host.

import (
	"encoding/binary"
	"errors"

	"github.com/tetratelabs/wazero/api"
)

var errOutside = errors.New("the guest named memory that it does not have")

// guestMemory is the linear memory of one instance, used by the goroutine that drives the instance.
type guestMemory struct{ api.Memory }

func (m guestMemory) u32(p uint32) (uint32, error) {
	v, ok := m.ReadUint32Le(p)
	if !ok {
		return 0, errOutside
	}
	return v, nil
}

func (m guestMemory) u16(p uint32) (uint16, error) {
	v, ok := m.ReadUint16Le(p)
	if !ok {
		return 0, errOutside
	}
	return v, nil
}

func (m guestMemory) value(p uint32) (value, error) {
	v, ok := m.ReadUint64Le(p)
	if !ok {
		return 0, errOutside
	}
	return value(v), nil
}

// text returns a copy of n bytes.
func (m guestMemory) text(p, n uint32) (string, error) {
	b, ok := m.Read(p, n)
	if !ok {
		return "", errOutside
	}
	return string(b), nil
}

// args returns the values behind the pointers of a host function's argument vector: at most max, for what a forged call
// passes beyond is of no interest.
func (m guestMemory) args(argv, argc uint32, max int) (n int, args [maxArgs]value, err error) {
	n = int(min(argc, uint32(max)))
	list, ok := m.Read(argv, uint32(n)*4)
	if !ok {
		return 0, args, errOutside
	}
	for i := range n {
		if args[i], err = m.value(binary.LittleEndian.Uint32(list[i*4:])); err != nil {
			return 0, args, err
		}
	}
	return n, args, nil
}

func (m guestMemory) putU32(p, v uint32) error {
	if !m.WriteUint32Le(p, v) {
		return errOutside
	}
	return nil
}

func (m guestMemory) putU64(p uint32, v uint64) error {
	if !m.WriteUint64Le(p, v) {
		return errOutside
	}
	return nil
}

// putText writes s and a NUL.
func (m guestMemory) putText(p uint32, s string) error {
	end := uint64(p) + uint64(len(s))
	if end >= uint64(m.Size()) || !m.WriteString(p, s) || !m.WriteByte(uint32(end), 0) {
		return errOutside
	}
	return nil
}

func (m guestMemory) putBytes(p uint32, b []byte) error {
	if !m.Write(p, b) {
		return errOutside
	}
	return nil
}

// find returns the offset of the only aligned word in [p, p+n) that is v.
func (m guestMemory) find(p, n, v uint32) (uint32, error) {
	b, ok := m.Read(p, n)
	if !ok {
		return 0, errOutside
	}
	found := -1
	for at := 0; at+4 <= len(b); at += 4 {
		if binary.LittleEndian.Uint32(b[at:]) != v {
			continue
		}
		if found >= 0 {
			return 0, errors.New("the word stands twice")
		}
		found = at
	}
	if found < 0 {
		return 0, errors.New("no such word")
	}
	return p + uint32(found), nil
}
