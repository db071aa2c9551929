package wasmengine

// This file keeps what each start of one executable would make again in the same way, the rewritten module and the boot
// image, for later processes: compiling the prelude is most of the work of a start with compiled code at hand (CLI-12).

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/runcode-go/runcode/runtime/internal/loop"
)

// store is a file for one executable. nil keeps nothing. Like the compiled code, what it holds is run as it lies there, so
// that its folder must be the user's alone; the checksum in it is against accidents.
type store struct{ path string }

// kept is what a store holds.
type kept struct {
	module []byte
	image  *image
	memory contents // of the image
}

// openStore returns the store of this executable in dir, or nil. What an image holds depends on all of the code that makes
// it, so that images are told apart by the identity that the linker gave to the executable.
func openStore(dir string) *store {
	if dir == "" {
		return nil
	}
	id := buildID()
	dir = filepath.Join(dir, "images")
	if id == "" || !makePrivate(dir) {
		return nil
	}
	h := sha256.New()
	for _, part := range []string{id, goruntime.GOARCH, loop.Prelude} {
		_ = binary.Write(h, binary.LittleEndian, uint64(len(part)))
		_, _ = io.WriteString(h, part)
	}
	return &store{filepath.Join(dir, hex.EncodeToString(h.Sum(nil)[:8]))}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// load returns what an earlier process has kept, or nil.
func (s *store) load() *kept {
	if s == nil {
		return nil
	}
	b, err := os.ReadFile(s.path)
	if err != nil || len(b) < 4 || crc32.Checksum(b[4:], castagnoli) != binary.LittleEndian.Uint32(b) {
		return nil
	}
	k, err := readKept(b[4:])
	if err != nil {
		return nil
	}
	// Files that no process has asked for in a month are removed.
	if info, err := os.Stat(s.path); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
		_ = os.Chtimes(s.path, time.Time{}, time.Now())
	}
	return k
}

// save keeps k. A full disk must not keep an engine from starting.
func (s *store) save(k *kept) {
	if s == nil {
		return
	}
	body, err := k.append(make([]byte, 4))
	if err != nil {
		return
	}
	binary.LittleEndian.PutUint32(body, crc32.Checksum(body[4:], castagnoli))
	dir := filepath.Dir(s.path)
	f, err := os.CreateTemp(dir, "new")
	if err != nil {
		return
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	const month = 30 * 24 * time.Hour
	files, _ := os.ReadDir(dir)
	for _, e := range files {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > month {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// numbers are the fields of an image that a store keeps, beside the names of the classes. The source and the limit of the heap
// belong to an engine.
func (im *image) numbers() []any {
	return []any{
		&im.pages, &im.stackPointer, &im.runtime, &im.context,
		&im.configure, &im.start, &im.settle, &im.fire, &im.unhandled, &im.recordedStack,
		&im.scratch, &im.fileName, &im.messageName, &im.proxyClass, &im.objectProto, &im.arrayProto,
		&im.interpreted, &im.heapSize, &im.gcThreshold, &im.heapBase,
	}
}

// append appends the numbers, and then as texts with their length the names, the module, and each part of the memory that is
// not zero behind its offset.
func (k *kept) append(b []byte) ([]byte, error) {
	w := bytes.NewBuffer(b)
	var err error
	for _, n := range k.image.numbers() {
		err = errors.Join(err, binary.Write(w, binary.LittleEndian, n))
	}
	if err != nil {
		return nil, err
	}
	text := func(b []byte) {
		_, _ = w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(b))))
		_, _ = w.Write(b)
	}
	text([]byte(strings.Join(k.image.classes[:], "\n")))
	text(k.module)
	for _, p := range k.memory.parts {
		_, _ = w.Write(binary.LittleEndian.AppendUint32(nil, uint32(p.offset)))
		text(p.bytes)
	}
	return w.Bytes(), nil
}

func readKept(b []byte) (*kept, error) {
	r := bytes.NewReader(b)
	k := &kept{image: &image{}}
	for _, n := range k.image.numbers() {
		if err := binary.Read(r, binary.LittleEndian, n); err != nil {
			return nil, err
		}
	}
	b = b[len(b)-r.Len():]
	malformed := errors.New("malformed")
	number := func() (n uint32, ok bool) {
		if len(b) < 4 {
			return 0, false
		}
		n, b = binary.LittleEndian.Uint32(b), b[4:]
		return n, true
	}
	text := func() (t []byte, ok bool) {
		n, ok := number()
		if !ok || uint64(n) > uint64(len(b)) {
			return nil, false
		}
		t, b = b[:n:n], b[n:]
		return t, true
	}
	names, ok := text()
	list := strings.Split(string(names), "\n")
	if !ok || len(list) != len(k.image.classes) {
		return nil, malformed
	}
	copy(k.image.classes[:], list)
	if k.module, ok = text(); !ok || k.image.pages > bootMemory/wasmPage {
		return nil, malformed
	}
	k.memory.size = int(k.image.pages) * wasmPage
	for end := 0; len(b) > 0; {
		at, ok := number()
		bytes, okBytes := text()
		if !ok || !okBytes || int(at) < end || int(at)+len(bytes) > k.memory.size || at%hostPage != 0 {
			return nil, malformed
		}
		end = int(at) + len(bytes)
		k.memory.parts = append(k.memory.parts, part{int(at), bytes})
	}
	return k, nil
}

// buildID is the identity of the executable that runs, or empty: the linker's hash of its contents, which stands in a note at
// the start of an ELF file and between marks at the start of the code in other formats.
func buildID() string {
	path := "/proc/self/exe" // even if another file has taken its place
	if goruntime.GOOS != "linux" {
		var err error
		if path, err = os.Executable(); err != nil {
			return ""
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, head)
	return findBuildID(head[:n])
}

func findBuildID(head []byte) string {
	id := ""
	if _, rest, ok := bytes.Cut(head, []byte("\xff Go build ID: \"")); ok {
		if text, _, ok := bytes.Cut(rest, []byte("\"\n \xff")); ok {
			id = string(text)
		}
	}
	// A note: the lengths of its name and of its text, its type, its name, its text.
	if at := bytes.Index(head, []byte("\x04\x00\x00\x00Go\x00\x00")); id == "" && at >= 8 && bytes.Equal(head[at-8:at-4], []byte("\x04\x00\x00\x00")) {
		n := binary.LittleEndian.Uint32(head[at-4:])
		if text := head[at+8:]; uint64(n) <= uint64(len(text)) {
			id = string(text[:n])
		}
	}
	// The linker's own consists of four hashes; anything shorter was set by hand and may be the same for each build.
	if strings.Count(id, "/") != 3 || len(id) < 60 {
		return ""
	}
	return id
}
