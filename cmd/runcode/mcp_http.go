package main

// This file defines where the gateway listens, and which tokens clients may show (GATE-1).

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	goruntime "runtime"
	"strings"

	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/bridge/gateway"
)

// httpFlags say whether and how the gateway is served over HTTP.
type httpFlags struct {
	address   string
	tokenFile string
	hosts     []string
	origins   []string
}

func (f *httpFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "http", "", "serve over HTTP at this `HOST:PORT` instead of standard input and output; port 0 takes a free one")
	flags.StringVar(&f.tokenFile, "token-file", "", "accept the bearer tokens in this `FILE`, one a line, instead of one made for this start")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "clients may address the HTTP server by this `NAME` too; may be repeated")
	flags.StringArrayVar(&f.origins, "allow-origin", nil, "web pages of this `ORIGIN` may talk to the HTTP server too; may be repeated")
}

// files are those that no program may change.
func (f httpFlags) files() []string {
	if f.tokenFile == "" {
		return nil
	}
	return []string{f.tokenFile}
}

func (a *app) openTransport(f httpFlags) (*transport, error) {
	if f.address == "" {
		for flag, given := range map[string]bool{
			"--token-file": f.tokenFile != "", "--allow-host": len(f.hosts) > 0, "--allow-origin": len(f.origins) > 0,
		} {
			if given {
				return nil, usagef("%s is for a server over HTTP: add --http 127.0.0.1:PORT", flag)
			}
		}
		return a.openStdio(), nil
	}
	return a.openHTTP(f)
}

func (a *app) openHTTP(f httpFlags) (*transport, error) {
	host, _, err := net.SplitHostPort(f.address)
	if err != nil || host == "" {
		// An address without host would be all of this machine's, which nobody should get who did not ask for it.
		return nil, usagef("--http %q: expected HOST:PORT, such as 127.0.0.1:8765, or 127.0.0.1:0 for a free port", f.address)
	}
	o, own, err := f.options()
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return nil, usagef("--http %q: %w: expected an address of this machine and a free port, or port 0, which takes one", f.address, err)
	}
	if bound := l.Addr().(*net.TCPAddr).AddrPort().Addr().Unmap(); !bound.IsLoopback() {
		o.Hosts = append(o.Hosts, ownHosts(host, bound)...)
		a.warn(fmt.Sprintf("warning: %s can be reached from other machines, and nothing is encrypted on the way: not even the bearer token", l.Addr()))
	}
	return &transport{
		address: l.Addr().String(),
		close:   func() { l.Close() },
		serve: func(ctx context.Context, g *gateway.Gateway) error {
			a.warn("serving MCP at http://" + shownAddress(host, l.Addr()) + gateway.HTTPPath)
			if own != "" {
				a.warn("bearer token, for this start: " + own)
			}
			return serveError(ctx, g.Serve(ctx, l, o))
		},
	}, nil
}

// options are those of the gateway. own is the token that was made for this start, if the flags bring none.
func (f httpFlags) options() (o gateway.HTTPOptions, own string, err error) {
	o = gateway.HTTPOptions{Hosts: f.hosts, Origins: f.origins}
	if f.tokenFile == "" {
		own = gateway.NewToken()
		o.Tokens = []string{own}
	} else if o.Tokens, err = readTokens(f.tokenFile); err != nil {
		return o, "", usagef("--token-file: %w", err)
	}
	if err := o.Validate(); err != nil {
		return o, "", usagef("%s", strings.NewReplacer("HTTPOptions.Hosts", "--allow-host", "HTTPOptions.Origins", "--allow-origin").Replace(err.Error()))
	}
	return o, own, nil
}

// ownHosts are the names by which clients address a listener that others can reach: what the flag says, or, for all addresses of
// this machine, each of them.
func ownHosts(host string, bound netip.Addr) []string {
	if !bound.IsUnspecified() {
		return []string{host, bound.WithZone("").String()}
	}
	var hosts []string
	addrs, _ := net.InterfaceAddrs() // without them only loopback names and --allow-host work
	for _, addr := range addrs {
		if prefix, err := netip.ParsePrefix(addr.String()); err == nil {
			hosts = append(hosts, prefix.Addr().String())
		}
	}
	return hosts
}

// shownAddress is what a client on this machine connects to.
func shownAddress(host string, addr net.Addr) string {
	_, port, _ := net.SplitHostPort(addr.String())
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// readTokens reads a file of tokens: one a line, blank lines and lines with # at their start aside.
func readTokens(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s: (umask 077; openssl rand -hex 32 > FILE) makes one", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe could take forever
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err = f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && goruntime.GOOS != "windows" { // which keeps no such bits
		return nil, fmt.Errorf("%s can be read or changed by other users (mode %04o): run chmod 600 %s", path, mode, path)
	}
	var tokens []string
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := gateway.CheckToken(line); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		tokens = append(tokens, line)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s holds no token: expected one a line", path)
	}
	return tokens, nil
}
