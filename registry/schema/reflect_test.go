package schema_test

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

type base struct {
	ID   string `json:"id"`
	Name string // hidden by the outer one
}

type inner struct {
	Host string `json:"host" jsonschema:"Where to connect"`
	Port *int   `json:"port"`
}

type everything struct {
	base
	*inner
	Name     string          `json:"Name,omitempty"`
	Mode     string          `json:"mode" enum:"fast,slow"`
	Level    int8            `json:"level" enum:"1,2"`
	Ratio    float32         `json:"ratio,omitzero"`
	On       bool            `json:"on"`
	Tags     []string        `json:"tags"`
	Matrix   [2][]uint       `json:"matrix"`
	Labels   map[string]int  `json:"labels"`
	Raw      json.RawMessage `json:"raw"`
	Any      any             `json:"any"`
	Value    jsonval.Value   `json:"value"`
	When     time.Time       `json:"when"`
	Big      *big.Int        `json:"big"`
	Bytes    []byte          `json:"bytes"`
	Quoted   int             `json:",string"`
	Skipped  func()          `json:"-"`
	private  int
	Nested   struct{ A inner } `json:"nested"`
	Number   json.Number       `json:"number"`
	Untagged uint64
}

type list struct {
	Next *list `json:"next,omitempty"`
}

type tree struct{ L, R *tree }

