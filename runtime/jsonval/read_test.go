package jsonval_test

//lint:file-ignore SA5008 the option "string" on a type with a method is what is tested here

import (
	"errors"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// counting fails, or not, and counts how often it is asked.
type counting struct {
	calls *int
	raise func() ([]byte, error)
}

func (c counting) MarshalJSON() ([]byte, error) {
	*c.calls++
	return c.raise()
}

type countingText counting

func (c countingText) MarshalText() ([]byte, error) { return counting(c).MarshalJSON() }

type countingZero counting

func (c countingZero) IsZero() bool {
	_, err := counting(c).MarshalJSON()
	return err == nil
}

type mute struct{}

func (mute) Error() string { panic("no message") }

func TestOfReadsOnce(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for name, c := range map[string]struct {
		raise   func() ([]byte, error)
		message string
		cause   error
	}{
		"an error":              {func() ([]byte, error) { return nil, broken }, "the disk is on fire", broken},
		"a panic with an error": {func() ([]byte, error) { panic(broken) }, "the disk is on fire", broken},
		"a panic with a text":   {func() ([]byte, error) { panic("boom") }, "boom", nil},
		"a panic with a value":  {func() ([]byte, error) { panic(42) }, "42", nil},
		"a long message": {func() ([]byte, error) { return nil, errors.New(strings.Repeat("x", 1000)) },
			strings.Repeat("x", 1000), nil},
		"an error without a message": {func() ([]byte, error) { return nil, mute{} }, "a jsonval_test.mute without a message", mute{}},
	} {
		for kind, wrap := range map[string]func(counting) any{
			"MarshalJSON":          func(c counting) any { return c },
			"MarshalText":          func(c counting) any { return countingText(c) },
			"MarshalText of a key": func(c counting) any { return map[*countingText]int{ptr(countingText(c)): 1} },
			"a method of a field":  func(c counting) any { return &struct{ C counting }{c} },
			"a quoted field": func(c counting) any {
				return struct {
					C countingText `json:",string"`
				}{countingText(c)}
			},
			"IsZero": func(c counting) any {
				return struct {
					C countingZero `json:",omitzero"`
				}{countingZero(c)}
			},
		} {
			if kind == "IsZero" && !strings.HasPrefix(name, "a panic") {
				continue
			}
			t.Run("JSON-8 "+name+" from "+kind, func(t *testing.T) {
				calls := 0
				v, err := jsonval.Of([]any{1, wrap(counting{&calls, c.raise})})
				var failed *jsonval.ReadError
				if !errors.As(err, &failed) || v.Exists() {
					t.Fatalf("%s and an error of type %T: %v", v, err, err)
				}
				if err.Error() != c.message || failed.Message != c.message || !strings.HasPrefix(failed.Path, "$[1]") {
					t.Errorf("%s at %s", err, failed.Path)
				}
				if c.cause != nil && !errors.Is(err, c.cause) {
					t.Errorf("the cause %v is lost", c.cause)
				}
				if calls != 1 {
					t.Errorf("read %d times", calls)
				}
			})
		}
	}
	t.Run("JSON-8 success is read once, too", func(t *testing.T) {
		calls := 0
		good := counting{&calls, func() ([]byte, error) { return []byte(`[1]`), nil }}
		if v, err := jsonval.Of([]any{good, &good, map[string]counting{"k": good}}); err != nil || v.String() != `[[1],[1],{"k":[1]}]` || calls != 3 {
			t.Errorf("%s, %v, %d calls", v, err, calls)
		}
	})
	t.Run("JSON-8 what MarshalJSON returns is checked like any text", func(t *testing.T) {
		calls := 0
		bad := counting{&calls, func() ([]byte, error) { return []byte(`{"n":9007199254740993}`), nil }}
		_, err := jsonval.Of(bad)
		var lossy *jsonval.Error
		if !errors.As(err, &lossy) || lossy.Path != "$.n" || calls != 1 {
			t.Errorf("%v, %d calls", err, calls)
		}
	})
}
