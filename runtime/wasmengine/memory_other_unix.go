//go:build unix && !linux

package wasmengine

// noReserve is nothing here: these systems do not count memory that cannot be accessed.
const noReserve = 0

func newMemorySource(image contents) memorySource { return newMmapSource(image) }
