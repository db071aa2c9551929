package jsonval

// This file defines the ways out to Go data.

import (
	"encoding/json"
	"errors"
	"fmt"
)

// UnmarshalJSON makes v the value that text denotes, as [Parse]. It changes the variable v, never a value: what others
// hold copies of stays as it is.
func (v *Value) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// maxDecode is how deep encoding/json decodes.
const maxDecode = 10_000

// Decode stores v in the Go value that target points to, as encoding/json would (DEFINE-8); its errors are those of
// encoding/json. A target of type *Value or *any takes any depth, another at most 10,000 levels (JSON-10). Large integers
// arrive exactly, whatever their text looks like.
func (v Value) Decode(target any) error {
	if v.kind == KindAbsent {
		return errors.New("there is no value to decode")
	}
	switch t := target.(type) {
	case *Value:
		if t != nil {
			*t = v
			return nil
		}
	case *any:
		if t != nil && *t == nil { // what is there already can be a pointer to decode into
			*t = v.Any()
			return nil
		}
	}
	err := json.Unmarshal(v.print(make([]byte, 0, v.room()), appendExact), target)
	if err != nil {
		if depth := v.depth(); depth > maxDecode {
			return fmt.Errorf("cannot decode into %T: the value is nested %d levels deep, at most %d can be decoded", target, depth, maxDecode)
		}
	}
	return err
}

// Any returns v as the Go data that encoding/json decodes into an interface: nil, bool, float64, string, []any and
// map[string]any, fresh and the caller's own. An absent value is nil, too.
func (v Value) Any() any {
	var stack []cursor
	var made []any // the Go data of each container on the stack
	var root any
	for {
		var out any
		switch v.kind {
		case KindBool:
			out = v.Bool()
		case KindNumber:
			out = v.Float()
		case KindString:
			out = v.str()
		case KindArray:
			out = make([]any, v.Len())
		case KindObject:
			out = make(map[string]any, v.Len())
		}
		if len(stack) == 0 {
			root = out
		} else {
			top := &stack[len(stack)-1]
			switch in := made[len(stack)-1].(type) {
			case []any:
				in[top.next-1] = out
			case map[string]any:
				in[top.in.members()[top.next-1].Name] = out
			}
		}
		if v.branch() {
			stack, made = append(stack, cursor{in: v}), append(made, out)
		}
		stack = ascend(stack)
		if made = made[:len(stack)]; len(stack) == 0 {
			return root
		}
		_, v = stack[len(stack)-1].child()
	}
}

// depth returns how many containers are nested in v at most.
func (v Value) depth() int {
	deepest := 0
	var stack []cursor
	for {
		if v.kind >= KindArray {
			deepest = max(deepest, len(stack)+1)
		}
		if v.branch() {
			stack = append(stack, cursor{in: v})
		}
		if stack = ascend(stack); len(stack) == 0 {
			return deepest
		}
		_, v = stack[len(stack)-1].child()
	}
}
