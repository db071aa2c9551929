//go:build race

package jsonval_test

// levels is how deep TestDepth goes: less with the race detector, which makes its walks 20 times slower.
const levels = 100_000
