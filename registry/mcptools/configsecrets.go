package mcptools

// The members of an entry that carry credentials: variables, headers and how to log in; and those that cannot be honoured.

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// environmentOf collects the variables for a command: those of a file, those that are passed on by name, and those that are written
// down, each over the ones before.
func (e *entryReader) environmentOf(c *ServerConfig) map[string]string {
	env := map[string]string{}
	if path := e.text("envFile"); path != "" {
		maps.Copy(env, e.envFile(path))
	}
	maps.Copy(env, e.passedOn())
	for _, name := range []string{"env", "environment"} {
		values := e.textMap(name)
		maps.Copy(env, values)
		e.noteBare(c, name, values)
	}
	return env
}

func (e *entryReader) envFile(path string) map[string]string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.workspace, path)
	}
	text, err := readRegular(path, maxEnvFile)
	if err != nil {
		e.fail("envFile", "%v", err)
		return nil
	}
	env, err := parseEnvFile(string(text))
	if err != nil {
		e.fail("envFile", "%s: %v", path, err)
	}
	return env
}

// passedOn reads env_vars, names of variables that the command gets from our own environment although they look like secrets. One that
// is not set is not passed on.
func (e *entryReader) passedOn() map[string]string {
	list, ok := e.entry.Get("env_vars")
	if !ok {
		return nil
	}
	env := map[string]string{}
	for _, item := range list.Items() {
		name := item
		if item.IsObject() {
			name, _ = item.Get("name")
			if source, ok := item.Get("source"); ok && source.Str() != "local" {
				e.fail("env_vars", "the source %s is not supported: variables come from this machine", source)
			}
		}
		if value, ok := e.lookup(name.Str()); ok {
			env[name.Str()] = value
		} else if !name.IsString() {
			e.fail("env_vars", "expected names of variables, got %s", item.Kind())
		}
	}
	if !list.IsArray() {
		e.fail("env_vars", "expected a list of names, got %s", list.Kind())
	}
	return env
}

// noteBare tells of values that some clients would fill and that are not filled here.
func (e *entryReader) noteBare(c *ServerConfig, member string, values map[string]string) {
	for _, key := range sortedKeys(values) {
		if name, bare := strings.CutPrefix(values[key], "$"); bare && variableName(name) {
			c.Notes = append(c.Notes, fmt.Sprintf("the server %q gets $%s as it stands for %s.%s: write ${%s} for the variable's value", c.Name, name, member, key, name))
		}
	}
}

func (e *entryReader) headers(c *ServerConfig) {
	c.Headers = map[string]string{}
	for _, name := range []string{"headers", "http_headers"} {
		values := e.textMap(name)
		maps.Copy(c.Headers, values)
		e.noteBare(c, name, values)
	}
	if name := e.text("bearer_token_env_var"); name != "" {
		if value := e.named("bearer_token_env_var", name); value != "" {
			c.Headers["Authorization"] = "Bearer " + value
		}
	}
	names := e.textMap("env_http_headers")
	for _, header := range sortedKeys(names) {
		c.Headers[header] = e.named("env_http_headers."+header, names[header])
	}
}

// named is the value of a variable that a member names.
func (e *entryReader) named(member, name string) string {
	value, ok := e.lookup(name)
	if !ok {
		e.fail(member, "the environment variable %s is not set", name)
	}
	return value
}

// oauth reads how to log in, in the spellings of the clients.
func (e *entryReader) oauth(c *ServerConfig) {
	c.OAuth.Scopes = e.words("scopes")
	for _, member := range []string{"oauth", "auth"} {
		v, ok := e.entry.Get(member)
		if !ok || v.IsBool() || v.IsNull() || member == "auth" && !v.IsObject() {
			continue // a switch: a login is made when a server asks for one
		}
		if !v.IsObject() {
			e.fail(member, "expected an object, got %s", v.Kind())
			continue
		}
		inner := entryReader{configReader: e.configReader, path: e.path + "." + member, entry: v}
		c.OAuth.ClientID = inner.firstText("clientId", "client_id", "CLIENT_ID")
		c.OAuth.ClientSecret = inner.firstText("clientSecret", "client_secret", "CLIENT_SECRET")
		c.OAuth.Scopes = append(c.OAuth.Scopes, append(inner.words("scopes"), inner.words("scope")...)...)
		if port, ok := v.Get("callbackPort"); ok {
			c.OAuth.RedirectPort = inner.port(port)
		}
		for _, name := range []string{"authServerMetadataUrl", "authorizationUrl", "tokenUrl", "redirectUri"} {
			if inner.has(name) {
				c.Notes = append(c.Notes, fmt.Sprintf("%s.%s of the server %q is not used: a login goes by what the server says", member, name, c.Name))
			}
		}
		e.own = append(e.own, inner.own...)
	}
}

func (e *entryReader) port(v jsonval.Value) int {
	if n := v.Float(); v.IsNumber() && n == float64(uint16(n)) && n > 0 {
		return int(n)
	}
	e.fail("callbackPort", "must be a port, from 1 to 65535")
	return 0
}

// words reads a list of texts, or a text of words.
func (e *entryReader) words(name string) []string {
	if v, ok := e.entry.Get(name); ok && v.IsString() {
		return strings.Fields(e.text(name))
	}
	return e.texts(name)
}

// refuse names what an entry asks for and does not get. To pass it over would start a server with fewer limits or as somebody else.
func (e *entryReader) refuse() {
	if e.has("headersHelper") {
		e.fail("headersHelper", "is not supported: no command is run for headers; write them under headers, for example as ${NAME}")
	}
	if e.has("bearer_token") {
		e.fail("bearer_token", "is not supported: name a variable that holds the token under bearer_token_env_var")
	}
	if e.boolean("sandboxEnabled") {
		e.fail("sandboxEnabled", "is not supported: the server would run without its sandbox")
	}
	if provider := e.text("authProviderType"); provider != "" && provider != "dynamic_discovery" {
		e.fail("authProviderType", "%q is not supported: expected dynamic_discovery", provider)
	}
}
