package gateway

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// FuzzHTTPAdmission holds the readers of Host and Origin to what a URL parser makes of the same text: nothing is admitted that
// leads anywhere but to this machine or to an allowed name.
func FuzzHTTPAdmission(f *testing.F) {
	for _, text := range []string{
		"localhost:80", "127.0.0.1", "[::1]:8765", "::1", "[::ffff:127.0.0.1]", "LOCALHOST.", "localhost@evil.example", "evil.example#localhost",
		"127.0.0.1.evil.example", "localhost:80:80", "[::1", "http://localhost", "https://[::1]:80", "http://localhost/", "null", "http://localhost:80@evil.example",
		"http://evil.example\\@localhost", "http://127.1", "box.example", "https://app.example", "https://app.example:444",
	} {
		f.Add(text)
	}
	hosts, err := newHosts([]string{"box.example"})
	if err != nil {
		f.Fatal(err)
	}
	origins, err := newOrigins([]string{"https://app.example"})
	if err != nil {
		f.Fatal(err)
	}
	local := func(name string) bool {
		name = strings.ToLower(strings.TrimSuffix(name, "."))
		ip, err := netip.ParseAddr(name)
		return name == "localhost" || err == nil && (ip.IsLoopback() || ip.Unmap().IsLoopback())
	}
	f.Fuzz(func(t *testing.T, text string) {
		if hosts.admit(text) {
			// What is no authority at all leads nowhere.
			if u, err := url.Parse("http://" + text + "/"); err == nil && !local(u.Hostname()) && !strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), "box.example") {
				t.Errorf("the host %q is admitted, and leads to %q", text, u.Hostname())
			}
		}
		if _, ok := origins.admit([]string{text}); ok {
			u, err := url.Parse(text)
			if err != nil || u.User != nil || u.Path != "" || !local(u.Hostname()) && !strings.EqualFold(text, "https://app.example") {
				t.Errorf("the origin %q is admitted: %v", text, err)
			}
		}
	})
}
