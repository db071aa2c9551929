package mcptools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// LoginOptions configure a login. TokenDir and Show are required.
type LoginOptions struct {
	// TokenDir is the folder that keeps logins, the same as in [Options]. It is made if it is not there.
	TokenDir string
	// Show brings the user to an address, in a browser, and returns. The address is https, or on this machine, and safe to print.
	Show func(ctx context.Context, address string) error
	// Timeout is how long the user has; 0 is five minutes.
	Timeout time.Duration
	// Version is what the client says its version is. "" is "dev".
	Version string
}

const defaultLoginTimeout = 5 * time.Minute

func (o *LoginOptions) check() error {
	switch {
	case o.TokenDir == "":
		return errors.New("mcptools: LoginOptions.TokenDir is required: the folder that keeps logins")
	case o.Show == nil:
		return errors.New("mcptools: LoginOptions.Show is required: it shows the user where to log in")
	case o.Timeout < 0:
		return fmt.Errorf("mcptools: LoginOptions.Timeout must not be negative, got %s", o.Timeout)
	}
	if o.Timeout == 0 {
		o.Timeout = defaultLoginTimeout
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	return nil
}

// LoginNeededError says that a server wants a login that only the user can make, with [Login] or the command that the text names.
type LoginNeededError struct {
	Server string // its name in the configuration
	Reason string
}

func (e *LoginNeededError) Error() string {
	return e.Reason + ": run: runcode mcp login " + e.Server
}

// Login logs in to a server behind an address, as it demands, and keeps the tokens for later connections: authorization code with
// PKCE through a loopback address, for this server alone (resource indicator), as a client that is configured or registers itself.
// What the server's metadata says decides where the user is sent, so it is checked: see [LoginOptions] and authClient.
func Login(ctx context.Context, c ServerConfig, o LoginOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	r := newRedactor(c)
	if err := logIn(ctx, c, o, r); err != nil {
		text := oneLine(r.excerpt(err.Error(), maxLoginError))
		return fmt.Errorf("MCP server %q: %w", c.Name, redacted{err, text})
	}
	return nil
}

const (
	maxLoginError   = 1000    // bounds what foreign servers may put into the message about a login
	maxLoginAddress = 8 << 10 // and into the address that the user is shown
)

func logIn(ctx context.Context, c ServerConfig, o LoginOptions, r *redactor) error {
	server, err := loginAddress(c)
	if err != nil {
		return err
	}
	file, err := fileFor(o.TokenDir, c.URL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("nobody logged in within %s", o.Timeout))
	defer cancel()
	client := authClient(ctx, server)
	defer client.CloseIdleConnections()
	req, resp, err := challenge(ctx, c, o, client)
	if err != nil {
		return err
	}
	back, err := listenCallback(c.OAuth.RedirectPort)
	if err != nil {
		return err
	}
	defer back.close()
	l, err := authorize(ctx, c, o, r, authorization{client, req, resp, back})
	if err != nil {
		return err
	}
	unlock, err := file.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return file.save(l)
}

// loginAddress is the address of a server that one can log in to.
func loginAddress(c ServerConfig) (*url.URL, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Transport != StreamableHTTP {
		return nil, errors.New("it is started as a command, and only servers behind an address have a login: its credentials go into its env")
	}
	if c.hasAuthorization() {
		return nil, errors.New("its configuration has an Authorization header, which would be sent instead of a login: remove the header first")
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, errors.New("its address is no URL")
	}
	if u.Scheme != "https" && !isLoopback(u.Hostname()) {
		return nil, errors.New("its address is not https, so a token would travel in the clear")
	}
	return u, nil
}

// hasAuthorization says whether the configuration itself says who we are.
func (c ServerConfig) hasAuthorization() bool {
	for name := range c.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	u, err := url.Parse(c.URL)
	return err == nil && u.User != nil
}

// challenge asks the server as a connection would, to learn what it demands. The request that it returns names the server without
// what may be secret in its address, for the resource of the tokens is made of it.
func challenge(ctx context.Context, c ServerConfig, o LoginOptions, client *http.Client) (*http.Request, *http.Response, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":%q,"version":%q}}}`,
		handshakeInitialize, clientName, o.Version)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, nil, err
	}
	for name, value := range c.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := client.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		return nil, nil, errors.New(plainAddress(c.URL) + ": " + plainCause(err))
	}
	_ = resp.Body.Close() // the SDK would read it to its end, however long it is
	resp.Body = http.NoBody
	if resp.StatusCode != http.StatusUnauthorized {
		return nil, nil, fmt.Errorf("it asks for no login: it answered HTTP %s", resp.Status)
	}
	req = req.Clone(ctx)
	u := *req.URL
	u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
	req.URL = &u
	return req, resp, sameOriginMetadata(req, resp)
}

