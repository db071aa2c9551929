package mcptools

// The HTTP client for the addresses that a server's metadata names: a server that is not trusted chooses them.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	authTimeout   = 30 * time.Second
	maxAuthHeader = 64 << 10
	dialTimeout   = 10 * time.Second
)

// fence lets requests to https addresses on the public network pass. A server that is itself on this machine or on a private network
// may also name addresses there, and on this machine without TLS.
type fence struct {
	near  bool
	open  *http.Transport // through a proxy, or near
	bound *http.Transport // looks at each address that it dials
}

// authClient is the client for logging in to a server. Its redirects stay within their origin: a request may carry a code or a secret.
// The SDK and the oauth2 package read at most a megabyte of an answer.
func authClient(ctx context.Context, server *url.URL) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = maxAuthHeader
	bound := transport.Clone()
	bound.DialContext = (&net.Dialer{Timeout: dialTimeout, Control: publicOnly}).DialContext
	return &http.Client{
		Timeout:       authTimeout,
		Transport:     &fence{near: isNear(ctx, server.Hostname()), open: transport, bound: bound},
		CheckRedirect: sameOrigin,
	}
}

func (f *fence) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := f.admits(req.URL); err != nil {
		return nil, err
	}
	if f.near {
		return f.open.RoundTrip(req)
	}
	if proxy, err := f.open.Proxy(req); err == nil && proxy != nil {
		return f.open.RoundTrip(req) // the proxy resolves the name, and stands where it stands
	}
	return f.bound.RoundTrip(req)
}

// admits checks an address before anything is sent to it, or the user's browser is.
func (f *fence) admits(u *url.URL) error {
	switch {
	case u.User != nil || strings.ContainsFunc(u.Host, func(r rune) bool { return r >= 0x80 }):
		return errors.New("its address does not show plainly where it leads") // to the user who is asked to go there
	case u.Scheme == "https" || u.Scheme == "http" && f.near && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%s is no https address", plainAddress(u.String()))
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (f *fence) CloseIdleConnections() {
	f.open.CloseIdleConnections()
	f.bound.CloseIdleConnections()
}

// publicOnly refuses to dial an address of this machine or of a private network. It sees what a name was resolved to.
func publicOnly(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !isPublic(to.Addr()) {
		return fmt.Errorf("%s is not a public address", to.Addr())
	}
	return nil
}

// notPublic look public to netip: the addresses that the customers of a provider share, and IPv6 forms that hold an IPv4 address.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"),
}

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// isNear says whether a host is this machine or on a private network. Only the user's own configuration is asked about here.
func isNear(ctx context.Context, host string) bool {
	if isLoopback(host) {
		return true
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(addresses) == 0 {
		return false
	}
	for _, ip := range addresses {
		if isPublic(ip) {
			return false
		}
	}
	return true
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
