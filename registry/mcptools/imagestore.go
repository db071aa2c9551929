package mcptools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"sync"

	"github.com/runcode-go/runcode/registry"
)

// MemoryStore is an [ImageStore] for programs that hand images on soon after a call, such as a gateway: it keeps them in memory, and
// the oldest make room for new ones. It refuses what is not an image of the type that it claims to be, because a model's provider
// would refuse every later request of that conversation. It is safe for concurrent use.
type MemoryStore struct {
	limits MemoryLimits
	mu     sync.Mutex
	images map[string]Image
	order  []string // their ids, the oldest first
	size   int64    // bytes of all of them
}

// MemoryLimits bound a [MemoryStore].
type MemoryLimits struct {
	Image int64 // bytes of one image; 0: 5 MiB
	Total int64 // bytes of all images together; 0: 64 MiB
}

const (
	defaultImageLimit = 5 << 20
	defaultTotalLimit = 64 << 20
	maxPixels         = 64 << 20 // of one image: a few bytes can claim to be a picture that nobody has the memory to draw
)

// NewMemoryStore returns an empty store. Limits below 0 count as 0.
func NewMemoryStore(l MemoryLimits) *MemoryStore {
	if l.Image <= 0 {
		l.Image = defaultImageLimit
	}
	if l.Total <= 0 {
		l.Total = defaultTotalLimit
	}
	return &MemoryStore{limits: l, images: map[string]Image{}}
}

// StoreImages implements [ImageStore]. An id is made of the image itself, so that the same image is kept once.
func (s *MemoryStore) StoreImages(ctx context.Context, images []Image) ([]registry.ImageRef, error) {
	refs := make([]registry.ImageRef, len(images))
	var total int64
	for i, img := range images {
		size := int64(len(img.Data))
		if size > s.limits.Image {
			return nil, &RefusedError{fmt.Sprintf("it has %d bytes, more than %d", size, s.limits.Image)}
		}
		if total += size; total > s.limits.Total {
			return nil, &RefusedError{fmt.Sprintf("the images of the result have more than %d bytes together", s.limits.Total)}
		}
		dimensions, err := measure(img)
		switch width, height := int64(dimensions.Width), int64(dimensions.Height); {
		case err != nil || width <= 0 || height <= 0:
			return nil, &RefusedError{"it is no " + img.MediaType}
		case width > maxPixels/height:
			return nil, &RefusedError{fmt.Sprintf("it has %d times %d pixels, more than %d", width, height, maxPixels)}
		}
		sum := sha256.Sum256(img.Data)
		refs[i] = registry.ImageRef{
			Attachment: "image-" + hex.EncodeToString(sum[:16]), MediaType: img.MediaType, Bytes: size,
			Width: dimensions.Width, Height: dimensions.Height,
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, ref := range refs {
		s.add(ref.Attachment, images[i])
	}
	for s.size > s.limits.Total {
		s.remove(s.order[0])
	}
	return refs, nil
}

// Image returns a stored image, unless others have taken its place. Its data must not be changed.
func (s *MemoryStore) Image(attachment string) (Image, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	img, ok := s.images[attachment]
	return img, ok
}

// add makes an image the youngest.
func (s *MemoryStore) add(id string, img Image) {
	s.remove(id)
	s.images[id] = img
	s.order = append(s.order, id)
	s.size += int64(len(img.Data))
}

func (s *MemoryStore) remove(id string) {
	img, ok := s.images[id]
	if !ok {
		return
	}
	delete(s.images, id)
	s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == id })
	s.size -= int64(len(img.Data))
}

var errNoImage = errors.New("not an image of this type")

// measure reads the size of an image in pixels out of its header.
func measure(img Image) (image.Config, error) {
	reader := bytes.NewReader(img.Data)
	switch img.MediaType {
	case "image/png":
		return png.DecodeConfig(reader)
	case "image/jpeg":
		return jpeg.DecodeConfig(reader)
	case "image/gif":
		return gif.DecodeConfig(reader)
	case "image/webp":
		return measureWebP(img.Data)
	}
	return image.Config{}, errNoImage
}

// measureWebP knows the three kinds of first chunk that the format has: lossy, lossless and extended.
func measureWebP(data []byte) (image.Config, error) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return image.Config{}, errNoImage
	}
	const fourteenBits = 1<<14 - 1
	switch first := data[20:]; string(data[12:16]) {
	case "VP8 ":
		if string(first[3:6]) != "\x9d\x01\x2a" {
			break
		}
		return image.Config{
			Width:  int(binary.LittleEndian.Uint16(first[6:])) & fourteenBits,
			Height: int(binary.LittleEndian.Uint16(first[8:])) & fourteenBits,
		}, nil
	case "VP8L":
		if first[0] != 0x2f {
			break
		}
		bits := int(binary.LittleEndian.Uint32(first[1:]))
		return image.Config{Width: bits&fourteenBits + 1, Height: bits>>14&fourteenBits + 1}, nil
	case "VP8X":
		width, height := first[4:7], first[7:10]
		return image.Config{Width: littleEndian24(width) + 1, Height: littleEndian24(height) + 1}, nil
	}
	return image.Config{}, errNoImage
}

func littleEndian24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
