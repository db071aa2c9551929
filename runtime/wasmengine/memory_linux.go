package wasmengine

// This file maps an image copy-on-write: an instance shares the image's pages with all others until it writes to one.

import (
	"fmt"
	"os"
	goruntime "runtime"
	"sync"
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// noReserve keeps reserved address space out of the kernel's account of promised memory.
const noReserve = unix.MAP_NORESERVE

func newMemorySource(image contents) memorySource {
	if s, err := newCowSource(image); err == nil {
		return s
	}
	return newMmapSource(image)
}

// cowSource holds the image in a sealed file without a name, and memories that were used and are the image again
// (restore_linux.go).
type cowSource struct {
	file     *os.File
	fd       int // of file, which would be switched to blocking mode each time it is asked
	size     uint64
	restorer *restorer // nil: memories are not used again

	mu   sync.Mutex
	idle []*mmapMemory
	most int // how many of them are kept: 0 after close
}

func newCowSource(image contents) (*cowSource, error) {
	if image.size%hostPage != 0 {
		return nil, fmt.Errorf("image of %d bytes is not whole pages", image.size)
	}
	fd, err := unix.MemfdCreate("engine image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "engine image")
	s := &cowSource{file: f, fd: fd, size: uint64(image.size), most: goruntime.GOMAXPROCS(0)}
	// Zero pages stay holes.
	if err := f.Truncate(int64(image.size)); err != nil {
		s.close()
		return nil, fmt.Errorf("size the image file: %w", err)
	}
	for _, p := range image.parts {
		if _, err := f.WriteAt(p.bytes, int64(p.offset)); err != nil {
			s.close()
			return nil, fmt.Errorf("write the image file: %w", err)
		}
	}
	// No run may ever see another run's writes, whatever goes wrong.
	seals := unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		s.close()
		return nil, fmt.Errorf("seal the image file: %w", err)
	}
	s.restorer = s.newRestorer()
	return s, nil
}

// newRestorer returns nil unless it works here.
func (s *cowSource) newRestorer() *restorer {
	r := newRestorer(s.fd, int(s.size))
	if r == nil {
		return nil
	}
	m, err := s.mapped(s.size)
	if err == nil {
		defer m.Free()
	}
	if err != nil || !r.works(m) {
		r.close()
		return nil
	}
	return r
}

func (s *cowSource) close() {
	s.mu.Lock()
	s.most = 0
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, m := range idle {
		m.Free()
	}
	if s.restorer != nil {
		s.restorer.close()
	}
	_ = s.file.Close()
}

func (s *cowSource) memory(max uint64) (experimental.LinearMemory, error) {
	if m := s.takeIdle(max); m != nil {
		return &cowMemory{m, s}, nil
	}
	m, err := s.mapped(max)
	if err != nil {
		return nil, err
	}
	return &cowMemory{m, s}, nil
}

// mapped returns a new memory.
func (s *cowSource) mapped(max uint64) (*mmapMemory, error) {
	m, err := reserve(max)
	if err != nil {
		return nil, err
	}
	// The image is mapped once, here; a later growth only opens up what lies above.
	if s.size > 0 {
		p := unsafe.Pointer(unsafe.SliceData(m.region))
		_, err = unix.MmapPtr(s.fd, 0, p, uintptr(s.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|noReserve)
	}
	if err != nil {
		m.Free()
		return nil, fmt.Errorf("map the image: %w", err)
	}
	m.open = s.size
	return m, nil
}

// takeIdle returns a memory that was restored, if there is one of that size. The last one that came goes first, for its pages
// are still in the processor's cache.
func (s *cowSource) takeIdle(max uint64) *mmapMemory {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.idle) - 1
	if last < 0 || uint64(len(s.idle[last].region)) != max {
		return nil
	}
	m := s.idle[last]
	s.idle = s.idle[:last]
	return m
}

// giveBack takes a memory whose instance is gone. It is the image again before anyone can have it, or it is unmapped: what is
// kept holds nothing of a program (RUN-10).
func (s *cowSource) giveBack(m *mmapMemory) {
	if s.room() && s.restorer.restore(m) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.idle) < s.most {
			s.idle = append(s.idle, m)
			return
		}
	}
	m.Free()
}

// room reports whether it makes sense to restore a memory.
func (s *cowSource) room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restorer != nil && len(s.idle) < s.most
}

// cowMemory is a memory as long as an instance has it.
type cowMemory struct {
	memory *mmapMemory // nil: given back
	source *cowSource
}

// Reallocate implements experimental.LinearMemory.
func (m *cowMemory) Reallocate(size uint64) []byte { return m.memory.Reallocate(size) }

// Free implements experimental.LinearMemory.
func (m *cowMemory) Free() {
	if m.memory != nil {
		m.source.giveBack(m.memory)
		m.memory = nil
	}
}
