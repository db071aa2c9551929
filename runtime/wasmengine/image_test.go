package wasmengine

import (
	"bytes"
	"context"
	"testing"
)

// sources are all ways in which an instance can get its memory, whatever the system chooses.
func sources(t *testing.T, image []byte) map[string]memorySource {
	t.Helper()
	all := systemSources(t, image)
	all["slice"] = newSliceSource(contentsOf(image))
	all["chosen"] = newMemorySource(contentsOf(image))
	for _, s := range all {
		t.Cleanup(s.close)
	}
	return all
}

func TestMemorySources(t *testing.T) {
	image := make([]byte, 5*wasmPage)
	copy(image[10:], "first page")
	copy(image[3*hostPage+5:], "fourth page")
	copy(image[len(image)-3:], "end")
	const most = 40 * wasmPage
	for name, s := range sources(t, image) {
		t.Run("RUN-10 "+name, func(t *testing.T) {
			a, err := s.memory(most)
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.memory(most)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Free()
			// The first size may be smaller than the image.
			got := a.Reallocate(2 * wasmPage)
			if !bytes.Equal(got, image[:2*wasmPage]) {
				t.Fatal("the start of the image is not there")
			}
			got[0], got[wasmPage] = 'x', 'y'
			got = a.Reallocate(7 * wasmPage)
			want := append(bytes.Clone(image), make([]byte, 2*wasmPage)...)
			want[0], want[wasmPage] = 'x', 'y'
			if !bytes.Equal(got, want) {
				t.Fatal("growth lost what was written, or did not bring the rest of the image and zeros")
			}
			got[6*wasmPage] = 'z'
			for size := uint64(8); size <= 40; size++ {
				if got = a.Reallocate(size * wasmPage); uint64(len(got)) != size*wasmPage {
					t.Fatalf("%d bytes, want %d pages", len(got), size)
				}
				got[len(got)-1] = byte(size)
			}
			if got[0] != 'x' || got[6*wasmPage] != 'z' || got[9*wasmPage-1] != 9 || got[9*wasmPage] != 0 {
				t.Error("growth changed what was there")
			}
			if a.Reallocate(most+wasmPage) != nil {
				t.Error("grew beyond its limit")
			}
			a.Free()
			a.Free()
			// Nothing that was done to one is seen in another.
			if !bytes.Equal(b.Reallocate(5*wasmPage), image) {
				t.Error("another memory is not the image")
			}
			c, err := s.memory(most)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Free()
			if !bytes.Equal(c.Reallocate(6 * wasmPage)[:len(image)], image) {
				t.Error("a later memory is not the image")
			}
		})
	}
}

func TestImage(t *testing.T) {
	memory := func(e *Engine) []byte {
		t.Helper()
		m, err := e.image.source.memory(e.memory)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Free()
		return bytes.Clone(m.Reallocate(uint64(e.image.pages) * wasmPage))
	}
	a, b := newEngine(t, Options{}), newEngine(t, Options{})
	t.Run("DESIGN 6 the boot image is the same in each engine", func(t *testing.T) {
		if !bytes.Equal(memory(a), memory(b)) {
			t.Error("two engines booted to different images")
		}
	})
	t.Run("RUN-10 runs leave the image as it is", func(t *testing.T) {
		before := memory(a)
		for range 3 {
			g := newGuest(t, a, &fakeHost{})
			if err := begin(g, "globalThis.leak = new Uint8Array(1e6).fill(1); Array.prototype.x = 1"); err != nil {
				t.Fatal(err)
			}
			g.Close()
		}
		if !bytes.Equal(before, memory(a)) {
			t.Error("the image has changed")
		}
	})
	t.Run("a context that ends before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if e, err := New(ctx, Options{CacheDir: cacheDir}); err == nil {
			_ = e.Close(context.Background()) // what was under way may be finished
		}
	})
}
