package mcptools

import (
	"net/url"
	"slices"
	"strings"
)

// shortestSecret is the length below which a value is not looked for in texts: hiding every "1" or "true" would hide everything.
const shortestSecret = 6

// redactor takes the values of env, headers and the address's credentials out of texts that reach logs, errors or events (MCP-5).
// A server may print what it was given.
type redactor struct{ replacer *strings.Replacer }

func newRedactor(c ServerConfig) redactor {
	var secrets []string
	add := func(text string) {
		if len(text) >= shortestSecret && !slices.Contains(secrets, text) {
			secrets = append(secrets, text)
		}
	}
	for _, value := range c.Env {
		add(value)
	}
	for _, value := range c.Headers {
		add(value)
		if _, token, ok := strings.Cut(value, " "); ok {
			add(token)
		}
	}
	if u, err := url.Parse(c.URL); err == nil {
		add(u.RawQuery)
		if password, ok := u.User.Password(); ok {
			add(password)
		}
		for _, values := range u.Query() {
			for _, value := range values {
				add(value)
			}
		}
	}
	// Longer ones first: one secret may be a part of another.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(secrets))
	for _, secret := range secrets {
		pairs = append(pairs, secret, "[redacted]")
	}
	return redactor{strings.NewReplacer(pairs...)}
}

func (r redactor) clean(text string) string { return r.replacer.Replace(text) }

// error wraps err so that its text is clean; errors.Is and errors.As still see it.
func (r redactor) error(err error) error {
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
