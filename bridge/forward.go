package bridge

// This file defines what a committed sub-call hands on to the outer call: images, contexts, the turn marker (SUB-27 to SUB-29,
// IMG-1 to IMG-6).

import "github.com/runcode-go/runcode/registry"

// imagePlugin is the source of the message that carries a sub-call's images.
const imagePlugin = "tools-code-mode"

// forward runs in the lane, so over a run everything comes in commit order. What it defers survives a later failure of the
// program, because contexts stay on a failure (SUB-28).
func forward(outer *registry.Run, result registry.Result) {
	if !result.IsError() && hasImage(result.Content()) {
		outer.DeferContext(registry.Context{Content: result.Content(), Source: registry.PluginSource(imagePlugin)})
	}
	for _, c := range result.Contexts() {
		outer.DeferContext(c)
	}
	if result.ConcludesTurn() {
		outer.ConcludeTurn()
	}
}

func hasImage(content []registry.Block) bool {
	for _, b := range content {
		if b.Type() == "image" {
			return true
		}
	}
	return false
}