// sameOriginMetadata refuses metadata about the server that lies elsewhere: RFC 9728 has it on the server's own origin.
func sameOriginMetadata(req *http.Request, resp *http.Response) error {
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return errors.New("its demand for a login cannot be read")
	}
	for _, c := range challenges {
		named, ok := c.Params["resource_metadata"]
		if !ok {
			continue
		}
		u, err := url.Parse(named)
		if err != nil || u.Scheme != req.URL.Scheme || u.Host != req.URL.Host {
			return errors.New("it says that its metadata lies on another origin, which is not trusted")
		}
	}
	return nil
}

// authorization is what the SDK's flow works with.
type authorization struct {
	client *http.Client
	req    *http.Request
	resp   *http.Response
	back   *callback
}

// authorize runs the flow: metadata of the server and of its authorization server, registration, the user's consent, and the exchange.
func authorize(ctx context.Context, c ServerConfig, o LoginOptions, r *redactor, a authorization) (*login, error) {
	var l *login
	resource := "" // as the metadata calls the server: renewals have to say the same
	config := &auth.AuthorizationCodeHandlerConfig{
		Client: a.client, RedirectURL: a.back.address(), RequestRefreshToken: true, AcceptUnadvertisedIss: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if err != nil {
				return nil, errors.New("the authorization server's address is no URL")
			}
			resource = u.Query().Get("resource")
			return consent(ctx, o, r, a, u)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			l = newLogin(resource, c, t)
			r.issue(l.secrets()...)
			return oauth2.StaticTokenSource(t), nil
		},
	}
	if len(c.OAuth.Scopes) > 0 {
		config.ScopeFilter = func([]string) []string { return c.OAuth.Scopes }
	}
	if c.OAuth.ClientID != "" {
		config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: c.OAuth.ClientID}
		if c.OAuth.ClientSecret != "" {
			config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: c.OAuth.ClientSecret}
		}
	} else {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: clientName, SoftwareVersion: o.Version, RedirectURIs: []string{a.back.address()},
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
	}
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return nil, err
	}
	if err := handler.Authorize(ctx, a.req, a.resp); err != nil {
		return nil, loginFailure(ctx, err)
	}
	return l, nil
}

// consent sends the user to the authorization server and waits for the answer.
func consent(ctx context.Context, o LoginOptions, r *redactor, a authorization, u *url.URL) (*auth.AuthorizationResult, error) {
	if err := a.client.Transport.(*fence).admits(u); err != nil {
		return nil, fmt.Errorf("the authorization server: %w", err)
	}
	state, address := u.Query().Get("state"), u.String()
	if len(address) > maxLoginAddress {
		return nil, errors.New("the address of the login is too long for a browser")
	}
	if err := o.Show(ctx, address); err != nil {
		return nil, fmt.Errorf("the address of the login could not be shown: %w", err)
	}
	result, err := a.back.wait(ctx, state)
	if err != nil {
		return nil, err
	}
	r.issue(result.Code)
	return result, nil
}

// loginFailure says what a user can make of the flow's error. Of an answer of the token endpoint it takes the code alone: its body may
// repeat what was sent.
func loginFailure(ctx context.Context, err error) error {
	refused := (*oauth2.RetrieveError)(nil)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &refused):
		return fmt.Errorf("the authorization server gave no token: %s", refusal(refused))
	case strings.Contains(err.Error(), "no configured client registration methods"):
		return errors.New("its authorization server does not register clients by itself: register one there and put its id into the entry, as \"oauth\": {\"clientId\": …}")
	}
	return err
}

// refusal is the code of a refused exchange, or its HTTP status.
func refusal(err *oauth2.RetrieveError) string {
	if err.ErrorCode != "" {
		return printable(err.ErrorCode)
	}
	if err.Response != nil {
		return "HTTP " + printable(err.Response.Status)
	}
	return "no reason was given"
}
