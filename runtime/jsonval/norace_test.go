//go:build !race

package jsonval_test

// levels is how deep TestDepth goes.
const levels = 1_000_000
