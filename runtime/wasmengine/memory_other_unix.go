//go:build unix && !linux

package wasmengine

func newMemorySource(image []byte) memorySource { return newMmapSource(image) }
