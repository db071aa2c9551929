package main

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestTokenFile(t *testing.T) {
	dir := t.TempDir()
	write := func(text string, mode os.FileMode) string {
		path := filepath.Join(dir, "tokens")
		_ = os.Remove(path) // a file keeps its mode
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Run("GATE-1 one token a line, with remarks", func(t *testing.T) {
		got, err := readTokens(write("# Cursor\nfirst-token-of-the-tests\n\n  second/token+of=the.tests==  \r\n", 0o600))
		if err == nil || got != nil {
			t.Errorf("a token with = in its middle passed: %v", got)
		}
		got, err = readTokens(write("# Cursor\nfirst-token-of-the-tests\n\n  second/token+of.the.tests==  \r\n", 0o600))
		if err != nil || !slices.Equal(got, []string{"first-token-of-the-tests", "second/token+of.the.tests=="}) {
			t.Errorf("%q: %v", got, err)
		}
	})
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"a file that the group reads", "first-token-of-the-tests\n", 0o640, "can be read or changed by other users (mode 0640): run chmod 600 "},
		{"a file that everybody reads", "first-token-of-the-tests\n", 0o604, "can be read or changed by other users"},
		{"a short token", "# x\nguess-me\n", 0o600, "tokens, line 2: the token has 8 characters, expected at least 16"},
		{"an empty file", "\n# nothing\n", 0o600, "holds no token: expected one a line"},
		{"a very long line", strings.Repeat("x", 100000), 0o600, "token too long"},
	} {
		t.Run("GATE-1 "+c.name, func(t *testing.T) {
			if goruntime.GOOS == "windows" && c.mode != 0o600 {
				t.Skip("Windows keeps no such modes")
			}
			_, err := readTokens(write(c.text, c.mode))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "guess-me") {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	t.Run("GATE-1 what is no file", func(t *testing.T) {
		if _, err := readTokens(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "openssl rand -hex 32") {
			t.Errorf("error %v", err)
		}
		if _, err := readTokens(dir); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("error %v", err)
		}
	})
}

func TestOwnHosts(t *testing.T) {
	t.Run("GATE-1 the listening host and its address are names of the server", func(t *testing.T) {
		if got := ownHosts("box.example", netip.MustParseAddr("192.0.2.7")); !slices.Equal(got, []string{"box.example", "192.0.2.7"}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("GATE-1 a server at all addresses has all of them as names, and no others", func(t *testing.T) {
		got := ownHosts("0.0.0.0", netip.MustParseAddr("0.0.0.0"))
		if len(got) == 0 || slices.Contains(got, "0.0.0.0") {
			t.Errorf("%q", got)
		}
		for _, host := range got {
			if _, err := netip.ParseAddr(host); err != nil {
				t.Errorf("%q is no address", host)
			}
		}
	})
	t.Run("GATE-1 the address that is shown is one to connect to", func(t *testing.T) {
		port := &net.TCPAddr{IP: net.IPv4zero, Port: 8765}
		for host, want := range map[string]string{"0.0.0.0": "127.0.0.1:8765", "::": "127.0.0.1:8765", "localhost": "localhost:8765", "::1": "[::1]:8765"} {
			if got := shownAddress(host, port); got != want {
				t.Errorf("%s is shown as %s", host, got)
			}
		}
	})
}

func TestWatchParent(t *testing.T) {
	t.Run("GATE-5 another parent ends the gateway, the same one does not", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var parent, looks atomic.Int64
		parent.Store(42)
		defer watchParent(func() int { looks.Add(1); return int(parent.Load()) }, time.Millisecond, cancel)()
		for looks.Load() < 5 {
			time.Sleep(time.Millisecond)
		}
		if ctx.Err() != nil {
			t.Error("it ended with its parent alive")
		}
		parent.Store(1)
		select {
		case <-ctx.Done():
		case <-time.After(mcpPatience):
		}
		if !errors.Is(context.Cause(ctx), errOrphaned) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}

func TestEntryKey(t *testing.T) {
	for problem, want := range map[string]string{
		"mcpServers.git.command: is missing: the executable":    "git",
		"mcpServers.git: has neither command nor url":           "git",
		"mcp_servers.git.args.0: the variable X: is not set":    "git",
		"servers.git.url: must be an http or https address":     "git",
		"mcp.servers.git.url: must be an http address":          "git",
		"mcp.git.command: is empty":                             "git",
		"projects./home/x.mcpServers.git.command: is missing":   "git",
		"file: has no servers: expected an object under mcp.x":  "",
		"mcpServers: expected an object of servers, got string": "",
	} {
		t.Run("GATE-6 "+problem, func(t *testing.T) {
			if got := entryKey(problem); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
