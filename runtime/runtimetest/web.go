package runtimetest

import "testing"

// RUN-42's list of what SHOULD be there beside the language.
func testWeb(t *testing.T, s *suite) {}
