package jsonval

import (
	"encoding/json"
	"errors"
)

// UnmarshalJSON makes v the value that text denotes, as [Parse]. It is the one method that changes a Value: the variable
// v, not the value that others hold copies of.
func (v *Value) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// Decode stores v in the Go value that target points to, as encoding/json would (DEFINE-8).
func (v Value) Decode(target any) error {
	if v.kind == KindAbsent {
		return errors.New("jsonval: Decode: there is no value to decode")
	}
	return json.Unmarshal(v.JSON(), target)
}
