package mcptools

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// server reads one entry; enabled is false if the entry switches itself off, and nothing of it is checked then.
func (r *configReader) server(path, key string, entry jsonval.Value) (c ServerConfig, enabled bool) {
	e := entryReader{configReader: r, path: path, entry: entry}
	if e.boolean("disabled") || entryIsFalse(entry, "enabled") {
		return c, false
	}
	c.Name = ServerName(key)
	if c.Name != key {
		c.Notes = append(c.Notes, fmt.Sprintf("the server %q is called %q here: names are 1 to 32 characters out of A-Z, a-z, 0-9, _ and -", key, c.Name))
	}
	if strings.Contains(c.Name, "__") { // MCP-11
		c.Notes = append(c.Notes, fmt.Sprintf("the server name %q contains \"__\": a tool of it can get the same public name as one of another server", c.Name))
	}
	e.transport(&c)
	e.limits(&c)
	e.validate(c)
	e.bad = append(e.bad, e.own...)
	return c, true
}

// validate adds what is wrong with the whole, except where a member could not be read and therefore seems to be missing.
func (e *entryReader) validate(c ServerConfig) {
	err, ok := c.Validate().(*ConfigError)
	if !ok || c.Transport == "" {
		return
	}
	for _, problem := range err.Problems {
		if key, _, _ := strings.Cut(problem, ":"); !e.unread(key) && (key != "url" || !e.unread("httpUrl") && !e.unread("serverUrl")) {
			e.own = append(e.own, e.path+"."+problem)
		}
	}
}

func (e *entryReader) unread(key string) bool {
	return slices.ContainsFunc(e.own, func(problem string) bool {
		rest, ok := strings.CutPrefix(problem, e.path+"."+key)
		return ok && strings.ContainsAny(rest[:1], ":.[")
	})
}

func entryIsFalse(entry jsonval.Value, name string) bool {
	v, ok := entry.Get(name)
	return ok && v.IsBool() && !v.Bool()
}

// entryReader reads the members of one entry; each reading that fails is noted under the member's path.
type entryReader struct {
	*configReader
	path  string
	entry jsonval.Value
	own   problems
}

func (e *entryReader) transport(c *ServerConfig) {
	kind := e.firstText("type", "transport")
	address := e.firstText("url", "httpUrl", "serverUrl")
	command, isList := e.command()
	switch strings.ToLower(kind) {
	case "stdio", "local":
		c.Transport = Stdio
	case "http", "streamable-http", "streamablehttp", "streamable_http", "remote":
		c.Transport = StreamableHTTP
	case "sse":
		e.fail("type", "the sse transport is not supported: use the server's streamable HTTP address with \"type\": \"http\"")
		return
	case "":
		hasCommand, hasAddress := e.has("command"), e.has("url") || e.has("httpUrl") || e.has("serverUrl")
		switch {
		case hasCommand && hasAddress:
			e.fail("command", "stands beside an address: keep one of the two, or say which by \"type\"")
			return
		case hasAddress:
			c.Transport = StreamableHTTP
		case hasCommand:
			c.Transport = Stdio
		default:
			e.fail("", "has neither command nor url")
			return
		}
	default:
		e.fail("type", "%q is not supported: use stdio or http", kind)
		return
	}
	e.refuse()
	if c.Transport == StreamableHTTP {
		c.URL = address
		e.headers(c)
		e.oauth(c)
		return
	}
	c.Command = command
	args := e.texts("args")
	if isList {
		args = append(e.texts("command")[1:], args...)
	}
	c.Args = args
	c.Env = e.environmentOf(c)
	if cwd := e.text("cwd"); cwd != "" {
		c.Cwd = cwd
		if !filepath.IsAbs(cwd) {
			c.Cwd = filepath.Join(e.workspace, cwd)
		}
	}
}

// command reads a text, or a list whose first element is the executable.
func (e *entryReader) command() (command string, isList bool) {
	v, ok := e.entry.Get("command")
	if ok && v.IsArray() {
		if list := e.texts("command"); len(list) > 0 {
			return list[0], true
		}
		return "", false
	}
	return e.text("command"), false
}

func (e *entryReader) limits(c *ServerConfig) {
	for _, name := range []string{"includeTools", "enabled_tools", "allowedTools"} {
		c.Allow = append(c.Allow, e.texts(name)...)
	}
	if tools, ok := e.entry.Get("tools"); ok && tools.IsArray() { // Codex has a table of approval modes under this name
		c.Allow = append(c.Allow, e.texts("tools")...)
	}
	for _, name := range []string{"excludeTools", "disabled_tools", "disabledTools", "deniedTools"} {
		c.Deny = append(c.Deny, e.texts(name)...)
	}
	c.FailOnStartupError = e.boolean("failOnStartupError") || e.boolean("required")
	c.ToolCallTimeout = e.number("toolCallTimeoutMs", time.Millisecond)
	if seconds := e.number("tool_timeout_sec", time.Second); seconds != 0 {
		c.ToolCallTimeout = seconds
	}
	c.StartupTimeout = e.number("startup_timeout_ms", time.Millisecond)
	if seconds := e.number("startup_timeout_sec", time.Second); seconds != 0 {
		c.StartupTimeout = seconds
	}
	e.reconnect(c)
}

