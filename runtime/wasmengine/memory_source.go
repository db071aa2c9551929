package wasmengine

// This file defines where an instance's linear memory comes from, and the one way that works on every system.

import (
	"bytes"

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

// contents are what a memory begins with: some bytes, and zeros between them. They are not changed.
type contents struct {
	size  int
	parts []part // whole pages, in ascending order
}

// part is a stretch of an image that is not zero.
type part struct {
	offset int
	bytes  []byte
}

// contentsOf returns the pages of image that are not zero, without copying them.
func contentsOf(image []byte) contents {
	c := contents{size: len(image)}
	for at := 0; at < len(image); at += hostPage {
		page := image[at:min(at+hostPage, len(image))]
		if allZero(page) {
			continue
		}
		if n := len(c.parts) - 1; n >= 0 && c.parts[n].offset+len(c.parts[n].bytes) == at {
			c.parts[n].bytes = image[c.parts[n].offset : at+len(page)]
			continue
		}
		c.parts = append(c.parts, part{at, page})
	}
	return c
}

var zeros [hostPage]byte

func allZero(b []byte) bool {
	for len(b) > len(zeros) {
		if !bytes.Equal(b[:len(zeros)], zeros[:]) {
			return false
		}
		b = b[len(zeros):]
	}
	return bytes.Equal(b, zeros[:len(b)])
}

// sliceSource copies the image into ordinary Go memory.
type sliceSource struct{ image contents }

func newSliceSource(image contents) *sliceSource { return &sliceSource{image} }

func (s *sliceSource) close() {}

func (s *sliceSource) memory(max uint64) (experimental.LinearMemory, error) {
	m := &sliceMemory{buf: make([]byte, 0, s.image.size), max: max}
	for _, p := range s.image.parts {
		copy(m.buf[p.offset:s.image.size], p.bytes)
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
