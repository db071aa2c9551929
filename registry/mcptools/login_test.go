//go:build unix

package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/registry"
)

// browse is a browser that follows the address to its end and returns what the last page says.
func browse(ctx context.Context, address string) (page string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.Status + " " + string(text), err
}

// loginRun is one login with a browser that obeys.
type loginRun struct {
	dir    string
	config ServerConfig
	shown  string
	page   chan string
	show   func(ctx context.Context, address string) error
}

func newLoginRun(t *testing.T, s *authServer) *loginRun {
	return &loginRun{dir: filepath.Join(t.TempDir(), "logins"), config: s.config(), page: make(chan string, 1)}
}

func (l *loginRun) run(ctx context.Context) error {
	show := l.show
	if show == nil {
		show = func(ctx context.Context, address string) error {
			l.shown = address
			go func() {
				page, err := browse(ctx, address)
				l.page <- fmt.Sprint(page, err)
			}()
			return nil
		}
	}
	return Login(ctx, l.config, LoginOptions{TokenDir: l.dir, Show: show, Timeout: 20 * time.Second})
}

func (l *loginRun) stored(t *testing.T) (kept login, file string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(l.dir, "*.json"))
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	return kept, files[0]
}

// connect starts a bridge that uses the login.
func (l *loginRun) connect(t *testing.T, log *journal) (*registry.Registry, *Bridge, error) {
	t.Helper()
	reg, err := registry.New(registry.Options{Logger: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Connect(t.Context(), reg, l.config, Options{Logger: log.logger(), TokenDir: l.dir})
	if err == nil {
		t.Cleanup(func() { _ = b.Close(context.Background()) })
	}
	return reg, b, err
}

func callEcho(t *testing.T, reg *registry.Registry) registry.Result {
	return reg.Execute(t.Context(), registry.Call{ID: "1", Name: "mcp__srv__echo", Arguments: json.RawMessage(`{"answer":{"content":[{"type":"text","text":"hello"}]}}`)})
}

func wantNoSecret(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(text, mark) {
			t.Errorf("MCP-5 a secret in %s", text)
		}
	}
}

func TestLogin(t *testing.T) {
	t.Run("a login, and the connections that use it", func(t *testing.T) {
		s := newAuthServer(t)
		l, log := newLoginRun(t, s), &journal{}
		if _, _, err := l.connect(t, log); err == nil || !strings.HasSuffix(err.Error(), "it asks for a login (HTTP 401 Unauthorized): run: runcode mcp login srv") {
			t.Fatalf("error %v", err)
		} else if needed := (*LoginNeededError)(nil); !errors.As(err, &needed) || needed.Server != "srv" {
			t.Errorf("the error is %T", err)
		}
		if err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if page := <-l.page; !strings.HasPrefix(page, "200 OK") || !strings.Contains(page, "You can close this window") {
			t.Errorf("page %s", page)
		}
		reg, _, err := l.connect(t, log)
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, callEcho(t, reg), "hello")
		asked, _ := url.Parse(l.shown)
		query := asked.Query()
		for name, want := range map[string]string{"response_type": "code", "code_challenge_method": "S256", "resource": s.URL + "/mcp", "client_id": "client-1", "scope": "tools offline_access"} {
			if got := query.Get(name); got != want && name != "scope" {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		scopes := strings.Fields(query.Get("scope"))
		slices.Sort(scopes)
		if !slices.Equal(scopes, []string{"offline_access", "tools"}) {
			t.Errorf("scope %q", query.Get("scope"))
		}
		if redirect := query.Get("redirect_uri"); !strings.HasPrefix(redirect, "http://127.0.0.1:") || !strings.HasSuffix(redirect, "/callback") {
			t.Errorf("redirect %s", redirect)
		}
		if tokens := s.asked("POST /token"); len(tokens) != 1 || !strings.Contains(tokens[0], "code_verifier=") || !strings.Contains(tokens[0], "resource="+url.QueryEscape(s.URL+"/mcp")) {
			t.Errorf("token requests %v", tokens)
		}
		wantNoSecret(t, log.String(), l.shown)
	})
	t.Run("the file is the user's alone, and its name says nothing", func(t *testing.T) {
		s := newAuthServer(t)
		l := newLoginRun(t, s)
		if err := os.MkdirAll(l.dir, 0o755); err != nil { // of an older or careless program
			t.Fatal(err)
		}
		if err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept, file := l.stored(t)
		if kept.AccessToken == "" || kept.RefreshToken == "" || kept.ClientID != "client-1" || kept.ClientSecret == "" || kept.Resource != s.URL+"/mcp" {
			t.Errorf("kept %+v", kept)
		}
		entries, _ := os.ReadDir(l.dir)
		for _, e := range entries {
			info, _ := e.Info()
			if info.Mode().Perm() != 0o600 || strings.Contains(e.Name(), "srv") {
				t.Errorf("%s has mode %v", e.Name(), info.Mode())
			}
		}
		if len(entries) != 2 { // the login and its lock
			t.Errorf("%d files", len(entries))
		}
		if info, _ := os.Stat(l.dir); info.Mode().Perm() != 0o700 {
			t.Errorf("the folder has mode %v", info.Mode())
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.connect(t, &journal{}); err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
			t.Errorf("a file that others could read has mode %v", info.Mode())
		}
	})
	t.Run("a configured client does not register itself", func(t *testing.T) {
		s := newAuthServer(t)
		l := newLoginRun(t, s)
		l.config.OAuth = OAuth{ClientID: "mine", ClientSecret: "own-" + mark, Scopes: []string{"narrow"}}
		if err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		asked, _ := url.Parse(l.shown)
		scopes := strings.Fields(asked.Query().Get("scope"))
		if len(s.asked("/register")) != 0 || asked.Query().Get("client_id") != "mine" || !slices.Contains(scopes, "narrow") || slices.Contains(scopes, "tools") {
			t.Errorf("asked for %s", l.shown)
		}
		if kept, _ := l.stored(t); kept.ClientSecret != "own-"+mark {
			t.Errorf("kept %+v", kept)
		}
	})
	t.Run("a configured port", func(t *testing.T) {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := free.Addr().(*net.TCPAddr).Port
		s := newAuthServer(t)
		l := newLoginRun(t, s)
		l.config.OAuth.RedirectPort = port
		if err := l.run(t.Context()); err == nil || !strings.Contains(err.Error(), "is not free") {
			t.Errorf("error %v", err)
		}
		_ = free.Close()
		if err := l.run(t.Context()); err != nil || !strings.Contains(l.shown, url.QueryEscape(fmt.Sprintf("127.0.0.1:%d/callback", port))) {
			t.Errorf("error %v, shown %s", err, l.shown)
		}
	})
	t.Run("metadata of the server's root, where its path has none", func(t *testing.T) {
		s := newAuthServer(t)
		s.challenge = "Bearer"
		s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
			switch r.URL.Path {
			case "/.well-known/oauth-protected-resource/mcp":
				http.NotFound(w, r)
				return true
			case "/.well-known/oauth-protected-resource":
				document(w, map[string]any{"resource": s.URL, "authorization_servers": []string{s.URL}}, nil)
				return true
			}
			return false
		}
		l := newLoginRun(t, s)
		if err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.revoke()
		if _, _, err := l.connect(t, &journal{}); err != nil {
			t.Fatal(err)
		}
		for _, asked := range append(s.asked("/authorize"), s.asked("/token")...) {
			if !strings.Contains(asked, "resource="+url.QueryEscape(s.URL)+"&") && !strings.HasSuffix(asked, "resource="+url.QueryEscape(s.URL)) {
				t.Errorf("another resource in %s", asked)
			}
		}
		if n := len(s.asked("/token")); n != 2 {
			t.Errorf("%d requests for tokens", n)
		}
	})
}

func TestLoginFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *authServer, l *loginRun)
		want   string
	}{
		{"the user says no", func(s *authServer, _ *loginRun) {
			s.redirect = func(q url.Values) {
				q.Del("code")
				q.Set("error", "access_denied")
				q.Set("error_description", "\x1b[31mnot\ntoday")
			}
		}, `MCP server "srv": the login was refused: access_denied ([31mnot today)`},
		{"an issuer that is another", func(s *authServer, _ *loginRun) {
			s.redirect = func(q url.Values) { q.Set("iss", "https://evil.example") }
		}, "does not match expected issuer"},
		{"the code is refused, and what was sent is repeated", func(s *authServer, _ *loginRun) {
			s.redirect = func(q url.Values) { q.Set("code", "other-"+mark) }
		}, "the authorization server gave no token: invalid_grant"},
		{"no registration", func(s *authServer, _ *loginRun) { s.metadata["registration_endpoint"] = nil }, "does not register clients by itself"},
		{"no PKCE", func(s *authServer, _ *loginRun) { s.metadata["code_challenge_methods_supported"] = nil }, "does not implement PKCE"},
		{"another issuer in the metadata", func(s *authServer, _ *loginRun) { s.metadata["issuer"] = "https://evil.example" }, "does not match issuer"},
		{"a script as the authorization endpoint", func(s *authServer, _ *loginRun) { s.metadata["authorization_endpoint"] = "javascript:alert(1)" }, "disallowed scheme"},
		{"a file as the authorization endpoint", func(s *authServer, _ *loginRun) { s.metadata["authorization_endpoint"] = "file:///etc/passwd" }, "does not use HTTPS"},
		{"an authorization endpoint that seems to be another", func(s *authServer, _ *loginRun) {
			s.metadata["authorization_endpoint"] = "https://accounts.example@evil.example/"
		}, "the authorization server: its address does not show plainly where it leads"},
		{"an authorization endpoint in letters that look alike", func(s *authServer, _ *loginRun) {
			s.metadata["authorization_endpoint"] = "https://\u0430ccounts.example/"
		}, "the authorization server: its address does not show plainly where it leads"},
		{"an authorization endpoint without end", func(s *authServer, _ *loginRun) {
			s.metadata["authorization_endpoint"] = s.URL + "/" + strings.Repeat("x", 9<<10)
		}, "the address of the login is too long"},
		{"a token endpoint without TLS elsewhere", func(s *authServer, _ *loginRun) { s.metadata["token_endpoint"] = "http://example.com/token" }, "does not use HTTPS"},
		{"no authorization server", func(s *authServer, _ *loginRun) { s.resource["authorization_servers"] = []string{} }, "no authorization servers"},
		{"an authorization server without TLS elsewhere, which is passed over for the server's own origin", func(s *authServer, _ *loginRun) {
			s.resource["authorization_servers"] = []string{"http://example.com"}
			s.metadata["issuer"] = "http://example.com"
		}, "does not match issuer"},
		{"metadata on another origin", func(s *authServer, _ *loginRun) {
			s.challenge = `Bearer resource_metadata="https://evil.example/.well-known/oauth-protected-resource"`
		}, "lies on another origin"},
		{"a demand that cannot be read", func(s *authServer, _ *loginRun) { s.challenge = `"Bearer` }, "its demand for a login cannot be read"},
		{"no login is asked for", func(s *authServer, _ *loginRun) {
			s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/mcp" {
					s.mcp.serve(w, r)
					return true
				}
				return false
			}
		}, "it asks for no login: it answered HTTP 200 OK"},
		{"a redirect to another origin", func(s *authServer, _ *loginRun) {
			s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, "http://localhost:1/", http.StatusTemporaryRedirect)
				return true
			}
		}, "it redirects to another origin"},
		{"a token endpoint that redirects to another origin", func(s *authServer, _ *loginRun) {
			s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/token" {
					return false
				}
				http.Redirect(w, r, "http://localhost:1/", http.StatusTemporaryRedirect)
				return true
			}
		}, "it redirects to another origin"},
		{"endless metadata", func(s *authServer, _ *loginRun) {
			s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/.well-known/oauth-authorization-server" {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"issuer":"`)
				for r.Context().Err() == nil {
					if _, err := w.Write(make([]byte, 64<<10)); err != nil {
						break
					}
				}
				return true
			}
		}, "metadata"},
		{"an endless refusal of the registration", func(s *authServer, _ *loginRun) {
			s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/register" {
					return false
				}
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, strings.Repeat("no\x1b[0m ", 1<<20))
				return true
			}
		}, "registration failed with status 403"},
		{"endless headers", func(s *authServer, _ *loginRun) {
			s.intercept = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
				w.WriteHeader(http.StatusUnauthorized)
				return true
			}
		}, "/mcp: "},
		{"a command", func(_ *authServer, l *loginRun) { l.config = ServerConfig{Name: "srv", Transport: Stdio, Command: "x"} }, "only servers behind an address have a login"},
		{"a header that goes before", func(_ *authServer, l *loginRun) { l.config.Headers["authorization"] = "Bearer " + mark }, "remove the header first"},
		{"an address without TLS", func(_ *authServer, l *loginRun) { l.config.URL = "http://mcp.example.com/mcp" }, "is not https"},
		{"nobody is shown anything", func(_ *authServer, l *loginRun) {
			l.show = func(context.Context, string) error { return errors.New("no browser") }
		}, "the address of the login could not be shown: no browser"},
		{"a bad configuration", func(_ *authServer, l *loginRun) { l.config.URL = "nowhere" }, "url: must be an http or https address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newAuthServer(t)
			l := newLoginRun(t, s)
			c.change(s, l)
			err := l.run(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `MCP server "srv": `) {
				t.Fatalf("error %v\nwant  %s", err, c.want)
			}
			wantNoSecret(t, err.Error())
			if len(err.Error()) > 2*maxLoginError || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("error %q", err)
			}
			if files, _ := filepath.Glob(filepath.Join(l.dir, "*.json")); len(files) != 0 {
				t.Errorf("files %v", files)
			}
		})
	}
	t.Run("nobody logs in", func(t *testing.T) {
		s := newAuthServer(t)
		err := Login(t.Context(), s.config(), LoginOptions{TokenDir: t.TempDir(), Show: func(context.Context, string) error { return nil }, Timeout: 50 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), "nobody logged in within 50ms") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("the caller gives up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := Login(ctx, newAuthServer(t).config(), LoginOptions{TokenDir: t.TempDir(), Show: func(context.Context, string) error { cancel(); return nil }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("options", func(t *testing.T) {
		show := func(context.Context, string) error { return nil }
		for want, o := range map[string]LoginOptions{"TokenDir": {Show: show}, "Show": {TokenDir: "x"}, "Timeout": {TokenDir: "x", Show: show, Timeout: -1}} {
			if err := Login(t.Context(), ServerConfig{}, o); err == nil || !strings.Contains(err.Error(), "LoginOptions."+want) {
				t.Errorf("error %v", err)
			}
		}
	})
}

func TestCallback(t *testing.T) {
	t.Run("only the answer to this login ends it, and only once", func(t *testing.T) {
		back, err := listenCallback(0)
		if err != nil {
			t.Fatal(err)
		}
		type outcome struct {
			code string
			err  error
		}
		done := make(chan outcome, 1)
		go func() {
			result, err := back.wait(t.Context(), "right")
			if err != nil {
				done <- outcome{err: err}
				return
			}
			done <- outcome{code: result.Code}
		}()
		base := strings.TrimSuffix(back.address(), callbackPath)
		for path, status := range map[string]string{
			"/": "404", "/favicon.ico": "404", "/callback": "400", "/callback?code=x": "400", "/callback?state=wrong&code=x": "400",
			"/callback?state=right": "400", "/callback?state=right&state=wrong&code=x": "400", "/callback?state=right&code=x&code=y": "400",
			"/callback?state=wrong&error=access_denied": "400", "/callback?state=righ&code=x": "400",
		} {
			if page, err := browse(t.Context(), base+path); err != nil || !strings.HasPrefix(page, status) {
				t.Errorf("%s: %s %v", path, page, err)
			}
		}
		for name, change := range map[string]func(*http.Request){
			"405": func(r *http.Request) { r.Method = http.MethodPost },
			"403": func(r *http.Request) { r.Host = "rebound.example" },
		} {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/callback?state=right&code=x", nil)
			change(req)
			resp, err := http.DefaultClient.Do(req)
			if err != nil || !strings.HasPrefix(resp.Status, name) {
				t.Errorf("%s: %v %v", name, resp, err)
			}
			_ = resp.Body.Close()
		}
		select {
		case o := <-done:
			t.Fatalf("it ended with %+v", o)
		default:
		}
		page, err := browse(t.Context(), base+"/callback?state=right&code=%3Cscript%3E")
		if err != nil || strings.Contains(page, "<script>") {
			t.Errorf("page %s %v", page, err)
		}
		if o := <-done; o.err != nil || o.code != "<script>" {
			t.Errorf("outcome %+v", o)
		}
		if _, err := browse(t.Context(), base+"/callback?state=right&code=y"); err == nil {
			t.Error("the address is still there")
		}
	})
}

func TestRenewal(t *testing.T) {
	logged := func(t *testing.T, lifetime int) (*authServer, *loginRun, *journal) {
		t.Helper()
		s := newAuthServer(t)
		s.lifetime = lifetime
		l := newLoginRun(t, s)
		if err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s, l, &journal{}
	}
	renewals := func(s *authServer) int { return len(s.asked("grant_type=refresh_token")) }
	t.Run("an expired token is renewed before it is used, and kept", func(t *testing.T) {
		s, l, log := logged(t, 5) // less than the margin
		before, _ := l.stored(t)
		s.set(func() { s.lifetime = 3600 })
		reg, _, err := l.connect(t, log)
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, callEcho(t, reg), "hello")
		after, _ := l.stored(t)
		if renewals(s) != 1 || after.AccessToken == before.AccessToken || after.RefreshToken == before.RefreshToken || after.ClientID != before.ClientID || time.Until(after.Expiry) < time.Minute {
			t.Errorf("%d renewals, kept %+v", renewals(s), after)
		}
		if asked := s.asked("grant_type=refresh_token")[0]; !strings.Contains(asked, "resource="+url.QueryEscape(s.URL+"/mcp")) || !strings.Contains(asked, "client_id=client-1") {
			t.Errorf("asked %s", asked)
		}
		wantNoSecret(t, log.String())
	})
	t.Run("a token that is refused is renewed once, in the midst of a connection", func(t *testing.T) {
		s, l, log := logged(t, 0)
		reg, b, err := l.connect(t, log)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			s.revoke()
			wantText(t, callEcho(t, reg), "hello")
			if renewals(s) != i+1 || !b.Connected() {
				t.Errorf("%d renewals", renewals(s))
			}
		}
	})
	t.Run("calls at the same time share one renewal", func(t *testing.T) {
		s, l, log := logged(t, 0)
		reg, _, err := l.connect(t, log)
		if err != nil {
			t.Fatal(err)
		}
		s.revoke()
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() { wantText(t, callEcho(t, reg), "hello") })
		}
		wait.Wait()
		if renewals(s) != 1 {
			t.Errorf("%d renewals", renewals(s))
		}
	})
	t.Run("connections of several processes renew once", func(t *testing.T) {
		s, l, log := logged(t, 0)
		var regs []*registry.Registry
		for range 4 {
			reg, _, err := l.connect(t, log)
			if err != nil {
				t.Fatal(err)
			}
			regs = append(regs, reg)
		}
		s.revoke()
		var wait sync.WaitGroup
		for _, reg := range regs {
			wait.Go(func() { wantText(t, callEcho(t, reg), "hello") })
		}
		wait.Wait()
		if renewals(s) != 1 {
			t.Errorf("%d renewals", renewals(s))
		}
	})
	t.Run("several processes renew once", func(t *testing.T) {
		s, l, _ := logged(t, 0)
		stale, _ := l.stored(t)
		s.revoke()
		executable, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		tokens := make([]string, 4)
		for i := range tokens {
			wait.Go(func() {
				cmd := exec.CommandContext(t.Context(), executable, l.dir, l.config.URL, stale.AccessToken)
				cmd.Env = append(os.Environ(), modeVariable+"=renew")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%v: %s", err, out)
				}
				tokens[i] = string(out)
			})
		}
		wait.Wait()
		if kept, _ := l.stored(t); renewals(s) != 1 || slices.ContainsFunc(tokens, func(token string) bool { return token != kept.AccessToken }) {
			t.Errorf("%d renewals, tokens %q", renewals(s), tokens)
		}
	})
	t.Run("the stream of notices renews too", func(t *testing.T) {
		s, l, log := logged(t, 0)
		s.mcp.session = "s"
		var once sync.Once
		s.set(func() {
			s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet && r.URL.Path == "/mcp" {
					once.Do(s.revoke)
				}
				return false
			}
		})
		if _, _, err := l.connect(t, log); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the stream with a new token", func() bool {
			s.mcp.mu.Lock()
			defer s.mcp.mu.Unlock()
			return slices.ContainsFunc(s.mcp.requests, func(line string) bool { return strings.HasPrefix(line, http.MethodGet) })
		})
		if renewals(s) != 1 {
			t.Errorf("%d renewals", renewals(s))
		}
	})
	t.Run("a lock that another process holds is waited for", func(t *testing.T) {
		s, l, _ := logged(t, 0)
		file, err := fileFor(l.dir, l.config.URL)
		if err != nil {
			t.Fatal(err)
		}
		unlock, err := file.lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := file.lock(short); err == nil || !strings.Contains(err.Error(), "another process holds its login") {
			t.Errorf("error %v", err)
		}
		b := newBearer(l.config, Options{TokenDir: l.dir}, newRedactor(l.config))
		token, _ := b.token(t.Context())
		renewed := make(chan error, 1)
		go func() {
			_, err := b.renew(t.Context(), token)
			renewed <- err
		}()
		gone, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := b.renew(gone, token); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who cannot wait got %v", err)
		}
		unlock()
		if err := <-renewed; err != nil || renewals(s) != 1 {
			t.Errorf("error %v, %d renewals", err, renewals(s))
		}
	})
	for _, c := range []struct {
		name, want string
		change     func(t *testing.T, s *authServer, l *loginRun)
	}{
		{"the refresh token is refused", "its login could not be renewed (invalid_grant)", func(_ *testing.T, s *authServer, _ *loginRun) { s.set(func() { clear(s.refresh) }) }},
		{"there is no refresh token", "its login has expired", func(t *testing.T, _ *authServer, l *loginRun) {
			l.rewrite(t, func(kept *login) { kept.RefreshToken = "" })
		}},
		{"the authorization server is broken", "its login could not be renewed (HTTP 502 Bad Gateway)", func(_ *testing.T, s *authServer, _ *loginRun) {
			s.set(func() {
				s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path == "/token" {
						http.Error(w, r.FormValue("refresh_token"), http.StatusBadGateway)
					}
					return r.URL.Path == "/token"
				}
			})
		}},
		{"the token endpoint was exchanged in the file", "is no https address", func(t *testing.T, _ *authServer, l *loginRun) {
			l.rewrite(t, func(kept *login) { kept.TokenURL = "http://example.com/token" })
		}},
		{"new tokens are refused too", "it refuses its login (HTTP 401 Unauthorized)", func(_ *testing.T, s *authServer, _ *loginRun) {
			s.set(func() {
				s.intercept = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path == "/mcp" {
						http.Error(w, r.Header.Get("Authorization"), http.StatusUnauthorized)
					}
					return r.URL.Path == "/mcp"
				}
			})
		}},
	} {
		t.Run("only the user can help: "+c.name, func(t *testing.T) {
			s, l, log := logged(t, 0)
			reg, b, err := l.connect(t, log)
			if err != nil {
				t.Fatal(err)
			}
			s.revoke()
			c.change(t, s, l)
			res := callEcho(t, reg)
			wantFailure(t, res, `MCP server "srv": `, c.want, ": run: runcode mcp login srv")
			if !b.Connected() {
				t.Error("MCP-55 the connection is lost")
			}
			_, _, err = l.connect(t, log)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasSuffix(err.Error(), ": run: runcode mcp login srv") {
				t.Errorf("error %v", err)
			}
			wantNoSecret(t, res.Text(), err.Error(), log.String())
		})
	}
	t.Run("a damaged file", func(t *testing.T) {
		_, l, log := logged(t, 0)
		_, file := l.stored(t)
		for _, text := range []string{"", "{", `{"version":1,"accessToken":3,"x":"` + mark + `"}`, `{"version":2,"accessToken":"` + mark + `"}`, "null"} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := l.connect(t, log)
			if err == nil || !strings.HasSuffix(err.Error(), "its stored login cannot be read: run: runcode mcp login srv") {
				t.Errorf("error %v", err)
			}
			wantNoSecret(t, fmt.Sprint(err), log.String())
		}
	})
	t.Run("a login is for one address", func(t *testing.T) {
		s, l, log := logged(t, 0)
		l.config.URL = s.URL + "/mcp?tenant=other"
		if _, _, err := l.connect(t, log); err == nil || !strings.Contains(err.Error(), "it asks for a login") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a configured Authorization header goes before a login, and no login is advised", func(t *testing.T) {
		_, l, log := logged(t, 0)
		l.config.Headers["Authorization"] = "Bearer other-" + mark
		if _, _, err := l.connect(t, log); err == nil || strings.Contains(err.Error(), "runcode mcp login") || !strings.Contains(err.Error(), "Unauthorized") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("MCP-57 a bridge that waits for a login finds it at its next attempt", func(t *testing.T) {
		s := newAuthServer(t)
		l, log := newLoginRun(t, s), &journal{}
		l.config.FailOnStartupError = false
		l.config.Reconnect = Reconnect{InitialDelay: 20 * time.Millisecond, MaxDelay: 100 * time.Millisecond, MaxAttempts: 1000}
		_, b, err := l.connect(t, log)
		if err != nil || b.Connected() {
			t.Fatalf("error %v", err)
		}
		if !strings.Contains(log.String(), "run: runcode mcp login srv") {
			t.Errorf("log %s", log)
		}
		if err := l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the connection", b.Connected)
	})
}

// rewrite changes the stored login.
func (l *loginRun) rewrite(t *testing.T, change func(*login)) {
	t.Helper()
	kept, file := l.stored(t)
	change(&kept)
	if err := (loginFile{dir: l.dir, path: file}).save(&kept); err != nil {
		t.Fatal(err)
	}
}

func TestFence(t *testing.T) {
	t.Run("a public server sends nobody to this machine or a private network", func(t *testing.T) {
		local := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was reached") }))
		defer local.Close()
		t.Setenv("HTTPS_PROXY", "")
		client := authClient(t.Context(), &url.URL{Scheme: "https", Host: "8.8.8.8"})
		defer client.CloseIdleConnections()
		for address, want := range map[string]string{
			local.URL: "127.0.0.1 is not a public address", "https://[::1]:1/": "is not a public address", "https://169.254.169.254/": "is not a public address",
			"https://10.1.2.3/": "is not a public address", "https://100.64.0.1/": "is not a public address", "https://[64:ff9b::a00:1]/": "is not a public address",
			"https://[::ffff:127.0.0.1]:1/": "is not a public address", "http://example.com/": "is no https address", "http://127.0.0.1:1/": "is no https address", "ftp://example.com/": "is no https address",
		} {
			resp, err := client.Get(address)
			if err == nil {
				_ = resp.Body.Close()
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", address, err)
			}
		}
	})
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true, "10.0.0.1": true, "8.8.8.8": false, "2001:4860:4860::8888": false} {
		if got := isNear(t.Context(), host); got != want {
			t.Errorf("%s is near: %v", host, got)
		}
	}
}

// renewOnce is another process that finds the token refused which its arguments name, and prints the one that it gets instead.
func renewOnce(dir, address, stale string) {
	config := ServerConfig{Name: "other", Transport: StreamableHTTP, URL: address}
	token, err := newBearer(config, Options{TokenDir: dir}, newRedactor(config)).renew(context.Background(), stale)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Print(token)
}
