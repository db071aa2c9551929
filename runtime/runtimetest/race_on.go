//go:build race

package runtimetest

import "time"

const (
	raceDetector = true
	patience     = 180 * time.Second
)
