//go:build !race

package wasmengine

const raceEnabled = false
