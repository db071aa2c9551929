//go:build unix

package mcptools

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// authServer is a server that wants a login, and its authorization server, at one address. Every secret that it issues holds the mark.
type authServer struct {
	*httptest.Server
	mcp *webServer // what is behind the login

	mu        sync.Mutex
	requests  []string          // method, path and form of each request to the authorization server
	codes     map[string]string // the code challenge of each code
	access    map[string]bool   // the access tokens that are good
	refresh   map[string]bool
	issued    int
	lifetime  int                                               // seconds; 0: no expiry is stated
	intercept func(w http.ResponseWriter, r *http.Request) bool // true: it has answered
	metadata  map[string]any                                    // overrides members of the authorization server's metadata; nil removes one
	resource  map[string]any                                    // the same for the server's own
	challenge string                                            // of WWW-Authenticate; "" names the metadata's place
	redirect  func(query url.Values)                            // changes what the browser is sent back with
}

const mark = "s3cret"

func newAuthServer(t *testing.T) *authServer {
	t.Helper()
	s := &authServer{mcp: newWebServer(t), codes: map[string]string{}, access: map[string]bool{}, refresh: map[string]bool{}, metadata: map[string]any{}, resource: map[string]any{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Server.Close)
	return s
}

func (s *authServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	intercept := s.intercept
	s.mu.Unlock()
	if intercept != nil && intercept(w, r) {
		return
	}
	if r.URL.Path == "/mcp" {
		s.guarded(w, r)
		return
	}
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path+" "+r.Form.Encode())
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		document(w, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}, "scopes_supported": []string{"tools"}}, s.resource)
	case "/.well-known/oauth-authorization-server":
		document(w, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token", "registration_endpoint": s.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"tools", "offline_access"},
		}, s.metadata)
	case "/register":
		document(w, map[string]any{"client_id": "client-1", "client_secret": "client-" + mark, "token_endpoint_auth_method": "client_secret_post", "redirect_uris": []string{}}, nil)
	case "/authorize":
		s.authorize(w, r)
	case "/token":
		s.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func document(w http.ResponseWriter, members, overrides map[string]any) {
	for name, value := range overrides {
		if members[name] = value; value == nil {
			delete(members, name)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(members)
}

// guarded is the server behind the login.
func (s *authServer) guarded(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	good := s.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	challenge := s.challenge
	s.mu.Unlock()
	if good {
		s.mcp.serve(w, r)
		return
	}
	if challenge == "" {
		challenge = fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, s.URL)
	}
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, "who are you? not "+r.Header.Get("Authorization"), http.StatusUnauthorized)
}

// authorize is the user who agrees.
func (s *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	s.issued++
	code := fmt.Sprintf("code-%d-%s", s.issued, mark)
	s.codes[code] = r.Form.Get("code_challenge")
	query := url.Values{"code": {code}, "state": {r.Form.Get("state")}}
	if s.redirect != nil {
		s.redirect(query)
	}
	http.Redirect(w, r, r.Form.Get("redirect_uri")+"?"+query.Encode(), http.StatusFound)
}

func (s *authServer) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": "not with " + r.Form.Encode()})
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		challenge, known := s.codes[r.Form.Get("code")]
		delete(s.codes, r.Form.Get("code"))
		if !known || challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refuse("invalid_grant")
			return
		}
	case "refresh_token":
		if !s.refresh[r.Form.Get("refresh_token")] {
			refuse("invalid_grant")
			return
		}
		delete(s.refresh, r.Form.Get("refresh_token")) // good for once
	default:
		refuse("unsupported_grant_type")
		return
	}
	s.issued++
	access, refresh := fmt.Sprintf("access-%d-%s", s.issued, mark), fmt.Sprintf("refresh-%d-%s", s.issued, mark)
	s.access[access], s.refresh[refresh] = true, true
	answer := map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer"}
	if s.lifetime != 0 {
		answer["expires_in"] = s.lifetime
	}
	document(w, answer, nil)
}

// set changes the server while it runs.
func (s *authServer) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// asked are the requests to the authorization server that hold a text.
func (s *authServer) asked(part string) (found []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.requests {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}

// revoke makes all access tokens bad.
func (s *authServer) revoke() { s.set(func() { clear(s.access) }) }

// config is a bridge's way to the server.
func (s *authServer) config() ServerConfig {
	return ServerConfig{
		Name: "srv", Transport: StreamableHTTP, URL: s.URL + "/mcp?tenant=tenant-" + mark, FailOnStartupError: true,
		Headers: map[string]string{"X-Key": "header-" + mark}, Reconnect: Reconnect{InitialDelay: time.Millisecond, MaxDelay: time.Minute},
	}
}