func TestDerive(t *testing.T) {
	t.Run("DEFINE-1 fields, tags and options", func(t *testing.T) {
		p, err := schema.PropsOf[everything]()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := p.Schema()
		if err != nil {
			t.Fatal(err)
		}
		want := `{"type":"object","properties":{"id":{"type":"string"},"host":{"type":"string","description":"Where to connect"},"port":{"type":"integer"},` +
			`"Name":{"type":"string"},"mode":{"type":"string","enum":["fast","slow"]},"level":{"type":"integer","enum":[1,2]},"ratio":{"type":"number"},"on":{"type":"boolean"},` +
			`"tags":{"type":"array","items":{"type":"string"}},"matrix":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},` +
			`"labels":{"type":"object","additionalProperties":true},"raw":{},"any":{},"value":{},"when":{"type":"string"},"big":{"type":"integer"},"bytes":{"type":"string"},` +
			`"Quoted":{"type":"string"},"nested":{"type":"object","additionalProperties":false,"properties":{"A":{"type":"object","additionalProperties":false,"properties":{` +
			`"host":{"type":"string","description":"Where to connect"},"port":{"type":"integer"}},"required":["host"]}},"required":["A"]},"number":{"type":"number"},"Untagged":{"type":"integer"}},` +
			`"required":["id","mode","level","on","tags","matrix","labels","raw","any","value","when","bytes","Quoted","nested","number","Untagged"]}`
		if got := raw.String(); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	})
	t.Run("DEFINE-1 what the Go value encodes to fits what its type derives", func(t *testing.T) {
		n, err := schema.NodeOf[everything]()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := n.Schema()
		if err != nil {
			t.Fatal(err)
		}
		c, err := schema.Compile(raw)
		if err != nil {
			t.Fatal(err)
		}
		port := 1
		v := jsonval.MustOf(everything{
			private: 1, inner: &inner{Host: "h", Port: &port}, Mode: "fast", Level: 1, Raw: json.RawMessage("1"), Value: jsonval.Null(), Big: big.NewInt(7),
			Nested: struct{ A inner }{inner{Port: &port}}, Number: "1.5",
		})
		if got := c.Validate(v, "value"); len(got) != 0 {
			t.Errorf("%q of %s", got, v)
		}
	})
	t.Run("DEFINE-1 sixteen container levels are exact, deeper ones are json", func(t *testing.T) {
		n, err := schema.NodeOf[list]()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := n.Schema()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(raw.String(), `"type":"object"`); got != 16 || !strings.Contains(raw.String(), `"next":{}`) {
			t.Errorf("%d levels in %s", got, raw)
		}
		p, err := schema.PropsOf[list]()
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = p.Schema(); err != nil || strings.Count(raw.String(), `"type":"object"`) != 16 {
			t.Errorf("%v in %s", err, raw)
		}
	})
	t.Run("DEFINE-1 roots", func(t *testing.T) {
		if p, err := schema.PropsOf[map[string]int](); err != nil || len(p) != 0 {
			t.Errorf("%v %v", p, err)
		}
		if p, err := schema.PropsOf[*struct{}](); err != nil || len(p) != 0 {
			t.Errorf("%v %v", p, err)
		}
		for want, f := range map[string]func() error{
			"parameters: string is not a struct: give the parameters explicitly":        func() error { _, err := schema.PropsOf[string](); return err },
			"parameters: time.Time is not a struct: give the parameters explicitly":     func() error { _, err := schema.PropsOf[time.Time](); return err },
			"parameters: jsonval.Value is not a struct: give the parameters explicitly": func() error { _, err := schema.PropsOf[jsonval.Value](); return err },
		} {
			if got := violations(f()); !slices.Equal(got, []string{want}) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
	t.Run("DEFINE-2 the error names the field", func(t *testing.T) {
		for want, f := range map[string]func() error{
			"parameters.c: the Go type chan int has no JSON form (field C of ": func() error {
				_, err := schema.PropsOf[struct {
					C chan int `json:"c"`
				}]()
				return err
			},
			"parameters.a.properties.F.items: the Go type func() has no JSON form (field F of ": func() error {
				_, err := schema.PropsOf[struct {
					A struct{ F []func() } `json:"a"`
				}]()
				return err
			},
			`schema.properties.N: the enum value "x" is not of type integer (field N of `: func() error {
				_, err := schema.NodeOf[struct {
					N int `enum:"1,x"`
				}]()
				return err
			},
			"schema.properties.L: the tag enum is for strings and numbers, not for type array (field L of ": func() error {
				_, err := schema.NodeOf[struct {
					L []string `enum:"a"`
				}]()
				return err
			},
			"schema.properties.M: the Go type map[struct {}]int has no JSON form: its keys have no text (field M of ": func() error {
				_, err := schema.NodeOf[struct{ M map[struct{}]int }]()
				return err
			},
			"schema.properties.M.*: the Go type complex128 has no JSON form (field M of ": func() error {
				_, err := schema.NodeOf[struct{ M map[string]complex128 }]()
				return err
			},
			"more than 5000 nodes: give it explicitly": func() error { _, err := schema.NodeOf[tree](); return err },
		} {
			if got := violations(f()); len(got) != 1 || !strings.Contains(got[0], want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
	t.Run("embedding follows encoding/json", func(t *testing.T) {
		type A struct{ X, Only int }
		type B struct{ X int }
		type C struct {
			Y int `json:"X"`
		}
		type both struct {
			A
			B
		}
		type tagged struct {
			A
			C
		}
		type outer struct {
			A
			X string
		}
		for want, f := range map[string]func() (schema.Node, error){
			`Only`:   schema.NodeOf[both],
			`Only X`: schema.NodeOf[tagged],
			`Only X X2`: schema.NodeOf[struct {
				A
				X int `json:"X2"`
			}],
		} {
			n, err := f()
			if err != nil {
				t.Fatal(err)
			}
			p, _ := n.JSON().Get("properties")
			got := p.Names()
			slices.Sort(got)
			if s := strings.Join(got, " "); s != want {
				t.Errorf("members %q, want %q", s, want)
			}
		}
		n, err := schema.NodeOf[outer]()
		if err != nil {
			t.Fatal(err)
		}
		p, _ := n.JSON().Get("properties")
		x, _ := p.Get("X")
		if x.String() != `{"type":"string","required":true}` {
			t.Errorf("X is %s", x)
		}
	})
}
