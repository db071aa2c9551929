package wasmengine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// booted returns an image that was made here and now.
func booted(t *testing.T) (*module, *kept) {
	t.Helper()
	ctx := context.Background()
	r, err := instrument()
	if err != nil {
		t.Fatal(err)
	}
	m, err := newModule(ctx, r.Module, uint32(memoryLimit(8<<20)/wasmPage), cacheDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.close(ctx) })
	im, memory, err := bootImage(ctx, m, r.Data)
	if err != nil {
		t.Fatal(err)
	}
	return m, &kept{r.Module, im, memory}
}

// onlyFile is the path of the one file in the store of a cache.
func onlyFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "images", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v, want one", files, err)
	}
	return files[0]
}

func TestStore(t *testing.T) {
	if buildID() == "" {
		t.Skip("this executable has no identity")
	}
	_, want := booted(t)
	t.Run("DESIGN 6 the boot image is the same each time", func(t *testing.T) {
		if _, again := booted(t); !reflect.DeepEqual(want, again) {
			t.Error("two boots give different images")
		}
	})
	t.Run("CLI-12 what comes back is what was kept", func(t *testing.T) {
		s := openStore(t.TempDir())
		if s.load() != nil {
			t.Fatal("an empty store has something")
		}
		s.save(want)
		if got := s.load(); !reflect.DeepEqual(got, want) {
			t.Errorf("another image came back: %v", got)
		}
	})
	// The cache of all tests has the compiled code already.
	shared := openStore(cacheDir)
	t.Run("CLI-12 an engine with a kept image is as one that booted", func(t *testing.T) {
		if err := os.Remove(shared.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		var all []*Engine
		for _, heap := range []int64{16 << 20, 16 << 20, 24 << 20} {
			all = append(all, newEngine(t, Options{Limits: runtime.Limits{Heap: heap}}))
		}
		memory := func(e *Engine) []byte {
			m, err := e.image.source.memory(e.memory)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Free()
			return bytes.Clone(m.Reallocate(uint64(e.image.pages) * wasmPage))
		}
		if !bytes.Equal(memory(all[0]), memory(all[1])) {
			t.Error("the memories differ")
		}
		const fill = "const a = []; for (;;) a.push(new Uint8Array(1e5))"
		for _, e := range all {
			ended := runtime.HeapFailure(e.service.Limits.Heap)
			wantFailure(t, tryRun(t, e, runtime.Request{Program: fill}), ended.Kind, ended.Message)
			r := mustRun(t, e, runtime.Request{Program: "const a = []; for (let i = 0; i < 15; i++) a.push(new Uint8Array(1 << 20)); return a.length", Seed: 1, Start: time.UnixMilli(1)})
			first := mustRun(t, all[0], runtime.Request{Program: "return 1", Seed: 1, Start: time.UnixMilli(1)})
			here := mustRun(t, e, runtime.Request{Program: "return 1", Seed: 1, Start: time.UnixMilli(1)})
			if r.Value.String() != "15" || here.Usage.Steps != first.Usage.Steps || here.Usage.HeapBytes != first.Usage.HeapBytes {
				t.Errorf("value %v, usage %+v, want %+v", r.Value, here.Usage, first.Usage)
			}
		}
	})
	t.Run("CLI-12 what is damaged is made again", func(t *testing.T) {
		newEngine(t, Options{})
		path := shared.path
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, damage := range []func(b []byte) []byte{
			func([]byte) []byte { return nil },
			func(b []byte) []byte { return b[:3] },
			func(b []byte) []byte { return b[:len(b)/2] },
			func(b []byte) []byte { b[len(b)/2]++; return b },
			func(b []byte) []byte { return append(b, 0) },
		} {
			if err := os.WriteFile(path, damage(bytes.Clone(good)), 0o600); err != nil {
				t.Fatal(err)
			}
			e := newEngine(t, Options{})
			mustRun(t, e, runtime.Request{Program: "return 1"})
			if b, _ := os.ReadFile(path); !bytes.Equal(b, good) {
				t.Error("the file was not made again")
			}
		}
	})
	t.Run("an image of the interpreter is not used where there is a compiler, nor the reverse", func(t *testing.T) {
		k := *want
		im := *want.image
		im.interpreted = !im.interpreted
		k.image = &im
		shared.save(&k)
		e := newEngine(t, Options{})
		if e.image.interpreted == im.interpreted {
			t.Error("it is used")
		}
		mustRun(t, e, runtime.Request{Program: "return 1"})
		if got := shared.load(); got.image.interpreted == im.interpreted {
			t.Error("it is still kept")
		}
	})
	t.Run("what nobody has asked for in a month is removed, and what is in use is not", func(t *testing.T) {
		dir := t.TempDir()
		s := openStore(dir)
		s.save(want)
		old := time.Now().Add(-40 * 24 * time.Hour)
		other := filepath.Join(filepath.Dir(s.path), "0123456789abcdef")
		if err := os.WriteFile(other, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{other, s.path} {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
		if s.load() == nil {
			t.Fatal("the image is gone")
		}
		if info, err := os.Stat(s.path); err != nil || time.Since(info.ModTime()) > time.Hour {
			t.Error("a file that was used is as old as before")
		}
		s.save(want)
		if onlyFile(t, dir) != s.path {
			t.Error("the wrong file is left")
		}
	})
}

// TestReadKept: whatever the bytes, an image or an error, never a panic; and each shortening is noticed.
func TestReadKept(t *testing.T) {
	im := &image{pages: 1}
	for i := range im.classes {
		im.classes[i] = "C"
	}
	memory := make([]byte, wasmPage)
	memory[hostPage] = 1
	b, err := (&kept{[]byte("module"), im, contentsOf(memory)}).append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readKept(b); err != nil {
		t.Fatal(err)
	}
	whole := len(b) - hostPage - 8 // without the memory's part
	for n := range b {
		if k, err := readKept(b[:n]); err == nil && n != whole {
			t.Fatalf("%d of %d bytes are read as %v", n, len(b), k)
		}
		damaged := bytes.Clone(b)
		damaged[n] ^= 0xff
		_, _ = readKept(damaged)
	}
}

func TestFindBuildID(t *testing.T) {
	hash := strings.Repeat("abcdefghij", 2)
	id := strings.Join([]string{hash, hash, hash, hash}, "/")
	note := func(id string) []byte {
		return append([]byte("....\x04\x00\x00\x00"+string([]byte{byte(len(id))})+"\x00\x00\x00\x04\x00\x00\x00Go\x00\x00"), id...)
	}
	for _, c := range []struct {
		name, head, want string
	}{
		{"ELF", string(note(id)), id},
		{"others", "MZ...\xff Go build ID: \"" + id + "\"\n \xff...", id},
		{"none", strings.Repeat("x", 100), ""},
		{"set by hand", "\xff Go build ID: \"redacted\"\n \xff", ""},
		{"cut note", string(note(id)[:60]), ""},
		{"cut mark", "\xff Go build ID: \"" + id, ""},
	} {
		if got := findBuildID([]byte(c.head)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if id := buildID(); id != "" && strings.Count(id, "/") != 3 {
		t.Errorf("this executable is %q", id)
	}
}
