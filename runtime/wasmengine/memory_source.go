package wasmengine

// This file defines where an instance's linear memory comes from, and the one way that works on every system.

import (
	"github.com/tetratelabs/wazero/experimental"
)

// memorySource makes linear memories that begin with a copy of one image. It is safe for concurrent use.
type memorySource interface {
	// memory returns a linear memory that holds the image and can grow to max bytes. The first size that is asked of it
	// may be smaller than the image; what lies above comes to light as it grows. Free may be called more than once.
	memory(max uint64) (experimental.LinearMemory, error)

	// close releases the image. Memories already made live on.
	close()
}

const (
	hostPage = 4096
	// growStep is the least by which a memory is extended in the host, so that a heap that grows by single pages of 64
	// KiB does not cost a system call for each.
	growStep = 1 << 20
)

// run is a stretch of an image that is not zero.
type run struct {
	offset int
	bytes  []byte
}

// nonZero returns the parts of image that are not zero, in whole host pages.
func nonZero(image []byte) []run {
	var runs []run
	for at := 0; at < len(image); at += hostPage {
		page := image[at:min(at+hostPage, len(image))]
		if allZero(page) {
			continue
		}
		if n := len(runs) - 1; n >= 0 && runs[n].offset+len(runs[n].bytes) == at {
			runs[n].bytes = image[runs[n].offset : at+len(page)]
			continue
		}
		runs = append(runs, run{at, page})
	}
	return runs
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// sliceSource copies the image into ordinary Go memory.
type sliceSource struct {
	runs []run
	size int
}

func newSliceSource(image []byte) *sliceSource { return &sliceSource{nonZero(image), len(image)} }

func (s *sliceSource) close() {}

func (s *sliceSource) memory(max uint64) (experimental.LinearMemory, error) {
	m := &sliceMemory{buf: make([]byte, 0, s.size), max: max}
	for _, r := range s.runs {
		copy(m.buf[r.offset:s.size], r.bytes)
	}
	return m, nil
}

type sliceMemory struct {
	buf []byte
	max uint64
}

// Reallocate grows by a quarter at least, so that growing page by page copies each byte a few times only.
func (m *sliceMemory) Reallocate(size uint64) []byte {
	if size > m.max {
		return nil
	}
	if c := uint64(cap(m.buf)); size > c {
		bigger := make([]byte, size, min(max(size+growStep, size+size/4), m.max))
		copy(bigger, m.buf[:c])
		m.buf = bigger
	}
	m.buf = m.buf[:max(size, uint64(len(m.buf)))]
	return m.buf[:size:size]
}

func (m *sliceMemory) Free() { m.buf = nil }
