package wasmengine

// This file makes a memory that an instance has used the image again. Mapping the image anew costs a page fault, and a page
// of fresh memory, for each page that a run writes to, and that is most of the time of a short run; so the pages that differ
// are overwritten where they are. Which those are is not deduced from anything that the instance did: the kernel is asked
// which pages of the mapping are no longer the file's.

import (
	"bytes"
	"encoding/binary"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxRestored is how many pages are overwritten at most. A memory with more of them is unmapped: that is as fast then, and
// what waits for the next run stays small.
const maxRestored = 192

// restorer is safe for concurrent use.
type restorer struct {
	pagemap int // a file descriptor

	mu    sync.RWMutex // held for reading while image and pagemap are used
	image []byte       // the image file, mapped for reading; nil: closed
}

// newRestorer returns nil where the system does not tell which pages were written to.
func newRestorer(image, size int) *restorer {
	if size == 0 || unix.Getpagesize() != hostPage {
		return nil
	}
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	b, err := unix.Mmap(image, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Close(fd)
		return nil
	}
	return &restorer{pagemap: fd, image: b}
}

func (r *restorer) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.image != nil {
		_ = unix.Munmap(r.image)
		_ = unix.Close(r.pagemap)
		r.image = nil
	}
}

// An entry of the page map, of which the kernel's documentation says more (admin-guide/mm/pagemap).
const (
	pageEntry   = 8
	pagePresent = 1 << 63
	pageSwapped = 1 << 62
	pageOfFile  = 1 << 61
)

// restore makes m the image, with nothing but zeros above it; false if it may be anything.
func (r *restorer) restore(m *mmapMemory) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	size := len(r.image)
	if size == 0 || m.open < uint64(size) {
		return false
	}
	// The pages above the image go; the next that are asked for are zero.
	if above := m.region[size:m.open]; len(above) > 0 && unix.Madvise(above, unix.MADV_DONTNEED) != nil {
		return false
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(m.region))) / hostPage
	var entries [128 * pageEntry]byte
	restored := 0
	for page := 0; page < size/hostPage; {
		part := entries[:min(len(entries), (size/hostPage-page)*pageEntry)]
		n, err := unix.Pread(r.pagemap, part, int64(first+uintptr(page))*pageEntry)
		if err != nil || n != len(part) {
			return false
		}
		for ; len(part) > 0; part = part[pageEntry:] {
			// A page that is neither present nor swapped out was not touched, or is the file's and comes back from there.
			e := binary.NativeEndian.Uint64(part)
			if e&(pagePresent|pageSwapped) != 0 && e&pageOfFile == 0 {
				if restored++; restored > maxRestored {
					return false
				}
				at := page * hostPage
				copy(m.region[at:at+hostPage], r.image[at:])
			}
			page++
		}
	}
	return true
}

// works tries the restorer on a memory of the image: what the kernel says of its pages is believed only where it has been
// seen to be true. It must not be used while the memory is anyone else's.
func (r *restorer) works(m *mmapMemory) bool {
	var pages []int // the first two of zeros and the first two of anything else, each written to after it was read, and not
	var seen [2]int
	for page := 0; page < len(r.image)/hostPage && min(seen[0], seen[1]) < 2; page++ {
		kind := 0
		if allZero(r.image[page*hostPage : (page+1)*hostPage]) {
			kind = 1
		}
		if seen[kind]++; seen[kind] <= 2 {
			pages = append(pages, page)
		}
	}
	page := func(b []byte, n int) []byte { return b[n*hostPage : (n+1)*hostPage] }
	for i, n := range pages {
		if i%2 == 0 && !bytes.Equal(page(m.region, n), page(r.image, n)) {
			return false
		}
		m.region[n*hostPage+i] ^= 0xff
	}
	if !r.restore(m) {
		return false
	}
	for _, n := range pages {
		if !bytes.Equal(page(m.region, n), page(r.image, n)) {
			return false
		}
	}
	return true
}
