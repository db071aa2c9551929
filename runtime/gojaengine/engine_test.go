package gojaengine_test

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojaengine"
	"github.com/runcode-go/runcode/runtime/runtimetest"
)

func TestSuite(t *testing.T) {
	runtimetest.Run(t, func(t testing.TB, l runtime.Limits) runtime.Engine {
		e, err := gojaengine.New(gojaengine.Options{Limits: l})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}, runtimetest.Options{Isolation: runtime.IsolationInProcess})
}