func (e *entryReader) reconnect(c *ServerConfig) {
	v, ok := e.entry.Get("reconnect")
	if !ok {
		return
	}
	if !v.IsObject() {
		e.fail("reconnect", "expected an object, got %s", v.Kind())
		return
	}
	inner := entryReader{configReader: e.configReader, path: e.path + ".reconnect", entry: v}
	for name := range v.Members() {
		switch name {
		case "enabled", "initialDelayMs", "maxDelayMs", "maxAttempts":
		default:
			inner.fail(name, "is unknown: expected enabled, initialDelayMs, maxDelayMs or maxAttempts")
		}
	}
	inner.boolean("enabled")
	c.Reconnect = Reconnect{
		Disabled:     entryIsFalse(v, "enabled"),
		InitialDelay: inner.number("initialDelayMs", time.Millisecond),
		MaxDelay:     inner.number("maxDelayMs", time.Millisecond),
	}
	if attempts, ok := v.Get("maxAttempts"); ok {
		n := attempts.Float()
		if n < 1 || n != math.Trunc(n) || n > math.MaxInt32 {
			inner.fail("maxAttempts", "must be a whole number above 0")
		}
		c.Reconnect.MaxAttempts = int(min(max(n, 0), math.MaxInt32))
	}
	e.own = append(e.own, inner.own...)
}

// The readers of single members. A missing one is the zero value.

func (e *entryReader) fail(name, format string, args ...any) {
	path := e.path
	if name != "" {
		path += "." + name
	}
	e.own.add(path, format, args...)
}

func (e *entryReader) has(name string) bool {
	_, ok := e.entry.Get(name)
	return ok
}

func (e *entryReader) firstText(names ...string) string {
	for _, name := range names {
		if text := e.text(name); text != "" {
			return text
		}
	}
	return ""
}

func (e *entryReader) text(name string) string {
	v, ok := e.entry.Get(name)
	if !ok || v.IsNull() {
		return ""
	}
	return e.expanded(name, v, false)
}

// expanded fills the places of a text; scalar also takes numbers and booleans, which people write as values of variables.
func (e *entryReader) expanded(name string, v jsonval.Value, scalar bool) string {
	switch {
	case v.IsString():
		text, err := e.expand(v.Str())
		if err != nil {
			e.fail(name, "%v", err)
		}
		return text
	case scalar && (v.IsNumber() || v.IsBool()):
		return v.String()
	}
	e.fail(name, "expected a string, got %s", v.Kind())
	return ""
}

func (e *entryReader) texts(name string) []string {
	v, ok := e.entry.Get(name)
	if !ok || v.IsNull() {
		return nil
	}
	if !v.IsArray() {
		e.fail(name, "expected a list of strings, got %s", v.Kind())
		return nil
	}
	list := make([]string, 0, v.Len())
	for i, item := range v.Items() {
		list = append(list, e.expanded(name+"["+strconv.Itoa(i)+"]", item, true))
	}
	return list
}

func (e *entryReader) textMap(name string) map[string]string {
	v, ok := e.entry.Get(name)
	if !ok || v.IsNull() {
		return nil
	}
	if !v.IsObject() {
		e.fail(name, "expected an object of strings, got %s", v.Kind())
		return nil
	}
	m := make(map[string]string, v.Len())
	for key, item := range v.Members() {
		if !item.IsNull() {
			m[key] = e.expanded(name+"."+key, item, true)
		}
	}
	return m
}

func (e *entryReader) boolean(name string) bool {
	v, ok := e.entry.Get(name)
	if !ok {
		return false
	}
	if !v.IsBool() {
		e.fail(name, "expected true or false, got %s", v.Kind())
	}
	return v.Bool()
}

// number reads a span in units. Zero and below are noted here, because a zero field means its default.
func (e *entryReader) number(name string, unit time.Duration) time.Duration {
	v, ok := e.entry.Get(name)
	if !ok {
		return 0
	}
	if !v.IsNumber() {
		e.fail(name, "expected a number, got %s", v.Kind())
		return 0
	}
	span := v.Float() * float64(unit)
	if span <= 0 || span > float64(longestDelay) {
		e.fail(name, "must be above 0 and at most %d", int64(longestDelay/unit))
		return 0
	}
	return max(time.Duration(span), time.Millisecond)
}
