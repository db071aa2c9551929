package wasmengine

// This file defines how long the tests of endurance run: some seconds as part of the ordinary tests, and at full length with
// RUNCODE_SOAK=1 (make soak).

import (
	"os"
	"testing"
)

func soaking() bool { return os.Getenv("RUNCODE_SOAK") != "" }

// scaled chooses how much a test does: with -short, ordinarily, and at full length.
func scaled(short, ordinary, full int) int {
	switch {
	case soaking():
		return full
	case testing.Short():
		return short
	}
	return ordinary
}
