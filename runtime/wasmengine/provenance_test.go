package wasmengine

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEngineProvenance: the embedded binary is the pinned one, and what it contains is named.
func TestEngineProvenance(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile("engine/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	script := read("fetch.sh")
	pin := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `=(\S+)$`).FindStringSubmatch(script)
		if m == nil {
			t.Fatalf("fetch.sh pins no %s", name)
		}
		return m[1]
	}
	sum := sha256.Sum256(quickJS)
	if got := hex.EncodeToString(sum[:]); got != pin("sha256") {
		t.Errorf("quickjs.wasm has sha256 %s, pinned is %s; run make engine", got, pin("sha256"))
	}
	for _, want := range []string{pin("package") + "@" + pin("version"), pin("sha256")} {
		if !strings.Contains(read("README.md"), want) {
			t.Errorf("README.md does not name %s", want)
		}
	}
	licence := read("LICENSE")
	for _, want := range []string{"quickjs-wasi " + pin("version"), "Vercel", "Fabrice Bellard", "Unicode, Inc.", "musl", "cloudlibc", "dlmalloc", "compiler-rt"} {
		if !strings.Contains(licence, want) {
			t.Errorf("LICENSE does not name %s", want)
		}
	}
	if !strings.HasSuffix(licence, read("notices")) {
		t.Error("LICENSE does not end with the notices; run make engine")
	}
}
