//go:build race

package wasmengine

// raceEnabled says that all Go code runs some ten times slower.
const raceEnabled = true
