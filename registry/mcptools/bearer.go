package mcptools

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"golang.org/x/oauth2"
)

// bearer supplies the token for one connection to a server: from the stored login, renewed where it has expired or was refused. It is
// safe for concurrent use.
type bearer struct {
	server string    // its name
	file   loginFile // zero: logins are not kept
	redact *redactor

	mu      sync.Mutex
	current *login
	loaded  bool
	renewal *renewal // the one that is going on
}

// renewal is one request for a new token, for all who wait for it.
type renewal struct {
	done  chan struct{}
	login *login
	err   error
}

// newBearer returns nil where the configuration says itself who we are.
func newBearer(c ServerConfig, o Options, r *redactor) *bearer {
	if c.hasAuthorization() {
		return nil
	}
	b := &bearer{server: c.Name, redact: r}
	if o.TokenDir != "" {
		b.file, _ = fileFor(o.TokenDir, c.URL) // a valid configuration has a URL
	}
	return b
}

// token returns the token to send, "" if there is no login.
func (b *bearer) token(ctx context.Context) (string, error) {
	l, err := b.known()
	switch {
	case err != nil:
		return "", err
	case l == nil:
		return "", nil
	case l.expired() && l.RefreshToken != "":
		return b.renew(ctx, l.AccessToken)
	}
	return l.AccessToken, nil // an expired one too: whether it is, the server knows best
}

// known is the login as far as this connection knows it.
func (b *bearer) known() (*login, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.loaded || b.file.path == "" {
		return b.current, nil
	}
	l, err := b.file.load()
	if err != nil {
		return nil, b.needed(err.Error())
	}
	b.keep(l)
	return l, nil
}

// keep remembers a login; b.mu is held.
func (b *bearer) keep(l *login) {
	if l != nil {
		b.redact.issue(l.secrets()...)
	}
	b.current, b.loaded = l, true
}

// renew returns another token than the one that was refused or has expired. All who ask at the same time share one request. It goes
// on when ctx ends: the server may have taken the old refresh token back already, and the new one must not be lost.
func (b *bearer) renew(ctx context.Context, stale string) (string, error) {
	b.mu.Lock()
	if b.current != nil && b.current.AccessToken != stale { // somebody has been faster
		defer b.mu.Unlock()
		return b.current.AccessToken, nil
	}
	r := b.renewal
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		b.renewal = r
		go b.run(context.WithoutCancel(ctx), r, stale)
	}
	b.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if r.err != nil {
		return "", r.err
	}
	return r.login.AccessToken, nil
}

func (b *bearer) run(ctx context.Context, r *renewal, stale string) {
	ctx, cancel := context.WithTimeout(ctx, authTimeout)
	defer cancel()
	l, err := b.exchange(ctx, stale)
	b.mu.Lock()
	if err == nil {
		b.keep(l)
	}
	b.renewal = nil
	b.mu.Unlock()
	r.login, r.err = l, err
	close(r.done)
}

// exchange renews the stored login, unless another process has done so already.
func (b *bearer) exchange(ctx context.Context, stale string) (*login, error) {
	unlock, err := b.file.lock(ctx)
	if err != nil {
		return nil, b.needed(fmt.Sprintf("its login could not be renewed (%v)", err))
	}
	defer unlock()
	l, err := b.file.load()
	switch {
	case err != nil:
		return nil, b.needed(err.Error())
	case l == nil:
		return nil, b.needed("its login is gone")
	case l.AccessToken != stale:
		return l, nil
	case l.RefreshToken == "":
		return nil, b.needed("its login has expired")
	}
	b.redact.issue(l.secrets()...)
	fresh, err := l.refresh(ctx)
	if err != nil {
		return nil, b.needed(fmt.Sprintf("its login could not be renewed (%s)", refreshFailure(err)))
	}
	l.take(fresh)
	if err := b.file.save(l); err != nil {
		return nil, b.needed(fmt.Sprintf("its renewed login could not be kept (%v)", err))
	}
	return l, nil
}

// refresh asks for new tokens. oauth2's own refreshing cannot name the resource that they are for (RFC 8707), so this is an exchange
// with another grant; its empty code counts as left out (RFC 6749, section 3.2).
func (l *login) refresh(ctx context.Context) (*oauth2.Token, error) {
	resource, err := url.Parse(l.Resource)
	if err != nil {
		return nil, errors.New("its resource is no URL")
	}
	client := authClient(ctx, resource)
	defer client.CloseIdleConnections()
	config := &oauth2.Config{
		ClientID: l.ClientID, ClientSecret: l.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: l.TokenURL, AuthStyle: oauth2.AuthStyle(l.AuthStyle)},
	}
	return config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"),
		oauth2.SetAuthURLParam("refresh_token", l.RefreshToken),
		oauth2.SetAuthURLParam("resource", l.Resource),
	)
}

func refreshFailure(err error) string {
	if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) {
		return refusal(refused)
	}
	return printable(plainCause(err))
}

func (b *bearer) needed(reason string) error {
	return &LoginNeededError{Server: b.server, Reason: b.redact.clean(reason)}
}

// roundTrip sends a request as whoever is logged in. A token that the server refuses is renewed once. Where only the user can help, the
// error is a *LoginNeededError.
func (b *bearer) roundTrip(base http.RoundTripper, req *http.Request) (*http.Response, error) {
	if b == nil {
		return base.RoundTrip(req)
	}
	token, err := b.token(req.Context())
	if err != nil {
		return nil, err
	}
	resp, err := base.RoundTrip(authorized(req, token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || req.Method == http.MethodDelete {
		return resp, err
	}
	_ = resp.Body.Close()
	if token == "" {
		return nil, b.needed("it asks for a login (HTTP 401 Unauthorized)")
	}
	if token, err = b.renew(req.Context(), token); err != nil {
		return nil, err
	}
	again := authorized(req, token)
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	resp, err = base.RoundTrip(again)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		_ = resp.Body.Close()
		return nil, b.needed("it refuses its login (HTTP 401 Unauthorized)")
	}
	return resp, err
}

// authorized is a copy of req that carries a token.
func authorized(req *http.Request, token string) *http.Request {
	if token == "" {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}
