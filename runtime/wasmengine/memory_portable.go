//go:build !unix

package wasmengine

func newMemorySource(image contents) memorySource { return newSliceSource(image) }
