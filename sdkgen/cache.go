// This file defines the cache of texts: the same tools come again and again, and their text takes milliseconds.

package sdkgen

import (
	"maps"
	"slices"
	"sync"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// maxCached is how many sets of tools a [Cache] remembers: the views of a few agents.
const maxCached = 16

// Cache remembers the texts of the sets of tools that it was asked for last. The zero value is ready; it is safe for concurrent use. It
// keeps at most 16 texts, with their tools.
type Cache struct {
	mu      sync.Mutex
	entries []*cached // the most recently used first
}

// cached is one entry, or one to be while its text is made.
type cached struct {
	language string
	tools    []Tool
	options  Options
	make     func() (*SDK, error)
}

// New returns what the function [New] would. Equal arguments give the same SDK; the schemas are compared, not their addresses.
func (c *Cache) New(language string, tools []Tool, o Options) (*SDK, error) {
	e := c.entry(language, tools, o)
	s, err := e.make()
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.entries = slices.DeleteFunc(c.entries, func(other *cached) bool { return other == e })
	}
	return s, err
}

func (c *Cache) entry(language string, tools []Tool, o Options) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.entries, func(e *cached) bool { return e.isFor(language, tools, o) })
	if at < 0 {
		o.Usage = maps.Clone(o.Usage)
		tools = slices.Clone(tools)
		e := &cached{language: language, tools: tools, options: o}
		e.make = sync.OnceValues(func() (*SDK, error) { return New(language, tools, o) })
		c.entries = append(c.entries, e)
		at = len(c.entries) - 1
	}
	e := c.entries[at]
	copy(c.entries[1:at+1], c.entries[:at])
	c.entries[0] = e
	if n := len(c.entries); n > maxCached {
		c.entries[n-1] = nil
		c.entries = c.entries[:n-1]
	}
	return e
}

func (e *cached) isFor(language string, tools []Tool, o Options) bool {
	return e.language == language && e.options.MaxDescription == o.MaxDescription && e.options.MaxTokens == o.MaxTokens &&
		e.options.Check == o.Check && maps.Equal(e.options.Usage, o.Usage) && slices.EqualFunc(e.tools, tools, sameTool)
}

// sameTool compares what the text is made from. Schemas that share their data are the same at once.
func sameTool(a, b Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && jsonval.Identical(a.Parameters, b.Parameters) &&
		jsonval.Identical(a.Output, b.Output) && jsonval.Identical(a.SDKOutput, b.SDKOutput)
}
