//go:build unix

package mcptools

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// pictureOf draws a blank image of w by h pixels.
func pictureOf(t *testing.T, kind string, w, h int) []byte {
	t.Helper()
	var out bytes.Buffer
	blank := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black})
	var err error
	switch kind {
	case "image/png":
		err = png.Encode(&out, blank)
	case "image/jpeg":
		err = jpeg.Encode(&out, blank, nil)
	case "image/gif":
		err = gif.Encode(&out, blank, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// imageBlock is a block of a server's answer.
func imageBlock(kind string, data []byte) string {
	return fmt.Sprintf(`{"type":"image","mimeType":%q,"data":%q}`, kind, base64.StdEncoding.EncodeToString(data))
}

func answerOf(blocks ...string) string { return `{"content":[` + strings.Join(blocks, ",") + `]}` }

// album is a store that the tests can make fail.
type album struct {
	err     error
	stored  [][]Image
	panics  bool
	tooFew  bool
	onStore func()
}

func (a *album) StoreImages(_ context.Context, images []Image) ([]registry.ImageRef, error) {
	if a.onStore != nil {
		a.onStore()
	}
	if a.panics {
		panic("the album burns")
	}
	if a.err != nil {
		return nil, a.err
	}
	a.stored = append(a.stored, images)
	var refs []registry.ImageRef
	for i, img := range images {
		refs = append(refs, registry.ImageRef{Attachment: fmt.Sprintf("%d.%d", len(a.stored), i), MediaType: img.MediaType, Bytes: int64(len(img.Data))})
	}
	if a.tooFew {
		refs = refs[1:]
	}
	return refs, nil
}

func seeing(context.Context, registry.AgentKey) (Route, error) {
	return Route{Model: "m-1", Images: true}, nil
}

// shownAs is a result's content in one line.
func shownAs(r registry.Result) string {
	var parts []string
	for _, block := range r.Content() {
		if ref, ok := block.Image(); ok {
			parts = append(parts, "<"+ref.Attachment+">")
			continue
		}
		parts = append(parts, block.Text())
	}
	return strings.Join(parts, " | ")
}

func notShown(kind, reason string) string {
	return "[image not shown: " + kind + "; " + reason + "; the raw data is available to programs]"
}

func TestImages(t *testing.T) {
	picture := imageBlock("image/png", []byte("pixels"))
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	// calling answers one call of a tool with these blocks.
	calling := func(b *bench, store ImageStore, route RouteProbe, blocks ...string) registry.Result {
		b.Helper()
		b.script.answers = map[string]string{"a": answerOf(blocks...)}
		b.options.Images, b.options.Route = store, route
		b.connect()
		return b.call("a")
	}
	inBubble(t, "MCP-35 texts and images in their order, runs of text in one block", func(b *bench) {
		store := &album{}
		r := calling(b, store, seeing, text("one"), text("two"), picture, imageBlock("image/gif", []byte("moving")), text("three"))
		if got := shownAs(r); got != "one\ntwo | <1.0> | <1.1> | three" {
			b.Errorf("content %s", got)
		}
		if len(store.stored) != 1 || len(store.stored[0]) != 2 || string(store.stored[0][1].Data) != "moving" || store.stored[0][0].MediaType != "image/png" {
			b.Errorf("MCP-37 stored %v", store.stored)
		}
	})
	inBubble(t, "MCP-38 the value keeps the blocks as they came; MCP-37 an image alone", func(b *bench) {
		r := calling(b, &album{}, seeing, picture)
		if got := r.Value().String(); got != answerOf(picture) {
			b.Errorf("value %s", got)
		}
		content, _ := json.Marshal(r.Content())
		if shownAs(r) != "<1.0>" || bytes.Contains(content, []byte(base64.StdEncoding.EncodeToString([]byte("pixels")))) {
			b.Errorf("content %s", content)
		}
	})
	inBubble(t, "MCP-35 a result without images is rendered as always", func(b *bench) {
		store := &album{}
		if r := calling(b, store, seeing, text("x"), `{"type":"audio"}`); shownAs(r) != "x\n[audio not supported: unknown type; the raw data is available to programs]" || len(store.stored) != 0 {
			b.Errorf("content %s", shownAs(r))
		}
	})
	inBubble(t, "MCP-28 MCP-35 a failure shows and stores nothing", func(b *bench) {
		store := &album{}
		b.script.answers = map[string]string{"a": `{"isError":true,"content":[` + picture + `]}`}
		b.options = Options{Images: store, Route: seeing}
		b.connect()
		if r := b.call("a"); !r.IsError() || r.Failure().Message != notShown("image/png", reasonDefault) || len(store.stored) != 0 {
			b.Errorf("%s, stored %v", r.Text(), store.stored)
		}
	})
	inBubble(t, "MCP-35 prepared content belongs to one execution", func(b *bench) {
		bridge := func() *Bridge {
			b.script.answers = map[string]string{"a": answerOf(picture)}
			b.options = Options{Images: &album{}, Route: seeing}
			return b.connect()
		}()
		for i := range 3 {
			if got := shownAs(b.call("a")); got != fmt.Sprintf("<%d.0>", i+1) {
				b.Errorf("content %s", got)
			}
		}
		if n := len(bridge.images.prepared); n != 0 {
			b.Errorf("%d contents are left", n)
		}
	})

	for _, c := range []struct {
		name   string
		policy func(d registry.PostDecision) registry.PostDecision
		want   string
	}{
		{"a value", func(registry.PostDecision) registry.PostDecision {
			return registry.Accept().WithValue(json.RawMessage(`{"content":[{"type":"text","text":"other"}]}`))
		}, "other"},
		{"a value that is rendered the same way", func(registry.PostDecision) registry.PostDecision {
			return registry.Accept().WithValue(json.RawMessage(answerOf(imageBlock("image/png", []byte("others")))))
		}, notShown("image/png", reasonDefault)},
		{"content", func(d registry.PostDecision) registry.PostDecision { return d.WithContent(registry.Text("instead")) }, "instead"},
		{"a block", func(registry.PostDecision) registry.PostDecision { return registry.Blocked(registry.Text("no")) }, "no"},
		{"the same content in two blocks", func(d registry.PostDecision) registry.PostDecision {
			return d.WithContent(registry.Text(notShown("image/png", reasonDefault)), registry.Text(""))
		}, notShown("image/png", reasonDefault) + " | "},
		{"contexts alone, which replace nothing", func(d registry.PostDecision) registry.PostDecision {
			return d.AppendContexts(registry.Context{ID: "c"})
		}, "<1.0>"},
	} {
		inBubble(t, "MCP-35 policy that gives "+c.name, func(b *bench) {
			b.reg.OnPostExecute(func(_ context.Context, _ registry.Execution, _ registry.Result, next func() (registry.PostDecision, error)) (registry.PostDecision, error) {
				d, err := next()
				return c.policy(d), err
			})
			r := calling(b, &album{}, seeing, picture)
			if got := shownAs(r); got != c.want {
				b.Errorf("content %q, want %q", got, c.want)
			}
		})
	}
	inBubble(t, "MCP-38 IMG-1 a sub-call shows its image too, and its value is the raw blocks", func(b *bench) {
		b.script.answers = map[string]string{"a": answerOf(picture)}
		b.options = Options{Images: &album{}, Route: seeing}
		b.connect()
		outer, err := registry.Define(registry.Spec[struct{}, string]{Name: "outer", Description: "calls a", Run: func(ctx context.Context, _ struct{}, run *registry.Run) (string, error) {
			inner := b.reg.Execute(ctx, registry.Call{ID: "2", Name: "mcp__srv__a", Arguments: json.RawMessage(`{}`), Parent: run.Execution().Token()})
			if shownAs(inner) != "<1.0>" {
				b.Errorf("content %s", shownAs(inner))
			}
			return inner.Value().String(), nil
		}})
		if err != nil {
			b.Fatal(err)
		}
		dispose, err := b.reg.Register(outer)
		if err != nil {
			b.Fatal(err)
		}
		defer dispose()
		if r := b.reg.Execute(b.Context(), registry.Call{ID: "1", Name: "outer", Arguments: json.RawMessage(`{}`)}); r.Text() != answerOf(picture) {
			b.Errorf("value %s", r.Text())
		}
	})
	inBubble(t, "MCP-27 MCP-35 a value that breaks the tool's contract shows no image", func(b *bench) {
		b.script.lists = []string{`{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}}]}`}
		if r := calling(b, &album{}, seeing, picture); !r.IsError() || strings.Contains(shownAs(r), "<") {
			b.Errorf("content %s", shownAs(r))
		}
	})
}

func TestImageReasons(t *testing.T) {
	good := imageBlock("image/png", []byte("pixels"))
	raw := func(member string) string { return `{"type":"image","mimeType":"image/jpeg"` + member + `}` }
	broken := errors.New("disk on fire")
	for _, c := range []struct {
		name, rule string
		store      *album
		route      RouteProbe
		blocks     []string
		want       []string // the type and the reason of each image
	}{
		{"another media type", "MCP-34 MCP-37", &album{}, seeing, []string{imageBlock("image/svg+xml", []byte("<svg/>"))}, []string{"image/svg+xml", reasonType}},
		{"no media type", "MCP-34 MCP-37", &album{}, seeing, []string{`{"type":"image","data":"AAAA"}`}, []string{"unknown type", reasonType}},
		{"a media type in capitals", "MCP-34", &album{}, seeing, []string{imageBlock("IMAGE/PNG", []byte("x"))}, []string{"IMAGE/PNG", reasonType}},
		{"no data", "MCP-37", &album{}, seeing, []string{raw("")}, []string{"image/jpeg", reasonData}},
		{"empty data", "MCP-37", &album{}, seeing, []string{raw(`,"data":""`)}, []string{"image/jpeg", reasonData}},
		{"data of another type", "MCP-37", &album{}, seeing, []string{raw(`,"data":7`)}, []string{"image/jpeg", reasonData}},
		{"white space in the data", "MCP-34", &album{}, seeing, []string{raw(`,"data":"AA\nAA"`)}, []string{"image/jpeg", reasonData}},
		{"white space after the data", "MCP-34", &album{}, seeing, []string{raw(`,"data":"AAAA\r\n"`)}, []string{"image/jpeg", reasonData}},
		{"no padding", "MCP-34", &album{}, seeing, []string{raw(`,"data":"AAA"`)}, []string{"image/jpeg", reasonData}},
		{"the URL alphabet", "MCP-34", &album{}, seeing, []string{raw(`,"data":"-_-_"`)}, []string{"image/jpeg", reasonData}},
		{"stray bits", "MCP-34", &album{}, seeing, []string{raw(`,"data":"AAB="`)}, []string{"image/jpeg", reasonData}},
		{"a bad image among good ones", "MCP-37", &album{}, seeing, []string{good, raw(`,"data":"A"`), good},
			[]string{"image/png", reasonOther, "image/jpeg", reasonData, "image/png", reasonOther}},
		{"two bad ones, each with its own reason", "MCP-37", &album{}, seeing, []string{raw(`,"data":"A"`), imageBlock("text/plain", []byte("x"))},
			[]string{"image/jpeg", reasonData, "text/plain", reasonType}},
		{"bad data wins over a missing store", "MCP-37", nil, seeing, []string{raw(`,"data":"A"`)}, []string{"image/jpeg", reasonData}},
		{"no store", "MCP-36 MCP-37", nil, seeing, []string{good}, []string{"image/png", reasonNoStore}},
		{"no probe", "MCP-36 MCP-37", &album{}, nil, []string{good}, []string{"image/png", reasonNoRoute}},
		{"an unknown route", "MCP-36 MCP-37", &album{}, func(context.Context, registry.AgentKey) (Route, error) { return Route{Images: true}, nil },
			[]string{good}, []string{"image/png", reasonNoRoute}},
		{"a probe that fails", "MCP-37", &album{}, func(context.Context, registry.AgentKey) (Route, error) { return Route{}, broken },
			[]string{good}, []string{"image/png", reasonProbe}},
		{"a probe that panics", "MCP-38", &album{}, func(context.Context, registry.AgentKey) (Route, error) { panic("no") },
			[]string{good}, []string{"image/png", reasonProbe}},
		{"a route that is silent", "MCP-36 MCP-37", &album{}, func(context.Context, registry.AgentKey) (Route, error) { return Route{Model: "words-1"}, nil },
			[]string{good, good}, []string{"image/png", `model "words-1" does not accept images`, "image/png", `model "words-1" does not accept images`}},
		{"a store that refuses", "MCP-37", &album{err: fmt.Errorf("store: %w", &RefusedError{"it is too large"})}, seeing,
			[]string{good}, []string{"image/png", "the image was refused: it is too large"}},
		{"a store that fails", "MCP-37", &album{err: broken}, seeing, []string{good}, []string{"image/png", reasonFailed}},
		{"a store that panics", "MCP-38", &album{panics: true}, seeing, []string{good}, []string{"image/png", reasonFailed}},
		{"a store that loses one", "MCP-37", &album{tooFew: true}, seeing, []string{good, good}, []string{"image/png", reasonFailed, "image/png", reasonFailed}},
	} {
		inBubble(t, c.rule+" "+c.name, func(b *bench) {
			b.script.answers = map[string]string{"a": answerOf(append(c.blocks, `{"type":"text","text":"end"}`)...)}
			if c.store != nil {
				b.options.Images = c.store
			}
			b.options.Route = c.route
			b.connect()
			r := b.call("a")
			var lines []string
			for i := 0; i < len(c.want); i += 2 {
				lines = append(lines, notShown(c.want[i], c.want[i+1]))
			}
			if want := strings.Join(append(lines, "end"), "\n"); r.IsError() || shownAs(r) != want {
				b.Errorf("content %s\nwant    %s", shownAs(r), want)
			}
			if c.store != nil && len(c.store.stored) != 0 && !c.store.tooFew {
				b.Errorf("stored %v", c.store.stored)
			}
			if strings.Contains(shownAs(r), "fire") || strings.Contains(shownAs(r), "burns") {
				b.Error("the model reads the embedder's own errors")
			}
		})
	}
}

// A call that ends while its images are admitted fails as aborted, whatever was prepared, so the reason is looked at where it is made.
func TestImagesOfCancelledCalls(t *testing.T) {
	value := jsonval.MustOf(json.RawMessage(answerOf(imageBlock("image/png", []byte("pixels")))))
	blocks, _ := value.Get("content")
	for _, c := range []struct {
		name  string
		store func(cancel func()) *album
		route func(cancel func()) RouteProbe
	}{
		{"during the probe", func(func()) *album { return &album{} }, func(cancel func()) RouteProbe {
			return func(ctx context.Context, _ registry.AgentKey) (Route, error) { cancel(); return Route{}, ctx.Err() }
		}},
		{"right after the probe", func(func()) *album { return &album{} }, func(cancel func()) RouteProbe {
			return func(ctx context.Context, a registry.AgentKey) (Route, error) { cancel(); return seeing(ctx, a) }
		}},
		{"in the store", func(cancel func()) *album { return &album{onStore: cancel, err: context.Canceled} }, func(func()) RouteProbe { return seeing }},
	} {
		t.Run("MCP-36 MCP-37 cancelled "+c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			store := c.store(cancel)
			reg, err := registry.New(registry.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g := newGallery(Options{Images: store, Route: c.route(cancel)}, (&journal{}).logger())
			exhibits := exhibitsOf(blocks)
			d, err := registry.Define(registry.Spec[struct{}, string]{Name: "x", Description: "x", Run: func(_ context.Context, _ struct{}, run *registry.Run) (string, error) {
				if refs := g.admit(ctx, run.Execution(), exhibits); refs != nil || exhibits[0].reason != reasonCancelled || len(store.stored) != 0 {
					t.Errorf("refs %v, reason %q, stored %v", refs, exhibits[0].reason, store.stored)
				}
				return "", nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := reg.Register(d); err != nil {
				t.Fatal(err)
			}
			reg.Execute(t.Context(), registry.Call{ID: "1", Name: "x", Arguments: json.RawMessage(`{}`)})
		})
	}
}

// A tool without a finalizer stands for one that appeared only after its call had begun.
func TestPreparedContentOfNobody(t *testing.T) {
	t.Run("MCP-35 prepared content that nobody takes goes with its execution", func(t *testing.T) {
		reg, err := registry.New(registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := newGallery(Options{Images: &album{}, Route: seeing}, (&journal{}).logger())
		value := jsonval.MustOf(json.RawMessage(answerOf(imageBlock("image/png", []byte("pixels")))))
		d, err := registry.Define(registry.Spec[struct{}, string]{Name: "x", Description: "x", Run: func(ctx context.Context, _ struct{}, run *registry.Run) (string, error) {
			g.prepare(ctx, run.Execution(), value)
			return "", nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reg.Register(d); err != nil {
			t.Fatal(err)
		}
		reg.Execute(t.Context(), registry.Call{ID: "1", Name: "x", Arguments: json.RawMessage(`{}`)})
		eventually(t, "the end of the content", func() bool {
			goruntime.GC()
			g.mu.Lock()
			defer g.mu.Unlock()
			return len(g.prepared) == 0
		})
	})
}

func TestMemoryStore(t *testing.T) {
	webp := func(chunk, body string) []byte {
		data, err := hex.DecodeString(strings.ReplaceAll(body, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x00\x00\x00\x00"), append(data, make([]byte, 20)...)...)
	}
	for _, c := range []struct {
		name, kind    string
		data          []byte
		width, height int
	}{
		{"png", "image/png", pictureOf(t, "image/png", 3, 4), 3, 4},
		{"jpeg", "image/jpeg", pictureOf(t, "image/jpeg", 5, 6), 5, 6},
		{"gif", "image/gif", pictureOf(t, "image/gif", 7, 8), 7, 8},
		{"webp, lossy", "image/webp", webp("VP8 ", "000000 9d012a 0140 0280"), 1, 2},
		{"webp, lossless", "image/webp", webp("VP8L", "2f 02c00000"), 3, 4},
		{"webp, extended", "image/webp", webp("VP8X", "00000000 020000 000100"), 3, 257},
	} {
		t.Run("MCP-37 "+c.name, func(t *testing.T) {
			s := NewMemoryStore(MemoryLimits{})
			refs, err := s.StoreImages(t.Context(), []Image{{c.kind, c.data}})
			if err != nil {
				t.Fatal(err)
			}
			if r := refs[0]; r.Width != c.width || r.Height != c.height || r.MediaType != c.kind || r.Bytes != int64(len(c.data)) {
				t.Errorf("reference %+v", r)
			}
			if img, ok := s.Image(refs[0].Attachment); !ok || !bytes.Equal(img.Data, c.data) || img.MediaType != c.kind {
				t.Errorf("kept %v", img)
			}
		})
	}
	refusal := func(t *testing.T, s *MemoryStore, reason string, images ...Image) {
		t.Helper()
		_, err := s.StoreImages(t.Context(), images)
		if refused := (*RefusedError)(nil); !errors.As(err, &refused) || refused.Reason != reason {
			t.Errorf("error %v, want %s", err, reason)
		}
	}
	small := Image{"image/png", pictureOf(t, "image/png", 1, 1)}
	t.Run("MCP-37 what is no image of its type is refused, and the good one beside it is not kept", func(t *testing.T) {
		s := NewMemoryStore(MemoryLimits{})
		for kind, data := range map[string][]byte{
			"image/png": pictureOf(t, "image/gif", 1, 1), "image/jpeg": []byte("x"), "image/gif": nil, "image/webp": make([]byte, 64),
		} {
			refusal(t, s, "it is no "+kind, small, Image{kind, data})
		}
		for _, chunk := range []string{"VP8 ", "VP8L", "XXXX"} {
			refusal(t, s, "it is no image/webp", Image{"image/webp", webp(chunk, "00")})
		}
		refusal(t, s, "it is no text/html", Image{"text/html", []byte("<p>")})
		if len(s.images) != 0 {
			t.Errorf("%d images are kept", len(s.images))
		}
	})
	t.Run("MCP-37 limits", func(t *testing.T) {
		size := int64(len(small.Data))
		refusal(t, NewMemoryStore(MemoryLimits{Image: size - 1}), fmt.Sprintf("it has %d bytes, more than %d", size, size-1), small)
		refusal(t, NewMemoryStore(MemoryLimits{}), "it has 16777216 times 16777216 pixels, more than 67108864", Image{"image/webp", webp("VP8X", "00000000 ffffff ffffff")})
		refusal(t, NewMemoryStore(MemoryLimits{}), "it is no image/webp", Image{"image/webp", webp("VP8 ", "000000 9d012a 0040 0280")})
		refusal(t, NewMemoryStore(MemoryLimits{Total: size + 1}), fmt.Sprintf("the images of the result have more than %d bytes together", size+1), small, small)
	})
	t.Run("MCP-37 the oldest make room; an image that comes again is young", func(t *testing.T) {
		other := Image{"image/png", pictureOf(t, "image/png", 2, 1)}
		third := Image{"image/png", pictureOf(t, "image/png", 1, 2)}
		s := NewMemoryStore(MemoryLimits{Total: int64(len(small.Data) + max(len(other.Data), len(third.Data)))})
		ids := map[string]string{}
		for _, step := range []struct {
			name string
			img  Image
		}{{"small", small}, {"other", other}, {"small", small}, {"third", third}} {
			refs, err := s.StoreImages(t.Context(), []Image{step.img})
			if err != nil {
				t.Fatal(err)
			}
			ids[step.name] = refs[0].Attachment
		}
		for name, kept := range map[string]bool{"small": true, "other": false, "third": true} {
			if _, ok := s.Image(ids[name]); ok != kept {
				t.Errorf("%s is kept: %v", name, ok)
			}
		}
	})
	t.Run("MCP-37 a call that has ended stores nothing", func(t *testing.T) {
		s := NewMemoryStore(MemoryLimits{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.StoreImages(ctx, []Image{small}); !errors.Is(err, context.Canceled) || len(s.images) != 0 {
			t.Errorf("error %v", err)
		}
	})
}
