package gateway

// This file defines who may talk to the gateway over HTTP: the checks of token, Host and Origin (GATE-1).

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// tokens are the digests of the secrets: comparing digests takes the same time whatever a client sends.
type tokens [][sha256.Size]byte

// minToken is about what 80 random bits take in the alphabets that are in use.
const minToken = 16

func newTokens(texts []string) (tokens, error) {
	if len(texts) == 0 {
		return nil, errors.New("HTTPOptions.Tokens is empty, expected at least one secret, such as NewToken returns")
	}
	list := make(tokens, len(texts))
	for i, text := range texts {
		if err := CheckToken(text); err != nil {
			return nil, fmt.Errorf("HTTPOptions.Tokens[%d]: %w", i, err)
		}
		list[i] = sha256.Sum256([]byte(text))
	}
	return list, nil
}

// CheckToken says what is wrong with a secret for [HTTPOptions]: it must be what a header can carry, and long enough not to be
// guessed. The error does not repeat it.
func CheckToken(text string) error {
	legal := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~+/", r)
	}
	body := strings.TrimRight(text, "=")
	switch {
	case len(body) < minToken:
		return fmt.Errorf("the token has %d characters, expected at least %d", len(text), minToken)
	case strings.TrimFunc(body, legal) != "" || strings.ContainsFunc(body, func(r rune) bool { return !legal(r) }):
		return errors.New("the token has characters that no bearer token may have: expected letters, digits and any of -._~+/, then any =")
	}
	return nil
}

// admit returns the number of the token that the Authorization header shows.
func (t tokens) admit(headers []string) (client int, ok bool) {
	if len(headers) != 1 {
		return 0, false
	}
	scheme, text, _ := strings.Cut(headers[0], " ")
	digest := sha256.Sum256([]byte(strings.TrimSpace(text)))
	found := -1
	for i := range t {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(digest[:], t[i][:]), i, found)
	}
	return found, found >= 0 && strings.EqualFold(scheme, "Bearer")
}

// hosts are the names by which the server may be addressed besides loopback ones.
type hosts map[string]bool

func newHosts(names []string) (hosts, error) {
	list := hosts{}
	for _, name := range names {
		if name == "" || hostName(name) != canonicalHost(name) {
			return nil, fmt.Errorf("HTTPOptions.Hosts has %q, expected a name or address without port", name)
		}
		list[canonicalHost(name)] = true
	}
	return list, nil
}

func (h hosts) admit(host string) bool {
	name := hostName(host)
	return isLoopback(name) || h[name]
}

// hostName is the name in a Host header, without port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return canonicalHost(host)
}

func canonicalHost(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	bare := strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if ip, err := netip.ParseAddr(bare); err == nil {
		return ip.Unmap().String()
	}
	return name
}

func isLoopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// origins are the web origins whose pages may talk to the server besides local ones.
type origins map[string]bool

func newOrigins(texts []string) (origins, error) {
	list := origins{}
	for _, text := range texts {
		origin, _, ok := parseOrigin(text)
		if !ok {
			return nil, fmt.Errorf("HTTPOptions.Origins has %q, expected an origin such as https://example.com", text)
		}
		list[origin] = true
	}
	return list, nil
}

// admit returns the one origin of a request, or "" for a request that no page sent. A page that hides its origin has the origin
// null, which is none.
func (o origins) admit(headers []string) (origin string, ok bool) {
	switch len(headers) {
	case 0:
		return "", true
	case 1:
		canonical, host, ok := parseOrigin(headers[0])
		return headers[0], ok && (isLoopback(host) || o[canonical])
	}
	return "", false
}

// parseOrigin reads scheme://host[:port] and nothing else.
func parseOrigin(text string) (canonical, host string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || !strings.EqualFold(u.Scheme+"://"+u.Host, text) {
		return "", "", false
	}
	return strings.ToLower(text), canonicalHost(u.Hostname()), true
}

// allowOrigin tells a browser that the page may read the answer and send what the transport needs.
func allowOrigin(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
	header.Set("Access-Control-Expose-Headers", headerSession)
	header.Add("Vary", "Origin")
}
