package wasmengine

import "testing"

func systemSources(t *testing.T, image []byte) map[string]memorySource {
	cow, err := newCowSource(contentsOf(image))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]memorySource{"copy on write": cow, "mapped": newMmapSource(contentsOf(image))}
}
