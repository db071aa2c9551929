package loop

import (
	"strconv"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// configText is what the prelude's configure takes. Two functions of one name in a namespace are one member, at the place
// of the first.
func configText(req *runtime.Request, limits runtime.Limits) string {
	b := append([]byte{}, `{"limit":`...)
	b = strconv.AppendInt(b, limits.MaxOutput, 10)
	b = append(b, `,"seed":[`...)
	b = strconv.AppendUint(b, req.Seed>>32, 10)
	b = append(b, ',')
	b = strconv.AppendUint(b, req.Seed&(1<<32-1), 10)
	b = append(b, `],"namespaces":[`...)
	for i, n := range req.Namespaces {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"global":`...)
		b = jsonval.AppendString(b, n.Global)
		if n.ErrorClass != nil {
			b = append(b, `,"errors":[`...)
			b = jsonval.AppendString(b, n.ErrorClass.Name)
			b = append(b, ',')
			b = appendText(b, n.ErrorClass.MemberProperty)
			b = append(b, ']')
		}
		b = append(b, `,"members":[`...)
		seen := make(map[string]bool, len(n.Functions))
		for _, f := range n.Functions {
			if seen[f.Name] {
				continue
			}
			if len(seen) > 0 {
				b = append(b, ',')
			}
			seen[f.Name] = true
			b = appendText(b, f.Name)
		}
		b = append(b, "]}"...)
	}
	b = append(b, `],"globals":[`...)
	for i, g := range req.Globals {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = jsonval.AppendString(b, g.Name)
		b = append(b, ',')
		b = g.Value.AppendJSON(b)
		b = append(b, ']')
	}
	return string(append(b, "]}"...))
}

// appendText appends a host-made name, which need not be valid UTF-8, as a JSON string.
func appendText(b []byte, s string) []byte { return jsonval.AppendString(b, jsonval.Text(s).Str()) }
