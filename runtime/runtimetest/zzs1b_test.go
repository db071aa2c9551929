package runtimetest_test
import ("testing";"os";"strconv")
func TestZZMany(t *testing.T) {
	p := newPair(t)
	from, _ := strconv.Atoi(os.Getenv("FROM")); n, _ := strconv.Atoi(os.Getenv("N"))
	for i := range n { p.check(t, randomBytes(uint64(from+i))); if t.Failed() && os.Getenv("ALL")=="" { t.Fatalf("program %d", from+i)} }
}
