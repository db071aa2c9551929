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
	}, exceptions)
}

// exceptions are what goja does not do, and why that is legitimate.
var exceptions = runtimetest.Options{
	Isolation: runtime.IsolationInProcess,
	Exceptions: map[string]string{
		"BUDGET-8 the heap limit":                           noHeap,
		"BUDGET-8 the heap limit cannot be caught":          noHeap,
		"BUDGET-8 the heap limit in a callback":             noHeap,
		"RUN-26 logs with polluted descriptor fields":       "goja fills the descriptors that it hands out by assignment, so a setter on Object.prototype interferes",
		"RUN-47 unbounded recursion can be caught":          "goja's stack overflow is uncatchable, as RUN-47 allows",
		"RUN-39 the stack that the program reads is mapped": "goja makes an error's stack itself, as an own property, when it is first read; RUN-39 only asks for it where it can be had",
	},
}

const noHeap = "goja's values are the process's: it has no heap limit (BUDGET-9)"
