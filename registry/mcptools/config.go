package mcptools

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/runcode-go/runcode/registry/internal/wildcard"
)

// Transport says how a server is reached.
type Transport string

// The two transports of MCP-1.
const (
	Stdio          Transport = "stdio"
	StreamableHTTP Transport = "streamable-http"
)

// ServerConfig is one server (MCP-1). Name and Transport are required, Command with Stdio, URL with StreamableHTTP; zero values of
// the rest are the defaults.
type ServerConfig struct {
	Name      string // the middle part of the tools' names, [A-Za-z0-9_-]{1,32}, unique in a registry
	Transport Transport

	Command string            // executable; no shell
	Args    []string          // passed as they are
	Env     map[string]string // on top of the scrubbed environment (MCP-70)
	Cwd     string            // working folder; empty: inherited

	URL     string
	Headers map[string]string // sent with every request
	OAuth   OAuth             // for servers that want a login: see Login

	ToolCallTimeout    time.Duration // budget of one call in whole milliseconds; 0: one minute
	StartupTimeout     time.Duration // bounds the handshake and each page of the list; 0: Options.RequestTimeout
	FailOnStartupError bool          // a failed start makes Connect fail instead of leaving it to reconnection
	Reconnect          Reconnect

	Allow []string // raw tool names or patterns with *; empty: all
	Deny  []string // the same; wins over Allow

	Notes []string // what a user should be told about this entry of a configuration file, for example that its name was changed
}

// OAuth says as whom to log in, and for what. The zero value registers a client of its own and asks for what the server needs.
type OAuth struct {
	ClientID     string   // of a client that is registered with the authorization server
	ClientSecret string   // of that client, if it has one
	Scopes       []string // what to ask for; empty: what the server says
	RedirectPort int      // on the loopback address, where the browser returns to; 0: any that is free
}

// Reconnect says how a lost connection is restored (MCP-57 to MCP-61).
type Reconnect struct {
	Disabled     bool
	InitialDelay time.Duration // first delay, doubles with each failure; 0: 500 ms
	MaxDelay     time.Duration // ceiling of the delay, and the uptime that resets the count; 0: 30 s
	MaxAttempts  int           // failures in a row before giving up; 0: 10
}

const (
	defaultCallTimeout  = time.Minute
	defaultInitialDelay = 500 * time.Millisecond
	defaultMaxDelay     = 30 * time.Second
	defaultMaxAttempts  = 10
	longestDelay        = math.MaxInt32 * time.Millisecond
)

// withDefaults fills zero fields and detaches the copy from its source.
func (c ServerConfig) withDefaults() ServerConfig {
	c.Args, c.Allow, c.Deny, c.Notes = slices.Clone(c.Args), slices.Clone(c.Allow), slices.Clone(c.Deny), slices.Clone(c.Notes)
	c.Env, c.Headers, c.OAuth.Scopes = maps.Clone(c.Env), maps.Clone(c.Headers), slices.Clone(c.OAuth.Scopes)
	if c.ToolCallTimeout == 0 {
		c.ToolCallTimeout = defaultCallTimeout
	}
	r := &c.Reconnect
	if r.MaxDelay == 0 {
		r.MaxDelay = defaultMaxDelay
	}
	if r.InitialDelay == 0 {
		r.InitialDelay = min(defaultInitialDelay, r.MaxDelay)
	}
	if r.MaxAttempts == 0 {
		r.MaxAttempts = defaultMaxAttempts
	}
	return c
}

