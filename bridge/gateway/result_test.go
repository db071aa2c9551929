package gateway

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// says is a tool that renders as the blocks given.
func says(name string, value any, blocks ...registry.Block) registry.Definition {
	d := tool(name, func(context.Context, jsonval.Value) (any, error) { return value, nil })
	d.Output.Render = func(_, _ jsonval.Value) ([]registry.Block, error) { return blocks, nil }
	return d
}

func TestStructured(t *testing.T) {
	nested := func(depth int) jsonval.Value {
		v := jsonval.Null()
		for range depth {
			v = jsonval.Array(v)
		}
		return v
	}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"an object is itself", jsonval.Object(jsonval.Member{Name: "b", Value: jsonval.Bool(true)}, jsonval.Member{Name: "a", Value: jsonval.Null()}), `{"b":true,"a":null}`},
		{"a text stands in an object", "x", `{"result":"x"}`},
		{"null stands in an object", nil, `{"result":null}`},
		{"a list stands in an object", []int{1, 2}, `{"result":[1,2]}`},
	} {
		t.Run("GATE-5 structuredContent: "+c.name, func(t *testing.T) {
			h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{says("t", c.value, registry.Text("text"))}})
			cl := h.greeted()
			cl.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`)
			line := cl.next()
			if got := gjson.Get(line, "result.structuredContent").Raw; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if gjson.Get(line, "result.content.0.text").Str != "text" || gjson.Get(line, "result.isError").Exists() {
				t.Errorf("content %s", line)
			}
		})
	}
	t.Run("GATE-1 a value too large for a client stands in a resource", func(t *testing.T) {
		revisions(t, func(t *testing.T, protocol string) {
			h := open(t, houseOptions{gateway: Options{MaxText: 1000}})
			s := h.connect(nil, protocol)
			r := run(t, s, `console.log("first"); return "x".repeat(100000) + "last"`)
			o := structured(r)
			if got := gjson.Get(o, "truncated.bytes").Int(); got < 100_000 || got > 101_000 {
				t.Errorf("structured %.300s", o)
			}
			if got := gjson.Get(o, "text").Str; got != text(r) || len(got) > 1300 || !strings.HasPrefix(got, "first\nxxx") || !strings.HasSuffix(got, "xxxlast") {
				t.Errorf("text %s", got)
			}
			whole, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: gjson.Get(o, "truncated.resource").Str})
			if err != nil || whole.Contents[0].MIMEType != "application/json" || gjson.Get(whole.Contents[0].Text, "result").Str != strings.Repeat("x", 100000)+"last" {
				t.Errorf("the resource: %v", err)
			}
		})
	})
	t.Run("GATE-5 a value too deep for parsers stands in a resource", func(t *testing.T) {
		h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{
			says("shallow", nested(maxNesting-1), registry.Text("t")), says("deep", nested(maxNesting), registry.Text("t")), says("bottomless", nested(50_000), registry.Text("t")),
		}})
		s := h.connect(nil, older)
		if o := structured(callTool(t, s, "shallow", nil)); gjson.Get(o, "truncated").Exists() {
			t.Errorf("shallow: %s", o)
		}
		for _, name := range []string{"deep", "bottomless"} {
			o := structured(callTool(t, s, name, nil))
			whole, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: gjson.Get(o, "truncated.resource").Str})
			if err != nil || !strings.HasPrefix(whole.Contents[0].Text, `{"result":[[[`) {
				t.Errorf("%s: %.200s, %v", name, o, err)
			}
		}
	})
}

func TestContent(t *testing.T) {
	picture := registry.ImageRef{Attachment: "p", MediaType: "image/png", Bytes: 3, Width: 1, Height: 1}
	gone := registry.ImageRef{Attachment: "gone", MediaType: "image/png", Bytes: 77}
	page := registry.ImageRef{Attachment: "p", MediaType: "text/html", Bytes: 3}
	images := Options{Image: func(ref registry.ImageRef) ([]byte, bool) { return []byte("PNG"), ref.Attachment == "p" }}
	t.Run("GATE-5 images are images, and one without bytes is a text", func(t *testing.T) {
		h := open(t, houseOptions{mode: registry.Native, gateway: images, tools: []registry.Definition{
			says("t", nil, registry.Text("before"), registry.Image(picture), registry.Image(gone), registry.Image(page), registry.Text("after")),
		}})
		r := callTool(t, h.connect(nil, older), "t", nil)
		want := "before\n[image not shown: \"image/png\", 77 bytes]\n[image not shown: \"text/html\", 3 bytes]\nafter"
		if text(r) != want {
			t.Errorf("text %q, want %q", text(r), want)
		}
		if p, ok := r.Content[1].(*mcp.ImageContent); !ok || !bytes.Equal(p.Data, []byte("PNG")) || p.MIMEType != "image/png" {
			t.Errorf("%#v", r.Content[1])
		}
		if r.StructuredContent != nil {
			t.Error("structuredContent would hide the image from models that are shown nothing else")
		}
	})
	t.Run("IMG-2 images of a program's calls come behind its result", func(t *testing.T) {
		h := open(t, houseOptions{gateway: images, tools: []registry.Definition{says("shot", "value", registry.Text("a shot"), registry.Image(picture))}})
		r := run(t, h.connect(nil, older), `return await tools.shot({})`)
		if text(r) != "value\na shot" || r.StructuredContent != nil {
			t.Errorf("text %q, structured %s", text(r), structured(r))
		}
		if _, ok := r.Content[len(r.Content)-1].(*mcp.ImageContent); !ok {
			t.Errorf("content %#v", r.Content)
		}
	})
	t.Run("GATE-5 more images than a message holds are texts", func(t *testing.T) {
		h := open(t, houseOptions{mode: registry.Native, gateway: Options{Image: func(registry.ImageRef) ([]byte, bool) { return make([]byte, maxImages/2), true }}, tools: []registry.Definition{
			says("t", nil, registry.Image(picture), registry.Image(picture), registry.Image(picture)),
		}})
		c := h.greeted()
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`)
		line := c.next()
		if got := gjson.Get(line, "result.content.#.type").Raw; got != `["image","image","text"]` {
			t.Errorf("content %s", got)
		}
	})
	t.Run("GATE-5 messages that ride on a result reach the model", func(t *testing.T) {
		h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{says("t", "v", registry.Text("v")), tool("bad", func(context.Context, jsonval.Value) (any, error) {
			return nil, fmt.Errorf("broken")
		})}})
		h.reg.OnExecute(func(ctx context.Context, _ registry.Execution, next func(context.Context) (registry.Result, error)) (registry.Result, error) {
			r, err := next(ctx)
			return r.WithContexts(registry.Context{Content: []registry.Block{registry.Text("remember this")}}), err
		})
		s := h.connect(nil, older)
		if r := callTool(t, s, "t", nil); text(r) != "v\nremember this" || r.StructuredContent != nil {
			t.Errorf("text %q, structured %s", text(r), structured(r))
		}
		if r := callTool(t, s, "bad", nil); text(r) != "Error: broken\nremember this" || !r.IsError {
			t.Errorf("text %q", text(r))
		}
	})
	t.Run("GATE-5 blocks of other kinds are shown as JSON", func(t *testing.T) {
		odd, err := registry.NewBlock(map[string]any{"type": "odd", "x": 1})
		if err != nil {
			t.Fatal(err)
		}
		h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{says("t", nil, odd), says("empty", nil)}})
		s := h.connect(nil, older)
		if r := callTool(t, s, "t", nil); text(r) != `{"type":"odd","x":1}` {
			t.Errorf("text %q", text(r))
		}
		if r := callTool(t, s, "empty", nil); len(r.Content) != 0 || structured(r) != `{"result":null}` {
			t.Errorf("%#v %s", r.Content, structured(r))
		}
	})
}

