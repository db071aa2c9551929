package mcptools

// This file decides which images of a result a model is shown, and prepares the content that shows them (section 7 of the rules).

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Image is one image of a result, decoded.
type Image struct {
	MediaType string // image/png, image/jpeg, image/webp or image/gif
	Data      []byte
}

// ImageStore keeps the images that models are shown: content never holds an image itself, only a reference (IMG-5).
// [MemoryStore] is one.
type ImageStore interface {
	// StoreImages keeps the images of one result, all of them or none, and returns their references in the same order. An
	// error that is a [RefusedError] says which limit stands against them. It must observe ctx, and may keep the data.
	StoreImages(ctx context.Context, images []Image) ([]registry.ImageRef, error)
}

// RefusedError is how a store says that it does not want an image. The reason becomes a part of what the model reads.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "the image was refused: " + e.Reason }

// Route is the model that an agent's requests go to.
type Route struct {
	Model  string // as it is called in messages; "" if there is none, or none that is known
	Images bool   // the route has declared that it takes images; silence is a no
}

// RouteProbe finds the route of an agent: that of its latest request, otherwise the one it is configured with (MCP-36).
type RouteProbe func(ctx context.Context, agent registry.AgentKey) (Route, error)

// Why an image is not shown (MCP-37). The first is that of the default rendering, which admits none (MCP-33).
const (
	reasonDefault   = "not stored for the model"
	reasonType      = "only PNG, JPEG, WebP and GIF are accepted"
	reasonData      = "the data is not canonical base64"
	reasonOther     = "another image of this result is invalid"
	reasonNoStore   = "no attachment store is available"
	reasonNoRoute   = "the model route is unknown"
	reasonProbe     = "the model route could not be checked"
	reasonCancelled = "the call was cancelled before the image was stored"
	reasonFailed    = "the image could not be stored"
)

// acceptedTypes are the media types of MCP-34.
var acceptedTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// gallery prepares, for the calls of one bridge, content with images and hands it to their finalizers (MCP-35). The definitions of
// all generations share it: the finalizer of a call is that of the tool which was registered when the call began.
type gallery struct {
	store ImageStore
	route RouteProbe
	log   *slog.Logger

	mu       sync.Mutex
	prepared map[weak.Pointer[registry.Token]]preparedContent
}

// preparedContent replaces the default content of one execution, if that stands to the end.
type preparedContent struct {
	value   jsonval.Value // what the default content was made of
	content []registry.Block
}

func newGallery(o Options, log *slog.Logger) *gallery {
	return &gallery{store: o.Images, route: o.Route, log: log, prepared: map[weak.Pointer[registry.Token]]preparedContent{}}
}

// prepare makes the richer content of a success that holds images. It never fails the call (MCP-38).
func (g *gallery) prepare(ctx context.Context, x registry.Execution, value jsonval.Value) {
	blocks, _ := value.Get("content")
	exhibits := exhibitsOf(blocks)
	if len(exhibits) == 0 {
		return
	}
	refs := g.admit(ctx, x, exhibits)
	p := preparedContent{value: value, content: showContent(blocks, exhibits, refs)}
	key := weak.Make(x.Token())
	g.mu.Lock()
	g.prepared[key] = p
	g.mu.Unlock()
	// A call whose tool appeared only after it had begun has no finalizer.
	goruntime.AddCleanup(x.Token(), func(key weak.Pointer[registry.Token]) { g.take(key) }, key)
}

func (g *gallery) take(key weak.Pointer[registry.Token]) (preparedContent, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.prepared[key]
	delete(g.prepared, key)
	return p, ok
}

// finalize puts the prepared content in place of the default one, unless policy has made something else of the result (MCP-35).
func (g *gallery) finalize(raw string, x registry.Execution, r registry.Result) (content []registry.Block, replace bool) {
	p, ok := g.take(weak.Make(x.Token()))
	if !ok || r.IsError() || !jsonval.Identical(r.Value(), p.value) {
		return nil, false
	}
	standard, err := renderContent(raw, p.value)
	if err != nil || !slices.EqualFunc(r.Content(), standard, sameBlock) {
		return nil, false
	}
	return p.content, true
}

func sameBlock(a, b registry.Block) bool { return jsonval.Identical(a.Value(), b.Value()) }

