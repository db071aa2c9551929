//go:build unix && !linux

package wasmengine

import "testing"

func systemSources(_ *testing.T, image []byte) map[string]memorySource {
	return map[string]memorySource{"mapped": newMmapSource(contentsOf(image))}
}