func TestCut(t *testing.T) {
	t.Run("GATE-1 long text is cut in the middle with the count, and the whole is a resource", func(t *testing.T) {
		revisions(t, func(t *testing.T, protocol string) {
			whole := strings.Repeat("äöü", 20_000)
			h := open(t, houseOptions{mode: registry.Native, tools: []registry.Definition{says("t", nil, registry.Text("small"), registry.Text(whole))}})
			s := h.connect(nil, protocol)
			r := callTool(t, s, "t", nil)
			shown := r.Content[1].(*mcp.TextContent).Text
			if n := int64(len(text(r))); n > DefaultMaxText+200 || n < DefaultMaxText-10 || !utf8.ValidString(shown) {
				t.Errorf("%d bytes are shown", n)
			}
			link, ok := r.Content[2].(*mcp.ResourceLink)
			if !ok || *link.Size != int64(len(whole)) || !strings.Contains(shown, "of 120000 bytes are left out here: the whole is the resource "+link.URI) {
				t.Fatalf("%#v %s", r.Content[2], shown[len(shown)/2-200:len(shown)/2+200])
			}
			got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI})
			if err != nil || got.Contents[0].Text != whole || got.Contents[0].MIMEType != "text/plain" {
				t.Errorf("the resource: %v", err)
			}
		})
	})
	t.Run("GATE-1 clients that know no links get none", func(t *testing.T) {
		h := open(t, houseOptions{gateway: Options{MaxText: 100}})
		r := run(t, h.connect(nil, "2025-03-26"), `return "x".repeat(1000)`)
		if len(r.Content) != 1 || !strings.Contains(text(r), resultURI) {
			t.Errorf("content %#v", r.Content)
		}
	})
	t.Run("GATE-1 failures are cut, too", func(t *testing.T) {
		h := open(t, houseOptions{gateway: Options{MaxText: 1000}})
		r := run(t, h.connect(nil, older), `console.log("y".repeat(5000)); throw new Error("the end")`)
		if !r.IsError || len(text(r)) > 1300 || !strings.HasPrefix(text(r), "Error: program failed") {
			t.Errorf("text %s", text(r))
		}
	})
	t.Run("GATE-1 the last whole texts are kept, and what is gone is said", func(t *testing.T) {
		h := open(t, houseOptions{gateway: Options{MaxText: 100}})
		s, other := h.connect(nil, older), h.connect(nil, older)
		uri := func(r *mcp.CallToolResult) string {
			for _, c := range r.Content {
				if l, ok := c.(*mcp.ResourceLink); ok {
					return l.URI
				}
			}
			t.Fatalf("no link: %.200s", text(r))
			return ""
		}
		read := func(s *mcp.ClientSession, uri string) error {
			_, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			return err
		}
		first := uri(run(t, s, `return "x".repeat(3e6)`))
		second := uri(run(t, s, `return "y".repeat(3e6)`))
		if err := read(other, first); err == nil || !strings.Contains(err.Error(), "is not there (any more)") {
			t.Errorf("another session reads it: %v", err)
		}
		for range 6 { // each stores a text and a value of 3 MB
			run(t, s, `return "z".repeat(3e6)`)
			if err := read(s, first); err != nil {
				t.Fatalf("what was used just now is gone: %v", err)
			}
		}
		if err := read(s, second); err == nil || !strings.Contains(err.Error(), "the whole texts of the last results are kept, up to 32 MiB") {
			t.Errorf("the oldest is there: %v", err)
		}
		if err := read(s, resultURI+"nonsense"); err == nil {
			t.Error("nonsense is there")
		}
	})
	t.Run("GATE-1 a text larger than the space is not kept", func(t *testing.T) {
		var kept texts
		if uri, ok := kept.keep(strings.Repeat("x", maxKept+1), textPlain); ok {
			t.Errorf("kept at %s", uri)
		}
		if _, ok := kept.keep(strings.Repeat("x", maxKept), textPlain); !ok {
			t.Error("what fits exactly is not kept")
		}
	})
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		space int64
		want  string
	}{
		{nil, 10, "[]"},
		{[]int64{3, 4}, 10, "[3 4]"},
		{[]int64{100, 2, 100}, 20, "[9 2 9]"},
		{[]int64{100}, 0, "[0]"},
		{[]int64{1 << 62, 5, 1 << 62}, 25, "[10 5 10]"},
	} {
		if got := fmt.Sprint(shares(c.sizes, c.space)); got != c.want {
			t.Errorf("shares(%v, %d) = %s, want %s", c.sizes, c.space, got, c.want)
		}
	}
}

func TestCutMiddle(t *testing.T) {
	whole := "0123456789äöü"
	for limit := range len(whole) {
		got := cutMiddle(whole, limit, "u")
		if !utf8.ValidString(got) || !strings.Contains(got, "bytes are left out here: the whole is the resource u") {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	if got, want := cutMiddle("0123456789", 4, ""), "01\n[… 6 of 10 bytes are left out here: the whole is too large to be kept …]\n89"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := cutEnd("abäd", 3), "ab\n[… 3 more bytes]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
