//go:build !unix

package wasmengine

func newMemorySource(image []byte) memorySource { return newSliceSource(image) }
