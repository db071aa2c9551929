package mcptools

// The files that keep logins: one for each server's address, for the user alone.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

const (
	loginVersion  = 1
	maxLoginBytes = 1 << 20
	lockPause     = 20 * time.Millisecond
)

// login is what is kept of one, as it stands in its file.
type login struct {
	Version      int       `json:"version"`
	Resource     string    `json:"resource"` // what the tokens are for (RFC 8707)
	TokenURL     string    `json:"tokenUrl"`
	ClientID     string    `json:"clientId"`
	ClientSecret string    `json:"clientSecret,omitempty"`
	AuthStyle    int       `json:"authStyle"` // as oauth2.AuthStyle counts
	AccessToken  string    `json:"accessToken"`
	RefreshToken string    `json:"refreshToken,omitempty"`
	Expiry       time.Time `json:"expiry,omitzero"` // of the access token; zero if it has none
}

// newLogin is what is to be kept after a successful exchange.
func newLogin(resource string, c *oauth2.Config, t *oauth2.Token) *login {
	l := &login{
		Version: loginVersion, Resource: resource, TokenURL: c.Endpoint.TokenURL,
		ClientID: c.ClientID, ClientSecret: c.ClientSecret, AuthStyle: int(c.Endpoint.AuthStyle),
	}
	l.take(t)
	return l
}

func (l *login) take(t *oauth2.Token) {
	l.AccessToken, l.RefreshToken, l.Expiry = t.AccessToken, t.RefreshToken, t.Expiry
}

// expiryMargin is how long before its end a token is renewed: it has to last for the request that carries it.
const expiryMargin = 30 * time.Second

func (l *login) expired() bool { return !l.Expiry.IsZero() && time.Until(l.Expiry) < expiryMargin }

// secrets are what must not be read anywhere (MCP-5).
func (l *login) secrets() []string { return []string{l.AccessToken, l.RefreshToken, l.ClientSecret} }

// loginFile is the place of one server's login.
type loginFile struct{ dir, path string }

// fileFor names the file by a hash: an address is not trusted to be a file name, and may hold secrets itself.
func fileFor(dir, address string) (loginFile, error) {
	u, err := url.Parse(address)
	if err != nil {
		return loginFile{}, errors.New("the address is no URL")
	}
	u.User, u.Fragment, u.RawFragment, u.Host = nil, "", "", strings.ToLower(u.Host)
	sum := sha256.Sum256([]byte(u.String()))
	return loginFile{dir: dir, path: filepath.Join(dir, hex.EncodeToString(sum[:])+".json")}, nil
}

// load reads the login; nil without an error means that there is none.
func (f loginFile) load() (*login, error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := private(file); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxLoginBytes))
	if err != nil {
		return nil, err
	}
	l := &login{}
	if err := json.Unmarshal(text, l); err != nil || l.Version != loginVersion || l.AccessToken == "" {
		return nil, errors.New("its stored login cannot be read") // nothing of the file: it holds secrets
	}
	return l, nil
}

// private takes a file away from all other users, if it is not so already.
func private(file *os.File) error {
	info, err := file.Stat()
	if err != nil || goruntime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return file.Chmod(info.Mode().Perm() & 0o700)
}

// save writes the login as a whole or not at all, readable by the user alone.
func (f loginFile) save(l *login) error {
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(f.dir, ".login-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(append(text, '\n'))
	if err == nil {
		err = temporary.Sync()
	}
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), f.path)
}

// lock keeps all other processes and goroutines from renewing this login until unlock.
func (f loginFile) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.Open(f.dir)
	if err != nil {
		return nil, err
	}
	err = private(dir)
	_ = dir.Close()
	if err != nil {
		return nil, fmt.Errorf("the folder of the logins is open to other users: %w", err)
	}
	file, err := os.OpenFile(f.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		taken, err := tryLock(file)
		if err != nil {
			_ = file.Close()
			return nil, err
		}
		if taken {
			return func() { _ = file.Close() }, nil
		}
		if !sleep(ctx, lockPause) {
			_ = file.Close()
			return nil, fmt.Errorf("another process holds its login: %w", context.Cause(ctx))
		}
	}
}
