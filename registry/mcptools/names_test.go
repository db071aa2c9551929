//go:build unix

package mcptools

import (
	"strings"
	"testing"
)

func TestPublicName(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	vectors := []struct{ server, raw, want string }{
		{"srv", "admin_reset", "mcp__srv__admin_reset"},
		{"srv", "admin.reset", "mcp__srv__admin_reset_3b185f786768"},
		{"srv", a(54), "mcp__srv__" + a(54)},
		{"srv", a(55), "mcp__srv__" + a(41) + "_cae0c391e7b4"},
		{"srv", a(80), "mcp__srv__" + a(41) + "_3b75b5cc78d8"},
		{"gh", "naïve", "mcp__gh__na_ve_85ac45739d2d"},
		{"gh", "x😀y", "mcp__gh__x__y_0301114fac91"},
	}
	for _, v := range vectors {
		t.Run("MCP-6 MCP-7 MCP-8 "+v.server+" "+v.raw, func(t *testing.T) {
			if got := PublicName(v.server, v.raw); got != v.want {
				t.Errorf("PublicName(%q, %q) = %q, want %q", v.server, v.raw, got, v.want)
			}
		})
	}
	t.Run("MCP-9 distinct raw names never share a public name", func(t *testing.T) {
		seen := map[string]string{}
		for _, raw := range []string{"admin.reset", "admin_reset", "admin reset", "admin/reset", "", "_", "é", "è", a(54) + ".", a(54) + "_", a(55)} {
			name := PublicName("srv", raw)
			if other, dup := seen[name]; dup {
				t.Errorf("%q and %q are both %q", raw, other, name)
			}
			seen[name] = raw
			if len(name) > maxToolName {
				t.Errorf("%q has %d characters", name, len(name))
			}
		}
	})
	t.Run("MCP-11 the scheme is not injective over servers", func(t *testing.T) {
		if a, b := PublicName("a__b", "c"), PublicName("a", "b__c"); a != b || a != "mcp__a__b__c" {
			t.Errorf("%q and %q", a, b)
		}
	})
}

func TestServerName(t *testing.T) {
	for _, key := range []string{"fs", "My-Server_1", strings.Repeat("x", 32)} {
		if got := ServerName(key); got != key {
			t.Errorf("CLI-14 a legal key changed: %q became %q", key, got)
		}
	}
	for _, key := range []string{"", "my server", "io.github/server", strings.Repeat("x", 33), "grüße"} {
		got := ServerName(key)
		if !legalServerName(got) || got == key {
			t.Errorf("CLI-14 %q became %q", key, got)
		}
	}
	if ServerName("a b") == ServerName("a.b") {
		t.Error("CLI-14 two keys share a name")
	}
}
