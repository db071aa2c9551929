package exectools

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

var printer = message.NewPrinter(language.English)

// at follows the tokens of a JSON pointer.
func at(v jsonval.Value, tokens []string) (jsonval.Value, bool) {
	for _, token := range tokens {
		var ok bool
		if v.IsArray() {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= v.Len() {
				return jsonval.Value{}, false
			}
			v = v.Index(i)
		} else if v, ok = v.Get(token); !ok {
			return jsonval.Value{}, false
		}
	}
	return v, v.Exists()
}

// memberPath writes a place as tools.md VALID-2 does: the label for the root, config.host, tags[1].
func memberPath(tokens []string, root jsonval.Value, label string) string {
	if len(tokens) == 0 {
		return label
	}
	var b strings.Builder
	v := root
	for _, token := range tokens {
		i, err := strconv.Atoi(token)
		if v.IsArray() && err == nil {
			b.WriteString("[" + token + "]")
			if i >= 0 && i < v.Len() {
				v = v.Index(i)
			}
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
		v, _ = v.Get(token)
	}
	return b.String()
}

func quotePath(path string) string { return `"` + path + `"` }

// jsonText is a value that came out of the library.
func jsonText(v any) string {
	value, err := jsonval.Of(v)
	if err != nil {
		return "the stated value"
	}
	return shown(value)
}

func jsonList(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = jsonText(v)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return names
}
