package mcptools

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// shortestSecret is the length below which a value is not looked for in texts: hiding every "1" or "true" would hide everything.
	shortestSecret = 6
	// shortestLine is the same for one line of a value that has several, such as a key in PEM form.
	shortestLine = 16
	// maxIssued is how many of the secrets that were issued during the life of a bridge are remembered.
	maxIssued = 16

	hidden = "[redacted]"
)

// redactor takes the values of env, headers and the address's credentials, and the tokens of a login, out of texts that reach logs,
// errors or events (MCP-5): a server may print what it was given. What a server lists and what its tools answer is not touched: that
// is for whoever asked, and as it was sent (MCP-21, MCP-26). It is safe for concurrent use.
type redactor struct {
	mu         sync.Mutex
	configured []string
	issued     []string // the latest last
	now        atomic.Pointer[redaction]
}

// redaction is what a redactor looks for at one time.
type redaction struct {
	secrets  []string // the longest first: one may be a part of another
	replacer *strings.Replacer
}

func newRedactor(c ServerConfig) *redactor {
	r := &redactor{configured: secretsOf(c)}
	r.renew()
	return r
}

// issue adds secrets that the configuration does not have.
func (r *redactor) issue(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.issued)
	for _, secret := range secrets {
		if len(secret) >= shortestSecret && !slices.Contains(r.issued, secret) {
			r.issued = append(r.issued, secret)
		}
	}
	if len(r.issued) == before {
		return
	}
	r.issued = r.issued[max(0, len(r.issued)-maxIssued):]
	r.renew()
}

func (r *redactor) renew() {
	var secrets []string
	for _, secret := range slices.Concat(r.configured, r.issued) {
		secrets = append(secrets, spellings(secret)...)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	secrets = slices.Compact(secrets)
	pairs := make([]string, 0, 2*len(secrets))
	for _, secret := range secrets {
		pairs = append(pairs, secret, hidden)
	}
	r.now.Store(&redaction{secrets, strings.NewReplacer(pairs...)})
}

// secretsOf collects the secrets of a configuration.
func secretsOf(c ServerConfig) []string {
	var secrets []string
	add := func(text string, shortest int) {
		if len(text) >= shortest {
			secrets = append(secrets, text)
		}
	}
	for _, value := range c.Env {
		add(value, shortestSecret)
		if lines := strings.Fields(value); len(lines) > 1 {
			for _, line := range lines {
				add(line, shortestLine)
			}
		}
	}
	for _, value := range c.Headers {
		add(value, shortestSecret)
		if _, token, ok := strings.Cut(value, " "); ok {
			add(token, shortestSecret)
		}
	}
	add(c.OAuth.ClientSecret, shortestSecret)
	u, err := url.Parse(c.URL)
	if err != nil {
		return secrets
	}
	add(u.RawQuery, shortestSecret)
	for _, values := range u.Query() {
		for _, value := range values {
			add(value, shortestSecret)
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		add(password, shortestSecret)
		add(u.User.Username(), shortestSecret)
		add(base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)), shortestSecret) // as it is sent
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if secretSegment(segment) {
			add(segment, shortestSecret)
		}
	}
	return secrets
}

// secretSegment says whether a part of an address's path looks like a key: some services put one there.
func secretSegment(segment string) bool {
	return len(segment) >= 20 && (strings.ContainsAny(segment, "0123456789") || !strings.ContainsAny(segment, "-_."))
}

// spellings are the forms in which a secret may stand in a text.
func spellings(secret string) []string {
	quoted := strconv.Quote(secret)
	encoded, err := json.Marshal(secret)
	if err != nil || len(encoded) < 2 {
		encoded = []byte(quoted)
	}
	return []string{secret, quoted[1 : len(quoted)-1], string(encoded[1 : len(encoded)-1]), url.QueryEscape(secret), url.PathEscape(secret)}
}

func (r *redactor) clean(text string) string { return r.now.Load().replacer.Replace(text) }

// excerpt is the beginning of a text, at most n bytes of it, clean also where it is cut.
func (r *redactor) excerpt(text string, n int) string {
	now := r.now.Load()
	window := n
	if len(now.secrets) > 0 {
		window += len(now.secrets[0])
	}
	if len(text) <= window {
		return cut(now.replacer.Replace(text), n)
	}
	clean, _ := now.split(text[:window])
	return strings.TrimSuffix(cut(strings.ToValidUTF8(clean, ""), n), "…") + "…"
}

// split cleans a text that goes on elsewhere. rest is its end, from where it may be the beginning of a secret.
func (n *redaction) split(text string) (clean, rest string) {
	at := len(text)
	for _, secret := range n.secrets {
		for begun := min(len(secret)-1, len(text)); begun > len(text)-at; begun-- {
			if strings.HasSuffix(text, secret[:begun]) {
				at = len(text) - begun
			}
		}
	}
	for moved := true; moved; { // whole secrets that the beginning of another one overlaps stay whole
		moved = false
		for _, secret := range n.secrets {
			from, to := max(0, at-len(secret)+1), min(len(text), at+len(secret)-1)
			if i := strings.Index(text[from:to], secret); i >= 0 && from+i < at {
				at, moved = from+i, true
			}
		}
	}
	return n.replacer.Replace(text[:at]), text[at:]
}

// error wraps err so that its text is clean; errors.Is and errors.As still see it.
func (r *redactor) error(err error) error {
	if err == nil {
		return nil
	}
	if text := r.clean(err.Error()); text != err.Error() {
		return redacted{err, text}
	}
	return err
}

type redacted struct {
	error
	text string
}

func (r redacted) Error() string { return r.text }
func (r redacted) Unwrap() error { return r.error }
