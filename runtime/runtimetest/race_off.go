//go:build !race

package runtimetest

import "time"

const (
	raceDetector = false            // the detector makes engines that run inside of this process ten times slower
	patience     = 60 * time.Second // the compute budget of a test that has no wish of its own
)
