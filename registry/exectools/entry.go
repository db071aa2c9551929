package exectools

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// body is what a tool does; args have been checked against its parameters.
type body func(ctx context.Context, args jsonval.Value) (any, error)

// entry is one tool of a manifest while it is read.
type entry struct {
	problems
	key        string // tools.NAME
	name       string
	value      jsonval.Value
	folder     string
	parameters parameters
	output     jsonval.Value
}

// bodies are the keys of which a tool has exactly one (TOOLS-2).
var bodies = []string{"command", "http", "result", "error"}

func readTool(name string, value jsonval.Value, folder string, bad problems) (registry.Definition, bool) {
	before := len(*bad.list)
	e := &entry{problems: bad, key: "tools." + name, name: name, value: value, folder: folder}
	definition := e.read()
	return definition, len(*bad.list) == before
}

func (e *entry) read() (d registry.Definition) {
	switch {
	case strings.TrimSpace(e.name) == "":
		e.add(e.key, "a tool needs a name")
	case e.name == registry.RunCode:
		e.add(e.key, "the name %q is reserved", registry.RunCode)
	}
	if !e.value.IsObject() {
		e.add(e.key, "must be an object, got %s", e.value.Kind())
		return d
	}
	e.checkKeys()
	d.Name = e.name
	d.Description = e.description()
	e.readParameters()
	d.Parameters = e.parameters.schema
	e.readOutput()
	d.Output = registry.Output{Schema: e.output, Render: renderValue}
	d.TimeoutMs = e.positiveInteger("timeoutMs")
	if e.boolean("concurrencySafe") {
		d.ConcurrencySafe = func(jsonval.Value) bool { return true }
	}
	run := e.body()
	check := e.parameters
	d.Execute = func(ctx context.Context, args jsonval.Value, _ *registry.Run) (any, error) {
		if err := check.validate(args); err != nil {
			return nil, err
		}
		return run(ctx, args)
	}
	return d
}

// checkKeys reports keys that a tool does not have, or not with its body.
func (e *entry) checkKeys() {
	var has []string
	for _, b := range bodies {
		if _, ok := e.value.Get(b); ok {
			has = append(has, b)
		}
	}
	if len(has) != 1 {
		got := "none"
		if len(has) > 1 {
			got = strings.Join(has, " and ")
		}
		e.add(e.key, "needs exactly one of command, http, result and error, got %s", got)
	}
	only := func(key string, with ...string) {
		for _, w := range with {
			if _, ok := e.value.Get(w); ok {
				return
			}
		}
		e.add(e.key+"."+key, "goes with %s only", strings.Join(with, " or "))
	}
	for key := range e.value.Members() {
		switch key {
		case "description", "parameters", "output", "timeoutMs", "concurrencySafe", "command", "http", "result", "error":
		case "text", "env":
			only(key, "command")
		case "delayMs":
			only(key, "result", "error")
		default:
			e.add(e.key+"."+key, "is unknown: a tool has description, parameters, output, timeoutMs, concurrencySafe, one of command, http, result and error, and text, env, delayMs with some of these")
		}
	}
}

func (e *entry) description() string {
	v, ok := e.value.Get("description")
	switch {
	case !ok:
		e.add(e.key+".description", "is missing: say for the model what the tool does")
	case !v.IsString():
		e.add(e.key+".description", "must be a string, got %s", v.Kind())
	case strings.TrimSpace(v.Str()) == "":
		e.add(e.key+".description", "is empty: say for the model what the tool does")
	}
	return v.Str()
}

func (e *entry) readParameters() {
	v, ok := e.value.Get("parameters")
	if !ok {
		v = jsonval.MustOf(map[string]any{"type": "object"})
	}
	p, err := newParameters(v)
	if err != nil {
		e.add(e.key+".parameters", "%v", err)
	}
	e.parameters = p
}

func (e *entry) readOutput() {
	v, ok := e.value.Get("output")
	if !ok {
		e.output = jsonval.Object()
		return
	}
	if _, err := schema.Compile(v); err != nil {
		e.add(e.key+".output", "%v", err)
		v = jsonval.Object()
	}
	e.output = v
}

func (e *entry) body() body {
	if v, ok := e.value.Get("command"); ok {
		return e.command(v)
	}
	if v, ok := e.value.Get("http"); ok {
		return e.http(v)
	}
	return e.constant()
}

// The readers of single keys. A missing one is the zero value.

func (e *entry) positiveInteger(key string) int64 {
	v, ok := e.value.Get(key)
	if !ok {
		return 0
	}
	n := v.Float()
	if !v.IsNumber() || n < 1 || n != math.Trunc(n) || n > math.MaxInt32 {
		e.add(e.key+"."+key, "must be a whole number between 1 and %d, got %s", math.MaxInt32, shown(v))
		return 0
	}
	return int64(n)
}

func (e *entry) boolean(key string) bool {
	v, ok := e.value.Get(key)
	if ok && !v.IsBool() {
		e.add(e.key+"."+key, "must be true or false, got %s", v.Kind())
	}
	return v.Bool()
}

// shown is a value in a message: itself if it is short.
func shown(v jsonval.Value) string {
	if v.Size(maxShown) <= maxShown {
		return v.String()
	}
	if v.IsString() {
		return "a string of " + strconv.Itoa(len(v.Str())) + " bytes"
	}
	return "an " + v.Kind().String() + " of " + strconv.Itoa(v.Len()) + " entries"
}

const maxShown = 60

// renderValue shows a string as it is and anything else as compact JSON.
func renderValue(_, value jsonval.Value) ([]registry.Block, error) {
	if value.IsString() {
		return []registry.Block{registry.Text(value.Str())}, nil
	}
	return []registry.Block{registry.Text(value.String())}, nil
}