// Validate checks a configuration (MCP-2) and names each field that is wrong; the error joins them. Zero values of optional fields
// are fine.
func (c ServerConfig) Validate() error {
	var bad problems
	c = c.withDefaults()
	if !legalServerName(c.Name) {
		bad.add("serverName", "%q must be 1 to 32 characters out of A-Z, a-z, 0-9, _ and -", c.Name)
	}
	switch c.Transport {
	case Stdio:
		c.validateStdio(&bad)
	case StreamableHTTP:
		c.validateHTTP(&bad)
	default:
		bad.add("transport", "%q must be %q or %q", c.Transport, Stdio, StreamableHTTP)
	}
	checkDelay(&bad, "toolCallTimeoutMs", c.ToolCallTimeout)
	if c.StartupTimeout != 0 {
		checkDelay(&bad, "startupTimeout", c.StartupTimeout)
	}
	checkDelay(&bad, "reconnect.initialDelayMs", c.Reconnect.InitialDelay)
	checkDelay(&bad, "reconnect.maxDelayMs", c.Reconnect.MaxDelay)
	if c.Reconnect.InitialDelay > c.Reconnect.MaxDelay && c.Reconnect.MaxDelay > 0 {
		bad.add("reconnect.initialDelayMs", "%d must not exceed reconnect.maxDelayMs, which is %d", c.Reconnect.InitialDelay.Milliseconds(), c.Reconnect.MaxDelay.Milliseconds())
	}
	if c.Reconnect.MaxAttempts < 0 {
		bad.add("reconnect.maxAttempts", "%d must be a whole number above 0", c.Reconnect.MaxAttempts)
	}
	return bad.err()
}

func (c ServerConfig) validateStdio(bad *problems) {
	if strings.TrimSpace(c.Command) == "" {
		bad.add("command", "is missing: the executable that is the server")
	}
	for field, texts := range map[string][]string{"command": {c.Command}, "args": c.Args, "cwd": {c.Cwd}} {
		if slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsRune(s, 0) }) {
			bad.add(field, "must not hold a NUL character")
		}
	}
	for _, name := range sortedKeys(c.Env) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(c.Env[name], 0) {
			bad.add("env."+name, "is no legal environment variable") // never the value: MCP-5
		}
	}
}

func (c ServerConfig) validateHTTP(bad *problems) {
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "":
		bad.add("url", "is missing: the endpoint of the server")
	case err != nil:
		bad.add("url", "is no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		bad.add("url", "must be an http or https address")
	}
	c.OAuth.validate(bad)
	for _, name := range sortedKeys(c.Headers) {
		if !legalHeaderName(name) || strings.ContainsAny(c.Headers[name], "\r\n\x00") {
			bad.add("headers."+name, "is no legal HTTP header")
		}
	}
}

func (o OAuth) validate(bad *problems) {
	if o.ClientSecret != "" && o.ClientID == "" {
		bad.add("oauth.clientSecret", "stands there without clientId")
	}
	if o.RedirectPort < 0 || o.RedirectPort > math.MaxUint16 {
		bad.add("oauth.callbackPort", "%d must be between 0 and %d", o.RedirectPort, math.MaxUint16)
	}
}

func checkDelay(bad *problems, field string, d time.Duration) {
	if d < time.Millisecond || d > longestDelay {
		bad.add(field, "must be between 1 and %d milliseconds", int64(math.MaxInt32))
	}
}

func legalHeaderName(name string) bool {
	if name == "" {
		return false
	}
	for i := range len(name) {
		b := name[i]
		if b <= ' ' || b >= 0x7f || strings.IndexByte("()<>@,;:\\\"/[]?={}", b) >= 0 {
			return false
		}
	}
	return true
}

// admits says whether the allow and deny lists let a tool in.
func (c ServerConfig) admits(raw string) bool {
	matches := func(pattern string) bool { return wildcard.Match(pattern, raw) }
	if slices.ContainsFunc(c.Deny, matches) {
		return false
	}
	return len(c.Allow) == 0 || slices.ContainsFunc(c.Allow, matches)
}

// problems collects everything that is wrong with one thing.
type problems []string

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, field+": "+fmt.Sprintf(format, args...))
}

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return &ConfigError{Problems: p}
}

// ConfigError lists everything that is wrong with a configuration, each entry beginning with the key that it is about.
type ConfigError struct {
	File     string // empty when the configuration came from Go code
	Problems []string
}

func (e *ConfigError) Error() string {
	prefix := ""
	if e.File != "" {
		prefix = e.File + ": "
	}
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = prefix + p
	}
	return strings.Join(lines, "\n")
}
