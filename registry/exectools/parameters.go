package exectools

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	maxSchemaDepth    = 1000
	maxArgumentDepth  = 10_000 // the validator calls itself for each level
	maxViolations     = 20
	maxBranchComplain = 3
)

// parameters is a JSON Schema of arguments, in full (draft 2020-12 unless it says otherwise). `format` is asserted: whoever writes
// "format": "date" in a manifest wants dates. Patterns are RE2, so that no pattern can take for ever. A $ref to another document is
// an error: nothing is fetched or read.
type parameters struct {
	schema   jsonval.Value
	compiled *jsonschema.Schema
	names    []string // the declared members, in order
}

const schemaAddress = "manifest:///parameters"

// sealed is a loader that loads nothing.
type sealed struct{}

func (sealed) Load(address string) (any, error) {
	return nil, fmt.Errorf("refers to %s: only references within the schema are followed", strings.TrimPrefix(address, schemaAddress))
}

func newParameters(v jsonval.Value) (parameters, error) {
	if !v.IsObject() {
		return parameters{}, fmt.Errorf("must be a JSON Schema object, got %s", v.Kind())
	}
	document, ok := plain(v, maxSchemaDepth)
	if !ok {
		return parameters{}, fmt.Errorf("nests deeper than %d levels", maxSchemaDepth)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(sealed{})
	if err := c.AddResource(schemaAddress, document); err != nil {
		return parameters{}, errors.New(schemaMessage(err))
	}
	compiled, err := c.Compile(schemaAddress)
	if err != nil {
		return parameters{}, errors.New(schemaMessage(err))
	}
	p := parameters{schema: v, compiled: compiled}
	properties, _ := v.Get("properties")
	p.names = properties.Names()
	return p, p.checkRoot()
}

// checkRoot demands that arguments can be an object, which is what every caller sends.
func (p parameters) checkRoot() error {
	if t := p.compiled.Types; t != nil && !t.IsEmpty() && !slices.Contains(t.ToStrings(), "object") {
		return fmt.Errorf("the type must be object, not %s: arguments are given by name", strings.Join(t.ToStrings(), " or "))
	}
	return nil
}

// schemaMessage takes the made-up address of the schema out of the library's texts.
func schemaMessage(err error) string {
	if invalid := (*jsonschema.SchemaValidationError)(nil); errors.As(err, &invalid) {
		if cause := (*jsonschema.ValidationError)(nil); errors.As(invalid.Err, &cause) {
			return "is no JSON Schema: " + strings.Join(violations(cause, jsonval.Value{}, "schema"), "; ")
		}
	}
	if load := (*jsonschema.LoadURLError)(nil); errors.As(err, &load) {
		return load.Err.Error()
	}
	return "is no JSON Schema: " + strings.ReplaceAll(err.Error(), schemaAddress, "")
}

// declares says whether name is a declared member.
func (p parameters) declares(name string) bool { return slices.Contains(p.names, name) }

// validate returns a *registry.ArgsError that says of each misfit which member it is, what was expected and what came.
func (p parameters) validate(args jsonval.Value) error {
	if !args.IsObject() {
		return &registry.ArgsError{Violations: []string{`"arguments": expected object, got ` + shown(args)}}
	}
	value, ok := plain(args, maxArgumentDepth)
	if !ok {
		return &registry.ArgsError{Violations: []string{fmt.Sprintf(`"arguments": expected at most %d levels of nesting`, maxArgumentDepth)}}
	}
	err := p.compiled.Validate(value)
	if err == nil {
		return nil
	}
	invalid := (*jsonschema.ValidationError)(nil)
	if !errors.As(err, &invalid) {
		return &registry.ArgsError{Violations: []string{`"arguments": ` + err.Error()}}
	}
	list := violations(invalid, args, "arguments")
	if len(list) > maxViolations {
		list = append(list[:maxViolations], fmt.Sprintf("and %d more", len(list)-maxViolations))
	}
	return &registry.ArgsError{Violations: list}
}

// plain is a value in the form that the library takes; ok is false if it nests deeper than limit.
func plain(v jsonval.Value, limit int) (value any, ok bool) {
	if limit == 0 {
		return nil, false
	}
	switch v.Kind() {
	case jsonval.KindBool:
		return v.Bool(), true
	case jsonval.KindNumber:
		return v.Float(), true
	case jsonval.KindString:
		return v.Str(), true
	case jsonval.KindArray:
		list := make([]any, v.Len())
		for i, item := range v.Items() {
			if list[i], ok = plain(item, limit-1); !ok {
				return nil, false
			}
		}
		return list, true
	case jsonval.KindObject:
		m := make(map[string]any, v.Len())
		for name, item := range v.Members() {
			if m[name], ok = plain(item, limit-1); !ok {
				return nil, false
			}
		}
		return m, true
	}
	return nil, true
}

// violations lists the leaves of a validation error, in the form of tools.md VALID-2. root is the value that was checked, absent if it
// is not at hand.
func violations(e *jsonschema.ValidationError, root jsonval.Value, label string) []string {
	var list []string
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		switch k := e.ErrorKind.(type) {
		case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains:
			list = append(list, violation(e, root, label))
			return
		case *kind.Required:
			for _, name := range k.Missing {
				list = append(list, quotePath(memberPath(append(slices.Clone(e.InstanceLocation), name), root, label))+": required property is missing")
			}
			return
		case *kind.AdditionalProperties:
			for _, name := range sorted(k.Properties) {
				list = append(list, quotePath(memberPath(append(slices.Clone(e.InstanceLocation), name), root, label))+": undeclared property")
			}
			return
		}
		if len(e.Causes) == 0 {
			list = append(list, violation(e, root, label))
			return
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(e)
	slices.Sort(list) // the library walks maps
	return slices.Compact(list)
}

func violation(e *jsonschema.ValidationError, root jsonval.Value, label string) string {
	got := ""
	if v, ok := at(root, e.InstanceLocation); ok {
		got = ", got " + shown(v)
	}
	return quotePath(memberPath(e.InstanceLocation, root, label)) + ": expected " + expectation(e, root, label) + got
}

// expectation says what would have been right.
func expectation(e *jsonschema.ValidationError, root jsonval.Value, label string) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return strings.Join(k.Want, " or ")
	case *kind.Enum:
		return "one of " + jsonList(k.Want)
	case *kind.Const:
		return jsonText(k.Want)
	case *kind.Format:
		return "the format " + k.Want
	case *kind.Pattern:
		return "a match of the pattern " + strconv.Quote(k.Want)
	case *kind.Minimum:
		return "at least " + k.Want.RatString()
	case *kind.Maximum:
		return "at most " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "more than " + k.Want.RatString()
	case *kind.ExclusiveMaximum:
		return "less than " + k.Want.RatString()
	case *kind.MultipleOf:
		return "a multiple of " + k.Want.RatString()
	case *kind.MinLength:
		return fmt.Sprintf("at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("at most %d items", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("at least %d members", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("at most %d members", k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("no two equal items, but items %d and %d are", k.Duplicates[0], k.Duplicates[1])
	case *kind.FalseSchema:
		return "that it is absent"
	case *kind.Not:
		return "anything but what its schema excludes"
	case *kind.AnyOf:
		return "one of several forms to match" + branches(e, root, label)
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			return "exactly one form to match, but several do"
		}
		return "one of several forms to match" + branches(e, root, label)
	}
	return "what its schema says (" + e.ErrorKind.LocalizedString(printer) + ")"
}

// branches says why the first few forms of a union do not match.
func branches(e *jsonschema.ValidationError, root jsonval.Value, label string) string {
	var reasons []string
	for _, cause := range e.Causes[:min(len(e.Causes), maxBranchComplain)] {
		reasons = append(reasons, strings.Join(violations(cause, root, label), ", "))
	}
	if len(reasons) == 0 {
		return ""
	}
	return " (" + strings.Join(reasons, "; or ") + ")"
}
