package exectools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/internal/child"
	"github.com/runcode-go/runcode/runtime/jsonval"
)

const (
	maxCommandOutput = 8 << 20         // bytes of standard output; a command that prints more is ended and fails
	stderrTail       = 4 << 10         // bytes of standard error in a failure
	stopGrace        = 2 * time.Second // between the termination signal and the kill
	maxArgumentBytes = 128 << 10       // one element of a command line, which Linux caps here
)

// command is the body of TOOLS-3.
type command struct {
	tool     string
	elements []template
	afterEnd int // the index of the element "--", behind which values may begin with "-"; len(elements) if there is none
	folder   string
	env      map[string]string
	text     bool
}

func (e *entry) command(v jsonval.Value) body {
	key := e.key + ".command"
	c := &command{tool: e.name, folder: e.folder, text: e.boolean("text"), env: e.environment()}
	if !v.IsArray() || v.Len() == 0 {
		e.add(key, `must be a list of strings, the executable first, got %s: no shell takes a line apart`, v.Kind())
		return c.run
	}
	for i, element := range stringList(v, key, e.problems) {
		place := fmt.Sprintf("%s[%d]", key, i)
		t, err := newTemplate(element, e.parameters.declares)
		switch {
		case err != nil:
			e.add(place, "%v", err)
		case strings.ContainsRune(element, 0):
			e.add(place, "must not hold a NUL character")
		case i == 0 && !t.constant():
			e.add(place, "the executable must not depend on arguments")
		case i == 0 && strings.TrimSpace(element) == "":
			e.add(place, "must name the executable")
		}
		c.elements = append(c.elements, t)
	}
	c.afterEnd = len(c.elements)
	for i, t := range c.elements {
		if text, _ := t.fill(jsonval.Value{}, asIs); t.constant() && text == "--" {
			c.afterEnd = i
			break
		}
	}
	return c.run
}

// environment reads env. ${NAME} in a value is a variable of our own environment: the scrubbed one that the command gets has no
// secrets, and a manifest should not hold them.
func (e *entry) environment() map[string]string {
	v, ok := e.value.Get("env")
	if !ok {
		return nil
	}
	key := e.key + ".env"
	if !v.IsObject() {
		e.add(key, "must be an object of strings, got %s", v.Kind())
		return nil
	}
	env := make(map[string]string, v.Len())
	for name, item := range v.Members() {
		place := key + "." + name
		if name == "" || strings.ContainsAny(name, "=\x00") {
			e.add(place, "is no legal name of a variable")
		}
		if !item.IsString() {
			e.add(place, "must be a string, got %s", item.Kind())
			continue
		}
		value, err := expandVariables(item.Str())
		if err == nil && strings.ContainsRune(value, 0) {
			err = errors.New("must not hold a NUL character")
		}
		if err != nil {
			e.add(place, "%v", err)
		}
		env[name] = value
	}
	return env
}

// expandVariables replaces ${NAME} by environment variables.
func expandVariables(text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			if found {
				b.WriteString("${" + rest)
			}
			return b.String(), nil
		}
		if !identifier(name) {
			b.WriteString("${" + name + "}")
		} else if value, ok := os.LookupEnv(name); ok {
			b.WriteString(value)
		} else {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		text = after
	}
}

// line makes the command line of one call. A missing optional member drops its element.
func (c *command) line(args jsonval.Value) ([]string, error) {
	var line, refused []string
	for i, t := range c.elements {
		text, missing := t.fill(args, asIs)
		if missing != "" {
			continue
		}
		name := firstPlace(t)
		switch {
		case i < c.afterEnd && t.leads() && strings.HasPrefix(text, "-"):
			refused = append(refused, quotePath(name)+": expected a value that does not begin with \"-\", which the command would take for an option, got "+cutText(jsonval.Text(text).String(), maxShown))
		case strings.ContainsRune(text, 0):
			refused = append(refused, quotePath(name)+": expected text without NUL characters")
		case len(text) > maxArgumentBytes:
			refused = append(refused, fmt.Sprintf("%s: expected at most %d KiB, got %d", quotePath(name), maxArgumentBytes>>10, len(text)>>10))
		}
		line = append(line, text)
	}
	if len(refused) > 0 {
		return nil, &registry.ArgsError{Violations: refused}
	}
	return line, nil
}

func firstPlace(t template) string {
	for _, p := range t {
		if p.name != "" {
			return p.name
		}
	}
	return "arguments"
}

// run starts the command and returns when it and everything that it started in its group has ended.
func (c *command) run(ctx context.Context, args jsonval.Value) (any, error) {
	line, err := c.line(args)
	if err != nil {
		return nil, err
	}
	cmd, err := child.Command(line[0], line[1:], c.folder, child.Environ(os.Environ(), c.env))
	if err != nil {
		return nil, fmt.Errorf("the command cannot be run: %w", err)
	}
	out, err := child.Run(ctx, cmd, child.Limits{Input: args.JSON(), MaxOutput: maxCommandOutput, StderrTail: stderrTail, Grace: stopGrace})
	switch {
	case ctx.Err() != nil:
		return nil, errAborted()
	case errors.Is(err, child.ErrOutput):
		return nil, fmt.Errorf("the command printed more than %d MiB and was ended", maxCommandOutput>>20)
	case err != nil:
		return nil, fmt.Errorf("the command %q cannot be run: %w", line[0], err)
	case !out.State.Success():
		return nil, errors.New(failureText(out.State.String(), out.Stderr))
	}
	return c.value(out.Stdout)
}

func failureText(state, stderr string) string {
	if strings.TrimSpace(stderr) == "" {
		return "the command failed (" + state + ") and wrote nothing to standard error"
	}
	return "the command failed (" + state + "): " + strings.TrimRight(stderr, "\r\n")
}

// value makes the result out of standard output.
func (c *command) value(stdout []byte) (any, error) {
	v, err := jsonval.Parse(stdout)
	if err == nil {
		return v, nil
	}
	if !c.text {
		return nil, fmt.Errorf(`the command's output is not one JSON document (%w); the manifest can say "text": true for tool %q`, err, c.tool)
	}
	if !utf8.Valid(stdout) {
		return nil, errors.New("the command's output is neither JSON nor UTF-8 text")
	}
	return string(stdout), nil
}

// cutText shortens a text to n bytes of whole characters.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