// exhibit is one image block of a result, with the reason for which it is not shown, if there is one.
type exhibit struct {
	image  Image
	reason string
}

// exhibitsOf decodes all images of a result. One that is bad spoils the others: they are one batch (MCP-37).
func exhibitsOf(content jsonval.Value) []exhibit {
	var all []exhibit
	spoilt := false
	for _, block := range content.Items() {
		if isImage(block) {
			e := decodeImage(block)
			all, spoilt = append(all, e), spoilt || e.reason != ""
		}
	}
	for i := range all {
		if spoilt && all[i].reason == "" {
			all[i].reason = reasonOther
		}
	}
	return all
}

func isImage(block jsonval.Value) bool { return stringMember(block, "type").Str() == "image" }

// decodeImage takes canonical, padded, standard base64 only (MCP-34).
func decodeImage(block jsonval.Value) exhibit {
	kind := stringMember(block, "mimeType").Str()
	if !slices.Contains(acceptedTypes, kind) {
		return exhibit{reason: reasonType}
	}
	text := stringMember(block, "data").Str()
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(data) == 0 || strings.ContainsAny(text, "\r\n") { // which the decoder passes over
		return exhibit{reason: reasonData}
	}
	return exhibit{image: Image{MediaType: kind, Data: data}}
}

// admit stores the images, all of them or none. Without references every exhibit has the reason.
func (g *gallery) admit(ctx context.Context, x registry.Execution, exhibits []exhibit) []registry.ImageRef {
	if exhibits[0].reason != "" { // one bad image gives all a reason
		return nil
	}
	reason := g.obstacle(ctx, x.Agent())
	if reason == "" {
		var refs []registry.ImageRef
		if refs, reason = g.keep(ctx, x, exhibits); reason == "" {
			return refs
		}
	}
	for i := range exhibits {
		exhibits[i].reason = reason
	}
	return nil
}

// obstacle is what stands against showing any image to the agent's model, "" if nothing does (MCP-36).
func (g *gallery) obstacle(ctx context.Context, agent registry.AgentKey) string {
	if g.store == nil {
		return reasonNoStore
	}
	if g.route == nil {
		return reasonNoRoute
	}
	route, err := contained(func() (Route, error) { return g.route(ctx, agent) })
	switch {
	case ctx.Err() != nil:
		return reasonCancelled
	case err != nil:
		g.log.Warn("whether the model takes images could not be found out", "error", err)
		return reasonProbe
	case route.Model == "":
		return reasonNoRoute
	case !route.Images:
		return fmt.Sprintf("model %q does not accept images", route.Model)
	}
	return ""
}

func (g *gallery) keep(ctx context.Context, x registry.Execution, exhibits []exhibit) (refs []registry.ImageRef, reason string) {
	images := make([]Image, len(exhibits))
	for i, e := range exhibits {
		images[i] = e.image
	}
	refs, err := contained(func() ([]registry.ImageRef, error) { return g.store.StoreImages(ctx, images) })
	if err == nil && len(refs) != len(images) {
		err = fmt.Errorf("the store returned %d references for %d images", len(refs), len(images))
	}
	refused := (*RefusedError)(nil)
	switch {
	case err == nil:
		return refs, ""
	case errors.As(err, &refused):
		return nil, refused.Error()
	case ctx.Err() != nil:
		return nil, reasonCancelled
	}
	g.log.Warn("the images of a result could not be stored", "tool", x.Name(), "error", err)
	return nil, reasonFailed
}

// contained makes an error of a panic of the embedder's code: no image may fail a call.
func contained[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// showContent is the content with the images in their places among runs of text, or, without references, with the reasons.
func showContent(content jsonval.Value, exhibits []exhibit, refs []registry.ImageRef) []registry.Block {
	var shown []registry.Block
	var run []string
	flush := func() {
		if text := strings.Join(run, "\n"); text != "" {
			shown = append(shown, registry.Text(text))
		}
		run = nil
	}
	next := 0
	for _, block := range content.Items() {
		reason := ""
		if isImage(block) {
			if reason = exhibits[next].reason; reason == "" {
				flush()
				shown = append(shown, registry.Image(refs[next]))
			}
			next++
			if reason == "" {
				continue
			}
		}
		if text, ok := blockText(block, reason); ok {
			run = append(run, text)
		}
	}
	flush()
	return shown
}
