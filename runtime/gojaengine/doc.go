// Package gojaengine runs programs in goja, a JavaScript engine in Go, inside of this process. It starts in microseconds
// and confines nothing.
//
// It is for COOPERATIVE PROGRAMS ONLY, those that one would run as part of oneself. There is no isolation and no heap limit
// (Limits.Heap bounds only what outstanding calls and timers hold on the host's side). A program can end the whole process:
// by recursion inside of built-ins (a[0]=a; a.flat(Infinity)), by one allocation that is too large, by text that recurses in
// goja's parser. It can keep a processor busy long after its run has ended, for as long as one built-in takes: a
// catastrophic regular expression, a sort of a huge array, Array.prototype.indexOf.call({length: 2**53-1}, 1). The result of
// such a run is delivered in time all the same; its goroutine lives on until the built-in returns, emits nothing any more,
// and Close waits for it.
//
// What is cheap to refuse is refused: panics become failures, the depth of calls is limited, code from strings (eval,
// Function) and a few built-ins that allocate without measure are not available. For programs that nobody has vouched for
// there is package wasmengine.
//
// goja departs from the language in places, some of them silently: a throw in finally is caught by the same statement's
// catch, chains such as a < b <= c are read from the right, bit operations go wrong on numbers from 2**63 up. The suite in
// package runtimetest lists what is known (TestDifferences).
package gojaengine
