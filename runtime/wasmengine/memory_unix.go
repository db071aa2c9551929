//go:build unix

package wasmengine

// This file reserves address space once for the whole life of a memory and opens it up as the memory grows: growing
// never copies, and what is not used costs nothing.

import (
	"fmt"
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// mmapSource copies the image into freshly mapped memory.
type mmapSource struct{ image contents }

func newMmapSource(image contents) *mmapSource { return &mmapSource{image} }

func (s *mmapSource) close() {}

func (s *mmapSource) memory(max uint64) (experimental.LinearMemory, error) {
	m, err := reserve(max)
	if err != nil {
		return nil, err
	}
	if b := m.Reallocate(uint64(s.image.size)); b == nil && s.image.size > 0 {
		m.Free()
		return nil, fmt.Errorf("open up %d bytes for the image", s.image.size)
	}
	for _, p := range s.image.parts {
		copy(m.region[p.offset:], p.bytes)
	}
	return m, nil
}

// mmapMemory is reserved address space whose first open bytes can be used.
type mmapMemory struct {
	region []byte
	open   uint64
}

func reserve(max uint64) (*mmapMemory, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(max), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space: %w", max, err)
	}
	return &mmapMemory{region: unsafe.Slice((*byte)(p), max)}, nil
}

// Reallocate implements experimental.LinearMemory.
func (m *mmapMemory) Reallocate(size uint64) []byte {
	max := uint64(len(m.region))
	if size > max {
		return nil
	}
	if size > m.open {
		to := min((size+growStep-1)/growStep*growStep, max)
		if err := unix.Mprotect(m.region[m.open:to], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil
		}
		m.open = to
	}
	return m.region[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *mmapMemory) Free() {
	if m.region != nil {
		_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(m.region)), uintptr(len(m.region)))
		m.region = nil
	}
}
