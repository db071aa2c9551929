package runtimetest_test
import ("testing";"os";"strings")
func TestZZS1(t *testing.T) {
	p := newPair(t)
	b, _ := os.ReadFile("/tmp/s1/try/programs")
	for _, s := range strings.Split(string(b), "\n--\n") {
		w, err := p.wasm.Run(t.Context(), generated(s)); if err != nil { t.Fatal(err) }
		g, _ := p.goja.Run(t.Context(), generated(s))
		t.Logf("%s\n  wasm %v %v %q\n  goja %v %v %q", s, w.Value, w.Error, w.Logs, g.Value, g.Error, g.Logs)
	}
}
