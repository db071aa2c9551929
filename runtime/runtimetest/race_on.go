//go:build race

package runtimetest

import "time"

const (
	raceDetector = true
	patience     = 60 * time.Second
)
