package wasmengine

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/tetratelabs/wazero/experimental"
)

// restoring returns a source that uses memories again, and its image.
func restoring(t *testing.T) (*cowSource, []byte) {
	t.Helper()
	image := make([]byte, 16*wasmPage)
	for i := range image {
		if i/hostPage%3 != 0 { // some pages are holes
			image[i] = byte(i * 7)
		}
	}
	s, err := newCowSource(contentsOf(image))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	if s.restorer == nil {
		t.Skip("the kernel does not tell here which pages were written to")
	}
	return s, image
}

func TestRestore(t *testing.T) {
	const most = 64 * wasmPage
	take := func(t *testing.T, s *cowSource) (*cowMemory, []byte) {
		t.Helper()
		m, err := s.memory(most)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Free)
		return m.(*cowMemory), m.Reallocate(s.size)
	}

	t.Run("RUN-10 a memory that was used is the image again, and zero above it", func(t *testing.T) {
		s, image := restoring(t)
		want := append(bytes.Clone(image), make([]byte, most-len(image))...)
		rnd := rand.New(rand.NewPCG(1, 2))
		var region *byte
		again := 0
		for range 200 {
			m, b := take(t, s)
			if &b[0] == region {
				again++
			}
			region = &b[0]
			if all := m.Reallocate(most); !bytes.Equal(all, want) {
				t.Fatal("the memory is not as it was")
			}
			b = m.Reallocate(most)
			for range rnd.IntN(2 * maxRestored) {
				b[rnd.IntN(len(b))] ^= byte(1 + rnd.IntN(255))
			}
			m.Free()
		}
		if again < 50 {
			t.Errorf("only %d of 200 memories were used again", again)
		}
	})
	t.Run("a memory with many changed pages is not kept", func(t *testing.T) {
		s, image := restoring(t)
		for _, pages := range []int{len(image) / hostPage, maxRestored + 1, maxRestored} {
			m, b := take(t, s)
			for i := range min(pages, len(image)/hostPage) {
				b[i*hostPage]++
			}
			m.Free()
			if kept := len(s.idle) == 1; kept != (pages <= maxRestored) {
				t.Errorf("after %d changed pages %d are kept", pages, len(s.idle))
			}
		}
	})
	t.Run("RUN-10 freeing twice does not take the memory from its next owner", func(t *testing.T) {
		s, image := restoring(t)
		a, b := take(t, s)
		b[0]++
		a.Free()
		c, d := take(t, s)
		a.Free()
		e, f := take(t, s)
		if &d[0] == &f[0] {
			t.Fatal("two owners have one memory")
		}
		if !bytes.Equal(d, image) || !bytes.Equal(f, image) {
			t.Error("a memory is not the image")
		}
		c.Free()
		e.Free()
	})
	t.Run("no more are kept than can be used at a time, and none after close", func(t *testing.T) {
		s, _ := restoring(t)
		var all []experimental.LinearMemory
		for range s.most + 3 {
			m, _ := take(t, s)
			all = append(all, m)
		}
		last := all[len(all)-1]
		for _, m := range all[:len(all)-1] {
			m.Free()
		}
		if len(s.idle) != s.most {
			t.Errorf("%d are kept, want %d", len(s.idle), s.most)
		}
		s.close()
		last.Reallocate(s.size)[0] = 1 // lives on
		last.Free()
		if len(s.idle) != 0 {
			t.Errorf("%d are kept after close", len(s.idle))
		}
	})
	t.Run("RUN-10 a kernel that does not tell the truth is found out", func(t *testing.T) {
		s, _ := restoring(t)
		zero, err := os.Open("/dev/zero") // nothing was ever written to
		if err != nil {
			t.Fatal(err)
		}
		defer zero.Close()
		m, err := s.mapped(s.size)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Free()
		if !s.restorer.works(m) {
			t.Error("the real page map is not believed")
		}
		liar := &restorer{pagemap: int(zero.Fd()), image: s.restorer.image}
		if liar.works(m) {
			t.Error("a page map that says that nothing was written is believed")
		}
	})
	t.Run("without a page map there is no restoring", func(t *testing.T) {
		s, image := restoring(t)
		bad := &restorer{pagemap: -1, image: s.restorer.image}
		s.restorer = bad
		m, b := take(t, s)
		b[0]++
		m.Free()
		if len(s.idle) != 0 {
			t.Error("a memory of unknown state is kept")
		}
		if _, b := take(t, s); !bytes.Equal(b, image) {
			t.Error("the next memory is not the image")
		}
	})
	t.Run("a memory that was only read is kept", func(t *testing.T) {
		s, image := restoring(t)
		m, b := take(t, s)
		if !bytes.Equal(b, image) {
			t.Fatal("not the image")
		}
		m.Free()
		if len(s.idle) != 1 {
			t.Error("not kept")
		}
	})
}
