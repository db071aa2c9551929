//go:build !unix

package wasmengine

import "testing"

func systemSources(*testing.T, []byte) map[string]memorySource { return map[string]memorySource{} }
