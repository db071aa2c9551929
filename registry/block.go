package registry

import (
	"errors"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Block is one immutable block of model-facing content: a JSON object with a string member "type" (OUT-9). The registry
// knows the types text, reasoning and image and passes every other one through. The zero Block is invalid; content that
// holds one is not lossless JSON.
type Block struct{ value jsonval.Value }

// ImageRef refers to an image that is kept in a store. Blocks never hold the image's own bytes.
type ImageRef struct {
	Attachment string `json:"attachmentId"`
	MediaType  string `json:"mediaType"`
	Bytes      int64  `json:"bytes"`
	Width      int    `json:"width,omitempty"`  // in pixels, 0 if unknown
	Height     int    `json:"height,omitempty"` // in pixels, 0 if unknown
}

// Text returns a text block. Bytes that are not UTF-8 become U+FFFD: a command's output must never fail its call.
func Text(text string) Block { return textBlock("text", text) }

// Reasoning returns a block of the model's own reasoning.
func Reasoning(text string) Block { return textBlock("reasoning", text) }

// Image returns a block that shows a stored image.
func Image(ref ImageRef) Block {
	attachment := []jsonval.Member{
		{Name: "attachmentId", Value: jsonval.Text(ref.Attachment)},
		{Name: "mediaType", Value: jsonval.Text(ref.MediaType)},
		{Name: "bytes", Value: count(ref.Bytes)},
	}
	if ref.Width > 0 {
		attachment = append(attachment, jsonval.Member{Name: "width", Value: count(int64(ref.Width))})
	}
	if ref.Height > 0 {
		attachment = append(attachment, jsonval.Member{Name: "height", Value: count(int64(ref.Height))})
	}
	return Block{jsonval.Object(
		jsonval.Member{Name: "type", Value: jsonval.Text("image")},
		jsonval.Member{Name: "attachment", Value: jsonval.Object(attachment...)},
	)}
}

// NewBlock takes any Go value that is a JSON object with a string "type" as a block.
func NewBlock(v any) (Block, error) {
	value, err := jsonval.Of(v)
	if err != nil {
		return Block{}, err
	}
	if !validBlock(value) {
		return Block{}, errors.New(`a content block must be a JSON object with a string member "type"`)
	}
	return Block{value}, nil
}

// Type returns what kind of block it is, "" for the zero Block.
func (b Block) Type() string {
	t, _ := b.value.Get("type")
	return t.Str()
}

// Text returns the text of a text or reasoning block, "" for any other.
func (b Block) Text() string {
	if t := b.Type(); t != "text" && t != "reasoning" {
		return ""
	}
	text, _ := b.value.Get("text")
	return text.Str()
}

// Image returns the reference that an image block holds, and whether b is one.
func (b Block) Image() (ref ImageRef, ok bool) {
	if b.Type() != "image" {
		return ImageRef{}, false
	}
	attachment, _ := b.value.Get("attachment")
	text := func(name string) string { v, _ := attachment.Get(name); return v.Str() }
	number := func(name string) int64 { v, _ := attachment.Get(name); return int64(v.Float()) }
	ref = ImageRef{
		Attachment: text("attachmentId"), MediaType: text("mediaType"),
		Bytes: number("bytes"), Width: int(number("width")), Height: int(number("height")),
	}
	return ref, ref.Attachment != ""
}

// Value returns the block as JSON.
func (b Block) Value() jsonval.Value { return b.value }

// MarshalJSON returns the block's JSON object.
func (b Block) MarshalJSON() ([]byte, error) {
	if !b.valid() {
		return nil, errors.New("the zero Block has no JSON form")
	}
	return b.value.JSON(), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (b *Block) UnmarshalJSON(text []byte) error {
	value, err := jsonval.Parse(text)
	if err != nil {
		return err
	}
	*b, err = NewBlock(value)
	return err
}

func (b Block) valid() bool { return b.value.Exists() }

func validBlock(v jsonval.Value) bool {
	t, _ := v.Get("type")
	return t.IsString()
}

func validContent(content []Block) bool {
	for i := range content {
		if !content[i].valid() {
			return false
		}
	}
	return true
}

func textBlock(kind, text string) Block {
	return Block{jsonval.Object(
		jsonval.Member{Name: "type", Value: jsonval.Text(kind)},
		jsonval.Member{Name: "text", Value: jsonval.Text(text)},
	)}
}

// textOf returns a text block of a value that is a string.
func textOf(s jsonval.Value) Block {
	return Block{jsonval.Object(
		jsonval.Member{Name: "type", Value: jsonval.Text("text")},
		jsonval.Member{Name: "text", Value: s},
	)}
}

// count returns n as a number; counts beyond what a double holds exactly are rounded to one that it does.
func count(n int64) jsonval.Value {
	v, err := jsonval.Number(float64(n))
	if err != nil {
		return jsonval.Null()
	}
	return v
}
