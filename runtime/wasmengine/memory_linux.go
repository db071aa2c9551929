package wasmengine

// This file maps an image copy-on-write: an instance shares the image's pages with all others until it writes to one.

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// noReserve keeps reserved address space out of the kernel's account of promised memory.
const noReserve = unix.MAP_NORESERVE

func newMemorySource(image []byte) memorySource {
	if s, err := newCowSource(image); err == nil {
		return s
	}
	return newMmapSource(image)
}

// cowSource holds the image in a sealed file without a name.
type cowSource struct {
	file *os.File
	fd   int // of file, which would be switched to blocking mode each time it is asked
	size uint64
}

func newCowSource(image []byte) (*cowSource, error) {
	if len(image)%hostPage != 0 {
		return nil, fmt.Errorf("image of %d bytes is not whole pages", len(image))
	}
	fd, err := unix.MemfdCreate("engine image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "engine image")
	s := &cowSource{f, fd, uint64(len(image))}
	// Zero pages stay holes.
	if err := f.Truncate(int64(len(image))); err != nil {
		s.close()
		return nil, fmt.Errorf("size the image file: %w", err)
	}
	for _, r := range nonZero(image) {
		if _, err := f.WriteAt(r.bytes, int64(r.offset)); err != nil {
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
	return s, nil
}

func (s *cowSource) close() { _ = s.file.Close() }

func (s *cowSource) memory(max uint64) (experimental.LinearMemory, error) {
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
